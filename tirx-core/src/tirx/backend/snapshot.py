"""The registry: an immutable snapshot of all rows of all loaded plugins.

Loading and unloading make a new snapshot and swap one reference, so a reader sees all of a plugin or nothing of it,
and nothing derived from a snapshot ever needs to be invalidated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from tirx.support.errors import BackendError
from tirx.support.suggest import did_you_mean

from .rows import Contribution, Owner, RowKind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

__all__ = ["Registry"]


class _Table:
    """The rows of one kind: in order, and by key."""

    __slots__ = ("by_key", "entries", "rows")

    def __init__(self, kind: RowKind, entries: tuple[tuple[Any, Owner], ...]) -> None:
        by_key: dict[Any, list[tuple[Any, Owner]]] = {}
        for entry in entries:
            by_key.setdefault(kind.key(entry[0]), []).append(entry)
        self.entries = entries
        self.by_key = by_key
        self.rows: Mapping[Any, Any] = MappingProxyType(
            {key: tuple(row for row, _ in found) if kind.multi else found[0][0] for key, found in by_key.items()}
        )


class Registry:
    """All rows, by kind and key, with their owners. Immutable; tables are computed at first use and kept."""

    __slots__ = ("_kinds", "_memo", "_tables", "_views", "contributions", "enabled")

    def __init__(
        self,
        kinds: Mapping[str, RowKind],
        contributions: Iterable[Contribution] = (),
        enabled: frozenset[str] = frozenset(),
    ) -> None:
        self._kinds = kinds
        self.contributions = tuple(sorted(contributions, key=lambda item: item.owner.rank))
        self.enabled = enabled
        self._tables: dict[str, _Table] = {}
        self._memo: dict[Any, Any] = {}
        self._views: dict[frozenset[str], Registry] = {enabled: self}

    @property
    def kinds(self) -> Mapping[str, RowKind]:
        """All row kinds, by name."""
        return MappingProxyType(dict(self._kinds))

    def rows(self, kind: str) -> Mapping[Any, Any]:
        """The rows of a kind by key; for kinds with several rows to a key, tuples of rows in order."""
        return self._table(kind).rows

    def entries(self, kind: str) -> tuple[tuple[Any, Owner], ...]:
        """All (row, owner) of a kind, in order."""
        return self._table(kind).entries

    def find(self, kind: str, key: Any) -> Any:
        """The row with this key (a tuple of rows for kinds with several to a key), or None."""
        return self._table(kind).rows.get(key)

    def owner(self, kind: str, key: Any) -> Owner:
        """Whom the row belongs to; for several rows, whom the first belongs to. KeyError when there is none."""
        return self._table(kind).by_key[key][0][1]

    def owners(self) -> tuple[Owner, ...]:
        """Everybody who gave rows, core first."""
        return tuple(item.owner for item in self.contributions)

    def memo(self, make: Callable[[Registry], T]) -> T:
        """`make(self)`, computed once for this snapshot: for tables that join several kinds of rows."""
        if make not in self._memo:
            self._memo[make] = make(self)
        found: T = self._memo[make]
        return found

    def enabling(self, extensions: Iterable[str]) -> Registry:
        """The same rows, with these extensions' variants and passes acting too."""
        wanted = self.enabled | frozenset(extensions)
        view = self._views.get(wanted)
        if view is None:
            view = Registry(self._kinds, self.contributions, wanted)
            self._views[wanted] = view
        return view

    def verify(self) -> Registry:
        """This snapshot, after every kind's check across rows, with all extensions acting; raises what is wrong."""
        everything = self.enabling(owner.backend for owner in self.owners() if owner.is_extension)
        for kind in self._kinds.values():
            if kind.verify is not None:
                kind.verify(everything)
        return self

    def kind(self, name: str) -> RowKind:
        """The row kind of this name."""
        try:
            return self._kinds[name]
        except KeyError:
            raise KeyError(f"no row kind {name!r}; {did_you_mean(name, self._kinds) or list(self._kinds)}") from None

    def extended(self, contribution: Contribution) -> Registry:
        """A new snapshot that has these rows too. Two owners of one key are an error that names both."""
        for name, rows in contribution.rows.items():
            if rows and not self._kinds[name].multi:
                _refuse_duplicates(self._kinds[name], self._all(name), contribution)
        made = Registry(self._kinds, (*self.contributions, contribution), self.enabled)
        made._tables = {name: table for name, table in self._tables.items() if not contribution.rows.get(name)}
        return made

    def without(self, backends: Iterable[str]) -> Registry:
        """A new snapshot without the rows of these backends and extensions."""
        gone = frozenset(backends)
        kept = [item for item in self.contributions if item.owner.backend not in gone]
        return Registry(self._kinds, kept, self.enabled)

    def _all(self, kind: str) -> Mapping[Any, list[tuple[Any, Owner]]]:
        """Every row of a kind by key, acting or not."""
        if not self._kinds[kind].opt_in:
            return self._table(kind).by_key
        return _Table(self._kinds[kind], self._sorted(self._kinds[kind], acting_only=False)).by_key

    def _table(self, name: str) -> _Table:
        table = self._tables.get(name)
        if table is None:
            kind = self.kind(name)
            table = self._tables[name] = _Table(kind, self._sorted(kind, acting_only=True))
        return table

    def _sorted(self, kind: RowKind, *, acting_only: bool) -> tuple[tuple[Any, Owner], ...]:
        found = [
            (row, item.owner)
            for item in self.contributions
            if not acting_only or self._acts(kind, item.owner)
            for row in item.rows.get(kind.name, ())
        ]
        order = kind.order
        if order is not None:
            found.sort(key=lambda entry: (order(entry[0]), entry[1].rank, str(kind.key(entry[0]))))
        return tuple(found)

    def _acts(self, kind: RowKind, owner: Owner) -> bool:
        return not (kind.opt_in and owner.is_extension) or owner.backend in self.enabled


def _refuse_duplicates(
    kind: RowKind, existing: Mapping[Any, list[tuple[Any, Owner]]], contribution: Contribution
) -> None:
    seen: set[Any] = set()
    owner = contribution.owner
    for row in contribution.rows[kind.name]:
        key = kind.key(row)
        if key in seen:
            raise BackendError(f"{kind.hook} of {owner} returns {key!r} twice")
        seen.add(key)
        if key in existing:
            other = existing[key][0][1]
            first, second = sorted((owner, other), key=lambda item: item.rank)
            raise BackendError(
                f"two distributions give {key!r} of {kind.name}: {first} (backend {first.backend}) and "
                f"{second} (backend {second.backend})",
                hint=_way_out(first, second),
            )


def _way_out(first: Owner, second: Owner) -> str:
    if first.is_core:
        return f"names of {first.distribution} cannot be replaced; uninstall {second.distribution} or report it"
    return f"keep one out: TIRX_BACKENDS=-{first.backend} or TIRX_BACKENDS=-{second.backend}"
