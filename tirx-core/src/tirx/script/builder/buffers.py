"""Buffers: allocating, declaring over storage that exists, matching with a handle parameter; scalars are one-element buffers."""

from __future__ import annotations

from ...ir import (
    Alloc,
    Buffer,
    BufferLoad,
    Decl,
    DType,
    Expr,
    IntImm,
    PointerType,
    Scalar,
    Var,
    active_builder,
    as_expr,
    const,
    current_span,
    emit,
)  # fmt: skip
from ...support.words import an
from .function import quoted
from .places import layout_of, storage_scope
from .state import Builder, builder, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = [
    "BufferProxy", "alloc_buffer", "alloc_local", "alloc_scalar", "alloc_shared", "buffer", "decl_buffer", "decl_scalar",
    "local_scalar", "match_buffer", "scalar_of", "shared_scalar", "smem",
]  # fmt: skip


def _shape(shape: Any, what: str) -> list[Any]:
    """Dimensions, quoted names resolved to symbols where a function is open."""
    items = list(shape) if isinstance(shape, list | tuple) else [shape]
    owner = active_builder()
    if isinstance(owner, Builder) and owner.stack:
        items = [owner.function.dim(item) for item in items]
    items = [quoted(item) if isinstance(item, str) else item for item in items]
    for item in items:
        size = item.value if isinstance(item, IntImm) else item
        if isinstance(size, bool | float) or (isinstance(size, int) and size < 0):
            refuse(
                f"{size!r} is not a dimension of {what}", "dimensions are whole numbers, expressions, or quoted names"
            )
    return items


def _make(
    shape: Any, dtype: Any, *, what: str, data: Any = None, strides: Any = None, elem_offset: Any = None, byte_offset: Any = None,
    scope: str = "global", align: int = 0, offset_factor: int = 0, layout: Any = "default", allocated_addr: Any = None, name: str = "",
    is_scalar: bool = False,
) -> Buffer:  # fmt: skip
    """The buffer object that all constructors share."""
    kind = _dtype(dtype, what)
    dims = _shape(shape, what)
    storage_scope(scope)
    return Buffer(
        name,
        dims,
        kind,
        data=data,
        scope=scope,
        layout=layout_of(layout, scope, dims),
        strides=_shape(strides, what) if strides else (),
        elem_offset=_offset(elem_offset, byte_offset, kind),
        align=max(align, 0),
        offset_factor=offset_factor,
        allocated_addr=_addresses(allocated_addr),
        is_scalar=is_scalar,
    )


def _dtype(dtype: Any, what: str) -> DType:
    try:
        kind = DType(dtype)
    except ValueError as error:
        message, semicolon, near = str(error).partition("; ")
        refuse(
            message,
            near if semicolon else 'the type of a buffer is written as text such as "float32", or as Tx.float32',
        )
    if kind.kind == "void":
        refuse(f"{what} of void has no elements", "give the type of its elements")
    return kind


def _offset(elements: Any, in_bytes: Any, dtype: DType) -> Any:
    """The start of a buffer in elements, from elements or bytes."""
    if in_bytes is None:
        return 0 if elements is None else elements
    if elements is not None:
        refuse("both elem_offset and byte_offset are given", "give one of them")
    size = dtype.bytes
    if isinstance(in_bytes, int):
        if in_bytes % size:
            refuse(f"byte_offset {in_bytes} is no multiple of the {size} bytes of {an(dtype)}", "align the offset")
        return in_bytes // size
    return as_expr(in_bytes) // size


def _addresses(address: Any) -> tuple[Any, ...]:
    if address is None:
        return ()
    return tuple(address) if isinstance(address, list | tuple) else (address,)


def _claimed(made: Buffer, hint: str) -> Buffer:
    """Name a buffer after the variable that it is assigned to."""
    owner = builder("a buffer")
    owner.claim(made, hint)
    return made


def _annotations(values: Mapping[str, Any] | None) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted((values or {}).items()))


def alloc_buffer(
    shape: Any, dtype: Any = "float32", data: Any = None, strides: Any = None, elem_offset: Any = None, byte_offset: Any = None,
    scope: str = "global", align: int = -1, offset_factor: int = 0, layout: Any = "default", allocated_addr: Any = None,
    annotations: Mapping[str, Any] | None = None,
) -> Any:  # fmt: skip
    """New storage with a name. With `data` it is another name for that storage."""
    if data is not None:
        return decl_buffer(
            shape, dtype, data, strides, elem_offset, byte_offset, scope, align, offset_factor, layout, allocated_addr
        )
    owner = builder("alloc_buffer()")
    made = _make(
        shape, dtype, what="alloc_buffer()", strides=strides, elem_offset=elem_offset, byte_offset=byte_offset, scope=scope,
        align=align, offset_factor=offset_factor, layout=layout, allocated_addr=allocated_addr,
    )  # fmt: skip
    _check_size(made)
    _claimed(made, "buffer")
    emit(Alloc(made, _annotations(annotations), span=current_span()))
    owner.names.give_assigned((made,))
    return made


def _check_size(made: Buffer) -> None:
    """Storage has a size before the kernel runs: no mutable variable may decide it."""
    changing = next((item for item in made.shape if isinstance(item, Expr) and item.has(BufferLoad)), None)
    if changing is not None:
        refuse(
            f"the size of this buffer is read from a variable of the kernel{_variable(changing)}",
            "keep the number a value of Python: name = Tx.meta_var(16), or a Tx.constexpr parameter",
        )


def _variable(size: Expr) -> str:
    return f" (`{size.buffer.name}`)" if isinstance(size, BufferLoad) else ""


def alloc_shared(shape: Any, dtype: Any = "float32", **options: Any) -> Any:
    """Memory that the threads of a block share."""
    return alloc_buffer(shape, dtype, **{"scope": "shared", **options})


smem = alloc_shared


def alloc_local(shape: Any, dtype: Any = "float32", **options: Any) -> Any:
    """Memory of each thread's own."""
    return alloc_buffer(shape, dtype, **{"scope": "local", **options})


def decl_buffer(
    shape: Any, dtype: Any = "float32", data: Any = None, strides: Any = None, elem_offset: Any = None, byte_offset: Any = None,
    scope: str = "global", align: int = 0, offset_factor: int = 0, layout: Any = "default", allocated_addr: Any = None,
) -> Any:  # fmt: skip
    """Another name for storage that exists: `data` is a buffer's `.data`, or any pointer. Without `data` it allocates."""
    if data is None:
        return alloc_buffer(
            shape, dtype, None, strides, elem_offset, byte_offset, scope, align, offset_factor, layout, allocated_addr
        )
    owner = builder("decl_buffer()")
    pointer, source = _pointer(data)
    made = _make(
        shape, dtype, what="decl_buffer()", data=pointer, strides=strides, elem_offset=elem_offset, byte_offset=byte_offset,
        scope=_scope_of(data, scope), align=align, offset_factor=offset_factor, layout=layout, allocated_addr=allocated_addr,
    )  # fmt: skip
    _claimed(made, "view")
    emit(Decl(made, source, span=current_span()))
    owner.names.give_assigned((made,))
    return made


def _pointer(data: Any) -> tuple[Var | None, Expr | None]:
    """The variable of storage that exists, or a new one and the pointer that it is."""
    if isinstance(data, Buffer):
        return data.data, None
    expr = as_expr(data)
    if not expr.dtype.is_handle:
        refuse(
            f"`data` is {an(expr.dtype)} value, not a pointer",
            "give a buffer's .data, a handle, or an address such as B.ptr_to([0])",
        )
    return (expr, None) if isinstance(expr, Var) else (None, expr)


def _scope_of(data: Any, scope: str) -> str:
    """The scope that was given; the pointer's own when none was."""
    if scope != "global":
        return scope
    dtype = data.data.dtype if isinstance(data, Buffer) else as_expr(data).dtype
    return dtype.scope if isinstance(dtype, PointerType) else scope


def match_buffer(
    param: Any, shape: Any, dtype: Any = "float32", data: Any = None, strides: Any = None, elem_offset: Any = None,
    scope: str = "global", align: int = -1, offset_factor: int = 0, layout: Any = "default",
) -> Any:  # fmt: skip
    """A typed view of a handle parameter: it becomes a buffer parameter. Of another pointer: as `decl_buffer`."""
    owner = builder("match_buffer()")
    if isinstance(param, BufferLoad):
        param = param.buffer
    bound = owner.function.bound.get(id(param))
    if bound is not None:
        param = bound[1]
    if not (isinstance(param, Var) and any(param is item for item in owner.function.params)):
        return decl_buffer(shape, dtype, param, strides, elem_offset, None, scope, max(align, 0), offset_factor, layout)
    if not param.dtype.is_handle:
        refuse(
            f"parameter `{param.name}` is {an(param.dtype)}, not a handle", f"annotate it as `{param.name}: Tx.handle`"
        )
    made = _make(
        shape, dtype, what="match_buffer()", data=data, strides=strides, elem_offset=elem_offset, scope=scope, align=align,
        offset_factor=offset_factor, layout=layout,
    )  # fmt: skip
    _claimed(made, param.name)
    owner.function.bind_buffer(param, made)
    owner.names.give_assigned((made,))
    return made


def buffer(
    shape: Any, dtype: Any = "float32", data: Any = None, strides: Any = None, elem_offset: Any = None, byte_offset: Any = None,
    scope: str = "global", align: int = 0, offset_factor: int = 0, layout: Any = "default", allocated_addr: Any = None,
    buffer_name: str = "",
) -> Buffer:  # fmt: skip
    """A buffer object, without a statement."""
    pointer, _ = (None, None) if data is None else _pointer(data)
    made = _make(
        shape, dtype, what="buffer()", data=pointer, strides=strides, elem_offset=elem_offset, byte_offset=byte_offset, scope=scope,
        align=align, offset_factor=offset_factor, layout=layout, allocated_addr=allocated_addr, name=buffer_name,
    )  # fmt: skip
    owner = active_builder()
    if isinstance(owner, Builder) and not buffer_name:
        owner.claim(made, "buffer")
        owner.names.give_assigned((made,))
    return made


class BufferProxy:
    """`Tx.Buffer`: the annotation of buffer parameters, as `Buffer(shape, dtype, ...)` or `Buffer[shape, dtype]`."""

    __slots__ = ()

    def __call__(
        self, shape: Any, dtype: Any = "float32", data: Any = None, strides: Any = None, elem_offset: Any = None,
        byte_offset: Any = None, scope: str = "global", align: int = 0, offset_factor: int = 0, layout: Any = "default",
    ) -> Buffer:  # fmt: skip
        """A buffer for an annotation."""
        pointer, _ = (None, None) if data is None else _pointer(data)
        return _make(
            shape, dtype, what="Buffer()", data=pointer, strides=strides, elem_offset=elem_offset, byte_offset=byte_offset,
            scope=scope, align=align, offset_factor=offset_factor, layout=layout,
        )  # fmt: skip

    def __getitem__(self, item: Any) -> Buffer:
        """`Buffer[(m, n), "float16"]`, `Buffer[n]`, `Buffer[m, n]`."""
        if isinstance(item, tuple) and len(item) == 2 and _is_type(item[1]):
            return self(*item)
        return self(item)

    def __repr__(self) -> str:
        return "Tx.Buffer"

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, Buffer)


def _is_type(item: Any) -> bool:
    if isinstance(item, int | Expr):
        return False
    try:
        DType(item)
    except ValueError:
        return False
    return True


# ---- scalars ------------------------------------------------------------------------------------------------------------


def alloc_scalar(
    dtype: Any = "float32", scope: str = "global", annotations: Mapping[str, Any] | None = None, **options: Any
) -> Scalar:
    """One element that reads as its value; assigning to its name stores. Further options are those of `alloc_buffer`."""
    owner = builder("a scalar")
    made = _make((1,), dtype, what="a scalar", scope=scope, is_scalar=True, **options)
    _claimed(made, "scalar")
    emit(Alloc(made, _annotations(annotations), span=current_span()))
    owner.names.give_assigned((made,))
    return Scalar(made)


def shared_scalar(dtype: Any = "float32", **options: Any) -> Scalar:
    """A scalar that the threads of a block share."""
    return alloc_scalar(dtype, "shared", **options)


def local_scalar(dtype: Any = "float32", **options: Any) -> Scalar:
    """A scalar of each thread's own."""
    return alloc_scalar(dtype, "local", **options)


def decl_scalar(
    dtype: Any, data: Any, scope: str, elem_offset: Any = None, byte_offset: Any = None, **options: Any
) -> Scalar:
    """A scalar over storage that exists."""
    owner = builder("decl_scalar()")
    pointer, source = _pointer(data)
    made = _make(
        (1,), dtype, what="decl_scalar()", data=pointer, scope=scope, elem_offset=elem_offset, byte_offset=byte_offset,
        is_scalar=True, **options,
    )  # fmt: skip
    _claimed(made, "scalar")
    emit(Decl(made, source, span=current_span()))
    owner.names.give_assigned((made,))
    return Scalar(made)


def scalar_of(value: Any, dtype: Any = None, scope: str = "local") -> Scalar:
    """A new mutable scalar that starts as `value`, of its type unless another is given."""
    expr = as_expr(value, dtype)
    made = alloc_scalar(expr.dtype if dtype is None else dtype, scope)
    made.assign(const(value, dtype) if isinstance(value, bool | int | float) and dtype is not None else expr)
    return made
