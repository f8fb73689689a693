"""Rows of the profiler's annotations, and of the events that they become (`transform/iket.py`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tirx.intrinsic import Operand
from tirx.ir import Call, DType, IntImm
from tirx.support.errors import TargetError

from .capabilities import needs
from .entry import Entry, Rule, value

__all__ = ["entries"]

_NAME, _PAYLOAD = Operand("name", "text"), Operand("payload")


def _unlowered(printer: Any, call: Call, texts: Sequence[str]) -> str:
    raise TargetError(
        f"{call.op.name} is left in a kernel that goes to source", span=call.span, hint="compile it as usual"
    )


def _declared(rule: Rule) -> Rule:
    """A rule that brings the declarations of its event along, a line a definition."""

    def emit(printer: Any, call: Call, texts: Sequence[str]) -> str:
        for line in str(call.attr("source_code")).splitlines():
            printer.define(line.partition("[")[0], line)
        return rule(printer, call, texts) if callable(rule) else rule

    return emit


def _event(printer: Any, call: Call, texts: Sequence[str]) -> str:
    number, *payload = call.args
    name = "iket_event" if isinstance(number, IntImm) else "iket_any_event"
    values = [] if isinstance(number, IntImm) else [texts[0]]
    if payload:
        name += f"_payload{64 if payload[0].dtype.bits == 64 else 32}"
        values.append(_bits(payload[0].dtype, texts[1]))
    printer.helper(name)
    return f"{name}{f'<{number.value}>' if isinstance(number, IntImm) else ''}({', '.join(values)})"


def _bits(kind: DType, text: str) -> str:
    """A payload as an unsigned integer of 32 or 64 bits."""
    if kind.is_float:
        return f"__float_as_uint({text})" if kind.bits == 32 else f"(unsigned long long)__double_as_longlong({text})"
    return f"(unsigned long long)({text})" if kind.bits == 64 else f"(unsigned int)({text})"


def entries() -> Iterator[Entry]:
    """All rows of this file."""
    for name, result, doc in (
        ("mark", "void", "a point in time"),
        ("range_start", "uint32", "a range begins; the token that ends it"),
        ("range_push", "void", "a range begins that the next range_pop ends"),
    ):
        yield Entry(
            f"iket.{name}", [_NAME, _PAYLOAD], result, "opaque", _unlowered, f"{doc}, for the profiler", meaning=f"iket:{name}",
            variadic=True, accuracy="model",
        )  # fmt: skip
    yield Entry(
        "iket.range_end", [value("token", "uint32"), _PAYLOAD], "void", "opaque", _unlowered, "a range ends, for the profiler",
        meaning="iket:range_end", variadic=True, accuracy="model",
    )  # fmt: skip
    yield Entry(
        "iket.range_pop", [], "void", "opaque", _unlowered, "the innermost pushed range ends, for the profiler",
        meaning="iket:range_pop", accuracy="model",
    )  # fmt: skip
    yield Entry(
        "iket.sentinel_token", [_NAME], "uint32", "opaque", _unlowered, "a token of no range", meaning="iket:sentinel_token",
        accuracy="model",
    )  # fmt: skip
    yield Entry(
        "iket.official_event", [value("event_id", "uint32"), _PAYLOAD], "uint32", "opaque", _declared(_event),
        "an event that the profiler's tool finds in the binary", meaning="iket:official_event", variadic=True,
        attrs={"source_code": ""}, requires=needs("elect"), accuracy="model",
    )  # fmt: skip
