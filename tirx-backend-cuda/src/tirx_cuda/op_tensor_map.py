"""Rows of the host: a record for a tensor map, and what the driver is told of the tensor. They stand before the kernel part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tirx.intrinsic import Intrinsic, Operand
from tirx.ir import Expr, PointerType

__all__ = ["INTRINSICS", "RECORD"]

RECORD = PointerType("tensormap", "param")
_SIM = "tirx_cuda.sim.tensor_map:"
_SOURCE = "CUDA Driver API, Tensor Map Object Management"
_CHOICES = {"interleave": 0, "swizzle": 0, "l2_promotion": 0, "oob_fill": 0, "force_cu_dtype": -1}


def _record(args: Sequence[Expr], attrs: dict[str, Any]) -> PointerType:
    return RECORD


def _encoder(name: str, doc: str, **attrs: Any) -> Intrinsic:
    return Intrinsic(
        f"cuda.{name}",
        [Operand("map", "pointer", rw="w", scope=("param",)), Operand("pointer", "pointer"), Operand("numbers", dtypes=("int64", "integer"))],
        "void", "write", doc=doc, attrs={"descriptor_dtype": "", "rank": 0, **attrs, **_CHOICES},
        meaning=f"{_SIM}{name.removeprefix('tensormap_')}", source=_SOURCE, variadic=True,
    )  # fmt: skip


INTRINSICS = (
    Intrinsic(
        "cuda.tensormap_record", [], _record, "write", doc="room on the host for a tensor map, which a launch hands to the kernel",
        meaning=f"{_SIM}record", source=_SOURCE,
    ),
    _encoder("tensormap_encode_tiled", "describe a tensor that is copied in boxes"),
    _encoder("tensormap_encode_im2col", "describe a tensor that is copied as columns of pixels", mode="im2col"),
)  # fmt: skip
