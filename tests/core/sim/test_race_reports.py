"""Which element a race is about, and the narrowest thing that ends it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.sim import corpus, corpus_races
from tests.core.sim.running import simulate
from tirx import script as Tx

assert corpus_races

WARP = "all these threads are of one warp: a barrier of the warp between the two accesses orders them"
CTA = "a barrier of the cta between the two accesses orders them"
NONE = "no barrier orders threads of different ctas: use atomics, or give each cta its own elements"


def race_of(name):
    kernel, *args = corpus.PAIRS[name][1](True)
    return next(item for item in simulate(kernel, *args).findings if item.kind == "race")


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("missing_barrier", CTA),
        ("lanes_of_a_warp_without_its_barrier", WARP),
        ("warp_barrier_for_two_warps", CTA),
        ("everybody_writes_one_word", NONE),
    ],
)
def test_the_narrowest_barrier_that_is_enough(name, note):
    assert race_of(name).notes[-1] == note


def test_the_element_of_a_buffer_in_shared_memory():
    assert race_of("missing_barrier").indices == ((63,),)


def test_the_element_of_a_second_buffer_in_a_later_cta():
    @Tx.prim_func
    def kernel(B: Tx.Buffer((3, 8), "float16")):
        Tx.device_entry()
        bx = Tx.cta_id([3])
        tx = Tx.thread_id([8])
        first = Tx.alloc_shared((8,), "float32")
        second = Tx.alloc_shared((8,), "float16")
        first[tx] = 1.0
        second[tx] = Tx.float16(2.0)
        if bx == 2 and tx == 1:
            B[bx, tx] = second[5]

    (finding,) = simulate(kernel, np.zeros((3, 8), "f2")).findings
    assert (finding.buffer, finding.indices) == ("second", ((5,),))
    assert finding.threads == ("thread 1 of cta 2",)


def test_the_element_of_an_array_of_the_caller():
    @Tx.prim_func
    def kernel(A: Tx.Buffer((8,), "float64")):
        Tx.device_entry()
        bx = Tx.cta_id([2])
        A[6 + bx * 0] = 1.0

    (finding,) = simulate(kernel, np.zeros(8)).findings
    assert finding.indices == ((6,),)
