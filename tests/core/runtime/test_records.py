"""Records that the host encodes: arguments of their own kind, pointers that are passed by value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.codegen.usage import Usage
from tirx.ir import PointerType
from tirx.runtime.bind import bind_arguments, written_buffers
from tirx.runtime.row import ArgumentKind, check_argument_kind
from tirx.support.errors import ArgumentError

RECORD = PointerType("float32", "param")


def row(**changes: Any) -> ArgumentKind:
    given = {"encode": "a:b", "simulate": "a:b", "accept": "a:b", "expected": "a thing", **changes}
    return ArgumentKind("things", "tensormap", given.pop("encode"), **given)


def test_a_row_names_functions() -> None:
    check_argument_kind(row())
    for what in ("encode", "simulate", "accept"):
        with pytest.raises(ValueError, match=f"argument kind things: {what} 'nowhere' is not 'module:function'"):
            check_argument_kind(row(**{what: "nowhere"}))
    with pytest.raises(ValueError, match="expected an ArgumentKind, got int"):
        check_argument_kind(3)


def test_pointers_by_value() -> None:
    assert RECORD.by_value
    assert not PointerType("float32").by_value
    assert not PointerType("float32", "shared").by_value


def test_a_record_that_nobody_encodes() -> None:
    @Tx.prim_func
    def kernel(m: Tx.handle("float32", "param")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        Tx.evaluate(tx)

    with pytest.raises(ArgumentError, match="argument `m` of kernel is a float32, which no installed backend encodes"):
        bind_arguments(kernel, [1])


def test_an_address_of_a_record_is_itself() -> None:
    @Tx.prim_func
    def kernel(m: Tx.TensorMap()):
        Tx.device_entry()
        p: Tx.let = Tx.address_of(m)
        Tx.evaluate(Tx.isnullptr(p))

    assert "p: T.let = m" in kernel.script()
    assert "m: T.TensorMap()" in kernel.script()


def test_reading_is_not_writing() -> None:
    """Operands that a row only reads do not count as written, so that read-only arrays can be given."""

    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "float32"), B: Tx.Buffer((32,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        Tx.atomic_add(B.ptr_to([tx]), A[tx])

    written = written_buffers(kernel)
    assert [id(buffer.data) in written for buffer in kernel.params] == [False, True]
    assert written == Usage(kernel.body).written
    a, b = np.ones(32, np.float32), np.zeros(32, np.float32)
    a.flags.writeable = False
    assert tirx.simulate(kernel, a, b, target="generic").verdict == "clean"
