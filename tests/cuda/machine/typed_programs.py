"""Random kernels over all dtypes: registers, arrays, shared memory, shuffles, reductions, atomics, loops of all kinds.

Everything a kernel does is defined: divisors are not zero, shifts stay below the width, floats are clamped before they become integers,
threads meet only where all of them come. So CUDA C++ and simulator must give the same bits.
"""

from __future__ import annotations

import random
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.cuda.machine.operations import FLOATS, INTEGERS
from tirx import script as Tx
from tirx.ir import DType, IntImm, PrimFunc, const
from tirx.ir.numpy_types import numpy_dtype

CTAS, THREADS, COUNT = 2, 64, 64
ALL = (*INTEGERS, *FLOATS)
COMPARE = (
    lambda a, b: a < b, lambda a, b: a <= b, lambda a, b: a == b, lambda a, b: a != b, lambda a, b: a > b, lambda a, b: a >= b,
)  # fmt: skip
INTEGER = (
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, lambda a, b: a & b, lambda a, b: a | b, lambda a, b: a ^ b,
    Tx.min, Tx.max, lambda a, b: ~a,
)  # fmt: skip
FLOAT = (
    lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b, Tx.min, Tx.max, lambda a, b: -a, lambda a, b: Tx.fabs(a),
    lambda a, b: Tx.floor(a), lambda a, b: Tx.trunc(a) - Tx.ceil(b), lambda a, b: Tx.sqrt(Tx.fabs(a)),
)  # fmt: skip
SHUFFLED = ("int32", "uint32", "int64", "uint64", "float32", "float64", "float16", "int16")


class TypedProgram:
    """One kernel: `inputs` and `outputs` by name, `kernel`."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.dtypes = self.random.sample(ALL, 4)
        self.names: list[Any] = []
        self.kernel = self.build()

    def arguments(self, seed: int) -> tuple[Any, ...]:
        """Inputs with values at the edges among them, then zeros for the outputs."""
        rng = np.random.default_rng(seed)
        given = []
        for dtype in self.dtypes:
            kind, made = DType(dtype), numpy_dtype(DType(dtype))
            if kind.is_integer:
                low, high = kind.min_int, kind.max_int
                values = rng.integers(max(low, -20), min(high, 20), COUNT, endpoint=True).astype(object)
                values[::7] = self.random.choices([low, high, low + 1, high // 2], k=len(values[::7]))
            else:
                values = np.round(rng.standard_normal(COUNT) * 8, 2)
            given.append(np.array([made.type(x) for x in values]))
        outs = [np.zeros((CTAS * THREADS, 2), numpy_dtype(DType(dtype))) for dtype in self.dtypes]
        return (*given, *outs, np.zeros(4, np.int32), np.zeros(4, np.uint64))

    # ---- the frame ----------------------------------------------------------------------------------------------------

    def build(self) -> PrimFunc:
        """The kernel."""
        with Tx.prim_func() as frame:
            Tx.func_name("kernel")
            self.inputs = {d: Tx.arg(f"A_{d}", Tx.Buffer((COUNT,), d)) for d in self.dtypes}
            outs = {d: Tx.arg(f"O_{d}", Tx.Buffer((CTAS * THREADS, 2), d)) for d in self.dtypes}
            self.counts = [Tx.arg("N", Tx.Buffer((4,), "int32")), Tx.arg("M", Tx.Buffer((4,), "uint64"))]
            Tx.device_entry()
            self.cta = Tx.cta_id([CTAS])
            self.tx = Tx.thread_id([THREADS])
            self.scalars: dict[str, list[Any]] = {}
            self.arrays = {d: Tx.alloc_local((4,), d) for d in self.dtypes}
            self.shared = {d: Tx.alloc_shared((THREADS,), d) for d in self.dtypes}
            for d in self.dtypes:
                self.scalars[d] = [Tx.local_scalar(d) for _ in range(2)]
                for scalar in self.scalars[d]:
                    self.set(scalar, self.leaf(d, fresh=True))
                for k in range(4):
                    Tx.buffer_store(self.arrays[d], Tx.cast(k, d), [k])
            self.names = [self.tx, self.cta]
            for _ in range(self.random.randint(4, 8)):
                self.statement(0, uniform=True, loop=False)
            for d in self.dtypes:
                at = self.cta * THREADS + self.tx
                Tx.buffer_store(outs[d], self.scalars[d][0], [at, 0])
                Tx.buffer_store(outs[d], self.arrays[d][self.tx & 3], [at, 1])
        return frame.get()

    def set(self, scalar: Any, value: Any) -> None:
        """Assign to a register."""
        Tx.buffer_store(scalar.buffer, value, [0])

    # ---- statements ---------------------------------------------------------------------------------------------------

    @contextmanager
    def scope(self) -> Any:
        """Names bound inside are not known outside."""
        known = len(self.names)
        yield
        del self.names[known:]

    def block(self, depth: int, uniform: bool, loop: bool) -> None:
        """A few statements."""
        with self.scope():
            for _ in range(self.random.randint(1, 3)):
                self.statement(depth, uniform, loop)

    def statement(self, depth: int, uniform: bool, loop: bool) -> None:
        """One statement."""
        kinds = ["assign", "assign", "array", "let", "atomic", "lanes"]
        if depth < 3:
            kinds += ["if", "for", "while"]
        if uniform:
            kinds += ["exchange", "shuffle", "reduce", "shuffle"]
        if loop and not uniform:
            kinds += ["leave"]
        getattr(self, f"s_{self.random.choice(kinds)}")(depth, uniform, loop)

    def dtype(self) -> str:
        """One of the program's."""
        return self.random.choice(self.dtypes)

    def s_assign(self, *_: Any) -> None:
        d = self.dtype()
        self.set(self.random.choice(self.scalars[d]), self.value(d, 3))

    def s_array(self, *_: Any) -> None:
        d = self.dtype()
        Tx.buffer_store(self.arrays[d], self.value(d, 2), [self.index(3)])

    def s_let(self, *_: Any) -> None:
        self.names.append(Tx.Bind(self.index(255)))

    def s_lanes(self, *_: Any) -> None:
        """All four elements of an array at once."""
        d = self.dtype()
        array, other = self.arrays[d], self.value(d, 1)
        operation = self.random.choice(INTEGER[:8] if DType(d).is_integer else FLOAT[:5])
        with Tx.vectorized(0, 4) as v:
            Tx.buffer_store(array, operation(array[v], other), [v])

    def s_atomic(self, *_: Any) -> None:
        which = self.random.randint(0, 1)
        dtype = ("int32", "uint64")[which]
        operation = [Tx.atomic_add, Tx.atomic_max][which]
        Tx.evaluate(operation(self.counts[which][self.index(3)], Tx.cast(self.index(99), dtype)))

    def s_if(self, depth: int, uniform: bool, loop: bool) -> None:
        with Tx.If(self.condition(2)):
            with Tx.Then():
                self.block(depth + 1, False, loop)
            if self.random.random() < 0.5:
                with Tx.Else():
                    self.block(depth + 1, False, loop)

    def s_for(self, depth: int, uniform: bool, loop: bool) -> None:
        own = self.random.random() < 0.5
        kind = self.random.choice([Tx.serial, Tx.serial, Tx.unroll])
        stop = self.index(3) if own and kind is Tx.serial else self.random.randint(0, 4)
        start = self.random.randint(-2, 1)
        with kind(start, stop) as i:
            with self.scope():
                self.names.append(i)
                self.block(depth + 1, uniform and not own, kind is Tx.serial and not (uniform and not own))

    def s_while(self, depth: int, uniform: bool, loop: bool) -> None:
        turns = Tx.local_scalar("int32")
        self.set(turns, 0)
        with Tx.While(Tx.And(turns < 4, self.condition(1))):
            self.set(turns, turns + 1)
            self.block(depth + 1, False, True)

    def s_leave(self, *_: Any) -> None:
        with Tx.If(self.condition(1)):
            with Tx.Then():
                self.random.choice([Tx.Break, Tx.Continue])()

    def s_exchange(self, *_: Any) -> None:
        d = self.dtype()
        other = (self.tx + self.random.randint(1, THREADS - 1)) % THREADS
        Tx.buffer_store(self.shared[d], self.value(d, 2), [self.tx])
        Tx.evaluate(Tx.cuda.cta_sync())
        self.set(self.random.choice(self.scalars[d]), self.shared[d][other])
        Tx.evaluate(Tx.cuda.cta_sync())

    def s_shuffle(self, *_: Any) -> None:
        usable = [d for d in self.dtypes if d in SHUFFLED]
        if not usable:
            return
        d, width = self.random.choice(usable), self.random.choice([8, 16, 32])
        name, amount = self.random.choice(
            [("__shfl_xor_sync", self.random.choice([1, 2, 4, width // 2])), ("__shfl_up_sync", self.random.randint(0, 9)),
             ("__shfl_down_sync", self.random.randint(0, 9)), ("__shfl_sync", self.random.randint(0, 40))]
        )  # fmt: skip
        value = Tx.Bind(self.value(d, 2))
        self.set(self.scalars[d][0], getattr(Tx.cuda, name)(0xFFFFFFFF, value, amount, width))

    def s_reduce(self, *_: Any) -> None:
        usable = [d for d in self.dtypes if d in ("int32", "uint32", "int64", "uint64")]
        if usable:
            d = self.random.choice(usable)
            value = Tx.Bind(self.value(d, 1))
            function = self.random.choice([Tx.cuda.warp_sum, Tx.cuda.warp_max, Tx.cuda.warp_min])
            self.set(self.scalars[d][0], function(value, self.random.choice([8, 32])))

    # ---- expressions --------------------------------------------------------------------------------------------------

    def index(self, mask: int) -> Any:
        """An int32 between 0 and `mask`."""
        return self.integer(1) & mask

    def integer(self, depth: int) -> Any:
        """An int32 from what is in scope."""
        a, b = self.random.choice(self.names), self.random.choice(self.names)
        if depth == 0:
            return a
        c = self.random.randint(1, 9)
        return self.random.choice([a + b, a * c, a // c - b, a % c + b, a ^ b, a - c, a + b * c])

    def leaf(self, d: str, fresh: bool = False) -> Any:
        """A value at hand; of floats, nothing that is not a number."""
        choices = ["load", "constant"] if fresh else ["load", "constant", "scalar", "scalar", "array", "name"]
        kind = self.random.choice(choices)
        if kind == "load":
            at = (self.tx + self.random.randint(0, 63)) % COUNT if fresh else self.index(COUNT - 1)
            return self.inputs[d][at]
        if kind == "scalar":
            return Tx.cast(self.random.choice(self.scalars[d]), d)
        if kind == "array":
            return self.arrays[d][self.index(3)]
        if kind == "name":
            return Tx.cast(self.integer(0), d)
        info = DType(d)
        numbers = [0, 1, 2, 7, 100] + ([info.max_int, info.max_int - 1] if info.is_integer else [0.5, 1.25])
        return const(self.random.choice(numbers), d)

    def value(self, d: str, depth: int) -> Any:
        """A value of a dtype."""
        if depth == 0 or self.random.random() < 0.15:
            return self.leaf(d)
        a, b, kind = self.value(d, depth - 1), self.value(d, depth - 1), DType(d)
        if isinstance(a, IntImm) and isinstance(b, IntImm):  # would be computed now, and must then fit
            a = self.inputs[d][self.index(COUNT - 1)]
        choice = self.random.random()
        if choice < 0.2:
            return self.converted(d, depth - 1)
        if choice < 0.35:
            return self.random.choice([Tx.Select, Tx.if_then_else])(self.condition(depth - 1), a, b)
        if kind.is_integer and choice < 0.6:
            return self.divided(d, a, b)
        return self.random.choice(INTEGER if kind.is_integer else FLOAT)(a, b)

    def divided(self, d: str, a: Any, b: Any) -> Any:
        """Division and shifts by what is safe."""
        seven, one = Tx.cast(7, d), Tx.cast(1, d)
        number = Tx.cast(self.random.choice([2, 3, 8, 10]), d)
        shift = b & Tx.cast(DType(d).bits - 1, d)
        return self.random.choice(
            [lambda: a // ((b & seven) + one), lambda: a % ((b & seven) + one), lambda: Tx.truncdiv(a, number),
             lambda: Tx.truncmod(a, (b & seven) + one), lambda: a // number, lambda: a % number, lambda: a << shift, lambda: a >> shift]
        )()  # fmt: skip

    def converted(self, d: str, depth: int) -> Any:
        """From another dtype."""
        source = self.dtype()
        value = self.value(source, depth)
        if DType(source).is_float and DType(d).is_integer:
            value = Tx.max(Tx.min(value, Tx.cast(100, source)), Tx.cast(0, source))
        return Tx.cast(value, d)

    def condition(self, depth: int) -> Any:
        """A truth value."""
        if depth > 0 and self.random.random() < 0.4:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return self.random.choice([Tx.And(a, b), Tx.Or(a, b), Tx.Not(a)])
        d = self.dtype()
        return self.random.choice(COMPARE)(self.value(d, 1), self.value(d, 1))
