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
    """The active threads of the executing block, and the memory they see."""

    @property
    def count(self) -> int:
        """Number of active threads."""

    @property
    def threads(self) -> Any:
        """Linear index inside the launch chunk of each active thread, int array `(n,)`."""

    def id(self, level: str, within: str) -> Any:
        """Per active thread, the linear id of its `level` inside its `within` (`id("thread", "warp")` is the lane)."""

    def width(self, level: str, within: str) -> int:
        """Number of `level` in one `within` (`width("thread", "warp")`)."""

    def group(self, level: str) -> Any:
        """Per active thread, a number that is equal exactly for threads of the same `level` (`group("warp")`)."""

    def load(self, address: Any, dtype: DType) -> Any:
        """Elements at `address`, checked; vector types give shape `(n, lanes)`."""

    def store(self, address: Any, dtype: DType, value: Any) -> None:
        """Store elements at `address`, checked."""

    def atomic(self, address: Any, dtype: DType, update: Callable[[Any, Any], Any], value: Any) -> Any:
        """`memory = update(memory, value)` one thread after the other in thread order; the old values."""

    def exchange(self, value: Any, source: Any, level: str = "warp") -> Any:
        """Per active thread, `value` of the thread whose id inside `level` is `source`.

        A source that is not active gives the thread's own value and a finding.
        """

    def collect(self, value: Any, level: str = "warp") -> tuple[Any, Any]:
        """`(matrix, lanes)`: per active thread a row with `value` of every thread of its `level`, and which of them are active."""

    def finding(self, kind: str, message: str, where: Any = None) -> None:
        """Report a fault at the current line for the active threads (or those in the boolean array `where`)."""

    def unmodelled(self, what: str) -> None:
        """Something could not be modelled: the verdict becomes `incomplete`."""

    def print(self, text: str) -> None:
        """A line of output of the kernel."""

    @property
    def attributes(self) -> dict[str, Any]:
        """Attributes of the target."""

    def regions(self) -> Sequence[Any]:
        """Live allocations, for meanings that search by address."""
