"""Pipelines: rings of stages that producers fill and consumers empty.

pipe = Pipeline(pool, stages=4, full="tma", empty="mbar", init_empty=128)
state = PipelineState(4)
state.init(0)
pipe.full.wait(state.stage, state.phase)
...
pipe.empty.arrive(state.stage)
state.advance()
"""

from __future__ import annotations

from typing import Any

from tirx.ir import Scalar, as_expr, current_span
from tirx.script.builder import If, Then, local_scalar
from tirx.script.meta import meta_class
from tirx.support.errors import ScriptError
from tirx.support.suggest import did_you_mean

from .barriers import CHOICES, MBarrier
from .pool import SMEMPool

__all__ = ["Pipeline", "PipelineState"]


@meta_class
class Pipeline:
    """Two barriers for each stage: `full` (there is data) and `empty` (there is room).

    Their kinds are `"tma"`, `"tcgen05"` and `"mbar"`: who arrives at them. `init_full` and `init_empty` are the arrivals of a phase.
    `empty_phase_offset=1` lets the first waits for room go through, so that producer and consumer start in the same phase.
    """

    def __init__(
        self,
        pool: SMEMPool,
        stages: int,
        *,
        full: str,
        empty: str,
        init_full: Any = 1,
        init_empty: Any = 1,
        empty_phase_offset: int = 0,
        leader: Any = None,
    ) -> None:
        self.stages = stages
        # Which kind each is, text decides: a type for checkers would know less than it says.
        self.full: Any = _kind("full", full)(pool, stages, leader=leader)
        self.full.init(init_full)
        self.empty: Any = _kind("empty", empty)(pool, stages, phase_offset=empty_phase_offset, leader=leader)
        self.empty.init(init_empty)


def _kind(which: str, name: str) -> type[MBarrier]:
    if name not in CHOICES:
        hint = did_you_mean(name, CHOICES) or f"it is {', '.join(CHOICES)}"
        raise ScriptError(f"`{which}` is no barrier of kind {name!r}", span=current_span(), hint=hint)
    return CHOICES[name]


@meta_class
class PipelineState:
    """A position in a ring of `depth` stages, and the parity of the round: `stage`, `phase`."""

    def __init__(self, depth: Any, phase: Any = None) -> None:
        if not isinstance(depth, int) or depth < 1:
            raise ScriptError(
                f"a ring of {depth} stages", span=current_span(), hint="give a number of stages, at least one"
            )
        self.depth = depth
        self.stage: Scalar = local_scalar("int32")
        self.phase: Scalar = local_scalar("int32")
        if phase is not None:
            self.init(phase)

    def init(self, phase: Any) -> None:
        """Begin at the first stage, in a round of this parity."""
        self.stage.assign(0)
        self.phase.assign(as_expr(phase, "int32"))

    def advance(self) -> None:
        """On to the next stage; behind the last one, the first of the next round."""
        if self.depth == 1:
            self.phase.assign(self.phase ^ 1)
            return
        self.stage.assign(self.stage + 1)
        with If(as_expr(self.stage) == self.depth), Then():
            self.stage.assign(0)
            self.phase.assign(self.phase ^ 1)
