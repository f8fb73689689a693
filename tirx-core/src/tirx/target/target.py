"""A target: one kind with values for its attributes.

    Target("generic")
    Target("generic -width=64")
    Target({"kind": "generic", "width": 64})
    with Target("generic"):
        ...                       # Target.current() is that target here

Names load just the backend that offers them. `str(target)` can be read back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from types import MappingProxyType

from ..backend import find, hint_for, names, registry
from ..intrinsic import guard_calls
from ..support.elsewhere import advice
from ..support.errors import TargetError
from ..support.late import late
from ..support.suggest import did_you_mean, nearest
from ..support.words import an
from .attributes import BARE, converted, split_words, text_of
from .kind import Capabilities, TargetKind, TargetTag
from .scope_model import ScopeModel

__all__ = ["Target", "as_target", "current_scopes", "no_target"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

_current: ContextVar[tuple[Target, ...]] = ContextVar("tirx_target", default=())


class Target:
    """One kind with values for its attributes.

    `spec` is a kind (`"generic"`), a tag (`"vendor/board"`), either followed by `-attribute=value` words, a mapping
    with `kind` or `tag`, or another target; keywords override. `given` are the attributes that were set explicitly.
    """

    __slots__ = ("_capabilities", "_limits", "_undo", "attrs", "given", "kind", "tag")

    def __init__(self, spec: str | Mapping[str, Any] | Target, **attributes: Any) -> None:
        head, tag, given = _read(spec)
        given.update({_key(name): value for name, value in attributes.items()})
        self.tag: str | None = tag.name if tag is not None else None
        self.kind: TargetKind = head
        self.given: Mapping[str, Any] = MappingProxyType(_checked(head, given))
        base = _checked(head, dict(tag.attributes)) if tag is not None else {}
        self.attrs: Mapping[str, Any] = MappingProxyType(_complete(head, {**base, **self.given}))
        self._capabilities: Capabilities | None = None
        self._limits: Mapping[str, int] | None = None
        self._undo: list[Callable[[], None]] = []

    def __getitem__(self, name: str) -> Any:
        """The value of an attribute; None where it has none."""
        if name not in self.kind.attributes and name not in self.attrs:
            _unknown_attribute(self.kind, name)
        return self.attrs.get(name)

    def scope_model(self, attrs: Mapping[str, Any] | None = None) -> ScopeModel:
        """The levels of cooperation, for a function with these attributes."""
        return self.kind.scope_model(self, attrs or {})

    @property
    def capabilities(self) -> Capabilities:
        """What it can run."""
        if self._capabilities is None:
            self._capabilities = self.kind.capabilities(self)
        return self._capabilities

    @property
    def limits(self) -> Mapping[str, int]:
        """Named figures that verification reads."""
        if self._limits is None:
            self._limits = self.kind.limits(self)
        return self._limits

    def with_attributes(self, **attributes: Any) -> Target:
        """The same target with some attributes changed."""
        return Target(self, **attributes)

    @staticmethod
    def current() -> Target | None:
        """The target of the innermost `with target:`, or None."""
        stack = _current.get()
        return stack[-1] if stack else None

    @staticmethod
    def list_kinds() -> list[str]:
        """Names of all kinds that are loaded or that an installed distribution promises."""
        return sorted(names("target_kinds"))

    def __enter__(self) -> Target:
        token = _current.set((*_current.get(), self))
        unguard = guard_calls(lambda made: late("refuse_call")(made, self))
        self._undo += [unguard, lambda: _current.reset(token)]
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.pop()()
        self._undo.pop()()

    def __str__(self) -> str:
        head = self.tag or self.kind.name
        return " ".join([head, *(f"-{name}={text_of(value)}" for name, value in sorted(self.given.items()))])

    def __repr__(self) -> str:
        return f"Target({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Target) and self.kind.name == other.kind.name and self.attrs == other.attrs

    def __hash__(self) -> int:
        return hash((self.kind.name, repr(sorted(self.attrs.items()))))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Target, (str(self),))


def as_target(value: str | Mapping[str, Any] | Target | None) -> Target:
    """`value` as a target; None means the current one, and an error when there is none."""
    if isinstance(value, Target):
        return value
    if value is not None:
        return Target(value)
    current = Target.current()
    if current is None:
        raise TargetError(
            "no target is given", hint='pass one (target="generic"), or write `with Target("generic"):` around the call'
        )
    return current


def current_scopes() -> ScopeModel | None:
    """The levels of the current target, or None without one: what a layout joins its axes by."""
    current = Target.current()
    return None if current is None else current.scope_model()


class no_target:  # noqa: N801  # used as `with no_target():`
    """Hide the current target, for code that must not depend on it."""

    def __enter__(self) -> None:
        self._token = _current.set(())

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)


def _read(spec: str | Mapping[str, Any] | Target) -> tuple[TargetKind, TargetTag | None, dict[str, Any]]:
    """Kind, tag and explicit attributes."""
    if isinstance(spec, Target):
        tag = _tag(spec.tag) if spec.tag is not None else None
        return spec.kind, tag, dict(spec.given)
    if isinstance(spec, str):
        head, given = _words(spec)
    elif isinstance(spec, Mapping):
        given = {_key(str(name)): value for name, value in spec.items()}
        head = given.pop("tag", None) or given.pop("kind", None)
        given.pop("kind", None)
        if not isinstance(head, str):
            raise TargetError('a target needs a kind or a tag, e.g. {"kind": "generic"}')
    else:
        raise TargetError(
            f"{an(type(spec).__name__)} is no target",
            hint='write a kind such as "generic", a tag, or a mapping with "kind"',
        )
    if "/" in head:
        tag = _tag(head)
        return _kind(tag.kind), tag, given
    return _kind(head), None, given


def _words(text: str) -> tuple[str, dict[str, Any]]:
    """`"kind -a=1 -flag -b 2"` as head and attributes."""
    words = split_words(text)
    if not words or words[0].startswith("-"):
        raise TargetError(f"the target {text!r} does not start with a kind or a tag", hint='e.g. "generic -width=64"')
    given: dict[str, Any] = {}
    rest = iter(words[1:])
    for word in rest:
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("-") or not name:
            raise TargetError(f"`{word}` in the target {text!r} is no attribute", hint=_attribute_hint(word, given))
        given[_key(name)] = value if equals else BARE
    return words[0], given


def _attribute_hint(word: str, given: dict[str, Any]) -> str:
    """How to write a word that stands after the kind: `arch=1`, or `-arch 1`."""
    name, equals, _ = word.partition("=")
    if equals:
        return f"write it -{word}"
    before = next(reversed(given), None)
    return f"write it -{before}={word}" if before is not None and given[before] is BARE else f"write it -{name}=value"


def _key(name: str) -> str:
    return name.replace("-", "_")


def _kind(name: str) -> TargetKind:
    row: TargetKind | None = find("target_kinds", name)
    if row is None:
        raise TargetError(f"there is no target kind `{name}`", hint=_kind_hint(name))
    return row


def _kind_hint(name: str) -> str:
    """Who offers the kind, a tag that is meant, what it is called here, or what there is."""
    offered = hint_for("target_kinds", name, alike=False)
    if offered is not None:
        return offered
    tags = [tag for tag in registry().rows("target_tags") if name.lower() in tag.partition("/")[2].split("-")]
    if tags:
        return f"a product is named with its vendor: {' or '.join(f'`{tag}`' for tag in tags[:3])}"
    kinds = f"there are {', '.join(Target.list_kinds())}; `tirx targets {name}` searches products"
    return advice("target", name.lower()) or hint_for("target_kinds", name) or kinds


def _tag(name: str) -> TargetTag:
    row: TargetTag | None = find("target_tags", name)
    if row is None:
        raise TargetError(f"there is no target tag `{name}`", hint=_tag_hint(name))
    return row


def _tag_hint(name: str) -> str:
    """A near tag of the same vendor where its backend is loaded, else who offers such tags."""
    vendor = name.partition("/")[0]
    known = [tag for tag in registry().rows("target_tags") if tag.partition("/")[0] == vendor]
    if not known:
        return hint_for("target_tags", name) or f"no backend that is installed has tags of `{vendor}`"
    part = name.partition("/")[2].lower()
    within = sorted((tag for tag in known if part in tag), key=len)[:3]
    found = list(dict.fromkeys([*within, *nearest(name, known)]))[:3]
    if found:
        return f"did you mean {' or '.join(f'`{tag}`' for tag in found)}?"
    return f"there are {len(known)} tags of {vendor}, such as {known[0]}"


def _checked(kind: TargetKind, given: dict[str, Any]) -> dict[str, Any]:
    """Attributes converted to their declared types."""
    for name in given:
        if name not in kind.attributes:
            _unknown_attribute(kind, name)
    return {name: converted(kind.name, name, kind.attributes[name], value) for name, value in given.items()}


def _complete(kind: TargetKind, given: dict[str, Any]) -> dict[str, Any]:
    defaults = {name: item.default for name, item in kind.attributes.items() if item.default is not None}
    full = {**defaults, **given}
    return kind.complete(full) if kind.complete is not None else full


def _unknown_attribute(kind: TargetKind, name: str) -> NoReturn:
    known = sorted(kind.attributes)
    hint = did_you_mean(name, known) or (f"it has {', '.join(known)}" if known else "it has none")
    raise TargetError(f"target kind `{kind.name}` has no attribute `{name}`", hint=hint)
