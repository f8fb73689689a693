"""Which buffer lies where in the memories of a cta: accesses through addresses name no buffer, people do."""

from __future__ import annotations

from ..ir import Buffer, BufferLoad, BufferStore
from ..ir.sizes import product
from .facts import Facts

__all__ = ["Places"]


class Places:
    """Names of buffers by memory and byte; where several lie at one place (reused, or seen in two ways), the first in the program."""

    __slots__ = ("_known",)

    def __init__(self, facts: Facts) -> None:
        self._known: dict[str, list[tuple[int, int, str]]] = {}
        seen: set[int] = set()
        for node in facts.keep_alive:
            if isinstance(node, BufferLoad | BufferStore):
                buffer = node.source or node.buffer
                root = facts.roots.get(id(node.buffer.data))
                if id(buffer) not in seen and root is not None and root.kind == "shared":
                    seen.add(id(buffer))
                    self._add(root.space, root.offset, buffer)

    def _add(self, space: str, origin: int, buffer: Buffer) -> None:
        first, count = buffer.elem_offset, product(buffer.shape)
        if not (isinstance(first, int) and isinstance(count, int)):
            return
        start = origin + first * buffer.dtype.bytes
        self._known.setdefault(space, []).append((start, start + max(count * buffer.dtype.bytes, 1), buffer.name))

    def name(self, space: str, byte: int) -> str:
        """The buffer at a byte of a memory; nothing where none is known."""
        return next((name for start, end, name in self._known.get(space, ()) if start <= byte < end), "")
