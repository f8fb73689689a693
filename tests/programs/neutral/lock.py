"""A spin lock around a list that blocks append to: the lock's holder changes what no atomic operation could change at once."""

from __future__ import annotations

import numpy as np

from tirx import script as Tx

BLOCKS = 24


@Tx.prim_func
def append(values: Tx.Buffer((BLOCKS,), "int32"), out: Tx.Buffer((BLOCKS,), "int32"), state: Tx.Buffer((2,), "int32")):
    Tx.device_entry()
    bx = Tx.cta_id([BLOCKS])
    tx = Tx.thread_id([64])
    if tx == 0:
        while Tx.atomic_cas(Tx.address_of(state[0]), 0, 1) != 0:
            pass
        length: Tx.let = Tx.atomic_add(Tx.address_of(state[1]), 0)
        Tx.atomic_exch(Tx.address_of(out[length]), values[bx])
        Tx.atomic_exch(Tx.address_of(state[1]), length + 1)
        Tx.atomic_exch(Tx.address_of(state[0]), 0)


KERNEL = append
TOLERANCE = 0.0


def kernel(width):
    """The same for every width."""
    return append


def arguments(rng):
    """Numbers, room for them in some order, and the state: lock free, nothing in the list."""
    return rng.permutation(BLOCKS).astype(np.int32), np.full(BLOCKS, -1, np.int32), np.zeros(2, np.int32)


def expected(values, out, state):
    """What does not depend on the order in which blocks get the lock."""
    return {"state": np.array([0, BLOCKS])}


def also(values, out, state):
    """Whether nothing was lost."""
    return sorted(out) == sorted(values)
