"""Views of buffers: the same storage under another shape, order or element type.

Each view is declared at the point where it is taken (a `Decl`), and has the row-major layout with explicit strides where
that says everything; else a layout object.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..support.errors import ScriptError
from .build import as_expr
from .context import active_builder, current_span, late
from .dtype import DType
from .expr import BufferLoad, BufferRegion, Call, Expr, IntImm, Var
from .layout import DEFAULT_LAYOUT
from .rearrange import parse_pattern
from .sizes import product
from .stmt import Bind, Decl

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

    from .buffer import Buffer

__all__ = ["BufferViews"]


class BufferViews:
    """The view methods of `Buffer`. `self` is the buffer; it is not typed so, because `Buffer` builds on this class."""

    __slots__ = ()

    def view(self: Any, *shape: Any, layout: Any = None) -> Buffer:
        """The storage under another shape (one `-1` is filled in), or, for `view("dtype")`, under another element type.

        The product of the shape stays; another element width scales the last dimension. Raises `ScriptError` otherwise.
        """
        if len(shape) == 1 and isinstance(shape[0], str | DType):
            return _retyped(self, DType(shape[0]))
        dims = _completed(self, shape)
        if layout is not None:
            return _declared(self.replaced(shape=dims, layout=layout, strides=()))
        if self.has_default_layout and not self.strides:
            return _declared(self.replaced(shape=dims))
        return _declared(_with_layout(self, dims, self.layout))

    def local(self: Any, *shape: Any, layout: Any = None) -> Buffer:
        """The part of a distributed tile that one thread holds, as an ordinary buffer of its registers."""
        count = late("storage_of_thread")(self.layout)
        dims = _completed(self, shape, count) if shape else (count,)
        return _declared(self.replaced(shape=dims, strides=(), layout=layout if layout is not None else DEFAULT_LAYOUT))

    def permute(self: Any, *dims: int) -> Buffer:
        """The dimensions in another order: `B.permute(1, 0)` is the transpose."""
        if sorted(dims) != list(range(self.ndim)):
            _refuse(f"permute{dims} does not name each of the {self.ndim} dimensions of `{self.name}` once", None)
        grouped, separators = self.layout.group(self.shape)
        return _declared(
            _with_layout(self, tuple(self.shape[d] for d in dims), grouped.permute_by_groups(separators, dims))
        )

    def rearrange(self: Any, pattern: str, **sizes: int) -> Buffer:
        """Split, merge and permute dimensions by names: `B.rearrange("a (b c) -> c a b", b=4)`."""
        plan = parse_pattern(pattern, self.shape, sizes)
        grouped, separators = self.layout.group(plan.split)
        return _declared(_with_layout(self, plan.merged, grouped.permute_by_groups(separators, plan.order)))

    @property
    def sub(self: Any) -> _Sub:
        """A NumPy-like view: `B.sub[i, a:b, ::2]`; an index drops its dimension, a slice narrows or strides it."""
        return _Sub(self)

    def tile(self: Any, *parts: Any) -> _Tiled:
        """Split dimensions: `B.tile(0, (4, 16))[i]` or `B.tile((0, (4, 16)), (1, (2, 8)))[i, :, j, :]`; then pick like `sub`."""
        pairs = [(parts[0], parts[1])] if len(parts) == 2 and isinstance(parts[0], int) else [tuple(p) for p in parts]
        return _Tiled(self, {dim: tuple(factors) for dim, factors in pairs})

    def chunk(self: Any, spec: Sequence[int] | int) -> _Chunked:
        """Equal contiguous chunks per dimension: `B.chunk((4,))[1]` of 256 elements is the region `[64:128]`."""
        return _Chunked(self, (spec,) if isinstance(spec, int) else tuple(spec))

    # ---- offsets ----------------------------------------------------------------------------------------------

    def offset_of(self: Any, indices: Sequence[Any]) -> Expr:
        """Flat element offset of row-major (or strided) indices, ignoring layouts."""
        checked = self.checked_indices(list(indices))
        steps = self.strides or late("row_major_strides")(self.shape)
        total: Any = self.elem_offset
        for index, step in zip(checked, steps, strict=True):
            total = index * step + total
        return as_expr(_simple(total))

    def elem_offset_of(self: Any, indices: Sequence[Any], inner: bool = True) -> Expr:
        """Offset of one element through the layout, in elements; with `inner=False` from the start of the storage."""
        checked = self.checked_indices(list(indices))
        position = self.layout.physical(checked, self.shape).get("m", 0)
        total = position if inner else position + as_expr(self.elem_offset)
        return as_expr(_simple(total))

    def byte_offset_of(self: Any, indices: Sequence[Any], inner: bool = True) -> Expr:
        """Offset of one element through the layout, in bytes."""
        return as_expr(self.elem_offset_of(indices, inner) * self.dtype.total_bits // 8)

    def byte_offset(self: Any) -> Expr:
        """Where the buffer starts in its storage, in bytes."""
        return as_expr(as_expr(self.elem_offset) * self.dtype.total_bits // 8)

    def get_flattened_buffer(self: Any) -> Buffer:
        """The same storage as one dimension."""
        total: Any = 1
        for extent in self.shape:
            total = extent if isinstance(total, int) and total == 1 else total * extent
        flat: Buffer = self.replaced(shape=(total,), strides=())
        return flat


class _Sub:
    __slots__ = ("buffer",)

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer

    def __getitem__(self, index: Any) -> Buffer:
        items = index if isinstance(index, tuple) else (index,)
        items += (slice(None),) * (self.buffer.ndim - len(items))
        return _declared(_picked(self.buffer, items))


class _Tiled:
    __slots__ = ("buffer", "factors")

    def __init__(self, buffer: Buffer, factors: dict[int, tuple[int, ...]]) -> None:
        self.buffer = buffer
        self.factors = factors

    def __getitem__(self, picks: Any) -> Buffer:
        dims: list[Any] = []
        for axis, extent in enumerate(self.buffer.shape):
            parts = self.factors.get(axis, (extent,))
            _require_product(self.buffer, axis, parts)
            dims += parts
        items = picks if isinstance(picks, tuple) else (picks,)
        whole = _with_layout(self.buffer, tuple(dims), self.buffer.layout)
        return _declared(_picked(whole, items + (slice(None),) * (len(dims) - len(items))))


class _Chunked:
    __slots__ = ("buffer", "spec")

    def __init__(self, buffer: Buffer, spec: tuple[int, ...]) -> None:
        self.buffer = buffer
        self.spec = spec + (1,) * (buffer.ndim - len(spec))

    def __getitem__(self, picks: Any) -> BufferRegion:
        items = picks if isinstance(picks, tuple) else (picks,)
        items += (0,) * (self.buffer.ndim - len(items))
        slices = []
        for axis, (count, pick, extent) in enumerate(zip(self.spec, items, self.buffer.shape, strict=True)):
            if isinstance(extent, int) and extent % count:
                _refuse(
                    f"dimension {axis} of `{self.buffer.name}` ({extent}) does not split into {count} equal chunks",
                    None,
                )
            size = extent // count
            slices.append(slice(pick * size, (pick + 1) * size))
        region: BufferRegion = self.buffer[tuple(slices)]
        return region


def _picked(buffer: Buffer, items: Sequence[Any]) -> Buffer:
    """`buffer` narrowed by one int, expression or slice per dimension."""
    if len(items) != buffer.ndim:
        _refuse(f"`{buffer.name}` has {buffer.ndim} dimensions and {len(items)} are picked", None)
    picks = [_pick(buffer, axis, item) for axis, item in enumerate(items)]
    dims = [pick[1] for pick in picks if isinstance(pick, tuple)] or [1]
    strides = _plain_strides(buffer)
    if strides is None:
        layout, moved = late("part_of_layout")(buffer.layout, buffer.shape, picks)
        start = _simple(_sum(buffer.elem_offset, moved, 1))
        return _with_layout(buffer.replaced(elem_offset=start), tuple(dims), layout)
    steps = [step * pick[2] for pick, step in zip(picks, strides, strict=True) if isinstance(pick, tuple)] or [1]
    offset: Any = buffer.elem_offset
    for pick, step in zip(picks, strides, strict=True):
        offset = _sum(offset, pick[0] if isinstance(pick, tuple) else pick, step)
    return buffer.replaced(shape=dims, strides=steps, elem_offset=_simple(offset), layout=DEFAULT_LAYOUT)


def _pick(buffer: Buffer, axis: int, item: Any) -> Any:
    """An index, or (start, count, step) of a slice."""
    if isinstance(item, slice):
        start, stop, step = _slice(buffer, axis, item, buffer.shape[axis])
        return start, _count(start, stop, step), step
    buffer.checked_indices([0] * axis + [item] + [0] * (buffer.ndim - axis - 1))
    return item


def _slice(buffer: Buffer, axis: int, item: slice, extent: Any) -> tuple[Any, Any, int]:
    start = 0 if item.start is None else item.start
    stop = extent if item.stop is None else item.stop
    step = 1 if item.step is None else item.step
    if not isinstance(step, int) or step < 1:
        _refuse(f"the step of a view is a positive number, not {step!r}", None)
    for value in (start, stop):
        if isinstance(value, int) and isinstance(extent, int) and not 0 <= value <= extent:
            _refuse(
                f"{value} is outside dimension {axis} of `{buffer.name}` ({extent})", "kernels have no negative indices"
            )
    return start, stop, step


def _count(start: Any, stop: Any, step: int) -> Any:
    size = _simple(stop - start)
    return size if step == 1 else _simple((size + (step - 1)) // step)


def _sum(offset: Any, index: Any, step: Any) -> Any:
    part = index if isinstance(step, int) and step == 1 else index * step
    if isinstance(part, int) and part == 0:
        return offset
    return part if isinstance(offset, int) and offset == 0 else offset + part


def _simple(value: Any) -> Any:
    if isinstance(value, int):
        return value
    found = late("simplify")(as_expr(value))
    return found.value if isinstance(found, IntImm) else found


def _plain_strides(buffer: Buffer) -> Sequence[Any] | None:
    """One stride per dimension, or None when the layout is not a plain strided one."""
    if buffer.has_default_layout:
        return buffer.strides or late("row_major_strides")(buffer.shape)
    found: Sequence[Any] | None = late("plain_strides")(buffer.layout, buffer.shape)
    return found


def _with_layout(buffer: Buffer, shape: tuple[Any, ...], layout: Any) -> Buffer:
    """`buffer` with another shape and layout; plain strided layouts become strides."""
    strides = late("plain_strides")(layout, shape)
    if strides is not None:
        constant = all(isinstance(step, int) for step in strides)
        usual = constant and tuple(strides) == tuple(late("row_major_strides")(shape))
        return buffer.replaced(shape=shape, strides=() if usual else strides, layout=DEFAULT_LAYOUT)
    return buffer.replaced(shape=shape, strides=(), layout=layout)


def _retyped(buffer: Buffer, dtype: DType) -> Buffer:
    """The bytes of `buffer` as elements of another type: the last dimension scales."""
    old, new = buffer.dtype.total_bits, dtype.total_bits
    if old == new:
        return _declared(buffer.replaced(dtype=dtype))
    last, offset = buffer.shape[-1], buffer.elem_offset
    if isinstance(last, int) and (last * old) % new:
        _refuse(f"{last} elements of {buffer.dtype} are no whole number of {dtype}", None)
    if isinstance(offset, int) and (offset * old) % new:
        _refuse(f"`{buffer.name}` starts at element {offset}, which is no whole number of {dtype}", None)
    shape = (*buffer.shape[:-1], _simple(last * old // new))
    resized = buffer.replaced(shape=shape, dtype=dtype, elem_offset=_simple(offset * old // new))
    strides = _plain_strides(buffer)
    gaps = strides is not None and isinstance(strides[-1], int) and strides[-1] != 1
    if strides is None or (gaps and new < old):
        return _declared(_with_layout(resized, shape, _repacked(buffer, old, new)))
    if gaps:
        _refuse(f"the last dimension of `{buffer.name}` is not contiguous", "reinterpret before taking a strided view")
    scaled = (*(_simple(step * old // new) for step in strides[:-1]), 1)
    follows = buffer.has_default_layout and not buffer.strides
    return _declared(resized.replaced(strides=() if follows else scaled, layout=DEFAULT_LAYOUT))


def _repacked(buffer: Buffer, old: int, new: int) -> Any:
    """The layout in elements of another width."""
    if max(old, new) % min(old, new):
        _refuse(f"elements of {old} bits do not divide into such of {new}", "one width must be a multiple of the other")
    return buffer.layout.pack(new // old) if new > old else buffer.layout.unpack(old // new)  # type: ignore[union-attr]


def _completed(buffer: Buffer, shape: Sequence[Any], total: Any = None) -> tuple[Any, ...]:
    """`shape` with its `-1` filled in; the product must be that of the buffer."""
    dims = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else tuple(shape)
    whole = total if total is not None else _simple(product(buffer.shape))
    holes = [i for i, d in enumerate(dims) if isinstance(d, int) and d == -1]
    if len(holes) > 1:
        _refuse("a view has at most one -1", None)
    rest = _simple(product(d for i, d in enumerate(dims) if i not in holes))
    if holes:
        dims = (*dims[: holes[0]], _simple(whole // rest), *dims[holes[0] + 1 :])
        rest = _simple(product(dims))
    gap = _simple(whole - rest)
    if not (isinstance(gap, int) and gap == 0):
        if isinstance(gap, int):
            _refuse(f"a view of `{buffer.name}` keeps its {whole} elements; shape {dims} has {rest}", None)
        _refuse(
            f"cannot prove that shape {dims} keeps the number of elements of `{buffer.name}`", "use the same symbols"
        )
    return dims


def _require_product(buffer: Buffer, axis: int, parts: Sequence[Any]) -> None:
    extent = buffer.shape[axis]
    gap = _simple(product(parts) - extent)
    if not (isinstance(gap, int) and gap == 0):
        _refuse(f"factors {tuple(parts)} do not make up dimension {axis} of `{buffer.name}` ({extent})", None)


def _declared(buffer: Buffer) -> Buffer:
    """`buffer` under a name of its own, declared in the kernel being built."""
    if buffer.allocated_addr:
        buffer = late("placed_view")(buffer)
    builder = active_builder()
    if builder is None:
        return buffer
    name, start = builder.fresh_name(f"{buffer.name}_view"), buffer.elem_offset
    if isinstance(start, Expr) and start.has(BufferLoad, Call):  # a view stays where it was taken
        fixed = Var(builder.fresh_name(f"{name}_offset"), start.dtype)
        builder.emit(Bind(fixed, start, span=current_span()))
        start = fixed
    made = buffer.replaced(name=name, elem_offset=start)
    made.span = current_span()
    builder.emit(Decl(made, span=current_span()))
    return made


def _refuse(message: str, hint: str | None) -> Any:
    raise ScriptError(message, span=current_span(), hint=hint)
