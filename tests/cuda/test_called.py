"""Hints for names of CUDA C++, and for PTX instructions that are written as one word."""

from __future__ import annotations

import re

import pytest

from tirx import script as Tx


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("syncthreads", "did you mean `cta_sync`?"),
        ("__syncthreads", "did you mean `cta_sync`?"),
        ("__syncwarp", "did you mean `warp_sync`?"),
        ("atomicAdd", "did you mean `atomic_add`?"),
        ("__threadfence", "did you mean `thread_fence`?"),
        ("shfl_down", "did you mean `__shfl_down_sync`?"),
        ("threadIdx", "write Tx.thread_id([64])"),
        ("prinf", "did you mean `printf`"),
    ],
)
def test_names_of_cuda(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=rf"^Tx\.cuda has no `{name}`; {re.escape(hint)}"):
        getattr(Tx.cuda, name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("cp_async", "Tx.ptx.cp.async_"),
        ("cp_async_commit_group", "Tx.ptx.cp.async_.commit_group"),
        ("bar_sync", "Tx.ptx.bar.sync"),
        ("mbarrier_init", "Tx.ptx.mbarrier.init"),
        ("wgmma_fence", "Tx.ptx.wgmma.fence"),
        ("fence_proxy_async", "Tx.ptx.fence.proxy.async_"),
        ("cpasync", "did you mean Tx.ptx.cp.async_ or"),
        ("barier", "did you mean Tx.ptx.barrier or"),
        ("zebra", "see Tx.ptx in the reference"),
    ],
)
def test_instructions_as_one_word(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=f"PTX has no instruction `{name}`") as caught:
        getattr(Tx.ptx, name)
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("chain", "near"),
    [(Tx.ptx.ldmatrix, "ldmatrix.sync.aligned.m8n8.x1.b16"), (Tx.ptx.mma.m16n8k16.row.col, "mma.sync.aligned.m16n8k16.row.col.f16")],
)  # fmt: skip
def test_chains_that_lack_several_words_name_a_whole_one(chain: object, near: str) -> None:
    with pytest.raises(AttributeError, match=f"nearest: {re.escape(near)}"):
        chain()  # type: ignore[operator]  # that is the mistake
