"""How a device function is launched: the record that `split_host_device` leaves in `attrs["launch"]`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir import Buffer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["DYNAMIC_BYTES", "EXTENT", "Bounds", "Launch", "from_plain"]

DYNAMIC_BYTES = "tirx.dyn_smem_bytes"  # attribute statement: how much dynamic shared memory a launch brings
EXTENT = "tirx.extent."  # attribute keys between `lower_scope_ids` and `split_host_device`: `tirx.extent.cta.x`


class Bounds:
    """What the target's compiler may count on; None where nobody said, or only the launch knows."""

    __slots__ = ("max_ctas_per_cluster", "min_ctas_per_multiprocessor", "threads_per_cta")

    def __init__(
        self,
        threads_per_cta: int | None = None,
        min_ctas_per_multiprocessor: int | None = None,
        max_ctas_per_cluster: int | None = None,
    ) -> None:
        self.threads_per_cta = threads_per_cta
        self.min_ctas_per_multiprocessor = min_ctas_per_multiprocessor
        self.max_ctas_per_cluster = max_ctas_per_cluster


class Launch:
    """A device function's launch.

    * `axes`, `extents`: launch axes, and their sizes where they are constants (else None)
    * `bounds`, `max_registers`: promises and limits for the target's compiler
    * `shared_bytes`: static shared memory of one cta; `dynamic_shared`: the buffer that starts the dynamic part, or
      None
    * `levels`: resolved sizes `{("cta", "thread"): 256, ("kernel", "cta"): None}`, also those the target fixes
    * `alignments`: bytes to which parameters must be aligned because the kernel reads or writes them in vectors
    * `flags`: names that the function asked for, such as a cooperative launch
    """

    __slots__ = (
        "alignments", "axes", "bounds", "dynamic_shared", "extents", "flags", "levels", "max_registers", "shared_bytes",
    )  # fmt: skip

    def __init__(
        self,
        axes: Sequence[str],
        extents: Sequence[int | None],
        *,
        bounds: Bounds | None = None,
        max_registers: int | None = None,
        shared_bytes: int = 0,
        dynamic_shared: Buffer | None = None,
        levels: Mapping[tuple[str, str], int | None] | None = None,
        flags: Sequence[str] = (),
        alignments: Mapping[str, int] | None = None,
    ) -> None:
        self.axes = tuple(axes)
        self.extents = tuple(extents)
        self.bounds = bounds or Bounds()
        self.max_registers = max_registers
        self.shared_bytes = shared_bytes
        self.dynamic_shared = dynamic_shared
        self.levels = dict(levels or {})
        self.flags = tuple(flags)
        self.alignments = dict(alignments or {})

    def extent(self, axis: str) -> int | None:
        """Size of an axis: 1 for one that the launch does not name, None when only the launch knows."""
        return self.extents[self.axes.index(axis)] if axis in self.axes else 1

    def replaced(self, **changes: Any) -> Launch:
        """A record that differs in the given constructor arguments."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return Launch(**{**values, **changes})

    def plain(self) -> dict[str, Any]:
        """The record as plain data, for printing and comparison."""
        return {
            "axes": self.axes,
            "extents": self.extents,
            "bounds": tuple(
                getattr(self.bounds, name)
                for name in ("threads_per_cta", "min_ctas_per_multiprocessor", "max_ctas_per_cluster")
            ),
            "max_registers": self.max_registers,
            "shared_bytes": self.shared_bytes,
            "dynamic_shared": None if self.dynamic_shared is None else self.dynamic_shared.name,
            "levels": {f"{child} in {parent}": size for (parent, child), size in self.levels.items()},
            "flags": self.flags,
            "alignments": self.alignments,
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Launch) and self.plain() == other.plain()

    def __hash__(self) -> int:
        return hash(repr(self.plain()))

    def __repr__(self) -> str:
        given = {name: value for name, value in self.plain().items() if value not in (None, (), {}, 0)}
        return f"Launch({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def from_plain(values: Mapping[str, Any], buffers: Mapping[str, Buffer]) -> Launch:
    """The record that `plain()` describes; `buffers` are those of the function's body by name."""
    given = dict(values)
    levels = {tuple(reversed(name.split(" in "))): size for name, size in given.pop("levels", {}).items()}
    dynamic = given.pop("dynamic_shared", None)
    return Launch(
        given.pop("axes", ()),
        given.pop("extents", ()),
        bounds=Bounds(*given.pop("bounds", ())),
        levels=levels,
        dynamic_shared=None if dynamic is None else buffers[dynamic],
        **given,
    )
