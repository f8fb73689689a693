"""The passes of machines with threads, in order: a kind writes its own pipeline out of them, with anchors between.

Pipeline("acme", lower=SIMT_LOWER, prepare=SIMT_PREPARE)
"""

from __future__ import annotations

from .bind_target import bind_target
from .common_subexpressions import common_subexpressions
from .distribute import distribute
from .drop_parameters import drop_parameters
from .drop_provenance import drop_provenance
from .keep_loops import keep_loops
from .legalize_dtypes import legalize_dtypes
from .lower_layout import lower_layout
from .lower_scope_ids import lower_scope_ids
from .lower_storage import lower_storage
from .lower_tile import lower_tile
from .mark_kernels import mark_kernels
from .name_views import name_views
from .narrow_indices import narrow_indices
from .pair_elements import pair_elements
from .pipeline import Anchor
from .remove_dead import remove_dead
from .simplify import simplify
from .split_host_device import split_host_device
from .vectorize import vectorize
from .verify import verify

__all__ = ["SIMT_LOWER", "SIMT_PREPARE"]

SIMT_LOWER = (
    bind_target,
    mark_kernels,
    verify,
    lower_tile,
    Anchor(":after_lower_tile"),
    lower_scope_ids,
    lower_layout,
    lower_storage,
    simplify,
    vectorize,
    pair_elements,
    split_host_device,
)
SIMT_PREPARE = (
    name_views,
    drop_provenance,
    legalize_dtypes,
    narrow_indices,
    distribute,
    remove_dead,
    common_subexpressions,
    keep_loops,
    drop_parameters,
)
