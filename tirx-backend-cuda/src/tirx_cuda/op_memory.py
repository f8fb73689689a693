"""Rows of waiting at barriers in shared memory, of addresses, and of copies of whole words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tirx.intrinsic import Operand
from tirx.ir import Call, DType, IntImm

from . import emit
from .capabilities import needs
from .entry import Entry, pointer, value

__all__ = ["COPIES", "entries"]

_WORD = ("integer",)
# bytes that one access moves -> their type
COPIES = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint32x2", 16: "uint32x4"}
_LEADER = "0xfeffffff"  # all but the bit that tells the ctas of a pair apart


def _leader(printer: Any, call: Call, texts: Sequence[str]) -> str:
    pointer = call.args[0]
    if pointer.dtype.is_handle:
        return f"(unsigned int)__cvta_generic_to_shared({texts[0]}) & {_LEADER}"
    return f"(unsigned int){printer.text(pointer, emit.UNARY)} & {_LEADER}"


def _narrowed(printer: Any, call: Call, texts: Sequence[str]) -> str:
    wide = "(unsigned long long)" if call.args[0].dtype.is_handle else ""
    return f"(unsigned int){wide}{printer.text(call.args[0], emit.UNARY)}"


def _copy(printer: Any, call: Call, texts: Sequence[str]) -> str:
    dst, src, count = call.args
    assert isinstance(count, IntImm)
    kind = printer.type(DType(COPIES[count.value]))
    return f"*({kind}*){printer.text(dst, emit.UNARY)} = *(const {kind}*){printer.text(src, emit.UNARY)}"


def entries() -> Iterator[Entry]:
    """All rows of this file."""
    for name, scope in (("mbarrier_wait", "the cta"), ("mbarrier_wait_acquire_cluster", "the cluster")):
        yield Entry(
            name, [pointer("bar", "rw"), value("phase", *_WORD)], "void", "wait", f"{name}({{0}}, {{1}})",
            f"wait until the phase of this parity is over; what {scope} did before is seen after", meaning="mbarrier:wait",
            helpers=(name,), requires=needs("mbarrier_wait"), source="mbarrier.try_wait",
        )  # fmt: skip
    yield Entry(
        "smem_addr_from_uint64", [Operand("a")], "uint32", "pure", _narrowed,
        "the low half of a 64-bit address in the shared memory of the cluster", meaning="memory:low_half",
    )  # fmt: skip
    yield Entry(
        "sm100_2sm_leader_smem_addr", [Operand("ptr")], "uint32", "pure", _leader,
        "address of the same place in the shared memory of the first cta of the pair", meaning="memory:leader_address",
        accuracy="model", requires=needs("tcgen05"),
    )  # fmt: skip
    yield Entry(
        "copy_bytes", [pointer("dst", "w"), pointer("src"), Operand("count", "constant", dtypes=_WORD)], "void", "write", _copy,
        "1, 2, 4, 8 or 16 bytes in one access", meaning="memory:copy_bytes",
    )  # fmt: skip
    yield Entry(
        "cvt_e2m1x8_f32", [value(f"v{i}", "float32") for i in range(8)], "uint32", "pure",
        "cvt_e2m1x8_f32({0}, {1}, {2}, {3}, {4}, {5}, {6}, {7})",
        "eight float32 as float4_e2m1fn in one word, the first in the lowest four bits; rounded to nearest, saturated",
        meaning="convert:to_e2m1x8", helpers=("cvt_e2m1x8_f32",), requires=needs("narrow_convert"), source="cvt",
    )  # fmt: skip
