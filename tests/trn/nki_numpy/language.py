"""`nki.language`: memories, element types, operations, creation. Source: "nki.language" of the NKI 0.6 reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.trn.nki_numpy.state import NkiError
from tests.trn.nki_numpy.tensor import DTYPES, Buffer, DType, Tensor, allocate

sbuf, psum, hbm = Buffer("sbuf"), Buffer("psum"), Buffer("hbm")
shared_hbm, private_hbm = Buffer("shared_hbm"), Buffer("private_hbm")

float32, float16, bfloat16 = DTYPES["float32"], DTYPES["float16"], DTYPES["bfloat16"]
float8_e4m3, float8_e5m2 = DTYPES["float8_e4m3"], DTYPES["float8_e5m2"]
int32, int16, int8 = DTYPES["int32"], DTYPES["int16"], DTYPES["int8"]
uint32, uint16, uint8, bool_ = DTYPES["uint32"], DTYPES["uint16"], DTYPES["uint8"], DTYPES["bool_"]


class Op:
    """An operation that instructions take: `kind` is alu, compare or activation."""

    def __init__(
        self, name: str, kind: str, function: Callable[..., Any], domain: tuple[float, float] | None = None
    ) -> None:
        self.name = name
        self.kind = kind
        self.function = function
        self.domain = domain

    def __call__(self, *operands: Any) -> Any:
        if self.domain is not None and not all(
            self.domain[0] <= x <= self.domain[1] for x in (operands[0].min(), operands[0].max())
        ):
            raise NkiError(
                f"nl.{self.name} is defined from {self.domain[0]} to {self.domain[1]}; outside it gives garbage"
            )
        return self.function(*operands)


add, subtract = Op("add", "alu", np.add), Op("subtract", "alu", np.subtract)
multiply = Op("multiply", "alu", np.multiply)
maximum, minimum = Op("maximum", "alu", np.maximum), Op("minimum", "alu", np.minimum)
equal, not_equal = Op("equal", "compare", np.equal), Op("not_equal", "compare", np.not_equal)
greater, greater_equal = Op("greater", "compare", np.greater), Op("greater_equal", "compare", np.greater_equal)
less, less_equal = Op("less", "compare", np.less), Op("less_equal", "compare", np.less_equal)
exp = Op("exp", "activation", np.exp)
sqrt = Op("sqrt", "activation", np.sqrt, (2.0**-116, 2.0**118))


def ndarray(shape: Any, dtype: Any, buffer: Any = sbuf, name: str = "", address: Any = None) -> Tensor:
    """A new tensor in `buffer`; `address` is (partition, byte)."""
    if not isinstance(buffer, Buffer):
        raise NkiError("a buffer is nl.sbuf, nl.psum or one of the HBMs, not a string")
    if address is not None and not (isinstance(address, tuple) and len(address) == 2):
        raise NkiError("an address is (partition, byte)")
    return allocate(shape, dtype, buffer.name)


def shared_identity_matrix(n: int, dtype: Any = uint8, dst: Any = None) -> Tensor:
    """An identity matrix in SBUF."""
    made = ndarray((n, n), dtype if isinstance(dtype, DType) else DTYPES[dtype]) if dst is None else dst
    made.write(np.eye(n))
    return made
