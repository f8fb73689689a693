"""Kernels as people write them: what is wrong is shown at its line, what is printed reads back."""

from __future__ import annotations

import inspect
import re

import pytest

import tirx
from tests.trn.build import lowered, sbuf
from tests.trn.test_examples import NAMES, load
from tests.trn.test_ops import ALL, case_kernel
from tirx import script as Tx
from tirx.script import from_source
from tirx.support.errors import ScriptError, VerifyError
from tirx.testing import assert_round_trip
from tirx_trn import script as nki

# Names and orders of published TIRx (its reference, section 2).
PUBLISHED = {
    "load": "res, data",
    "store": "res, data",
    "tensor_copy": "res, data",
    "matmul": "res, lhs, rhs, accum=True",
    "activation": "result, data, opcode, bias=0.0, scale=1.0",
    "reciprocal": "result, data",
    "tensorreduce": "result, data, opcode, negate, *axes",
    "tensortensor": "result, operand0, operand1, opcode",
    "tensorscalar": "result, operand0, operand1, opcode, reverse=False",
    "memset": "result, value",
    "activation_reduce": "reduce_res, act_res, data, opcode, reduce_opcode, bias=0.0, scale=1.0",
    "tensorscalar_reduce": "reduce_res, tensorscalar_res, operand0, operand1, opcode, reduce_opcode, reverse=False",
    "identity": "result, size",
    "scalar_tensor_tensor": "result, data, operand0, operand1, opcode0, opcode1, reverse0=False, reverse1=False",
    "scalar_tensor_scalar": "result, data, operand0, operand1, opcode0, opcode1, reverse0=False, reverse1=False",
    "affine_select": "result, pred, true_value, false_value",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_names_and_orders_are_the_published_ones(name: str) -> None:
    found = list(inspect.signature(getattr(nki, name)).parameters.values())
    plain = [str(parameter.replace(annotation=inspect.Parameter.empty)).replace(" ", "") for parameter in found]
    positional = [
        text for text, parameter in zip(plain, found, strict=True) if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    assert ", ".join(positional) == PUBLISHED[name]


# NKI's names and orders (pages of nki.isa, 0.6); what only a compiler's hint needs is left out.
NKI = {
    "dma_copy": "dst, src",
    "dma_transpose": "dst, src, axes=None",
    "iota": "dst, pattern=None, offset=0, channel_multiplier=0, *more",
    "max8": "dst, src",
    "nc_find_index8": "dst, data, vals",
    "nc_match_replace8": "dst, data, vals, imm, dst_idx=None",
    "nc_matmul": "dst, stationary, moving",
    "nc_transpose": "dst, data, engine='unknown'",
    "range_select": (
        "dst, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_res=None, reduce_cmd='reset_reduce', reduce_op='max', "
        "range_start=0"
    ),
    "select_reduce": "dst, predicate, on_true, on_false, reduce_res=None, reduce_cmd='idle', reduce_op='max', reverse_pred=False",
    "shared_identity": "dst, n",
    "shared_identity_matrix": "dst, n",
    "tensor_copy_predicated": "dst, src, predicate, reverse_pred=False",
    "tensor_reduce": "dst, op, data, axis, negate=False, keepdims=False",
    "tensor_scalar": "dst, data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False, engine='unknown'",
    "tensor_scalar_reduce": "dst, data, op0, operand0, reduce_op, reduce_res, reverse0=False, reduce_cmd='reset_reduce'",
    "tensor_tensor": "dst, data1, data2, op, engine='unknown'",
    "tensor_tensor_scan": "dst, data0, data1, initial, op0, op1, reverse0=False, reverse1=False",
}


@pytest.mark.parametrize("name", NKI)
def test_the_names_of_nki_take_its_order(name: str) -> None:
    found = inspect.signature(getattr(nki, name)).parameters.values()
    plain = [
        str(parameter.replace(annotation=inspect.Parameter.empty))
        for parameter in found
        if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    assert ", ".join(plain).replace("=", " = ").replace(" = ", "=") == NKI[name]


def test_nothing_else_is_public() -> None:
    assert set(nki.__all__) == {*PUBLISHED, *NKI, "index", "select_pattern"}


@pytest.mark.parametrize("name", NAMES)
def test_what_is_printed_reads_back(name: str) -> None:
    kernel = load(name).KERNEL
    assert tirx.structural_equal(kernel, from_source(kernel.script()))


@pytest.mark.parametrize("name", ALL)
def test_every_instruction_reads_back(name: str) -> None:
    func = case_kernel(ALL[name])
    assert_round_trip(func)
    for item in lowered(func):
        assert tirx.structural_equal(item, from_source(item.script()))


def test_nki_keywords_make_the_same_program() -> None:
    x, y, c = sbuf("x", 8, 64), sbuf("y", 8, 64), sbuf("c", 8, 1)
    pairs = [
        (nki.activation(y, x, "exp", c, 2.0), nki.activation(dst=y, op="exp", data=x, bias=c, scale=2.0)),
        (nki.activation(y, x, "exp"), nki.activation(y, x, "exp", bias=None)),
        (nki.tensor_copy(y, x), nki.tensor_copy(dst=y, src=x)),
        (nki.tensortensor(y, x, x, "mul"), nki.tensor_tensor(y, x, x, "multiply")),
        (nki.tensorscalar(y, x, 2.0, "max", True), nki.tensor_scalar(y, x, op0="maximum", operand0=2.0, reverse0=True)),
        (
            nki.scalar_tensor_scalar(y, x, 2.0, c, "add", "mul", False, True),
            nki.tensor_scalar(y, x, "add", 2.0, False, "multiply", c, True),
        ),
        (
            nki.scalar_tensor_tensor(y, x, 2.0, x, "add", "mul"),
            nki.scalar_tensor_tensor(dst=y, data=x, op0="add", operand0=2.0, op1="multiply", operand1=x),
        ),
        (nki.tensorreduce(c, x, "max", True, 1), nki.tensor_reduce(c, "maximum", x, 1, negate=True)),
        (
            nki.activation_reduce(c, y, x, "exp", "add"),
            nki.activation_reduce(dst=y, op="exp", data=x, reduce_op="add", reduce_res=c),
        ),
        (nki.memset(y, 0.0), nki.memset(dst=y, value=0.0)),
        (nki.reciprocal(y, x), nki.reciprocal(dst=y, data=x)),
    ]
    for published, other in pairs:
        assert tirx.structural_equal(published, other)


def line_of(error: tirx.TirxError) -> str:
    """The text of the author's line that an error names."""
    import linecache

    assert error.span is not None
    assert error.span.path == __file__
    return linecache.getline(error.span.path, error.span.line).strip()


def test_an_instruction_is_refused_at_its_line() -> None:
    with pytest.raises(ScriptError, match="the engines have no modulo") as caught:

        @Tx.prim_func
        def kernel(a: Tx.Buffer((128, 64), "float32")):
            Tx.device_entry()
            x = Tx.alloc_buffer((128, 64), "float32", scope="trn.sbuf", layout="PF")
            Tx.nki.memset(x, 1.0)
            Tx.nki.tensorscalar(x, x, 3.0, "mod")
            Tx.nki.store(a, x)

    assert line_of(caught.value) == 'Tx.nki.tensorscalar(x, x, 3.0, "mod")'


def test_a_layout_is_refused_at_its_line() -> None:
    with pytest.raises(tirx.TirxError, match="200 partitions are neither at most 128 nor a multiple of 128") as caught:

        @Tx.prim_func
        def kernel(a: Tx.Buffer((200, 64), "float32")):
            Tx.device_entry()
            x = Tx.alloc_buffer((200, 64), "float32", scope="trn.sbuf", layout="PF")
            Tx.nki.load(x, a)

    assert line_of(caught.value).startswith("x = Tx.alloc_buffer((200, 64)")


@Tx.prim_func
def with_threads(a: Tx.Buffer((128, 64), "float32")):
    Tx.device_entry()
    bx = Tx.cta_id([4])  # noqa: F841
    x = Tx.alloc_buffer((128, 64), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.memset(x, 1.0)
    Tx.nki.store(a, x)


@Tx.prim_func
def with_elements(a: Tx.Buffer((128, 64), "float32"), b: Tx.Buffer((128, 64), "float32")):
    Tx.device_entry()
    for i in range(128):
        b[i, 0] = a[i, 0] * 2.0


@Tx.prim_func
def too_large(a: Tx.Buffer((128, 60000), "float32")):
    Tx.device_entry()
    x = Tx.alloc_buffer((128, 60000), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.memset(x, 1.0)
    Tx.nki.store(a, x)


@pytest.mark.parametrize(
    ("kernel", "message", "line"),
    [
        (with_threads, "counts threads, and target `trn` has none", "bx = Tx.cta_id([4])  # noqa: F841"),
        (with_elements, "an element of `b` is stored; engines work on tiles", "b[i, 0] = a[i, 0] * 2.0"),
        (
            too_large,
            "`x` brings SBUF to 240,000 bytes per partition, of which there are 212,984",
            'x = Tx.alloc_buffer((128, 60000), "float32", scope="trn.sbuf", layout="PF")',
        ),
    ],
)
def test_what_the_machine_lacks_is_refused_at_its_line(kernel: tirx.PrimFunc, message: str, line: str) -> None:
    with pytest.raises(VerifyError) as caught:
        tirx.compile(kernel, "trn")
    assert message in str(caught.value)
    assert line in [line_of(VerifyError(diagnostics=[item])) for item in caught.value.diagnostics]


def test_the_kernel_compiles_on_a_larger_machine() -> None:
    assert "nl.ndarray((128, 60000)" in tirx.compile(too_large, "aws/trainium3").source.text


def test_an_unknown_instruction_names_the_nearest() -> None:
    with pytest.raises(
        ScriptError, match=r"Tx\.nki has no `tensor_tenser`\n.*\n.*\n  help: did you mean `tensor_tensor`"
    ) as caught:

        @Tx.prim_func
        def kernel(a: Tx.Buffer((128, 64), "float32")):
            Tx.device_entry()
            x = Tx.alloc_buffer((128, 64), "float32", scope="trn.sbuf", layout="PF")
            Tx.nki.tensor_tenser(x, x, x, "add")
            Tx.nki.store(a, x)

    assert line_of(caught.value) == 'Tx.nki.tensor_tenser(x, x, x, "add")'


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Tx.nki.bn_stats(x, x)", "Tx.nki has no `bn_stats`; sums of the row and of its squares: Tx.nki.tensor_reduce"),
        ("Tx.nki.exp(x, x)", 'Tx.nki has no `exp`; `exp` is an operation: Tx.nki.activation(result, data, "exp")'),
        ("Tx.nki.multiply(x, x, x)", '`multiply` is an operation: Tx.nki.tensor_tensor(dst, data1, data2, "multiply")'),
        (
            "Tx.nki.tensor_copy(x, x, mask=1)",
            "nki.tensor_copy has no keyword `mask`\n  help: slice the tiles to what takes part",
        ),
        ("Tx.nki.nc_matmul(x, x, x, is_transpose=True)", "help: transpose with Tx.nki.nc_transpose(dst, data)"),
        ("Tx.nki.memset(x, vale=0.0)", "nki.memset has no keyword `vale`\n  help: did you mean `value`?"),
        ("Tx.nki.dma_copy(x, x, dge_mode=1)", "help: which DMA queue runs a copy is left to NKI"),
    ],
)
def test_habits_of_nki_are_answered(line: str, message: str) -> None:
    text = f"""from tirx import script as Tx
@Tx.prim_func
def kernel(a: Tx.Buffer((128, 64), "float32")):
    Tx.device_entry()
    x = Tx.alloc_buffer((128, 64), "float32", scope="trn.sbuf", layout="PF")
    {line}
"""
    with pytest.raises(ScriptError) as caught:
        from_source(text)
    assert message in re.sub(r"\n +\d* *\|.*", "", re.sub(r"\n  \d+ \|.*", "", str(caught.value)))
    assert caught.value.span is not None
    assert caught.value.span.line == 6
