"""What is printed is what a person would write, and reads back."""

from __future__ import annotations

import pickle

import pytest

from tirx import script as Tx
from tirx.testing import assert_round_trip
from tirx_cuda.ptx.forms import forms_of
from tirx_cuda.ptx.names import chain_text, python_name, token_of
from tirx_cuda.ptx.registers import register_of

from .published import PUBLISHED


def test_every_word_is_spelled_so_that_it_is_read_back() -> None:
    words = {word for row in PUBLISHED for word in row.form.split(".")}
    assert {word for word in words if (name := python_name(word)) is not None and token_of(name) != word} == set()


@pytest.mark.parametrize(
    ("mnemonic", "text"),
    [
        ("ld.global.L1::no_allocate.v4.f32", ".ld.global_.L1__no_allocate.v4.f32"),
        ("and.b32", ".and_.b32"),
        ("cp.async.ca.shared::cta.global", ".cp.async_.ca.shared__cta.global_"),
        ("tcgen05.ld.sync.aligned.32x32b.x1.b32", '["tcgen05.ld.sync.aligned.32x32b.x1.b32"]'),
    ],
)
def test_chains(mnemonic: str, text: str) -> None:
    assert chain_text(mnemonic) == text


def test_calls_read_back() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "uint32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        v = Tx.alloc_local((4,), "float32")
        s = Tx.alloc_shared((64,), "float32")
        u: Tx.uint32 = Tx.ptx.sreg("laneid")
        p: Tx.bool = False
        Tx.ptx.ld.global_.nc.v2.f32(v[0], v[1], A.ptr_to([tx * 2]))
        Tx.ptx.fma.rn.ftz.f32(v[2], v[0], v[1], 1.5, pred=tx < 7, preserve_dst=True)
        Tx.ptx.setp.lt.and_.f32(p, v[0], v[1], Tx.ptx.pred(u))
        Tx.ptx.lop3.or_.b32(Tx.ptx.SINK, p, u, u, u, 0xE8, p)
        Tx.ptx.st.shared.f32(Tx.ptx.addr(s.ptr_to([0]), tx * 4), v[2])
        Tx.ptx.shfl.sync.bfly.b32(u, u, 1, 31, 0xFFFFFFFF)
        Tx.ptx["tcgen05.wait::ld.sync.aligned"]()
        Tx.ptx.mbarrier.try_wait.parity.shared__cta.b64(p, s.ptr_to([0]), 0)
        B[tx] = u

    assert_round_trip(kernel)
    text = kernel.script()
    assert "T.ptx.fma.rn.ftz.f32(v[2], v[0], v[1], 1.5, pred=tx < 7, preserve_dst=True)" in text
    assert (
        "T.ptx.lop3.or_.b32(p, u, u, u, 232, p)" in text or "T.ptx.lop3.or_.b32(T.ptx.SINK, p, u, u, u, 232, p)" in text
    )


def test_forms_travel_by_name() -> None:
    form = forms_of("bar.sync")[1]
    assert pickle.loads(pickle.dumps(form)) is form
    guarded = form.with_guard(True)
    assert pickle.loads(pickle.dumps(guarded)) is guarded
    assert pickle.loads(pickle.dumps(register_of("laneid"))) is register_of("laneid")
