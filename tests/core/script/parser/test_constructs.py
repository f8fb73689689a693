"""Every construct of the language, parsed, against the same kernel built by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tirx import script as Tx
from tirx.ir import PrimFunc, structural_equal
from tirx.testing import assert_round_trip

FloatBuffer = Tx.Buffer((64,), "float32")
CASES: list[Any] = []


def case(traced: Callable[..., None]) -> Callable[[PrimFunc], PrimFunc]:
    """Pair a parsed kernel with a plain function that is traced."""

    def pair(parsed: PrimFunc) -> PrimFunc:
        kinds = [FloatBuffer, FloatBuffer, Tx.int32][: len(parsed.params)]
        CASES.append(pytest.param(parsed, lambda: Tx.trace(traced, *kinds, name=parsed.name), id=parsed.name))
        return parsed

    return pair


def scalar(value: Any, dtype: Any = None) -> Any:
    return Tx.builder.scalar_of(value, dtype)


def _assign(A, B, n):
    x = scalar(5)
    y = scalar(A[0])
    x[0] = x + n
    A[x] = y
    z = scalar(x)
    A[z] = 1.0


@case(_assign)
@Tx.prim_func
def assignments(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    x = 5
    y = A[0]
    x = x + n
    A[x] = y
    z = x
    A[z] = 1.0


def _annotated(A, B, n):
    x = scalar(5, "int64")
    y = Tx.bind(n + 1)
    z = Tx.bind(n, Tx.int64)
    v = Tx.alloc_local((4,), "float32")
    w = Tx.local_scalar("float16")
    w[0] = 1.0
    v[0] = A[y]
    A[x] = v[0]
    A[z] = v[1]


@case(_annotated)
@Tx.prim_func
def annotated(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    x: Tx.int64 = 5
    y: Tx.let = n + 1
    z: Tx.let[Tx.int64] = n
    v: Tx.float32[4]
    w: Tx.float16
    w = 1.0  # noqa: F841
    v[0] = A[y]  # noqa: F821
    A[x] = v[0]  # noqa: F821
    A[z] = v[1]  # noqa: F821


def _python_annotations(A, B, n):
    x = scalar(1, "int32")
    y = scalar(2, "float32")
    A[x] = y


@case(_python_annotations)
@Tx.prim_func
def python_annotations(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    x: int = 1
    y: float = 2
    names: list[str] = ["a"]
    assert names == ["a"]
    A[x] = y


def _updates(A, B, n):
    x = scalar(1)
    x[0] = x + 2
    x[0] = x << 1
    A[x] = A[x] * 2.0
    A[x] = A[x] - 1.0


@case(_updates)
@Tx.prim_func
def updates(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    x = 1
    x += 2
    x <<= 1
    A[x] *= 2.0
    A[x] -= 1.0


def _unpacking(A, B, n):
    a, b = scalar(1), scalar(2)
    c, d = scalar(n), scalar(4)
    e, f = scalar(7), scalar(7)
    A[a] = A[b]
    A[c] = A[d]
    A[e] = A[f]


@case(_unpacking)
@Tx.prim_func
def unpacking(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    a, b = 1, 2
    c, *rest = [n, "text", None]
    d = 4
    e = f = 7
    assert rest == ["text", None]
    A[a] = A[b]
    A[c] = A[d]
    A[e] = A[f]


def _python_values(A, B, n):
    A[4] = A[2]
    A[1] = A[8]
    A[5] = 1.0


@case(_python_values)
@Tx.prim_func
def python_values(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    pair = (4, 2)
    table = {"k": 8}
    text = f"{table['k']}"
    double = lambda x: x * 2  # noqa: E731
    five = Tx.meta_var(5)
    A[pair[0]] = A[pair[1]]
    A[1] = A[double(4)] if text == "8" else A[0]
    A[five] = 1.0


def _branches(A, B, n):
    with Tx.If(n > 0):
        with Tx.Then():
            A[0] = 1.0
        with Tx.Else(), Tx.If(n < -5):
            with Tx.Then():
                A[1] = 1.0
            with Tx.Else():
                A[2] = 1.0


@case(_branches)
@Tx.prim_func
def branches(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    if n > 0:
        A[0] = 1.0
    elif n < -5:
        A[1] = 1.0
    else:
        A[2] = 1.0


def _pruned(A, B, n):
    A[1] = 1.0
    x = scalar(2.0)
    A[2] = x
    A[3] = 3.0


@case(_pruned)
@Tx.prim_func
def pruned(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    if A.shape[0] == 64:
        A[1] = 1.0
        x = 2.0
    else:
        A[0] = undefined_name  # noqa: F821
    A[2] = x
    if n is None:
        A[0] = 0.0
    if n is not None:
        A[3] = 3.0


def _loops(A, B, n):
    with Tx.serial(4) as i:
        A[i] = 1.0
    with Tx.serial(2, n) as i:
        A[i] = 1.0
    with Tx.serial(0, 8, step=2) as i:
        A[i] = 1.0
    with Tx.unroll(4) as i:
        A[i] = 2.0
    with Tx.vectorized(4) as i:
        A[i] = 2.0
    with Tx.grid(4, (2, 6)) as (i, j):
        A[i] = A[j]


@case(_loops)
@Tx.prim_func
def loops(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    for i in range(4):
        A[i] = 1.0
    for i in range(2, n):
        A[i] = 1.0
    for i in range(0, 8, 2):
        A[i] = 1.0
    for i in Tx.unroll(4):
        A[i] = 2.0
    for i in Tx.vectorized(4):
        A[i] = 2.0
    for i, j in Tx.grid(4, (2, 6)):
        A[i] = A[j]


def _unrolled(A, B, n):
    for i in [0, 3]:
        A[i] = 1.0
    A[1] = B[1]
    A[2] = B[1]
    A[7] = 0.0


@case(_unrolled)
@Tx.prim_func
def unrolled(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    for i in [0, 3]:
        A[i] = 1.0
    for k, buffer in enumerate([A, B, A]):
        if k == 2:
            break
        if buffer is B:
            continue
        A[k + 1] = B[1]
        A[k + 2] = B[1]
    for i in [7]:
        A[i] = 0.0


def _jumps(A, B, n):
    with Tx.serial(n) as i:
        with Tx.If(i > 3), Tx.Then():
            Tx.Break()
        with Tx.If(A[i] < 0.0), Tx.Then():
            Tx.Continue()
        A[i] = 1.0


@case(_jumps)
@Tx.prim_func
def jumps(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    for i in range(n):
        if i > 3:
            break
        if A[i] < 0.0:
            continue
        A[i] = 1.0


def _nothing_after_a_jump(A, B, n):
    with Tx.serial(n) as i:
        A[i] = 1.0
        Tx.Break()
    with Tx.serial(n) as i:
        Tx.Continue()


@case(_nothing_after_a_jump)
@Tx.prim_func
def nothing_after_a_jump(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    for i in range(n):
        A[i] = 1.0
        if True:
            break
        A[i] = 2.0
    for _ in range(n):
        continue
        A[0] = 3.0


def _for_else(A, B, n):
    with Tx.serial(4) as i:
        A[i] = 1.0
    A[1] = 1.0
    broken = scalar(False)
    with Tx.serial(n) as i, Tx.If(A[i] > 0.0), Tx.Then():
        broken[0] = True
        Tx.Break()
    with Tx.If(Tx.Not(broken)), Tx.Then():
        A[2] = 1.0
    A[3] = 1.0


@case(_for_else)
@Tx.prim_func
def for_else(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    for i in range(4):
        A[i] = 1.0
    else:
        A[1] = 1.0
    for i in range(n):
        if A[i] > 0.0:
            break
    else:
        A[2] = 1.0
    for i in [1, 2, 3]:
        if i == 2:
            break
    else:
        A[9] = 1.0
    for _ in [1]:
        pass
    else:
        A[3] = 1.0


def _whiles(A, B, n):
    x = scalar(0)
    with Tx.While(x < n):
        x[0] = x + 1
    with Tx.While(True):
        x[0] = x - 1
        with Tx.If(x == 0), Tx.Then():
            Tx.Break()
    for i in (4, 2, 1):
        A[i] = 1.0
    broken = scalar(False)
    with Tx.While(x < 9):
        x[0] = x + 1
        with Tx.If(x == 7), Tx.Then():
            broken[0] = True
            Tx.Break()
    with Tx.If(Tx.Not(broken)), Tx.Then():
        A[0] = 1.0


@case(_whiles)
@Tx.prim_func
def whiles(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    x = 0
    while x < n:
        x += 1
    while True:
        x -= 1
        if x == 0:
            break
    k = Tx.meta_var(4)
    while k > 0:
        A[k] = 1.0
        k = Tx.meta_var(k // 2)
    while x < 9:
        x += 1
        if x == 7:
            break
    else:
        A[0] = 1.0


def _logic(A, B, n):
    i = scalar(0)
    with Tx.If(Tx.And(n > 0, Tx.And(n < 9, i == 0))), Tx.Then():
        A[0] = 1.0
    with Tx.If(Tx.Or(Tx.Not(n > 0), i > 1)), Tx.Then():
        A[1] = 1.0
    with Tx.If(Tx.And(n > 0, n < 5)), Tx.Then():
        A[2] = 1.0
    with Tx.If(Tx.Or(Tx.Or(n == 1, n == 2), n == i)), Tx.Then():
        A[3] = 1.0
    with Tx.If(Tx.Not(Tx.And(n >= 0, n <= 3))), Tx.Then():
        A[4] = 1.0
    A[5] = Tx.if_then_else(n > 0, A[6], 0.0)
    A[7] = Tx.max(A[0], A[1])
    with Tx.If(Tx.And(Tx.And(i >= 0, i < n), n < 64)), Tx.Then():
        A[8] = 1.0


@case(_logic)
@Tx.prim_func
def logic(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    i = 0
    if n > 0 and (n < 9 and i == 0):
        A[0] = 1.0
    if not n > 0 or i > 1:
        A[1] = 1.0
    if 0 < n < 5:
        A[2] = 1.0
    if n in (1, 2, i):
        A[3] = 1.0
    if n not in range(4):
        A[4] = 1.0
    A[5] = A[6] if n > 0 else 0.0
    A[7] = max(A[0], A[1])
    if 0 <= i < n < 64:
        A[8] = 1.0


def _logic_values(A, B, n):
    i = scalar(Tx.if_then_else(n != 0, n, 4))
    j = scalar(Tx.if_then_else(i != 0, n, i))
    both = scalar(Tx.And(n > 0, i > 0))
    with Tx.If(Tx.And(i != 0, Tx.Not(j != 0))), Tx.Then():
        A[0] = Tx.cast(both, "float32")


@case(_logic_values)
@Tx.prim_func
def logic_values(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    i = n or 4
    j = i and n
    both = n > 0 and i > 0
    if i and not j:
        A[0] = Tx.cast(both, "float32")


def _python_logic(A, B, n):
    A[0] = 1.0
    A[1] = A[2]
    with Tx.If(n > 0), Tx.Then():
        A[3] = 1.0
    A[5] = 5.0


@case(_python_logic)
@Tx.prim_func
def python_logic(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    wide = Tx.meta_var(True)
    nothing = None
    if wide and 1 < 2 < 3:
        A[0] = 1.0
    A[1] = A[nothing or 2]
    if wide and n > 0:
        A[3] = 1.0
    if nothing is not None and n > nothing:
        A[4] = 1.0
    if 3 in [1, 2] or not wide:
        A[4] = 1.0
    A[5] = 5.0 if wide else undefined_name  # noqa: F821


def _frames(A, B, n):
    with Tx.attr({"key": 1}):
        A[0] = 1.0
    with Tx.hint("note"), Tx.serial(4) as i:
        A[i] = 1.0
    Tx.Assert(n > 0, "positive")
    Tx.evaluate(Tx.call_extern("void", "f", n))
    Tx.attr({"rest": 2})
    A[1] = 1.0


@case(_frames)
@Tx.prim_func
def frames(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    """Documentation is no statement."""
    with Tx.attr({"key": 1}):
        A[0] = 1.0
    with Tx.hint("note"), Tx.serial(4) as i:
        A[i] = 1.0
    assert n > 0, "positive"
    assert A.shape[0] == 64
    Tx.call_extern("void", "f", n)
    Tx.attr({"rest": 2})
    A[1] = 1.0


def _shadowing(A, B, n):
    x = scalar(1)
    with Tx.serial(4) as i:
        y = scalar(i)
        A[y] = 1.0
    x[0] = x + 1
    A[x] = 2.0
    z = scalar(0.0)
    A[0] = z
    w = scalar(1.0)
    A[1] = w
    i = scalar(3)
    A[i] = 1.0


@case(_shadowing)
@Tx.prim_func
def shadowing(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    x: Tx.int32 = 1
    for i in range(4):
        x: Tx.int32 = i
        A[x] = 1.0
    x = x + 1
    A[x] = 2.0
    for k in [0, 1]:
        acc: Tx.float32 = k
        A[k] = acc
    i = 3
    A[i] = 1.0


def _launch(A, B, n):
    tx = Tx.launch_thread("threadIdx.x", 32)
    by = Tx.env_thread("blockIdx.y")
    Tx.launch_thread(by, 4)
    A[tx] = A[by]
    with Tx.thread_binding(4, thread="threadIdx.y") as ty:
        A[ty] = 1.0


@case(_launch)
@Tx.prim_func
def launch(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    tx = Tx.launch_thread("threadIdx.x", 32)
    by = Tx.env_thread("blockIdx.y")
    Tx.launch_thread(by, 4)
    A[tx] = A[by]
    for ty in Tx.thread_binding(4, thread="threadIdx.y"):
        A[ty] = 1.0


def _device(A, B, n):
    Tx.device_entry()
    bx, by = Tx.cta_id([4, 2])
    tx = Tx.thread_id([64])
    p = Tx.bind(A.ptr_to([tx]))
    C = Tx.decl_buffer((4,), "float32", data=p)
    with Tx.If(tx >= n), Tx.Then():
        Tx.thread_return()
    B[tx] = C[0] + Tx.cast(bx + by, "float32")


@case(_device)
@Tx.prim_func
def device(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    Tx.device_entry()
    bx, by = Tx.cta_id([4, 2])
    tx = Tx.thread_id([64])
    p = A.ptr_to([tx])
    C = Tx.decl_buffer((4,), "float32", data=p)
    if tx >= n:
        Tx.thread_return()
    B[tx] = C[0] + Tx.cast(bx + by, "float32")


def _comprehensions(A, B, n):
    A[0] = A[1] + A[2] + A[3]
    with Tx.If(Tx.Or(A[0] > 0.0, A[1] > 0.0)), Tx.Then():
        A[4] = 1.0
    A[5] = Tx.if_then_else(n > 0, A[0], A[1])


@case(_comprehensions)
@Tx.prim_func
def comprehensions(A: FloatBuffer, B: FloatBuffer, n: Tx.int32):
    items = [A[i] for i in range(1, 4)]
    A[0] = items[0] + items[1] + items[2]
    if any(A[i] > 0.0 for i in (0, 1)):
        A[4] = 1.0
    choose = lambda x, y: x if n > 0 else y  # noqa: E731
    A[5] = choose(A[0], A[1])


@pytest.mark.parametrize(("parsed", "build"), CASES)
def test_parsed_is_traced(parsed: PrimFunc, build: Callable[[], PrimFunc]) -> None:
    traced = build()
    assert structural_equal(parsed, traced), f"{parsed.body!r}\n{traced.body!r}"


def test_long_and_deep_kernels() -> None:
    """Python nests at most twenty blocks; an `elif` is none, a loop is one."""
    chain = "".join(f"    elif A[0] == {k}:\n        A[{k}] = {k}\n" for k in range(1, 60))
    nest = "".join(f"{'    ' * d}for i{d} in range(2):\n" for d in range(1, 19))
    text = (
        '@T.prim_func\ndef f(A: T.Buffer((64,), "int32")):\n    if A[0] == 0:\n        A[0] = 1\n'
        f"{chain}{nest}{'    ' * 19}A[0] = i1 + i18\n"
    )
    assert Tx.from_source(text).script().count("elif") == 59


def test_a_number_takes_the_type_of_the_scalar_that_it_is_stored_in() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((1,), "uint32"), n: Tx.int32):
        x = Tx.local_scalar("uint32")
        x = 0
        if n == 1:
            x = 4294967295
        A[0] = x

    assert_round_trip(kernel)
