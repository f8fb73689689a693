"""What the elementwise operations compute from the values of their operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .. import script as Tx
from ..ir import Expr, Select, cast, const, substitute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..ir import DType, IndexFunction, TileCall

__all__ = ["BINARY", "FORMULAS", "UNARY", "apply_function"]

Values = Mapping[str, Expr]

BINARY: dict[str, Callable[[Expr, Expr], Expr]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "fdiv": lambda a, b: a / b,
    "maximum": Tx.max,
    "minimum": Tx.min,
    "max": Tx.max,
    "min": Tx.min,
    "sum": lambda a, b: a + b,
}

UNARY: dict[str, Callable[[Expr], Expr]] = {
    "sqrt": Tx.sqrt,
    "exp": Tx.exp,
    "exp2": Tx.exp2,
    "log2": Tx.log2,
    "reciprocal": lambda x: const(1, x.dtype) / x,
    "silu": lambda x: x * Tx.sigmoid(x),
}


def _binary(name: str) -> Callable[[TileCall, Values, DType], Expr]:
    return lambda call, values, dtype: BINARY[name](values["src1"], values["src2"])


def _unary(name: str) -> Callable[[TileCall, Values, DType], Expr]:
    return lambda call, values, dtype: UNARY[name](_scaled(values))


def _scaled(values: Values) -> Expr:
    """`src * scale + bias`, of which either may be absent."""
    found = values["src"]
    if "scale" in values:
        found = found * values["scale"]
    return found + values["bias"] if "bias" in values else found


def _chain(call: TileCall, values: Values, dtype: DType) -> Expr:
    first = BINARY[call.attr("op0")](values["data"], values["operand0"])
    operands = (values["operand1"], first) if call.attr("reverse1") else (first, values["operand1"])
    return BINARY[call.attr("op1")](*operands)


# Operation -> its value for one element of the destination, from the values of the operands that the call gives.
FORMULAS: dict[str, Callable[[TileCall, Values, DType], Expr]] = {
    **{name: _binary(name) for name in ("add", "sub", "mul", "fdiv", "maximum", "minimum")},
    **{name: _unary(name) for name in UNARY},
    "zero": lambda call, values, dtype: const(0, dtype),
    "fill": lambda call, values, dtype: cast(values["value"], dtype),
    "memset": lambda call, values, dtype: cast(values["value"], dtype),
    "copy": lambda call, values, dtype: values["src"],
    "cast": lambda call, values, dtype: cast(values["src"], dtype),
    "fma": lambda call, values, dtype: Tx.fma(values["src"], values["scale"], values["bias"]),
    "select": lambda call, values, dtype: Select(values["pred"], values["true_value"], values["false_value"]),
    "binary_chain": _chain,
}


def apply_function(function: IndexFunction, coords: tuple[Expr, ...]) -> Expr:
    """The function's value at `coords`."""
    return substitute(function.body, dict(zip(function.vars, coords, strict=True)))
