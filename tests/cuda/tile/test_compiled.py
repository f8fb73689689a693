"""One kernel per variant and element type through NVRTC, for the oldest and the newest architecture that the variant claims."""

from __future__ import annotations

from typing import Any

import pytest

import tirx
from tirx.backend import find, load
from tirx.ir import IRModule, PrimFunc
from tirx.layout import R, S, TileLayout
from tirx.layout.syntax import AxisNames as Axis
from tirx.target import Target
from tirx.testing.operations import Place, tile_kernel

load("cuda")

from tirx_cuda.layout.mma import ldmatrix_layout, mma_fragment_layout  # noqa: E402  # the backend must be loaded first
from tirx_cuda.nvrtc import open_nvrtc  # noqa: E402
from tirx_cuda.tile_primitive import VARIANTS  # noqa: E402
from tirx_cuda.toolchain import compile_with_nvrtc  # noqa: E402

NEWEST = "sm_120a"
OLDEST = "sm_75"
FLOATS = ("float16", "bfloat16", "float32", "float64")
TYPES = (*FLOATS, "int8", "uint8", "int32", "int64")
COPIED = (*TYPES, "float8_e4m3fn")
FRAGMENT = TileLayout(S[(2, 8, 4, 2) : (2, 4 @ Axis.laneid, 1 @ Axis.laneid, 1)])
ROWS = TileLayout(S[(2, 8) : (1, 4 @ Axis.laneid)] + R[4 : 1 @ Axis.laneid])
COLUMNS = TileLayout(S[(16, 8) : (1, 16)])
WARP = {"scope": "warp"}
ALONE = {"scope": "thread", "threads": 1}

Case = tuple[
    str, str, str, dict[str, Any], dict[str, Any]
]  # variant, first architecture, operation, operands, keywords


def at(scope: str, dtype: str, shape: tuple[int, ...] = (16, 8), layout: Any = None) -> Place:
    return Place(scope, shape, dtype, layout)


def held(dtype: str) -> Place:
    return at("local", dtype, layout=FRAGMENT)


def copies() -> list[Case]:
    found: list[Case] = []
    for dtype in COPIED:
        found.append(("vec_auto", OLDEST, "copy", {"dst": at("shared", dtype), "src": at("global", dtype)}, {}))
        found.append(("fallback", OLDEST, "copy", {"dst": at("shared", dtype), "src": at("global", dtype)}, {}))
        found.append(("ldgsts", "sm_80", "copy_async", {"dst": at("shared", dtype), "src": at("global", dtype)}, {}))
        found.append(
            (
                "copy",
                OLDEST,
                "permute_layout",
                {"dst": at("shared", dtype, layout=COLUMNS), "src": at("shared", dtype)},
                {},
            )
        )
        for variant in ("registers", "warp_xor_swizzle"):
            tiles = {"dst": at("shared", dtype, layout=COLUMNS), "src": at("shared", dtype)}
            found.append((variant, OLDEST, "permute_layout", tiles, WARP))
    for dtype in ("float16", "bfloat16", "int16"):
        tile = at("local", dtype, layout=ldmatrix_layout(1).tile_to([16, 8], [8, 8]))
        found.append(("ldstmatrix", OLDEST, "copy", {"dst": tile, "src": at("shared", dtype)}, WARP))
        found.append(("ldstmatrix", "sm_90", "copy", {"dst": at("shared", dtype), "src": tile}, WARP))
    for width, first in ((256, "sm_100"), (128, OLDEST), (64, OLDEST), (32, OLDEST), (16, OLDEST)):
        for dtype in ("float16", "float32", "uint8", "float64"):
            count = width // tirx.ir.DType(dtype).bits
            if count:
                tiles = {"dst": at("local", dtype, (count,)), "src": at("global", dtype, (count,))}
                found.append((f"vec_{width}b", first, "copy", tiles, ALONE))
    return found


def computations() -> list[Case]:
    found: list[Case] = []
    for dtype in TYPES:
        for variant, place in (("reg", held(dtype)), ("smem", at("shared", dtype)), ("mixed", at("global", dtype))):
            found.append((variant, OLDEST, "add", {"dst": place, "src1": place, "src2": 3}, WARP))
        if dtype in FLOATS:
            place = held(dtype)
            found.append(("reg", OLDEST, "exp", {"dst": place, "src": place, "scale": 0.5}, WARP))
            found.append(("reg", OLDEST, "fma", {"dst": place, "src": place, "scale": 0.5, "bias": place}, WARP))
    rounded = {"rounding_mode": "rz", **WARP}
    for dtype in ("float32", "float64"):
        for operation in ("add", "sub", "mul"):
            tiles = {name: held(dtype) for name in ("dst", "src1", "src2")}
            found.append(("reg", OLDEST, operation, tiles, rounded))
    for dtype in ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"):
        for source in ("float32", "float16"):
            if source != dtype:
                found.append(("reg", OLDEST, "cast", {"dst": held(dtype), "src": held(source)}, WARP))
                found.append(("reg", OLDEST, "cast", {"dst": held(source), "src": held(dtype)}, WARP))
    return found


def reductions() -> list[Case]:
    found: list[Case] = []
    for dtype in TYPES:
        for operation in ("sum", "max") if dtype in FLOATS else ("min",):
            tiles = {"dst": at("shared", dtype, (16,)), "src": at("shared", dtype)}
            found.append(("shared", OLDEST, operation, tiles, {}))
            tiles = {"dst": at("local", dtype, (16,), ROWS), "src": held(dtype)}
            found.append(("local", OLDEST, operation, tiles, {"thread_reduce": True, **WARP}))
    for operation, variant in (("sum", "packed_add_sum"), ("max", "3input_maxmin"), ("min", "3input_maxmin")):
        tiles = {"dst": at("local", "float32", (1,)), "src": at("local", "float32", (17,))}
        found.append((variant, "sm_100", operation, tiles, ALONE))
    tiles = {"output": at("shared", "float32", (16,)), "input": at("shared", "float32")}
    found.append(("parts", OLDEST, "reduce_negate", tiles, {"reduce_op": "max"}))
    return found


def products() -> list[Case]:
    found: list[Case] = []
    rows = [
        ("float16", "float32", 16, 16, "sm_80"), ("float16", "float16", 16, 8, OLDEST), ("bfloat16", "float32", 16, 16, "sm_80"),
        ("float32", "float32", 16, 8, "sm_80"), ("float8_e4m3fn", "float32", 16, 32, "sm_89"),
        ("float8_e5m2", "float16", 16, 32, "sm_89"), ("int8", "int32", 16, 32, "sm_80"), ("uint8", "int32", 16, 16, "sm_80"),
        ("float64", "float64", 8, 4, "sm_80"), ("float64", "float64", 16, 16, "sm_90"),
    ]  # fmt: skip
    for dtype, result, m, k, first in rows:
        sizes = {"D": (m, 8), "A": (m, k), "B": (k, 8), "C": (m, 8)}
        types = {"D": result, "A": dtype, "B": dtype, "C": result}
        tiles = {
            name: at("local", types[name], shape, mma_fragment_layout(name, f"m{m}n8k{k}", types[name]))
            for name, shape in sizes.items()
        }
        found.append(("mma.m16n8k*", first, "gemm", {**tiles, "beta": 1}, WARP))
        loose = {name: at("shared", types[name], shape) for name, shape in sizes.items()}
        found.append(("loop", first, "gemm", {**loose, "alpha": 2, "beta": 1}, {}))
    return found


CASES = [*copies(), *computations(), *reductions(), *products()]


def number_of(arch: str) -> int:
    return int("".join(filter(str.isdigit, arch)))


def kernels(arch: str) -> IRModule:
    """The kernels of the variants that begin with `arch`, or of all that the newest has."""
    made: list[PrimFunc] = []
    for variant, first, operation, operands, keywords in CASES:
        if arch in (first, NEWEST):
            kernel = tile_kernel(find("tile_ops", operation), operands, dispatch=variant, **keywords)
            made.append(
                kernel.replaced(
                    name=(name := f"{operation}_{len(made)}"), attrs={**kernel.attrs, "global_symbol": name}
                )
            )
    return IRModule(made)


@pytest.mark.skipif(open_nvrtc() is None, reason="NVRTC is not installed")
@pytest.mark.slow
@pytest.mark.parametrize("arch", [*sorted({case[1] for case in CASES}, key=number_of), NEWEST])
def test_every_variant_compiles(arch: str) -> None:
    module = kernels(arch)
    binary = compile_with_nvrtc(tirx.compile(module, f"cuda -arch={arch}").source, Target(f"cuda -arch={arch}"))
    assert len(binary.resources) == len(list(module))
    assert binary.log == ""
    assert not any(figures.spill_bytes for figures in binary.resources.values())


def test_no_variant_is_left_out() -> None:
    assert {row.name for row in VARIANTS} == {case[0] for case in CASES}


def test_names_are_unique() -> None:
    names = [(row.operation, row.name) for row in VARIANTS]
    assert len(names) == len(set(names))
    assert {name for name, _ in names} == {row.name for row in tirx.backend.registry().rows("tile_ops").values()} - {
        "gemm_async"
    }
