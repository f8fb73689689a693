"""The machine that kernels run on: generation, and what is alive on chip."""

from __future__ import annotations

# "Trainium2 architecture" and its siblings; usable SBUF bytes as AWS publishes them with nkipy.
SBUF_BYTES = {"v2": 180_224, "v3": 212_984, "v4": 245_752}
PSUM_BYTES = 8 * 2048
MOVING_MAX = {"v2": 512, "v3": 512, "v4": 4096}


class NkiError(Exception):
    """A kernel breaks a documented rule."""


class Machine:
    """One NeuronCore. Room is counted per allocating line: a loop that rebinds its tile needs that tile once."""

    def __init__(self) -> None:
        self.start("v3")

    def start(self, generation: str) -> None:
        """An empty machine."""
        self.generation = generation
        self.new_kernel()

    def new_kernel(self) -> None:
        """Nothing is allocated."""
        self.sites: dict[tuple[str, int], int] = {}

    def allocate(self, memory: str, site: int, size: int) -> None:
        """Take `size` bytes of every partition; refused when the memory is full."""
        self.sites[memory, site] = max(size, self.sites.get((memory, site), 0))
        total = sum(size for (kind, _), size in self.sites.items() if kind == memory)
        limit = SBUF_BYTES[self.generation] if memory == "sbuf" else PSUM_BYTES
        if total > limit:
            raise NkiError(f"{memory} holds {limit} bytes per partition, {total} are allocated")


machine = Machine()
