"""Where matrices lie in tensor memory: 128 lanes, and the elements along them.

| data path | rows of the cta | how they lie |
|---|---|---|
| A, D | 128 | row r in lane r |
| B, E | 64 | row r in lane r, the right half of the columns 64 lanes further |
| C, F | 64 | 16 rows in the lower half of each warp's 32 lanes (`sub_slab=1`: the upper half) |
| G | 32 | row r in lane r, each quarter of the columns 32 lanes further |

PTX ISA 9.7.16.10.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tirx.ir import DType
from tirx.layout import Iter, TileLayout

from .refusal import fault, one_of, positive

__all__ = ["DATAPATHS", "Datapath", "tmem_datapath_layout", "tmem_mma_operand_layout"]

LANES = 128


class Datapath(NamedTuple):
    """Rows that a cta holds, parts that the columns are folded into, whether rows are spread over the warps' slabs."""

    rows: int
    folds: int = 1
    scattered: bool = False


DATAPATHS = {
    "A": Datapath(128),
    "B": Datapath(64, folds=2),
    "C": Datapath(64, scattered=True),
    "D": Datapath(128),
    "E": Datapath(64, folds=2),
    "F": Datapath(64, scattered=True),
    "G": Datapath(32, folds=4),
}

# The data path of an instruction, by cta_group, M and `.ws`.
_CHOICES = {
    (1, 128, False): "D",
    (1, 64, False): "F",
    (1, 64, True): "E",
    (2, 256, False): "A",
    (2, 128, False): "B",
}
_DTYPES = {
    "A": (
        "float16", "bfloat16", "float32", "int8", "uint8", "float8_e4m3fn", "float8_e5m2", "float6_e2m3fn", "float6_e3m2fn",
        "float4_e2m1fn",
    ),
    "D": ("float32", "float16", "int32"),
}  # fmt: skip


def tmem_datapath_layout(datapath: str, rows: int, cols: int, sub_slab: int = 0) -> TileLayout:
    """Where element (row, column) of an accumulator lies, by the letter of the data path that wrote it."""
    one_of("datapath", datapath, list(DATAPATHS))
    path = DATAPATHS[datapath]
    if rows != path.rows:
        raise fault(f"data path {datapath} has {path.rows} rows, not {rows!r}")
    positive("cols", cols, path.folds)
    one_of("sub_slab", sub_slab, (0, 1))
    if sub_slab and not path.scattered:
        raise fault(f"data path {datapath} fills both halves of a warp's lanes", "only C and F have sub_slab=1")
    if path.scattered:
        iters = [Iter(4, 32, "TLane"), Iter(16, 1, "TLane"), Iter(cols, 1, "TCol")]
        return TileLayout.from_iters(iters, (), {"TLane": 16} if sub_slab else {})
    folds = [Iter(path.folds, LANES // path.folds, "TLane")] if path.folds > 1 else []
    return TileLayout.from_iters([Iter(rows, 1, "TLane"), *folds, Iter(cols // path.folds, 1, "TCol")])


def tmem_mma_operand_layout(
    operand: str,
    shape: Sequence[int],
    dtype: Any,
    *,
    M: int,  # noqa: N803 - the name in PTX
    cta_group: int,
    ws: bool = False,
    sparse: bool = False,
    group: Sequence[int] | None = None,
) -> TileLayout:
    """Where operand "A" or "D" of `tcgen05.mma` lies for an instruction of `M` rows, of which a cta has M / cta_group.

    On data paths B and E, `shape` may be (2, 64, n): two matrices, one in each half of the lanes; `group=(s, 2, n)` cuts the
    columns of D into s pieces, each folded on its own.
    """
    one_of("operand", operand, ("A", "D"))
    one_of(f"the dtype of operand {operand}", _name(dtype), _DTYPES[operand])
    letter = _datapath_of(M, cta_group, ws, sparse)
    extents = [positive("an extent of shape", extent) for extent in shape]
    _check_shape(operand, letter, extents)
    if group is not None:
        return _grouped(operand, letter, extents, group)
    if len(extents) == 3:
        return _identity(LANES, extents[2])
    rows, columns = extents
    if operand == "D":
        return tmem_datapath_layout(letter, rows, columns)
    return _identity(rows, columns, both_halves=letter == "B")


def _name(dtype: Any) -> str:
    try:
        return DType(dtype).name
    except ValueError as error:
        raise fault(str(error)) from None


def _datapath_of(rows: int, cta_group: int, ws: bool, sparse: bool) -> str:
    if sparse:
        raise fault("the layout of a sparse operand A is not offered", "data path C is tmem_datapath_layout('C', ...)")
    letter = _CHOICES.get((cta_group, rows, bool(ws)))
    if letter is None:
        known = ", ".join(f"M={m} cta_group={g}{' ws=True' if w else ''}" for g, m, w in _CHOICES)
        raise fault(
            f"no instruction has M={rows}, cta_group={cta_group}{', ws=True' if ws else ''}", f"there are {known}"
        )
    return letter


def _check_shape(operand: str, letter: str, extents: Sequence[int]) -> None:
    rows = DATAPATHS[letter].rows
    is_folded = DATAPATHS[letter].folds == 2
    pair = len(extents) == 3 and is_folded and extents[0] == 2 and extents[1] == rows
    flat = len(extents) == 2 and extents[0] == rows and (operand, letter) != ("A", "E")
    if pair or flat:
        return
    accepted = ["(2, 64, n)"] if is_folded else []
    if (operand, letter) != ("A", "E"):  # a flat A would be read again from the other half of the lanes
        accepted.insert(0, f"({rows}, n)")
    raise fault(
        f"operand {operand} on data path {letter} does not have shape {tuple(extents)}",
        f"it has {' or '.join(accepted)}",
    )


def _identity(rows: int, columns: int, both_halves: bool = False) -> TileLayout:
    replica = [Iter(2, LANES // 2, "TLane")] if both_halves else []
    return TileLayout.from_iters([Iter(rows, 1, "TLane"), Iter(columns, 1, "TCol")], replica)


def _grouped(operand: str, letter: str, extents: Sequence[int], group: Sequence[int]) -> TileLayout:
    if operand != "D" or DATAPATHS[letter].folds != 2 or len(extents) != 2:
        raise fault(
            f"the columns of operand {operand} of shape {tuple(extents)} on data path {letter} have no groups",
            "group is for operand D with two dimensions on data paths B and E",
        )
    rows, columns = extents
    if len(group) != 3 or group[1] != 2 or group[0] * group[1] * group[2] != columns:
        raise fault(f"group is {tuple(group)}", f"it is (s, 2, n) with s * 2 * n = {columns} columns")
    pieces, _, width = group
    folded = [Iter(pieces, width, "TCol"), Iter(2, LANES // 2, "TLane"), Iter(width, 1, "TCol")]
    return TileLayout.from_iters([Iter(rows, 1, "TLane"), *(folded if pieces > 1 else folded[1:])])
