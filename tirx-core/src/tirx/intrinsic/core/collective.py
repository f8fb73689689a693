"""What threads do together: barriers and exchange inside a warp."""

from __future__ import annotations

from ...ir import as_expr
from ..call import call
from ..row import Barrier, Effect, Intrinsic, Operand
from .build import builtin, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ...ir import Call

__all__ = [
    "tvm_storage_sync", "tvm_warp_activemask", "tvm_warp_shuffle", "tvm_warp_shuffle_down", "tvm_warp_shuffle_up",
    "tvm_warp_shuffle_xor",
]  # fmt: skip

_WHERE = "tirx.sim.meanings.collective:"
_INT = ("integer",)


def _shuffle(name: str, lane: str, doc: str) -> Intrinsic:
    """An exchange of values: it is neither moved nor dropped, since all named threads must reach it together."""
    operands = [
        Operand("mask", dtypes=("uint32", *_INT)), Operand("value"), Operand(lane, dtypes=_INT), Operand("width", dtypes=_INT),
        Operand("warp_size", dtypes=_INT),
    ]  # fmt: skip
    return Intrinsic(name, operands, "arg:value", Effect("sync"), doc=doc, meaning=_WHERE + name)


_SYNC = Intrinsic(
    "tvm_storage_sync", [], "void", Effect("sync", Barrier("cta")), attrs={"scope": "shared"}, form=("scope",),
    doc="all threads of the block meet, and see each other's writes to shared and global memory",
    meaning=_WHERE + "storage_sync",
)  # fmt: skip
_WARP_SYNC = Intrinsic(
    "tirx.warp_sync", [], "void", Effect("sync", Barrier("warp")),
    doc="all threads of the warp meet, and see each other's writes", meaning=_WHERE + "warp_sync",
)  # fmt: skip
_SHUFFLES = (
    _shuffle("tvm_warp_shuffle", "lane", "the value of thread `lane` of each group of `width` threads"),
    _shuffle("tvm_warp_shuffle_up", "delta", "the value of the thread `delta` below, own value where there is none"),
    _shuffle("tvm_warp_shuffle_down", "delta", "the value of the thread `delta` above, own value where there is none"),
    _shuffle(
        "tvm_warp_shuffle_xor", "lane_mask", "the value of the thread whose number differs in the bits of `lane_mask`"
    ),
)
_ACTIVE = Intrinsic(
    "tvm_warp_activemask", [], "uint32", Effect("sync"),
    doc="one bit for each thread of the warp that is here now; 32 threads have one",
    meaning=_WHERE + "tvm_warp_activemask",
)  # fmt: skip
ROWS = (_SYNC, _WARP_SYNC, *_SHUFFLES, _ACTIVE)

tvm_warp_shuffle, tvm_warp_shuffle_up, tvm_warp_shuffle_down, tvm_warp_shuffle_xor = map(builtin, _SHUFFLES)
tvm_warp_activemask = builtin(_ACTIVE)
warp_sync = builtin(_WARP_SYNC)

_SCOPES = {"shared": _SYNC, "shared.dyn": _SYNC, "warp": _WARP_SYNC}


def tvm_storage_sync(scope: Any, is_load: bool = False, num_blocks: int = -1) -> Call:
    """A barrier of the threads that share a memory: `"shared"` (of the block) or `"warp"`."""
    name = getattr(as_expr(scope), "value", None)
    row = _SCOPES.get(str(name))
    if row is None or is_load or num_blocks != -1:
        refuse(
            f"there is no barrier for scope {name!r}"
            if row is None
            else "a barrier of several blocks is not a storage sync",
            'write tvm_storage_sync("shared"), or "warp"; wider barriers belong to a target\'s own namespace',
        )
    return call(row)
