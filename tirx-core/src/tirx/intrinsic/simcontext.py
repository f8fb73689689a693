"""What a meaning may ask of the simulator.

A meaning is `function(ctx, *values, **attrs)`. Values are NumPy arrays over the active threads, shape `(n,)` or `(n, lanes)`;
a value that is the same for all threads may be a scalar or a Python number. Pointers are integers (addresses). Written
places come as addresses too. The result is an array over the active threads (or a scalar), None for `void`.
Targets without threads run with one agent: n is 1; region operands come as `SimRegion`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir import DType

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any, Protocol
else:
    Protocol = object

__all__ = ["SimContext", "SimRegion"]


class SimRegion(Protocol):
    """A box of a buffer: reads and writes go through the memory checks."""

    shape: tuple[int, ...]
    dtype: DType
    scope: str

    def read(self) -> Any:
        """The elements as an array of `shape` (a copy), in the NumPy type of `dtype`."""

    def write(self, value: Any, mask: Any = None) -> None:
        """Store `value` (cast to `dtype`), only where `mask` when given."""

    def written(self) -> Any:
        """Which elements were written since their allocation, a bool array of `shape`. Asking is no read."""


class SimContext(Protocol):
    """The active threads of the executing block, and the memory they see.

    A meaning of a barrier is called when everybody has arrived, with all of them active; one of a row whose effect is `wait`
    answers per thread whether it may go on, and is asked again when somebody else got further.
    """

    @property
    def count(self) -> int:
        """Number of active threads."""

    @property
    def threads(self) -> Any:
        """Linear index inside the launch chunk of each active thread, int array `(n,)`."""

    @property
    def dtype(self) -> DType:
        """Type of the call's result."""

    def id(self, level: str, within: str) -> Any:
        """Per active thread, the linear id of its `level` inside its `within` (`id("thread", "warp")` is the lane)."""

    def width(self, level: str, within: str) -> int:
        """Number of `level` in one `within` (`width("thread", "warp")`)."""

    def group(self, level: str) -> Any:
        """Per active thread, a number that is equal exactly for threads of the same `level` (`group("warp")`)."""

    def axis(self, name: str) -> Any:
        """Per active thread, its index along a launch axis (`axis("cta.x")`)."""

    def extent(self, name: str) -> int:
        """How many indices a launch axis has (`extent("cta.x")`)."""

    # ---- memory ----

    def load(self, address: Any, dtype: DType) -> Any:
        """Elements at `address`, checked; vector types give shape `(n, lanes)`."""

    def store(self, address: Any, dtype: DType, value: Any) -> None:
        """Store elements at `address`, checked."""

    def atomic(self, address: Any, dtype: DType, update: Callable[..., Any], value: Any) -> Any:
        """`memory = update(memory, value)` one thread after the other in thread order; the old values.

        A tuple of values is passed on as several arguments. `update` works on arrays, and changes nothing else. Atomics on one
        address order their threads, as `release` and `acquire` of that address do.
        """

    def where(self, mask: Any) -> SimContext:
        """This context for the active threads where `mask` holds: its loads and stores take values of those only."""

    def regions(self) -> Sequence[Any]:
        """Live allocations, for meanings that search by address."""

    # ---- later ----

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
    ) -> Any:
        """A store (with `update`: an atomic update) that is made when it is given to `fulfil`; nobody sees it before.

        Until then an access of these places is a finding, which says `what` is going on and what must come before (`until`). `apart`: it
        is written by a path of its own, which no fence is needed for.
        """

    def watch(
        self, address: Any, dtype: DType, *, queue: Any = None, what: str = "", until: str = "", fenced: bool = False
    ) -> Any:
        """The operation of the first active thread reads these places until it waits for `queue`, or until the answer is given to `fulfil`.

        A write of them before is a finding. `fenced`: it reads by a path of its own, where ordinary writes are seen behind `fence()` only.
        """

    def ordinary(self, address: Any, dtype: DType) -> Any:
        """Per active thread, whether a place was last written in the ordinary way, not by a path of its own."""

    def fence(self, queue: Any = None) -> None:
        """The active threads hand over: registers to the operations of `queue`; without one, ordinary writes to the other path."""

    def fulfil(self, writes: Sequence[Any], release: Any = None) -> None:
        """Make the stores that were promised, and end what was watched; who acquires through `release` sees them."""

    def defer(
        self, queue: Any, address: Any, dtype: DType, value: Any, update: Any = None, *, what: str = "", until: str = "",
        apart: bool = False,
    ) -> None:  # fmt: skip
        """A promise that its thread keeps when it waits for `queue` (any name)."""

    def seal(self, queue: Any) -> None:
        """What the active threads deferred to `queue` since they last sealed it becomes a group."""

    def settle(self, queue: Any, keep: Any = None) -> None:
        """Deferred stores of the active threads happen, but those of the newest `keep` groups; None: all, sealed or not."""

    def free(self, queue: Any, keep: Any = None) -> None:
        """Operations of all groups but the newest `keep` have read what they read; what they write is still to come."""

    def withdrawn(self, queue: Any) -> Sequence[Any]:
        """The deferred stores of the active threads as promises; the queue no longer has them."""

    def repeated(self, counts: Any) -> SimContext:
        """This context with every active thread standing `counts` times: one thread accesses many places at once."""

    @property
    def state(self) -> dict[str, Any]:
        """What meanings keep between calls, as long as the running ctas live."""

    @property
    def elapsed(self) -> int:
        """A clock: it counts blocks and requests to memory that ran so far, and never goes back."""

    @property
    def size(self) -> int:
        """Number of threads of the running ctas, active or not."""

    # ---- together ----

    def exchange(self, value: Any, source: Any, level: str = "warp") -> Any:
        """Per active thread, `value` of the thread whose id inside `level` is `source`.

        A source that is not active gives the thread's own value and a finding.
        """

    def collect(self, value: Any, level: str = "warp") -> tuple[Any, Any]:
        """`(matrix, present)`: per active thread a row with `value` of every thread of its `level`, and which are active."""

    def exist(self, level: str) -> Any:
        """Per active thread a row that says which threads of its `level` the launch has and have not ended."""

    def arrive(self, level: str, identifier: Any = None, count: Any = None) -> None:
        """The active threads count as arrived at a barrier, and go on."""

    def acquire(self, address: Any) -> None:
        """What was released through `address` (a number, an array, or a tuple as a name) is visible from here on."""

    def release(self, address: Any) -> None:
        """Who acquires through `address` later sees what the active threads did so far."""

    def synchronise(self, level: str) -> None:
        """The active threads of each `level` see each other's writes from here on."""

    # ---- reports ----

    @property
    def site(self) -> Any:
        """Where the call stands, to be named as the other side of a later finding."""

    def finding(
        self, kind: str, message: str, where: Any = None, *, other: Any = None, notes: Sequence[str] = ()
    ) -> None:
        """Report a fault at the current line for the active threads (or those in the boolean array `where`).

        `other` is the site of what it clashes with; `notes` say what to do.
        """

    def unmodelled(self, what: str) -> None:
        """Something could not be modelled: the verdict becomes `incomplete`."""

    def print(self, text: str) -> None:
        """A line of output of the kernel."""

    @property
    def attributes(self) -> dict[str, Any]:
        """Attributes of the target."""
