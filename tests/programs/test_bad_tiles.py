"""Tile operations that cannot be: an error at the call's line that says what would be accepted."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import tirx
from tirx import script as Tx
from tirx.layout import S, TileLayout
from tirx.layout.syntax import AxisNames as Axis
from tirx.support.errors import TirxError

pytestmark = pytest.mark.needs("tirx-backend-cuda")

TARGET = "cuda -arch=sm_90a"
LANES = TileLayout(S[(8, 4, 2) : (4 @ Axis.laneid, 1 @ Axis.laneid, 1)])  # 8 x 8 over the lanes of a warp
TURNED = TileLayout(S[(4, 2, 8) : (1 @ Axis.laneid, 1, 4 @ Axis.laneid)])
WARPS = TileLayout(S[(4, 8, 4, 2) : (1 @ Axis.warpid, 4 @ Axis.laneid, 1 @ Axis.laneid, 1)])  # 32 x 8 over four
number: Any = 1.0
Body = Callable[[Any, Any, Any, Any], object]


def compiled(body: Any, threads: int, target: str = TARGET) -> None:
    """A kernel with `A` and `H` outside, `s` shared by a cta; `body(A, H, s, tx)` is called in it."""
    with Tx.builder.Builder() as builder, Tx.prim_func():
        Tx.func_name("kernel")
        outside: Any = [
            Tx.arg(name, Tx.Buffer((64, 64), dtype)) for name, dtype in (("A", "float32"), ("H", "float16"))
        ]
        Tx.device_entry()
        tx = Tx.thread_id([threads])
        s = Tx.alloc_buffer((64, 64), "float32", scope="shared")
        body(*outside, s, tx)
    tirx.compile(builder.get(), target)


def own(rows: int, columns: int, layout: Any = LANES, dtype: str = "float32") -> Any:
    return Tx.alloc_buffer((rows, columns), dtype, scope="local", layout=layout)


def shared(rows: int, columns: int, dtype: str = "float32", **options: Any) -> Any:
    return Tx.alloc_buffer((rows, columns), dtype, scope="shared", **options)


def where(condition: Any, body: Callable[[], object]) -> None:
    with Tx.If(condition), Tx.Then():
        body()


# What is wrong: the call, what the error says, and what it says to do (or which values were found).
OPERANDS: dict[str, tuple[Body, str, str]] = {
    "overlapping regions": (
        lambda A, H, s, tx: Tx.cta.copy(A[0:32, :], A[16:48, :]),
        "the regions of Tx.cta.copy overlap: it reads and writes `A` in the same place",
        "copy through another buffer, or choose regions that share no element",
    ),
    "overlapping regions that move": (
        lambda A, H, s, tx: Tx.cta.copy(A[tx % 2 * 16 : tx % 2 * 16 + 24, :], A[tx % 2 * 16 + 8 : tx % 2 * 16 + 32, :]),
        "the regions of Tx.cta.copy overlap",
        "choose regions that share no element",
    ),
    "other rows": (
        lambda A, H, s, tx: Tx.cta.copy(A[0:32, :], s[0:16, :]),
        "`dst` of Tx.cta.copy has shape (32, 64), and `src` has (16, 64): they differ",
        "without extents of 1 they are (32, 64) and (16, 64), and must be equal",
    ),
    "other dimensions after squeezing": (
        lambda A, H, s, tx: Tx.cta.copy(A[0:32, 0], s[0:16, 0:2]),
        "`dst` of Tx.cta.copy has shape (32, 1), and `src` has (16, 2): they differ",
        "without extents of 1 they are (32,) and (16, 2), and must be equal",
    ),
    "a permutation of other extents": (
        lambda A, H, s, tx: Tx.warp.permute_layout(s[0:8, :], s[8:24, :]),
        "`dst` of Tx.warp.permute_layout has shape (8, 64), and `src` has (16, 64): they differ",
        "must be equal",
    ),
    "a shape that does not stretch": (
        lambda A, H, s, tx: Tx.cta.cast(A[0:8, :], H[0:4, :]),
        "`src` of Tx.cta.cast has shape (4, 64), which does not stretch to (8, 64) of `dst`",
        "dimensions meet from the right; each is equal to the destination's, or 1",
    ),
    "matrices that do not fit": (
        lambda A, H, s, tx: Tx.cta.gemm(A, H, H[:32, :], A),
        "the matrices of Tx.cta.gemm do not fit: K of A is 64, and K of B is 32",
        "it takes D as M x N, A as M x K and B as K x N",
    ),
    "an axis that is not there": (
        lambda A, H, s, tx: Tx.cta.sum(A[:, 0], s, axes=2),
        "`axes` of Tx.cta.sum is 2, and `src` has 2 dimensions",
        "axes are -2 to 1",
    ),
    "a result of another shape": (
        lambda A, H, s, tx: Tx.cta.sum(A[:, 0:2], s),
        "`dst` of Tx.cta.sum has shape (64, 2), and (64, 64) reduced over axis 1 has (64,)",
        "give a tile of shape (64,) or (64, 1), or choose other axes (axes=...)",
    ),
    "a copy that converts": (
        lambda A, H, s, tx: Tx.cta.copy(A, H),
        "`dst` of Tx.cta.copy holds float32, and `src` holds float16",
        "both hold one type; convert with Tx.tile.cast(dst, src)",
    ),
    "a sum that loses digits": (
        lambda A, H, s, tx: Tx.cta.add(H, A, H),
        "`src1` of Tx.cta.add holds float32, which may change in float16 of `dst`",
        "write to a tile of float32, or convert with Tx.tile.cast(dst, src)",
    ),
    "a number for a tile": (
        lambda A, H, s, tx: Tx.cta.copy(A, number),
        "`src` of Tx.cta.copy is a tile that is read, not a float",
        "it takes a buffer or a region such as A[0:16, :]",
    ),
    "a region outside its buffer": (
        lambda A, H, s, tx: Tx.cta.zero(A[0:8, 60:70]),
        "index 69 is outside dimension 1 of `A` (64 elements)",
        "guard the access with `if`, or change the range",
    ),
}

PLACES: dict[str, tuple[Body, str, str]] = {
    "a layout of half the size": (
        lambda A, H, s, tx: Tx.alloc_buffer((8, 8), "float32", scope="shared", layout=TileLayout(S[(4, 8) : (8, 1)])),
        "`buffer` has 64 elements and its layout 32",
        "the product of the layout's extents is the number of elements",
    ),
    "a layout of twice the size": (
        lambda A, H, s, tx: Tx.alloc_buffer((8, 8), "float32", scope="local", layout=LANES.tile_to([16, 8], [8, 8])),
        "`buffer` has 64 elements and its layout 128",
        "the product of the layout's extents is the number of elements",
    ),
    "a view of another size": (
        lambda A, H, s, tx: Tx.cta.zero(s.view(64, 64, layout=TileLayout(S[(64, 32) : (1, 64)]))),
        "`s_view` has 4096 elements and its layout 2048",
        "the product of the layout's extents is the number of elements",
    ),
    "a layout of more warps than there are": (
        lambda A, H, s, tx: Tx.cta.copy(own(32, 8, WARPS), A[0:32, 0:8]),
        "no variant of Tx.cta.copy fits this call on cuda, 64 threads of a cta together",
        "the layout names more threads than the launch has (axis=warpid, named=4, there=2)",
    ),
    "tiles in other threads": (
        lambda A, H, s, tx: Tx.cta.add(own(8, 8), own(8, 8), own(8, 8, TURNED)),
        "no variant of Tx.cta.add fits this call on cuda",
        "`buffer_2` holds the elements in other threads (axis=laneid,",
    ),
    "misaligned vectors": (
        lambda A, H, s, tx: Tx.tile.copy(s[tx, 1:5], A[tx, 1:5], dispatch="vec_128b"),
        "variant `vec_128b` of Tx.tile.copy does not fit this call on cuda, each thread for itself",
        "regions of 128 bits: the elements of `s` do not lie together and aligned",
    ),
    "misaligned asynchronous vectors": (
        lambda A, H, s, tx: Tx.cta.copy_async(shared(64, 64, "float16")[:, 1:5], H[:, 1:5], dispatch="ldgsts"),
        "variant `ldgsts` of Tx.cta.copy_async does not fit this call on cuda",
        "no vectors of 4, 8 or 16 bytes lie together and aligned on both sides (bytes=2)",
    ),
    "too much shared memory": (
        lambda A, H, s, tx: Tx.cta.zero(Tx.alloc_buffer((256, 256), "float32", scope="shared")),
        "278528 bytes of shared memory in a cta: target `cuda -arch=sm_90a` has 232448",
        "`buffer`: 262144 bytes",
    ),
    "rows over lanes": (
        lambda A, H, s, tx: Tx.warp.sum(A[0:8, 0], own(8, 8)),
        "no variant of Tx.warp.sum fits this call on cuda, 32 threads of a warp together",
        "a row is spread over lanes; say thread_reduce=True to exchange between them (exchanges=2)",
    ),
}

SCOPES: dict[str, tuple[Body, str, str]] = {
    "an unknown scope": (
        lambda A, H, s, tx: Tx.tile.copy(A, s, scope="block"),
        "there is no scope 'block'",
        "there are thread, warp, warpgroup, cta, cluster",
    ),
    "too few threads for a warpgroup": (
        lambda A, H, s, tx: Tx.warpgroup.copy(A, s),
        "a cta of this launch has 64 threads, no whole number of warpgroups of 128",
        "use a smaller scope",
    ),
    "no clusters": (
        lambda A, H, s, tx: Tx.cluster.copy(A, s),
        "Tx.cluster.copy cannot be shared out here: this launch has no clusters",
        "use a smaller scope",
    ),
    "a part of a warp": (
        lambda A, H, s, tx: where(tx < 48, lambda: Tx.warp.copy(A, s)),
        "Tx.warp.copy cannot be shared out here: `tx < 48`",
        "put the call where the same threads of each are active, or use a smaller scope",
    ),
    "an unknown variant": (
        lambda A, H, s, tx: Tx.cta.copy(A, s, dispatch="vec_99b"),
        "Tx.cta.copy has no variant `vec_99b` on cuda",
        "its variants are fallback, ldstmatrix, vec_128b, vec_16b, vec_256b, vec_32b, vec_64b, vec_auto",
    ),
    "an unknown keyword": (
        lambda A, H, s, tx: Tx.cta.add(s, s, s, vectors=4),
        "Tx.cta.add on cuda does not know the keyword `vectors`",
        "ftz, rounding_mode",
    ),
    "an unknown workspace": (
        lambda A, H, s, tx: Tx.cta.sum(A[:, 0], s, workspace={"scratch": s}),
        "Tx.cta.sum on cuda has no use for a workspace `scratch`",
        "partials",
    ),
    "a value that a keyword does not take": (
        lambda A, H, s, tx: Tx.tile.copy(s[tx, 0:4], A[tx, 0:4], dispatch="vec_128b", cache="l9"),
        "`cache` is 'nc'",
        "read through the cache of read-only data (global source)",
    ),
}

TABLE = {**OPERANDS, **PLACES, **SCOPES}


def said(body: Body, threads: int = 64) -> tuple[str, str]:
    """What the error says: on one line, and where it stands."""
    with pytest.raises(TirxError) as raised:
        compiled(body, threads)
    return " ".join(str(raised.value).split()), str(raised.value).partition(": error:")[0]


@pytest.mark.parametrize("case", TABLE)
def test_an_error_at_the_line_says_what_would_be_accepted(case: str) -> None:
    body, message, remedy = TABLE[case]
    text, place = said(body)
    assert message in text
    assert remedy in text
    line = f"{__file__}:{inspect.getsourcelines(body)[1]}"
    assert re.fullmatch(rf"{re.escape(line)}(:\d+)?", place)  # Python 3.10 keeps no columns


@pytest.mark.parametrize("threads", [48, 33])
def test_threads_that_are_no_whole_warps(threads: int) -> None:
    text, _ = said(
        lambda A, H, s, tx: Tx.cta.copy(own(8, 8, LANES, "float16"), shared(8, 8, "float16"), dispatch="ldstmatrix"),
        threads,
    )
    assert f"whole warps: an instruction of whole warps (threads={threads})" in text
    text, _ = said(lambda A, H, s, tx: Tx.warp.copy(A, s), threads)
    assert f"a cta of this launch has {threads} threads, no whole number of warps of 32" in text


def test_a_call_on_the_host() -> None:
    with Tx.builder.Builder() as builder, Tx.prim_func():
        Tx.func_name("kernel")
        A = Tx.arg("A", Tx.Buffer((64, 64), "float32"))
        B = Tx.arg("B", Tx.Buffer((64, 64), "float32"))
        Tx.tile.copy(B, A)
        Tx.device_entry()
        Tx.thread_id([64])
    with pytest.raises(TirxError, match=r"Tx\.tile\.copy is called outside of a kernel") as raised:
        tirx.compile(builder.get(), TARGET)
    assert "write Tx.device_entry() before it: what follows is the kernel" in str(raised.value)
    assert "test_bad_tiles.py" in str(raised.value)


def test_a_call_outside_of_any_function() -> None:
    nothing: Any = None
    with pytest.raises(TirxError, match=r"Tx\.cta\.zero belongs in a kernel") as raised:
        Tx.cta.zero(nothing)
    assert "call it inside a function decorated with @Tx.prim_func" in str(raised.value)
