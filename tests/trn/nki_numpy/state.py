"""The machine that kernels run on: generation, what is alive on chip, and the engines' accumulation registers."""

from __future__ import annotations

import itertools
from typing import Any

# "Trainium2 architecture" and its siblings; usable SBUF bytes as AWS publishes them with nkipy.
SBUF_BYTES = {"v2": 180_224, "v3": 212_984, "v4": 245_752}
PSUM_BYTES = 8 * 2048
MOVING_MAX = {"v2": 512, "v3": 512, "v4": 4096}


class NkiError(Exception):
    """A kernel breaks a documented rule."""


class Machine:
    """One NeuronCore.

    A tile is alive from its first write to its last access. What is alive together must fit; what has addresses must not overlap.
    """

    def __init__(self) -> None:
        self.start("v3")

    def start(self, generation: str) -> None:
        """An empty machine."""
        self.generation = generation
        self.new_kernel()

    def new_kernel(self) -> None:
        """Nothing is allocated."""
        self.clock = 0
        self.tiles: list[Any] = []
        self.registers: dict[str, tuple[str, Any]] = {}

    def allocate(self, tile: Any) -> None:
        """Remember a tile; one that can never fit is refused at once."""
        if tile.bytes > self.limit(tile.memory):
            raise NkiError(
                f"{tile.memory} holds {self.limit(tile.memory)} bytes per partition, a tile takes {tile.bytes}"
            )
        self.tiles.append(tile)

    def limit(self, memory: str) -> int:
        """Bytes of one partition."""
        return SBUF_BYTES[self.generation] if memory == "sbuf" else PSUM_BYTES

    def touch(self, tile: Any) -> None:
        """A tile is read or written."""
        self.clock += 1
        tile.first = tile.first if tile.first is not None else self.clock
        tile.last = self.clock

    def finish(self) -> None:
        """At the end of a kernel: did everything that was alive together fit?"""
        used = [tile for tile in self.tiles if tile.first is not None]
        for tile in used:
            alive = [other for other in used if other.memory == tile.memory and other.first <= tile.first <= other.last]
            total = sum(other.bytes for other in alive)
            if total > self.limit(tile.memory):
                raise NkiError(f"{tile.memory} holds {self.limit(tile.memory)} bytes per partition, {total} are alive")
            self._check_addresses([other for other in alive if other.address is not None])

    def _check_addresses(self, alive: list[Any]) -> None:
        spans = sorted((tile.address, tile.address + tile.bytes, tile.memory) for tile in alive)
        for (_, end, memory), (start, stop, _) in itertools.pairwise(spans):
            if start < end:
                raise NkiError(f"two tiles that are alive share bytes {start} to {min(end, stop) - 1} of {memory}")
        if any(end > self.limit(memory) for _, end, memory in spans):
            raise NkiError(f"an address is beyond the end of {spans[-1][2]}")

    def accumulate(self, engine: str, command: str, op: Any, values: Any) -> Any:
        """The engine's registers after an instruction that reduced to `values`."""
        if command == "reduce":
            if self.registers.get(engine, ("", None))[0] != op.name:
                raise NkiError(f"the {engine} engine goes on with a reduction that nobody began")
            values = op.function(self.registers[engine][1], values)
        self.registers[engine] = (op.name, values)
        return values


machine = Machine()
