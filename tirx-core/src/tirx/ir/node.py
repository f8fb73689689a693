"""How IR nodes are declared: fields once, everything else derived.

    class Add(Arith):
        a: Expr
        b: Expr

A node class lists its fields as annotations. The metaclass reads them and generates slots, an `__init__`, the child
list and `rebuild`; equality, hashing, rewriting and printing work from the same list. Annotations decide what a field is:

* `Expr`, `Stmt`, `... | None`, `tuple[Expr, ...]`, `tuple[Stmt, ...]`: children, visited and rewritten;
* `Var`, `Buffer`, `tuple[Var, ...]`: definitions or references, compared through the binding map;
* everything else: plain attributes.

`_dtype` is the source of the expression's type, compiled into `__init__`; `_slots` names further slots.

A class attribute `_not_compared` names fields that structural equality ignores. Nodes are immutable by convention (and lint).
"""

from __future__ import annotations

from collections.abc import Callable

from ..support.span import Span
from .dtype import BOOL, HANDLE

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any, ClassVar, Literal, TypeVar

    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[Any], Any]:
        return lambda cls: cls


__all__ = ["Field", "Node", "NodeType", "derived", "keyword"]

if TYPE_CHECKING:
    T = TypeVar("T", bound="Node")

_CHILD = {"Expr", "Stmt", "Expr | None", "Stmt | None"}
_CHILDREN = {"tuple[Expr, ...]", "tuple[Stmt, ...]", "tuple[Expr, ...] | None"}
_REFERENCE = {"Var", "Buffer", "Buffer | None", "tuple[Var, ...]"}


class Field:
    """One declared field: `name`, `role` (`child children reference attribute`), whether equality looks at it."""

    __slots__ = ("compared", "name", "optional", "role")

    def __init__(self, name: str, annotation: str, compared: bool) -> None:
        self.name = name
        self.compared = compared
        self.optional = annotation.endswith("| None")
        self.role = "attribute"
        for role, known in (("child", _CHILD), ("children", _CHILDREN), ("reference", _REFERENCE)):
            if annotation in known:
                self.role = role


def derived(*, init: Literal[False] = False) -> Any:
    """Marks an annotation as a slot that `__init__` computes; it is no field."""
    return _HIDDEN


def keyword(*, default: Any = None, kw_only: bool = True) -> Any:
    """Marks the slot for the span, which every constructor takes as a keyword; it is no field."""
    return _HIDDEN


_HIDDEN = object()


@dataclass_transform(eq_default=False, field_specifiers=(derived, keyword))
class NodeType(type):
    """Metaclass of IR nodes: turns annotations into slots, `__init__` and the field list."""

    _next_bit = 0
    _inits: ClassVar[dict[tuple[object, ...], Callable[..., Any]]] = {}

    def __new__(mcls, name: str, bases: tuple[type, ...], space: dict[str, Any], **options: Any) -> Any:
        """A node class from its annotations."""
        own = {k: v for k, v in space.get("__annotations__", {}).items() if not v.startswith("ClassVar")}
        values = {k: space.pop(k) for k in own if k in space}
        hidden = {k for k, v in values.items() if v is _HIDDEN}
        taken = {slot for base in bases for kind in base.__mro__ for slot in getattr(kind, "__slots__", ())}
        space["__slots__"] = tuple(k for k in own if k not in taken) + space.get("_slots", ())
        cls: Any = super().__new__(mcls, name, bases, space)
        inherited = next((base.FIELDS for base in bases if hasattr(base, "FIELDS")), ())
        ignored = space.get("_not_compared", ())
        cls.FIELDS = inherited + tuple(Field(k, v, k not in ignored) for k, v in own.items() if k not in hidden)
        inherited_defaults: dict[str, Any] = next((base._defaults for base in bases if hasattr(base, "_defaults")), {})
        cls._defaults = {**inherited_defaults, **{k: v for k, v in values.items() if k not in hidden}}
        cls.BIT = 1 << NodeType._next_bit
        NodeType._next_bit += 1
        if "__init__" not in space and not options.get("abstract"):
            cls.__init__ = mcls._make_init(cls)
        if any(field.role in ("child", "children") for field in cls.FIELDS):
            cls.children = _compile_children(cls.FIELDS)
        return cls

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any], **options: Any) -> None:
        super().__init__(name, bases, space)

    def _make_init(cls: Any) -> Callable[..., None]:
        infer = getattr(cls, "_dtype", None)
        key = (tuple((f.name, f.role, f.optional) for f in cls.FIELDS), tuple(cls._defaults), infer)
        if key not in NodeType._inits:
            NodeType._inits[key] = _compile_init(cls.FIELDS, cls._defaults, infer)
        init: Callable[..., None] = NodeType._inits[key](cls.BIT, cls._defaults)
        return init


def _compile_init(fields: tuple[Field, ...], defaults: dict[str, Any], infer: str | None) -> Callable[..., Any]:
    """Source of `__init__`: store each field, and the union of the children's kind masks."""
    names = [f"{f.name}=_defaults[{f.name!r}]" if f.name in defaults else f.name for f in fields]
    body = [f"self.{f.name} = {f.name}" for f in fields]
    mask = ["_bit"]
    for f in fields:
        if f.role == "child":
            mask.append(f"(0 if {f.name} is None else {f.name}.mask)" if f.optional else f"{f.name}.mask")
        elif f.role == "children":
            body.append(f"_m_{f.name} = 0")
            body.append(f"for _c in {f.name}{' or ()' if f.optional else ''}: _m_{f.name} |= _c.mask")
            mask.append(f"_m_{f.name}")
    body.append(f"self.mask = {' | '.join(mask)}")
    if infer is not None:
        body.append(f"self.dtype = {infer}")
    lines = [
        "def make(_bit, _defaults):",
        f"    def __init__(self, {', '.join([*names, '*, span=None'])}):",
        "        self.span = span",
        *(f"        {line}" for line in body),
        "    return __init__",
    ]
    space: dict[str, Any] = {"_BOOL": BOOL, "_HANDLE": HANDLE}
    exec("\n".join(lines), space)  # noqa: S102 - one small function per shape of node, shared by all classes of that shape
    make: Callable[..., Any] = space["make"]
    return make


_children: dict[str, Callable[..., Any]] = {}


def _compile_children(fields: tuple[Field, ...]) -> Callable[..., Any]:
    """The direct children as a tuple: most of what a pass does is asking for them."""
    parts: list[str] = []
    for f in fields:
        if f.role == "child":
            parts.append(
                f"*((self.{f.name},) if self.{f.name} is not None else ())" if f.optional else f"self.{f.name}"
            )
        elif f.role == "children":
            parts.append(f"*(self.{f.name} or ())" if f.optional else f"*self.{f.name}")
    lone = next((f.name for f in fields if f.role == "children" and not f.optional), None)
    source = f"self.{lone}" if lone is not None and len(parts) == 1 else f"({', '.join(parts)},)"
    if source not in _children:
        _children[source] = eval(f"lambda self: {source}")  # noqa: S307  # made from our own field names
    return _children[source]


def _compile_with_children(fields: tuple[Field, ...]) -> Callable[..., Any]:
    """A constructor call with children taken from a tuple, everything else from the node."""
    lines = ["def with_children(self, new):", "    i = 0"]
    for f in fields:
        if f.role == "child":
            missing = f"if self.{f.name} is None: {f.name} = None" if f.optional else "if False: pass"
            lines += [f"    {missing}", f"    else: {f.name} = new[i]; i += 1"]
        elif f.role == "children":
            lines += [f"    n = len(self.{f.name} or ())", f"    {f.name} = new[i : i + n]; i += n"]
            if f.optional:
                lines.append(f"    if self.{f.name} is None: {f.name} = None")
    values = [f.name if f.role in ("child", "children") else f"self.{f.name}" for f in fields]
    lines.append(f"    return type(self)({', '.join([*values, 'span=self.span'])})")
    space: dict[str, Any] = {"__name__": __name__}  # it says whose it is, to who watches over core's names
    exec("\n".join(lines), space)  # noqa: S102 - made from our own field names
    made: Callable[..., Any] = space["with_children"]
    return made


class Node(metaclass=NodeType, abstract=True):
    """Base of expressions and statements. `span` is where the author wrote it; `mask` the kinds at and below it."""

    span: Span | None = keyword(default=None, kw_only=True)
    mask: int = derived()

    FIELDS: ClassVar[tuple[Field, ...]]
    BIT: ClassVar[int]
    _defaults: ClassVar[dict[str, Any]]

    def children(self) -> tuple[Node, ...]:
        """Direct children in field order. Each class has its own, compiled from its fields."""
        return ()

    def with_children(self: T, new: tuple[Node, ...]) -> T:
        """The same node with other children, in the order of `children()`; span kept."""
        cls: Any = type(self)
        cls.with_children = _compile_with_children(cls.FIELDS)  # each class has its own from the first need on
        made: T = cls.with_children(self, new)
        return made

    def rebuild(self: T, **changes: Any) -> T:
        """The same node with some fields replaced; span kept; `self` when nothing differs."""
        if all(getattr(self, name) is value for name, value in changes.items()):
            return self
        values = {field.name: getattr(self, field.name) for field in self.FIELDS}
        values.update(changes)
        return type(self)(**values, span=self.span)

    def has(self, *kinds: NodeType) -> bool:
        """Whether a node of one of `kinds` is at or below this one."""
        return any(self.mask & kind.BIT for kind in kinds)  # type: ignore[attr-defined]

    def script(self) -> str:
        """Text that the parser reads back."""
        from .context import script_of  # the printer lives above

        return script_of(self)

    def __repr__(self) -> str:
        inner = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in self.FIELDS if field.compared)
        return f"{type(self).__name__}({inner})"
