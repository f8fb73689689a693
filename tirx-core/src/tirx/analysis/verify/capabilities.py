"""What the target can run: element types and constructs of the language."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...backend import find
from ...intrinsic import effect_of
from ...ir import Alloc, Assert, Bind, Broadcast, Call, Cast, Decl, DType, GlobalVar, Node, Ramp, Shuffle, While
from ...support.errors import Diagnostic
from ...support.span import Span
from ...target.kind import CONSTRUCTS
from .facts import Facts, Kernel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["check"]


def _effect(kind: str) -> Callable[[Any], bool]:
    return lambda node: effect_of(node).kind == kind


def _is_barrier(node: Any) -> bool:
    return effect_of(node).barrier is not None


def _named(*names: str) -> Callable[[Any], bool]:
    return lambda node: node.op.name in names


def _always(node: Any) -> bool:
    return True


def _sized_by_launch(node: Any) -> bool:
    row = find("storage_scopes", node.buffer.scope_name)
    return row is not None and row.allocator == "launch"


_SHUFFLES = ("tvm_warp_shuffle", "tvm_warp_shuffle_up", "tvm_warp_shuffle_down", "tvm_warp_shuffle_xor")
_POINTERS = ("address_of", "tvm_access_ptr", "ptr_byte_offset", "handle_add_byte_offset")

_UNSEEN = ("handle", "void", "opaque")  # kinds that every target has, as far as values go

# construct, the node that uses it, and when
_CONSTRUCTS: tuple[tuple[str, type[Node], Callable[[Any], bool]], ...] = (
    ("while", While, _always),
    ("asserts", Assert, _always),
    ("vectors", Ramp, _always),
    ("vectors", Broadcast, _always),
    ("vectors", Shuffle, _always),
    ("atomics", Call, _effect("atomic")),
    ("barriers", Call, _is_barrier),
    ("shuffles", Call, _named(*_SHUFFLES)),
    ("pointers", Call, _named(*_POINTERS)),
    ("calls", Call, lambda node: isinstance(node.op, GlobalVar)),
    ("dynamic_shared", Alloc, _sized_by_launch),
)


def check(facts: Facts) -> Iterator[Diagnostic]:
    """Problems of one function."""
    target = facts.target
    if target is None:
        return
    has = target.capabilities
    for kernel in facts.kernels:
        reported: set[str] = set()
        for construct, kind, applies in _CONSTRUCTS:
            if construct in has.constructs or construct in reported:
                continue
            node = next((node for node in kernel.all(kind) if applies(node)), None)
            if node is not None:
                reported.add(construct)
                yield Diagnostic(f"target `{target}` has no {CONSTRUCTS[construct]}", node.span)
        yield from _dtypes(facts, kernel, has.dtypes)


def _dtypes(facts: Facts, kernel: Kernel, known: frozenset[str]) -> Iterator[Diagnostic]:
    seen: set[str] = set()
    for dtype, span in _used_dtypes(facts, kernel):
        name = dtype.scalar_name
        if dtype.is_packed and name in known and name not in seen and facts.model is not None and not facts.model:
            seen.add(name)
            text = f"two elements of {name} share a byte, and target `{facts.target}`, which has no threads, works on whole ones"
            yield Diagnostic(text, span, hint="pass the bytes as uint8")
        if name in known or name in seen or dtype.kind in _UNSEEN:
            continue
        seen.add(name)
        yield Diagnostic(f"target `{facts.target}` has no {name}", span, hint=_offered(known))


def _offered(known: frozenset[str]) -> str:
    """The element types of a target, narrow ones of each kind first."""
    dtypes = sorted((DType(name) for name in known), key=lambda dtype: (dtype.kind, dtype.bits, dtype.name))
    return f"it has {', '.join(dtype.name for dtype in dtypes if dtype.kind not in _UNSEEN)}"


def _used_dtypes(facts: Facts, kernel: Kernel) -> Iterator[tuple[DType, Span | None]]:
    for param in facts.func.params:
        yield param.dtype, getattr(param, "span", None) or facts.func.span
    for node in kernel.all(Alloc, Decl):
        if isinstance(node, Alloc | Decl):
            yield node.buffer.dtype, node.span
    for bind in kernel.all(Bind):
        yield bind.var.dtype, bind.span
    for cast in kernel.all(Cast):
        yield cast.dtype, cast.span
