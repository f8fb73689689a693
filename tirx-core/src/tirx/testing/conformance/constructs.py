"""One small kernel for each construct of the neutral language, with what must come out.

They use 32-bit integers, and of the language only what they are about: a target that lacks the construct has nothing else
to complain of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import script as Tx
from ...ir import DType, PrimFunc
from ...script.text import from_source
from ...support.span import add_author_file
from .sample import Sample

__all__ = ["CONSTRUCT_SAMPLES", "copy_of", "too_much"]

add_author_file(__file__)
THREADS = 64

_PLUS_ONE: Any = from_source("""
@T.prim_func
def conform_plus_one(v: T.int32) -> T.int32:
    return v + 1
""")


def _traced(name: str, body: Callable[[Any, Any], None], per_thread: int = 1, dtype: str = "int32") -> PrimFunc:
    array = Tx.Buffer((THREADS * per_thread,), dtype)
    made: PrimFunc = Tx.trace(body, array, array, name=f"conform_{name}")
    return made


def _thread() -> Any:
    Tx.device_entry()
    return Tx.thread_id([THREADS])


def _while(x: Any, y: Any) -> None:
    tx = _thread()
    left, steps = Tx.alloc_local((1,), "int32"), Tx.alloc_local((1,), "int32")
    left[0], steps[0] = x[tx], 0
    with Tx.While(left[0] > 0):
        left[0] = left[0] - 3
        steps[0] = steps[0] + 1
    y[tx] = steps[0]


def _asserts(x: Any, y: Any) -> None:
    tx = _thread()
    Tx.Assert(x[tx] >= 0, "a value is negative")
    y[tx] = x[tx]


def _vectors(x: Any, y: Any) -> None:
    lanes = Tx.ramp(_thread() * 4, 1, 4)
    y[lanes] = x[lanes] + Tx.broadcast(1, 4)


def _atomics(x: Any, y: Any) -> None:
    tx = _thread()
    Tx.evaluate(Tx.atomic_add(y[x[tx] % 2], 1))


def _barriers(x: Any, y: Any) -> None:
    tx = _thread()
    kept = Tx.alloc_shared((THREADS,), "int32")
    kept[tx] = x[tx]
    Tx.tvm_storage_sync("shared")
    y[tx] = kept[THREADS - 1 - tx]


def _pointers(x: Any, y: Any) -> None:
    tx = _thread()
    one = Tx.decl_buffer((1,), "int32", data=Tx.bind(Tx.address_of(x[tx])))
    y[tx] = one[0]


def _dynamic_shared(x: Any, y: Any) -> None:
    tx = _thread()
    kept = Tx.alloc_buffer((THREADS,), "int32", scope="shared.dyn")
    kept[tx] = x[tx]
    y[tx] = kept[tx]


def _calls(x: Any, y: Any) -> None:
    tx = _thread()
    y[tx] = _PLUS_ONE(x[tx])


def _shuffled(width: int) -> PrimFunc:
    def body(x: Any, y: Any) -> None:
        tx = _thread()
        mask = Tx.max_value(f"uint{max(width, 32)}")
        y[tx] = Tx.tvm_warp_shuffle_xor(mask, x[tx], 1, width, width)

    return _traced("shuffles", body)


def copy_of(dtype: str) -> PrimFunc:
    """A kernel that copies elements of one type; those that share a byte together."""
    shared = max(1, 8 // DType(dtype).storage_bits)

    def body(x: Any, y: Any) -> None:
        tx = _thread()
        at = tx if shared == 1 else Tx.ramp(tx * shared, 1, shared)
        y[at] = x[at]

    return _traced(f"copy_{dtype}", body, shared, dtype)


def too_much(threads: int = THREADS, shared: int = 0) -> PrimFunc:
    """A kernel with so many threads in a cta, and so many bytes of shared memory."""

    def body(y: Any) -> None:
        Tx.device_entry()
        tx = Tx.thread_id([threads])
        if shared:
            kept = Tx.alloc_shared((shared // 4,), "int32")
            kept[tx] = 1
            y[tx] = kept[tx]
        else:
            y[tx] = 1

    made: PrimFunc = Tx.trace(body, Tx.Buffer((threads,), "int32"), name="conform_limits")
    return made


def _numbers(per_thread: int = 1) -> Callable[[Any], Sequence[Any]]:
    size = THREADS * per_thread
    return lambda rng: (rng.integers(0, 50, size).astype(np.int32), np.zeros(size, np.int32))


def _sample(name: str, body: Callable[[Any, Any], None], expected: Callable[[Any], Any], per_thread: int = 1) -> Sample:
    kernel = _traced(name, body, per_thread)
    return Sample(name, lambda width: kernel, _numbers(per_thread), lambda x, y: {"y": expected(x)}, needs=(name,))


def _counted(x: Any) -> Any:
    return np.concatenate([np.bincount(x % 2, minlength=2), np.zeros(len(x) - 2, int)])


CONSTRUCT_SAMPLES: dict[str, Sample] = {
    item.name: item
    for item in (
        _sample("while", _while, lambda x: -(-x // 3)),
        _sample("asserts", _asserts, lambda x: x),
        _sample("vectors", _vectors, lambda x: x + 1, per_thread=4),
        _sample("atomics", _atomics, _counted),
        _sample("barriers", _barriers, lambda x: x[::-1]),
        _sample("pointers", _pointers, lambda x: x),
        _sample("dynamic_shared", _dynamic_shared, lambda x: x),
        _sample("calls", _calls, lambda x: x + 1),
        Sample(
            "shuffles",
            _shuffled,
            _numbers(),
            lambda x, y: {"y": x.reshape(-1, 2)[:, ::-1].ravel()},
            needs=("shuffles",),
        ),
    )
}
"""By construct."""
