"""Choosing among the variants of a tile operation: the first that fits and emits is taken; reports ask the others too."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import Expr, FloatImm, IntImm, StringImm, Tuple
from ..ir.tiles import call_name
from ..support.errors import DispatchError, TirxError
from ..support.late import load_object
from ..support.suggest import did_you_mean
from .verdict import Declined, Verdict

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from ..backend import Owner
    from ..backend.snapshot import Registry
    from ..ir import Stmt, TileCall
    from .context import DispatchContext, Site
    from .row import ConfigKey, Variant

__all__ = ["Decision", "Trial", "candidates", "choose", "plain_value"]


class Trial:
    """One candidate and what it says: the verdict of each predicate by name; `emit` declines under the name `emit`.

    It is asked when somebody wants to know: the compiler until one fits, a report all of them.
    """

    __slots__ = ("_call", "_context", "_results", "depth", "owner", "variant")

    def __init__(self, variant: Variant, owner: Owner, depth: int, call: TileCall, context: DispatchContext) -> None:
        self.variant = variant
        self.owner = owner
        self.depth = depth
        self._call = call
        self._context = context
        self._results: list[tuple[str, Verdict]] | None = None

    @property
    def results(self) -> list[tuple[str, Verdict]]:
        """What its keywords and predicates say."""
        if self._results is None:
            self._results = _asked(self.variant, self._call, self._context)
        return self._results

    @property
    def fits(self) -> bool:
        """Whether nothing speaks against it."""
        return all(verdict.fits for _, verdict in self.results)

    @property
    def refusals(self) -> list[tuple[str, Verdict]]:
        """What speaks against it."""
        return [(name, verdict) for name, verdict in self.results if not verdict.fits]

    @property
    def misses(self) -> tuple[int, int]:
        """How far it is from fitting, for sorting: predicates that refuse, then (fewer are worse) those that fit."""
        refused = len(self.refusals)
        return refused, refused - len(self.results)


class Decision:
    """What became of one call.

    `trials` are all candidates in the order in which they are tried, `chosen` the one that was taken (None: see `error`), `ties`
    those of other distributions that fit as well with the same priority. `threads` is how many do it together; `parent` the call
    whose variant emitted this one; `note` says why nothing had to be chosen; `instead` what would fit where the named one does not.
    """

    __slots__ = ("call", "chosen", "error", "function", "instead", "note", "parent", "threads", "trials")

    def __init__(self, call: TileCall, function: str = "", threads: int = 0, parent: Decision | None = None) -> None:
        self.call = call
        self.function = function
        self.threads = threads
        self.parent = parent
        self.trials: list[Trial] = []
        self.chosen: Trial | None = None
        self.instead: Trial | None = None
        self.error: DispatchError | None = None
        self.note = ""

    @property
    def ties(self) -> list[Trial]:
        """Candidates of other distributions that would have done as well."""
        chosen = self.chosen
        if chosen is None:
            return []
        return [
            item
            for item in self.trials
            if item.fits
            and item.variant.priority == chosen.variant.priority
            and item.owner.distribution != chosen.owner.distribution
            and item.depth == chosen.depth
        ]

    @property
    def chain(self) -> list[Decision]:
        """This decision and those whose variants led to it, innermost first."""
        return [self, *(self.parent.chain if self.parent is not None else [])]


def candidates(registry: Registry, operation: str, kind: str) -> Sequence[tuple[Variant, Owner, int]]:
    """Variants of an operation for a kind and its parents, in the order in which they are tried, with their distance."""
    found: Sequence[tuple[Variant, Owner, int]] = registry.memo(_tables).setdefault((operation, kind), ())
    if not found:
        found = registry.memo(_tables)[operation, kind] = tuple(_candidates(registry, operation, kind))
    return found


def _tables(registry: Registry) -> dict[tuple[str, str], Sequence[tuple[Variant, Owner, int]]]:
    return {}


def _candidates(registry: Registry, operation: str, kind: str) -> list[tuple[Variant, Owner, int]]:
    """A kind's own variants hide those of its parents that have the same name."""
    distance = {name: depth for depth, name in enumerate(_lineage(registry, kind))}
    rows = [
        (row, owner, distance[row.kind])
        for row, owner in registry.entries("dispatch_variants")
        if row.operation == operation and row.kind in distance
    ]
    nearest = {row.name: min(depth for other, _, depth in rows if other.name == row.name) for row, _, _ in rows}
    kept = [entry for entry in rows if entry[2] == nearest[entry[0].name]]
    return sorted(kept, key=lambda entry: (-entry[0].priority, entry[2], entry[1].rank, entry[0].name))


def _lineage(registry: Registry, kind: str) -> list[str]:
    kinds = registry.rows("target_kinds")
    found: list[str] = []
    name: str | None = kind
    while name is not None and name not in found:
        found.append(name)
        row = kinds.get(name)
        name = row.parent if row is not None else None
    return found


# ---- choosing -------------------------------------------------------------------------------------------------------


def choose(call: TileCall, context: DispatchContext, registry: Registry, site: Site, decision: Decision) -> Stmt | None:
    """The statements of the first variant that fits; None, with `decision.error` to come, where none does.

    Raises `DispatchError` where the call names a variant or keyword that does not exist.
    """
    kind = context.target.kind.name
    every = candidates(registry, call.op.name, kind)
    tried = _named(call, every, kind) if call.dispatch is not None else [e for e in every if not e[0].on_request]
    _check_keywords(call, tried, every, kind)
    decision.trials = [Trial(*entry, call, context) for entry in tried]
    for trial in decision.trials:
        if trial.fits:
            made = _emitted(trial, call, context, site)
            if made is not None:
                decision.chosen = trial
                return made
    if call.dispatch is not None:
        decision.instead = _first_that_fits(every, call, context)
    return None


def _first_that_fits(
    every: Sequence[tuple[Variant, Owner, int]], call: TileCall, context: DispatchContext
) -> Trial | None:
    """What a call would get that did not name its variant."""
    for entry in every:
        trial = Trial(*entry, call, context)
        if not trial.variant.on_request and trial.variant.name != call.dispatch and trial.fits:
            return trial
    return None


def _named(call: TileCall, every: Sequence[tuple[Variant, Owner, int]], kind: str) -> list[tuple[Variant, Owner, int]]:
    found = [entry for entry in every if entry[0].name == call.dispatch]
    if found:
        return found
    names = [entry[0].name for entry in every]
    near = did_you_mean(call.dispatch or "", names)
    known = f"its variants are {', '.join(sorted(names))}" if names else "it has none at all"
    raise DispatchError(
        f"{call_name(call)} has no variant `{call.dispatch}` on {kind}",
        span=call.span,
        hint=f"{near} {known}" if near else known,
    )


def _asked(variant: Variant, call: TileCall, context: DispatchContext) -> list[tuple[str, Verdict]]:
    """The verdicts on the keywords and of all predicates of one candidate."""
    refused = _refused_keywords(call, variant)
    if refused:
        return [("config", item) for item in refused]  # predicates may rely on keywords of the declared types
    context.config = _config(call, variant)
    return [(predicate.name, _verdict(predicate.test, call, context)) for predicate in variant.predicates]


def _verdict(test: Callable[..., Verdict | None], call: TileCall, context: DispatchContext) -> Verdict:
    try:
        answer = test(call, context)
    except Declined as declined:
        return declined.verdict
    except TirxError as error:
        raise error.placed(call.span) from None
    return Verdict(True) if answer is None else answer


def _emitted(trial: Trial, call: TileCall, context: DispatchContext, site: Site) -> Stmt | None:
    """What `emit` appended; None where it declined, which is noted."""
    emit = trial.variant.emit
    build: Any = load_object(emit) if isinstance(emit, str) else emit
    context.config = _config(call, trial.variant)
    context.building = True
    try:
        return site.collect(lambda: build(call, context))
    except Declined as answer:
        trial.results.append(("emit", answer.verdict))
        return None
    except TirxError as error:
        raise error.placed(call.span) from None
    finally:
        context.building = False


# ---- keywords -------------------------------------------------------------------------------------------------------


def plain_value(expr: Expr) -> Any:
    """A constant as the Python value that was written; anything else as it is."""
    if isinstance(expr, IntImm):
        return bool(expr.value) if expr.dtype.is_bool else expr.value
    if isinstance(expr, FloatImm | StringImm):
        return expr.value
    if isinstance(expr, Tuple):
        return tuple(plain_value(item) for item in expr.items)
    return expr


def _given(call: TileCall) -> dict[str, Any]:
    return {name: plain_value(value) for name, value in zip(call.config_names, call.config, strict=True)}


def _config(call: TileCall, variant: Variant) -> dict[str, Any]:
    """The keywords that a variant declares: what the call gives, else the default."""
    given = _given(call)
    return {key.name: given.get(key.name, key.default) for key in variant.config}


def _check_keywords(
    call: TileCall, tried: Sequence[tuple[Variant, Owner, int]], every: Sequence[tuple[Variant, Owner, int]], kind: str
) -> None:
    """Keywords and scratch buffers that no candidate knows, and values that none accepts."""
    if not tried:
        return
    name = call_name(call)
    where = f"variant `{call.dispatch}` of {name}" if call.dispatch else f"{name} on {kind}"
    known: dict[str, list[ConfigKey]] = {}
    for variant, _, _ in tried:
        for key in variant.config:
            known.setdefault(key.name, []).append(key)
    for given, value in _given(call).items():
        if given not in known:
            asked = [variant for variant, _, _ in reversed(every) if variant.on_request]
            named = {key.name: variant.name for variant in asked for key in variant.config}
            _unknown(call, f"{where} does not know the keyword `{given}`", given, known, "keywords", named)
        problems = [_value_problem(item, value) for item in known[given]]
        if all(problems):
            raise DispatchError(f"{where}: {problems[0]}", span=call.span, hint=_about(known[given][0]))
    scratch = {item for variant, _, _ in tried for item in variant.workspace}
    for given in call.workspace_names:
        if given not in scratch:
            _unknown(call, f"{where} has no use for a workspace `{given}`", given, scratch, "workspaces")


def _unknown(
    call: TileCall, message: str, name: str, known: Iterable[str], what: str, named: Mapping[str, str] | None = None
) -> None:
    """`named` are the keywords of variants that are only taken when a call asks for them by name."""
    names = sorted(known)
    listed = f"its {what} are {', '.join(names)}" if names else f"it takes no {what}"
    others = sorted(set(named or ()) - set(names))
    if others and not call.dispatch:
        variant = (named or {}).get(name) or (named or {})[others[0]]
        listed += f'; with dispatch="{variant}" also {", ".join(others)}'
    near = did_you_mean(name, [*names, *others])
    raise DispatchError(message, span=call.span, hint=f"{near} {listed}" if near else listed)


def _refused_keywords(call: TileCall, variant: Variant) -> list[Verdict]:
    """Keywords that others take, and this variant does not, or not so."""
    keys: Mapping[str, ConfigKey] = {key.name: key for key in variant.config}
    found = []
    for name, value in _given(call).items():
        problem = _value_problem(keys[name], value) if name in keys else f"it does not take the keyword `{name}`"
        if problem:
            found.append(Verdict(False, problem))
    unused = [name for name in call.workspace_names if name not in variant.workspace]
    return found + [Verdict(False, f"it has no use for a workspace `{name}`") for name in unused]


def _value_problem(key: ConfigKey, value: Any) -> str | None:
    """What is wrong with the value of a keyword, or None."""
    types = key.type if isinstance(key.type, tuple) else (key.type,)
    shown = repr(value) if not isinstance(value, Expr) else "an expression"
    if object not in types and not _is_a(value, types):
        return f"`{key.name}` is {' or '.join(_type_name(item) for item in types)}, not {shown}"
    if key.choices and value not in key.choices:
        return f"`{key.name}` is {' or '.join(map(repr, key.choices))}, not {shown}"
    return None


def _is_a(value: Any, types: Sequence[Any]) -> bool:
    if isinstance(value, bool):
        return bool in types
    if isinstance(value, int) and float in types:
        return True
    return any(value is None if item is type(None) else isinstance(value, item) for item in types)


def _type_name(kind: Any) -> str:
    return "None" if kind is type(None) else "an expression" if kind is Expr else str(kind.__name__)


def _about(key: ConfigKey) -> str | None:
    return f"`{key.name}`: {key.doc}" if key.doc else None
