"""What a device offers to the runtime. Backends implement it; only they interpret geometry, resources and flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from .row import Binary

__all__ = ["DeviceApi", "KernelHandle"]


class KernelHandle(Protocol):
    """A loaded kernel."""

    name: str


class DeviceApi(Protocol):
    """One kind of device."""

    def count(self) -> int:
        """Number of devices present."""

    def describe(self, index: int) -> Mapping[str, Any]:
        """Name and figures of a device."""

    def upload(self, host: Any, index: int) -> int:
        """Allocate on device `index` and copy a NumPy array there; the address."""

    def download(self, address: int, host: Any, index: int) -> None:
        """Copy back into a NumPy array."""

    def free(self, address: int, index: int) -> None:
        """Give memory back."""

    def load(self, binary: Binary, index: int) -> Mapping[str, KernelHandle]:
        """Make a binary's kernels launchable."""

    def launch(
        self,
        kernel: KernelHandle,
        args: Sequence[tuple[Any, Any]],
        geometry: Mapping[str, int],
        resources: Mapping[str, int],
        flags: Sequence[str],
        stream: Any,
    ) -> None:
        """Launch with `(value, dtype)` arguments; pointers are addresses."""

    def synchronize(self, index: int) -> None:
        """Wait until all work of the device is done; raises what a kernel did wrong."""

    def time(self, index: int) -> Any:
        """A context manager whose `.milliseconds` is the time that the device spent inside."""
