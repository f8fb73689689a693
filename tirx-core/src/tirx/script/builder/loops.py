"""Loops: `with Tx.serial(n) as i:`, or `for i in Tx.serial(n):`, which runs its body once and builds the loop around it."""

from __future__ import annotations

from ...ir import For, IntImm, Stmt, Var, cast, const, unify
from .state import Frame, builder, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from ...ir import Expr

__all__ = ["LoopFrame", "grid", "parallel", "serial", "thread_binding", "unroll", "vectorized"]

_NAMES = ("i", "j", "k", "l")


class LoopFrame(Frame):
    """One loop, or several directly inside each other. `with frame as i:` gives the variable (a tuple when there are several)."""

    __slots__ = ("annotations", "kinds", "thread", "vars")

    is_loop = True

    def __init__(
        self,
        headers: Sequence[tuple[Expr, Expr, Expr, str]],
        what: str,
        *,
        annotations: Mapping[str, Any] | None = None,
        thread: str | None = None,
        var: Var | None = None,
    ) -> None:
        super().__init__(what, [item for header in headers for item in header[:3]])
        self.kinds = tuple(header[3] for header in headers)
        self.annotations = tuple(sorted((annotations or {}).items()))
        self.thread = thread
        owner = builder(what)
        if var is not None:
            self.vars: tuple[Var, ...] = (var,)
        else:
            self.vars = tuple(Var(_name(n), header[0].dtype, span=self.span) for n, header in enumerate(headers))
            for number, item in enumerate(self.vars):
                owner.claim(item, _name(number), unique=False)

    def __enter__(self) -> Any:
        found = super().__enter__()
        builder(self.what).names.give_assigned(self.vars)
        return found

    def value(self) -> Any:
        """The variable, or all of them."""
        return self.vars[0] if len(self.vars) == 1 else self.vars

    def build(self, body: Stmt) -> Stmt:
        """The loops around `body`."""
        for number in reversed(range(len(self.vars))):
            start, extent, step = self.exprs[3 * number : 3 * number + 3]
            body = For(
                self.vars[number],
                start,
                extent,
                step,
                self.kinds[number],
                body,
                self.annotations,
                self.thread,
                span=self.span,
            )
        return body

    def __iter__(self) -> Iterator[Any]:
        return _Once(self)


class _Once:
    """Gives the loop's variable once; asking again closes the loop."""

    __slots__ = ("frame", "open")

    def __init__(self, frame: LoopFrame) -> None:
        self.frame = frame
        self.open = False

    def __iter__(self) -> _Once:
        return self

    def __next__(self) -> Any:
        if self.open:
            self.frame.__exit__(None, None, None)
            raise StopIteration
        self.open = True
        return self.frame.__enter__()


def _name(number: int) -> str:
    return _NAMES[number] if number < len(_NAMES) else f"i{number}"


def _header(
    what: str, start: Any, stop: Any, step: Any, kind: str, dtype: Any, extent: Any = None
) -> tuple[Expr, Expr, Expr, str]:
    """Start, extent, step and kind; the upper end is `stop`, or `extent` further than `start`."""
    if extent is not None and stop is not None:
        refuse(f"{what} is given both a stop and an extent", "give one of them")
    if stop is None and extent is None:
        start, stop = 0, start
    low, high = unify(start, extent if stop is None else stop)
    if dtype is not None:
        low, high = cast(low, str(dtype)), cast(high, str(dtype))
    by = const(1, low.dtype) if step is None else cast(step, low.dtype)
    if not low.dtype.is_integer:
        refuse(f"the bounds of {what} are of type {low.dtype}, not integers", "cast them, e.g. Tx.int32(x)")
    if isinstance(by, IntImm) and by.value == 0:
        refuse(f"{what} has step 0", "a loop steps by at least 1, or by a negative number")
    from_zero = isinstance(low, IntImm) and low.value == 0
    return low, high if stop is None or from_zero else high - low, by, kind


def _loop(
    name: str,
    kind: str,
    start: Any,
    stop: Any,
    step: Any,
    dtype: Any,
    annotations: Any,
    extent: Any,
    thread: str | None = None,
) -> LoopFrame:
    what = f"{name}()"
    header = _header(what, start, stop, step, kind, dtype, extent)
    return LoopFrame([header], what, annotations=annotations, thread=thread)


def serial(
    start: Any, stop: Any = None, *, annotations: Any = None, step: Any = None, unroll: bool | int | None = None, dtype: Any = None,
    extent: Any = None,
) -> LoopFrame:  # fmt: skip
    """A loop in order. `unroll`: True asks the compiler to unroll it, False not to, a number by how much.

    As in all loops, the end may be given as `stop`, or as `extent`: how far it is from `start`.
    """
    if unroll is True:
        return _loop("serial", "unrolled", start, stop, step, dtype, annotations, extent)
    notes = dict(annotations or {})
    if unroll is not None:
        notes["unroll"] = unroll
    return _loop("serial", "serial", start, stop, step, dtype, notes, extent)


def unroll(
    start: Any, stop: Any = None, *, annotations: Any = None, step: Any = None, dtype: Any = None, extent: Any = None
) -> LoopFrame:
    """A loop that the compiler is asked to unroll."""
    return _loop("unroll", "unrolled", start, stop, step, dtype, annotations, extent)


def parallel(
    start: Any, stop: Any = None, *, annotations: Any = None, step: Any = None, dtype: Any = None, extent: Any = None
) -> LoopFrame:
    """A loop whose iterations do not depend on each other."""
    return _loop("parallel", "parallel", start, stop, step, dtype, annotations, extent)


def vectorized(
    start: Any, stop: Any = None, *, annotations: Any = None, step: Any = None, dtype: Any = None, extent: Any = None
) -> LoopFrame:
    """A loop that becomes vector operations, one lane per iteration."""
    return _loop("vectorized", "vectorized", start, stop, step, dtype, annotations, extent)


def thread_binding(
    start: Any, stop: Any = None, thread: str | None = None, *, annotations: Any = None, extent: Any = None
) -> LoopFrame:
    """A loop whose iterations are the positions along the launch axis `thread`."""
    if thread is None and isinstance(stop, str):
        stop, thread = None, stop
    if not thread:
        refuse("thread_binding() does not say which launch axis it runs over", "give its tag as `thread`")
    return _loop("thread_binding", "thread_binding", start, stop, None, None, annotations, extent, thread)


def grid(*extents: Any, dtype: Any = None, unroll: bool = False) -> LoopFrame:
    """Loops inside each other, one per extent: a number, or a pair (low, high). `unroll` asks the compiler to unroll them all."""
    if not extents:
        refuse("grid() has no extents", "give one per loop, e.g. Tx.grid(4, 8)")
    headers = []
    for item in extents:
        low, high = item if isinstance(item, tuple | list) else (0, item)
        headers.append(_header("grid()", low, high, None, "unrolled" if unroll else "serial", dtype))
    return LoopFrame(headers, "grid()")
