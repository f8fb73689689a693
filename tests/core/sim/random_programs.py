"""Random structured kernels: branches, loops of all kinds, early exits, registers, local arrays, shared memory, barriers."""

from __future__ import annotations

import random
from typing import Any

from tirx.intrinsic.core.calls import launch_index
from tirx.intrinsic.core.collective import tvm_storage_sync
from tirx.intrinsic.core.control import if_then_else
from tirx.ir import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    Alloc,
    And,
    Bind,
    BitwiseAnd,
    BitwiseNot,
    BitwiseOr,
    BitwiseXor,
    Break,
    Buffer,
    BufferLoad,
    BufferStore,
    Cast,
    Continue,
    Decl,
    Div,
    DType,
    Evaluate,
    FloorDiv,
    FloorMod,
    For,
    If,
    IRModule,
    Launch,
    LShift,
    Max,
    Min,
    Mod,
    Mul,
    Neg,
    Not,
    Or,
    PrimFunc,
    Return,
    RShift,
    Select,
    Sub,
    Var,
    While,
    const,
    seq,
)  # fmt: skip

ZERO = const(0)
INT = DType("int32")
SMALL = (Add, Sub, Mul, Min, Max, BitwiseAnd, BitwiseOr, BitwiseXor)
COMPARE = (EQ, NE, LT, LE, GT, GE)


def flat(name: str, count: int, dtype: str = "int32", scope: str = "global", scalar: bool = False) -> Buffer:
    return Buffer(name, (count,), dtype, scope=scope, layout=None, is_scalar=scalar)


class Program:
    """One random kernel for `threads` threads in each of `ctas` ctas: reads `A`, writes `O` (4 elements per thread)."""

    def __init__(self, seed: int, ctas: int = 3, threads: int = 40) -> None:
        self.random = random.Random(seed)
        self.ctas, self.threads = ctas, threads
        self.A, self.O = flat("A", 64), flat("O", ctas * threads * 4)
        self.shared = flat("s", threads, scope="shared")
        self.registers = [flat(f"r{i}", 1, scope="local", scalar=True) for i in range(3)]
        self.array = flat("l", 4, scope="local")
        self.cta, self.lane, self.id = (Var(n, INT) for n in ("cta", "lane", "id"))
        self.names = [self.lane, self.id]
        self.count = 0
        self.counters: list[Buffer] = []
        body = self.statements(3, depth=0, uniform=True, loop=False)
        self.body = seq([*self.prologue(), *body, *self.epilogue()])

    # ---- the frame --------------------------------------------------------------------------------------------------

    def prologue(self) -> list[Any]:
        own = [*self.registers, *self.counters]
        return [
            Alloc(self.shared),
            Bind(self.cta, launch_index(axis="cta.x")),
            Bind(self.lane, launch_index(axis="thread.x")),
            Bind(self.id, self.cta * self.threads + self.lane),
            BufferStore(self.shared, self.lane, (self.lane,)),
            self.barrier(),
            *[Alloc(r) for r in (*own, self.array)],
            *[BufferStore(r, const(k), (ZERO,)) for k, r in enumerate(own)],
            *[BufferStore(self.array, const(k), (const(k),)) for k in range(4)],
        ]

    def epilogue(self) -> list[Any]:
        first = self.id * 4
        values = [*(BufferLoad(r, (ZERO,)) for r in self.registers), BufferLoad(self.array, (self.lane & 3,))]
        return [BufferStore(self.O, value, (first + k,)) for k, value in enumerate(values)]

    def barrier(self) -> Any:
        return Evaluate(tvm_storage_sync("shared"))

    def module(self) -> IRModule:
        pointers = (self.A.data, self.O.data)
        host = PrimFunc(
            "main", [self.A, self.O],
            Launch("k", pointers, ("cta.x", "thread.x"), (const(self.ctas), const(self.threads))), {"role": "host"},
        )  # fmt: skip
        device = PrimFunc("k", list(pointers), seq([Decl(self.A), Decl(self.O), self.body]), {"role": "device"})
        return IRModule([host, device])

    # ---- statements -------------------------------------------------------------------------------------------------

    def statements(self, count: int, depth: int, uniform: bool, loop: bool) -> list[Any]:
        made: list[Any] = []
        scope = len(self.names)
        for _ in range(self.random.randint(1, count)):
            made += self.statement(depth, uniform, loop)
        del self.names[scope:]
        return made

    def statement(self, depth: int, uniform: bool, loop: bool) -> list[Any]:
        kinds = ["assign", "assign", "array", "store", "bind"]
        if depth < 3:
            kinds += ["if", "for", "each", "while"]
        if uniform:
            kinds += ["exchange", "together"]
        if uniform and depth < 2:
            kinds += ["cta_for", "cta_while"]
        if loop and not uniform:
            kinds += ["break", "continue"]
        if not uniform and depth:
            kinds += ["return"]
        return getattr(self, f"s_{self.random.choice(kinds)}")(depth, uniform, loop)

    def s_assign(self, *_: Any) -> list[Any]:
        return [BufferStore(self.random.choice(self.registers), self.value(2), (ZERO,))]

    def s_array(self, *_: Any) -> list[Any]:
        return [BufferStore(self.array, self.value(2), (self.value(1) & 3,))]

    def s_store(self, *_: Any) -> list[Any]:
        return [BufferStore(self.O, self.value(2), (self.id * 4 + (self.value(1) & 3),))]

    def s_bind(self, *_: Any) -> list[Any]:
        var = self.fresh("v")
        made = Bind(var, self.value(2))
        self.names.append(var)
        return [made]

    def s_if(self, depth: int, uniform: bool, loop: bool) -> list[Any]:
        then = seq(self.statements(2, depth + 1, False, loop))
        orelse = seq(self.statements(2, depth + 1, False, loop)) if self.random.random() < 0.5 else None
        return [If(self.condition(1), then, orelse)]

    def s_for(self, depth: int, uniform: bool, loop: bool) -> list[Any]:
        """Bounds are constants: all threads turn together, and where there may be barriers none leaves alone."""
        var = self.fresh("i")
        self.names.append(var)
        body = seq(self.statements(2, depth + 1, uniform, not uniform))
        self.names.pop()
        step = self.random.randint(1, 2)
        return [
            For(var, const(self.random.randint(-1, 1)), const(self.random.randint(0, 4)), const(step), "serial", body)
        ]

    def s_each(self, depth: int, uniform: bool, loop: bool) -> list[Any]:
        """Every thread has its own number of turns."""
        var = self.fresh("j")
        start, extent = self.value(1) & 3, self.value(1) & 3
        self.names.append(var)
        body = seq(self.statements(2, depth + 1, False, True))
        self.names.pop()
        return [For(var, start, extent, const(1), "serial", body)]

    def s_while(self, depth: int, uniform: bool, loop: bool) -> list[Any]:
        counter = flat(f"c{len(self.counters)}", 1, scope="local", scalar=True)
        self.counters.append(counter)
        held = BufferLoad(counter, (ZERO,))
        body = seq([BufferStore(counter, held + 1, (ZERO,)), *self.statements(2, depth + 1, False, True)])
        return [BufferStore(counter, ZERO, (ZERO,)), While(And(held < const(4), self.condition(1)), body)]

    def s_exchange(self, *_: Any) -> list[Any]:
        """Write the own element of shared memory, read another thread's after a barrier."""
        other = FloorMod(self.lane + self.random.randint(1, self.threads - 1), const(self.threads))
        target = self.random.choice(self.registers)
        return [
            BufferStore(self.shared, self.value(2), (self.lane,)),
            self.barrier(),
            BufferStore(target, BufferLoad(self.shared, (other,)), (ZERO,)),
            self.barrier(),
        ]

    def s_together(self, depth: int, uniform: bool, loop: bool) -> list[Any]:
        """A branch that whole ctas take, with barriers inside."""
        return [If(EQ(self.cta, const(self.random.randint(0, 2))), seq(self.s_exchange()))]

    def leaving(self) -> Any:
        return If(EQ(self.cta, const(self.random.randint(0, 2))), self.random.choice((Break, Continue))())

    def s_cta_for(self, depth: int, uniform: bool, loop: bool) -> list[Any]:
        """Every cta has its own number of turns, with barriers in each, and leaves some early."""
        var = self.fresh("t")
        self.names.append(var)
        body = [*self.s_exchange(), *self.statements(1, depth + 1, False, False), self.leaving(), *self.s_exchange()]
        self.names.pop()
        return [For(var, self.cta & 1, self.cta + self.random.randint(0, 2), const(1), "serial", seq(body))]

    def s_cta_while(self, depth: int, uniform: bool, loop: bool) -> list[Any]:
        counter = flat(f"c{len(self.counters)}", 1, scope="local", scalar=True)
        self.counters.append(counter)
        held = BufferLoad(counter, (ZERO,))
        body = [BufferStore(counter, held + 1, (ZERO,)), *self.s_exchange(), self.leaving(), *self.s_exchange()]
        condition = And(held < const(3), LT(held, self.cta + self.random.randint(0, 2)))
        return [BufferStore(counter, ZERO, (ZERO,)), While(condition, seq(body))]

    def s_break(self, *_: Any) -> list[Any]:
        return [If(self.condition(1), Break())]

    def s_continue(self, *_: Any) -> list[Any]:
        return [If(self.condition(1), Continue())]

    def s_return(self, *_: Any) -> list[Any]:
        return (
            [If(And(self.condition(1), LT(self.lane, const(3))), seq([*self.epilogue(), Return()]))]
            if self.never_meets()
            else []
        )

    def never_meets(self) -> bool:
        """Early exit is always fine: those that left do not take part in later barriers."""
        return self.random.random() < 0.3

    # ---- expressions ------------------------------------------------------------------------------------------------

    def fresh(self, hint: str) -> Var:
        self.count += 1
        return Var(f"{hint}{self.count}", INT)

    def value(self, depth: int) -> Any:
        choice = self.random.random()
        if depth == 0 or choice < 0.25:
            return self.leaf()
        a, b = self.value(depth - 1), self.value(depth - 1)
        if choice < 0.6:
            return self.random.choice(SMALL)(a, b)
        if choice < 0.7:
            return self.random.choice((FloorDiv, FloorMod, Div, Mod))(a, self.divisor(b))
        if choice < 0.75:
            return self.random.choice((LShift, RShift))(a, b & 7)
        if choice < 0.8:
            return Select(self.condition(0), a, b)
        if choice < 0.85:
            return if_then_else(self.condition(0), a, BufferLoad(self.A, (b & 63,)))
        if choice < 0.9:
            return Cast(INT, Cast(DType(self.random.choice(["float32", "int8", "uint16", "int64"])), a & 0xFFFF))
        return self.random.choice((Neg, BitwiseNot))(a)

    def divisor(self, other: Any) -> Any:
        return const(self.random.choice([1, 2, 3, 8, -3])) if self.random.random() < 0.7 else BitwiseOr(other, const(1))

    def leaf(self) -> Any:
        choice = self.random.random()
        if choice < 0.3:
            return const(self.random.choice([0, 1, 2, 3, 7, -1, -5, 100, 2**31 - 1, -(2**31)]))
        if choice < 0.6:
            return self.random.choice(self.names)
        if choice < 0.8:
            return BufferLoad(self.random.choice(self.registers), (ZERO,))
        if choice < 0.9:
            return BufferLoad(self.array, (self.random.choice(self.names) & 3,))
        return BufferLoad(self.A, (self.random.choice(self.names) & 63,))

    def condition(self, depth: int) -> Any:
        if depth and self.random.random() < 0.4:
            kind = self.random.choice((And, Or, Not))
            return Not(self.condition(0)) if kind is Not else kind(self.condition(0), self.condition(0))
        return self.random.choice(COMPARE)(self.value(1), self.value(1))
