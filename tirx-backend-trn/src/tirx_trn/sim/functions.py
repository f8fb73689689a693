"""Functions of the scalar engine and operations of the ALUs, in float32 (bits: on integers)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["ALU", "FUNCTIONS", "REDUCE", "outside"]

_erf = np.vectorize(math.erf, otypes=[np.float64])
_ROOT = math.sqrt(2.0)
_DENSITY = 1.0 / math.sqrt(2.0 * math.pi)
_TANH = math.sqrt(2.0 / math.pi)
_SIGMOID = 1.702  # the slope of the sigmoid that stands for the error function


def _logistic(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


def _cdf(x: Any) -> Any:
    return 0.5 * (1.0 + _erf(x / _ROOT))


def _derived_logistic(x: Any, slope: float) -> Any:
    """The derivative of x * logistic(slope * x)."""
    s = _logistic(slope * x)
    return s + slope * x * s * (1.0 - s)


def _log_of_sum(x: Any) -> Any:
    return np.logaddexp(x, 0.0)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp,
    "sqrt": np.sqrt,
    "copy": lambda x: x,
    "square": np.square,
    "sigmoid": _logistic,
    "relu": lambda x: np.maximum(x, 0.0),
    "gelu": lambda x: x * _cdf(x),
    "gelu_dx": lambda x: _cdf(x) + x * _DENSITY * np.exp(-0.5 * x * x),
    "gelu_apprx_tanh": lambda x: 0.5 * x * (1.0 + np.tanh(_TANH * (x + 0.044715 * x**3))),
    "gelu_apprx_sigmoid": lambda x: x * _logistic(_SIGMOID * x),
    "gelu_apprx_sigmoid_dx": lambda x: _derived_logistic(x, _SIGMOID),
    "silu": lambda x: x * _logistic(x),
    "silu_dx": lambda x: _derived_logistic(x, 1.0),
    "tanh": np.tanh,
    "softplus": _log_of_sum,
    "mish": lambda x: x * np.tanh(_log_of_sum(x)),
    "erf": _erf,
    "erf_dx": lambda x: 2.0 / math.sqrt(math.pi) * np.exp(-x * x),
    "log": np.log,
    "sin": np.sin,
    "arctan": np.arctan,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "reciprocal": lambda x: 1.0 / x,
    "sign": np.sign,
    "abs": np.abs,
}


def _truth(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Comparisons and logic give 1.0 or 0.0."""
    return lambda a, b: operation(a, b).astype(np.float32)


ALU: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "abs_max": lambda a, b: np.maximum(np.abs(a), np.abs(b)),
    "abs_min": lambda a, b: np.minimum(np.abs(a), np.abs(b)),
    "power": np.power,
    "abs": lambda a, _: np.abs(a),
    "rsqrt": lambda a, _: 1.0 / np.sqrt(a),
    "equal": _truth(np.equal),
    "not_equal": _truth(np.not_equal),
    "greater": _truth(np.greater),
    "greater_equal": _truth(np.greater_equal),
    "less": _truth(np.less),
    "less_equal": _truth(np.less_equal),
    "logical_and": _truth(np.logical_and),
    "logical_or": _truth(np.logical_or),
    "logical_xor": _truth(np.logical_xor),
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
}
REDUCE: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}


def outside(opcode: str, domain: tuple[float, float] | None, values: Any) -> bool:
    """Whether a value lies where the scalar engine's approximation is not defined."""
    if domain is None:
        return False
    tested = np.abs(values) if opcode == "reciprocal" else values
    return not bool(((tested >= domain[0]) & (tested <= domain[1])).all())
