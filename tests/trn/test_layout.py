"""Letters to layouts, layouts to partitions and free elements, slices to boxes."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.trn.build import index, kernel, loop, psum, run, sbuf, source_of
from tirx import layout
from tirx.ir import Buffer
from tirx.layout import S, TileLayout
from tirx.script import from_source
from tirx.support.errors import LayoutError, VerifyError
from tirx_trn import script as nki
from tirx_trn.box import box_of, constant
from tirx_trn.layout import (
    is_trainium_layout,
    place_of,
    to_psum_layout,
    trainium,
    trainium_layout,
    trainium_psum,
)


def axis(name: str) -> Any:
    from tirx.layout import Axis

    return Axis.get(name)


P, F, Bank = axis("P"), axis("F"), axis("Bank")

# Published TIRx's helper, as its reference shows it.
LETTERS = [
    ("PF", (128, 512), S[(128, 512) : (1 @ P, 1 @ F)]),
    ("PF", (256, 512), S[(2, 128, 512) : (512 @ F, 1 @ P, 1 @ F)]),
    ("FPF", (4, 128, 64), S[(4, 128, 64) : (64 @ F, 1 @ P, 1 @ F)]),
    ("PPF", (2, 64, 8), S[(2, 64, 8) : (64 @ P, 1 @ P, 1 @ F)]),
]
BANKS = [
    ("PF", (128, 512), S[(128, 512) : (1 @ P, 1 @ F)]),
    ("PF", (128, 2048), S[(128, 4, 512) : (1 @ P, 1 @ Bank, 1 @ F)]),
    ("FPF", (4, 128, 512), S[(4, 128, 512) : (1 @ Bank, 1 @ P, 1 @ F)]),
    ("FPF", (4, 128, 256), S[(2, 2, 128, 256) : (1 @ Bank, 256 @ F, 1 @ P, 1 @ F)]),
]


@pytest.mark.parametrize(("letters", "shape", "spec"), LETTERS)
def test_letters(letters: str, shape: tuple[int, ...], spec: Any) -> None:
    assert trainium(letters, shape) == TileLayout(spec)


@pytest.mark.parametrize(("letters", "shape", "spec"), BANKS)
def test_letters_in_banks(letters: str, shape: tuple[int, ...], spec: Any) -> None:
    assert trainium_psum(letters, shape) == TileLayout(spec)
    assert trainium(letters, shape, is_psum=True) == TileLayout(spec)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: trainium("P", (128, 4)), "layout 'P' does not describe a buffer of shape (128, 4)"),
        (lambda: trainium("PX", (128, 4)), "layout 'PX' does not describe"),
        (lambda: trainium("PF", (200, 4)), "200 partitions are neither at most 128 nor a multiple of 128"),
        (lambda: trainium_psum("PF", (128, 600)), "a free dimension of 600 x 1 elements does not fill whole PSUM banks of 512"),
        (lambda: place_of(sbuf("t", 128, 4, layout=TileLayout(S[128, 4]))), "the layout of `t` uses axis m"),
        (
            lambda: place_of(sbuf("t", 128, 4, layout=TileLayout(S[(128, 4) : (1 @ P, 1 @ F)] + 2 @ F))),
            "the layout of `t` has replicas or an offset",
        ),
        (lambda: place_of(sbuf("t", 64, 4, layout=TileLayout(S[(64, 4) : (2 @ P, 1 @ F)]))), "axis P of this layout has gaps"),
        (lambda: place_of(Buffer("t", (index("n"), 4), scope="trn.sbuf")), "the on-chip buffer `t` has a shape that is not constant"),
        (
            lambda: box_of(sbuf("t", 256, 8, layout=trainium("PF", (256, 8)))[64:192, :]),
            "dimension 0 of this slice of `t` crosses a multiple of 128 unevenly",
        ),
        (
            lambda: box_of(sbuf("t", 2, 64, 8, layout=trainium("PPF", (2, 64, 8)))[:, 0:32, :]),
            "this slice of `t` takes partitions that are not neighbours",
        ),
        (
            lambda: box_of(sbuf("t", 128, 4, 8, layout=TileLayout(S[(128, 4, 8) : (1 @ P, 1 @ F, 4 @ F)])).region()),
            "the free dimensions of `t` do not lie in memory in the order of its shape",
        ),
    ],
)  # fmt: skip
def test_refused(make: Any, message: str) -> None:
    with pytest.raises(LayoutError, match=re.escape(message)):
        make()


@pytest.mark.parametrize(
    ("tile", "shape"),
    [
        (sbuf("t", 128, 64), (128, 64)),
        (sbuf("t", 128, 4, 8), (128, 4, 8)),
        (sbuf("t", 256, 64, layout=trainium("PF", (256, 64))), (128, 2, 64)),
        (sbuf("t", 4, 128, 64, layout=trainium("FPF", (4, 128, 64))), (128, 4, 64)),
        (sbuf("t", 2, 64, 8, layout=trainium("PPF", (2, 64, 8))), (128, 8)),
        (sbuf("t", 128, 1), (128, 1)),
        (sbuf("t", 128), (128, 1)),
        (psum("t", 128, 512), (1, 128, 512)),
        (psum("t", 2, 128, 512), (2, 128, 512)),
        (psum("t", 128, 1024, layout=trainium_psum("PF", (128, 1024))), (2, 128, 512)),
    ],
)
def test_physical_shape(tile: Buffer, shape: tuple[int, ...]) -> None:
    assert place_of(tile).shape == shape


def test_a_box_covers_what_the_layout_says() -> None:
    """Brute force: the elements of a slice are those of its box, in order."""
    tile = sbuf("t", 256, 6, layout=trainium("PF", (256, 6)))
    layout = trainium("PF", (256, 6))
    for rows, columns in itertools.product([(0, 128), (128, 256), (130, 140), (0, 256)], [(0, 6), (2, 5), (4, 5)]):
        box = box_of(tile[slice(*rows), slice(*columns)])
        wanted = {
            (position["P"], position["F"])
            for row, column in itertools.product(range(*rows), range(*columns))
            for position in [layout.apply(row, column, shape=(256, 6))]
        }
        starts = [constant(start) or 0 for start in box.starts]
        ranges = [range(start, start + extent) for start, extent in zip(starts, box.extents, strict=True)]
        assert {(p, outer * 6 + inner) for p, outer, inner in itertools.product(*ranges)} == wanted


def test_rows_beyond_the_partitions_are_copied_in_a_loop(tmp_path: Path) -> None:
    a, b = Buffer("a", (256, 64)), Buffer("b", (256, 64))
    tile = sbuf("tile", 256, 64, layout=trainium("PF", (256, 64)))
    func = kernel(
        "double", [a, b], tile, nki.load(tile, a), nki.tensorscalar(tile, tile, 2.0, "mul"), nki.store(b, tile)
    )
    text = source_of(func)
    assert "tile = nl.ndarray((128, 2, 64), dtype=nl.float32, buffer=nl.sbuf)" in text
    assert "for t in range(2):\n        nisa.dma_copy(dst=tile[:, t, :], src=a[t * 128 : t * 128 + 128, :])" in text
    x = np.random.default_rng(0).standard_normal((256, 64)).astype(np.float32)
    np.testing.assert_array_equal(run(func, tmp_path, x), x * 2)


def test_a_free_dimension_in_front(tmp_path: Path) -> None:
    a, b = Buffer("a", (4, 128, 16)), Buffer("b", (128, 16))
    tile, total = sbuf("tile", 4, 128, 16, layout=trainium("FPF", (4, 128, 16))), sbuf("total", 128, 16)
    steps = [nki.tensortensor(total, total, tile[i, :, :], "add") for i in range(1, 4)]
    func = kernel(
        "planes",
        [a, b],
        tile,
        total,
        nki.load(tile, a),
        nki.tensor_copy(total, tile[0, :, :]),
        *steps,
        nki.store(b, total),
    )
    assert "nisa.tensor_tensor(dst=total, data1=total, data2=tile[:, 3, :], op=nl.add)" in source_of(func)
    x = np.random.default_rng(0).standard_normal((4, 128, 16)).astype(np.float32)
    np.testing.assert_array_equal(run(func, tmp_path, x), ((x[0] + x[1]) + x[2]) + x[3])


def test_a_psum_tile_of_several_banks(tmp_path: Path) -> None:
    """The published backend wrote a malformed shape for this tile and could not copy it out."""
    a, b, c = Buffer("a", (128, 128)), Buffer("b", (128, 1024)), Buffer("c", (128, 1024))
    left, right, result = sbuf("left", 128, 128), sbuf("right", 128, 1024), sbuf("result", 128, 1024)
    acc, j = psum("acc", 128, 1024, layout=trainium_psum("PF", (128, 1024))), index("j")
    part = slice(j * 512, j * 512 + 512)
    func = kernel(
        "wide", [a, b, c], left, right, acc, result, nki.load(left, a), nki.load(right, b),
        loop(j, 2, nki.matmul(acc[:, part], left, right[:, part], False)), nki.tensor_copy(result, acc), nki.store(c, result),
    )  # fmt: skip
    text = source_of(func)
    assert "acc = nl.ndarray((128, 2, 512), dtype=nl.float32, buffer=nl.psum)" in text
    assert "dst=acc[:, j, :],\n" in text
    assert "nisa.tensor_copy(dst=result, src=acc)" in text
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((128, 128)).astype(np.float32), rng.standard_normal((128, 1024)).astype(np.float32)
    np.testing.assert_allclose(run(func, tmp_path, x, y), x.T @ y, atol=1e-4)


def test_an_address_is_partition_and_byte() -> None:
    tile, acc = sbuf("tile", 128, 64, allocated_addr=(4096,)), psum("acc", 128, 512, allocated_addr=(2, 0))
    a = Buffer("a", (128, 64))
    text = source_of(kernel("fixed", [a], tile, acc, nki.memset(tile, 0.0), nki.memset(acc, 0.0), nki.store(a, tile)))
    assert "buffer=nl.sbuf, address=(0, 4096))" in text
    assert "buffer=nl.psum, address=(0, 4096))" in text


@pytest.mark.parametrize(
    ("letters", "shape", "spec"),
    [
        ("PF", (128, 512), S[(128, 512) : (1 @ P, 1 @ F)]),
        ("PF", (128, 2048), S[(128, 4, 512) : (1 @ P, 1 @ Bank, 1 @ F)]),
        ("FPF", (4, 128, 512), S[(4, 128, 512) : (1 @ Bank, 1 @ P, 1 @ F)]),
        ("PF", (256, 512), S[(2, 128, 512) : (1 @ Bank, 1 @ P, 1 @ F)]),
        ("PPF", (2, 64, 8), S[(2, 64, 8) : (64 @ P, 1 @ P, 1 @ F)]),
    ],
)
def test_the_same_in_banks(letters: str, shape: tuple[int, ...], spec: Any) -> None:
    """Published TIRx keeps iters of one step; without them its results are these."""
    assert to_psum_layout(trainium_layout(letters, shape)) == TileLayout(spec)
    assert to_psum_layout(trainium(letters, shape)) == trainium_psum(letters, shape)


def test_only_partitions_free_elements_and_banks_make_an_on_chip_layout() -> None:
    assert is_trainium_layout(trainium("PF", (128, 512)))
    assert is_trainium_layout(trainium_psum("PF", (128, 2048)))
    assert not is_trainium_layout(TileLayout(S[128, 512]))
    assert not is_trainium_layout(None)
    with pytest.raises(LayoutError, match="is no layout of partitions and free elements"):
        to_psum_layout(TileLayout(S[128, 512]))


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((128, 512), {"layout": "PF"}),
        ((128, 1024), {"layout": "PF"}),
        ((1, 128, 512), {}),
        ((128, 512), {}),
        ((4, 128, 512), {"layout": "FPF"}),
    ],
)
def test_psum_tiles_that_the_published_backend_gets_wrong(shape: tuple[int, ...], options: Any, tmp_path: Path) -> None:
    """Its shapes were malformed, copies refused, products "invalid layout": here a product goes in and comes out."""
    letters = options.get("layout")
    acc = psum("acc", *shape, layout=trainium_psum(letters, shape) if letters else None)
    a, b = Buffer("a", (64, 128)), Buffer("b", (64, 512))
    out = Buffer("out", shape)
    x, y, r = (
        sbuf("x", 64, 128),
        sbuf("y", 64, 512),
        sbuf("r", *shape, layout=trainium(letters or "FPF"[-len(shape) :], shape)),
    )
    if len(shape) == 3:
        parts = [acc[i : i + 1, :, :] for i in range(shape[0])]
    else:
        parts = [acc[:, i : i + 512] for i in range(0, shape[1], 512)]
    products = [nki.matmul(part, x, y, False) for part in parts]
    func = kernel(
        "product",
        [a, b, out],
        x,
        y,
        acc,
        r,
        nki.load(x, a),
        nki.load(y, b),
        *products,
        nki.tensor_copy(r, acc),
        nki.store(out, r),
    )
    rng = np.random.default_rng(0)
    left, right = (rng.integers(-3, 4, size).astype(np.float32) for size in ((64, 128), (64, 512)))
    wanted = left.T @ right
    expected = np.broadcast_to(wanted, shape) if len(shape) == 3 else np.tile(wanted, (1, shape[1] // 512))
    np.testing.assert_array_equal(run(func, tmp_path, left, right), expected)


def viewed(scope: str, view: str) -> Any:
    """A kernel that copies part of a view of a tile."""
    return from_source(f"""
@Tx.prim_func
def viewed(a: Tx.Buffer((128, 64), "float32"), b: Tx.Buffer((128, 16), "float32")):
    Tx.device_entry()
    x = Tx.alloc_buffer((128, 64), "float32", scope="trn.sbuf", layout="PF")
    p = Tx.alloc_buffer((128, 64), "float32", scope="{scope}", layout="PF")
    y = Tx.alloc_buffer((128, 16), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.load(x, a)
    Tx.nki.tensor_copy(p, x)
    Tx.nki.tensor_copy(y, p.{view})
    Tx.nki.store(b, y)
""")


def test_free_dimensions_may_be_divided_anew(tmp_path: Path) -> None:
    func = viewed("trn.sbuf", "view(128, 16, 4)[:, :, 1]")
    text = source_of(func)
    assert "p_view = p.reshape((128, 16, 4))" in text
    assert "src=p_view[:, :, 1]" in text
    x = np.random.default_rng(0).standard_normal((128, 64)).astype(np.float32)
    np.testing.assert_array_equal(run(func, tmp_path, x), x[:, 1::4])
    result = np.zeros((128, 16), np.float32)
    assert tirx.simulate(func, x, result, target="trn").verdict == "clean"
    np.testing.assert_array_equal(result, x[:, 1::4])


@pytest.mark.parametrize(("scope", "view"), [("trn.sbuf", "sub[:, 0:64:4]"), ("trn.psum", "view(128, 16, 4)[:, :, 1]")])
def test_other_views_of_tiles_are_refused_at_their_line(scope: str, view: str) -> None:
    with pytest.raises(VerifyError, match="sees only part of a tile, or sees it in another order") as caught:
        source_of(viewed(scope, view))
    assert f"p.{view.split('[')[0]}" in str(caught.value)


def test_the_constructors_are_found_by_name() -> None:
    assert layout.trainium is trainium
    assert layout.trainium_psum is trainium_psum
