"""Copies of tensors against a model that goes element by element: boxes, swizzles, edges, steps, rows, pixels, reductions."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tirx import script as Tx

HELD = {
    "float16": np.float16,
    "float32": np.float32,
    "uint8": np.uint8,
    "int32": np.int32,
    "bfloat16": ml_dtypes.bfloat16,
    "uint64": np.uint64,
}
LOAD = "cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes{more}"
HEAD = """\
    T.device_entry()
    {ids}
    tx = T.thread_id([32])
    s = T.alloc_shared(({bytes},), "uint8", align=1024)
    bar = T.alloc_shared((1,), "uint64")
    if tx == 0:
        T.ptx.mbarrier.init.shared.b64(bar.ptr_to([0]), 1)
    T.ptx.fence.proxy.async_()
    T.cuda.cta_sync()
"""
WAIT = """\
    T.cuda.mbarrier_wait(bar.ptr_to([0]), 0)
    for i in range({bytes} // 32):
        Out[i * 32 + tx] = s[i * 32 + tx]
"""


def simulated(text: str, *values: Any, target: str = "cuda -arch=sm_100a", verdict: str = "clean") -> Any:
    report = tirx.simulate(Tx.from_source(text), *values, target=target)
    assert report.verdict == verdict, str(report)
    return report


def turned(byte: Any, swizzle: str) -> Any:
    """Where a byte of an image lies, by the tables of the manual: which unit of a row changes place with which."""
    unit, row = byte // 16 % 8, byte // 128
    if swizzle == "32B":
        return byte ^ (byte // 128 % 2) << 4
    if swizzle == "64B":
        return byte ^ (byte // 128 % 4) << 4
    if swizzle == "128B":
        return row * 128 + (unit ^ row % 8) * 16 + byte % 16
    if swizzle.startswith("128B_atom_32B"):
        flip = 8 * (row % 2) if swizzle.endswith("flip_8B") else 0
        return row * 128 + (unit ^ 2 * (row % 4)) * 16 + (byte % 16 ^ flip)
    if swizzle == "128B_atom_64B":
        return row * 128 + (unit ^ 4 * (row % 2)) * 16 + byte % 16
    return byte


def image(elements: Any, swizzle: str) -> Any:
    """Bytes of shared memory that hold a box (outermost dimension first)."""
    data = np.ascontiguousarray(elements).reshape(-1).view(np.uint8)
    made = np.empty_like(data)
    made[[turned(byte, swizzle) for byte in range(len(data))]] = data
    return made


def boxed(tensor: Any, start: Any, box: Any, steps: Any, fill: Any) -> Any:
    """The elements of a box; positions are those of NumPy's order."""
    counts = [-(-extent // step) for extent, step in zip(box, steps, strict=True)]
    made = np.full(counts, fill, tensor.dtype)
    for place in product(*map(range, counts)):
        at = tuple(int(s + p * step) for s, p, step in zip(start, place, steps, strict=True))
        if all(0 <= a < extent for a, extent in zip(at, tensor.shape, strict=True)):
            made[place] = tensor[at]
    return made


def loading(shape: Any, dtype: str, start: Any, size: int, more: str = "") -> str:
    rank = len(shape)
    coordinates = ", ".join(str(c) for c in reversed(start))
    copy = LOAD.format(rank=rank, mode="tile", more="")
    return f"""\
@T.prim_func
def kernel(A: T.Buffer({tuple(shape)}, "{dtype}"), Out: T.Buffer(({size},), "uint8")):
    m = T.cuda.tensor_map(A, {more})
{HEAD.format(ids="", bytes=size)}
    if tx == 0:
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.ptr_to([0]), {size})
        T.ptx["{copy}"](s.ptr_to([0]), T.address_of(m), {coordinates}, bar.ptr_to([0]))
{WAIT.format(bytes=size)}"""


CASES = [
    ((512,), "float32", (8,), (256,), (1,), "none"),
    ((512,), "uint8", (300,), (256,), (1,), "none"),
    ((20, 64), "float16", (3, 0), (16, 64), (1, 1), "128B"),
    ((20, 40), "float16", (-2, 7), (8, 32), (1, 1), "64B"),
    ((20, 40), "bfloat16", (14, 30), (8, 16), (1, 1), "32B"),
    ((9, 32), "float32", (1, 0), (16, 32), (1, 1), "128B_atom_32B"),
    ((9, 32), "float32", (0, 0), (16, 32), (1, 1), "128B_atom_32B_flip_8B"),
    ((9, 32), "float32", (0, 0), (8, 32), (1, 1), "128B_atom_64B"),
    ((3, 10, 16), "int32", (1, -1, 4), (2, 12, 8), (1, 3, 1), "none"),
    ((2, 3, 6, 8), "uint64", (0, 1, 2, 2), (2, 2, 4, 2), (1, 1, 2, 1), "32B"),
    ((2, 2, 3, 4, 16), "uint8", (1, 0, 1, 1, 0), (2, 1, 2, 4, 16), (1, 1, 1, 1, 1), "none"),
]


@pytest.mark.parametrize(("shape", "dtype", "start", "box", "steps", "swizzle"), CASES)
def test_a_box_arrives(shape: Any, dtype: str, start: Any, box: Any, steps: Any, swizzle: str) -> None:
    rng = np.random.default_rng(1)
    tensor = rng.integers(0, 100, shape).astype(HELD[dtype])
    wanted = image(boxed(tensor, start, box, steps, 0), swizzle)
    text = loading(shape, dtype, start, len(wanted), f'box={box}, element_strides={steps}, swizzle="{swizzle}"')
    out = np.zeros(len(wanted), np.uint8)
    simulated(text, tensor, out, target="cuda -arch=sm_90a")
    assert out.tolist() == wanted.tolist()


def test_what_lies_outside_can_be_nan() -> None:
    tensor, out = np.ones((4, 8), np.float16), np.zeros(256, np.uint8)
    simulated(loading((4, 8), "float16", (2, 4), 256, 'box=(8, 16), oob_fill="nan"'), tensor, out)
    made = out.view(np.float16).reshape(8, 16)
    assert (made[:2, :4] == 1).all()
    assert np.isnan(made[2:]).all()
    assert np.isnan(made[:, 4:]).all()


def storing(shape: Any, dtype: str, start: Any, size: int, more: str, copy: str) -> str:
    coordinates = ", ".join(str(c) for c in reversed(start))
    return f"""\
@T.prim_func
def kernel(In: T.Buffer(({size},), "uint8"), A: T.Buffer({tuple(shape)}, "{dtype}")):
    m = T.cuda.tensor_map(A, {more})
{HEAD.format(ids="", bytes=size)}
    for i in range({size} // 32):
        s[i * 32 + tx] = In[i * 32 + tx]
    T.ptx.fence.proxy.async_()
    T.cuda.cta_sync()
    if tx == 0:
        T.ptx["{copy}"](m, {coordinates}, s.ptr_to([0]))
        T.ptx.cp.async_.bulk.commit_group()
        T.ptx.cp.async_.bulk.wait_group(0)
"""


STORES = [
    ((20, 40), "float16", (-2, 7), (8, 32), (1, 1), "64B"), ((20, 64), "float16", (3, 0), (16, 64), (1, 1), "128B"),
    ((3, 10, 16), "int32", (1, -1, 4), (2, 12, 8), (1, 3, 1), "none"),
    ((9, 32), "float32", (5, 0), (8, 32), (1, 1), "128B_atom_32B_flip_8B"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "dtype", "start", "box", "steps", "swizzle"), STORES)
def test_a_box_is_stored_as_far_as_the_tensor_reaches(
    shape: Any, dtype: str, start: Any, box: Any, steps: Any, swizzle: str
) -> None:
    rng = np.random.default_rng(2)
    counts = [-(-extent // step) for extent, step in zip(box, steps, strict=True)]
    given = rng.integers(1, 100, counts).astype(HELD[dtype])
    tensor = np.zeros(shape, HELD[dtype])
    wanted = tensor.copy()
    for place in product(*map(range, counts)):
        at = tuple(s + p * step for s, p, step in zip(start, place, steps, strict=True))
        if all(0 <= a < extent for a, extent in zip(at, shape, strict=True)):
            wanted[at] = given[place]
    copy = f"cp.async.bulk.tensor.{len(shape)}d.global.shared::cta.tile.bulk_group"
    more = f'box={box}, element_strides={steps}, swizzle="{swizzle}"'
    data = image(given, swizzle)
    simulated(storing(shape, dtype, start, len(data), more, copy), data, tensor)
    assert (tensor == wanted).all()


REDUCTIONS = [
    ("add", "float16", lambda a, b: a + b), ("add", "int32", lambda a, b: a + b), ("max", "bfloat16", np.maximum),
    ("min", "int32", np.minimum), ("xor", "uint64", np.bitwise_xor),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "dtype", "model"), REDUCTIONS)
def test_a_box_is_combined_with_what_is_there(operation: str, dtype: str, model: Any) -> None:
    rng = np.random.default_rng(3)
    tensor, given = (rng.integers(0, 50, shape).astype(HELD[dtype]) for shape in ((6, 16), (4, 16)))
    wanted = tensor.copy()
    wanted[3:6] = model(tensor[3:6], given[:3])
    copy = f"cp.reduce.async.bulk.tensor.2d.global.shared::cta.{operation}.tile.bulk_group"
    data = image(given, "none")
    simulated(storing((6, 16), dtype, (3, 0), len(data), "box=(4, 16)", copy), data, tensor)
    assert (tensor == wanted).all()


def test_what_cannot_be_combined_is_found() -> None:
    copy = "cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.tile.bulk_group"
    text = storing((6, 16), "float32", (0, 0), 256, "box=(4, 16)", copy)
    report = simulated(text, np.zeros(256, np.uint8), np.zeros((6, 16), np.float32), verdict="error")
    assert "elements of float32 cannot be combined by .xor" in str(report)


def test_rows_are_gathered() -> None:
    tensor, out = np.arange(20 * 32, dtype=np.float16).reshape(20, 32), np.zeros(4 * 64, np.uint8)
    copy = LOAD.format(rank=2, mode="tile::gather4", more="")
    text = loading((20, 32), "float16", (0, 0), 256, 'box=(1, 32), swizzle="64B"').replace(
        LOAD.format(rank=2, mode="tile", more=""), copy
    )
    simulated(text.replace("T.address_of(m), 0, 0,", "m, 0, 7, 3, 25, 3,"), tensor, out)
    rows = np.stack([tensor[7], tensor[3], np.zeros(32, np.float16), tensor[3]])
    assert out.tolist() == image(rows, "64B").tolist()


def test_rows_are_scattered() -> None:
    tensor, given = np.zeros((20, 32), np.float16), np.arange(128, dtype=np.float16).reshape(4, 32)
    copy = "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group"
    text = storing((20, 32), "float16", (0, 0), 256, "box=(1, 32)", copy).replace("(m, 0, 0,", "(m, 0, 7, 2, 30, 19,")
    simulated(text, image(given, "none"), tensor)
    assert (tensor[[7, 2, 19]] == given[[0, 1, 3]]).all()
    assert np.count_nonzero(tensor.any(axis=1)) == 3


def columns(tensor: Any, start: Any, offsets: Any, lower: Any, upper: Any, channels: int, pixels: int) -> Any:
    """Pixels of images (N, H, W, C), as im2col goes through them."""
    n, h, w, c = start
    made = np.zeros((pixels, channels), tensor.dtype)
    for pixel in range(pixels):
        y, x = h + offsets[0], w + offsets[1]
        if 0 <= n < tensor.shape[0] and 0 <= y < tensor.shape[1] and 0 <= x < tensor.shape[2]:
            made[pixel] = tensor[n, y, x, c : c + channels]
        w += 1
        if w > tensor.shape[2] - 1 + upper[1]:
            w, h = lower[1], h + 1
        if h > tensor.shape[1] - 1 + upper[0]:
            h, n = lower[0], n + 1
    return made


@pytest.mark.parametrize(("lower", "upper", "offsets", "start"), [
    ((-1, -1), (-1, -1), (0, 0), (0, -1, -1, 0)), ((-1, -1), (-1, -1), (2, 1), (0, 1, 0, 8)), ((0, 0), (-2, -2), (2, 2), (1, 0, 2, 0)),
])  # fmt: skip
def test_pixels_become_columns(lower: Any, upper: Any, offsets: Any, start: Any) -> None:
    rng = np.random.default_rng(4)
    tensor, out = rng.integers(1, 100, (3, 5, 6, 16)).astype(np.float16), np.zeros(48 * 8 * 2, np.uint8)
    copy = LOAD.format(rank=4, mode="im2col", more="")
    n, h, w, c = start
    text = f"""\
@T.prim_func
def kernel(A: T.Buffer((3, 5, 6, 16), "float16"), Out: T.Buffer((768,), "uint8")):
    m = T.cuda.tensor_map_im2col(A, {lower}, {upper}, 8, 48)
{HEAD.format(ids="", bytes=768)}
    if tx == 0:
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.ptr_to([0]), 768)
        T.ptx["{copy}"](s.ptr_to([0]), m, {c}, {w}, {h}, {n}, bar.ptr_to([0]), {offsets[1]}, {offsets[0]})
{WAIT.format(bytes=768)}"""
    simulated(text, tensor, out)
    assert out.view(np.float16).reshape(48, 8).tolist() == columns(tensor, start, offsets, lower, upper, 8, 48).tolist()


def test_a_box_goes_to_several_ctas() -> None:
    """Each of two ctas copies half of a tile to both; each waits for all of it."""
    tensor, out = np.arange(512, dtype=np.float32).reshape(16, 32), np.zeros((2, 2048), np.uint8)
    copy = LOAD.format(rank=2, mode="tile", more=".multicast::cluster")
    text = f"""\
@T.prim_func
def kernel(A: T.Buffer((16, 32), "float32"), Out: T.Buffer((2, 2048), "uint8")):
    m = T.cuda.tensor_map(A, box=(8, 32), swizzle="128B")
{HEAD.format(ids="rank = T.cta_id_in_cluster([2]); cx = T.cta_id([2])", bytes=2048)}
    T.cuda.cluster_sync()
    if tx == 0:
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.ptr_to([0]), 2048)
        T.ptx["{copy}"](s.ptr_to([rank * 1024]), m, 0, rank * 8, bar.ptr_to([0]), T.uint16(3))
    T.cuda.mbarrier_wait_acquire_cluster(bar.ptr_to([0]), 0)
    for i in range(64):
        Out[rank, i * 32 + tx] = s[i * 32 + tx]
    T.cuda.cluster_sync()
"""
    simulated(
        text.replace("    rank = T.cta_id_in_cluster([2]); cx", "    rank = T.cta_id_in_cluster([2])\n    cx"),
        tensor,
        out,
    )
    assert out.tolist() == [image(tensor, "128B").tolist()] * 2


def test_bytes_go_to_several_ctas() -> None:
    data, out = np.arange(64, dtype=np.uint8), np.zeros((2, 64), np.uint8)
    copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
    text = f"""\
@T.prim_func
def kernel(A: T.Buffer((64,), "uint8"), Out: T.Buffer((2, 64), "uint8")):
{HEAD.format(ids="rank = T.cta_id_in_cluster([2])", bytes=64)}
    T.cuda.cluster_sync()
    if tx == 0:
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.ptr_to([0]), 64)
        T.ptx["{copy}"](s.ptr_to([rank * 32]), A.ptr_to([rank * 32]), 32, bar.ptr_to([0]), T.uint16(3))
    T.cuda.mbarrier_wait_acquire_cluster(bar.ptr_to([0]), 0)
    for i in range(2):
        Out[rank, i * 32 + tx] = s[i * 32 + tx]
    T.cuda.cluster_sync()
"""
    simulated(text.replace("    tx = T", "    cx = T.cta_id([2])\n    tx = T"), data, out)
    assert out.tolist() == [data.tolist()] * 2


@pytest.mark.parametrize("several", [False, True])
def test_a_pair_of_ctas_has_one_barrier(several: bool) -> None:
    """Each of two ctas copies a half for itself (or to both); the barrier of the first counts the bytes of both."""
    tensor, out = np.arange(512, dtype=np.float32).reshape(16, 32), np.zeros((2, 2048), np.uint8)
    more = (".multicast::cluster" if several else "") + ".cta_group::2"
    copy, mask = LOAD.format(rank=2, mode="tile", more=more), ", T.uint16(3)" if several else ""
    text = f"""\
@T.prim_func
def kernel(A: T.Buffer((16, 32), "float32"), Out: T.Buffer((2, 2048), "uint8")):
    m = T.cuda.tensor_map(A, box=(8, 32))
{HEAD.format(ids="rank = T.cta_id_in_cluster([2])", bytes=2048)}
    T.cuda.cluster_sync()
    first: T.uint32 = T.uint32(0)
    T.ptx.mapa.shared__cluster.u32(first, T.cuda.cvta_generic_to_shared(bar.ptr_to([0])), T.uint32(0))
    if T.And(tx == 0, rank == 0):
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.ptr_to([0]), {4096 if several else 2048})
    T.cuda.cluster_sync()
    if tx == 0:
        T.ptx["{copy}"](s.ptr_to([rank * 1024]), m, 0, rank * 8, first{mask})
    if rank == 0:
        T.cuda.mbarrier_wait_acquire_cluster(bar.ptr_to([0]), 0)
    T.cuda.cluster_sync()
    for i in range(32):
        Out[rank, rank * 1024 + i * 32 + tx] = s[rank * 1024 + i * 32 + tx]
        if {several}:
            Out[rank, (1 - rank) * 1024 + i * 32 + tx] = s[(1 - rank) * 1024 + i * 32 + tx]
"""
    simulated(text.replace("    tx = T", "    cx = T.cta_id([2])\n    tx = T"), tensor, out)
    wanted = image(tensor, "none").tolist()
    assert (out[0, :1024].tolist(), out[1, 1024:].tolist()) == (wanted[:1024], wanted[1024:])
    assert not several or out.tolist() == [wanted, wanted]


# ---- maps that kernels change -----------------------------------------------------------------------------------------

CHANGING = """\
@T.prim_func
def kernel(A: T.Buffer((8, 32), "float32"), B: T.Buffer((4, 32), "float32"), Maps: T.Buffer((128,), "uint8"),
           Out: T.Buffer((512,), "uint8")):
    m = T.cuda.tensor_map(A, box=(4, 32))
{head}
    copy = T.alloc_shared((8, 4), "uint32", align=128)
    if tx < 8:
        T.ptx["ld.param.v4.u32"](copy[tx, 0], copy[tx, 1], copy[tx, 2], copy[tx, 3], T.handle_add_byte_offset(m, T.int64(16) * tx))
    T.cuda.warp_sync()
    if tx == 0:
        T.ptx.tensormap.replace.tile.global_address.shared__cta.b1024.b64(copy.ptr_to([0, 0]), T.reinterpret("uint64", B.data))
        T.ptx.tensormap.replace.tile.global_dim.shared__cta.b1024.b32(copy.ptr_to([0, 0]), 1, 4)
    T.cuda.warp_sync()
    T.ptx.tensormap.cp_fenceproxy.global_.shared__cta.tensormap__generic.release.gpu.sync.aligned(Maps.data, copy.ptr_to([0, 0]), 128)
    if tx == 0:
{fence}
        T.ptx.mbarrier.arrive.expect_tx.shared.b64(bar.ptr_to([0]), 512)
        T.ptx["{load}"](s.ptr_to([0]), Maps.data, 0, 1, bar.ptr_to([0]))
{wait}"""


def changing(fence: bool) -> str:
    acquire = "        T.ptx.fence.proxy.tensormap__generic.acquire.gpu(Maps.data, 128)" if fence else ""
    return CHANGING.format(
        head=HEAD.format(ids="", bytes=512),
        fence=acquire,
        load=LOAD.format(rank=2, mode="tile", more=""),
        wait=WAIT.format(bytes=512),
    )


def test_a_map_is_changed_in_the_kernel() -> None:
    a, b, out = np.zeros((8, 32), np.float32), np.arange(128, dtype=np.float32).reshape(4, 32), np.zeros(512, np.uint8)
    simulated(changing(True), a, b, np.zeros(128, np.uint8), out)
    assert out.view(np.float32).reshape(4, 32).tolist() == [*b[1:].tolist(), [0.0] * 32]


def test_a_changed_map_needs_a_fence() -> None:
    values = (
        np.zeros((8, 32), np.float32),
        np.zeros((4, 32), np.float32),
        np.zeros(128, np.uint8),
        np.zeros(512, np.uint8),
    )
    report = simulated(changing(False), *values, verdict="error")
    (found,) = report.findings
    assert found.kind == "proxy_fence"
    assert "the tensor map was changed, and no fence stands between" in found.message


# ---- misuse -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("change", "words"), [
    (("box=(8, 32)", "box=(8, 32), interleave=0"), ""),
    (("s.ptr_to([0]), T.address", "s.ptr_to([16]), T.address"), "needs a multiple of 128 bytes in shared memory, and this is 16 past one"),
    (("T.address_of(m), 0, 0,", "Out.data, 0, 0,"), "these 128 bytes are no tensor map"),
    ((".2d.", ".1d."), "the tensor map has 2 dimensions, and the instruction copies 1"),
])  # fmt: skip
def test_misuse_is_found(change: tuple[str, str], words: str) -> None:
    text = loading((16, 32), "float32", (0, 0), 1024, "box=(8, 32)").replace(
        "Out: T.Buffer((1024,)", "Out: T.Buffer((1024,)"
    )
    text = text.replace('"uint8", align=1024)', '"uint8", align=1024)\n    more = T.alloc_shared((1024,), "uint8")')
    made = text.replace(*change)
    if change[0] == ".2d.":
        made = made.replace("T.address_of(m), 0, 0,", "m, 0,")
    report = simulated(
        made, np.zeros((16, 32), np.float32), np.zeros(1024, np.uint8), verdict="error" if words else "clean"
    )
    assert words in str(report)
