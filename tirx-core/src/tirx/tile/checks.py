"""Checks of tile calls when they are built: shapes, element types, and regions of one buffer that overlap."""

from __future__ import annotations

from collections.abc import Sequence

from ..arith import Analyzer
from ..ir import BufferRegion, Expr, TileCall
from ..ir.convert import is_lossless
from ..ir.tiles import call_name, tiles
from ..support.errors import ScriptError
from .row import tile_op
from .shapes import Extent, aligned, extents_of, is_one, keeps_shape, same, shape_text, squeezed

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import NoReturn

__all__ = [
    "check_block_matmul", "check_cast", "check_copy", "check_elementwise", "check_floats", "check_fused_reduction",
    "check_matmul",
    "check_permutation", "check_reduction",
]  # fmt: skip


def check_copy(call: TileCall) -> None:
    """One element type, equal shapes up to extents of 1, and two regions that share no element."""
    dst, src = _tile(call, "dst"), _tile(call, "src")
    _same_dtype(call, "dst", "src")
    _same_shape(call, "dst", "src")
    if _overlap(dst, src) or _same_storage(dst, src):
        _refuse(
            call,
            f"the regions of {call_name(call)} overlap: it reads and writes `{dst.buffer.name}` in the same place",
            "copy through another buffer, or choose regions that share no element",
        )


def check_permutation(call: TileCall) -> None:
    """As a copy; the two may be views of the same storage."""
    _same_dtype(call, "dst", "src")
    _same_shape(call, "dst", "src")


def check_cast(call: TileCall) -> None:
    """Any two element types; the source lies along the destination."""
    _lies_along(call, "dst", "src")
    _in_place_or_apart(call, "dst")


def check_elementwise(call: TileCall) -> None:
    """Sources lie along the destination as in NumPy, and lose nothing in its element type."""
    written = _written(call)[0]
    for name in tiles(call):
        _converts(call, written, name)
        _lies_along(call, written, name)
    _in_place_or_apart(call, written)


def check_floats(call: TileCall) -> None:
    """As any elementwise operation, and of floats."""
    written = _written(call)[0]
    dtype = _tile(call, written).buffer.dtype
    if not dtype.is_float:
        _refuse(
            call,
            f"{call_name(call)} is for floats, and `{written}` holds {dtype}",
            'convert first, e.g. Tx.tile.cast(dst, src) into a tile of "float32"',
        )
    check_elementwise(call)


def check_reduction(call: TileCall) -> None:
    """The destination has the shape of the source without the reduced axes, which may stay as extents of 1."""
    dst, src = call.names[:2]
    _converts(call, dst, src)
    _is_reduced(call, dst, src, "axes" if "axes" in dict(call.attrs) else "reduce_axes")


def check_fused_reduction(call: TileCall) -> None:
    """Elementwise into the first output; the second is that one reduced."""
    whole, reduced = _written(call)
    for name in tiles(call):
        if name != reduced:
            _converts(call, whole, name)
            _lies_along(call, whole, name)
    _converts(call, reduced, whole)
    _is_reduced(call, reduced, whole, "reduce_axes")
    _in_place_or_apart(call, whole, but=(reduced,))


def check_matmul(call: TileCall) -> None:
    """D and C are M x N, A is M x K and B is K x N, or their transposes."""
    _check_matmul(call, ("D", "A", "B"), call.attr("transpose_A"), not call.attr("transpose_B"))
    _factors_apart(call, "D")
    if call.operand("C") is not None:
        _same_dtype(call, "D", "C")
        _same_shape(call, "D", "C")
        _in_place_or_apart(call, "D", but=("A", "B"))


def check_block_matmul(call: TileCall) -> None:
    """C is M x N, A is M x K and B is N x K, or their transposes."""
    _check_matmul(call, ("C", "A", "B"), call.attr("transA"), call.attr("transB"))
    _factors_apart(call, "C")
    if (call.operand("SFA") is None) != (call.operand("SFB") is None):
        _refuse(call, f"{call_name(call)} gets scale factors for one operand only", "give SFA and SFB, or neither")


# ---- parts ----------------------------------------------------------------------------------------------------------------


def _check_matmul(call: TileCall, names: tuple[str, str, str], a_is_km: bool, b_is_kn: bool) -> None:
    (m, n), (a0, a1), (b0, b1) = (_matrix(call, name) for name in names)
    (m_of_a, k_of_a), (k_of_b, n_of_b) = (a1, a0) if a_is_km else (a0, a1), (b0, b1) if b_is_kn else (b1, b0)
    out, a, b = names
    for (what, x), (other, y) in (
        ((f"K of {a}", k_of_a), (f"K of {b}", k_of_b)),
        ((f"M of {out}", m), (f"M of {a}", m_of_a)),
        ((f"N of {out}", n), (f"N of {b}", n_of_b)),
    ):
        if not same(x, y):
            forms = f"{a} as {'K x M' if a_is_km else 'M x K'} and {b} as {'K x N' if b_is_kn else 'N x K'}"
            _refuse(
                call,
                f"the matrices of {call_name(call)} do not fit: {what} is {_one(x)}, and {other} is {_one(y)}",
                f"it takes {out} as M x N, {forms}; here they are "
                + ", ".join(f"{name} {shape_text(_matrix(call, name))}" for name in names),
            )
    _operand_types(call, names)


def _operand_types(call: TileCall, names: tuple[str, str, str]) -> None:
    out, a, b = (_tile(call, name).buffer.dtype for name in names)
    if a is not b and not (a.is_float and b.is_float and a.bits == b.bits == 8):
        _refuse(
            call,
            f"{call_name(call)} multiplies {names[1]} of {a} by {names[2]} of {b}",
            "both have one element type; only 8-bit floats mix",
        )
    if out.is_float != a.is_float:
        _refuse(
            call,
            f"{call_name(call)} multiplies {a} into {names[0]} of {out}",
            f"{'floats' if a.is_float else 'integers'} are summed as {'floats' if a.is_float else 'integers'}",
        )


def _matrix(call: TileCall, name: str) -> tuple[Extent, Extent]:
    """The two extents of a matrix: what is left without extents of 1, or the last two where those before them are 1."""
    extents = extents_of(_tile(call, name))
    left = squeezed(extents)
    if len(left) != 2:
        if len(extents) < 2 or not all(is_one(item) for item in extents[:-2]):
            _refuse(
                call,
                f"`{name}` of {call_name(call)} is no matrix: its shape is {shape_text(extents)}",
                f"choose two dimensions, e.g. {_tile(call, name).buffer.name}[..., 0:16, 0:16]",
            )
        left = extents[-2:]
    return left[0], left[1]


def _one(extent: Extent) -> str:
    return str(extent) if isinstance(extent, int) else extent.script()


def _is_reduced(call: TileCall, dst: str, src: str, attr: str) -> None:
    axes = call.attr(attr)
    extents = extents_of(_tile(call, src))
    rest = [extent for axis, extent in enumerate(extents) if axis not in axes]
    found = extents_of(_tile(call, dst))
    if not keeps_shape(found, rest):
        kept = [1 if axis in axes else extent for axis, extent in enumerate(extents)]
        _refuse(
            call,
            f"`{dst}` of {call_name(call)} has shape {shape_text(found)}, and {shape_text(extents)} reduced over "
            f"{_axes_text(axes)} has {shape_text(rest or (1,))}",
            f"give a tile of shape {shape_text(rest or (1,))} or {shape_text(kept)}, or choose other axes ({attr}=...)",
        )
    if _overlap(_tile(call, dst), _tile(call, src)):
        _refuse(call, f"`{dst}` and `{src}` of {call_name(call)} overlap", "reduce into another buffer")


def _axes_text(axes: Sequence[int]) -> str:
    return f"axis {axes[0]}" if len(axes) == 1 else f"axes {', '.join(map(str, axes))}"


def _same_dtype(call: TileCall, one: str, other: str) -> None:
    a, b = _tile(call, one).buffer, _tile(call, other).buffer
    if a.dtype is not b.dtype:
        _refuse(
            call,
            f"`{one}` of {call_name(call)} holds {a.dtype}, and `{other}` holds {b.dtype}",
            "both hold one type; convert with Tx.tile.cast(dst, src)",
        )


def _converts(call: TileCall, dst: str, src: str) -> None:
    """What `src` holds is the same in the type of `dst`, as it must be for a plain store."""
    a, b = _tile(call, dst).buffer.dtype, _tile(call, src).buffer.dtype
    if a.lanes != b.lanes or not is_lossless(b.element, a.element):
        _refuse(
            call,
            f"`{src}` of {call_name(call)} holds {b}, which may change in {a} of `{dst}`",
            f"write to a tile of {b}, or convert with Tx.tile.cast(dst, src)",
        )


def _same_shape(call: TileCall, one: str, other: str) -> None:
    a, b = extents_of(_tile(call, one)), extents_of(_tile(call, other))
    if not keeps_shape(a, b):
        proof = "" if _static(a) and _static(b) else " as far as is known here"
        _refuse(
            call,
            f"`{one}` of {call_name(call)} has shape {shape_text(a)}, and `{other}` has {shape_text(b)}: they differ{proof}",
            f"without extents of 1 they are {shape_text(squeezed(a))} and {shape_text(squeezed(b))}, and must be equal",
        )


def _lies_along(call: TileCall, dst: str, src: str) -> None:
    onto, extents = extents_of(_tile(call, dst)), extents_of(_tile(call, src))
    if aligned(extents, onto) is None:
        _refuse(
            call,
            f"`{src}` of {call_name(call)} has shape {shape_text(extents)}, which does not stretch to "
            f"{shape_text(onto)} of `{dst}`",
            "dimensions meet from the right; each is equal to the destination's, or 1",
        )


def _static(extents: Sequence[Extent]) -> bool:
    return all(isinstance(item, int) for item in extents)


# ---- regions of one buffer -------------------------------------------------------------------------------------------------


def _in_place_or_apart(call: TileCall, dst: str, but: Sequence[str] = ()) -> None:
    """A source may be the very region that is written, or one that shares nothing with it."""
    written = _tile(call, dst)
    for name, tile in tiles(call).items():
        if name != dst and name not in but and _overlap(written, tile) and not _same_region(written, tile):
            _refuse(
                call,
                f"`{name}` of {call_name(call)} overlaps `{dst}` without being the same region of `{tile.buffer.name}`",
                "work in place on one region, or choose regions that share no element",
            )


def _factors_apart(call: TileCall, dst: str) -> None:
    """An element of a product is written while others still need their row and column."""
    for name in ("A", "B"):
        if _overlap(_tile(call, dst), _tile(call, name)):
            _refuse(call, f"`{dst}` and `{name}` of {call_name(call)} overlap", "multiply into another buffer")


def _same_storage(a: BufferRegion, b: BufferRegion) -> bool:
    """Whether two regions are all of two views of the same elements."""
    one, other = a.buffer, b.buffer
    whole = all(all(map(same, extents_of(item), item.buffer.shape)) for item in (a, b))
    return whole and one.data is other.data and same(one.elem_offset, other.elem_offset)


def _overlap(a: BufferRegion, b: BufferRegion) -> bool:
    """Whether two regions provably share an element."""
    if a.buffer is not b.buffer:
        return False
    return all(map(_meet, a.starts, a.extents, b.starts, b.extents))


def _meet(start: Expr, extent: Expr, other: Expr, length: Expr) -> bool:
    known = Analyzer()
    return known.prove(start < other + length) and known.prove(other < start + extent)


def _same_region(a: BufferRegion, b: BufferRegion) -> bool:
    return all(map(same, a.starts, b.starts)) and all(map(same, a.extents, b.extents))


# ---- operands --------------------------------------------------------------------------------------------------------------


def _tile(call: TileCall, name: str) -> BufferRegion:
    found = call.operand(name)
    assert isinstance(found, BufferRegion)
    return found


def _written(call: TileCall) -> list[str]:
    return [item.name for item in tile_op(call).operands if "w" in item.rw]


def _refuse(call: TileCall, message: str, hint: str) -> NoReturn:
    raise ScriptError(message, span=call.span, hint=hint)
