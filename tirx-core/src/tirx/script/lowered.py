"""What only lowering makes, under names, so that the text of a lowered program can be read back: `T.tirx.<name>`."""

from __future__ import annotations

from ..intrinsic import call
from ..intrinsic.core.build import builtin
from ..intrinsic.core.calls import launch_index
from ..intrinsic.core.collective import warp_sync
from ..intrinsic.internal import LANE, UNIFORM, WITH_LANE
from ..ir import VOID, Call, DType, GlobalVar, Launch, active_builder, as_expr, current_span, emit, late
from .builder.function import LateAttribute
from .builder.state import refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from ..ir import Expr

__all__ = ["Lowered", "call_global", "lowered", "tvm_thread_invariant"]


def launch(
    kernel: str, args: Sequence[Any], geometry: Mapping[str, Any] | None = None, resources: Mapping[str, Any] | None = None,
    flags: Sequence[str] = (),
) -> None:  # fmt: skip
    """Run a device function of the module, on the host."""
    axes, sizes = geometry or {}, resources or {}
    emit(
        Launch(
            kernel,
            tuple(as_expr(item) for item in args),
            tuple(axes),
            tuple(as_expr(item) for item in axes.values()),
            tuple(sizes),
            tuple(as_expr(item) for item in sizes.values()),
            tuple(flags),
            span=current_span(),
        )
    )


def call_global(name: str, *args: Any, result: DType | str | None = None) -> Expr:
    """The call of another function of the module."""
    if not name:
        refuse("a function is called by its name")
    kind = None if result is None else DType(result)
    made = Call(kind or VOID, GlobalVar(name, kind), tuple(as_expr(item) for item in args), span=current_span())
    owner = active_builder()
    if owner is not None:
        owner.note(made)
    return made


def launch_record(**values: Any) -> LateAttribute:
    """How a device function is launched."""
    return LateAttribute(lambda buffers: late("launch_record")(values, buffers))


def tvm_thread_invariant(value: Any) -> Expr:
    """`value`, and a promise that it is the same for all threads of the block."""
    return call(UNIFORM, value, level="cta")


class Lowered:
    """The names below `T.tirx`."""

    launch_index = staticmethod(launch_index)
    warp_sync = staticmethod(warp_sync)
    uniform = staticmethod(builtin(UNIFORM))
    lane = staticmethod(builtin(LANE))
    with_lane = staticmethod(builtin(WITH_LANE))
    launch = staticmethod(launch)
    call = staticmethod(call_global)
    Launch = staticmethod(launch_record)


lowered = Lowered()
"""`Tx.tirx`: what stands in kernels after lowering, under the names that printed IR has."""
