"""What predicates and `emit` of a variant may ask about a call, and the tools that `emit` builds with."""

from __future__ import annotations

from ..backend import find
from ..ir import DEFAULT_LAYOUT, Alloc, Buffer, BufferRegion, Var, emit
from ..support.late import load_object
from .active import ActiveSet
from .rank import rank_of
from .space import THREAD
from .verdict import Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any, Protocol, TypeVar

    from ..arith import Analyzer
    from ..ir import Expr, Stmt, TileCall
    from ..target import ScopeModel, Target

    Made = TypeVar("Made")
else:
    Protocol = object

__all__ = ["DispatchContext", "Site"]


class Site(Protocol):
    """The place that a call is lowered at, as the pass that lowers it knows it."""

    cache: dict[Hashable, Any]

    def id(self, child: str, within: str) -> Expr:
        """The id of a `child` in its `within`."""

    def width(self, child: str, within: str) -> int | None:
        """How many members of `child` one `within` has in this launch."""

    def at_kernel_start(self) -> AbstractContextManager[None]:
        """Statements go to the start of the kernel."""

    def on_host(self) -> AbstractContextManager[None]:
        """Statements go to the host, before the launch."""

    def collect(self, build: Callable[[], None]) -> Stmt:
        """The statements that `build` appends to the active builder; nothing of it is left when it raises."""

    def fresh_name(self, hint: str) -> str:
        """A name that the kernel does not use yet."""


class DispatchContext:
    """One call at its place.

    * `target`, `call`, `scope`: the target, the tile operation, the level whose threads do it together
    * `threads`, `rank`: how many threads take part, and this thread's number among them
    * `active`: the active threads; `analyzer`: what is known of loop variables and ids here
    * `config`: the declared keywords of the variant that is looked at, defaults filled in; constants are Python values

    Predicates only ask. `alloc at_kernel_start on_host sync` build, and belong in `emit`.
    """

    def __init__(
        self,
        target: Target,
        call: TileCall,
        active: ActiveSet,
        analyzer: Analyzer,
        site: Site,
        model: ScopeModel,
    ) -> None:
        self.target = target
        self.call = call
        self.scope = call.scope
        self.active = active
        self.analyzer = analyzer
        self.model = model
        self.config: Mapping[str, Any] = {}
        self.building = False
        self._site = site
        self._share = active.share(call.scope)
        self._rank: Expr | None = None
        self._answers: dict[Hashable, Any] = {}

    # ---- who takes part ---------------------------------------------------------------------------------------------

    @property
    def threads(self) -> int:
        """How many threads do the operation together."""
        return self._share.threads

    @property
    def rank(self) -> Expr:
        """This thread's number among them, from 0."""
        if self._rank is None:
            self._rank = rank_of(self._share, self.active.space, self.id)
        assert self._rank is not None  # an irregular set is refused before dispatch
        return self._rank

    @property
    def is_full(self) -> bool:
        """Whether all threads of the scope take part."""
        return self.active.is_full(self.scope)

    def encloses(self, level: str) -> bool:
        """Whether the members of `level` lie inside those of the scope (or are those)."""
        space = self.active.space
        return level in space.depths and space.depth(level) >= space.depth(self.scope)

    def width(self, child: str, within: str) -> int | None:
        """How many members of `child` one `within` has in this launch; None where only the launch knows."""
        return self._site.width(child, within)

    def id(self, child: str, within: str) -> Expr:
        """The id of a `child` in its `within`: the author's variable, or one that is declared at the kernel's start."""
        found, width = self._site.id(child, within), self.width(child, within)
        if isinstance(found, Var) and width is not None:
            self.analyzer.bind(found, 0, width - 1)
        return found

    # ---- what is given ----------------------------------------------------------------------------------------------

    def workspace(self, name: str) -> Buffer | None:
        """The scratch buffer that the call gave under this name."""
        given = dict(zip(self.call.workspace_names, self.call.workspace, strict=True)).get(name)
        return given.buffer if isinstance(given, BufferRegion) else None

    # ---- building ---------------------------------------------------------------------------------------------------

    def alloc(
        self, shape: Sequence[Any], dtype: Any, scope: str = "local", name: str = "scratch", layout: Any = "default"
    ) -> Buffer:
        """New storage: of a thread's own right here, of more threads at the start of the kernel."""
        self._must_build("alloc()")
        row = find("storage_scopes", scope)
        if isinstance(layout, str) and layout == "default":  # as in the language: none where addresses have components
            layout = DEFAULT_LAYOUT if row is None or len(row.address) == 1 else None
        made = Buffer(self._site.fresh_name(name), shape, dtype, scope=scope, layout=layout)
        if row is None or row.owner_level in ("", THREAD):
            emit(Alloc(made))
        else:
            with self.at_kernel_start():
                emit(Alloc(made))
        return made

    def fresh_name(self, hint: str) -> str:
        """A name that the kernel does not use yet."""
        return self._site.fresh_name(hint)

    def at_kernel_start(self) -> AbstractContextManager[None]:
        """`with context.at_kernel_start():` statements go to the start of the kernel, where all threads run them."""
        self._must_build("at_kernel_start()")
        return self._site.at_kernel_start()

    def on_host(self) -> AbstractContextManager[None]:
        """`with context.on_host():` statements go to the host function, before the launch."""
        self._must_build("on_host()")
        return self._site.on_host()

    def cached(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """`make()`, once per kernel for each key."""
        if key not in self._site.cache:
            self._site.cache[key] = make()
        found: Made = self._site.cache[key]
        return found

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """`make()`, once per call for each key: what predicates and `emit` both ask for. It may not build."""
        if key not in self._answers:
            self._answers[key] = make()
        found: Made = self._answers[key]
        return found

    def can_sync(self) -> Verdict:
        """Whether `sync()` is possible here."""
        level = self._meeting()
        if level is not None:
            return Verdict(True)
        if not self.is_full:
            return Verdict(False, f"only some threads of the {self.scope} are here", {"threads": self.threads})
        return Verdict(False, f"the target has no barrier for a {self.scope}")

    def sync(self) -> None:
        """Make the threads that take part wait for each other, and see each other's writes."""
        self._must_build("sync()")
        level = self._meeting()
        if level is None:
            raise RuntimeError(f"no barrier for this {self.scope}; ask can_sync() in a predicate")
        barrier = self.model[level].barrier if level in self.model else None
        if level != THREAD and barrier is not None:
            load_object(barrier)(self.id)

    def _meeting(self) -> str | None:
        """The level whose barrier is right for exactly the threads that take part; `thread` where nobody has to wait."""
        if self.threads <= 1 and self._share.scope == THREAD:
            return THREAD
        space = self.active.space
        for level in reversed(space.levels[space.levels.index(self.scope) :]):
            whole = self.active.is_full(level) and space.sizes[level] == self.threads
            if whole and level != THREAD and self.model[level].barrier:
                return level
        return THREAD if self.threads == 1 else None

    def _must_build(self, what: str) -> None:
        if not self.building:
            raise RuntimeError(f"{what} builds: it belongs in the variant's emit, not in a predicate")
