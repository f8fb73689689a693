"""What core knows about rows: which kinds there are, who checks them, and whom a row belongs to.

`backend/` never looks into a row. The layer that owns a kind of row describes it with one `RowKind`; the hook, the
check on loading, the order and the promise in a manifest all follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 4 ms at start-up
if TYPE_CHECKING:
    from typing import Any

    from .snapshot import Registry

__all__ = ["Contribution", "Owner", "RowKind"]


class Owner:
    """Whom a row belongs to: a distribution, its version, and the backend (`acme`) or extension (`acme.fast`)."""

    __slots__ = ("backend", "distribution", "version")

    def __init__(self, distribution: str, version: str, backend: str) -> None:
        self.distribution = distribution
        self.version = version
        self.backend = backend

    @property
    def is_core(self) -> bool:
        """Whether the row is core's own."""
        return self.backend == "core"

    @property
    def is_extension(self) -> bool:
        """Whether the row adds to somebody else's backend."""
        return "." in self.backend

    @property
    def rank(self) -> tuple[bool, str, str]:
        """Sort key that does not depend on the order of loading: core first, then by backend and distribution."""
        return (not self.is_core, self.backend, self.distribution)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Owner) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}"

    def __repr__(self) -> str:
        return f"Owner({self.distribution!r}, {self.version!r}, {self.backend!r})"

    def _fields(self) -> tuple[str, str, str]:
        return (self.distribution, self.version, self.backend)


class RowKind:
    """One kind of row that plugins may give, and everything that core must know to handle it.

    name      how the registry calls it: `target_kinds`
    hook      the plugin function that returns the rows: `tirx_target_kinds`
    doc       what the rows mean, for the generated documentation
    key       row -> its name within the kind (a string or a tuple)
    validate  called with (row, owner) on loading; raises what is wrong
    record    the class of the rows, checked before `validate`
    provides  prefixes under which a manifest may promise rows of this kind: `("kind",)` for `kind.acme`
    promise   key -> the promised name, where they differ (`acme/one` is promised as `tags.acme`)
    multi     whether several rows may have one key
    order     row -> sort key among all rows of the kind; ties go by owner, then by key
    verify    called with the snapshot that would become current, all extensions acting, for checks across rows
    opt_in    rows of extensions act only when the extension is enabled
    """

    __slots__ = (
        "doc", "hook", "key", "multi", "name", "opt_in", "order", "promise", "provides", "record", "validate",
        "verify",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        hook: str,
        *,
        doc: str,
        key: Callable[[Any], Any],
        validate: Callable[[Any, Owner], None],
        record: type | tuple[type, ...] | None = None,
        provides: tuple[str, ...] = (),
        promise: Callable[[Any], str] = str,
        multi: bool = False,
        order: Callable[[Any], Any] | None = None,
        verify: Callable[[Registry], None] | None = None,
        opt_in: bool = False,
    ) -> None:
        self.name = name
        self.hook = hook
        self.doc = doc
        self.key = key
        self.validate = validate
        self.record = record
        self.provides = provides
        self.promise = promise
        self.multi = multi
        self.order = order
        self.verify = verify
        self.opt_in = opt_in

    def __repr__(self) -> str:
        return f"<RowKind {self.name}>"

    def keeps(self, promise: str, keys: Iterable[Any]) -> bool:
        """Whether rows with these keys keep a promise such as `kind.acme`."""
        return any(f"{prefix}.{self.promise(key)}" == promise for key in keys for prefix in self.provides)

    def promised(self, key: Any) -> list[str]:
        """The promises under which a row with this key can be asked for."""
        return [f"{prefix}.{self.promise(key)}" for prefix in self.provides]


class Contribution:
    """All rows of one owner, by kind. `host` is the backend that an extension adds to, else empty."""

    __slots__ = ("host", "owner", "rows")

    def __init__(self, owner: Owner, rows: Mapping[str, tuple[Any, ...]]) -> None:
        self.owner = owner
        self.rows = rows
        self.host = owner.backend.partition(".")[0] if owner.is_extension else ""

    def counts(self) -> dict[str, int]:
        """How many rows of each kind there are."""
        return {kind: len(rows) for kind, rows in self.rows.items() if rows}
