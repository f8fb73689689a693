"""Wave C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirx.backend import find
from tirx.codegen import Source
from tirx.codegen.dialect import CDialect, CType, Helper
from tirx.codegen.function import CGenerator
from tirx.intrinsic import Emission
from tirx.ir import IRModule

__all__ = ["generate"]

DIALECT = CDialect(
    "wavefront",
    types={
        "bool": CType("bool"),
        "int32": CType("int"),
        "int64": CType("long", suffix="L"),
        "uint32": CType("uint", suffix="u"),
        "uint64": CType("ulong", suffix="UL"),
        "float32": CType("float", literal="{0}f"),
    },
    reserved=frozenset(
        "bool int long uint float void for if else while break continue return template class kernel lds".split()
    ),
    launch_axes={f"{level}.{axis}": f"{level}_id({axis!r})" for level in ("cta", "thread") for axis in "xyz"},
    launch_type="int32",
    scopes={"shared": "lds ", "lds": "lds ", "local": ""},
    kernel="kernel void",
    function="",
    helpers={"wave_sum": Helper("wave_sum", "template <class T> T wave_sum(T value);")},
)


def _emission(name: str) -> Emission | None:
    found: Emission | None = find("emissions", (name, "wavefront"))
    return found


def generate(module: IRModule, target: Any, config: Mapping[str, Any]) -> Source:
    """The device functions of a module as Wave C."""
    return CGenerator(DIALECT, _emission, target).module(module, "wave-c", ".wave")
