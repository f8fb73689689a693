"""OpenCL C as the C-family printer sees it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from tirx.codegen.dialect import CDialect, Helper

from .types import calls, types

__all__ = ["opencl_dialect"]

_AXES = ("x", "y", "z")
_LAUNCH = {"cta": "get_group_id", "thread": "get_local_id"}
# what stands before the type of an array, and before that which a pointer points to
_SPACES = {"global": "__global ", "shared": "__local ", "shared.dyn": "__local ", "local": ""}


@cache
def opencl_dialect(half: bool) -> CDialect:
    """The tables of OpenCL C 1.2; with `half`, the device computes in float16."""
    helpers, functions = _helpers(), calls(half)
    return CDialect(
        "opencl",
        types=types(half),
        reserved=_reserved() | frozenset(helpers) | frozenset(functions.values()),
        launch_axes={
            f"{level}.{axis}": f"{text}({i})" for level, text in _LAUNCH.items() for i, axis in enumerate(_AXES)
        },
        launch_type="int32",  # what reads it is a size_t; it is always small enough to be an int
        scopes={"shared": "__local ", "shared.dyn": "__local /* by the launch */ ", "local": ""},
        dynamic="__local /* by the launch */ ",
        dynamic_argument="dynamic_local",
        spaces=_SPACES,
        kernel="__kernel",
        function="static",
        restrict="restrict",
        align="__attribute__((aligned({0})))",
        assertion="fail(failure, {0});",
        helpers=helpers,
        calls=functions,
        bridges=dict.fromkeys(("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"), "float32"),
        overloads=False,
        listed=16,
    )


def _read(name: str) -> str:
    return files("tirx_opencl.codegen").joinpath(name).read_text(encoding="utf-8")


def _reserved() -> frozenset[str]:
    lines = _read("reserved.txt").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def _helpers() -> dict[str, Helper]:
    """The sections of `helpers.cl` by name."""
    found = {}
    for section in _read("helpers.cl").split("\n//! ")[1:]:
        head, _, text = section.partition("\n")
        name, _, needs = head.partition(":")
        found[name.strip()] = Helper(name.strip(), text.strip("\n"), needs=needs.split())
    return found
