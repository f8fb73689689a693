"""Data types that a backend brings: usable by name as core's are, wherever a kernel can say a type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tirx import backend
from tirx import script as Tx
from tirx.backend import hookimpl
from tirx.ir import Buffer, DType, PrimFunc, Seq
from tirx.ir.numpy_types import dtype_of_numpy, numpy_dtype
from tirx.runtime import bind_arguments, pack_elements, unpack_elements
from tirx.script.namespaces import UnknownNameError
from tirx.target import DTypeRow
from tirx.target.kind import check_dtype

NIBBLE = DTypeRow("nibble", "int", 4, numpy="ml_dtypes:int4")


class Plugin:
    @staticmethod
    @hookimpl
    def tirx_dtypes() -> list[DTypeRow]:
        return [NIBBLE]


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    if "nibbles" not in backend.available():
        backend.register("nibbles", Plugin(), distribution="nibble-kit", provides=("dtype.nibble",))
    yield
    if backend.is_loaded("nibbles"):
        backend.unload("nibbles")


def test_a_type_loads_who_brings_it() -> None:
    kind = DType("nibble")
    assert (kind.kind, kind.bits, kind.min_int, kind.max_int) == ("int", 4, -8, 7)
    assert DType("nibblex8").total_bits == 32


def test_the_language_has_it() -> None:
    assert Tx.nibble.dtype is DType("nibble")
    assert Tx.nibblex4.dtype is DType("nibblex4")
    with pytest.raises(UnknownNameError, match="the language has no `nibblexx`"):
        Tx.nibblexx


def test_arrays_of_it_are_recognised() -> None:
    assert numpy_dtype(DType("nibble")) == np.dtype(ml_dtypes.int4)
    assert dtype_of_numpy(ml_dtypes.int4) is DType("nibble")
    assert dtype_of_numpy(np.complex64) is None
    func = PrimFunc("f", [Buffer("A", (4,), "nibble")], Seq(()))
    (view,) = bind_arguments(func, [pack_elements(np.zeros(4, ml_dtypes.int4))]).values
    assert view.dtype is DType("nibble")  # type: ignore[union-attr]  # an array was given


def test_a_kernel_computes_with_it() -> None:
    @Tx.prim_func
    def add(a: Tx.Buffer((16,), "nibble"), b: Tx.Buffer((16,), "nibble")):  # type: ignore[no-untyped-def, valid-type]
        Tx.device_entry()
        tx = Tx.thread_id([8])
        for side in Tx.vectorized(2):  # two share a byte
            b[2 * tx + side] = a[2 * tx + side] + Tx.nibble(3)

    given, made = pack_elements(np.arange(-8, 8).astype(ml_dtypes.int4)), np.zeros(8, np.uint8)
    assert tirx.simulate(add, given, made, target="generic").verdict == "clean"
    assert unpack_elements(made, "nibble").astype(int).tolist() == [*range(-5, 8), -8, -7, -6]


def test_a_name_like_it_is_suggested() -> None:
    with pytest.raises(ValueError, match=r"unknown dtype 'nible'; did you mean `nibble`\?"):
        DType("nible")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "Nibble"}, r"dtype name 'Nibble' is not \[a-z\]\[a-z0-9_\]\*"),
        ({"name": "int32"}, "dtype int32 is core's own; give yours another name"),
        ({"kind": "half"}, "dtype nibble: kind 'half' is none of int, uint, float"),
        ({"bits": 0}, "dtype nibble: 0 bits hold nothing"),
        ({"numpy": "int4"}, "dtype nibble: 'int4' is not 'module:attribute'"),
    ],
)
def test_malformed_rows(changes: dict[str, Any], message: str) -> None:
    values = {"name": "nibble", "kind": "int", "bits": 4, "numpy": "ml_dtypes:int4", **changes}
    with pytest.raises(ValueError, match=message):
        check_dtype(DTypeRow(values.pop("name"), values.pop("kind"), values.pop("bits"), **values))


def test_a_row_is_no_other_record() -> None:
    with pytest.raises(ValueError, match="expected a DTypeRow, got str"):
        check_dtype("nibble")  # type: ignore[arg-type]  # the mistake
