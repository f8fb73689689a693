"""`sum`, `max` and `min` of a thread's own values by the wide instructions of sm_100."""

from __future__ import annotations

import pytest

import tirx
from tirx import script as Tx
from tirx.support.errors import DispatchError
from tirx.testing.operations import Place, check_tile_operation

NAMES = {"sum": "packed_add_sum", "max": "3input_maxmin", "min": "3input_maxmin"}
WORDS = {"sum": "add.rn.f32x2 %0, %1, %2;", "max": "max.f32 %0, %1, %2, %3;", "min": "min.f32 %0, %1, %2, %3;"}


def folded(
    operation,
    count,
    *,
    target="cuda -arch=sm_100a",
    scope="thread",
    dtype="float32",
    source="local",
    result=1,
    **keywords,
):
    tiles = {
        "dst": Place("local", (result,), dtype),
        "src": Place(source, (count,) if isinstance(count, int) else count, dtype),
    }
    return check_tile_operation(operation, tiles, scope=scope, threads=1, target=target, tolerance=1e-6, **keywords)  # fmt: skip


@pytest.mark.parametrize("count", [8, 9, 10, 11, 13, 16, 27, 31, 64])
@pytest.mark.parametrize("operation", NAMES)
def test_every_length(operation, count):
    folded(operation, count, dispatch=NAMES[operation])


@pytest.mark.parametrize("operation", NAMES)
def test_into_what_was_there(operation):
    folded(operation, 12, accum=True, dispatch=NAMES[operation])


@pytest.mark.parametrize("operation", NAMES)
@pytest.mark.parametrize(("arch", "wide"), [("sm_90a", False), ("sm_100", True), ("sm_120a", True)])
def test_taken_where_the_architecture_has_it(operation, arch, wide):
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64, 16), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        t = Tx.thread_id([64])
        values = Tx.alloc_local((16,), "float32")
        total = Tx.alloc_local((1,), "float32")
        Tx.tile.copy(values, A[t, :])
        getattr(Tx.tile, operation)(total, values)
        B[t] = total[0]

    text = str(tirx.compile(kernel, f"cuda -arch={arch}").source)
    assert (WORDS[operation] in text) is wide


@pytest.mark.parametrize("operation", NAMES)
def test_refusals_say_why(operation):
    def refusal(*arguments, **keywords):
        with pytest.raises(DispatchError) as raised:
            folded(operation, *arguments, dispatch=NAMES[operation], **keywords)
        return " ".join(str(raised.value).split())

    assert "the values of a single thread: call it in thread scope (scope=cta)" in refusal(16, scope="cta")
    assert "both tiles must be the thread's own (dst=local, src=shared)" in refusal(16, source="shared")
    assert "the instructions are for float32 (dst=float64, src=float64)" in refusal(16, dtype="float64")
    assert "too few values for a tree (values=7, least=8)" in refusal(7)
    assert "one dimension is folded into one value" in refusal((4, 16), result=4)
    assert f"the architecture lacks {WORDS[operation].split()[0]}" in refusal(16, target="cuda -arch=sm_90a")
