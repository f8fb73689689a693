"""CUDA C++ as the C-family printer sees it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from tirx.codegen.dialect import CDialect, Helper

from .types import BRIDGES, CALLS, PAIRS, TYPES

__all__ = ["cuda_dialect"]

_AXES = ("x", "y", "z")
_LAUNCH = {
    "cta": "blockIdx",
    "thread": "threadIdx",
    "cta_in_cluster": "__clusterRelativeBlockIdx()",
    "cluster": "__clusterIdx()",
}

_VECTOR = """\
struct alignas({align}) {name} {{
  {element} lane[{lanes}];
  __device__ {element}& operator[](int i) {{ return lane[i]; }}
  __device__ const {element}& operator[](int i) const {{ return lane[i]; }}
}};"""


@cache
def cuda_dialect() -> CDialect:
    """The tables of CUDA C++."""
    helpers = _helpers()
    return CDialect(
        "cuda",
        types=TYPES,
        reserved=_reserved() | frozenset(helpers) | frozenset(CALLS.values()),
        launch_axes={f"{level}.{axis}": f"{text}.{axis}" for level, text in _LAUNCH.items() for axis in _AXES},
        launch_type="int32",  # what reads it is unsigned; it is always small enough to be an int
        scopes={"shared": "__shared__ ", "shared.dyn": "extern __shared__ ", "local": ""},
        dynamic="extern __shared__ ",
        kernel='extern "C" __global__ void',
        function="__device__",
        restrict="__restrict__",
        record="const __grid_constant__ ",
        align="__align__({0})",
        vector=_VECTOR,
        assertion="printf({0});\n__trap();",
        helpers=helpers,
        pairs=PAIRS,
        calls=CALLS,
        bridges=BRIDGES,
    )


def _read(*path: str) -> str:
    return files("tirx_cuda").joinpath(*path).read_text(encoding="utf-8")


def _reserved() -> frozenset[str]:
    lines = _read("codegen", "reserved.txt").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _helpers() -> dict[str, Helper]:
    """The sections of `cpp/helpers.cuh` by name."""
    found = {}
    for section in _read("cpp", "helpers.cuh").split("\n//! ")[1:]:
        head, _, text = section.partition("\n")
        name, _, rest = head.partition(":")
        needs, _, includes = rest.partition(";")
        found[name.strip()] = Helper(name.strip(), text.strip("\n"), needs=needs.split(), includes=includes.split())
    return found
