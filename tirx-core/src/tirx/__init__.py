"""TIRx: a kernel language embedded in Python, and a compiler for it.

Importing this package loads nothing but itself: every name below is imported at first use, backends when they are asked for.
"""

from __future__ import annotations

from . import backend
from .support.late import late_bind
from .support.lazy import lazy_names
from .support.version import VERSION

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 4 ms at start-up
if TYPE_CHECKING:
    from .driver import compile, estimate, explain, simulate
    from .ir import IRModule, PrimFunc, structural_equal
    from .runtime import Executable
    from .script import from_source
    from .sim import Report
    from .support.errors import TirxError
    from .target import Target

__version__ = VERSION
__all__ = [
    "Executable", "IRModule", "PrimFunc", "Report", "Target", "TirxError", "backend", "compile", "estimate", "explain", "from_source",
    "simulate", "structural_equal",
]  # fmt: skip

_LAZY = {
    "compile": "driver", "estimate": "driver", "explain": "driver", "simulate": "driver",
    "IRModule": "ir", "PrimFunc": "ir", "structural_equal": "ir",
    "Executable": "runtime", "Report": "sim", "Target": "target", "TirxError": "support.errors",
    "from_source": "script",
}  # fmt: skip

# Services that lower layers ask for by name; only this composition root knows where they live.
late_bind("print", "tirx.script.printer:to_script")
late_bind("simplify", "tirx.arith:simplify")
late_bind("default_layout", "tirx.layout:row_major")
late_bind("row_major_strides", "tirx.layout.iters:row_major_strides")
late_bind("part_of_layout", "tirx.layout.picking:part_of_layout")
late_bind("storage_of_thread", "tirx.analysis.storage_size:storage_of_thread")
late_bind("commutes", "tirx.layout.picking:commutes")
late_bind("plain_strides", "tirx.layout.tile:plain_strides")
late_bind("placed_view", "tirx.target.placing:placed_view")
late_bind("address_of", "tirx.intrinsic.core:address_of")
late_bind("access_ptr", "tirx.intrinsic.core:access_ptr")
late_bind("refuse_call", "tirx.analysis.verify.requirements:refuse_call")
late_bind("abs", "tirx.intrinsic.core:absolute")
late_bind("launch_record", "tirx.transform.launch:from_plain")
late_bind("current_scopes", "tirx.target:current_scopes")
late_bind("call_function", "tirx.script.builder.calls:call_function")
late_bind("run_function", "tirx.driver:call_function")
late_bind("hint_of", "tirx.script.traces:hint_of")
backend.wire("tirx.wiring")

__getattr__, __dir__ = lazy_names(__name__, _LAZY)
