"""Foreign functions: what may be called by name, and where a name that may not is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.codegen.dialect import text
from tirx import script as Tx
from tirx.ir import BufferStore, walk
from tirx.support.errors import TargetError


@pytest.mark.parametrize("name", ["touch", "lab::touch", "whiles", "float", "sizeof"])
def test_names_and_types_are_called(name: str) -> None:
    assert text(Tx.call_extern("float32", name, Tx.float32(1))) == f"{name}(1.0f)"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("while", "'while' is not the name of a function: `while` is a keyword"),
        ("lab::switch", "'lab::switch' is not the name of a function: `switch` is a keyword"),
        ("f(); g", "'f(); g' is not the name of a function"),
    ],
)
def test_what_is_no_name_is_refused_at_the_call(name: str, message: str) -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8,), "float32")):
        Tx.device_entry()
        A[0] = Tx.call_extern("float32", name, A[1])

    (store,) = (node for node in walk(kernel.body) if isinstance(node, BufferStore))
    with pytest.raises(TargetError) as error:
        text(store.value)
    assert error.value.message == message
    span = error.value.span
    assert span is not None
    assert Path(span.path).read_text().splitlines()[span.line - 1].strip().startswith("A[0] = Tx.call_extern(")
