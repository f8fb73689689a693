"""The checker: what every access, barrier and assertion of a simulated kernel goes through.

Bounds are tested on the logical indices that the author wrote. Races of shared memory in kernels that only use whole-cta
barriers are found when an epoch ends: accesses are logged, and an epoch without writes costs nothing more. Everything else is
compared with the shadow at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir import DType
from .findings import SHOWN, Findings
from .flights import WORDS, FlightChecker
from .geometry import Geometry
from .memory import GLOBAL_BASE, Arena, TypedView
from .meter import Meter
from .numeric import ALL, count_of, pick
from .order import Order
from .pool import Site
from .shadow import Conflict, Shadow

__all__ = ["ALL_CHECKS", "Checker"]

ALL_CHECKS = ("alignment", "barriers", "bounds", "division", "metrics", "races", "uninitialised")
LOG_BYTES = 64 << 20


class Checker(FlightChecker):
    """Checks of one chunk."""

    def __init__(
        self,
        geometry: Geometry,
        order: Order,
        checks: frozenset[str],
        findings: Findings,
        meter: Meter | None,
        tracked: set[int],
        granules: dict[int, int],
        sites: list[Site],
    ) -> None:
        super().__init__(geometry, checks, findings, sites)
        self.order = order
        self.meter = meter
        self.bounds = "bounds" in checks
        self.races = "races" in checks
        self.defined = "uninitialised" in checks
        self.aligned = "alignment" in checks
        self.active = bool(checks)
        self.tracked = tracked
        self._granules = granules
        self._log: dict[int, list[tuple[str, Site, TypedView, Any, Any]]] = {}
        self._logged: dict[int, Arena] = {}
        self._log_bytes = 0
        self._folded = False

    # ---- accesses through typed views ---------------------------------------------------------------------------------

    def load(self, site: Site, view: TypedView, index: Any, active: Any, coords: Any) -> Any:
        """Checked elements at `index`; what lies outside reads as 0."""
        threads = pick(self.bucket, active)
        index = self._index(index, threads)
        outside = self._outside(site, coords, threads) if coords else None
        if outside is None:
            self.note(site, view, index, threads, "r")
            return view.array[index]
        keep = np.flatnonzero(~outside)
        value = np.zeros(index.shape, view.dtype)
        if len(keep):
            chosen = self._array(threads)[keep]
            self.note(site, view, index[keep], chosen, "r")
            value[keep] = view.array[index[keep]]
        return value

    def store(self, site: Site, view: TypedView, index: Any, value: Any, active: Any, coords: Any) -> None:
        """Checked store; what lies outside is dropped."""
        threads = pick(self.bucket, active)
        index = self._index(index, threads)
        outside = self._outside(site, coords, threads) if coords else None
        if outside is not None:
            keep = np.flatnonzero(~outside)
            if not len(keep):
                return
            value = value[keep] if isinstance(value, np.ndarray) and value.ndim and len(value) == len(index) else value
            index, threads = index[keep], self._array(threads)[keep]
        self.note(site, view, index, threads, "w")
        view.array[index] = value

    def _index(self, index: Any, threads: Any) -> Any:
        count = self.geometry.size if threads is ALL else len(threads)
        if not isinstance(index, np.ndarray):
            return np.full(count, index, np.int64)
        index = index if index.dtype == np.int64 else index.astype(np.int64)
        return np.broadcast_to(index, (count, index.shape[1])) if index.ndim == 2 and len(index) != count else index

    def _outside(self, site: Site, coords: Any, threads: Any) -> Any:
        """Which accesses lie outside; None when none does."""
        found = None
        for value, extent, axis in coords:
            if not isinstance(value, np.ndarray):
                bad = np.full(self.geometry.size if threads is ALL else len(threads), not 0 <= value < extent)
            elif value.min(initial=0) >= 0 and value.max(initial=0) < extent:
                continue
            else:
                bad = (value < 0) | (value >= extent)
                bad = bad.any(axis=1) if bad.ndim == 2 else bad
            if bad.any():
                self._report_outside(site, coords, axis, extent, bad, threads)
                found = bad if found is None else found | bad
        return found

    def _report_outside(self, site: Site, coords: Any, axis: int | str, extent: Any, bad: Any, threads: Any) -> None:
        chosen = self._array(threads)[bad]
        value = next(v for v, _, a in coords if a == axis)
        values = (value[bad] if isinstance(value, np.ndarray) else np.full(len(chosen), value)).reshape(len(chosen), -1)
        wrong = values[(values < 0) | (values >= extent)]
        ends = f"{int(wrong.min())}" if wrong.min() == wrong.max() else f"{int(wrong.min())} to {int(wrong.max())}"
        if isinstance(axis, str):
            text = f"element {ends} is outside the {extent} elements of `{axis}`, of which `{site.buffer}` is a view"
            self.report("out_of_bounds", text, site, chosen)
            return
        shape = tuple(e if isinstance(e, int) else int(extent) if a == axis else "?" for a, e in enumerate(site.shape))
        text = f"index {ends} is outside dimension {axis} of `{site.buffer}` {shape}".replace("'", "")
        self.report("out_of_bounds", text, site, chosen, indices=[tuple(map(int, row)) for row in values[:SHOWN]])

    # ---- accesses through addresses -----------------------------------------------------------------------------------

    def access_load(self, site: Site, view: TypedView, index: Any, active: Any) -> Any:
        """Elements that a meaning asks for, `(n, lanes)`."""
        if self.active:
            self.note(site, view, index, self._array(pick(self.bucket, active)), "r")
        return view.array[index]

    def access_store(self, site: Site, view: TypedView, index: Any, value: Any, active: Any) -> None:
        """Elements that a meaning writes, `(n, lanes)`."""
        if self.active:
            self.note(site, view, index, self._array(pick(self.bucket, active)), "w")
        view.array[index] = value

    def access_atomic(self, site: Site, view: TypedView, index: Any, active: Any, address: Any) -> None:
        """An atomic update; where order is followed finely it is a meeting point of those who use the address."""
        if not self.active:
            return
        threads = self._array(pick(self.bucket, active))
        self.note(site, view, index, threads, "a")
        if self.order.fine and self.races:
            self.order.update(self._keys(address, threads))

    def alignment(self, site: Site, addresses: Any, dtype: DType, active: Any) -> None:
        """Addresses of vectors are multiples of what their types are aligned to (of 16 bytes at most)."""
        size = min(dtype.alignment, 16)
        if self.aligned and size > 1:
            self._misaligned(site, addresses % size, size, self._array(pick(self.bucket, active)))

    def _misaligned(self, site: Site, rest: Any, size: int, threads: Any) -> None:
        if not rest.any():
            return
        bad = np.flatnonzero(rest)
        text = f"an access that needs {size} bytes of alignment is {int(rest[bad[0]])} bytes past a multiple of {size}"
        self.report("misaligned", text, site, threads[bad])

    # ---- the checks ---------------------------------------------------------------------------------------------------

    def note(self, site: Site, view: TypedView, index: Any, threads: Any, kind: str) -> None:
        """One access that will take place: alignment, initialisation, races, measurements."""
        arena = view.arena
        if self.aligned and index.ndim == 2 and index.shape[1] > 1 and not site.apart:
            self._vector(site, view, index, threads)
        if self.meter is not None and arena.kind != "local":
            self.meter.note(site, view, index, threads, self.geometry, kind != "r")
        if not (self.races or self.defined):
            return
        if self.races and arena.kind == "shared":
            self._in_flight(site, view, index, threads, kind)
        shadow = arena.shadow
        if shadow is None:
            shadow = self._shadow(arena)
        if shadow.defined is None and not shadow.tracked:
            return
        if view.dtype.itemsize < shadow.granule:
            self._flush(False)
            shadow.refine(view.dtype.itemsize)
        if view.dtype.itemsize == shadow.granule and not view.start:
            where = index
        else:
            where = shadow.granules(index * view.dtype.itemsize + view.start, view.dtype.itemsize)
        if self.defined and shadow.defined is not None:
            self._initialise(site, shadow, where, threads, kind)
        if self.races and shadow.tracked:
            self._race(site, view, where, threads, kind)

    def _vector(self, site: Site, view: TypedView, index: Any, threads: Any) -> None:
        size = view.dtype.itemsize * index.shape[1]
        size = min(size & -size, 16)  # a vector of three is aligned like its element
        first = index[:, 0] * view.dtype.itemsize + view.start + (view.arena.base if view.arena.kind == "global" else 0)
        self._misaligned(site, first % size, size, self._array(threads))

    def _shadow(self, arena: Arena) -> Shadow:
        tracked = arena.kind == "shared" or (arena.kind == "global" and id(arena) in self.tracked)
        granule = self._granules.get(id(arena), 4)
        arena.shadow = Shadow(
            len(arena.data),
            granule,
            self.geometry.per_cta,
            tracked=tracked and self.races,
            defined=arena.initialised,
            local=arena.kind == "shared" and not self.order.fine,
        )
        return arena.shadow  # type: ignore[no-any-return]

    def _initialise(self, site: Site, shadow: Shadow, where: Any, threads: Any, kind: str) -> None:
        if kind == "w":
            shadow.defined[where] = True
            return
        held = shadow.defined[where]
        if site.partial or held.all():
            return
        bad = ~(held if held.ndim == 1 else held.reshape(len(held), -1).all(axis=1))
        what = f"`{site.buffer}`" if site.buffer else "memory"
        self.report("uninitialised", f"{what} is read where nothing was written", site, self._array(threads)[bad])
        shadow.defined[where] = True

    def _race(self, site: Site, view: TypedView, where: Any, threads: Any, kind: str) -> None:
        arena = view.arena
        if arena.kind == "shared" and not self.order.fine:
            self._log.setdefault(id(arena), []).append((kind, site, view, where, threads))
            self._logged[id(arena)] = arena
            self._log_bytes += where.nbytes
            if self._log_bytes > LOG_BYTES:
                self._flush(False)
            return
        where, threads = self._flat(where, threads)
        self._compare(site, view, where, threads, kind, keep=True)

    def _flat(self, where: Any, threads: Any) -> tuple[Any, Any]:
        chosen = self._array(threads)
        if where.ndim == 1:
            return where, chosen
        each = where.reshape(len(where), -1)
        return each.reshape(-1), np.repeat(chosen, each.shape[1])

    def _compare(self, site: Site, view: TypedView, where: Any, threads: Any, kind: str, keep: bool) -> None:
        """Races of one access with what is recorded, then record it."""
        shadow = view.arena.shadow
        mine = shadow.code(self.order, threads)
        against = {"w": "wra", "r": "wa", "a": "wr"}[kind]
        for other in against:
            self._report_race(site, view, shadow.check(other, self.order, where, mine, threads), kind, threads, where)
        if kind == "w":
            self._report_race(site, view, shadow.write(self.order, where, mine, site.number), kind, threads, where)
        elif keep:
            shadow.share(kind, self.order, where, mine, threads, site.number)

    def _report_race(
        self, site: Site, view: TypedView, found: Conflict | None, kind: str, threads: Any, where: Any
    ) -> None:
        if found is None:
            return
        other = self.sites[int(found.site[0])]
        at = int(found.positions[0])
        shadow = view.arena.shadow
        cta, lane = shadow.who(int(found.other[0]))
        partner = "another cta" if cta < 0 else self._name(cta, lane)
        what = site.buffer or other.buffer or self._named(view.arena, int(where[at]) * shadow.granule)
        text = (
            f"{self.describe(threads[at])} {WORDS[kind]} an element of `{what}` that {partner} {WORDS[found.kind]} "
            "without synchronisation between them"
        )
        self.report(
            "race",
            text,
            site,
            threads[found.positions],
            other=other if other is not site else None,
            notes=[self._remedy(shadow, found, threads)],
            indices=_element(site, view, int(where[at]) * shadow.granule),
        )

    def _remedy(self, shadow: Shadow, found: Conflict, threads: Any) -> str:
        """What orders the accesses of a conflict: the narrowest barrier that all pairs of threads share."""
        slot, mine = np.divmod(threads[found.positions], self.geometry.per_cta)
        cta, lane = shadow.owners(found.other)
        if (cta - self.geometry.first != slot).any():
            return "no barrier orders threads of different ctas: use atomics, or give each cta its own elements"
        widths = self.geometry.widths
        width = widths.threads_in("warp") if "warp" in widths.model.names else 1
        if (lane >= 0).all() and (mine // width == lane // width).all():
            return "all these threads are of one warp: a barrier of the warp between the two accesses orders them"
        return "a barrier of the cta between the two accesses orders them"

    # ---- epochs -------------------------------------------------------------------------------------------------------

    def synchronise(self, level: str, threads: Any) -> None:
        """`threads` met at a barrier of `level`."""
        if self.races:
            self._flush(threads is ALL)
            self.order.synchronise(level, threads)

    def finish(self) -> None:
        """The chunk has ended."""
        if self.races:
            self._flush(True)

    def acquire(self, key: Any, threads: Any) -> None:
        """See `Order.acquire`."""
        if self.races:
            for item, chosen in self._keys(key, threads):
                self.order.acquire(item, chosen)

    def release(self, key: Any, threads: Any) -> None:
        """See `Order.release`."""
        if self.races:
            for item, chosen in self._keys(key, threads):
                self.order.release(item, chosen)

    def _flush(self, full: bool) -> None:
        """Compare what was logged. After a full one everybody is at the same barrier, and reads need not be kept."""
        for number, entries in self._log.items():
            shadow = self._logged[number].shadow
            if not full or self._folded or any(entry[0] != "r" for entry in entries):
                self._replay(entries, full)
            if full and shadow.defined is not None and shadow.defined.all():
                shadow.defined = None  # everything is written, and stays so
        self._folded = not full and (self._folded or bool(self._log))
        self._log.clear()
        self._log_bytes = 0

    def _replay(self, entries: list[tuple[str, Site, TypedView, Any, Any]], full: bool) -> None:
        """Writes, then atomics, then reads of one epoch."""
        flat = [(kind, site, view, *self._flat(where, threads)) for kind, site, view, where, threads in entries]
        for wanted in "war":
            for kind, site, view, where, threads in flat:
                if kind == wanted:
                    self._compare(site, view, where, threads, kind, keep=kind == "a" or not full)

    def _keys(self, key: Any, threads: Any) -> list[tuple[Any, Any]]:
        """One key per place: addresses are split, those of shared memory belong to the cluster."""
        if isinstance(key, tuple):
            return [(key, threads)]
        places = np.broadcast_to(np.asarray(key, np.int64), threads.shape)
        cluster = self.geometry.group("cluster")[threads]
        tags = np.where(places < GLOBAL_BASE, places + (cluster + 1) * (GLOBAL_BASE << 4), places)
        order = np.argsort(tags, kind="stable")
        starts = np.flatnonzero(np.diff(tags[order], prepend=-1))
        return [(int(tags[part[0]]), threads[part]) for part in np.split(order, starts[1:])] if len(order) else []

    # ---- single checks that generated code asks for ---------------------------------------------------------------------

    def initialised(self, site: Site, held: Any, active: Any) -> None:
        """A register that may not have been written is read."""
        if np.all(held):
            return
        count = count_of(active, self.geometry.size if self.bucket is ALL else len(self.bucket))
        bad = ~np.broadcast_to(held if np.ndim(held) < 2 else np.all(held, axis=0), (count,))
        threads = self._array(pick(self.bucket, active))[bad]
        self.report("uninitialised", f"`{site.buffer}` is read before it is written", site, threads)

    def register_index(self, site: Site, value: Any, count: int, span: int, active: Any) -> Any:
        """An index of a per-thread array, clipped to lie inside."""
        low, high = 0, count - span
        if np.all((np.asarray(value) >= low) & (np.asarray(value) <= high)):
            return value
        chosen = self._array(pick(self.bucket, active))
        values = np.broadcast_to(value, chosen.shape)
        bad = (values < low) | (values > high)
        text = f"index {int(values[bad][0])} is outside `{site.buffer}` ({count})"
        self.report("out_of_bounds", text, site, chosen[bad], indices=[(int(v),) for v in values[bad][:SHOWN]])
        return np.clip(value, low, high) if isinstance(value, np.ndarray) else min(max(value, low), high)

    def divisor(self, site: Site, active: Any, value: Any) -> None:
        """A division by zero."""
        if np.all(value):
            return
        chosen = self._array(pick(self.bucket, active))
        bad = np.broadcast_to(np.asarray(value) == 0, chosen.shape)
        self.report("division_by_zero", "an integer is divided by zero", site, chosen[bad])

    def require(self, site: Site, condition: Any, active: Any) -> None:
        """An assertion of the kernel."""
        if np.all(condition):
            return
        chosen = self._array(pick(self.bucket, active))
        bad = ~np.broadcast_to(condition, chosen.shape)
        self.report("assertion", site.name or "an assertion of the kernel fails", site, chosen[bad])


def _element(site: Site, view: TypedView, byte: int) -> list[tuple[int]]:
    """Which element of its buffer's storage an access reaches at `byte` of the arena; nothing where no buffer is named."""
    place = byte - view.start
    place = (place % view.arena.stride if view.arena.stride else place) - site.origin
    share = 2 if site.dtype.is_packed and view.dtype.itemsize == 1 and site.lanes > 1 else 1
    return [(share * (place // view.dtype.itemsize),)] if site.buffer and place >= 0 else []
