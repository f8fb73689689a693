"""Targets: what can be written, what comes of it, and what is said about mistakes."""

from __future__ import annotations

import pickle
import shlex

import pytest

from tirx.ir import dtype_names
from tirx.support.errors import TargetError
from tirx.target import Attribute, Target, TargetKind, TargetTag, as_target, no_target
from tirx.target import target as target_module
from tirx.target.attributes import converted, text_of
from tirx.target.generic import GENERIC


@pytest.mark.parametrize(
    "spec",
    [
        "generic -width=64",
        "generic --width=64",
        {"kind": "generic", "width": 64},
        {"kind": "generic", "width": "64"},
        Target("generic", width=64),
        Target("generic -width=64"),
    ],
)
def test_forms(spec: object) -> None:
    target = Target(spec)  # type: ignore[arg-type]
    assert target.kind is GENERIC
    assert target["width"] == 64
    assert target == Target("generic", width=64)
    assert hash(target) == hash(Target("generic", width=64))


@pytest.mark.parametrize("text", ["generic", "generic -width=64", "generic -max_threads=512 -width=16"])
def test_text_reads_back(text: str) -> None:
    target = Target(text)
    assert str(target) == text
    assert Target(str(target)) == target
    assert pickle.loads(pickle.dumps(target)) == target


def test_dashes_and_underscores_are_the_same() -> None:
    assert Target("generic -max-threads=128") == Target({"kind": "generic", "max_threads": 128})


def test_keywords_override() -> None:
    assert Target("generic -width=64", width=16)["width"] == 16
    assert Target("generic").with_attributes(width=8)["width"] == 8


def test_current_target_is_that_of_the_innermost_block() -> None:
    outer, inner = Target("generic"), Target("generic", width=64)
    assert Target.current() is None
    with outer:
        with inner:
            assert Target.current() is inner
            with outer, no_target():
                assert Target.current() is None
        assert Target.current() is outer
    assert Target.current() is None
    with inner:
        assert as_target(None) is inner
        assert as_target("generic") == outer


@pytest.mark.parametrize(
    ("spec", "message", "hint"),
    [
        ("generik", "there is no target kind `generik`", "did you mean `generic`?"),
        ("no/such-board", "there is no target tag `no/such-board`", "no backend that is installed has tags of `no`"),
        ("generic -widht=3", "target kind `generic` has no attribute `widht`", "did you mean `width`?"),
        ("generic -colour=3", "target kind `generic` has no attribute `colour`",
         "it has max_threads, registers, shared_bytes, width"),
        ("generic -width=many", "attribute `width` of target kind `generic` is int, not 'many'", None),
        ("generic -width", "attribute `width` of target kind `generic` needs a value (int)", "write it -width=VALUE"),
        ({"kind": "generic", "width": True}, "attribute `width` of target kind `generic` is int, not True", None),
        ("generic -width=48", "attribute `width` of target kind `generic`: 48 is not a power of two", None),
        ("generic -max_threads=0", "attribute `max_threads` of target kind `generic`: 0 is not positive", None),
        ("generic width=3", "`width=3` in the target 'generic width=3' is no attribute", "write it -width=3"),
        ("-width=3", "the target '-width=3' does not start with a kind or a tag", 'e.g. "generic -width=64"'),
        ("", "the target '' does not start with a kind or a tag", 'e.g. "generic -width=64"'),
        ("generic -a='", "the target \"generic -a='\" cannot be read: No closing quotation", None),
        ({"width": 3}, 'a target needs a kind or a tag, e.g. {"kind": "generic"}', None),
        (3, "an int is no target", 'write a kind such as "generic", a tag, or a mapping with "kind"'),
    ],
)  # fmt: skip
def test_mistakes(spec: object, message: str, hint: str | None) -> None:
    with pytest.raises(TargetError) as error:
        Target(spec)  # type: ignore[arg-type]
    assert error.value.message == message
    assert error.value.hint == hint


def test_reading_an_attribute_that_the_kind_lacks() -> None:
    with pytest.raises(TargetError) as error:
        Target("generic")["arch"]
    assert error.value.message == "target kind `generic` has no attribute `arch`"


def test_no_target_at_all() -> None:
    with pytest.raises(TargetError) as error:
        as_target(None)
    assert error.value.message == "no target is given"


def test_a_tag_gives_attributes_that_can_be_overridden(monkeypatch: pytest.MonkeyPatch) -> None:
    tag = TargetTag("board/small", "generic", {"width": 16, "max_threads": 64}, source="made up")
    monkeypatch.setattr(target_module, "_tag", lambda name: tag)
    found = Target("board/small -width=32")
    assert (found["width"], found["max_threads"], found.tag) == (32, 64, "board/small")
    assert str(found) == "board/small -width=32"
    assert Target(str(found)) == found
    assert Target(found)["max_threads"] == 64
    assert Target({"tag": "board/small"})["width"] == 16


def test_complete_derives_attributes(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = TargetKind(
        "toy",
        doc="a toy",
        attributes={"size": Attribute(int, 2), "area": Attribute(int)},
        scope_model=GENERIC.scope_model,
        capabilities=GENERIC.capabilities,
        limits=GENERIC.limits,
        complete=lambda attrs: {**attrs, "area": attrs["size"] ** 2},
    )
    monkeypatch.setattr(target_module, "_kind", lambda name: kind)
    assert Target("toy -size=3").attrs == {"size": 3, "area": 9}
    assert Target("toy").attrs == {"size": 2, "area": 4}


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [(bool, "true", True), (bool, "0", False), (int, "0x10", 16), (float, "1.5", 1.5), (str, "a b", "a b"),
     (tuple, "x,y", ("x", "y"))],
)  # fmt: skip
def test_values_from_text_and_back(kind: type, text: str, value: object) -> None:
    attribute = Attribute(kind)
    assert converted("toy", "it", attribute, text) == value
    (word,) = shlex.split(text_of(value))
    assert converted("toy", "it", attribute, word) == value


def test_generic_has_limits_and_capabilities() -> None:
    target = Target("generic", max_threads=256, shared_bytes=1024)
    assert target.limits["threads_per_cta"] == 256
    assert target.limits["shared_bytes"] == 1024
    assert target.capabilities.dtypes == frozenset(dtype_names())
    assert "barriers" in target.capabilities.constructs
    assert target.capabilities.arithmetic == target.capabilities.dtypes


def test_kinds_are_listed() -> None:
    assert "generic" in Target.list_kinds()


def test_a_tag_that_is_spelled_wrong_names_the_nearest_of_its_vendor(monkeypatch: pytest.MonkeyPatch) -> None:
    class Snapshot:
        def rows(self, kind: str) -> dict[str, None]:
            return dict.fromkeys(["board/small", "board/large", "other/small"])

    monkeypatch.setattr(target_module, "registry", Snapshot)
    monkeypatch.setattr(target_module, "find", lambda kind, name: None)
    for name, hint in [
        ("board/smal", "did you mean `board/small` or `board/large`?"),
        ("board/xyzzy", "there are 2 tags of board, such as board/small"),
    ]:
        with pytest.raises(TargetError) as error:
            Target(name)
        assert error.value.hint == hint
