"""Parts that kernels are built of: pools of memory, barriers, pipelines, roles, descriptors, tile schedulers.

Each is a class whose instances make storage and statements of the kernel that is being built.
"""

from __future__ import annotations

from .barriers import MBarrier, TCGen05Bar, TMABar
from .descriptor import SmemDescriptor
from .fragments import alloc_cast_frag, alloc_tcgen05_ldst_frag, tmem, wg_reg_tile
from .launch_control import ClusterLaunchControlScheduler, query_cancel_first_ctaid_x
from .pipeline import Pipeline, PipelineState
from .pool import SMEMPool
from .roles import WarpgroupRole, WarpRole
from .schedulers import (
    ClusterPersistentScheduler2D,
    FlashAttentionLinearScheduler,
    FlashAttentionLPTScheduler,
    GroupMajor3D,
    IndexedTripleTileScheduler,
    RankAwareGroupMajorTileScheduler,
)
from .tmem_pool import TMEMPool

__all__ = [
    "ClusterLaunchControlScheduler", "ClusterPersistentScheduler2D", "FlashAttentionLPTScheduler",
    "FlashAttentionLinearScheduler", "GroupMajor3D", "IndexedTripleTileScheduler", "MBarrier", "Pipeline", "PipelineState",
    "RankAwareGroupMajorTileScheduler", "SMEMPool", "SmemDescriptor", "TCGen05Bar", "TMABar", "TMEMPool", "WarpRole",
    "WarpgroupRole", "alloc_cast_frag", "alloc_tcgen05_ldst_frag", "query_cancel_first_ctaid_x", "tmem", "wg_reg_tile",
]  # fmt: skip
