"""Buffers: typed, shaped names for storage, and mutable scalars.

A buffer is compared by identity. Several buffers may share one storage (`data`): views, aliases, flattened forms.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..support.errors import ScriptError
from .build import as_expr, const, refuse_region
from .context import current_span, emit, late
from .convert import store_value
from .dtype import DType, PointerType
from .expr import BufferLoad, BufferRegion, Expr, IntImm, Ramp, StringImm, Var
from .layout import DEFAULT_LAYOUT, DefaultLayout, Layout
from .ops import ExprOps
from .stmt import BufferStore
from .views import BufferViews

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["DEFAULT_LAYOUT", "Buffer", "Scalar"]

Dim = int | Expr
_FIRST = (const(0),)  # where scalars are; one for all, since looking for the author's line costs more than the load


class Buffer(BufferViews):
    """A typed view of storage.

    * `shape`: ints where known, expressions where not; elements of `dtype`
    * `data`: the pointer variable of the storage, shared by all views of it
    * `scope`: storage scope (`global shared shared.dyn local ...`)
    * `layout`: logical coordinate -> position, `None` once layouts are lowered; default row-major
    * `strides`: per dimension in elements, empty when they follow from the layout
    * `elem_offset`: where the buffer starts in its storage, in elements of `dtype`
    * `align`: alignment of the start in bytes (0: natural); `offset_factor`: `elem_offset` is a multiple of it
    * `allocated_addr`: address in a scope whose storage the author places by hand
    """

    __slots__ = (
        "_layout",
        "align",
        "allocated_addr",
        "data",
        "dtype",
        "elem_offset",
        "is_scalar",
        "name",
        "offset_factor",
        "scope_name",
        "shape",
        "span",
        "strides",
    )

    def __init__(
        self,
        name: str,
        shape: Sequence[Any],
        dtype: DType | str = "float32",
        *,
        data: Var | None = None,
        scope: str = "global",
        layout: Layout | DefaultLayout | None = DEFAULT_LAYOUT,
        strides: Sequence[Any] = (),
        elem_offset: Any = 0,
        align: int = 0,
        offset_factor: int = 0,
        allocated_addr: Sequence[Any] = (),
        is_scalar: bool = False,
    ) -> None:
        self.name = name
        self.shape: tuple[Dim, ...] = tuple(_dimension(item) for item in shape)
        self.dtype = DType(dtype)
        self.scope_name = scope
        self.data = data if data is not None else Var(name, PointerType(self.dtype, scope))
        self._layout = layout
        self.strides: tuple[Dim, ...] = tuple(_dimension(item) for item in strides)
        self.elem_offset: Dim = _dimension(elem_offset)
        self.align = align
        self.offset_factor = offset_factor
        self.allocated_addr: tuple[Dim, ...] = tuple(_dimension(item) for item in allocated_addr)
        self.is_scalar = is_scalar
        self.span = current_span()

    def __repr__(self) -> str:
        return f"Buffer({self.name!r}, {self.shape!r}, {self.dtype.name!r}, scope={self.scope_name!r})"

    # ---- properties -------------------------------------------------------------------------------------------

    @property
    def layout(self) -> Layout | None:
        """The layout object; the row-major one when none was given."""
        if isinstance(self._layout, DefaultLayout):
            found: Layout = late("default_layout")(self.shape, self.strides)
            return found
        return self._layout

    @property
    def has_default_layout(self) -> bool:
        """Whether the layout follows from shape and strides."""
        return isinstance(self._layout, DefaultLayout)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def scope(self) -> str:
        """The storage scope."""
        return self.scope_name

    def is_flat(self) -> bool:
        """Whether indices are positions in storage (layouts lowered)."""
        return self._layout is None

    def replaced(self, **changes: Any) -> Buffer:
        """A buffer that differs in the given constructor arguments; same storage unless `data` is among them."""
        values: dict[str, Any] = {
            "name": self.name,
            "shape": self.shape,
            "dtype": self.dtype,
            "data": self.data,
            "scope": self.scope_name,
            "layout": self._layout,
            "strides": self.strides,
            "elem_offset": self.elem_offset,
            "align": self.align,
            "offset_factor": self.offset_factor,
            "allocated_addr": self.allocated_addr,
            "is_scalar": self.is_scalar,
        }
        values.update(changes)
        made = Buffer(**values)
        made.span = self.span
        return made

    # ---- access -----------------------------------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        items = self._items(index)
        if any(isinstance(item, slice) for item in items):
            return self._region(items)
        return BufferLoad(self, self.checked_indices(items), span=current_span())

    def __setitem__(self, index: Any, value: Any) -> None:
        items = self._items(index)
        if any(isinstance(item, slice) for item in items):
            self._refuse(
                "a slice cannot be assigned", "write a loop, or a tile operation such as Tx.tile.copy(dst, src)"
            )
        self._emit_store(self.checked_indices(items), value)

    def _emit_store(self, indices: tuple[Expr, ...], value: Any) -> None:
        stored = store_value(value, self.dtype, indices, self.name, is_scalar=self.is_scalar)
        emit(BufferStore(self, stored, indices, span=current_span()))

    def __iter__(self) -> NoReturn:
        self._refuse("a buffer cannot be iterated", "loop over an index: for i in range(...)")

    def __len__(self) -> int:
        self._refuse("a buffer has no length", f"use {self.name}.shape[0]")

    def __bool__(self) -> bool:
        return True

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        if isinstance(other, int | float | ExprOps):  # it would be false in silence
            self._refuse(
                f"the buffer `{self.name}` is compared with a value", f"compare an element, e.g. {self.name}[i]"
            )
        return self is other

    def checked_indices(self, items: Sequence[Any]) -> tuple[Expr, ...]:
        """Indices as expressions; the count must equal the rank and constants must lie inside the shape."""
        if len(items) != len(self.shape):
            self._refuse(
                f"`{self.name}` has {len(self.shape)} dimension{'s' if len(self.shape) != 1 else ''} "
                f"{self._shape_text()} and is indexed with {len(items)}",
                "give one index per dimension",
            )
        return tuple(self._index(item, axis) for axis, item in enumerate(items))

    def region(self) -> BufferRegion:
        """The whole buffer as a region."""
        zero = const(0)
        return BufferRegion(self, (zero,) * self.ndim, tuple(as_expr(e) for e in self.shape), span=current_span())

    def __tirx_expr__(self) -> Expr:
        if self.is_scalar:
            return BufferLoad(self, _FIRST, span=current_span())
        return self._refuse(
            f"the buffer `{self.name}` is used where a value is expected", f"index an element, e.g. {self.name}[i]"
        )

    def _items(self, index: Any) -> tuple[Any, ...]:
        items = tuple(index) if isinstance(index, tuple | list) else (index,)
        if Ellipsis in [item for item in items if item is Ellipsis]:
            at = next(i for i, item in enumerate(items) if item is Ellipsis)
            fill = (slice(None),) * (len(self.shape) - len(items) + 1)
            items = items[:at] + fill + items[at + 1 :]
        if any(isinstance(item, slice) for item in items):
            items += (slice(None),) * (len(self.shape) - len(items))
        return items

    def _index(self, item: Any, axis: int) -> Expr:
        expr = as_expr(item)
        if type(expr) is BufferRegion:
            refuse_region(expr)
        if not expr.dtype.is_integer:
            kind = "text" if isinstance(expr, StringImm) else f"of type {expr.dtype}"
            self._refuse(f"index {axis} of `{self.name}` is {kind}, not an integer", "cast it, e.g. Tx.int32(x)")
        extent = self.shape[axis]
        if isinstance(expr, IntImm) and isinstance(extent, int) and not 0 <= expr.value < extent:
            self._refuse(
                f"index {expr.value} is outside dimension {axis} of `{self.name}` {self._shape_text()}",
                self._valid(expr.value, axis, extent),
            )
        return expr

    def _valid(self, index: int, axis: int, extent: int) -> str:
        if extent < 1:
            return f"dimension {axis} has no elements: no index is valid"
        if index < 0:
            return f"Python's negative indices do not exist in kernels; the last element is {self.name}[{extent - 1}]"
        return f"valid indices are 0 to {extent - 1}"

    def _region(self, items: Sequence[Any]) -> BufferRegion:
        if len(items) != len(self.shape):
            self._refuse(
                f"`{self.name}` {self._shape_text()} is sliced with {len(items)} indices",
                "give at most one per dimension",
            )
        starts, extents = [], []
        for axis, item in enumerate(items):
            if not isinstance(item, slice):
                starts.append(self._index(item, axis))
                extents.append(const(1))
                continue
            if item.step is not None and item.step != 1:
                self._refuse("a region has no step", f"take {self.name}.sub[...] for a strided view")
            start = as_expr(0 if item.start is None else item.start)
            stop = as_expr(self.shape[axis] if item.stop is None else item.stop)
            starts.append(start)
            extents.append(late("simplify")(stop - start))
        return BufferRegion(self, tuple(starts), tuple(extents), span=current_span())

    # ---- pointers and vectors ---------------------------------------------------------------------------------

    def ptr_to(self, indices: Sequence[Any]) -> Expr:
        """The address of one element, through the layout."""
        pointer: Expr = late("address_of")(BufferLoad(self, self.checked_indices(list(indices)), span=current_span()))
        return pointer

    def access_ptr(
        self,
        access_mask: int | str,
        ptr_type: str = "handle",
        content_lanes: int = 1,
        offset: Any = 0,
        extent: Any = None,
    ) -> Expr:
        """An annotated pointer: `access_mask` is 1 / "r", 2 / "w" or 3 / "rw"; `offset` and `extent` in elements.

        Into a swizzled tile only offsets that commute with the XOR are allowed.
        """
        if not isinstance(self._layout, DefaultLayout) and not late("commutes")(self._layout, offset):
            self._refuse(
                f"{offset} elements into `{self.name}` do not commute with the XOR of its layout",
                f"give whole repetitions of the pattern, or an element's address: {self.name}.ptr_to([...])",
            )
        pointer: Expr = late("access_ptr")(self, access_mask, ptr_type, content_lanes, offset, extent)
        return pointer

    def vload(self, begin: Sequence[Any] | Any, dtype: DType | str | None = None) -> Expr:
        """A vector of `dtype` (default: one element) starting at `begin`, along the last dimension."""
        if dtype is not None and DType(dtype).element is not self.dtype.element:
            self._refuse(
                f"`{self.name}` holds {self.dtype.element}, and a vector of {DType(dtype).element} is read from it",
                f'read it as it is and convert it, or take a view of other elements: {self.name}.view("{DType(dtype).element}")',
            )
        return BufferLoad(self, self._vector_indices(begin, DType(dtype or self.dtype).lanes), span=current_span())

    def vstore(self, begin: Sequence[Any] | Any, value: Any) -> None:
        """Store a vector starting at `begin`, along the last dimension."""
        self._emit_store(self._vector_indices(begin, as_expr(value).dtype.lanes // self.dtype.lanes), value)

    def _vector_indices(self, begin: Sequence[Any] | Any, lanes: int) -> tuple[Expr, ...]:
        indices = self.checked_indices(list(begin) if isinstance(begin, tuple | list) else [begin])
        if lanes == 1:
            return indices
        last = Ramp(indices[-1], const(1, indices[-1].dtype), lanes, span=current_span())
        return (*indices[:-1], last)

    # ---- derived buffers --------------------------------------------------------------------------------------

    def with_dtype(self, dtype: DType | str) -> Buffer:
        """The same buffer with another element type of the same width."""
        return self.replaced(dtype=dtype)

    def with_allocated_addr(self, address: Sequence[Any]) -> Buffer:
        """The same buffer at a fixed address of its scope."""
        return self.replaced(allocated_addr=tuple(address))

    def _shape_text(self) -> str:
        return f"({', '.join(str(e) if isinstance(e, int) else getattr(e, 'name', '?') for e in self.shape)})"

    def _refuse(self, message: str, hint: str) -> NoReturn:
        raise ScriptError(message, span=current_span(), hint=hint)


def _dimension(value: Any) -> Dim:
    """Constants as Python ints, everything else as expressions."""
    if isinstance(value, int):
        return int(value)
    expr = as_expr(value)
    if isinstance(expr, IntImm):
        return expr.value
    if not expr.dtype.is_integer:
        raise ScriptError(f"a shape or offset is an integer, not {expr.dtype}", span=current_span())
    return expr


class Scalar(ExprOps):
    """A mutable scalar: a one-element buffer that reads as its value. Assigning to its name stores."""

    __slots__ = ("buffer",)

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer

    @property
    def dtype(self) -> DType:
        """Type of the value."""
        return self.buffer.dtype

    @property
    def name(self) -> str:
        """Name of the variable."""
        return self.buffer.name

    def __tirx_expr__(self) -> Expr:
        return BufferLoad(self.buffer, _FIRST, span=current_span())

    def __getitem__(self, index: Any) -> Any:
        return self.buffer[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.buffer[index] = value

    def assign(self, value: Any) -> None:
        """Store `value`."""
        self.buffer[0] = value

    def ptr_to(self, indices: Sequence[Any] = (0,)) -> Expr:
        """The address of the scalar."""
        return self.buffer.ptr_to(indices)

    def __repr__(self) -> str:
        return f"Scalar({self.buffer.name!r}, {self.dtype.name!r})"
