"""What emits code: lines, sets of active threads, scopes, and the names of variables in them.

A *level* is a set of active threads (the bucket, the threads of a branch); a *scope* is a loop body inside a level, out of
which pure index arithmetic is hoisted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ..arith.key import key_of
from ..ir import Buffer, BufferLoad, Call, DType, Expr, Let, Var, walk
from ..support.span import Span
from .pool import Pool

__all__ = ["Code", "Emitter", "Level", "Scope", "Val"]

Code = list[Any]


class Val:
    """Text of a value. `same` for all threads; `fresh`: a new array nobody else holds; `alias`: storage that may change."""

    __slots__ = ("alias", "fresh", "same", "text")

    def __init__(self, text: str, same: bool, *, fresh: bool = False, alias: bool = False) -> None:
        self.text = text
        self.same = same
        self.fresh = fresh
        self.alias = alias


class Level:
    """A set of active threads: positions `p` in the bucket, `q` in the level above; `names` of values inside it."""

    __slots__ = ("entry", "names", "number", "p", "parent", "q")

    def __init__(self, number: int, parent: Level | None, p: str, q: str) -> None:
        self.number = number
        self.parent = parent
        self.p = p
        self.q = q
        self.names: dict[Any, str] = {}
        self.entry: Code = []


class Scope:
    """A place for code inside a level; `cache` holds what was hoisted to it."""

    __slots__ = ("cache", "code", "depth", "level", "outer")

    def __init__(self, level: Level, outer: Scope | None) -> None:
        self.level = level
        self.outer = outer if outer is not None and outer.level is level else None
        self.depth: int = self.outer.depth + 1 if self.outer is not None else 0
        self.code: Code = []
        self.cache: dict[Any, str] = {}


class Emitter(ABC):
    """Emits code into the current scope."""

    def __init__(self, pool: Pool, block: int) -> None:
        self.pool = pool
        self.facts = pool.facts
        self.checks = pool.checks
        self.block = block
        self.prelude: Code = []
        self.level = Level(0, None, "ALL", "ALL")
        self.scope = Scope(self.level, None)
        self.temps = 0
        self.levels = 0
        self.same_names: dict[int, str] = {}
        self.var_scope: dict[int, Scope] = {}
        self.fetched: set[str] = set()
        self.spilled: Callable[[Var], Expr | None] = lambda var: None

    # ---- code -------------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """Append a line to the current scope."""
        self.scope.code.append(text)

    def temp(self, text: str, prefix: str = "x") -> str:
        """A new name for a value, computed here."""
        self.temps += 1
        name = f"{prefix}{self.temps}"
        self.line(f"{name} = {text}")
        return name

    def fetch(self, name: str, per_thread: bool = False) -> str:
        """`name` of the launch's state, read at the start of the block (and narrowed to the current level)."""
        if name not in self.fetched:
            self.fetched.add(name)
            self.prelude.append(f"{name} = S.{name}{'[tid]' if per_thread else ''}")
        return self.at_level(name, self.level) if per_thread else name

    def at_level(self, name: str, level: Level) -> str:
        """The name of a block-wide array inside `level`."""
        if level.parent is None:
            return name
        found = level.names.get(name)
        if found is None:
            outer = self.at_level(name, level.parent)
            found = level.names[name] = f"{name}__{level.number}"
            level.entry.append(f"{found} = {outer}[{level.q}]")
        return found

    def count(self) -> str:
        """Number of active threads."""
        return "n" if self.level.parent is None else f"count_of({self.level.p}, n)"

    def open_level(self, q: str) -> tuple[Level, Scope]:
        """Enter the set `q` of the current level; answers what `close_level` needs."""
        self.levels += 1
        outer = self.level, self.scope
        p = q if self.level.parent is None else f"p{self.levels}"
        level = Level(self.levels, self.level, p, q)
        if p != q:
            level.entry.append(f"{p} = pick({self.level.p}, {q})")
        self.level = level
        self.scope = Scope(level, None)
        return outer

    def close_level(self, outer: tuple[Level, Scope]) -> tuple[Code, Code]:
        """Leave a level: its entry code and its body, not yet placed."""
        parts = self.level.entry, self.scope.code
        self.level, self.scope = outer
        return parts

    def narrowed(self, condition: str, body: Callable[[], None]) -> None:
        """Run `body` for the active threads where `condition` holds."""
        q = self.temp(f"narrow({condition})", "q")
        outer = self.open_level(q)
        body()
        entry, code = self.close_level(outer)
        if code:
            self.line(f"if {q} is not None:")
            self.scope.code.append([*entry, *code])

    # ---- variables --------------------------------------------------------------------------------------------------

    def define(self, var: Var, same: bool) -> str:
        """The name under which `var` is defined here."""
        name = self.pool.name(var)
        self.var_scope[id(var)] = self.scope
        if same:
            self.same_names[id(var)] = name
        else:
            self.level.names[id(var)] = name
        return name

    def variable(self, var: Var) -> Val:
        """A variable read in the current level."""
        if id(var) not in self.facts.variant:
            return Val(self._same_variable(var), True)
        return Val(self._at(var, self.level), False)

    def _same_variable(self, var: Var) -> str:
        found = self.same_names.get(id(var))
        if found is None:
            found = self.pool.name(var)
            self.same_names[id(var)] = found
            value = self.spilled(var)
            if value is None:
                self.fetch(found)
            else:
                outer = self.level, self.scope
                top = Level(0, None, "ALL", "ALL")
                self.level, self.scope = top, Scope(top, None)
                text = self.expr(value).text
                code = self.scope.code
                self.level, self.scope = outer
                self.prelude += [*code, f"{found} = {text}"]
        return found

    def _at(self, var: Var, level: Level) -> str:
        found = level.names.get(id(var))
        if found is not None:
            return found
        base = self.pool.name(var)
        if level.parent is None:
            self.prelude.append(f"{base} = S.{base}[tid]")
            level.names[id(var)] = base
            return base
        outer = self._at(var, level.parent)
        found = level.names[id(var)] = f"{base}__{level.number}"
        level.entry.append(f"{found} = {outer}[{level.q}]")
        return found

    def branches(self, condition: str, yes: Callable[[], None], no: Callable[[], None] | None) -> None:
        """A branch that all threads take together."""
        parts = [
            (head, self.scoped(body)) for head, body in ((f"if {condition}:", yes), ("else:", no)) if body is not None
        ]
        for head, code in parts:
            self.line(head)
            self.scope.code.append(code or ["pass"])

    def scoped(self, body: Callable[[], None]) -> Code:
        """The code of `body` in a scope of its own; what it hoists is placed outside already."""
        outer = self.scope
        self.scope = Scope(self.level, outer)
        body()
        code, self.scope = self.scope.code, outer
        return code

    def inner(self, head: str, body: Callable[[], None]) -> None:
        """`body` under the Python statement `head`, in a scope of its own."""
        code = self.scoped(body)
        self.line(head)
        self.scope.code.append(code or ["pass"])

    @abstractmethod
    def expr(self, node: Expr) -> Val:
        """A value in the current level, see `ExprEmitter`."""

    def site(
        self, node: Any, what: str, buffer: Buffer | None, dtype: DType, span: Span | None = None, name: str = ""
    ) -> str:
        """The site of a node; the span of the statement where the node has none."""
        return self.pool.site(node, what, buffer, dtype, getattr(node, "span", None) or span, name)

    # ---- hoisting ---------------------------------------------------------------------------------------------------

    def depth_of(self, node: Expr) -> int:
        """The depth of the outermost scope of this level where `node` can be computed."""
        depth = 0
        for item in walk(node):
            if isinstance(item, Var):
                scope = self.var_scope.get(id(item))
                if scope is not None and scope.level is self.level:
                    depth = max(depth, scope.depth)
            elif isinstance(item, BufferLoad | Call | Let):
                return self.scope.depth
        return depth

    def hoisted(self, key: Any, depth: int, text: Callable[[], str]) -> str:
        """`text` computed once in the scope of this level at `depth`."""
        home = self.scope
        while home.depth > depth and home.outer is not None:
            home = home.outer
        found = home.cache.get(key)
        if found is None:
            here, self.scope = self.scope, home
            found = self.temp(text(), "h")
            self.scope = here
            home.cache[key] = found
        return found

    def key(self, node: Expr) -> Any:
        """A key that equal values share."""
        return key_of(node)
