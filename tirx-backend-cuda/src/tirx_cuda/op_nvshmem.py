"""Rows of `Tx.nvshmem`: NVSHMEM's functions on devices.

Facts: NVSHMEM documentation, "Remote memory access", "Signaling operations", "Point-to-point synchronization", "Memory ordering".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tirx.intrinsic import Effect, Operand
from tirx.ir import Call, Expr

from .entry import Entry, Rule, pointer, sync, value

__all__ = ["COMPARISONS", "EMISSIONS", "INTRINSICS", "ROW", "SIGNALS", "WORDS"]

_WORD = ("integer",)
_HEADERS = ("nvshmem.h", "nvshmemx.h")
SIGNALS = {"set": "NVSHMEM_SIGNAL_SET", "add": "NVSHMEM_SIGNAL_ADD"}
COMPARISONS = {name: f"NVSHMEM_CMP_{name.upper()}" for name in ("eq", "ne", "gt", "ge", "lt", "le")}
# type in the language -> element type, name in NVSHMEM's functions
WORDS = {
    "uint64_t": ("uint64", "uint64"), "int64_t": ("int64", "int64"), "uint32_t": ("uint32", "uint32"),
    "int32_t": ("int32", "int32"), "uint64": ("uint64", "uint64"), "int64": ("int64", "int64"), "uint32": ("uint32", "uint32"),
    "int32": ("int32", "int32"), "size_t": ("uint64", "size"),
}  # fmt: skip
# who moves the data together: suffix of the row -> suffix of NVSHMEM's extension, level, and what its threads do
GROUPS = {
    "": ("", "", ""),
    "warp": ("_warp", "warp", "all threads of the warp together: "),
    "block": ("_block", "cta", "all threads of the cta together: "),
}
_UNARY = 14


def _bytes(printer: Any, call: Call, count: Expr) -> str:
    """`count` elements in bytes."""
    size = call.attr("element")
    number = getattr(count, "value", None)
    if number is not None:
        return str(number * size)
    return f"{printer.text(count, 12)} * {size}" if size > 1 else str(printer.text(count))


def _moved(name: str, suffix: str) -> Rule:
    function = f"nvshmemx_{name}{suffix}" if suffix else f"nvshmem_{name}"

    def rule(printer: Any, call: Call, texts: Sequence[str]) -> str:
        return f"{function}({texts[0]}, {texts[1]}, {_bytes(printer, call, call.args[2])}, {texts[3]})"

    return rule


def _word(printer: Any, address: Expr, kind: str = "uint64_t") -> str:
    """A pointer to a signal as NVSHMEM has it: `uint64_t` may be another type of the same size than ours."""
    return f"({kind}*){printer.text(address, _UNARY)}"


def _moved_with_signal(suffix: str) -> Rule:
    function = f"nvshmem{'x' if suffix else ''}_putmem_signal_nbi{suffix}"

    def rule(printer: Any, call: Call, texts: Sequence[str]) -> str:
        size, where = _bytes(printer, call, call.args[2]), _word(printer, call.args[3])
        return f"{function}({texts[0]}, {texts[1]}, {size}, {where}, {texts[4]}, {SIGNALS[call.attr('sig_op')]}, {texts[5]})"

    return rule


def _signalled(printer: Any, call: Call, texts: Sequence[str]) -> str:
    where = _word(printer, call.args[0])
    return f"nvshmemx_signal_op({where}, {texts[1]}, {SIGNALS[call.attr('sig_op')]}, {texts[2]})"


def _waited(printer: Any, call: Call, texts: Sequence[str]) -> str:
    name = WORDS[call.attr("type")][1]
    kind = "size_t" if name == "size" else f"{name}_t"
    where = _word(printer, call.args[0], kind)
    return f"nvshmem_{name}_wait_until({where}, {COMPARISONS[call.attr('cmp')]}, {texts[1]})"


def _entry(
    name: str, operands: Sequence[Operand], result: str, effect: Any, rule: Rule, doc: str, **more: Any
) -> Entry:
    more.setdefault("meaning", f"nvshmem:{name}")
    return Entry(
        name, operands, result, effect, rule, doc, namespace="nvshmem", includes=_HEADERS, accuracy="model", **more
    )


def _effect(level: str) -> Effect | str:
    return sync(level) if level == "warp" else "opaque"


def _transfers() -> Iterator[Entry]:
    count, pe = value("nelems", *_WORD), value("pe", *_WORD)
    for group, (suffix, level, who) in GROUPS.items():
        tail = f".{group}" if group else ""
        for name, words in (
            ("getmem_nbi", "`nelems` elements from `src` of `pe`, there after quiet()"),
            ("putmem_nbi", "`nelems` elements to `dst` of `pe`, there after quiet()"),
        ):
            yield _entry(
                f"{name}{tail}", [pointer("dst", "w"), pointer("src"), count, pe], "void", _effect(level), _moved(name, suffix),
                f"{who}{words}", meaning=f"nvshmem:{name}{'_' + group if group else ''}", attrs={"element": 0},
            )  # fmt: skip
        yield _entry(
            f"putmem_signal_nbi{tail}",
            [pointer("dst", "w"), pointer("src"), count, pointer("sig_addr", "w"), value("signal", "uint64", "integer"), pe],
            "void", _effect(level), _moved_with_signal(suffix),
            f"{who}`nelems` elements to `dst` of `pe`, then its word `sig_addr` set to `signal`, or `signal` added",
            meaning=f"nvshmem:putmem_signal_nbi{'_' + group if group else ''}", attrs={"sig_op": "set", "element": 0},
            form=("dst", "src", "nelems", "sig_addr", "signal", "sig_op", "pe", "element"),
        )  # fmt: skip


def _entries() -> Iterator[Entry]:
    yield _entry("my_pe", [], "int32", "opaque", "nvshmem_my_pe()", "number of this processing element")
    yield _entry("n_pes", [], "int32", "opaque", "nvshmem_n_pes()", "how many processing elements there are")
    yield from _transfers()
    yield _entry(
        "signal_op", [pointer("sig_addr", "w"), value("signal", "uint64", "integer"), value("pe", *_WORD)], "void", "opaque",
        _signalled, "the word `sig_addr` of `pe` becomes `signal`, or `signal` more", attrs={"sig_op": "set"},
        form=("sig_addr", "signal", "sig_op", "pe"),
    )  # fmt: skip
    yield _entry(
        "wait_until", [pointer("ivar", "rw"), value("cmp_value", *_WORD)], "void", "wait", _waited,
        "wait until the word at `ivar` compares so with `cmp_value`", attrs={"cmp": "eq", "type": "uint64_t"},
        form=("ivar", "cmp", "cmp_value", "type"),
    )  # fmt: skip
    yield _entry(
        "quiet", [], "void", "opaque", "nvshmem_quiet()", "all that this element asked for before has happened"
    )
    yield _entry(
        "fence",
        [],
        "void",
        "opaque",
        "nvshmem_fence()",
        "what goes to an element before arrives before what goes there after",
    )
    yield _entry("barrier_all", [], "void", "wait", "nvshmem_barrier_all()", "quiet(), then all elements meet")


_ENTRIES = tuple(_entries())
INTRINSICS = tuple(entry.row for entry in _ENTRIES)
EMISSIONS = tuple(entry.emission for entry in _ENTRIES)
ROW = {row.name.removeprefix("nvshmem."): row for row in INTRINSICS}
