"""What meanings see of the simulator: the active threads of the call, and the memory behind addresses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ir import DType
from .atomics import one_after_other
from .launch import Chunk
from .memory import GLOBAL_BASE, LOCAL_BASE, SHARED_RANK_BITS, WINDOW_BASE, WINDOW_BITS, Arena, GlobalMemory, TypedView
from .numeric import ALL, paired, pick, unpaired
from .pending import Write
from .pool import Site, memory_dtype, storage_dtype
from .watch import GRANULE, Watch, Watches, granules

__all__ = ["Context"]


class Context:
    """Implements `tirx.intrinsic.SimContext` for the blocks of one chunk."""

    def __init__(self, chunk: Chunk, memory: GlobalMemory, checker: Any, attributes: dict[str, Any]) -> None:
        self.chunk = chunk
        self.memory = memory
        self.checker = checker
        self.scheduler: Any = None
        self._attributes = attributes
        self._bucket: Any = ALL
        self._size = chunk.size
        self.site: Any = None
        self.active: Any = ALL
        self._views: dict[Any, TypedView] = {}
        self._detached = False

    # ---- set by the scheduler and by generated code -------------------------------------------------------------------

    def begin(self, threads: Any, count: int) -> None:
        """A bucket is about to run."""
        self._bucket = threads
        self._size = count
        self.checker.bucket = threads

    def at(self, site: Site, active: Any) -> Context:
        """The next call is at `site`, for the `active` positions of the bucket."""
        self.site = site
        self.active = active
        return self

    # ---- threads ------------------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """Number of active threads."""
        return self._size if self.active is ALL else len(self.active)

    @property
    def threads(self) -> Any:
        """Linear index inside the launch chunk of each active thread."""
        chosen = pick(self._bucket, self.active)
        return np.arange(self.chunk.size) if chosen is ALL else chosen

    @property
    def dtype(self) -> DType:
        """Type of the result of the call."""
        found: DType = self.site.dtype
        return found

    @property
    def attributes(self) -> dict[str, Any]:
        """Attributes of the target."""
        return self._attributes

    def id(self, level: str, within: str) -> Any:
        """Per active thread, the number of its `level` inside its `within`."""
        geometry, chosen = self.chunk.geometry, pick(self._bucket, self.active)
        return geometry.within(within)[chosen] // geometry.widths.threads_in(level)

    def width(self, level: str, within: str) -> int:
        """Number of `level` in one `within`."""
        widths = self.chunk.geometry.widths
        return widths.threads_in(within) // widths.threads_in(level)

    def group(self, level: str) -> Any:
        """Per active thread, a number that is equal exactly for threads of the same `level`."""
        return self.chunk.geometry.group(level)[pick(self._bucket, self.active)]

    def axis(self, name: str) -> Any:
        """Per active thread, its index along a launch axis."""
        return self.chunk.geometry.axis(name, self.scheduler.translation.facts.extents)[pick(self._bucket, self.active)]

    def extent(self, name: str) -> int:
        """How many indices a launch axis has."""
        return int(self.scheduler.translation.facts.extents.get(name, 1))

    # ---- memory -------------------------------------------------------------------------------------------------------

    def load(self, address: Any, dtype: DType) -> Any:
        """Elements at `address`; vector types give shape `(n, lanes)`."""
        return self._access(self._load, address, dtype)

    def store(self, address: Any, dtype: DType, value: Any) -> None:
        """Store elements at `address`."""
        self._access(self._store, address, dtype, value)

    def atomic(self, address: Any, dtype: DType, update: Callable[[Any, Any], Any], value: Any) -> Any:
        """`memory = update(memory, value)`, one thread after the other in thread order; the old values."""
        return self._access(self._atomic, address, dtype, update, value)

    def _access(self, function: Callable[..., Any], *args: Any) -> Any:
        """An access; one of other threads than those of the running bucket says so to the checks."""
        if not self._detached:
            return function(*args)
        bucket, self.checker.bucket = self.checker.bucket, self._bucket
        meter = self.checker.meter
        if len(np.unique(self._bucket)) < len(
            self._bucket
        ):  # requests of warps are measured, not those of copy engines
            self.checker.meter = None
        made = function(*args)
        self.checker.bucket, self.checker.meter = bucket, meter
        return made

    def _load(self, address: Any, dtype: DType) -> Any:
        held, count = memory_dtype(dtype)
        made = np.zeros((self.count, count), held)
        for view, chosen, index in self._resolved(address, dtype, held, count):
            where = ALL if chosen is ALL else chosen
            made[where] = self.checker.access_load(self.site, view, index, pick(self.active, chosen))
        if count != dtype.lanes:
            return unpaired(made, storage_dtype(dtype))
        return made[:, 0] if dtype.lanes == 1 else made

    def _store(self, address: Any, dtype: DType, value: Any) -> None:
        held, count = memory_dtype(dtype)
        lanes = dtype.lanes
        value = np.asarray(value)
        if value.ndim == 1 and lanes > 1 and value.shape[0] != lanes:
            value = value[:, None]
        shape = (self.count, lanes)
        values = np.broadcast_to(value[:, None] if value.ndim == 1 and lanes == 1 else value, shape)
        if count != lanes:
            values = paired(values).reshape(self.count, count)
        for view, chosen, index in self._resolved(address, dtype, held, count):
            self.checker.access_store(self.site, view, index, values[chosen], pick(self.active, chosen))
        self.chunk.changed = True

    def _atomic(self, address: Any, dtype: DType, update: Callable[[Any, Any], Any], value: Any) -> Any:
        held = storage_dtype(dtype)
        given = value if isinstance(value, tuple) else (value,)
        parts = tuple(np.broadcast_to(np.asarray(item).astype(held), (self.count,)) for item in given)
        old = np.zeros(self.count, held)
        addresses = np.broadcast_to(np.asarray(address, np.int64), (self.count,))
        for view, chosen, index in self._resolved(address, dtype, held, 1):
            self.checker.access_atomic(self.site, view, index[:, 0], pick(self.active, chosen), addresses[chosen])
            found, changed = one_after_other(view.array, index[:, 0], update, tuple(part[chosen] for part in parts))
            self.chunk.changed = self.chunk.changed or changed
            old[chosen] = found
        return old

    def _resolved(self, address: Any, dtype: DType, held: Any, count: int) -> list[tuple[TypedView, Any, Any]]:
        """`(view, active positions, element index (n, count))` per memory that the addresses belong to."""
        addresses = np.broadcast_to(np.asarray(address, np.int64), (self.count,))
        self.checker.alignment(self.site, addresses, dtype, self.active)
        found = []
        lanes = np.arange(count)
        for arena, chosen, offset in self._arenas(addresses, dtype):
            index = (offset // held.itemsize)[:, None] + lanes
            key = (id(arena), held.name)
            view = self._views.get(key)
            if view is None:
                view = self._views[key] = TypedView(arena, held)
            found.append((view, chosen, index))
        return found

    def _arenas(self, addresses: Any, dtype: DType) -> list[tuple[Arena, Any, Any]]:
        """`(arena, active positions, byte in the arena)`; addresses of nothing are findings."""
        if len(addresses) and addresses.min() >= GLOBAL_BASE:
            return self._global(addresses, ALL, dtype)
        if len(addresses) and addresses.min() >= 1 << SHARED_RANK_BITS and addresses.max() < LOCAL_BASE:
            return self._shared(addresses, np.arange(len(addresses)), dtype)
        found = []
        for chosen, rule in self._windows(addresses):
            if len(chosen):
                found += rule(addresses[chosen], chosen, dtype)
        return found

    def _windows(self, addresses: Any) -> list[tuple[Any, Any]]:
        shared = (addresses >= 1 << SHARED_RANK_BITS) & (addresses < LOCAL_BASE)
        local = (addresses >= LOCAL_BASE) & (addresses < WINDOW_BASE)
        other = (addresses >= WINDOW_BASE) & (addresses < GLOBAL_BASE)
        far = addresses >= GLOBAL_BASE
        null = ~(shared | local | other | far)
        rules = (
            (shared, self._shared),
            (local, self._local),
            (other, self._other),
            (far, self._global),
            (null, self._nothing),
        )
        return [(np.flatnonzero(mask), rule) for mask, rule in rules]

    def _global(self, addresses: Any, chosen: Any, dtype: DType) -> list[tuple[Arena, Any, Any]]:
        found, rest = [], np.ones(len(addresses), bool)
        while rest.any():
            first = int(addresses[rest][0])
            place = self.memory.find(first)
            if place is None:
                lost = np.array([self.memory.find(int(a)) is None for a in addresses]) & rest
                self._lost(addresses, chosen, lost)
                rest &= ~lost
                continue
            arena = place[0]
            inside = rest & (addresses >= arena.base) & (addresses + dtype.bytes <= arena.base + len(arena.data))
            if not inside[rest.argmax()]:
                inside_first = np.zeros(len(addresses), bool)
                inside_first[rest.argmax()] = True
                self._lost(addresses, chosen, inside_first)
                rest &= ~inside_first
                continue
            rest &= ~inside
            whole = inside.all()
            part = chosen if whole else np.flatnonzero(inside) if chosen is ALL else chosen[inside]
            found.append((arena, part, (addresses if whole else addresses[inside]) - arena.base))
        return found

    def _lost(self, addresses: Any, chosen: Any, lost: Any) -> None:
        where = np.flatnonzero(lost)
        positions = where if chosen is ALL else chosen[where]
        self.checker.report(
            "out_of_bounds",
            f"address {int(addresses[where[0]]):#x} belongs to no allocation",
            self.site,
            self.threads[positions],
        )

    def _nothing(self, addresses: Any, chosen: Any, dtype: DType) -> list[tuple[Arena, Any, Any]]:
        self._lost(addresses, chosen, np.ones(len(addresses), bool))
        return []

    def _shared(self, addresses: Any, chosen: Any, dtype: DType) -> list[tuple[Arena, Any, Any]]:
        arena = self.chunk.arenas.get("shared")
        cluster = self.chunk.geometry.widths.cluster
        rank = (addresses >> SHARED_RANK_BITS) - 1
        offset = addresses & ((1 << SHARED_RANK_BITS) - 1)
        fits = (rank < cluster) & (offset + dtype.bytes <= (arena.stride if arena is not None else 0))
        if not fits.all():
            self._lost(addresses, chosen, ~fits)
            chosen, rank, offset = chosen[fits], rank[fits], offset[fits]
        if arena is None or not len(chosen):
            return []
        cta = self.chunk.geometry.cta[self.threads[chosen]] // cluster * cluster + rank
        return [(arena, chosen, cta * arena.stride + offset)]

    def _local(self, addresses: Any, chosen: Any, dtype: DType) -> list[tuple[Arena, Any, Any]]:
        arena = self.chunk.arenas.get("local")
        offset = addresses - LOCAL_BASE
        fits = offset + dtype.bytes <= (arena.stride if arena is not None else 0)
        if not fits.all():
            self._lost(addresses, chosen, ~fits)
            chosen, offset = chosen[fits], offset[fits]
        if arena is None or not len(chosen):
            return []
        return [(arena, chosen, self.threads[chosen] * arena.stride + offset)]

    def _other(self, addresses: Any, chosen: Any, dtype: DType) -> list[tuple[Arena, Any, Any]]:
        found = []
        number, offset = np.divmod(addresses - WINDOW_BASE, 1 << WINDOW_BITS)
        for which in np.unique(number):
            mask = number == which
            arena = self.chunk.windows[which] if which < len(self.chunk.windows) else None
            if arena is None or not (offset[mask] + dtype.bytes <= arena.stride).all():
                self._lost(addresses, chosen, mask)
                continue
            cta = self.chunk.geometry.cta[self.threads[chosen[mask]]]
            found.append((arena, chosen[mask], cta * arena.stride + offset[mask]))
        return found

    # ---- later ------------------------------------------------------------------------------------------------------

    def promise(
        self,
        address: Any,
        dtype: DType,
        value: Any,
        update: Any = None,
        *,
        what: str = "",
        until: str = "",
        apart: bool = False,
    ) -> Write:
        """A store (or an atomic update) that is made when it is given to `fulfil`."""
        shape = (self.count,) if dtype.lanes == 1 else (self.count, dtype.lanes)
        addresses = np.array(np.broadcast_to(np.asarray(address, np.int64), (self.count,)))
        values, threads = np.array(np.broadcast_to(np.asarray(value), shape)), np.array(self.threads)
        made = Write(self.site, threads, np.zeros(self.count, np.int64), addresses, dtype, values, update)
        made.apart = apart
        made.watch = self._watch(addresses, dtype, "w" if update is None else "u", what, until)
        return made

    def fulfil(self, writes: Sequence[Write | Watch], release: Any = None) -> None:
        """Make the stores that were promised, as their threads and at their places in the source; end what was watched.

        Who acquires through `release` sees them.
        """
        for write in writes:
            if not isinstance(write, Write):
                write.drop()
                continue
            if write.watch is not None:
                write.watch.drop()
            later = self._as(write.threads)
            later.site = write.site
            self.checker.settling = "apart" if write.apart else "ordinary"
            if write.update is None:
                later.store(write.address, write.dtype, write.value)
            else:
                later.atomic(write.address, write.dtype, write.update, write.value)
            self.checker.settling = ""
            if release is not None:
                later.release(release)

    def watch(
        self, address: Any, dtype: DType, *, queue: Any = None, what: str = "", until: str = "", fenced: bool = False
    ) -> Watch | None:
        """The first active thread's operation reads these places until it waits for `queue`, or until the answer is given to `fulfil`.

        `fenced`: the operation reads by a path of its own.
        """
        addresses = np.broadcast_to(np.asarray(address, np.int64), (self.count,))
        made = self._watch(addresses, dtype, "r", what, until, fenced)
        if made is not None and queue is not None:
            self.chunk.pending.watch(queue, made)
        return made

    def _watch(
        self, addresses: Any, dtype: DType, kind: str, what: str, until: str, fenced: bool = False
    ) -> Watch | None:
        if not self.checker.races or not len(addresses) or addresses.min() >= WINDOW_BASE:
            return None
        made = Watch(self.site, kind, what or self.site.name, until, int(self.threads[0]))
        for arena, chosen, offset in self._arenas(addresses, dtype):
            if arena.kind != "shared":
                continue
            if arena.watches is None:
                arena.watches = Watches(len(arena.data))
            places = granules(offset, dtype.bytes)
            if fenced and arena.proxy is not None:
                self.checker.unfenced(self.site, arena, places, self.threads[chosen], what)
            if kind != "r":  # what reads has been looked at when it was read
                self.checker.watched(self.site, arena, offset, dtype.bytes, self.threads[chosen], kind)
            made.add(arena.watches, np.unique(places))
        return made

    def ordinary(self, address: Any, dtype: DType) -> Any:
        """Per active thread, whether a place was last written in the ordinary way, not by a path of its own."""
        addresses = np.broadcast_to(np.asarray(address, np.int64), (self.count,))
        found = np.zeros(self.count, bool)
        for arena, chosen, offset in self._arenas(addresses, dtype):
            if arena.proxy is not None:
                found[chosen] = arena.proxy.writer[offset // GRANULE] >= 0
        return found

    def fence(self, queue: Any = None) -> None:
        """The active threads hand over: registers to the operations of `queue`; without one, ordinary writes to the other path."""
        if queue is not None:
            self.chunk.pending.fences(queue)[self.threads] += 1
        elif self.checker.paths is not None:
            self.checker.paths.fence(self.threads)

    def defer(
        self, queue: Any, address: Any, dtype: DType, value: Any, update: Any = None, *, what: str = "", until: str = "",
        apart: bool = False,
    ) -> None:  # fmt: skip
        """A store that happens when its thread waits for it."""
        made = self.promise(address, dtype, value, update, what=what, until=until, apart=apart)
        self.chunk.pending.defer(queue, made)

    def seal(self, queue: Any) -> None:
        """What the active threads deferred since they last sealed becomes a group."""
        self.chunk.pending.seal(queue, self.threads)

    def settle(self, queue: Any, keep: Any = None) -> None:
        """Deferred stores of the active threads happen, but those of the newest `keep` groups."""
        self.free(queue, keep, "rwu")
        self.chunk.pending.wait(queue, self.threads, keep)
        self.fulfil(self.chunk.pending.due(queue, self.threads, keep))

    def end(self) -> None:
        """All threads have ended: what they did not wait for still reaches global memory, but must not need the cta's own."""
        writes, watches = self.chunk.pending.left()
        self.fulfil([write for write in writes if len(write.address) and write.address.min() >= GLOBAL_BASE])
        for watch in watches:
            text = f"the cta ends while `{watch.what}` may still be reading its memory"
            self.checker.report("in_flight", text, watch.site, np.array([watch.thread]), notes=watch.notes)

    def free(self, queue: Any, keep: Any = None, kinds: str = "r") -> None:
        """The operations of all groups but the newest `keep` have read what they read."""
        for watch in self.chunk.pending.over(queue, self.threads, keep, kinds):
            watch.drop()

    def fenced_in(self, queue: Any) -> Any:
        """Per active thread, how often it fenced in `queue`; generated code only."""
        return self.chunk.pending.fences(queue)[self.threads]

    def group_in(self, queue: Any) -> Any:
        """Per active thread, the number of the open group of `queue`, from 1 on; generated code only."""
        return self.chunk.pending.sealed(queue)[self.threads] + 1

    def withdrawn(self, queue: Any) -> list[Write]:
        """The deferred stores of the active threads, which are no longer in the queue."""
        return self.chunk.pending.due(queue, self.threads, None)

    def repeated(self, counts: Any) -> Context:
        """This context with every active thread standing `counts` times, for accesses of many places by one thread."""
        return self._as(np.repeat(self.threads, counts))

    def _as(self, threads: Any) -> Context:
        made = Context.__new__(Context)
        made.__dict__.update(self.__dict__)
        made.active, made._bucket, made._size, made._detached = ALL, threads, len(threads), True
        return made

    @property
    def state(self) -> dict[str, Any]:
        """What meanings keep between calls, as long as the running ctas live."""
        return self.chunk.state

    @property
    def size(self) -> int:
        """Number of threads of the running ctas, active or not."""
        return self.chunk.size

    @property
    def elapsed(self) -> int:
        """What was done so far: blocks that ran, and requests to memory where these are measured."""
        meter = self.checker.meter
        requests = sum(line.requests for line in meter.lines.values()) if meter is not None else 0
        return int(self.scheduler.blocks_run + requests)

    # ---- collectives --------------------------------------------------------------------------------------------------

    def exchange(self, value: Any, source: Any, level: str = "warp") -> Any:
        """Per active thread, `value` of the thread whose id inside `level` is `source`; absent ones are findings."""
        value = np.asarray(value)
        values = np.broadcast_to(value, (self.count, *value.shape[1:])) if value.ndim else np.full(self.count, value)
        geometry, threads = self.chunk.geometry, self.threads
        width = geometry.widths.threads_in(level)
        source = np.broadcast_to(source, (self.count,))
        wanted = threads - geometry.within(level)[threads] + source
        place = np.full(self.chunk.size, -1, np.int64)
        place[threads] = np.arange(self.count)
        inside = (source >= 0) & (source < width) & (wanted >= 0) & (wanted < self.chunk.size)
        found = np.where(inside, place[np.where(inside, wanted, 0)], -1)
        absent = found < 0
        if absent.any():
            self.finding(
                "absent_lane", f"the value of a thread that does not take part in this {self.site.name} is read", absent
            )
            found = np.where(absent, np.arange(self.count), found)
        return values[found]

    def collect(self, value: Any, level: str = "warp") -> tuple[Any, Any]:
        """`(matrix, present)`: per active thread a row with `value` of every thread of its `level`, and which are active."""
        value = np.asarray(value)
        values = np.broadcast_to(value, (self.count,)) if value.ndim < 2 else value
        geometry, threads = self.chunk.geometry, self.threads
        width = geometry.widths.threads_in(level)
        groups, row = np.unique(geometry.group(level)[threads], return_inverse=True)
        matrix = np.zeros((len(groups), width, *values.shape[1:]), values.dtype)
        present = np.zeros((len(groups), width), bool)
        inner = geometry.within(level)[threads]
        matrix[row, inner], present[row, inner] = values, True
        return matrix[row], present[row]

    def exist(self, level: str) -> Any:
        """Per active thread a row that says which threads of its `level` the launch has and have not ended."""
        geometry, threads = self.chunk.geometry, self.threads
        width = geometry.widths.threads_in(level)
        first = threads - geometry.within(level)[threads]
        members = first[:, None] + np.arange(width)
        same = (
            members < (geometry.cta[threads] + 1)[:, None] * geometry.per_cta
            if width <= geometry.per_cta
            else members >= 0
        )
        inside = np.minimum(members, geometry.size - 1)
        return same & (self.scheduler.state[inside] == 0)

    def meet(self, level: str) -> None:
        """A barrier inside a group that runs together: living threads of it that are elsewhere are a finding."""
        _, present = self.collect(np.zeros(self.count, bool), level)
        absent = (self.exist(level) & ~present).any(axis=1)
        self.finding("divergent_barrier", f"not all threads of the {level} reach this barrier together", absent)
        self.checker.synchronise(level, self.threads)

    def where(self, mask: Any) -> Context:
        """This context for the active threads where `mask` holds."""
        made = Context.__new__(Context)
        made.__dict__.update(self.__dict__)
        chosen = np.flatnonzero(mask)
        made.active = chosen if self.active is ALL else self.active[chosen]
        return made

    # ---- order --------------------------------------------------------------------------------------------------------

    def wait_at(self, target: int, key: Any, level: str, identifier: Any, count: Any) -> None:
        """The active threads wait at a barrier; generated code only."""
        self.scheduler.arrive(self.site, pick(self._bucket, self.active), target, key, (level, identifier, count))

    def arrive(self, level: str, identifier: Any = None, count: Any = None) -> None:
        """The active threads count as arrived at a barrier, and go on."""
        self.scheduler.arrive(self.site, pick(self._bucket, self.active), -1, (), (level, identifier, count))

    def acquire(self, address: Any) -> None:
        """What was released through `address` is visible to the active threads from here on."""
        self.checker.acquire(address, self.threads)

    def release(self, address: Any) -> None:
        """Who acquires through `address` later sees what the active threads did so far."""
        self.checker.release(address, self.threads)

    def synchronise(self, level: str) -> None:
        """The active threads of each `level` see each other's writes from here on."""
        self.checker.synchronise(level, self.threads)

    # ---- reports ------------------------------------------------------------------------------------------------------

    def finding(
        self, kind: str, message: str, where: Any = None, *, other: Any = None, notes: Sequence[str] = ()
    ) -> None:
        """Report a fault at the current line for the active threads (or those in the boolean array `where`)."""
        threads = self.threads if where is None else self.threads[np.broadcast_to(where, (self.count,))]
        if len(threads):
            self.checker.report(
                kind, message, self.site, threads, other=other if other is not self.site else None, notes=notes
            )

    def unmodelled(self, what: str) -> None:
        """Something could not be modelled: the verdict becomes `incomplete`."""
        place = f" ({self.site.span})" if self.site is not None and self.site.span is not None else ""
        self.checker.unmodelled(what + place)

    def print(self, text: str) -> None:
        """A line of output of the kernel."""
        self.checker.print(text)

    def endless(self) -> bool:
        """A loop that waits for nobody turns without end."""
        self.finding("livelock", "this loop does not end")
        return True

    def regions(self) -> Sequence[Any]:
        """Live allocations, for meanings that search by address."""
        return [*self.memory.arenas, *self.chunk.arenas.values()]
