"""Tile schedulers: which tile a worker computes next.

    scheduler = ClusterPersistentScheduler2D("tiles", m_tiles, n_tiles, num_clusters=132)
    scheduler.init(worker)
    while scheduler.valid():
        ...                                  # the tile scheduler.m_idx, scheduler.n_idx
        scheduler.next_tile()

Their orders stand in `orders.py`. What changes while the kernel runs are scalars of each thread; `prefix` names them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from tirx.ir import Buffer, Expr, Scalar, as_expr, cast, current_span
from tirx.script.builder import If, Then, builder, local_scalar
from tirx.script.meta import meta_class
from tirx.support.errors import ScriptError

from ..namespaces.nvshmem import my_pe
from .orders import div, group_major, group_major_3d, linear, longest_first, mod, rank_aware, serpentine

__all__ = [
    "ClusterPersistentScheduler2D", "FlashAttentionLPTScheduler", "FlashAttentionLinearScheduler", "GroupMajor3D",
    "IndexedTripleTileScheduler", "RankAwareGroupMajorTileScheduler", "TileScheduler",
]  # fmt: skip


def _refuse(message: str, hint: str) -> ScriptError:
    return ScriptError(message, span=current_span(), hint=hint)


def _positive(**sizes: Any) -> None:
    for name, size in sizes.items():
        if isinstance(size, int) and size < 1:
            raise _refuse(f"{name}={size}: there must be at least one", "give a positive number")


class TileScheduler(ABC):
    """What all schedulers have: a position in their order, and the tile there.

    `init(worker)` goes to the first tile of a worker, `next_tile()` on to its next, `valid()` says whether there is one.
    `tile_idx` counts the tiles that a worker has had.
    """

    NAMES: Sequence[str] = ("m_idx", "n_idx")

    def __init__(self, prefix: str, total: Any, stride: Any) -> None:
        self.total = total
        self.stride = stride
        self.linear_idx = self._scalar(prefix, "linear_idx")
        self.tile_idx = self._scalar(prefix, "tile_idx")
        for name in self.NAMES:
            setattr(self, name, self._scalar(prefix, name))

    @staticmethod
    def _scalar(prefix: str, name: str) -> Scalar:
        made = local_scalar("int32")
        builder("a tile scheduler").name_value(made.buffer, f"{prefix}_{name}")
        return made

    @abstractmethod
    def at(self, position: Any) -> Mapping[str, Any]:
        """The tile at a position of the order, by the names of its coordinates."""

    def init(self, worker: Any) -> None:
        """Go to the first tile of a worker."""
        self._go(worker, 0)

    def next_tile(self) -> None:
        """Go on to the next tile of this worker."""
        self.next_tile_stride(self.stride)

    def next_tile_stride(self, stride: Any) -> None:
        """Go on by so many tiles."""
        self._go(self.linear_idx + stride, self.tile_idx + 1)

    def valid(self) -> Expr:
        """Whether there is a tile at the position."""
        return as_expr(self.linear_idx < self.total)

    def _go(self, position: Any, count: Any) -> None:
        self.linear_idx.assign(_int32(position))
        self.tile_idx.assign(count)
        for name, value in self.at(self.linear_idx).items():
            getattr(self, name).assign(_int32(value))


def _int32(value: Any) -> Expr:
    return cast(as_expr(value, "int32"), "int32")


@meta_class
class ClusterPersistentScheduler2D(TileScheduler):
    """Tiles of a matrix for workers that stay: each takes every `num_clusters`-th tile.

    Groups of `l2_group_size` rows one after the other; inside, columns from left to right, each from the top of the group down.
    With `serpentine`, blocks of `l2_group_size` rows and columns instead: down a strip of them, up the next. Where `cluster_m` times
    `cluster_n` tiles belong to the ctas of a cluster, neighbouring workers get tiles below and beside each other, and
    `num_clusters` counts these workers.
    """

    def __init__(
        self,
        prefix: str,
        num_m_tiles: Any,
        num_n_tiles: Any,
        num_clusters: Any,
        l2_group_size: int = 8,
        cluster_m: int = 1,
        cluster_n: int = 1,
        serpentine: bool = False,
    ) -> None:
        _positive(
            num_m_tiles=num_m_tiles, num_n_tiles=num_n_tiles, num_clusters=num_clusters, l2_group_size=l2_group_size,
            cluster_m=cluster_m, cluster_n=cluster_n,
        )  # fmt: skip
        for name, tiles, each in (("m", num_m_tiles, cluster_m), ("n", num_n_tiles, cluster_n)):
            if isinstance(tiles, int) and tiles % each:
                raise _refuse(
                    f"{tiles} tiles along {name} are no whole clusters of {each}",
                    "round the number of tiles up to a multiple",
                )
        if serpentine and not (isinstance(num_m_tiles, int) and isinstance(num_n_tiles, int)):
            raise _refuse("the serpentine order needs sizes known while the kernel is built", "leave serpentine out")
        self._rows, self._columns = div(num_m_tiles, cluster_m), div(num_n_tiles, cluster_n)
        self._group, self._cluster, self._serpentine = l2_group_size, (cluster_m, cluster_n), serpentine
        super().__init__(prefix, num_m_tiles * num_n_tiles, num_clusters)

    def at(self, position: Any) -> Mapping[str, Any]:
        """Row and column of the tile."""
        m, n = self._cluster
        where = div(div(position, m), n)
        order = serpentine if self._serpentine else group_major
        row, column = order(where, self._rows, self._columns, self._group)
        return {"m_idx": row * m + mod(position, m), "n_idx": column * n + mod(div(position, m), n)}

    @property
    def work_idx(self) -> Scalar:
        """The position in the order."""
        return self.linear_idx

    @property
    def tile_count(self) -> Scalar:
        """How many tiles this worker has had before."""
        return self.tile_idx


@meta_class
class GroupMajor3D(TileScheduler):
    """Tiles of a matrix and slices of its depth (`k_idx`), `step` workers.

    Groups of `group_rows` rows one after the other; inside, one slice of the depth after the other, each column by column.
    """

    NAMES = ("m_idx", "n_idx", "k_idx")

    def __init__(self, prefix: str, m_tiles: Any, n_tiles: Any, k_tiles: Any, group_rows: int, step: Any = 1) -> None:
        _positive(m_tiles=m_tiles, n_tiles=n_tiles, k_tiles=k_tiles, group_rows=group_rows, step=step)
        self._sizes = (m_tiles, n_tiles, k_tiles, group_rows)
        super().__init__(prefix, m_tiles * n_tiles * k_tiles, step)

    def at(self, position: Any) -> Mapping[str, Any]:
        """Row, column, slice."""
        return dict(zip(self.NAMES, group_major_3d(position, *self._sizes), strict=True))


@meta_class
class RankAwareGroupMajorTileScheduler(TileScheduler):
    """Tiles of a matrix whose rows belong to the ranks of `Tx.nvshmem`: first those of the other ranks, then the own.

    Rows come in groups of `group_size`, beginning with the rows of the next rank, so that what others wait for is computed first.
    """

    def __init__(self, prefix: str, m_clusters: int, n_clusters: int, group_size: int, world_size: int) -> None:
        _positive(m_clusters=m_clusters, n_clusters=n_clusters, group_size=group_size, world_size=world_size)
        self._sizes = (m_clusters, n_clusters, group_size, world_size)
        super().__init__(prefix, m_clusters * n_clusters, 1)

    def at(self, position: Any) -> Mapping[str, Any]:
        """Row and column of the tile."""
        return dict(zip(self.NAMES, rank_aware(position, *self._sizes, my_pe()), strict=True))

    def next_tile(self, stride: Any = 1) -> None:
        """Go on by so many tiles."""
        self.next_tile_stride(stride)


@meta_class
class IndexedTripleTileScheduler(TileScheduler):
    """Tiles from lists: worker `w` gets the entries `tiles_indptr[w]` to `tiles_indptr[w + 1]` of the three index lists."""

    NAMES = ("b_idx", "h_idx", "q_idx")

    def __init__(
        self, prefix: str, b_indices: Buffer, h_indices: Buffer, q_indices: Buffer, tiles_indptr: Buffer
    ) -> None:
        self.b_indices, self.h_indices, self.q_indices, self.tiles_indptr = (
            b_indices,
            h_indices,
            q_indices,
            tiles_indptr,
        )
        self.linear_lim = self._scalar(prefix, "linear_lim")
        super().__init__(prefix, self.linear_lim, 1)

    def init(self, worker: Any) -> None:
        """Go to the first entry of a worker."""
        self.linear_lim.assign(_int32(self.tiles_indptr[worker + 1]))
        self._go(self.tiles_indptr[worker], 0)

    def at(self, position: Any) -> Mapping[str, Any]:
        """What the lists say."""
        lists = (self.b_indices, self.h_indices, self.q_indices)
        return {name: indices[position] for name, indices in zip(self.NAMES, lists, strict=True)}

    def _go(self, position: Any, count: Any) -> None:
        self.linear_idx.assign(_int32(position))
        self.tile_idx.assign(count)
        with If(self.valid()), Then():  # behind the last entry there is nothing to read
            for name, value in self.at(self.linear_idx).items():
                getattr(self, name).assign(_int32(value))


@meta_class
class FlashAttentionLinearScheduler(TileScheduler):
    """Blocks of rows of attention (`batch_idx`, `head_idx`, `m_block_idx`): block by block, head by head, batch by batch."""

    NAMES = ("batch_idx", "head_idx", "m_block_idx")

    def __init__(self, prefix: str, num_batches: Any, num_heads: Any, num_m_blocks: Any, num_ctas: Any) -> None:
        _positive(num_batches=num_batches, num_heads=num_heads, num_m_blocks=num_m_blocks, num_ctas=num_ctas)
        self._sizes = (num_heads, num_m_blocks)
        super().__init__(prefix, num_batches * num_heads * num_m_blocks, num_ctas)

    def at(self, position: Any) -> Mapping[str, Any]:
        """Batch, head, block."""
        return dict(zip(self.NAMES, linear(position, *self._sizes), strict=True))


@meta_class
class FlashAttentionLPTScheduler(TileScheduler):
    """Blocks of rows of causal attention, the longest first: heads in sections of `l2_swizzle`, in each the last blocks first.

    Without `num_ctas` every worker gets one block.
    """

    NAMES = ("batch_idx", "head_idx", "m_block_idx")

    def __init__(
        self, prefix: str, num_batches: int, num_heads: int, num_m_blocks: int, l2_swizzle: int, num_ctas: Any = None
    ) -> None:
        _positive(num_batches=num_batches, num_heads=num_heads, num_m_blocks=num_m_blocks, l2_swizzle=l2_swizzle)
        self._sizes = (num_batches, num_heads, num_m_blocks, l2_swizzle)
        total = num_batches * num_heads * num_m_blocks
        super().__init__(prefix, total, total if num_ctas is None else num_ctas)

    def at(self, position: Any) -> Mapping[str, Any]:
        """Batch, head, block."""
        return dict(zip(self.NAMES, longest_first(position, *self._sizes), strict=True))
