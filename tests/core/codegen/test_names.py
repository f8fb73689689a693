"""Names: the author's where they are free and legal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tirx.codegen.names import Names, identifier


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("x", "x"),
        ("größe", "grou00dfe"),
        ("\u03b1", "u03b1"),
        ("café", "cafe"),
        ("名前", "u540du524d"),
        ("a-b", "a_b"),
        ("1x", "_1x"),
        ("", "_"),
    ],
)
def test_identifier(given_: str, expected: str) -> None:
    assert identifier(given_) == expected


@given(st.text())
def test_identifiers_are_ascii_identifiers(name: str) -> None:
    found = identifier(name)
    assert found.isascii()
    assert found.isidentifier()


def test_reserved_and_taken_names() -> None:
    names = Names({"half"})
    assert [names.take(hint) for hint in ("half", "half", "i", "i", "__x")] == ["half_", "half_1", "i", "i_1", "x_"]


def test_names_of_closed_scopes_are_free_again() -> None:
    names = Names()
    with names.scope():
        assert names.take("i") == "i"
        with names.scope():
            assert names.take("i") == "i_1"
    assert names.take("i") == "i"


def test_an_owner_keeps_its_name() -> None:
    names, owner = Names(), object()
    assert names.find(owner) is None
    assert names.of(owner, "x") == names.of(owner, "y") == "x"
