"""What is refused once a target is bound: constructs and sizes that the hardware or NKI lacks, at the author's line."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.trn.build import block, index, kernel, loop, problems, psum, sbuf, source_of
from tirx.ir import (
    FLOAT32,
    INT32,
    Alloc,
    Break,
    Buffer,
    BufferLoad,
    BufferStore,
    Evaluate,
    For,
    If,
    PrimFunc,
    Stmt,
    Var,
    While,
    cast,
    const,
)
from tirx.support.errors import LayoutError, VerifyError
from tirx.support.span import Span
from tirx_trn import script as nki

HERE = Span("kernel.py", 7, 4)
T, U = sbuf("t", 128, 64), sbuf("u", 128, 64)
A, B = Buffer("a", (128, 64)), Buffer("b", (128, 64))
COPY = (T, nki.load(T, A), nki.store(B, T))
I = index("i")
PRODUCT = psum("product", 64, 64)
TWO_BANKS, RIGHT = psum("two_banks", 2, 64, 256), sbuf("right", 128, 512)
NARROW = Buffer("narrow", (64, 64), "bfloat16", scope="trn.psum")
LATE = sbuf("late", 128, 64, dtype="float8_e4m3fn")


def with_statement(item: object) -> PrimFunc:
    return kernel("copy", [A, B], *COPY, item)  # type: ignore[arg-type]


def held(*tiles: Buffer) -> Stmt:
    """Tiles that are all needed at the end."""
    return block(*tiles, *(nki.memset(tile, 0.0) for tile in tiles), *(nki.tensor_copy(tile, tile) for tile in tiles))


ELEMENT = BufferLoad(T, (const(0), const(0)), span=HERE)
CASES: dict[str, tuple[Callable[[], PrimFunc], str]] = {
    "an element store": (
        lambda: with_statement(BufferStore(T, const(1.0), (const(0), const(0)), span=HERE)),
        "kernel.py:7:5: error: an element of `t` is stored; engines work on tiles",
    ),
    "an element load": (lambda: with_statement(If(const(0.0) < ELEMENT, block(*COPY))), "an element of `t` is read as a value"),
    "a while loop": (lambda: with_statement(While(const(True), block(*COPY), span=HERE)), "kernel.py:7:5: error: a `while` loop needs"),
    "a break": (lambda: with_statement(loop(I, 4, Break(span=HERE))), "`break` cannot be expressed"),
    "a vector loop": (
        lambda: with_statement(For(I, const(0), const(4), const(1), "vectorized", block(*COPY), span=HERE)),
        "a vectorized loop has no meaning here",
    ),
    "a slice beyond the end": (
        lambda: with_statement(nki.memset(T[:, 60:70], 0.0)), "this slice of `t` reaches 70 in dimension 1, which has 64 elements"
    ),
    "a last turn that is shorter": (
        lambda: with_statement(loop(I, 3, nki.memset(T[:, I * 24 : I * 24 + 24], 0.0))), "this slice of `t` reaches 72 in dimension 1"
    ),
    "a turn before the first": (
        lambda: with_statement(loop(I, 3, nki.memset(T[:, 8 - I * 8 : 16 - I * 8], 0.0))), "this slice of `t` starts at -8 in dimension 1"
    ),
    "a scalar parameter": (lambda: kernel("copy", [A, B, Var("n", INT32)], *COPY), "parameter `n` of `copy` is a scalar"),
    "a 64-bit parameter": (
        lambda: kernel("copy", [A, B, Buffer("c", (4,), "int64")], *COPY), "parameter `c` is of type int64, which the engines do not have"
    ),
    "device memory": (
        lambda: with_statement(Alloc(Buffer("s", (4,)), span=HERE)),
        "the buffer `s` is in global memory, which kernels cannot",
    ),
    "a scalar variable": (
        lambda: with_statement(Alloc(Buffer("s", (1,), "int32", scope="local", is_scalar=True), span=HERE)),
        "the scalar `s` is in local memory",
    ),
    "no output": (lambda: kernel("copy", [A, B], T, nki.load(T, A)), "kernel `copy` writes none of its parameters"),
    "in and out": (
        lambda: kernel("copy", [A], T, nki.load(T, A), nki.store(A, T)), "parameter `a` is both read and written"
    ),
    "num_inputs too large": (lambda: kernel("copy", [A, B], *COPY, num_inputs=2), "`b` is written, but num_inputs=2 makes it an input"),
    "num_inputs too small": (
        lambda: kernel("copy", [A, B], *COPY, num_inputs=0),
        "`a` is never written, but num_inputs=0 makes it an output",
    ),
    "num_inputs out of range": (lambda: kernel("copy", [A, B], *COPY, num_inputs=3), "num_inputs is 3; `copy` has 2 parameters"),
    "SBUF is full": (
        lambda: with_statement(held(sbuf("big", 128, 50_000), sbuf("more", 128, 10_000))),
        "`more` brings SBUF to 240,000 bytes per partition, of which there are 212,984",
    ),
    "PSUM is full": (lambda: with_statement(held(*(psum(f"p{n}", 5, 128, 512) for n in range(2)))), "`p1` brings PSUM to 20,480 bytes"),
    "accumulation onto memset": (
        lambda: with_statement(block(PRODUCT, nki.memset(PRODUCT, 0.0), nki.matmul(PRODUCT, T, T))),
        "nki.matmul accumulates onto `product`, which nki.memset writes too",
    ),
    "a product in two banks": (
        lambda: with_statement(block(RIGHT, TWO_BANKS, nki.memset(RIGHT, 0.0), nki.matmul(TWO_BANKS, T, RIGHT))),
        "`res` of nki.matmul lies in 2 PSUM banks; NeuronCore-v3 writes one bank at a time",
    ),
    "a bfloat16 sum": (
        lambda: with_statement(block(NARROW, nki.matmul(NARROW, T, T))),
        "`res` of nki.matmul is of type bfloat16; NeuronCore-v3 sums up in float32",
    ),
    "a type of a later generation": (
        lambda: with_statement(block(LATE, nki.memset(LATE, 0.0))), "`late` is of type float8_e4m3fn of NeuronCore-v4 and newer"
    ),
    "an operation of a later generation": (
        lambda: with_statement(nki.tensortensor(T, T, U, "abs_max")), "abs_max is an operation of NeuronCore-v4 and newer"
    ),
    "the scalar engine subtracts": (
        lambda: with_statement(nki.tensorscalar(T, T, 1.0, "sub", engine="scalar")), "the scalar engine does not do sub"
    ),
    "an address beyond the end": (
        lambda: with_statement(held(sbuf("far", 128, 100, allocated_addr=(212_900,)))),
        "`far` takes bytes 212,900 to 213,299 of a partition of SBUF, which has 212,984",
    ),
    "a wide product": (
        lambda: with_statement(nki.matmul(psum("q", 2, 64, 300), T, sbuf("m", 128, 600))),
        "`rhs` of nki.matmul has 600 elements per partition; NeuronCore-v3 takes 512",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    make, message = CASES[name]
    found = problems(make())
    assert any(message in str(item) for item in found), [str(item) for item in found]


@pytest.mark.parametrize("given", [1, None])
def test_num_inputs_may_be_given_or_left_out(given: int | None) -> None:
    func = kernel("copy", [A, B], *COPY, **({"num_inputs": given} if given is not None else {}))
    assert problems(func) == []
    assert "def copy_kernel(a):" in source_of(func)


def test_replacing_what_was_set_is_fine() -> None:
    items = block(PRODUCT, nki.memset(PRODUCT, 0.0), nki.matmul(PRODUCT, T, T, False))
    assert problems(with_statement(items)) == []


def test_tiles_of_a_finished_loop_leave_their_room() -> None:
    big = [loop(index("i"), 2, held(sbuf(f"big{n}", 128, 50_000))) for n in range(2)]
    assert problems(with_statement(block(*big))) == []


def test_an_overflow_shows_who_holds_what() -> None:
    big, small = sbuf("big", 128, 50_000), sbuf("small", 128, 10_000)

    def at(line: int, tile: Buffer) -> Stmt:
        made = nki.memset(tile, 0.0)
        made.span = Span("kernel.py", line, 1)
        return Evaluate(made)

    func = with_statement(block(big, small, at(3, big), at(4, small), at(5, big)))
    (found,) = problems(func)
    assert found.notes[:1] == (
        "SBUF there, bytes per partition:\n  big     200,000   needed in lines 3 to 5\n  small    40,000   needed in lines 4 to 4",
    )


def test_a_tile_from_outside_is_needed_through_the_whole_loop() -> None:
    first, second = sbuf("first", 128, 30_000), sbuf("second", 128, 30_000)
    one_after_the_other = block(first, second, nki.memset(first, 0.0), nki.memset(second, 0.0))
    assert problems(with_statement(one_after_the_other)) == []
    in_turns = block(first, second, loop(I, 2, nki.memset(first, 0.0), nki.memset(second, 0.0)))
    assert "brings SBUF to 240,000 bytes" in str(problems(with_statement(in_turns))[0])


@pytest.mark.parametrize("name", ["range_select", "copy on the scalar engine"])
def test_what_v2_lacks(name: str) -> None:
    bound = sbuf("bound", 128, 1)
    calls = {
        "range_select": lambda: nki.range_select(T, T, "greater_equal", "less", bound, bound),
        "copy on the scalar engine": lambda: nki.tensor_copy(T, U, engine="scalar"),
    }
    func = with_statement(block(bound, nki.memset(bound, 0.0), U, calls[name]()))
    assert problems(func) == []
    assert "v2" in str(problems(func, "trn -generation=v2")[0])


def test_a_call_of_a_scalar_function_is_refused() -> None:
    from tirx.intrinsic.core.math import exp

    found = problems(with_statement(Evaluate(exp(const(1.0, FLOAT32)))))
    assert [item.message for item in found] == [
        "`exp` works on single values, which a NeuronCore's kernel does not have"
    ]


def test_a_computed_bias_is_refused_on_v2() -> None:
    func = with_statement(loop(I, 4, nki.activation(T, T, "exp", cast(I, "float32"))))
    assert problems(func) == []
    assert "the bias of nki.activation is computed from loop variables" in str(problems(func, "trn -generation=v2")[0])


@pytest.mark.parametrize(
    ("predicate", "message"),
    [
        (lambda: (nki.index(0) >= 1) & (nki.index(1) >= 1), "is not one comparison"),
        (lambda: nki.index(0) * nki.index(1) >= 1, "multiplies indices with each other"),
        (lambda: nki.index(0) * nki.index(0) >= 1, "is not linear in index(0)"),
        (lambda: nki.index(2) >= 1, "an index of nki.affine_select is outside the 2 dimensions"),
    ],
)
def test_a_predicate_is_one_linear_comparison(predicate: Callable[[], object], message: str) -> None:
    with pytest.raises(VerifyError) as caught:
        source_of(with_statement(nki.affine_select(T, predicate(), T, 0.0)))
    assert message in caught.value.message


def test_what_may_be_inside_is_left_to_the_simulator() -> None:
    """Below a condition, in loops of unknown length, for sums that are no multiples of loop variables."""
    n, j = Var("n", INT32), index("j")
    guarded = loop(I, 9, If(I < 2, block(nki.memset(T[:, I * 32 : I * 32 + 32], 0.0))))
    unknown = loop(j, n, nki.memset(T[:, j * 32 : j * 32 + 32], 0.0))
    folded = loop(I, 9, nki.memset(T[:, I % 2 * 32 : I % 2 * 32 + 32], 0.0))
    for item in (guarded, unknown, folded, loop(I, 0, nki.memset(T[:, 60:70], 0.0))):
        assert problems(with_statement(item)) == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("an element store", "NKI Language Guide"), ("a scalar parameter", "NKI Language Guide"),
        ("a 64-bit parameter", "nki.language, supported data types"), ("a while loop", "NKI Language Guide"),
    ],
)  # fmt: skip
def test_a_rule_says_where_it_stands(name: str, source: str) -> None:
    make, message = CASES[name]
    found = next(item for item in problems(make()) if message in str(item))
    assert found.notes == (f"rule: AWS Neuron documentation, {source}",)


def test_sizes_of_the_hardware_say_where_they_stand() -> None:
    for tile in (sbuf("big", 129, 4), psum("acc", 9, 128, 512), psum("acc", 1, 128, 513)):
        with pytest.raises(LayoutError) as caught:
            nki.memset(tile, 0.0)
        assert caught.value.diagnostics[0].notes == (
            "rule: AWS Neuron documentation, architecture guide of the NeuronCore",
        )
