"""Buffers of scope `tmem`: their addresses as operands of instructions, views, and what only instructions reach."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tirx
from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.ir import IntImm, PrimFunc, structural_equal
from tirx.layout import S, TCol, TileLayout, TLane
from tirx.script import from_source
from tirx.support.errors import TirxError
from tirx_cuda.layout.tmem import tmem_datapath_layout

TARGET = "cuda -arch=sm_100a"
ROWS = TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)])


@Tx.prim_func
def moved(A: Tx.Buffer((128, 8), "float32"), O: Tx.Buffer((128, 8), "float32"), P: Tx.Buffer((128, 4), "uint32")):
    """Through tensor memory and back: whole buffers, elements, views and columns after them are addresses."""
    Tx.device_entry()
    tx = Tx.thread_id([128])
    warp = tx // 32
    place = Tx.alloc_shared((1,), "uint32")
    if warp == 0:
        Tx.ptx.tcgen05.alloc.cta_group__1.sync.aligned.shared__cta.b32(place.ptr_to([0]), 128)
    Tx.cuda.cta_sync()
    first: Tx.let = place[0]
    D = Tx.decl_buffer((128, 64), "float32", scope="tmem", allocated_addr=(first,), layout=ROWS)
    H = Tx.decl_buffer(
        (128, 16),
        "float16",
        scope="tmem",
        allocated_addr=(first + 64,),
        layout=TileLayout(S[(128, 16) : (1 @ TLane, 1 @ TCol)]),
    )
    right = D.sub[:, 8:16]
    Tx.ptx.tcgen05.st.sync.aligned._32x32b.x4.b32(D.ptr_to([warp * 32, 0]), A[tx, 0], A[tx, 1], A[tx, 2], A[tx, 3])
    Tx.ptx.tcgen05.st.sync.aligned._32x32b.x2.b32(right.ptr_to([warp * 32, 0]), A[tx, 4], A[tx, 5])
    Tx.ptx.tcgen05.st.sync.aligned._32x32b.x2.b32(Tx.cuda.get_tmem_addr(D, warp * 32, 10), A[tx, 6], A[tx, 7])
    Tx.ptx.tcgen05.st.sync.aligned._32x32b.x1.b32(H.ptr_to([warp * 32, 2]), Tx.uint32(0x3C004000))
    Tx.ptx.tcgen05.wait__st.sync.aligned()
    r = Tx.alloc_local((8,), "float32")
    bits = Tx.alloc_local((4,), "uint32")
    Tx.ptx.tcgen05.ld.sync.aligned._32x32b.x4.b32(r[0], r[1], r[2], r[3], Tx.cuda.get_tmem_addr(D, warp * 32, 0))
    Tx.ptx.tcgen05.ld.sync.aligned._32x32b.x4.b32(r[4], r[5], r[6], r[7], Tx.cuda.get_tmem_addr(right, warp * 32, 0))
    Tx.ptx.tcgen05.ld.sync.aligned._32x32b.x1.b32(bits[0], Tx.cuda.get_tmem_addr(H.sub[:, 2:4], warp * 32, 0))
    Tx.ptx.tcgen05.wait__ld.sync.aligned()
    for i in Tx.unroll(8):
        O[tx, i] = r[i]
    P[tx, 0] = bits[0]
    Tx.cuda.cta_sync()
    if warp == 0:
        Tx.ptx.tcgen05.relinquish_alloc_permit.cta_group__1.sync.aligned()
        Tx.ptx.tcgen05.dealloc.cta_group__1.sync.aligned.b32(first, 128)


def test_in_the_simulator() -> None:
    a = np.random.default_rng(0).random((128, 8)).astype(np.float32)
    o, p = np.zeros_like(a), np.zeros((128, 4), np.uint32)
    report = tirx.simulate(moved, a, o, p, target=TARGET)
    assert report.verdict == "clean", str(report)
    np.testing.assert_array_equal(o, a)
    assert set(p[:, 0]) == {0x3C004000}


def test_source_and_text() -> None:
    text = source_of(moved, TARGET).text
    assert "unsigned int first = place[0];" in text
    assert "D" not in [word.strip("[];") for word in text.split()]
    assert structural_equal(from_source(moved.script()), moved)
    assert tirx.compile(moved, TARGET).binaries


def address(dtype: str, layout: TileLayout, shape: tuple[int, int], pick: Callable[[Any], Any]) -> int:
    """The constant that an operand becomes."""
    with Tx.prim_func():
        Tx.device_entry()
        D = Tx.decl_buffer(shape, dtype, scope="tmem", allocated_addr=(32,), layout=layout)
        found = Tx.cuda.get_tmem_addr(pick(D), 0, 0)
    assert isinstance(found, IntImm)
    return found.value


WIDE = TileLayout(S[(128, 64) : (1 @ TLane, 1 @ TCol)])


@pytest.mark.parametrize(
    ("dtype", "layout", "pick", "wanted"),
    [
        ("float32", WIDE, lambda D: D, 32),
        ("float32", WIDE, lambda D: D.ptr_to([5, 7]), 32 + 7 | 5 << 16),
        ("float32", WIDE, lambda D: D[64:128, 8:16], 32 + 8 | 64 << 16),
        ("float32", WIDE, lambda D: D.sub[:, 8:16], 40),
        ("float32", WIDE, lambda D: D.sub[32:64, 8:16].ptr_to([1, 1]), 32 + 9 | 33 << 16),
        ("float32", WIDE, lambda D: D.sub[:, 8:16].sub[:, 4:8], 44),
        ("float32", WIDE, lambda D: D.tile((1, (4, 16)))[:, 2, :], 64),
        ("float16", WIDE, lambda D: D.ptr_to([0, 6]), 35),
        ("float16", WIDE, lambda D: D.sub[:, 16:32], 40),
        ("float8_e4m3fn", WIDE, lambda D: D.sub[:, 16:32], 36),
        ("float4_e2m1fn", WIDE, lambda D: D.sub[:, 16:32], 34),
        ("uint64", WIDE, lambda D: D.ptr_to([0, 3]), 38),
        ("float32", tmem_datapath_layout("F", 64, 64), lambda D: D.ptr_to([17, 3]), 32 + 3 | 33 << 16),
        ("float32", tmem_datapath_layout("E", 64, 64), lambda D: D.ptr_to([17, 33]), 32 + 1 | 81 << 16),
    ],
)
def test_addresses(dtype: str, layout: TileLayout, pick: Callable[[Any], Any], wanted: int) -> None:
    rows = 128 if layout is WIDE else 64
    assert address(dtype, layout, (rows, 64), pick) == wanted


def kernel(use: Callable[[Any, Any, Any], Any], **options: Any) -> PrimFunc:
    """One that does something with a buffer in tensor memory."""
    with Tx.prim_func() as frame:
        Tx.func_name("kernel")
        O = Tx.arg("O", Tx.Buffer((128,), "float32"))
        Tx.device_entry()
        tx = Tx.thread_id([128])
        given = {"shape": (128, 64), "dtype": "float32", "layout": ROWS, "allocated_addr": (32,), **options}
        D = Tx.decl_buffer(given.pop("shape"), given.pop("dtype"), scope="tmem", **given)
        use(D, O, tx)
    return frame.get()


def load(D: Any, O: Any, tx: Any) -> None:
    Tx.buffer_store(O, D[tx, 0], [tx])


def store(D: Any, O: Any, tx: Any) -> None:
    Tx.buffer_store(D, O[tx], [tx, 0])


def pointer(D: Any, O: Any, tx: Any) -> None:
    Tx.evaluate(Tx.call_extern("void", "f", D.data))


def nothing(D: Any, O: Any, tx: Any) -> None:
    Tx.buffer_store(O, 1.0, [tx])


@pytest.mark.parametrize(
    ("use", "options", "message", "hint"),
    [
        (load, {}, "an element of `D` is read, or its address taken, in tmem memory", "tcgen05 instructions move"),
        (store, {}, "an element of `D` is stored to in tmem memory", "tcgen05 instructions move"),
        (pointer, {}, "a pointer to `D` in tmem memory is taken", "tcgen05 instructions move"),
        (nothing, {"allocated_addr": ()}, "`D` has no place in tensor memory", "allocated_addr=(column,)"),
        (
            nothing,
            {"allocated_addr": (480,)},
            "`D` ends at column 544 of tensor memory, which has 512",
            "reuse columns",
        ),
        (nothing, {"layout": "default"}, "its layout does not say in which lanes and columns", "1@TLane, 1@TCol"),
        (
            nothing,
            {"shape": (256, 8), "layout": TileLayout(S[(256, 8) : (1 @ TLane, 1 @ TCol)])},
            "`D` reaches lane 255 of tensor memory, which has 128",
            "fold rows into columns",
        ),
    ],
)
def test_what_is_no_place_or_not_reached(use: Any, options: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(TirxError) as caught:
        source_of(kernel(use, **options), TARGET)
    assert message in str(caught.value)
    assert hint in str(caught.value)
    assert __file__ in str(caught.value)


def test_other_architectures_have_none() -> None:
    with pytest.raises(TirxError, match="`D` is in tensor memory, which target `cuda -arch=sm_90a` does not have"):
        source_of(kernel(nothing), "cuda -arch=sm_90a")
    assert source_of(kernel(nothing), TARGET).text


@pytest.mark.parametrize(
    ("dtype", "pick", "message"),
    [
        ("float16", lambda D: D.sub[:, 1:3], "element 1 of `D` (float16) does not provably begin a column"),
        (
            "float8_e4m3fn",
            lambda D: D.ptr_to([0, 2]),
            "element 2 of `D` (float8_e4m3fn) does not provably begin a column",
        ),
    ],
)
def test_half_a_column_has_no_address(dtype: str, pick: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(TirxError) as caught:
        kernel(lambda D, O, tx: Tx.cuda.get_tmem_addr(pick(D), 0, 0), dtype=dtype)
    assert message in str(caught.value)
    assert "a column holds" in str(caught.value)


def test_shared_memory_and_columns_are_counted_apart() -> None:
    def both(D: Any, O: Any, tx: Any) -> None:
        tile = Tx.alloc_shared((11 * 1024,), "float32")
        Tx.buffer_store(tile, 0.0, [tx])
        Tx.buffer_store(O, tile[tx], [tx])

    wide = {"shape": (128, 512), "allocated_addr": (0,), "layout": TileLayout(S[(128, 512) : (1 @ TLane, 1 @ TCol)])}
    assert source_of(kernel(both, **wide), TARGET).text
