"""Closures, inline functions, macros, classes with kernel state, plain helpers."""

from __future__ import annotations

from typing import Any

import pytest

from tirx import script as Tx
from tirx.ir import Alloc, BufferStore, PrimFunc, Seq, post_order
from tirx.support.errors import ScriptError

Vector = Tx.Buffer((64,), "float32")


def stores(func: PrimFunc) -> list[tuple[Any, Any]]:
    """(index, value) of each store of constants, in order."""
    found = [node for node in post_order(func.body) if isinstance(node, BufferStore) and not node.buffer.is_scalar]
    return [(getattr(s.indices[0], "value", s.indices[0]), getattr(s.value, "value", s.value)) for s in found]


def test_closures_are_those_of_the_original() -> None:
    def make(offset: int, scale: float) -> PrimFunc:
        @Tx.prim_func
        def f(A: Vector):
            A[offset] = scale

        return f

    assert stores(make(1, 2.0)) == [(1, 2.0)]
    assert stores(make(3, 4.0)) == [(3, 4.0)]


def test_kernels_made_in_a_loop() -> None:
    made = []
    for index in range(3):

        @Tx.prim_func
        def f(A: Vector):
            A[index] = 1.0  # noqa: B023 - the kernel is built at once

        made.append(f)
    assert [stores(f) for f in made] == [[(0, 1.0)], [(1, 1.0)], [(2, 1.0)]]


@Tx.inline
def put(A, i, value=7.0):
    A[i] = value
    return i + 1


@Tx.inline
def fill(A, *indices, **options):
    for i in indices:
        put(A, i, **options)


class TestInline:
    def test_arguments_of_all_kinds_and_results(self) -> None:
        @Tx.prim_func
        def f(A: Vector):
            k = Tx.meta_var(put(A, 0))
            put(A, k, value=1.0)
            fill(A, 5, 6, value=2.0)

        assert stores(f) == [(0, 7.0), (1, 1.0), (5, 2.0), (6, 2.0)]

    def test_names_from_outside_are_late_bound(self) -> None:
        value = 1.0

        @Tx.inline
        def g(A):
            A[0] = value

        @Tx.prim_func
        def before(A: Vector):
            g(A)

        value = 2.0

        @Tx.prim_func
        def after(A: Vector):
            g(A)

        assert (stores(before), stores(after)) == ([(0, 1.0)], [(0, 2.0)])

    def test_nested_functions_see_and_change_the_kernel_around_them(self) -> None:
        @Tx.prim_func
        def f(A: Vector, n: Tx.int32):
            total = 0.0

            @Tx.inline
            def add(x):
                nonlocal total
                total = total + x

            add(A[0])
            for i in range(n):
                add(A[i])
            A[1] = total

        kinds = [type(stmt).__name__ for stmt in f.body.stmts]
        assert kinds == ["Alloc", "BufferStore", "BufferStore", "For", "BufferStore"]

    def test_scalars_are_passed_by_reference(self) -> None:
        @Tx.inline
        def advance(phase):
            phase = phase ^ 1

        @Tx.prim_func
        def f(A: Vector):
            phase = 0
            advance(phase)
            A[phase] = 1.0

        assert sum(isinstance(node, Alloc) for node in post_order(f.body)) == 1

    def test_python_recursion_ends(self) -> None:
        @Tx.inline
        def down(A, i):
            A[i] = 1.0
            if i > 0:
                down(A, i - 1)

        @Tx.prim_func
        def f(A: Vector):
            down(A, 3)

        assert [index for index, _ in stores(f)] == [3, 2, 1, 0]

    def test_methods(self) -> None:
        class Pair:
            def __init__(self, low: int) -> None:
                self.__low = low

            @Tx.inline
            def store(self, A, value):
                A[self.__low] = value
                self.__low = self.__low + 1

        pair = Pair(4)

        @Tx.prim_func
        def f(A: Vector):
            pair.store(A, 1.0)
            pair.store(A, 2.0)

        assert stores(f) == [(4, 1.0), (5, 2.0)]

    def test_methods_of_all_kinds(self) -> None:
        class Base:
            @Tx.inline
            def store(self, A):
                A[0] = 1.0

        class Derived(Base):
            low = 3

            @Tx.inline
            def store(self, A):
                super().store(A)
                A[1] = 2.0

            @Tx.inline
            @staticmethod
            def fixed(A):
                A[2] = 3.0

            @classmethod
            @Tx.inline
            def shared(cls, A):
                A[cls.low] = 4.0

        thing = Derived()

        @Tx.prim_func
        def f(A: Vector):
            thing.store(A)
            thing.fixed(A)
            thing.shared(A)

        assert stores(f) == [(0, 1.0), (1, 2.0), (2, 3.0), (3, 4.0)]

    def test_a_return_leaves_at_once(self) -> None:
        @Tx.inline
        def first(A, items):
            for item in items:
                if item > 2:
                    return item
                A[item] = 1.0
            return 0

        @Tx.prim_func
        def f(A: Vector):
            A[first(A, (1, 5, 2))] = 2.0

        assert stores(f) == [(1, 1.0), (5, 2.0)]

    def test_spans_name_the_call(self) -> None:
        @Tx.prim_func
        def f(A: Vector):
            put(A, 0)

        store = next(node for node in post_order(f.body) if isinstance(node, BufferStore))
        assert store.span.line == put.__wrapped__.__code__.co_firstlineno + 2
        assert store.span.called_from.line == f.span.line + 1
        assert store.span.called_from.called_from is None


class TestMacro:
    def test_hygienic_names_are_those_of_the_definition(self) -> None:
        value = 1.0

        @Tx.macro
        def g(A):
            A[0] = value

        value = 2.0

        @Tx.prim_func
        def f(A: Vector):
            g(A)

        assert stores(f) == [(0, 1.0)]

    def test_unhygienic_names_are_those_of_the_caller(self) -> None:
        value = 1.0

        @Tx.macro(hygienic=False)
        def g(A):
            A[0] = value
            count = count + 1  # noqa: F821, F841

        @Tx.prim_func
        def f(A: Vector):
            value = Tx.meta_var(3.0)
            count = 0
            g(A)
            A[count] = value

        assert stores(f)[0] == (0, 3.0)
        assert sum(isinstance(node, Alloc) for node in post_order(f.body)) == 1
        assert value == 1.0


@Tx.meta_class
class Ring:
    def __init__(self, stages: int) -> None:
        self.slots = Tx.alloc_buffer((stages, 4), "float32", scope="shared")
        self.phase = Tx.local_scalar("int32")
        self.halves = [self.slots, Tx.alloc_local((2,), "float32")]

    @Tx.inline
    def advance(self):
        self.phase = self.phase ^ 1
        self.slots[0, 0] += 1.0


@Tx.meta_class
class Pair:
    def __init__(self) -> None:
        self.left = Ring(2)
        self.right = Ring(3)


class TestMetaClass:
    def test_resources_are_named_after_target_and_attribute(self) -> None:
        @Tx.prim_func
        def f(A: Vector):
            ring = Ring(2)
            ring.advance()
            pair = Pair()
            pair.left.advance()

        names = [node.buffer.name for node in post_order(f.body) if isinstance(node, Alloc)]
        assert names[:3] == ["ring_slots", "ring_phase", "ring_halves_1"]
        assert names[3:5] == ["pair_left_slots", "pair_left_phase"]
        assert names[6] == "pair_right_slots"

    def test_traced_kernels_name_them_too(self) -> None:
        def body(A: Any) -> None:
            ring = Ring(2)
            ring.slots[0, 0] = A[0]

        func = Tx.trace(body, Vector)
        assert next(node.buffer.name for node in post_order(func.body) if isinstance(node, Alloc)) == "ring_slots"

    def test_attributes_that_are_scalars_are_stored(self) -> None:
        @Tx.prim_func
        def f(A: Vector):
            ring = Ring(2)
            if A[0] > 0.0:
                ring.phase += 1
            ring.phase = 3

        assert isinstance(f.body, Seq)
        assert [type(stmt).__name__ for stmt in f.body.stmts[-2:]] == ["If", "BufferStore"]

    def test_an_orphan_is_a_value_error_that_names_its_line(self) -> None:
        @Tx.meta_class
        class Bad:
            def __init__(self) -> None:
                Tx.alloc_local((4,), "float32")

        with pytest.raises(ValueError, match=r"cannot be reached from the instance \(.*test_functions.py:\d+"):

            @Tx.prim_func
            def f(A: Vector):
                bad = Bad()  # noqa: F841


def test_traced_helpers_in_parsed_kernels_and_back() -> None:
    def traced(A: Any, i: int) -> None:
        with Tx.If(A[i] > 0.0), Tx.Then():
            A[i] = 0.0

    @Tx.prim_func
    def parsed(A: Vector):
        for i in range(4):
            traced(A, i)
            put(A, i)

    def body(A: Any) -> None:
        put(A, 3)
        traced(A, 1)

    assert len(stores(parsed)) == 2
    assert len(stores(Tx.trace(body, Vector))) == 2


def test_an_inline_function_belongs_in_a_kernel() -> None:
    with pytest.raises(ScriptError, match="outside a kernel"):
        put([0], 0)


def test_items_of_lists_that_are_scalars_are_stored() -> None:
    @Tx.prim_func
    def f(A: Vector, n: Tx.int32):
        registers = [Tx.local_scalar("float32") for _ in range(2)]
        registers[0] = 1.0
        if n > 0:
            registers[1] += A[0]
        A[1] = registers[0] + registers[1]

    assert sum(isinstance(node, Alloc) for node in post_order(f.body)) == 2
