"""How instructions are named, and what is said of those that do not exist or are called wrongly."""

from __future__ import annotations

from typing import Any

import pytest

from tirx import script as Tx
from tirx.support.errors import ScriptError, VerifyError
from tirx.target import Target
from tirx_cuda.ptx.chain import ptx


def test_words_come_in_any_order() -> None:
    assert ptx.ld.global_.v4.f32.mnemonic == "ld.global.v4.f32"
    assert ptx.ld.f32.v4.global_.mnemonic == "ld.global.v4.f32"
    assert ptx.add.f32.ftz.rn.mnemonic == "add.rn.ftz.f32"
    assert ptx.shfl_sync.bfly.b32.mnemonic == "shfl.sync.bfly.b32"
    assert ptx.cp.async_.bulk.commit_group.mnemonic == "cp.async.bulk.commit_group"
    assert ptx.fence.proxy.async_.shared__cta.mnemonic == "fence.proxy.async.shared::cta"


def test_types_keep_their_order() -> None:
    assert ptx.cvt.f32.f16.mnemonic == "cvt.f32.f16"
    with pytest.raises(ScriptError, match=r"`cvt.f16.f32` lacks one of .rn .rz .rm .rp"):
        _ = ptx.cvt.f16.f32.mnemonic


def test_the_text_of_the_manual_is_a_handle() -> None:
    handle = ptx["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"]
    assert "sm_90a" in handle.archs
    assert "sm_75" not in handle.archs
    assert handle.operands[:2] == ("d0: f32, written", "d1: f32, written")
    assert handle.effects == "warp"
    assert handle.section.startswith("PTX ISA 9.7.14")
    assert ptx["cp.async.bulk.wait_group.read"].effects == "async"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("addd.f32", "PTX has no instruction `addd`", "did you mean `add`"),
        ("add.f33", "`add.f33` lacks", "nearest: add."),
        ("add.rn.s32", "`add.rn.s32` lacks", "nearest"),
        ("ld.v8.f64", "there is no `ld.v8.f64`: .v8 needs .b32 or .u32 or .s32 or .f32", "nearest: ld.f64"),
        ("ld.v4.f32.global", "there is no `ld.v4.f32.global`", "PTX writes `ld.global.v4.f32`"),
    ],
)
def test_combinations_that_no_row_has_are_refused_at_once(text: str, message: str, hint: str) -> None:
    with pytest.raises(ScriptError) as caught:
        _ = ptx[text]
    assert message.split("`")[0] in caught.value.message
    assert hint.split("`")[0] in (caught.value.hint or "")


def test_a_word_that_does_not_go_with_the_others() -> None:
    with pytest.raises(AttributeError, match=r"`.acquire` does not go with `ld.volatile`"):
        _ = ptx.ld.volatile.acquire
    with pytest.raises(AttributeError, match="PTX has no instruction `fmaa`"):
        _ = ptx.fmaa


def test_completion_lists_the_words_that_may_follow() -> None:
    assert {"f32", "rn", "ftz", "s32"} <= set(dir(ptx.add))
    assert {"f32", "sat"} <= set(dir(ptx.add.rn.ftz))
    assert "s32" not in dir(ptx.add.rn.ftz)
    assert {"add", "ld", "mbarrier", "pred", "SINK", "addr", "sreg"} <= set(dir(ptx))


# ---- calls ----------------------------------------------------------------------------------------------------------


def refused(body: Any) -> ScriptError:
    """The error of a kernel whose body is `body(float scalar, int scalar, buffer)`."""
    with pytest.raises(ScriptError) as caught:

        @Tx.prim_func
        def kernel(A: Tx.Buffer((64,), "float32")):
            Tx.device_entry()
            tx = Tx.thread_id([32])
            x: Tx.float32 = 0.0
            n: Tx.int32 = 0
            body(x, n, A)
            A[tx] = x

    return caught.value


@pytest.mark.parametrize(
    ("call", "message", "hint"),
    [
        (lambda x, n, A: Tx.ptx.add.f32(x, x), "add.f32 takes (d, a, b), and is called with 2 operands", None),
        (lambda x, n, A: Tx.ptx.add.f32(x, n, x), "operand `a` of add.f32 is of type int32", "it is a .f32"),
        (lambda x, n, A: Tx.ptx.add.f32(1.0, x, x), "operand `d` of add.f32 is written", "makes a scalar"),
        (lambda x, n, A: Tx.ptx.add.s32(x, n, n), "operand `d` of add.s32 is of type float32", "an integer of 32 bits"),
        (lambda x, n, A: Tx.ptx.bar.sync(17), "operand `a` of bar.sync is 17", "it may be 0 to 15"),
        (lambda x, n, A: Tx.ptx.bar.sync(1, 33), "operand `b` of bar.sync is 33", "32 to 1024 in steps of 32"),
        (lambda x, n, A: Tx.ptx.setmaxnreg.inc.sync.aligned.u32(33), "is 33", "24 to 256 in steps of 8"),
        (lambda x, n, A: Tx.ptx.lop3.b32(n, n, n, n, 256), "operand `immLut` of lop3.b32 is 256", "0 to 255"),
        (lambda x, n, A: Tx.ptx.cp.async_.wait_group(n), "is an immediate", "give a Python integer"),
        (lambda x, n, A: Tx.ptx.ld.shared.f32(x, A.ptr_to([0])), "points to global memory", "accesses shared memory"),
        (lambda x, n, A: Tx.ptx.ld.global_.f32(x, x), "operand `a` of ld.global.f32 is an address", "ptr_to"),
        (lambda x, n, A: Tx.ptx.selp.f32(x, x, x, n), "operand `c` of selp.f32 is of type int32", "Tx.ptx.pred(x)"),
        (lambda x, n, A: Tx.ptx.add.f32(x, Tx.ptx.SINK, x), "SINK stands for a result", "give a value"),
        (lambda x, n, A: Tx.ptx.sreg("laneidd"), "PTX has no special register `%laneidd`", "laneid"),
    ],
)  # fmt: skip
def test_what_a_call_gets_wrong_is_said_at_its_line(call: Any, message: str, hint: str | None) -> None:
    problem = refused(call)
    assert message in problem.message
    assert (hint or "") in (problem.hint or "")
    assert problem.span is not None
    assert problem.span.path == __file__


def test_numbers_take_the_type_of_their_operand() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        x: Tx.float32 = 0.0
        u: Tx.uint64 = Tx.uint64(0)
        Tx.ptx.fma.rn.f32(x, A[tx], 2.0, 1)
        Tx.ptx.add.u64(u, u, 1)
        A[tx] = x

    assert "T.ptx.fma.rn.f32(x, A[tx], 2.0, 1.0)" in kernel.script()
    assert "T.ptx.add.u64(u, u, T.uint64(1))" in kernel.script()


def test_registers_may_hold_plain_bits() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "uint32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        h: Tx.uint32 = Tx.uint32(0)
        Tx.ptx.add.f16x2(h, A[tx], A[tx])
        Tx.ptx.add.f32(h, h, A[tx])
        A[tx] = h

    assert "T.ptx.add.f16x2" in kernel.script()


def test_what_is_written_may_be_left_out() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "uint32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        old: Tx.uint32 = Tx.uint32(0)
        Tx.ptx.atom.global_.add.u32(old, A.ptr_to([0]), 1)
        Tx.ptx.atom.global_.add.u32(Tx.ptx.SINK, A.ptr_to([0]), 1)
        Tx.ptx.atom.global_.add.u32(A.ptr_to([0]), tx)

    text = kernel.script()
    assert "T.ptx.atom.global_.add.u32(T.ptx.SINK, T.address_of(A[0]), T.uint32(1))" in text
    assert "T.ptx.atom.global_.add.u32(T.address_of(A[0]), tx)" in text


# ---- targets --------------------------------------------------------------------------------------------------------


def _packed() -> Any:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "uint64")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        x: Tx.uint64 = Tx.uint64(0)
        Tx.ptx.add.f32x2(x, A[tx], A[tx])
        A[tx] = x

    return kernel


def test_a_target_without_the_instruction_is_refused_at_its_line() -> None:
    import tirx

    with pytest.raises(VerifyError) as caught:
        tirx.compile(_packed(), target="cuda -arch=sm_90a")
    text = str(caught.value)
    assert "`add.f32x2` needs sm_100 or newer (PTX 8.6); the target is" in text
    assert "these have it: sm_100, sm_100a, sm_100f" in text
    assert "Tx.ptx.add.f32x2(x, A[tx], A[tx])" in text


def test_inside_a_target_it_is_refused_at_once() -> None:
    with pytest.raises(VerifyError, match=r"`add.f32x2` needs sm_100 or newer"), Target("cuda -arch=sm_90a"):
        _packed()


def test_instructions_of_one_family_are_judged_each_for_itself() -> None:
    import tirx

    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "uint64")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        x: Tx.uint64 = Tx.uint64(0)
        Tx.ptx.add.u64(x, A[tx], A[tx])
        Tx.ptx.add.f32x2(x, x, A[tx])
        A[tx] = x

    with pytest.raises(VerifyError, match=r"`add.f32x2` needs"):
        tirx.compile(kernel, target="cuda -arch=sm_80")
    assert "add.u64" in str(tirx.compile(kernel, target="cuda -arch=sm_100").source)


@pytest.mark.parametrize(
    ("mnemonic", "arch", "has"),
    [
        ("wgmma.fence.sync.aligned", "sm_90a", True), ("wgmma.fence.sync.aligned", "sm_90", False),
        ("wgmma.fence.sync.aligned", "sm_100a", False), ("tcgen05.fence::before_thread_sync", "sm_103f", True),
        ("tcgen05.fence::before_thread_sync", "sm_120a", False), ("redux.sync.max.f32", "sm_110a", False),
        ("redux.sync.max.f32", "sm_103a", True), ("setmaxnreg.inc.sync.aligned.u32", "sm_120f", True),
    ],
)  # fmt: skip
def test_suffixes_of_architectures(mnemonic: str, arch: str, has: bool) -> None:
    assert (arch in ptx[mnemonic].archs) is has
