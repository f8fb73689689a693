"""A naive interpreter of lowered device functions, one thread after the other in plain Python; a barrier is a `yield`.

Nothing is shared with the simulator: it says what the simulator must compute.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tirx import ir


class Leave(Exception):
    pass


def wrap(value: Any, dtype: ir.DType) -> Any:
    if dtype.is_bool:
        return bool(value)
    if dtype.is_integer:
        value = int(value) & ((1 << dtype.bits) - 1)
        return value - (1 << dtype.bits) if dtype.is_int and value >> (dtype.bits - 1) else value
    if dtype == "float32":
        return np.float32(value)
    return value


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


BINARY = {
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Mul": lambda a, b: a * b,
    "FloorDiv": lambda a, b: a // b if b else 0,
    "FloorMod": lambda a, b: a % b if b else 0,
    "Div": lambda a, b: quotient(a, b) if b else 0,
    "Mod": lambda a, b: a - b * quotient(a, b) if b else 0,
    "Min": min,
    "Max": max,
    "BitwiseAnd": lambda a, b: a & b,
    "BitwiseOr": lambda a, b: a | b,
    "BitwiseXor": lambda a, b: a ^ b,
    "LShift": lambda a, b: a << b,
    "RShift": lambda a, b: a >> b,
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
}


class Thread:
    """One thread: its variables, and the memory it shares (`memory` by id of the data variable)."""

    def __init__(self, memory: dict[int, Any], axes: dict[str, int]) -> None:
        self.memory, self.axes = memory, axes
        self.own: dict[int, list[Any]] = {}
        self.values: dict[int, Any] = {}

    def value(self, node: Any) -> Any:
        kind = type(node).__name__
        if kind in ("IntImm", "FloatImm"):
            return wrap(node.value, node.dtype)
        if kind == "Var":
            return self.values[id(node)]
        if kind == "BufferLoad":
            return self.place(node.buffer)[self.value(node.indices[0])]
        if kind == "And":
            return bool(self.value(node.a) and self.value(node.b))
        if kind == "Or":
            return bool(self.value(node.a) or self.value(node.b))
        if kind == "Not":
            return not self.value(node.a)
        if kind == "Neg":
            return wrap(-self.value(node.a), node.dtype)
        if kind == "BitwiseNot":
            return wrap(~self.value(node.a), node.dtype)
        if kind == "Select":
            return self.value(node.true_value if self.value(node.condition) else node.false_value)
        if kind == "Cast":
            return self.cast(self.value(node.value), node.dtype)
        if kind == "Call":
            return self.call(node)
        return wrap(BINARY[kind](self.value(node.a), self.value(node.b)), node.dtype)

    def cast(self, value: Any, dtype: ir.DType) -> Any:
        if dtype.is_integer and isinstance(value, float | np.floating):
            return 0 if math.isnan(value) else max(dtype.min_int, min(dtype.max_int, math.trunc(float(value))))
        return wrap(value, dtype)

    def call(self, node: ir.Call) -> Any:
        if node.op.name == "tirx.launch_index":
            return self.axes[node.attr("axis")]
        if node.op.name == "if_then_else":
            return self.value(node.args[1] if self.value(node.args[0]) else node.args[2])
        raise AssertionError(node.op.name)

    def place(self, buffer: ir.Buffer) -> Any:
        return self.own[id(buffer.data)] if id(buffer.data) in self.own else self.memory[id(buffer.data)]

    def run(self, stmt: Any) -> Iterator[None]:
        kind = type(stmt).__name__
        if kind == "Seq":
            for item in stmt.stmts:
                yield from self.run(item)
        elif kind == "Bind":
            self.values[id(stmt.var)] = self.value(stmt.value)
        elif kind == "Alloc":
            if stmt.buffer.scope_name == "local":
                self.own[id(stmt.buffer.data)] = [0] * stmt.buffer.shape[0]
        elif kind == "BufferStore":
            value = self.value(stmt.value)
            self.place(stmt.buffer)[self.value(stmt.indices[0])] = value
        elif kind == "Evaluate":
            yield
        elif kind == "If":
            branch = stmt.then if self.value(stmt.condition) else stmt.orelse
            if branch is not None:
                yield from self.run(branch)
        elif kind in ("For", "While"):
            yield from self.loop(stmt)
        elif kind in ("Break", "Continue", "Return"):
            raise Leave(kind)

    def loop(self, stmt: Any) -> Iterator[None]:
        if isinstance(stmt, ir.For):
            start, step = self.value(stmt.start), self.value(stmt.step)
            turns: Any = iter(range(start, start + self.value(stmt.extent), step))
        else:
            turns = iter(lambda: self.value(stmt.condition), False)
        for turn in turns:
            if isinstance(stmt, ir.For):
                self.values[id(stmt.var)] = turn
            try:
                yield from self.run(stmt.body)
            except Leave as left:
                if left.args[0] == "Return":
                    raise
                if left.args[0] == "Break":
                    break


def thread_program(thread: Thread, body: Any) -> Iterator[None]:
    try:
        yield from thread.run(body)
    except Leave:
        return


def run_kernel(body: Any, arrays: dict[int, Any], shared: list[ir.Buffer], ctas: int, threads: int) -> None:
    """Run the body for every thread; `arrays` are written in place."""
    for cta in range(ctas):
        memory = {**arrays, **{id(b.data): np.zeros(b.shape[0], b.dtype.name) for b in shared}}
        programs = []
        for lane in range(threads):
            thread = Thread(memory, {"cta.x": cta, "thread.x": lane})
            programs.append(thread_program(thread, body))
        while programs:
            programs = [program for program in programs if next(program, "end") != "end"]
