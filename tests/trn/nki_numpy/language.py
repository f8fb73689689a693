"""`nki.language`: memories, element types, operations, creation. Source: "nki.language" of the NKI 0.6 reference."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.trn.nki_numpy.state import NkiError
from tests.trn.nki_numpy.tensor import DTYPES, Buffer, DType, Tensor, allocate

sbuf, psum, hbm = Buffer("sbuf"), Buffer("psum"), Buffer("hbm")
shared_hbm, private_hbm = Buffer("shared_hbm"), Buffer("private_hbm")

float32, float16, bfloat16 = DTYPES["float32"], DTYPES["float16"], DTYPES["bfloat16"]
float8_e4m3, float8_e4m3fn, float8_e5m2 = DTYPES["float8_e4m3"], DTYPES["float8_e4m3fn"], DTYPES["float8_e5m2"]
int32, int16, int8 = DTYPES["int32"], DTYPES["int16"], DTYPES["int8"]
uint32, uint16, uint8, bool_ = DTYPES["uint32"], DTYPES["uint16"], DTYPES["uint8"], DTYPES["bool_"]


class Op:
    """An operation that instructions take.

    `kind` is alu, compare, bits, power or activation; `unary` says that an ALU may apply it to one operand, `domain` where the
    scalar engine's approximation of it is good, `since` the generation that brought it.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        function: Callable[..., Any],
        domain: tuple[float, float] | None = None,
        *,
        unary: bool = False,
        since: str = "v2",
    ) -> None:
        self.name = name
        self.kind = kind
        self.function = function
        self.domain = domain
        self.unary = unary
        self.since = since

    def __call__(self, *operands: Any) -> Any:
        return self.function(*operands)

    def activate(self, values: np.ndarray) -> np.ndarray:
        """The function of the scalar engine, refused outside its domain."""
        tested = np.abs(values) if self.name == "reciprocal" else values
        if self.domain is not None and not (tested.min() >= self.domain[0] and tested.max() <= self.domain[1]):
            raise NkiError(
                f"nl.{self.name} is defined from {self.domain[0]} to {self.domain[1]}; outside it gives garbage"
            )
        return np.asarray(self.function(values), np.float32)


add, subtract = Op("add", "alu", np.add), Op("subtract", "alu", np.subtract)
multiply = Op("multiply", "alu", np.multiply)
maximum, minimum = Op("maximum", "alu", np.maximum), Op("minimum", "alu", np.minimum)
abs_max = Op("abs_max", "alu", lambda a, b: np.maximum(abs(a), abs(b)), since="v4")
abs_min = Op("abs_min", "alu", lambda a, b: np.minimum(abs(a), abs(b)), since="v4")
equal, not_equal = Op("equal", "compare", np.equal), Op("not_equal", "compare", np.not_equal)
greater, greater_equal = Op("greater", "compare", np.greater), Op("greater_equal", "compare", np.greater_equal)
less, less_equal = Op("less", "compare", np.less), Op("less_equal", "compare", np.less_equal)
logical_and = Op("logical_and", "alu", lambda a, b: (a != 0) & (b != 0))
logical_or = Op("logical_or", "alu", lambda a, b: (a != 0) | (b != 0))
logical_xor = Op("logical_xor", "alu", lambda a, b: (a != 0) ^ (b != 0))
power = Op("power", "power", np.power)
bitwise_and, bitwise_or = Op("bitwise_and", "bits", np.bitwise_and), Op("bitwise_or", "bits", np.bitwise_or)
bitwise_xor = Op("bitwise_xor", "bits", np.bitwise_xor)
left_shift, right_shift = Op("left_shift", "bits", np.left_shift), Op("right_shift", "bits", np.right_shift)


def _phi(x: np.ndarray) -> np.ndarray:
    return np.array([math.erfc(-value / math.sqrt(2)) / 2 for value in x.reshape(-1).tolist()]).reshape(x.shape)


def _sig(x: Any) -> Any:
    return np.where(x >= 0, 1 / (1 + np.exp(-np.abs(x))), np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))))


def _function(name: str, function: Callable[..., Any], *domain: float, unary: bool = False) -> Op:
    return Op(name, "activation", function, (domain[0], domain[1]) if domain else None, unary=unary)


exp, square, tanh = _function("exp", np.exp), _function("square", lambda x: x * x), _function("tanh", np.tanh)
copy, sigmoid = _function("copy", lambda x: x), _function("sigmoid", _sig)
relu, sign = _function("relu", lambda x: np.where(x > 0, x, 0)), _function("sign", np.sign)
abs = _function("abs", np.absolute, unary=True)
gelu = _function("gelu", lambda x: x * _phi(x))
gelu_dx = _function("gelu_dx", lambda x: _phi(x) + x * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi))
gelu_apprx_tanh = _function(
    "gelu_apprx_tanh", lambda x: x * _sig(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x))
)
gelu_apprx_sigmoid = _function("gelu_apprx_sigmoid", lambda x: x * _sig(1.702 * x))
gelu_apprx_sigmoid_dx = _function(
    "gelu_apprx_sigmoid_dx", lambda x: _sig(1.702 * x) * (1 + 1.702 * x * (1 - _sig(1.702 * x)))
)
silu = _function("silu", lambda x: x * _sig(x))
silu_dx = _function("silu_dx", lambda x: _sig(x) * (1 + x * (1 - _sig(x))))
softplus = _function("softplus", lambda x: np.maximum(x, 0) + np.log1p(np.exp(-np.absolute(x))))
mish = _function("mish", lambda x: x * np.tanh(np.maximum(x, 0) + np.log1p(np.exp(-np.absolute(x)))))
erf = _function("erf", lambda x: 2 * _phi(x * math.sqrt(2)) - 1)
erf_dx = _function("erf_dx", lambda x: np.exp(-(x**2)) * 2 / math.sqrt(math.pi))
log = _function("log", np.log, 2.0**-64, 2.0**64)
sin = _function("sin", np.sin, -math.pi, math.pi)
arctan = _function("arctan", np.arctan, -math.pi / 2, math.pi / 2)
sqrt = _function("sqrt", np.sqrt, 2.0**-116, 2.0**118)
rsqrt = _function("rsqrt", lambda x: x**-0.5, 2.0**-87, 2.0**97, unary=True)
reciprocal = _function("reciprocal", lambda x: 1 / x, 2.0**-42, 2.0**42)


def ndarray(shape: Any, dtype: Any, buffer: Any = sbuf, name: str = "", address: Any = None) -> Tensor:
    """A new tensor in `buffer`; `address` is (partition, byte)."""
    if not isinstance(buffer, Buffer):
        raise NkiError("a buffer is nl.sbuf, nl.psum or one of the HBMs, not a string")
    if address is not None and not (isinstance(address, tuple) and len(address) == 2):
        raise NkiError("an address is (partition, byte)")
    return allocate(shape, dtype, buffer.name, None if address is None else address[1])


def shared_identity_matrix(n: int, dtype: Any = uint8, dst: Any = None) -> Tensor:
    """An identity matrix in SBUF."""
    made = ndarray((n, n), dtype if isinstance(dtype, DType) else DTYPES[dtype]) if dst is None else dst
    made.write(np.eye(n))
    return made
