"""One pass a file; `pipeline.py` holds Pass, Pipeline, PassContext; `simt.py` the order for machines with threads.

What a backend writes:

    from tirx.transform import SIMT_LOWER, SIMT_PREPARE, Anchor, Pipeline
    Pipeline("acme", lower=(*SIMT_LOWER[:2], Anchor("acme:after_verify"), *SIMT_LOWER[2:]), prepare=SIMT_PREPARE)

or the passes by name (`bind_target`, `verify`, `lower_scope_ids`, ...) with anchors between. What a scope model needs
so that ids can be lowered: `axes` of the levels that a launch sizes, `reads` for indices the machine keeps although
no launch sizes them (the index of a cluster), `widths` of levels that never vary, `optional` and `requires` for
levels that exist only where a kernel mentions them, `preferred` for the outer level whose extents may be given twice,
`uniform` where all threads of a member see one id; `tags` are the names by which older kernels call the axes.

What a simulator or code generator gets (docs/design/contracts.md, "After lowering"):

* `Bind(bx, tirx.launch_index(axis="cta.x"))`, in int32 (cast where the id is uint32); an axis of extent 1 is the
  constant 0. `axis` may also be one of the model's `reads`. Ids without axes are arithmetic; of a `uniform` level
  wrapped in `tirx.uniform(value, level="warp")`, which is just its operand.
* all indices are bound at the start of the body; unused ones are removed by `remove_dead` among the `prepare` passes
  only.
* one flat buffer per storage and element type: `Decl` for each parameter buffer first; storage seen with another
  element type has a `Decl` of that type behind its allocation. A `Decl` with `source` gives a shape to a computed
  pointer.
* vector accesses have a `Ramp` index (stride 1 unless the layout says otherwise), or any vector of indices.
* attributes of the launch (`tirx.launch_bounds_*`, `tirx.max_registers`, `tirx.dyn_smem_bytes`) are in the record
  `Launch` (`func.attrs["launch"]`), and no longer in the body.
* host functions keep their buffer parameters; assertions that only a launch can check stand before the `Launch`
  statement.
"""

from __future__ import annotations

from .launch import Bounds, Launch
from .pipeline import Anchor, Instrument, Pass, PassContext, PassRow, Pipeline, run_passes
from .simt import SIMT_LOWER, SIMT_PREPARE

__all__ = [
    "SIMT_LOWER", "SIMT_PREPARE", "Anchor", "Bounds", "Instrument", "Launch", "Pass", "PassContext", "PassRow",
    "Pipeline", "run_passes",
]  # fmt: skip
