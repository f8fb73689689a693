"""Where two programs differ first, in words."""

from __future__ import annotations

from typing import Any

from ..ir import Buffer, Call, Expr, IRModule, Node, PrimFunc, Stmt, Var
from ..script.printer import to_script

__all__ = ["first_difference"]


def first_difference(a: Any, b: Any) -> str:
    """The first place where `a` and `b` differ, in the order of the text."""
    found = _Difference().find(a, b, "")
    return found or "no difference of shape; variables are matched differently"


class _Difference:
    """Walks both at once and remembers which variables and buffers belong together."""

    def __init__(self) -> None:
        self.pairs: dict[int, Any] = {}

    def find(self, a: Any, b: Any, path: str) -> str | None:
        """The first difference at or below `path`."""
        if type(a) is not type(b):
            return f"{path}: {_short(a)} and {_short(b)}"
        if isinstance(a, Var | Buffer):
            return self._reference(a, b, path)
        if isinstance(a, Node):
            return self._node(a, b, path)
        if isinstance(a, tuple | list):
            if len(a) != len(b):
                return f"{path}: {len(a)} items and {len(b)}: {_short(a)} and {_short(b)}"
            return self._first((x, y, f"{path}[{i}]") for i, (x, y) in enumerate(zip(a, b, strict=True)))
        if isinstance(a, dict):
            if a.keys() != b.keys():
                return f"{path}: keys {sorted(a)} and {sorted(b)}"
            return self._first((a[key], b[key], f"{path}[{key!r}]") for key in a)
        if isinstance(a, PrimFunc):
            parts = ("name", "result", "attrs", "params", "body")
            return self._first((getattr(a, name), getattr(b, name), f"{path}.{name}") for name in parts)
        if isinstance(a, IRModule):
            return self._first([(a.attrs, b.attrs, f"{path}.attrs"), (a.functions, b.functions, path)])
        return None if a == b or repr(a) == repr(b) else f"{path}: {a!r} and {b!r}"

    def _first(self, triples: Any) -> str | None:
        for a, b, path in triples:
            found = self.find(a, b, path)
            if found is not None:
                return found
        return None

    def _reference(self, a: Any, b: Any, path: str) -> str | None:
        known = self.pairs.setdefault(id(a), b)
        if known is not b:
            return f"{path}: `{a.name}` stands for `{known.name}` before and for `{b.name}` here"
        if str(a.dtype) != str(b.dtype):
            return f"{path}: `{a.name}` is {a.dtype} and {b.dtype}"
        if isinstance(a, Buffer) and repr(a).replace(a.name, "") != repr(b).replace(b.name, ""):
            return f"{path}: {a!r} and {b!r}"
        return None

    def _node(self, a: Node, b: Node, path: str) -> str | None:
        if isinstance(a, Call) and a.op.name != b.op.name:  # type: ignore[attr-defined]  # of one type
            return f"{path}: {_short(a)} and {_short(b)}"
        fields = [field.name for field in a.FIELDS if field.compared and field.name != "op"]
        return self._first((getattr(a, name), getattr(b, name), f"{path}.{type(a).__name__}.{name}") for name in fields)


def _short(value: Any) -> str:
    text = to_script(value) if isinstance(value, Expr | Stmt) else repr(value)
    return text if len(text) < 200 else text[:197] + "..."
