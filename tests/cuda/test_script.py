"""Mistakes in calls of `Tx.cuda` and `Tx.SMEMPool`: what is said, and where."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tirx
from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.intrinsic import Emission
from tirx.support.errors import ScriptError, TargetError, VerifyError
from tirx_cuda import script
from tirx_cuda.lang.pool import SMEMPool
from tirx_cuda.op import EMISSIONS, INTRINSICS


def traced(body: Callable[[Any], object]) -> Any:
    """A kernel whose device part is `body(A)`."""
    with Tx.prim_func() as frame:
        Tx.func_name("kernel")
        A = Tx.arg("A", Tx.Buffer((64,), "float32"))
        Tx.device_entry()
        tx = Tx.thread_id([32])
        A[tx] = 0.0
        body(A)
    return frame.get()


MISTAKES: dict[str, tuple[Callable[[Any], object], str, str]] = {
    "barrier": (lambda A: Tx.cuda.warpgroup_sync(16), "there is no barrier 16", "named barriers are 0 to 15"),
    "width": (lambda A: Tx.cuda.warp_sum(A[0], 12), "a warp has no groups of 12", "the width is 2, 4, 8, 16 or 32"),
    "operation": (lambda A: Tx.cuda.warp_reduce(A[0], "mean"), "`mean` is no reduction", 'give "sum", "max" or "min"'),
    "cta operation": (lambda A: Tx.cuda.cta_reduce(A[0], "avg", 1, A), "`avg` is no reduction", 'give "sum", "max" or "min"'),
    "register": (lambda A: Tx.cuda.mov_sreg(16, "laneid"), "a special register has no 16 bits", "read 32 or 64"),
    "format": (lambda A: Tx.cuda.printf("%d %d\n", 1), "the format asks for 2 values and gets 1", "give one value for each % in it"),
    "vector": (lambda A: Tx.cuda.ldg(A.ptr_to([0]), "float32", vec="v3"), 'there is no vector "v3"', 'give "v2", "v4" or "v8"'),
    "waited for": (lambda A: Tx.cuda.wait_until(A, A.ptr_to([0]), True), "kept in a scalar", "give a mutable scalar"),
    "pair": (lambda A: Tx.cuda.bfloat1622float2(A.ptr_to([0])), "a pointer is given where a pair is expected", "load it: B.vload"),
    "pointer": (lambda A: Tx.cuda.ldg(A[0], "float32"), "operand `addr` of cuda.ldg is a pointer", "buffer.ptr_to"),
    "halves": (lambda A: Tx.cuda.hmin2(A[0], A[1]), "operand `a` of cuda.hmin2 is of type float32", "it takes float16 or bfloat16"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str) -> None:
    body, message, hint = MISTAKES[name]
    with pytest.raises(ScriptError) as caught:
        traced(body)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")
    assert caught.value.span is not None
    assert caught.value.span.path == __file__


CODE = "__device__ float f(float x) { return x; }"


def call(name: str, A: Any) -> object:
    return Tx.evaluate(Tx.cuda.func_call(name, A[0], source_code=CODE, return_type="float32"))


def shuffled(A: Any) -> object:
    return A.vstore([0], Tx.cuda.__shfl_sync(0xFFFFFFFF, A.vload([0], "float32x4"), 1))


def acquired(A: Any, dtype: str, scope: str = "gpu") -> object:
    return Tx.evaluate(Tx.cuda.ld_acquire(A.ptr_to([0]), dtype, scope))


def added(A: Any, dtype: str) -> object:
    return Tx.evaluate(Tx.atomic_add(Tx.ptr_byte_offset(A.data, 0, dtype), Tx.cast(1, dtype)))


REFUSED: dict[str, tuple[Callable[[Any], object], str]] = {
    "function name": (lambda A: call("f); evil(", A), "is not the name of a function"),
    "missing function": (lambda A: call("g", A), "the source given for `g` does not define it"),
    "extern name": (
        lambda A: Tx.evaluate(Tx.call_extern("void", "f();} evil(", A[0])),
        "is not the name of a function",
    ),
    "extern keyword": (
        lambda A: Tx.evaluate(Tx.call_extern("float32", "while", A[0])),
        "'while' is not the name of a function: `while` is a keyword",
    ),
    "register": (lambda A: Tx.evaluate(Tx.cuda.mov_sreg(32, "x; evil")), "is no special register"),
    "shuffle": (shuffled, "a float32x4 value cannot be shuffled"),
    "acquire": (lambda A: acquired(A, "uint8"), "an acquiring load of uint8 at scope `gpu` does not exist"),
    "scope": (lambda A: acquired(A, "uint32", "galaxy"), "an acquiring load of uint32 at scope `galaxy`"),
    "wide load": (
        lambda A: A.vstore([0], Tx.cuda.ldg(A.ptr_to([0]), "float32", vec="v8")),
        "ldg of 32 bytes does not exist",
    ),
    "byte atomics": (lambda A: added(A, "int8"), "atomic_add of int8 does not exist"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_source_cannot_say(name: str) -> None:
    body, message = REFUSED[name]
    with pytest.raises((TargetError, VerifyError)) as caught:
        source_of(traced(body))
    assert message in str(caught.value)
    assert caught.value.span is not None


def test_text_cannot_leave_its_string() -> None:
    hostile = '"); evil(); //\n\\" ??/ \0 ü %%'
    text = source_of(traced(lambda A: Tx.cuda.printf(hostile))).text
    (line,) = [line for line in text.splitlines() if "printf" in line]
    assert line.strip() == 'printf("\\"); evil(); //\\n\\\\\\" ?\\?/ \\000 \\303\\274 %%");'


def test_identical_sources_are_pasted_once() -> None:
    def body(A: Any) -> None:
        for index in range(2):
            A[index] = Tx.cuda.func_call("f", A[index], source_code=CODE, return_type="float32")

    assert source_of(traced(body)).text.count(CODE) == 1


def test_lazy_arguments() -> None:
    def body(A: Any) -> None:
        A[0] = Tx.cuda.func_call("f", source_code=CODE, return_type="float32", lazy_args=(lambda: A[3],))

    assert "A[0] = f(A[3]);" in source_of(traced(body)).text


# ---- the pool -----------------------------------------------------------------------------------------------------


def pool_of(body: Callable[[SMEMPool], object]) -> Any:
    def with_pool(A: Any) -> None:
        pool = Tx.SMEMPool()
        body(pool)
        pool.commit()

    return traced(with_pool)


def test_a_pool_aligns_overlaps_and_commits() -> None:
    def body(A: Any) -> None:
        pool = Tx.SMEMPool()
        a = pool.alloc((3,), "float16")
        b = pool.alloc((4, 4), "float32", align=128)
        assert pool.offset == 128 + 64
        pool.move_base_to(0)
        c = pool.alloc((8,), "float64")
        assert (pool.offset, pool.used) == (64, 192)
        pool.commit()
        a[0], b[1, 2], c[3] = Tx.float16(1), 2.0, Tx.float64(3)

    kernel = traced(body)
    assert tirx.compile(kernel, "cuda -arch=sm_90a").launch_plan[0].resources == {"dynamic_shared_bytes": 192}


POOL_MISTAKES: dict[str, tuple[Callable[[Any], object], str]] = {
    "backwards": (lambda pool: pool.move_base_to(-8), "a pool does not start at -8"),
    "small commit": (
        lambda pool: (pool.alloc((8,), "float32"), pool.commit(16)),
        "16 bytes are committed and 32 are in use",
    ),
    "alignment": (lambda pool: pool.alloc((8,), "float64", align=12), "alignment 12 does not fit elements of 8 bytes"),
    "shape": (lambda pool: pool.alloc((Tx.int32(),), "float32"), "a pool holds buffers of constant shape"),
}


@pytest.mark.parametrize("name", POOL_MISTAKES)
def test_pool_mistake(name: str) -> None:
    body, message = POOL_MISTAKES[name]
    with pytest.raises(ScriptError, match=message):
        pool_of(body)


# ---- the table ----------------------------------------------------------------------------------------------------


def test_every_intrinsic_is_written_documented_and_offered() -> None:
    assert {row.name for row in INTRINSICS} == {row.intrinsic for row in EMISSIONS}
    assert all(isinstance(row, Emission) for row in EMISSIONS)
    offered = {**vars(script), **nested(script.tcgen05), **nested(script.wgmma), **nested(script.iket)}
    assert {row.name.removeprefix("cuda.") for row in INTRINSICS} <= set(offered)
    assert all(inspect.getdoc(offered[name]) for name in [*script.__all__, *(name for name in offered if "." in name)])


def nested(space: Any) -> dict[str, Any]:
    """The names of a part of `Tx.cuda`."""
    return {f"{space.__name__.rpartition('.')[2]}.{name}": getattr(space, name) for name in space.__all__}


def test_meanings_exist() -> None:
    from tirx.support.late import load_object

    assert all(callable(load_object(row.meaning)) for row in INTRINSICS if row.meaning is not None)
    assert [row.name for row in INTRINSICS if row.meaning is None] == ["cuda.func_call"]


def test_dunder_names_work_inside_classes() -> None:
    class Kernel:
        def body(self, A: Any) -> None:
            A[0] = Tx.cuda.__shfl_xor_sync(0xFFFFFFFF, A[1], 1)

    assert "A[0] = __shfl_xor_sync(0xffffffff, A[1], 1);" in source_of(traced(Kernel().body)).text


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match=r"Tx\.cuda has no `cta_synk`; did you mean `cta_sync`"):
        _ = Tx.cuda.cta_synk


def test_foreign_code_is_never_clean() -> None:
    kernel = traced(lambda A: Tx.evaluate(Tx.cuda.func_call("f", A[0], source_code=CODE, return_type="float32")))
    report = tirx.simulate(kernel, np.zeros(64, np.float32), target="cuda -arch=sm_90a")
    assert report.verdict == "incomplete"
    assert "not modelled: cuda.func_call" in str(report)


def test_one_name_has_one_source() -> None:
    def body(A: Any) -> None:
        A[0] = Tx.cuda.func_call("f", A[0], source_code=CODE, return_type="float32")
        A[1] = Tx.cuda.func_call("f", A[1], source_code=CODE.replace("x;", "-x;"), return_type="float32")

    with pytest.raises(TargetError, match="two different sources are given for `f`"):
        source_of(traced(body))
