"""Snapshots: immutable, complete, independent of the order of loading."""

from __future__ import annotations

import itertools

import pytest

from tests.core.backend.toy import KINDS, Kind, Variant
from tirx.backend import BackendError, Owner
from tirx.backend.rows import Contribution
from tirx.backend.snapshot import Registry

TABLE = {kind.name: kind for kind in KINDS}


def contribution(backend: str, **rows) -> Contribution:
    return Contribution(Owner(f"{backend}-dist", "1", backend), {kind: tuple(found) for kind, found in rows.items()})


def test_rows_and_their_owners():
    registry = Registry(TABLE).extended(contribution("a", kinds=[Kind("x")]))
    assert registry.rows("kinds")["x"].name == "x"
    assert registry.find("kinds", "y") is None
    assert registry.owner("kinds", "x") == Owner("a-dist", "1", "a")
    assert [owner.backend for owner in registry.owners()] == ["a"]
    with pytest.raises(KeyError):
        registry.owner("kinds", "y")


def test_a_snapshot_cannot_be_changed():
    registry = Registry(TABLE).extended(contribution("a", kinds=[Kind("x")]))
    with pytest.raises(TypeError):
        registry.rows("kinds")["y"] = Kind("y")
    with pytest.raises(TypeError):
        registry.kinds["y"] = None
    registry.extended(contribution("b", kinds=[Kind("y")]))
    assert list(registry.rows("kinds")) == ["x"]


def test_the_order_of_loading_does_not_show():
    parts = [
        contribution("core", kinds=[Kind("g")], variants=[Variant("v", 1)]),
        contribution("b", kinds=[Kind("y")], variants=[Variant("v", 2), Variant("a", 1)]),
        contribution("a", kinds=[Kind("x")], variants=[Variant("v", 1)]),
    ]
    seen = set()
    for order in itertools.permutations(parts):
        registry = Registry(TABLE)
        for part in order:
            registry = registry.extended(part)
            registry.entries("variants")
        seen.add(
            tuple((owner.backend, row.name) for kind in ("kinds", "variants") for row, owner in registry.entries(kind))
        )
    assert seen == {(("core", "g"), ("a", "x"), ("b", "y"), ("b", "v"), ("core", "v"), ("a", "v"), ("b", "a"))}


def test_several_rows_to_a_key_come_in_order():
    registry = Registry(TABLE).extended(contribution("a", variants=[Variant("v", 1), Variant("v", 9)]))
    assert [row.priority for row in registry.rows("variants")["v"]] == [9, 1]


def _tags(registry):
    return {tag: owner.distribution for tag, owner in registry.entries("tags")}


def test_what_is_derived_from_rows_is_made_once_for_each_snapshot():
    registry = Registry(TABLE).extended(contribution("a", tags=["t/1"]))
    assert registry.memo(_tags) == {"t/1": "a-dist"}
    assert registry.memo(_tags) is registry.memo(_tags)
    assert registry.extended(contribution("b", tags=["u"])).memo(_tags) == {"t/1": "a-dist", "u": "b-dist"}


def test_an_unknown_kind_names_the_nearest():
    with pytest.raises(KeyError, match="no row kind 'kind'; did you mean `kinds`"):
        Registry(TABLE).rows("kind")


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_two_owners_of_a_key_are_both_named(order):
    first, second = order
    registry = Registry(TABLE).extended(contribution(first, kinds=[Kind("x")]))
    with pytest.raises(BackendError) as caught:
        registry.extended(contribution(second, kinds=[Kind("x")]))
    assert caught.value.message == "two distributions give 'x' of kinds: a-dist 1 (backend a) and b-dist 1 (backend b)"


def test_rows_that_wait_for_enabling_collide_too():
    strict = TABLE | {
        "variants": type(KINDS[0])("variants", "h", doc="", key=lambda row: row.name, validate=print, opt_in=True)
    }
    registry = Registry(strict).extended(contribution("a.x", variants=[Variant("v")]))
    assert registry.entries("variants") == ()
    with pytest.raises(BackendError, match=r"a\.x-dist 1 .* and b\.x-dist 1"):
        registry.extended(contribution("b.x", variants=[Variant("v")]))


def test_owners_compare_and_print():
    owner = Owner("d", "1", "b")
    assert owner == Owner("d", "1", "b") != Owner("d", "2", "b")
    assert len({owner, Owner("d", "1", "b")}) == 1
    assert (str(owner), repr(owner)) == ("d 1", "Owner('d', '1', 'b')")
