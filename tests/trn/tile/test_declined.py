"""Why a tile operation is refused: the reasons that no other file of these tests asks for."""

from __future__ import annotations

from typing import Any

import pytest

from tests.trn.tile.operations import PSUM, Place, refused
from tests.trn.tile.test_products import product

I32 = Place((128, 64), "int32")
FLAGS, F64 = Place((128, 64), "bool"), Place((128, 8), "float64")
TURNED = {**product(8, 8, 16), "D": Place((8, 8), layout="PP"), "C": Place((8, 8), layout="PP")}
CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "truth values": ("add", {"dst": FLAGS, "src1": FLAGS, "src2": FLAGS}, "truth values saturate"),
    "integers in PSUM": (
        "add", {"dst": I32, "src1": I32, "src2": Place((128, 64), "int32", scope=PSUM)}, "32-bit integers are exact only there"
    ),
    "both dimensions along partitions": ("gemm", TURNED, "both dimensions of `D` lie along partitions"),
    "a type that no engine has": ("add", {"dst": F64, "src1": F64, "src2": 1.0}, "which the engines do not have"),
    "a negative size": (
        "add", {"dst": Place((128, 64)), "src1": Place((128, 64)), "src2": 1.0, "max_inst_size": -1}, "max_inst_size is a number"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str) -> None:
    operation, operands, message = CASES[name]
    keywords = {key: operands.pop(key) for key in ("max_inst_size",) if key in operands}
    text = refused(operation, keywords=keywords, **operands)
    assert message in text
