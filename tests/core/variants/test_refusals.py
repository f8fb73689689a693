"""What each neutral variant refuses, and why; asked by name so that no other takes over."""

from __future__ import annotations

import pytest

from tirx.layout import S, TileLayout
from tirx.layout.syntax import AxisNames as Axis
from tirx.support.errors import DispatchError
from tirx.testing.operations import Place, check_tile_operation

LANES = TileLayout(S[(8, 4, 2) : (4 @ Axis.laneid, 1 @ Axis.laneid, 1)])
TURNED = TileLayout(S[(4, 2, 8) : (1 @ Axis.laneid, 1, 4 @ Axis.laneid)])


def tile(scope="shared", shape=(8, 8), dtype="float32", layout=None):
    return Place(scope, shape, dtype, layout)


SHARED, OUTSIDE, HELD, OWN = tile(), tile("global"), tile("local", layout=LANES), tile("local")
OTHERS = tile("local", layout=TURNED)
ROW = tile("shared", (8,))
MATRICES = {"A": SHARED, "B": SHARED, "C": SHARED}

CASES = [
    ("add", "reg", {"dst": SHARED, "src1": SHARED, "src2": 1.0}, {}, "a tile is not in the threads' own storage (buffer=shared"),
    ("add", "smem", {"dst": SHARED, "src1": OUTSIDE, "src2": 1.0}, {}, "a tile is not in shared memory (src1=global)"),
    ("add", "mixed", {"dst": HELD, "src1": OTHERS, "src2": 1.0}, {"scope": "warp"}, "holds the elements in other threads"),
    ("add", "mixed", {"dst": OWN, "src1": HELD, "src2": 1.0}, {"scope": "warp"}, "every thread needs all of"),
    ("copy", "vec_auto", {"dst": OTHERS, "src": HELD}, {"scope": "warp"}, "holds the elements in other threads"),
    ("copy", "fallback", {"dst": OTHERS, "src": HELD}, {"scope": "warp"}, "holds the elements in other threads"),
    ("sum", "local", {"dst": ROW, "src": SHARED}, {}, "the source is not in the threads' own storage (scope=shared)"),
    ("sum", "local", {"dst": ROW, "src": OWN}, {}, "every thread would write the same element (scope=shared)"),
    ("sum", "shared", {"dst": ROW, "src": HELD}, {"scope": "warp"}, "a tile is in the threads' own storage"),
    ("max", "local", {"dst": ROW, "src": HELD}, {"scope": "warp"}, "say thread_reduce=True to exchange between them"),
    ("gemm", "loop", {"D": SHARED, **MATRICES, "A": HELD}, {"scope": "warp"}, "an input is spread over threads"),
    ("gemm_async", "loop", {"C": SHARED, "A": HELD, "B": SHARED}, {"scope": "warp"}, "an input is spread over threads"),
    ("permute_layout", "registers", {"dst": SHARED, "src": HELD}, {"scope": "warp"}, "a tile is in the threads' own storage"),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "variant", "operands", "keywords", "reason"), CASES)
def test_a_reason(operation, variant, operands, keywords, reason):
    with pytest.raises(DispatchError) as raised:
        check_tile_operation(operation, operands, dispatch=variant, **keywords)
    said = " ".join(str(raised.value).split())
    assert f"variant `{variant}` of" in said
    assert reason in said


def test_asynchronous_products_with_scale_factors():
    tiles = {"C": SHARED, "A": SHARED, "B": SHARED, "SFA": tile("shared", (8, 1)), "SFB": tile("shared", (8, 1))}
    with pytest.raises(DispatchError, match=r"scale factors need a machine that has them"):
        check_tile_operation("gemm_async", tiles)
