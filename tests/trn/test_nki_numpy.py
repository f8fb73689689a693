"""Our NumPy NKI: every rule refuses a kernel that breaks it, and every seeded mistake in an instruction is noticed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np
import pytest

from tests.trn import nki_signatures
from tests.trn.build import imported, psum, source_of
from tests.trn.nki_numpy import NkiError, isa, language, products, rules, scalar_engine, tensor
from tests.trn.nki_numpy import installed as with_nki
from tests.trn.nki_numpy.state import machine
from tests.trn.test_ops import ALL, X, Y, case_kernel, wanted_array
from tirx_trn import nki_api
from tirx_trn import script as tx

HEAD = "import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\n@nki.jit\ndef kernel(a):\n"
TILE = "t = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.sbuf)"
LOAD = f"{TILE}\nnisa.dma_copy(dst=t, src=a)"
PLANES = "t = nl.ndarray((128, 2, 4), dtype=nl.float32)\nnisa.memset(dst=t, value=0.0)"
COLUMN = "reduce_res=t[0:128, 0:1]"
PRODUCT = f"{LOAD}\nacc = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.psum)"

REFUSED = {
    "unwritten memory": (f"{TILE}\nu = nl.ndarray((128, 8), dtype=nl.float32)\nnisa.tensor_copy(dst=u, src=t)", "never written"),
    "an engine on HBM": ("nisa.memset(dst=a, value=0.0)", "an engine computes on SBUF and PSUM"),
    "a copy from PSUM": (f"{PRODUCT}\nnisa.dma_copy(dst=t, src=acc)", "dma_copy moves between HBM and SBUF"),
    "a write to an input": (f"{LOAD}\nnisa.dma_copy(dst=a, src=t)", "leaves its inputs alone"),
    "129 partitions": ("t = nl.ndarray((129, 8), dtype=nl.float32)", "129 partitions"),
    "one dimension": ("t = nl.ndarray((128,), dtype=nl.float32)", "at least one free dimension"),
    "a string as buffer": ("t = nl.ndarray((128, 8), dtype=nl.float32, buffer='sbuf')", "not a string"),
    "a list as shape": ("t = nl.ndarray([128, 8], dtype=nl.float32)", "a shape is a tuple"),
    "too much SBUF": ("t = nl.ndarray((128, 60000), dtype=nl.float32)", "sbuf holds 212984 bytes per partition, a tile takes 240000"),
    "too much PSUM": (
        "t = nl.ndarray((128, 4097), dtype=nl.float32, buffer=nl.psum)", "psum holds 16384 bytes per partition, a tile takes 18432"
    ),
    "a slice outside": (f"{LOAD}\nnisa.memset(dst=t[0:128, 4:9], value=0.0)", "slice 4:9:1 of a dimension of 8"),
    "an index outside": (f"{LOAD}\nnisa.memset(dst=t[128, 0:8], value=0.0)", "index 128 of a dimension of 128"),
    "strided partitions": (f"{LOAD}\nnisa.memset(dst=t[0:128:2, 0:8], value=0.0)", "partitions have no stride"),
    "a partition start": (f"{LOAD}\nnisa.memset(dst=t[3:35, 0:8], value=0.0)", "32 partitions cannot start at 3"),
    "a copy of another size": (f"{TILE}\nnisa.dma_copy(dst=t, src=a[0:64, 0:8])", "dma_copy of 512 elements to 1024"),
    "broadcast": (f"{LOAD}\nnisa.tensor_tensor(dst=t, data1=t, data2=t[0:128, 0:1], op=nl.add)", "operands of (128, 8) and (128, 1)"),
    "a (1, 1) operand": (f"{LOAD}\nnisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=t[0:1, 0:1])", "it takes (128, 1) float32"),
    "an activation as ALU op": (f"{LOAD}\nnisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.exp)", "'exp' is no ALU operation"),
    "an ALU op as activation": (f"{LOAD}\nnisa.activation(dst=t, op=nl.add, data=t)", "'add' is no activation"),
    "divide": (f"{LOAD}\nnisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.divide)", "no attribute 'divide'"),
    "an addition on GpSimd": (
        f"{LOAD}\nnisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=1.0, engine=nisa.engine.gpsimd)", "the GpSimd engine does rsqrt"
    ),
    "two rows of floats": (
        f"{PRODUCT}\nnisa.nc_matmul(dst=acc, stationary=t, moving=t, perf_mode=nisa.matmul_perf_mode.double_row)", "multiplies float8"
    ),
    "a mode as a string": (f"{PRODUCT}\nnisa.nc_matmul(dst=acc, stationary=t, moving=t, perf_mode='double_row')", "not a member of"),
    "half a part of the array": (f"{PRODUCT}\nnisa.nc_matmul(dst=acc, stationary=t, moving=t, tile_size=(64, 64))", "given together"),
    "a part of 48 rows": (
        f"{PRODUCT}\nnisa.nc_matmul(dst=acc, stationary=t, moving=t, tile_position=(0, 0), tile_size=(48, 128))", "with tile_size (48, 128)"
    ),
    "a part that is too small": (
        f"{PRODUCT}\nnisa.nc_matmul(dst=acc, stationary=t, moving=t, tile_position=(0, 0), tile_size=(64, 64))", "in a tile of (64, 64)"
    ),
    "other axes of a queue": (f"{LOAD}\nnisa.dma_transpose(dst=t, src=t, axes=(0, 1))", "axes (0, 1)"),
    "outside sqrt": (f"{LOAD}\nnisa.activation(dst=t, op=nl.sqrt, data=t, scale=-1.0)", "nl.sqrt is defined from"),
    "reduce the partitions": (f"{LOAD}\nnisa.tensor_reduce(dst=t[0:128, 0:1], op=nl.add, data=t, axis=(0,))", "not its last free ones"),
    "an inner axis": (
        f"{PLANES}\nnisa.tensor_reduce(dst=t[0:128, 0, 0:4], op=nl.add, data=t, axis=(1,))",
        "not its last free ones",
    ),
    "reduce with max while activating": (
        f"{LOAD}\nnisa.activation_reduce(dst=t, op=nl.exp, data=t, reduce_op=nl.maximum, {COLUMN})",
        "reduces with add only",
    ),
    "reverse of a fused reduction": (
        f"{LOAD}\nnisa.tensor_scalar_reduce(dst=t, data=t, op0=nl.add, operand0=1.0, reduce_op=nl.add, {COLUMN}, reverse0=True)",
        "reverse0 is not supported",
    ),
    "a product to SBUF": (f"{LOAD}\nnisa.nc_matmul(dst=t[0:8, 0:8], stationary=t, moving=t)", "reads SBUF and writes PSUM"),
    "accumulate=True on nothing": (f"{PRODUCT}\nnisa.nc_matmul(dst=acc, stationary=t, moving=t, accumulate=True)", "holds no product"),
    "accumulate onto memset": (
        f"{PRODUCT}\nnisa.memset(dst=acc, value=0.0)\nnisa.nc_matmul(dst=acc, stationary=t, moving=t)", "set or copied is undefined"
    ),
    "a float into integers": ("t = nl.ndarray((128, 8), dtype=nl.int32)\nnisa.memset(dst=t, value=0.5)", "memset of int32 to 0.5"),
    "select pattern": (
        f"{LOAD}\nnisa.affine_select(dst=t, pattern=[[1, 7]], channel_multiplier=0, on_true_tile=t, on_false_value=0.0)",
        "covers the elements of a partition",
    ),
    "a dimension of more than 16 bits": (
        "t = nl.ndarray((2, 70000), dtype=nl.int8)\nnisa.memset(dst=t, value=1)", "a dimension of 70000 does not fit the 16 bits"
    ),
    "an odd element of PSUM": (
        "p = nl.ndarray((8, 8), dtype=nl.bfloat16, buffer=nl.psum)\nnisa.memset(dst=p[0:8, 1:3], value=0.0)",
        "starts at byte 2, no multiple of 4",
    ),
    "an engine by number": (f"{LOAD}\nnisa.tensor_copy(dst=t, src=t, engine=1)", "engine 1 does not run this"),
    "GpSimd in PSUM": (f"{PRODUCT}\nnisa.memset(dst=acc, value=0.0, engine=nisa.engine.gpsimd)", "the GpSimd engine does not reach PSUM"),
    "bits of floats": (f"{LOAD}\nnisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.bitwise_or)", "integers of one type"),
    "bits with arithmetic": (
        f"{LOAD}\nnisa.tensor_scalar(dst=t, data=t, op0=nl.add, operand0=1.0, op1=nl.bitwise_or, operand1=1)",
        "both bitvec, or both arithmetic",
    ),
    "the scalar engine subtracts": (
        f"{LOAD}\nnisa.tensor_scalar(dst=t, data=t, op0=nl.subtract, operand0=1.0, engine=nisa.engine.scalar)", "multiplies, adds"
    ),
    "rsqrt on the vector engine": (f"{LOAD}\nnisa.tensor_scalar(dst=t, data=t, op0=nl.rsqrt, operand0=0.0)", "runs on GpSimd"),
    "an operation of v4": (f"{LOAD}\nnisa.tensor_tensor(dst=t, data1=t, data2=t, op=nl.abs_max)", "came with NeuronCore-v4"),
    "a type of v4": ("t = nl.ndarray((128, 8), dtype=nl.float8_e4m3fn)", "came with NeuronCore-v4"),
    "a transpose that converts": (
        f"{LOAD}\nb = nl.ndarray((8, 128), dtype=nl.bfloat16, buffer=nl.psum)\nnisa.nc_transpose(dst=b, data=t)",
        "nc_transpose does not convert",
    ),
    "a large transpose in SBUF": (
        f"{LOAD}\nb = nl.ndarray((8, 128), dtype=nl.float32)\nnisa.nc_transpose(dst=b, data=t)", "no engine transposes (128, 8)"
    ),
    "short rows of a queue's transpose": (
        f"{LOAD}\nb = nl.ndarray((8, 2), dtype=nl.float32)\nnisa.dma_transpose(dst=b, src=t[0:2, 0:8])", "rows of 8 bytes"
    ),
    "a predicate of floats": (f"{LOAD}\nnisa.tensor_copy_predicated(dst=t, src=t, predicate=t)", "takes an unsigned predicate"),
    "a selection by floats": (f"{LOAD}\nnisa.select_reduce(dst=t, predicate=t, on_true=t, on_false=0.0)", "integer predicate"),
    "a range with another fill": (
        (f"{LOAD}\nc = t[0:128, 0:1]\nnisa.range_select(dst=t, on_true_tile=t, comp_op0=nl.less, comp_op1=nl.less, bound0=c, bound1=c, "
        "on_false_value=0.0)"),
        "fills in the smallest float32 only",
    ),
    "max8 of four": (f"{LOAD}\nnisa.max8(dst=t, src=t[0:128, 0:4])", "max8 of 4 elements"),
    "a value that is not there": (
        (f"{LOAD}\nv = nl.ndarray((128, 8), dtype=nl.float32)\nnisa.memset(dst=v, value=9.0)\n"
        "nisa.nc_match_replace8(dst=t, data=t, vals=v, imm=0.0)"),
        "is not in its partition",
    ),
    "a reduction that nobody began": (
        f"{LOAD}\nnisa.activation(dst=t, op=nl.copy, data=t, reduce_op=nl.add, {COLUMN}, reduce_cmd=nisa.reduce_cmd.reduce)",
        "that nobody began",
    ),
    "a reduction that is lost": (f"{LOAD}\nnisa.activation(dst=t, op=nl.copy, data=t, reduce_op=nl.add, {COLUMN})", "is lost"),
    "a product in two banks": (
        (f"{LOAD}\nw = nl.ndarray((128, 512), dtype=nl.float32)\nnisa.memset(dst=w, value=1.0)\n"
        "p = nl.ndarray((8, 1024), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_matmul(dst=p[0:8, 256:768], stationary=t, moving=w)"),
        "writes inside one PSUM bank",
    ),
    "ones and zeros that are none": (
        f"{PRODUCT}\nnisa.memset(dst=t, value=2.0)\nnisa.nc_matmul(dst=acc, stationary=t, moving=t, is_moving_onezero=True)",
        "holds something else",
    ),
    "more alive than fits": (
        ("a1 = nl.ndarray((128, 30000), dtype=nl.float32)\nb1 = nl.ndarray((128, 30000), dtype=nl.float32)\n"
        "nisa.memset(dst=a1, value=0.0)\nnisa.memset(dst=b1, value=0.0)\nnisa.tensor_copy(dst=a1, src=b1)"),
        "sbuf holds 212984 bytes per partition, 240000 are alive",
    ),
    "two tiles in one place": (
        ("a1 = nl.ndarray((128, 8), dtype=nl.float32, address=(0, 0))\nb1 = nl.ndarray((128, 8), dtype=nl.float32, address=(0, 16))\n"
        "nisa.memset(dst=a1, value=0.0)\nnisa.memset(dst=b1, value=0.0)\nnisa.tensor_copy(dst=a1, src=b1)"),
        "two tiles that are alive share bytes 16 to 31 of sbuf",
    ),
    "an address beyond the end": (
        "a1 = nl.ndarray((128, 8), dtype=nl.float32, address=(0, 212980))\nnisa.memset(dst=a1, value=0.0)",
        "an address is beyond the end of sbuf",
    ),
    "an input as result": ("return a", "a kernel returns tensors created with buffer=nl.shared_hbm"),
    "an unwritten result": ("return nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)", "part of a result was never written"),
}  # fmt: skip


def run_text(body: str, *arrays: np.ndarray, generation: str = "v3") -> Any:
    text = HEAD + "".join(f"    {line}\n" for line in body.split("\n"))
    with with_nki(generation):
        space: dict[str, Any] = {}
        exec(compile(text, "kernel.py", "exec"), space)
        return space["kernel"](*arrays)


@pytest.mark.parametrize("name", REFUSED)
def test_a_broken_rule_is_refused(name: str) -> None:
    body, message = REFUSED[name]
    with pytest.raises((NkiError, AttributeError)) as caught:
        run_text(body, np.ones((128, 8), np.float32))
    assert message in str(caught.value)


def test_a_bias_that_is_a_number_is_refused_on_v2() -> None:
    body = f"{LOAD}\nnisa.activation(dst=t, op=nl.exp, data=t, bias=1.0)"
    with pytest.raises(NkiError, match="takes a bias from a tile only"):
        run_text(body, np.ones((128, 8), np.float32), generation="v2")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (f"{LOAD}\nnisa.tensor_copy(dst=t, src=t, engine=nisa.engine.scalar)", "NeuronCore-v2 has no tensor_copy"),
        (
            f"{LOAD}\nc = t[0:128, 0:1]\nnisa.range_select(dst=t, on_true_tile=t, comp_op0=nl.less, comp_op1=nl.less, bound0=c, bound1=c)",
            "range_select came with NeuronCore-v3",
        ),
        (
            (
                "t = nl.ndarray((8, 8), dtype=nl.float32)\nnisa.memset(dst=t, value=float('inf'))\n"
                "p = nl.ndarray((8, 8), dtype=nl.float32, buffer=nl.psum)\nnisa.nc_transpose(dst=p, data=t)"
            ),
            "does not transpose NaN and infinities",
        ),
    ],
)
def test_what_v2_lacks_is_refused(body: str, message: str) -> None:
    with pytest.raises(NkiError, match=message):
        run_text(body, np.ones((128, 8), np.float32), generation="v2")


def test_tiles_that_are_alive_one_after_the_other_share_room() -> None:
    body = "".join(
        f"t{n} = nl.ndarray((128, 30000), dtype=nl.float32, address=(0, 0))\nnisa.memset(dst=t{n}, value=1.0)\n"
        f"nisa.tensor_copy(dst=t{n}, src=t{n})\n"
        for n in range(2)
    )
    out = "o = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)\nnisa.dma_copy(dst=o, src=a)\nreturn o"
    np.testing.assert_array_equal(run_text(body + out, np.ones((128, 8), np.float32)), np.ones((128, 8)))


def test_new_memory_is_not_a_number() -> None:
    with with_nki():
        assert np.isnan(language.ndarray((2, 2), language.float32).data).all()
        assert (language.ndarray((2, 2), language.int32).data == 4).all()


@pytest.mark.parametrize("name", nki_signatures.ISA)
def test_signatures_are_those_of_the_documents(name: str) -> None:
    ours = list(inspect.signature(getattr(isa, name)).parameters)
    assert set(ours) == set(nki_signatures.signature(f"nisa.{name}", "0.6").parameters)


@pytest.mark.parametrize("release", nki_signatures.RELEASES)
def test_both_tables_of_the_interface_agree(release: str) -> None:
    """The emitter reads one, the lint the other."""
    for function in nki_api.FUNCTIONS:
        theirs = nki_signatures.signature(function, release).parameters.values()
        assert set(nki_api.parameters(function, release)) == {item.name for item in theirs}, function
        required = [item.name for item in theirs if item.default is inspect.Parameter.empty]
        assert sorted(nki_api.required(function)) == sorted(required), function
    assert {name.partition(".")[2] for name in nki_api.FUNCTIONS} == {*nki_signatures.ISA, *nki_signatures.LANGUAGE}


# ---- seeded mistakes --------------------------------------------------------------------------------------------------


def _swap(name: str, change: Callable[..., Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """An instruction whose keywords are changed on the way in."""
    right = getattr(isa, name)

    def wrong(**keywords: Any) -> None:
        change(keywords)
        right(**keywords)

    return lambda patch: patch.setattr(isa, name, wrong)


def _bias_first(patch: pytest.MonkeyPatch) -> None:
    def activated(op: Any, data: Any, bias: Any, scale: Any) -> Any:
        shift = 0 if bias is None else rules.vector_or_number(bias, data, "bias")
        return op.activate((data.read_flat() + shift) * rules.vector_or_number(scale, data, "scale"))

    patch.setattr(scalar_engine, "_activated", activated)


def _no_accumulation(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(products, "_accumulate", lambda dst, product, accumulate: dst.write(product, sums=True))


def _always_accumulation(patch: pytest.MonkeyPatch) -> None:
    right = products._accumulate
    patch.setattr(products, "_accumulate", lambda dst, product, accumulate: right(dst, product, None))


def _reduce_sign(patch: pytest.MonkeyPatch) -> None:
    right = scalar_engine._write_reduced
    patch.setattr(scalar_engine, "_write_reduced", lambda res, values, data: right(res, -values, data))


def _forgetful(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(machine, "accumulate", lambda engine, command, op, values: values)


def _truncating(patch: pytest.MonkeyPatch) -> None:
    right = tensor.cast

    def cast(values: Any, dtype: Any) -> Any:
        return right(
            values if dtype.is_float or values.dtype.kind in "iub" else np.trunc(values.astype(np.float64)), dtype
        )

    patch.setattr(tensor, "cast", cast)


def _wrapping(patch: pytest.MonkeyPatch) -> None:
    def cast(values: Any, dtype: Any) -> Any:
        if dtype.is_float:
            return values.astype(dtype.numpy)
        return np.rint(values.astype(np.float64)).astype(np.int64).astype(dtype.numpy)

    patch.setattr(tensor, "cast", cast)


def _op(name: str, function: Callable[..., Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """An operation that computes something else."""
    return lambda patch: patch.setattr(getattr(language, name), "function", function)


def _drop(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda keywords: keywords.update({key: value}) if key in keywords else None


def _turn(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda keywords: keywords.update({key: not keywords.get(key, False)})


def _exchange(a: str, b: str) -> Callable[[dict[str, Any]], None]:
    return lambda keywords: keywords.update({a: keywords[b], b: keywords[a]})


def _after(name: str, change: Callable[[Any], Any]) -> Callable[[pytest.MonkeyPatch], None]:
    """An instruction whose result is changed behind it."""
    right = getattr(isa, name)

    def wrong(**keywords: Any) -> None:
        right(**keywords)
        keywords["dst"].write(change(keywords["dst"].data.copy()))

    return lambda patch: patch.setattr(isa, name, wrong)


def _rows_exchanged(keywords: dict[str, Any]) -> None:
    """The two rows of each partition of the moving tile."""
    if "perf_mode" in keywords:
        moving = keywords["moving"]
        parts = (part[:, ::-1] for part in (moving.data, moving.written, moving.sums))
        keywords["moving"] = tensor.Tensor(moving.root, *parts, moving.partition)


# What is wrong: the instruction that shows it (empty: any), and the mistake.
MISTAKES: dict[str, tuple[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "bias before scale": ("activation", _bias_first),
    "scale ignored": ("activation", _swap("activation", _drop("scale", 1.0))),
    "bias ignored": ("activation", _swap("activation", _drop("bias", None))),
    "sign of reduce_res": ("activation_reduce", _reduce_sign),
    "reverse0 of tensor_scalar ignored": ("tensor_scalar", _swap("tensor_scalar", _drop("reverse0", False))),
    "reverse1 of tensor_scalar ignored": ("tensor_scalar", _swap("tensor_scalar", _drop("reverse1", False))),
    "second step ignored": ("tensor_scalar", _swap("tensor_scalar", lambda k: k.update(op1=None, operand1=None))),
    "reverse0 of scalar_tensor_tensor ignored": ("scalar_tensor_tensor", _swap("scalar_tensor_tensor", _drop("reverse0", False))),
    "reverse1 of scalar_tensor_tensor ignored": ("scalar_tensor_tensor", _swap("scalar_tensor_tensor", _drop("reverse1", False))),
    "steps of scalar_tensor_tensor exchanged": ("scalar_tensor_tensor", _swap("scalar_tensor_tensor", _exchange("op0", "op1"))),
    "operands of tensor_tensor exchanged": ("tensor_tensor", _swap("tensor_tensor", _exchange("data1", "data2"))),
    "negate ignored": ("tensor_reduce", _swap("tensor_reduce", _drop("negate", False))),
    "wrong reduce axis": ("tensor_reduce", _swap("tensor_reduce", lambda k: k.update(axis=(k["data"].data.ndim - 1,)))),
    "reduce_op of tensor_scalar_reduce": ("tensor_scalar_reduce", _swap("tensor_scalar_reduce", _drop("reduce_op", language.add))),
    "the reduction forgets": ("reduce_cmd.reduce", _forgetful),
    "predicate inverted": ("affine_select", _swap("affine_select", lambda k: k.update(cmp_op=language.less))),
    "channel_multiplier ignored": ("affine_select", _swap("affine_select", _drop("channel_multiplier", 0))),
    "offset ignored": ("affine_select", _swap("affine_select", _drop("offset", 0))),
    "channel_multiplier of iota ignored": ("iota", _swap("iota", _drop("channel_multiplier", 0))),
    "offset of iota ignored": ("iota", _swap("iota", _drop("offset", 0))),
    "dimensions of iota exchanged": ("iota", _swap("iota", lambda k: k.update(pattern=k["pattern"][::-1]))),
    "stationary and moving exchanged": ("nc_matmul", _swap("nc_matmul", _exchange("stationary", "moving"))),
    "never accumulates": ("nc_matmul", _no_accumulation),
    "always accumulates": ("nc_matmul", _always_accumulation),
    "nothing is transposed": ("nc_transpose", _after("nc_transpose", lambda data: data.reshape(data.shape[::-1]).T)),
    "the queue does not transpose": ("dma_transpose", _after("dma_transpose", lambda data: data.reshape(data.shape[::-1]).T)),
    "the middle axes exchanged": (
        "dma_transpose", _after("dma_transpose", lambda data: data.swapaxes(1, 2).reshape(data.shape) if data.ndim == 4 else data)
    ),
    "rows of double_row exchanged": ("perf_mode", _swap("nc_matmul", _rows_exchanged)),
    "predicated copy inverted": ("tensor_copy_predicated", _swap("tensor_copy_predicated", _turn("reverse_pred"))),
    "predicated copy of everything": (
        "tensor_copy_predicated", lambda patch: patch.setattr(isa, "tensor_copy_predicated", lambda dst, src, **_: dst.write(src.read()))
    ),
    "selection inverted": ("select_reduce", _swap("select_reduce", _turn("reverse_pred"))),
    "on_false ignored": ("select_reduce", _swap("select_reduce", _drop("on_false", 0.0))),
    "bounds exchanged": ("range_select", _swap("range_select", _exchange("bound0", "bound1"))),
    "comparisons exchanged": ("range_select", _swap("range_select", _exchange("comp_op0", "comp_op1"))),
    "range_start ignored": ("range_select", _swap("range_select", _drop("range_start", 0))),
    "operands of a scan exchanged": ("tensor_tensor_scan", _swap("tensor_tensor_scan", _exchange("data0", "data1"))),
    "steps of a scan exchanged": ("tensor_tensor_scan", _swap("tensor_tensor_scan", _exchange("op0", "op1"))),
    "initial of a scan ignored": ("tensor_tensor_scan", _swap("tensor_tensor_scan", _drop("initial", 0.0))),
    "reverse0 of a scan ignored": ("tensor_tensor_scan", _swap("tensor_tensor_scan", _drop("reverse0", False))),
    "reverse1 of a scan ignored": ("tensor_tensor_scan", _swap("tensor_tensor_scan", _drop("reverse1", False))),
    "the smallest eight": ("max8", _after("max8", lambda data: data[:, ::-1])),
    "positions count from one": ("nc_find_index8", _after("nc_find_index8", lambda data: data + 1)),
    "imm ignored": ("nc_match_replace8", _swap("nc_match_replace8", _drop("imm", 0.0))),
    "dst_idx ignored": ("nc_match_replace8", _swap("nc_match_replace8", _drop("dst_idx", None))),
    "truncated instead of rounded": ("tensor_copy", _truncating),
    "wrapped instead of saturated": ("tensor_copy", _wrapping),
    "engine of tensor_copy ignored": ("tensor_copy", _swap("tensor_copy", _drop("engine", isa.engine.vector))),
    "integers through float32": ("tensor_tensor", _swap("tensor_tensor", lambda k: k.update(engine=isa.engine.vector))),
    "shifts exchanged": (
        "tensor_tensor", _swap("tensor_tensor", lambda k: k.update(op=OTHER_OPS.get(k["op"].name, k["op"])))
    ),
    "less means less or equal": ("tensor_tensor", _op("less", np.less_equal)),
    "greater means greater or equal": ("tensor_tensor", _op("greater", np.greater_equal)),
    "xor means or": ("tensor_scalar", _op("logical_xor", lambda a, b: (a != 0) | (b != 0))),
    "power of the other": ("tensor_scalar", _swap("tensor_scalar", _drop("reverse0", False))),
}  # fmt: skip
OTHER_OPS = {"left_shift": language.right_shift, "right_shift": language.left_shift}


def _matmul(accum: bool) -> Any:
    def build(a: Any, b: Any, r: Any) -> list[Any]:
        acc = psum("acc", 4, 3)
        return [acc, *(tx.matmul(acc, a, b, accum) for _ in range(2)), tx.tensor_copy(r, acc)]

    return build


def _planes(x: Any, r: Any) -> list[Any]:
    """A reduction over both of two free dimensions."""
    return [tx.tensorreduce(r, x, "add", False, 1, 2)]


@cache
def _programs() -> list[tuple[str, str, list[np.ndarray], list[np.ndarray]]]:
    """Emitted text, entry, inputs and results of every vector."""
    y, cube = Y[:, :3], np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    more: list[Any] = [
        (_matmul(True), [X, y], [(X.T @ y) * 2]),
        (_matmul(False), [X, y], [X.T @ y]),
        (_planes, [cube], [[[15], [51]]]),
    ]
    return [
        (source_of(case_kernel(case)), "op_kernel", case[1], [wanted_array(item) for item in case[2]])
        for case in [*ALL.values(), *more]
    ]


def _vectors(folder: Path, instruction: str = "") -> None:
    """Execute everything that uses an instruction, and compare."""
    for text, entry, inputs, expected in _programs():
        if instruction not in text:
            continue
        with imported(text, folder) as module:
            got = getattr(module, entry)(*inputs)
        for result, wanted in zip(got if isinstance(got, tuple) else (got,), expected, strict=True):
            np.testing.assert_array_equal(result, wanted)


def test_without_a_mistake_the_vectors_agree(tmp_path: Path) -> None:
    _vectors(tmp_path)


@pytest.mark.parametrize("name", MISTAKES)
def test_a_seeded_mistake_is_noticed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    instruction, seed = MISTAKES[name]
    seed(monkeypatch)
    with pytest.raises((AssertionError, NkiError)):
        _vectors(tmp_path, instruction)


CONTINUED = f"""{LOAD}
nisa.tensor_scalar_reduce(
    dst=t, data=t, op0=nl.add, operand0=1.0, reduce_op=nl.add, {COLUMN}, reduce_cmd=nisa.reduce_cmd.reset_reduce
)
r = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
nisa.dma_copy(dst=r, src=t)
return r"""


def test_an_older_release_lacks_what_came_later(tmp_path: Path) -> None:
    text, ones = HEAD + indent(CONTINUED, "    "), np.ones((128, 8), np.float32)
    with imported(text, tmp_path, release="0.4") as module:
        module.kernel(ones)
    with imported(text, tmp_path, release="0.3") as module, pytest.raises(TypeError, match="reduce_cmd"):
        module.kernel(ones)
