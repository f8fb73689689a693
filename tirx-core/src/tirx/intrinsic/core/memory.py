"""Pointers: addresses of elements, arithmetic in bytes, reinterpreted bits, masked vector access."""

from __future__ import annotations

from ...ir import Buffer, BufferLoad, Call, DType, Expr, PointerType, Scalar, Var, as_expr, cast, const
from ..call import call
from ..row import Intrinsic, Operand
from .build import builtin, by_dtype, named_dtype, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = [
    "access_ptr", "address_of", "handle_add_byte_offset", "isnullptr", "masked_load", "masked_store", "ptr_byte_offset",
    "reinterpret", "tvm_access_ptr", "type_annotation", "undef",
]  # fmt: skip

_WHERE = "tirx.sim.meanings.memory:"


def _dtype_attr(args: Sequence[Expr], attrs: dict[str, Any]) -> DType:
    return DType(attrs["dtype"])


def _element_pointer(args: Sequence[Expr], attrs: dict[str, Any]) -> DType:
    (load,) = args
    assert isinstance(load, BufferLoad)
    return PointerType(load.buffer.dtype, load.buffer.scope_name)


def _retyped_pointer(args: Sequence[Expr], attrs: dict[str, Any]) -> DType:
    old = args[0].dtype
    name = attrs["dtype"]
    pointee = old.pointee if name == "handle" and isinstance(old, PointerType) else name
    return PointerType(pointee, getattr(old, "scope", "global"))


_ADDRESS_OF = Intrinsic(
    "address_of", [Operand("element", "place")], _element_pointer,
    doc="address of a buffer element; the element is not read", meaning=_WHERE + "address_of",
)  # fmt: skip
_ACCESS_PTR = Intrinsic(
    "tvm_access_ptr", [Operand("data", "pointer"), Operand("offset", dtypes=("integer",)), Operand("extent", dtypes=("integer",))],
    _retyped_pointer, attrs={"dtype": "handle", "rw_mask": 3}, form=("dtype", "data", "offset", "extent", "rw_mask"),
    doc="pointer to `extent` elements of `dtype` at `offset`, of which rw_mask says 1 read, 2 written, 3 both",
    meaning=_WHERE + "access_ptr",
)  # fmt: skip
_PTR_BYTE_OFFSET = Intrinsic(
    "ptr_byte_offset", [Operand("data", "pointer"), Operand("byte_offset", dtypes=("integer",))], _retyped_pointer,
    form=("data", "byte_offset", "dtype"),
    attrs={"dtype": "handle"}, doc="pointer to `dtype`, so many bytes further", meaning=_WHERE + "ptr_byte_offset",
)  # fmt: skip
_HANDLE_ADD = Intrinsic(
    "handle_add_byte_offset", [Operand("handle", "pointer"), Operand("offset", dtypes=("integer",))], "same",
    doc="the same kind of pointer, so many bytes further", meaning=_WHERE + "handle_add_byte_offset",
)  # fmt: skip
_ISNULLPTR = Intrinsic(
    "isnullptr", [Operand("handle", "pointer")], "bool", doc="whether a pointer is null", meaning=_WHERE + "isnullptr"
)
_REINTERPRET = Intrinsic(
    "reinterpret", [Operand("value")], _dtype_attr, attrs={"dtype": "handle"}, form=("dtype", "value"),
    doc="the same bits as a value of another type", meaning=_WHERE + "reinterpret",
)  # fmt: skip
_TYPE_ANNOTATION = Intrinsic(
    "type_annotation", [], _dtype_attr, attrs={"dtype": "handle"}, form=("dtype",),
    doc="stands for a type where an operand is expected", meaning=_WHERE + "type_annotation",
)  # fmt: skip
_UNDEF = Intrinsic(
    "undef", [], _dtype_attr, attrs={"dtype": "handle"}, form=("dtype",), doc="a value that nobody may rely on",
    meaning=_WHERE + "undef",
)  # fmt: skip
_MASKED_LOAD = Intrinsic(
    "masked_load", [Operand("pointer", "pointer"), Operand("mask", dtypes=("bool",))], _dtype_attr, "read",
    attrs={"dtype": "handle"}, form=("dtype", "pointer", "mask"),
    doc="vector of elements at a pointer; lanes whose mask is false are zero and not read",
    meaning=_WHERE + "masked_load",
)  # fmt: skip
_MASKED_STORE = Intrinsic(
    "masked_store", [Operand("pointer", "pointer", rw="w"), Operand("value"), Operand("mask", dtypes=("bool",))], "void", "write",
    doc="store the lanes of a vector whose mask is true", meaning=_WHERE + "masked_store",
)  # fmt: skip

ROWS = (
    _ADDRESS_OF, _ACCESS_PTR, _PTR_BYTE_OFFSET, _HANDLE_ADD, _ISNULLPTR, _REINTERPRET, _TYPE_ANNOTATION, _UNDEF, _MASKED_LOAD,
    _MASKED_STORE,
)  # fmt: skip

handle_add_byte_offset, isnullptr, type_annotation = (
    builtin(_HANDLE_ADD),
    builtin(_ISNULLPTR),
    by_dtype(_TYPE_ANNOTATION),
)


def address_of(element: Any) -> Expr:
    """The address of a buffer element, a scalar, a buffer's first element, or a record that is passed by value."""
    if isinstance(element, Var) and element.dtype.by_value:
        return element
    if isinstance(element, Scalar):
        element = element.buffer
    if isinstance(element, Buffer):
        element = BufferLoad(element, (const(0),) * element.ndim)
    if not isinstance(element, BufferLoad):
        refuse(
            "only a buffer element has an address", "take it of an element: Tx.address_of(B[i, j]) or B.ptr_to([i, j])"
        )
    return call(_ADDRESS_OF, element)


def undef(dtype: DType | str = "handle") -> Call:
    """A value that nobody may rely on."""
    return call(_UNDEF, dtype=named_dtype(dtype))


def reinterpret(dtype: DType | str, value: Any) -> Expr:
    """The bits of `value` as `dtype`, which must be of the same width."""
    kind, expr = DType(named_dtype(dtype)), as_expr(value)
    if isinstance(dtype, PointerType):
        refuse("reinterpret gives plain types", 'write reinterpret("handle", x)')
    if expr.dtype.total_bits != kind.total_bits:
        refuse(
            f"reinterpret keeps the bits: {expr.dtype} has {expr.dtype.total_bits}, {kind} has {kind.total_bits}",
            f'convert the value with Tx.cast(x, "{kind}")',
        )
    return expr if expr.dtype is kind else call(_REINTERPRET, expr, dtype=kind.name)


def ptr_byte_offset(data: Any, byte_offset: Any, dtype: DType | str = "handle") -> Call:
    """A pointer to `dtype`, `byte_offset` bytes after `data`."""
    return call(_PTR_BYTE_OFFSET, data, byte_offset, dtype=named_dtype(dtype))


def tvm_access_ptr(ptype: Any, data: Any, offset: Any, extent: Any, rw_mask: int) -> Call:
    """A pointer with the range and the kind of access behind it; `ptype` is a dtype or `Tx.type_annotation(dtype)`."""
    name = ptype.attr("dtype") if isinstance(ptype, Call) else named_dtype(ptype)
    return call(_ACCESS_PTR, data, offset, extent, dtype=name, rw_mask=rw_mask)


_MASKS = {"r": 1, "w": 2, "rw": 3, 1: 1, 2: 2, 3: 3}


def access_ptr(
    buffer: Buffer,
    access_mask: int | str,
    ptr_type: str = "handle",
    content_lanes: int = 1,
    offset: Any = 0,
    extent: Any = None,
) -> Call:
    """What `Buffer.access_ptr` answers: a pointer `offset` elements into `buffer`."""
    mask = _MASKS.get(access_mask)
    if mask is None:
        refuse(f"access mask {access_mask!r} is unknown", 'give 1 or "r" (read), 2 or "w" (write), 3 or "rw" (both)')
    start = as_expr(buffer.elem_offset) + offset
    count = _elements(buffer) - as_expr(offset) if extent is None else extent
    dtype = buffer.dtype.with_lanes(buffer.dtype.lanes * content_lanes)
    if content_lanes > 1:
        start, count = start // content_lanes, count // content_lanes
    pointer = call(_ACCESS_PTR, buffer.data, start, count, dtype=dtype.name, rw_mask=mask)
    return pointer if ptr_type == "handle" else ptr_byte_offset(pointer, 0, ptr_type)


def _elements(buffer: Buffer) -> Expr:
    total = const(1)
    for extent in buffer.shape:
        total = total * extent
    return total


def _require_whole_bytes(dtype: DType) -> None:
    if dtype.is_packed:
        refuse(
            f"lanes of {dtype} share bytes, which a mask would divide",
            f'mask the bytes, and see them as elements: Tx.reinterpret("{dtype}", bytes)',
        )


def masked_load(dtype: DType | str, buffer: Any, *idx_and_mask: Any) -> Call:
    """A vector from `buffer[idx]` (or a pointer) on; lanes whose mask is false are zero and not read."""
    pointer, mask = _place(buffer, idx_and_mask)
    _require_whole_bytes(DType(named_dtype(dtype)))
    return call(_MASKED_LOAD, pointer, mask, dtype=named_dtype(dtype))


def masked_store(buffer: Any, value: Any, *idx_and_mask: Any) -> Call:
    """Store the lanes of `value` whose mask is true to `buffer[idx]` (or a pointer) on."""
    pointer, mask = _place(buffer, idx_and_mask)
    expr = as_expr(value)
    if isinstance(buffer, Buffer):
        expr = cast(expr, buffer.dtype.with_lanes(expr.dtype.lanes))
    _require_whole_bytes(expr.dtype)
    return call(_MASKED_STORE, pointer, expr, mask)


def _place(buffer: Any, idx_and_mask: tuple[Any, ...]) -> tuple[Any, Any]:
    if not idx_and_mask:
        refuse("a masked access ends with its mask", "give the indices, then one bool per lane")
    *indices, mask = idx_and_mask
    if isinstance(buffer, Buffer):
        return address_of(BufferLoad(buffer, buffer.checked_indices(indices))), mask
    return buffer, mask
