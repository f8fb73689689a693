"""What a launch asks of the driver, as plain data: dimensions, memory, attributes, and the bytes of arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tirx.ir import DType
from tirx.ir.numpy_types import numpy_dtype
from tirx.support.errors import ArgumentError, TargetError

from .flags import asked_for

__all__ = ["LaunchShape", "launch_shape", "packed", "stream_handle"]

_AXES = ("x", "y", "z")
_PORTABLE_CLUSTER = 8
_STATIC_LIMIT = 48 * 1024


class LaunchShape:
    """Dimensions of grid, block and cluster (None: no clusters), bytes of dynamic shared memory, and the launch's flags."""

    __slots__ = ("block", "cluster", "cooperative", "dynamic_bytes", "grid", "preferred_cluster", "programmatic")

    def __init__(self, geometry: Mapping[str, int], resources: Mapping[str, int], flags: Iterable[str]) -> None:
        self.grid = _dims(geometry, "cta")
        self.block = _dims(geometry, "thread")
        self.cluster = _optional(geometry, "cta_in_cluster")
        self.preferred_cluster = _optional(geometry, "preferred_cta_in_cluster")
        self.dynamic_bytes = resources.get("dynamic_shared_bytes", 0)
        asked = asked_for(flags)
        self.cooperative = "cooperative" in asked
        self.programmatic = "programmatic" in asked

    @property
    def is_empty(self) -> bool:
        """Nothing to do: a dimension is zero, which the driver would refuse."""
        return 0 in (*self.grid, *self.block)

    @property
    def needs_large_cluster(self) -> bool:
        """More ctas than every device with clusters allows."""
        dims = self.preferred_cluster or self.cluster or (1, 1, 1)
        return dims[0] * dims[1] * dims[2] > _PORTABLE_CLUSTER

    @property
    def needs_large_shared(self) -> bool:
        """More dynamic shared memory than a kernel may use without asking."""
        return self.dynamic_bytes > _STATIC_LIMIT


def launch_shape(geometry: Mapping[str, int], resources: Mapping[str, int], flags: Iterable[str]) -> LaunchShape:
    """The shape of one launch; `TargetError` for flags that CUDA does not have, or a grid that clusters do not divide."""
    shape = LaunchShape(geometry, resources, flags)
    for axis, total, part in zip(_AXES, shape.grid, shape.cluster or (1, 1, 1), strict=True):
        if part and total % part:
            raise TargetError(
                f"{total} ctas along {axis} are no multiple of the cluster's {part}",
                hint="round the grid up to whole clusters",
            )
    return shape


def _dims(geometry: Mapping[str, int], level: str) -> tuple[int, int, int]:
    x, y, z = (geometry.get(f"{level}.{axis}", 1) for axis in _AXES)
    return x, y, z


def _optional(geometry: Mapping[str, int], level: str) -> tuple[int, int, int] | None:
    return _dims(geometry, level) if any(f"{level}.{axis}" in geometry for axis in _AXES) else None


def packed(args: Sequence[tuple[Any, DType]]) -> list[bytes]:
    """The bytes of each argument as the kernel's parameters have them; addresses are 64 bits, records are bytes already."""
    return [
        value
        if isinstance(value, bytes)
        else np.asarray(int(value) if dtype.is_handle else value).astype(numpy_dtype(dtype)).tobytes()
        for value, dtype in args
    ]


def stream_handle(stream: Any) -> int:
    """The driver's handle of a stream: None, a number, or an object of a library that has streams."""
    if stream is None:
        return 0
    if isinstance(stream, int):
        return stream
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        return int((protocol() if callable(protocol) else protocol)[1])
    for name in ("cuda_stream", "ptr", "handle"):
        value = getattr(stream, name, None)
        if value is not None:
            return int(getattr(value, "value", value))
    raise ArgumentError(
        f"a {type(stream).__name__} is no stream", hint="give a torch.cuda.Stream, a handle as int, or None"
    )
