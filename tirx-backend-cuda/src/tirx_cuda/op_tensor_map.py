"""Rows of the host: a record for a tensor map, and what the driver is told of the tensor. They stand before the kernel part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tirx.intrinsic import Intrinsic, Operand
from tirx.ir import Attr, Call, Expr, IRModule, PointerType, walk
from tirx.support.errors import Diagnostic
from tirx.transform.row import Check

__all__ = ["CHECKS", "INTRINSICS", "RECORD"]

RECORD = PointerType("tensormap", "param")
_SIM = "tirx_cuda.sim.tensor_map:"
_SOURCE = "CUDA Driver API, Tensor Map Object Management"
_CHOICES = {"interleave": 0, "swizzle": 0, "l2_promotion": 0, "oob_fill": 0, "force_cu_dtype": -1}


def _record(args: Sequence[Expr], attrs: dict[str, Any]) -> PointerType:
    return RECORD


def _encoder(name: str, doc: str, **attrs: Any) -> Intrinsic:
    return Intrinsic(
        f"cuda.{name}",
        [
            Operand("map", "pointer", rw="w", scope=("param",)), Operand("pointer", "pointer"),
            Operand("numbers", dtypes=("int64", "integer")),
        ],
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


# ---- where they may stand ---------------------------------------------------------------------------------------------


def _in_kernel(module: IRModule, target: Any) -> Iterable[Diagnostic]:
    """Maps are made on the host."""
    return (
        problem for func in module for part in walk(func.body) if isinstance(part, Attr) for problem in _problems(part)
    )


def _problems(part: Attr) -> Iterator[Diagnostic]:
    if part.key != "tirx.device_entry":
        return
    names = {row.name for row in INTRINSICS}
    for node in walk(part.body):
        if isinstance(node, Call) and node.op.name in names:
            text = "a tensor map is made in the kernel part; the host makes it"
            yield Diagnostic(text, node.span or part.span, hint="move it before device_entry()")
            return


CHECKS = (Check("tensor_maps", "cuda", "bound", _in_kernel),)
