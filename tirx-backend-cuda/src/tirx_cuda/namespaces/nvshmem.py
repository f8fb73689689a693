"""`Tx.nvshmem`: memory of other processing elements (PEs), by NVSHMEM's functions.

Pointers lie in symmetric memory: the same array of every element. Numbers of elements count what pointers point to. Functions
of data movement have `.warp` and `.block`, which all threads of a warp or cta call together.
"""

from __future__ import annotations

from typing import Any

from tirx.intrinsic import call
from tirx.ir import Call, PointerType, as_expr, cast

from ..op_nvshmem import COMPARISONS, ROW, SIGNALS, WORDS
from .checked import no_name, pointer_to, refuse

__all__ = [
    "barrier_all", "fence", "getmem_nbi", "my_pe", "n_pes", "putmem_nbi", "putmem_signal_nbi", "quiet", "signal_op",
    "wait_until",
]  # fmt: skip


def __dir__() -> list[str]:
    """What completion offers."""
    return [*__all__]


def __getattr__(name: str) -> Any:
    raise no_name("Tx.nvshmem", name, __all__)


class Transfer:
    """Copy elements from or to another element without waiting: by one thread; `.warp` and `.block` by all of them together."""

    def __init__(self, name: str, doc: str) -> None:
        self._name = name
        self.__doc__ = doc

    def __call__(self, dst: Any, src: Any, nelems: Any, pe: Any, element: int | None = None) -> Call:
        """By the calling thread alone. `element` is the size in bytes that `nelems` counts, where no pointer says it."""
        return call(ROW[self._name], dst, src, nelems, pe, element=_element(dst, src, element))

    def warp(self, dst: Any, src: Any, nelems: Any, pe: Any, element: int | None = None) -> Call:
        """By all threads of the warp, which give the same arguments."""
        return call(ROW[f"{self._name}.warp"], dst, src, nelems, pe, element=_element(dst, src, element))

    def block(self, dst: Any, src: Any, nelems: Any, pe: Any, element: int | None = None) -> Call:
        """By all threads of the cta, which give the same arguments."""
        return call(ROW[f"{self._name}.block"], dst, src, nelems, pe, element=_element(dst, src, element))


class SignalledTransfer:
    """Copy elements to another element, then change a word there: by one thread; `.warp` and `.block` by all of them together."""

    def __init__(self, doc: str) -> None:
        self.__doc__ = doc

    def __call__(
        self,
        dst: Any,
        src: Any,
        nelems: Any,
        sig_addr: Any,
        signal: Any,
        sig_op: str,
        pe: Any,
        element: int | None = None,
    ) -> Call:
        """By the calling thread alone. `element` is the size in bytes that `nelems` counts, where no pointer says it."""
        return self._call("", dst, src, nelems, sig_addr, signal, sig_op, pe, element)

    def warp(
        self,
        dst: Any,
        src: Any,
        nelems: Any,
        sig_addr: Any,
        signal: Any,
        sig_op: str,
        pe: Any,
        element: int | None = None,
    ) -> Call:
        """By all threads of the warp, which give the same arguments."""
        return self._call(".warp", dst, src, nelems, sig_addr, signal, sig_op, pe, element)

    def block(
        self,
        dst: Any,
        src: Any,
        nelems: Any,
        sig_addr: Any,
        signal: Any,
        sig_op: str,
        pe: Any,
        element: int | None = None,
    ) -> Call:
        """By all threads of the cta, which give the same arguments."""
        return self._call(".block", dst, src, nelems, sig_addr, signal, sig_op, pe, element)

    @staticmethod
    def _call(
        group: str,
        dst: Any,
        src: Any,
        nelems: Any,
        address: Any,
        signal: Any,
        sig_op: str,
        pe: Any,
        element: int | None,
    ) -> Call:
        row, op = ROW[f"putmem_signal_nbi{group}"], _choice("sig_op", sig_op, SIGNALS)
        size = _element(dst, src, element)
        return call(row, dst, src, nelems, pointer_to(address), _word(signal), pe, sig_op=op, element=size)


getmem_nbi = Transfer("getmem_nbi", "`nelems` elements from `src` of element `pe` to `dst`; there after `quiet()`.")
putmem_nbi = Transfer("putmem_nbi", "`nelems` elements from `src` to `dst` of element `pe`; there after its `quiet()`.")
putmem_signal_nbi = SignalledTransfer(
    '`putmem_nbi`, after which the word `sig_addr` of `pe` is set (`sig_op="set"`) or added to.'
)


def my_pe() -> Call:
    """The number of this element."""
    return call(ROW["my_pe"])


def n_pes() -> Call:
    """How many elements there are."""
    return call(ROW["n_pes"])


def signal_op(sig_addr: Any, signal: Any, sig_op: str, pe: Any) -> Call:
    """The 64-bit word `sig_addr` of element `pe` becomes `signal` (`"set"`), or grows by it (`"add"`)."""
    return call(ROW["signal_op"], pointer_to(sig_addr), _word(signal), pe, sig_op=_choice("sig_op", sig_op, SIGNALS))


def wait_until(ivar: Any, cmp: str, cmp_value: Any, type: str = "uint64_t") -> Call:
    """Wait until the word at `ivar` is `eq ne gt ge lt le` `cmp_value`; what was written before it is seen then."""
    name = _choice("type", type, WORDS)
    wanted = cast(as_expr(cmp_value, WORDS[name][0]), WORDS[name][0])
    return call(ROW["wait_until"], pointer_to(ivar), wanted, cmp=_choice("cmp", cmp, COMPARISONS), type=name)


def quiet() -> Call:
    """All that this element asked for before is complete and visible."""
    return call(ROW["quiet"])


def fence() -> Call:
    """What goes to an element before it arrives there before what goes there after it."""
    return call(ROW["fence"])


def barrier_all() -> Call:
    """`quiet()`, then wait for all elements to come here; one thread of each calls it."""
    return call(ROW["barrier_all"])


def _element(dst: Any, src: Any, element: int | None) -> int:
    """The size of what pointers point to."""
    if element is not None:
        return element
    for pointer in (dst, src):
        kind = pointer_to(pointer).dtype
        pointee = kind.pointee if isinstance(kind, PointerType) else None
        if pointee is not None and not pointee.is_handle and pointee.name != "void":
            return int(pointee.bytes)
    raise refuse(
        "the pointers do not say what `nelems` counts", "give typed pointers such as B.ptr_to([i]), or element=BYTES"
    )


def _word(signal: Any) -> Any:
    return cast(as_expr(signal, "uint64"), "uint64")


def _choice(name: str, given: str, known: Any) -> str:
    if given not in known:
        raise refuse(f"`{name}` is not {given!r}", f"it is {', '.join(known)}")
    return given
