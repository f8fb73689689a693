"""Long lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tirx.codegen.wrap import wrapped


def test_short_lines_and_directives_stay() -> None:
    assert wrapped("  a = b;") == ["  a = b;"]
    assert wrapped("#include <" + "x" * 200 + ">", 40) == ["#include <" + "x" * 200 + ">"]


def test_breaks_are_outside_parentheses_where_possible() -> None:
    assert wrapped("  total = f(a, b) + g(c, d, e) + h(x, y);", 32) == [
        "  total = f(a, b) + g(c, d, e) +",
        "      h(x, y);",
    ]


def test_strings_are_not_broken() -> None:
    line = 'printf("a + b, c + d, e + f, g + h", first, second);'
    assert wrapped(line, 44) == ['printf("a + b, c + d, e + f, g + h", first,', "    second);"]


def test_what_has_no_place_to_break_stays_long() -> None:
    assert wrapped("x" * 200, 40) == ["x" * 200]


@given(st.lists(st.sampled_from(["a", "f(b, c)", "+", ",", '"x + y"', "d[i + 1]"]), min_size=1, max_size=60))
def test_nothing_is_lost(words: list[str]) -> None:
    line = "  " + " ".join(words)
    assert " ".join(part.strip() for part in wrapped(line, 40)) == line.strip()


def test_the_loosest_operator_breaks() -> None:
    assert wrapped("total = aaaa * bbbb + cccc * dddd;", 28) == ["total = aaaa * bbbb +", "    cccc * dddd;"]
    assert wrapped("void f(const float* a, float* b) {", 30) == ["void f(const float* a,", "    float* b) {"]
