"""Our NumPy NKI refuses what hardware and compiler cannot do: a kernel for each rule that no other test breaks."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.trn.build import imported
from tests.trn.nki_numpy import NkiError
from tests.trn.test_nki_numpy import HEAD, run_text

TILES = """t = nl.ndarray((128, 8), dtype=nl.float32)
nisa.dma_copy(dst=t, src=a)
h = nl.ndarray((128, 8), dtype=nl.bfloat16)
nisa.tensor_copy(dst=h, src=t)
i = nl.ndarray((128, 8), dtype=nl.int32)
nisa.memset(dst=i, value=1)
m = nl.ndarray((128, 8), dtype=nl.uint8)
nisa.memset(dst=m, value=1)
p = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.psum)
q = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.psum)
c = t[:, 0:1]
e = t[0:8, :]
"""
SELECT = "nisa.select_reduce(dst=t, predicate=m, on_true=t, on_false=0.0, reduce_res=c"
DEEP = "d = nl.ndarray((8, 2, 2, 2, 2), dtype=nl.float32)\nnisa.memset(dst=d, value=0.0)"
RULES = {
    "a number as address": ("nl.ndarray((8, 8), dtype=nl.float32, address=64)", "an address is (partition, byte)"),
    "a queue that converts": ("nisa.dma_transpose(dst=h[0:8, :], src=e)", "dma_transpose does not convert"),
    "iota in PSUM": ("nisa.iota(dst=p, pattern=[[1, 8]])", "iota writes SBUF"),
    "contraction of other lengths": ("nisa.nc_matmul(dst=p, stationary=t, moving=e)", "contracted along equal partitions"),
    "a wide stationary": (
        "w = nl.ndarray((8, 129), dtype=nl.float32)\nnisa.memset(dst=w, value=0.0)\nnisa.nc_matmul(dst=p, stationary=w, moving=e)",
        "stationary has 129 elements per partition, at most 128",
    ),
    "a wide moving": (
        "w = nl.ndarray((8, 513), dtype=nl.float32)\nnisa.memset(dst=w, value=0.0)\nnisa.nc_matmul(dst=p, stationary=e, moving=w)",
        "moving has 513 elements per partition, at most 512",
    ),
    "a product in bfloat16": (
        "b = nl.ndarray((8, 8), dtype=nl.bfloat16, buffer=nl.psum)\nnisa.nc_matmul(dst=b, stationary=t, moving=t)",
        "dst of nc_matmul is float32",
    ),
    "a product of integers": ("nisa.nc_matmul(dst=p, stationary=i, moving=i)", "nc_matmul multiplies floats"),
    "a mixed product": ("nisa.nc_matmul(dst=p, stationary=t, moving=h)", "float32 is multiplied only with float32"),
    "a transpose of another shape": ("nisa.nc_transpose(dst=p, data=t)", "nc_transpose of (128, 8) to (8, 8)"),
    "a number as tile": ("nisa.tensor_copy(dst=t, src=1.0)", "an operand is float, not a tile"),
    "five free dimensions": (
        "d = nl.ndarray((8, 2, 2, 2, 2, 2), dtype=nl.float32)\nnisa.memset(dst=d, value=0.0)", "an access has at most 4 free dimensions"
    ),
    "two operands in PSUM": (
        "nisa.memset(dst=p, value=0.0)\nnisa.memset(dst=q, value=0.0)\nnisa.tensor_tensor(dst=e, data1=p, data2=q, op=nl.add)",
        "has at most one operand in PSUM",
    ),
    "a word as scalar": ("nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0='one')", "neither a number nor a tile"),
    "no comparison": (
        "nisa.affine_select(dst=t, pattern=[[1, 8]], channel_multiplier=0, on_true_tile=t, on_false_value=0.0, cmp_op=nl.add)",
        "'add' is no comparison",
    ),
    "a reduction into a tile": (
        "nisa.activation_reduce(dst=t, op=nl.exp, data=t, reduce_op=nl.add, reduce_res=t)", "reduce_res has one element per partition"
    ),
    "a command of another enumeration": (
        "nisa.activation(dst=t, op=nl.exp, data=t, reduce_op=nl.add, reduce_res=c, reduce_cmd=nisa.engine.vector)", "reduce_cmd is"
    ),
    "selecting in PSUM": (
        "nisa.affine_select(dst=p, pattern=[[1, 8]], channel_multiplier=0, on_true_tile=e, on_false_value=0.0, cmp_op=nl.less)",
        "affine_select works in SBUF",
    ),
    "selecting a tile": (
        "nisa.affine_select(dst=t, pattern=[[1, 8]], channel_multiplier=0, on_true_tile=t, on_false_value=t, cmp_op=nl.less)",
        "on_false_value is a number",
    ),
    "the least of a selection": (
        f"{SELECT}, reduce_cmd=nisa.reduce_cmd.reset_reduce, reduce_op=nl.minimum)",
        "selections reduce with maximum",
    ),
    "a result of nothing": (f"{SELECT})", "come together"),
    "a range of integers": (
        "nisa.range_select(dst=i, on_true_tile=i, comp_op0=nl.less, comp_op1=nl.less, bound0=c, bound1=c)",
        "range_select selects floats",
    ),
    "seven values": ("nisa.max8(dst=t[:, 0:7], src=t)", "dst has eight elements per partition"),
    "positions as floats": ("nisa.nc_find_index8(dst=t, data=t, vals=t)", "nc_find_index8 writes uint16 or uint32"),
    "three indices for two": ("t[0:8, 0:8, 0:8]", "3 indices for a tensor of rank 2"),
    "no free dimension": ("t[0:8, 0]", "at least one free dimension"),
    "a list as shape of a view": ("t.reshape([128, 2, 4])", "reshape takes a tuple"),
    "a view of another size": ("t.reshape((128, 9))", "cannot be reshaped"),
    "a view across partitions": ("t.reshape((64, 16))", "reshape cannot move elements between partitions"),
    "a word as type": ("nl.ndarray((8, 8), dtype='float32')", "a dtype is a member of nki.language"),
    "negated bits": (
        "nisa.tensor_reduce(dst=i[:, 0:1], op=nl.bitwise_or, data=i, axis=(1,), negate=True)", "bits are not negated"
    ),
    "a reduction with less": ("nisa.tensor_reduce(dst=c, op=nl.less, data=t, axis=(1,))", "tensor_reduce has no less"),
    "a power in PSUM": (
        "nisa.memset(dst=p, value=0.0)\nnisa.tensor_tensor(dst=e, data1=e, data2=p, op=nl.power)", "which does not reach PSUM"
    ),
    "bits with a fraction": ("nisa.tensor_scalar(dst=i, data=i, op0=nl.bitwise_and, operand0=0.5)", "bits are combined with an integer"),
    "half a second step": ("nisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=1.0, op1=nl.add)", "op1 and operand1 come together"),
    "an operand for abs": ("nisa.tensor_scalar(dst=t, data=t, op0=nl.abs, operand0=1.0)", "nl.abs has one operand"),
    "four free dimensions on the way to a sum": (
        f"{DEEP}\nnisa.tensor_scalar_reduce(dst=d, data=d, op0=nl.add, operand0=1.0, reduce_op=nl.add, reduce_res=e[:, 0:1])",
        "at most three free dimensions",
    ),
    "a comparison of all": (
        "nisa.tensor_scalar_reduce(dst=t, data=t, op0=nl.add, operand0=1.0, reduce_op=nl.less, reduce_res=c)", "cannot reduce with less"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_a_broken_rule_is_refused(name: str) -> None:
    body, message = RULES[name]
    with pytest.raises(NkiError) as caught:
        run_text(TILES + body, np.ones((128, 8), np.float32))
    assert message in str(caught.value)


FLOAT8 = """f = nl.ndarray((8, 2, 4), dtype=nl.float8_e4m3)
nisa.memset(dst=f, value=1.0)
p = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.psum)
nisa.nc_matmul(dst=p, stationary=f, moving=f, perf_mode=nisa.matmul_perf_mode.double_row"""


@pytest.mark.parametrize(
    ("more", "generation", "message"),
    [
        (")", "v2", "performance mode is not supported on NeuronCore-v2"),
        (", tile_position=(0, 0), tile_size=(128, 64))", "v3", "double_row is not combined with column tiles"),
    ],
)
def test_two_rows_at_a_time(more: str, generation: str, message: str) -> None:
    with pytest.raises(NkiError, match=message):
        run_text(FLOAT8 + more, np.ones((128, 8), np.float32), generation=generation)


def test_two_formats_of_float8_are_not_mixed() -> None:
    body = """f = nl.ndarray((8, 4), dtype=nl.float8_e4m3)
g = nl.ndarray((8, 4), dtype=nl.float8_e4m3fn)
nisa.memset(dst=f, value=1.0)
nisa.memset(dst=g, value=1.0)
p = nl.ndarray((4, 4), dtype=nl.float32, buffer=nl.psum)
nisa.nc_matmul(dst=p, stationary=f, moving=g)"""
    with pytest.raises(NkiError, match="the two formats of float8_e4m3 are not mixed"):
        run_text(body, np.ones((128, 8), np.float32), generation="v4")


def test_inputs_of_other_types_do_not_exist() -> None:
    with pytest.raises(NkiError, match="inputs of type float64 do not exist"):
        run_text("pass", np.ones((128, 8)))


def test_a_problem_is_shown_at_its_line(tmp_path: Path) -> None:
    text = HEAD + "    t = nl.ndarray((128, 8), dtype=nl.float32)\n    nisa.tensor_copy(dst=t, src=t)\n"
    with imported(text, tmp_path) as module, pytest.raises(NkiError) as caught:
        module.kernel(np.ones((128, 8), np.float32))
    place, shown = str(caught.value).splitlines()
    assert re.fullmatch(r"emitted\d+\.py:8: error: 1024 elements are read that were never written", place)
    assert shown == "  8 | nisa.tensor_copy(dst=t, src=t)"
