"""Tile operations count where inputs and outputs are told apart."""

from __future__ import annotations

from tirx import script as Tx
from tirx.analysis.verify import verify_module
from tirx.ir import IRModule
from tirx.target import Target


@Tx.prim_func
def swapped(A: Tx.Buffer((128, 64), "float32"), B: Tx.Buffer((128, 64), "float32")):  # type: ignore[no-untyped-def,valid-type]
    Tx.func_attr({"num_inputs": 1})
    Tx.device_entry()
    Tx.tile.copy(A, B)


@Tx.prim_func
def both(A: Tx.Buffer((128, 64), "float32")):  # type: ignore[no-untyped-def,valid-type]
    Tx.device_entry()
    Tx.tile.exp(A)


def messages(func: object) -> list[str]:
    return [item.message for item in verify_module(IRModule([func]), Target("trn"), "bound")]  # type: ignore[list-item]


def test_an_input_is_not_written_and_an_output_is() -> None:
    assert messages(swapped) == [
        "`A` is written, but num_inputs=1 makes it an input",
        "`B` is never written, but num_inputs=1 makes it an output",
    ]


def test_a_parameter_is_not_worked_on_in_place() -> None:
    (found,) = messages(both)
    assert found.startswith("parameter `A` is both read and written")
