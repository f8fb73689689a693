"""A kernel means what the same text means in Python: random programs, run by Python and by stepping through the IR."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tirx import ir
from tirx import script as Tx

SIZE = 8
VARIABLES = ("a", "b", "c")

# ---- stepping through the IR -------------------------------------------------------------------------------------------


class Broke(Exception):
    pass


class Continued(Exception):
    pass


BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ir.Add: operator.add, ir.Sub: operator.sub, ir.Mul: operator.mul, ir.FloorDiv: operator.floordiv,
    ir.FloorMod: operator.mod, ir.Min: min, ir.Max: max, ir.EQ: operator.eq, ir.NE: operator.ne, ir.LT: operator.lt,
    ir.LE: operator.le, ir.GT: operator.gt, ir.GE: operator.ge,
}  # fmt: skip


class Machine:
    """Values of variables and buffers; only what the programs below contain."""

    def __init__(self, buffer: Any, data: list[int]) -> None:
        self.memory: dict[int, list[Any]] = {id(buffer): data}
        self.variables: dict[int, Any] = {}
        self.fuel = 20_000

    def value(self, e: Any) -> Any:
        kind = type(e)
        if kind in BINARY:
            return BINARY[kind](self.value(e.a), self.value(e.b))
        match kind.__name__:
            case "IntImm":
                return e.value
            case "Var":
                return self.variables[id(e)]
            case "BufferLoad":
                return self.memory[id(e.buffer)][self.value(e.indices[0])]
            case "And":
                return self.value(e.a) and self.value(e.b)
            case "Or":
                return self.value(e.a) or self.value(e.b)
            case "Not":
                return not self.value(e.a)
            case "Cast":
                return self.value(e.value)
            case "Call":
                assert e.op.name == "if_then_else"
                return self.value(e.args[1]) if self.value(e.args[0]) else self.value(e.args[2])
        raise AssertionError(kind)

    def run(self, s: Any) -> None:
        self.fuel -= 1
        assert self.fuel > 0, "the kernel does not end"
        match type(s).__name__:
            case "Seq":
                for item in s.stmts:
                    self.run(item)
            case "Alloc":
                self.memory[id(s.buffer)] = [None]
            case "BufferStore":
                self.memory[id(s.buffer)][self.value(s.indices[0])] = self.value(s.value)
            case "If":
                if self.value(s.condition):
                    self.run(s.then)
                elif s.orelse is not None:
                    self.run(s.orelse)
            case "For":
                start, extent, step = (self.value(item) for item in (s.start, s.extent, s.step))
                self.loop(range(start, start + extent, step), s)
            case "While":
                self.loop(iter(lambda: bool(self.value(s.condition)), False), s)
            case "Break":
                raise Broke
            case "Continue":
                raise Continued
            case other:
                raise AssertionError(other)

    def loop(self, values: Any, s: Any) -> None:
        for item in values:
            if isinstance(s, ir.For):
                self.variables[id(s.var)] = item
            try:
                self.run(s.body)
            except Continued:
                continue
            except Broke:
                break


# ---- random programs ---------------------------------------------------------------------------------------------------


@st.composite
def integer(draw: Any, names: tuple[str, ...], depth: int = 2) -> str:
    """An expression that is a small integer."""
    leaves = [st.sampled_from(names), st.integers(-3, 9).map(str)]
    if depth == 0:
        return draw(st.one_of(*leaves))
    inner = integer(names, depth - 1)
    kind = draw(st.sampled_from(["leaf", "leaf", "op", "div", "load", "choice", "extreme", "logic"]))
    if kind == "leaf":
        return draw(st.one_of(*leaves))
    x, y = draw(inner), draw(inner)
    if kind == "op":
        return f"({x} {draw(st.sampled_from('+-'))} {y})"
    if kind == "div":
        return f"({x} {draw(st.sampled_from(['//', '%']))} {draw(st.integers(2, 5))})"
    if kind == "load":
        return f"A[({x}) % {SIZE}]"
    if kind == "choice":
        return f"({x} if {draw(condition(names, 1))} else {y})"
    if kind == "logic":
        return f"({x} {draw(st.sampled_from(['and', 'or']))} {y})"
    return f"{draw(st.sampled_from(['min', 'max']))}({x}, {y})"


@st.composite
def condition(draw: Any, names: tuple[str, ...], depth: int = 2) -> str:
    """An expression that is true or false."""
    kind = draw(st.sampled_from(["compare", "compare", "chain", "in", "range", "and", "or", "not", "known"]))
    x, y, z = (draw(integer(names, 1)) for _ in range(3))
    word = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    if kind == "compare" or depth == 0:
        return f"{x} {draw(word)} {y}"
    if kind == "chain":
        return f"({x} {draw(word)} {y} {draw(word)} {z} {draw(word)} {draw(integer(names, 0))})"
    if kind == "in":
        return f"{x} {draw(st.sampled_from(['in', 'not in']))} ({y}, 2, {z})"
    if kind == "range":
        return (
            f"{x} in range({draw(st.integers(-3, 3))}, {draw(st.integers(-3, 9))}, {draw(st.sampled_from([1, 2, -2]))})"
        )
    if kind == "known":
        return draw(st.sampled_from(["True", "False", "2 > 1", "not 1"]))
    left, right = draw(condition(names, depth - 1)), draw(condition(names, depth - 1))
    return f"(not {left})" if kind == "not" else f"({left} {kind} {right})"


class Writer:
    """Writes a body; `names` are readable, `jumps` whether the innermost loop is one of the kernel."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.count = 0

    def body(self, names: tuple[str, ...], depth: int, jumps: bool, indent: int) -> list[str]:
        made: list[str] = []
        for _ in range(self.draw(st.integers(1, 3))):
            made += self.statement(names, depth, jumps)
        return [" " * 4 * indent + line for line in made]

    def statement(self, names: tuple[str, ...], depth: int, jumps: bool) -> list[str]:
        kinds = ["assign", "update", "store", "store"] + (["if", "if", "for", "while", "unrolled"] if depth else [])
        kind = self.draw(st.sampled_from(kinds + (["break", "continue"] if jumps else [])))
        draw = self.draw
        if kind == "assign":
            return [f"{draw(st.sampled_from(VARIABLES))} = ({draw(integer(names))}) % 97"]
        if kind == "update":
            return [
                f"{draw(st.sampled_from(VARIABLES))} {draw(st.sampled_from(['+=', '-=']))} {draw(integer(names, 1))} % 7"
            ]
        if kind == "store":
            return [f"A[{draw(integer(names, 1))} % {SIZE}] = ({draw(integer(names))}) % 97"]
        if kind in ("break", "continue"):
            return [f"if {draw(condition(names))}:", f"    {kind}"]
        if kind == "if":
            return self.branch(names, depth, jumps)
        return self.loop(kind, names, depth)

    def branch(self, names: tuple[str, ...], depth: int, jumps: bool) -> list[str]:
        made = [f"if {self.draw(condition(names))}:", *self.body(names, depth - 1, jumps, 1)]
        if self.draw(st.booleans()):
            made += [f"elif {self.draw(condition(names))}:", *self.body(names, depth - 1, jumps, 1)]
        return made + (["else:", *self.body(names, depth - 1, jumps, 1)] if self.draw(st.booleans()) else [])

    def loop(self, kind: str, names: tuple[str, ...], depth: int) -> list[str]:
        self.count += 1
        name = f"i{self.count}"
        inside = (*names, name)
        if kind == "for":
            low, high = self.draw(st.integers(0, 2)), self.draw(st.integers(0, 4))
            made = [f"for {name} in range({low}, {high}):", *self.body(inside, depth - 1, True, 1)]
        elif kind == "unrolled":
            made = [f"for {name} in (0, 3, 5):", *self.body(inside, depth - 1, False, 1)]
        else:
            head = [f"{name} = 0", f"while {name} < 4 and {self.draw(condition(inside, 1))}:", f"    {name} += 1"]
            made = [*head, *self.body(inside, depth - 1, True, 1)]
        return made + (["else:", *self.body(names, depth - 1, False, 1)] if self.draw(st.booleans()) else [])


@st.composite
def programs(draw: Any) -> str:
    start = [f"    {name} = {draw(st.integers(-3, 9))}" for name in VARIABLES]
    end = [f"    A[{index}] = {name}" for index, name in enumerate(VARIABLES)]
    return "\n".join([*start, *Writer(draw).body(VARIABLES, 3, False, 1), *end, ""])


def by_python(body: str) -> list[int]:
    space: dict[str, Any] = {}
    exec(f"def f(A):\n{body}", space)
    data = list(range(SIZE))
    space["f"](data)
    return data


def by_kernel(body: str) -> list[int]:
    func = Tx.from_source(f'@T.prim_func\ndef f(A: T.Buffer(({SIZE},), "int32")):\n{body}')
    assert isinstance(func, ir.PrimFunc)
    data = list(range(SIZE))
    Machine(func.params[0], data).run(func.body)
    return data


@pytest.mark.slow
@settings(max_examples=40)
@given(programs())
def test_a_kernel_means_what_python_means(body: str) -> None:
    assert by_kernel(body) == by_python(body)


@pytest.mark.parametrize("wrong", ["a = 1\n    A[0] = a + 1", "for i in range(3):\n        A[i] = 9"])
def test_a_difference_is_noticed(wrong: str) -> None:
    assert by_kernel(f"    {wrong}\n") != list(range(SIZE))
