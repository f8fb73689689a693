"""Executables, argument binding, launch plans, devices, toolchains."""

from __future__ import annotations

from .arrays import ArrayView, view_of
from .bind import Bound, bind_arguments
from .executable import Executable
from .launch_plan import LaunchPlan, LaunchStep
from .row import ArgumentKind, ArrayAdapter, Binary, DeviceRow, Resources, Toolchain

__all__ = [
    "ArgumentKind", "ArrayAdapter", "ArrayView", "Binary", "Bound", "DeviceRow", "Executable", "LaunchPlan", "LaunchStep",
    "Resources", "Toolchain", "bind_arguments", "view_of",
]  # fmt: skip
