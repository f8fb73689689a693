"""Executables, argument binding, launch plans, devices, toolchains. Names are imported at first use."""

from __future__ import annotations

from ..support.lazy import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arrays import ArrayView, view_of
    from .bind import Bound, bind_arguments
    from .executable import Executable
    from .explanation import Explanation
    from .launch_plan import LaunchPlan, LaunchStep
    from .packing import pack_elements, unpack_elements
    from .row import ArgumentKind, ArrayAdapter, Binary, DeviceRow, Resources, Toolchain

__all__ = [
    "ArgumentKind", "ArrayAdapter", "ArrayView", "Binary", "Bound", "DeviceRow", "Executable", "Explanation", "LaunchPlan", "LaunchStep",
    "Resources", "Toolchain", "bind_arguments", "pack_elements", "unpack_elements", "view_of",
]  # fmt: skip

_PLACES = {
    **dict.fromkeys(("ArrayView", "view_of"), "arrays"),
    **dict.fromkeys(("Bound", "bind_arguments"), "bind"),
    **dict.fromkeys(("LaunchPlan", "LaunchStep"), "launch_plan"),
    **dict.fromkeys(("pack_elements", "unpack_elements"), "packing"),
    **dict.fromkeys(("ArgumentKind", "ArrayAdapter", "Binary", "DeviceRow", "Resources", "Toolchain"), "row"),
    "Executable": "executable",
    "Explanation": "explanation",
}
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
