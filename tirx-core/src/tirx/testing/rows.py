"""A sample call of an intrinsic, so that whole tables can be tested row by row."""

from __future__ import annotations

from typing import Any

from ..intrinsic import Intrinsic, Operand, call
from ..ir import Alloc, Buffer, BufferLoad, Call, DType, Evaluate, Expr, IntImm, PrimFunc, Seq, StringImm, Var, const

__all__ = ["sample_call", "sample_function"]

_ELEMENT = {
    "float": "float32",
    "number": "float32",
    "integer": "int32",
    "int": "int32",
    "uint": "uint32",
    "bool": "bool",
}


class _Sample:
    """Buffers and variables that the operands of one call need."""

    def __init__(self) -> None:
        self.count = Var("n", DType("int32"))
        self.buffers: dict[tuple[str, str], Buffer] = {}

    def buffer(self, dtype: str, scope: str) -> Buffer:
        """A buffer of this type and scope."""
        key = (dtype, scope)
        if key not in self.buffers:
            self.buffers[key] = Buffer(f"{dtype}_{len(self.buffers)}", (64,), dtype, scope=scope)
        return self.buffers[key]

    def operand(self, item: Operand) -> Expr:
        """A value that fits `item`."""
        listed = item.dtypes[0] if item.dtypes else "float32"
        dtype = _ELEMENT.get(listed, listed)
        if item.kind == "text":
            return StringImm("name")
        if item.kind == "constant":
            return const(1, DType(dtype)) if item.dtypes else IntImm(1, DType("int32"))
        scope = item.scope[0] if item.scope else "global"
        if item.kind == "pointer":
            data: Expr = self.buffer("float32", scope).data
            return data
        if item.kind == "region":
            return self.buffer(dtype, scope).region()
        if item.kind == "value" and item.lanes and item.lanes[0] > 1:
            return const(1, DType(dtype).with_lanes(item.lanes[0]))
        return self.value(dtype, scope)

    def value(self, dtype: str, scope: str) -> Expr:
        """An element, or a variable."""
        if dtype == "int32" and scope == "global":
            return self.count
        if dtype in ("bool", "handle", "tensormap"):
            condition: Expr = self.count < 3
            return condition
        return BufferLoad(self.buffer(dtype, scope), (self.count,))


def sample_call(row: Intrinsic, **attrs: Any) -> tuple[Call, list[Buffer], Var]:
    """A call of `row` with operands that fit, the buffers that it uses, and its variable."""
    sample = _Sample()
    made = call(row, *(sample.operand(item) for item in row.operands), **attrs)
    return made, list(sample.buffers.values()), sample.count


def sample_function(row: Intrinsic, **attrs: Any) -> PrimFunc:
    """A function that calls `row` once."""
    made, buffers, count = sample_call(row, **attrs)
    params = [item for item in buffers if item.scope_name == "global"]
    allocated = [Alloc(item) for item in buffers if item.scope_name != "global"]
    return PrimFunc(
        "k",
        [*params, count],
        Seq((*allocated, Evaluate(made))) if allocated else Evaluate(made),
        {"global_symbol": "k"},
    )
