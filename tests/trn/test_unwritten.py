"""What passes every check and still has no form in NKI source: refused at the author's line when the source is written."""

from __future__ import annotations

import pytest

import tirx
from tests.trn.build import kernel, sbuf, source_of
from tirx.ir import Buffer
from tirx.script import from_source
from tirx.support.errors import TirxError, VerifyError
from tirx_trn import script as nki

HEAD = """from tirx import script as Tx
@Tx.prim_func
def f(a: Tx.Buffer((128, 64), "float32"), b: Tx.Buffer((128, 64), "float32")):
    Tx.device_entry()
    t = Tx.alloc_buffer((128, 64), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.load(t, a)
    for i in range(4):
"""
TAIL = """
    Tx.nki.store(b, t)
"""

CASES = {
    "bits of a loop variable": (
        'Tx.nki.tensor_scalar(t, t, "add", Tx.cast(i & 3, "float32"))', "has no place in the index arithmetic of an NKI kernel"
    ),
    "an integer from a float": (
        'Tx.nki.memset(t, Tx.cast(Tx.cast(i, "float32") * 1.5, "int32"))', "a conversion to int32 has no place"
    ),
    "divided by a variable": (
        'Tx.nki.tensor_scalar(t, t, "add", 1.0 / Tx.cast(i + 1, "float32"))', "divides by what is no number, or zero"
    ),
    "every second element": ("Tx.nki.memset(t.sub[:, 0:64:2], 0.0)", "sees only part of a tile, or sees it in another order"),
    "another type": (
        'Tx.nki.load(t, Tx.decl_buffer((128, 64), "int32", data=a.data))', "sees its storage with another type or from another start"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    line, message = CASES[name]
    with pytest.raises(TirxError, match=message) as caught:
        _ = tirx.compile(from_source(f"{HEAD}        {line}{TAIL}"), "trn").source
    assert caught.value.span is not None
    assert caught.value.span.line == 8


FINE = {
    "Tx.cast(i, 'float32') / 4.0": "operand0=i * 0.25",
    "Tx.cast(Tx.min(i, 2), 'float32')": "operand0=min(i, 2) * 1.0",
    "Tx.cast(Tx.max(i, 2), 'float32') + 0.5": "operand0=max(i, 2) + 0.5",
    "Tx.cast(-i, 'float32')": "operand0=-i * 1.0",
    "Tx.if_then_else(i < 2, 1.0, 2.0)": "operand0=1.0 if i < 2 else 2.0",
    "Tx.cast(i * 2 // 3, 'float32')": "operand0=i * 2 // 3 * 1.0",
}


@pytest.mark.parametrize("scalar", FINE)
def test_what_python_computes_while_it_unrolls(scalar: str) -> None:
    line = f'Tx.nki.tensor_scalar(t, t, "add", {scalar})'
    assert FINE[scalar] in tirx.compile(from_source(f"{HEAD}        {line}{TAIL}"), "trn").source.text


def test_a_tensor_with_gaps() -> None:
    a, b, x = Buffer("a", (128, 64), strides=(128, 1)), Buffer("b", (128, 64)), sbuf("x", 128, 64)
    with pytest.raises(VerifyError, match="`a` in device memory is not contiguous") as caught:
        source_of(kernel("gaps", [a, b], x, nki.load(x, a), nki.store(b, x)))
    assert caught.value.hint == "tensors of NKI kernels are row-major; slices of them say which part is copied"
