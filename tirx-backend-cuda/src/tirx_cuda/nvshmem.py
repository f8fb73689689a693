"""Kernels that use `Tx.nvshmem` on several processing elements, simulated in one process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tirx
from tirx.sim.report import Report
from tirx.support.errors import ArgumentError

from .sim.world import World

__all__ = ["simulate"]


def simulate(kernel: Any, arguments: Sequence[Sequence[Any]], **options: Any) -> list[Report]:
    """Run `kernel` on as many elements as there are lists of arguments, all at once; the report of each.

        reports = tirx_cuda.nvshmem.simulate(exchange, [(a0, b0), (a1, b1)], target="cuda -arch=sm_90a")

    Arrays in the same position are the same symmetric memory, so they have one shape and type. `options` go to `tirx.simulate`.
    Elements take turns and repeat exactly; races between them are not found.
    """
    first = arguments[0] if arguments else ()
    for pe, own in enumerate(arguments):
        for position, (mine, theirs) in enumerate(zip(own, first, strict=True)):
            if (getattr(mine, "shape", None), getattr(mine, "dtype", None)) != (
                getattr(theirs, "shape", None), getattr(theirs, "dtype", None)
            ):  # fmt: skip
                raise ArgumentError(
                    f"argument {position} of element {pe} is no array of the same shape and type as that of element 0",
                    hint="symmetric memory is the same on all elements",
                )
    world = World(arguments)
    return world.run(lambda pe: tirx.simulate(kernel, *arguments[pe], **options))
