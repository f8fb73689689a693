"""Passes that extensions insert at the anchors of somebody else's pipeline.

At one anchor a pass runs after those that its row names (`after`); between passes without order the distribution
decides, then the name. An anchor that no pipeline has, an unknown name in `after` and a circle make the extension
unusable when it is loaded (`check_order`), and never its host.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..support.errors import BackendError
from ..support.suggest import did_you_mean
from .pipeline import Anchor, Pass, PassRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..backend.rows import Owner
    from ..backend.snapshot import Registry

__all__ = ["check_order", "extended", "inserted"]


def extended(steps: Iterable[Pass | Anchor], registry: Registry) -> tuple[Pass, ...]:
    """`steps` with the passes of acting extensions in place of their anchors."""
    by_anchor = _by_anchor(registry)
    found: list[Pass] = []
    for step in steps:
        if isinstance(step, Anchor):
            found += [row.step for row in _ordered(by_anchor.get(step.name, ()))]
        else:
            found.append(step)
    return tuple(found)


def inserted(steps: Iterable[Pass | Anchor], registry: Registry) -> tuple[tuple[PassRow, Owner], ...]:
    """The rows of acting extensions at the anchors among `steps`, in the order in which they run, with their owners."""
    by_anchor, owners = _by_anchor(registry), {id(row): owner for row, owner in registry.entries("passes")}
    anchors = [step.name for step in steps if isinstance(step, Anchor)]
    return tuple((row, owners[id(row)]) for name in anchors for row in _ordered(by_anchor.get(name, ())))


def _by_anchor(registry: Registry) -> dict[str, list[PassRow]]:
    found: dict[str, list[PassRow]] = {}
    for row, _ in _by_rank(registry.entries("passes")):
        found.setdefault(row.anchor, []).append(row)
    return found


def check_order(registry: Registry) -> None:
    """Raise `BackendError` when a row names an anchor or pass that is not there, or when the order is a circle."""
    anchors = {
        step.name
        for pipeline in registry.rows("pipelines").values()
        for step in (*pipeline.lower, *pipeline.prepare)
        if isinstance(step, Anchor)
    }
    by_anchor: dict[str, list[PassRow]] = {}
    every = [(row, item.owner) for item in registry.contributions for row in item.rows.get("passes", ())]
    for row, owner in _by_rank(every):
        if row.anchor not in anchors:
            hint = did_you_mean(row.anchor, anchors) or f"the anchors are {', '.join(sorted(anchors)) or 'none'}"
            raise BackendError(
                f"pass `{row.step.name}` of {owner} runs at `{row.anchor}`, which no pipeline has", hint=hint
            )
        by_anchor.setdefault(row.anchor, []).append(row)
    for anchor, rows in by_anchor.items():
        names = {row.step.name for row in rows}
        for row in rows:
            missing = [name for name in row.after if name not in names]
            if missing:
                raise BackendError(
                    f"pass `{row.step.name}` at `{anchor}` runs after `{missing[0]}`, which is not there",
                    hint=did_you_mean(missing[0], names) or f"at this anchor are {', '.join(sorted(names))}",
                )
        _ordered(rows)


def _by_rank(entries: Iterable[tuple[PassRow, Owner]]) -> list[tuple[PassRow, Owner]]:
    return sorted(entries, key=lambda entry: (entry[1].rank, entry[0].step.name))


def _ordered(rows: Sequence[PassRow]) -> list[PassRow]:
    """Topological order; rows that are free keep the order they came in."""
    waiting, done, names = list(rows), [], set[str]()
    while waiting:
        ready = next((row for row in waiting if names.issuperset(row.after)), None)
        if ready is None:
            circle = ", ".join(f"`{row.step.name}`" for row in waiting)
            raise BackendError(f"the passes {circle} at `{waiting[0].anchor}` wait for each other")
        waiting.remove(ready)
        done.append(ready)
        if all(other.step.name != ready.step.name for other in waiting):
            names.add(ready.step.name)
    return done
