"""Instructions as calls of `nki.isa`: the part of its interface that NKI 0.3 to 0.6 have in common.

Every argument is a keyword, results are written through `dst`, and arguments with their default are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tirx.ir import BufferRegion, Call, Expr, FloatImm, IntImm, StringImm, Var

from ..dtypes import NKI_DTYPES
from ..opcodes import OPCODES
from .exprs import Exprs, number
from .views import Views, view_dims

__all__ = ["INDENT", "Instructions"]

INDENT = "    "
WIDTH = 100

Keywords = list[tuple[str, str]]


class Instructions:
    """Writes one instruction as the lines of a call."""

    def __init__(self, exprs: Exprs, views: Views) -> None:
        self.exprs = exprs
        self.views = views

    def write(self, call: Call) -> list[str]:
        """The lines that `call` becomes."""
        return _RULES[call.op.name](self, *call.args)

    # ---- operands ---------------------------------------------------------------------------------------------------

    def value(self, expr: Expr) -> str:
        """A number, or a tile of one per partition."""
        if isinstance(expr, BufferRegion):
            return self.views.tile(expr)
        return number(expr.value) if isinstance(expr, FloatImm) else self.exprs.text(expr)

    def _flag(self, name: str, expr: Expr) -> Keywords:
        return [(name, "True")] if isinstance(expr, IntImm) and expr.value else []

    # ---- instructions -----------------------------------------------------------------------------------------------

    def _load(self, res: Any, data: Any) -> list[str]:
        return _isa("dma_copy", [("dst", self.views.tile(res)), ("src", self.views.device(data, res))])

    def _store(self, res: Any, data: Any) -> list[str]:
        return _isa("dma_copy", [("dst", self.views.device(res, data)), ("src", self.views.tile(data))])

    def _tensor_copy(self, res: Any, data: Any) -> list[str]:
        return _isa("tensor_copy", [("dst", self.views.tile(res)), ("src", self.views.tile(data))])

    def _matmul(self, res: Any, lhs: Any, rhs: Any, accum: Expr) -> list[str]:
        """`accumulate=None` is what `accum=True` means: the first product into a tile replaces, later ones are added."""
        always = isinstance(accum, IntImm) and bool(accum.value)
        operands = [
            ("dst", self.views.tile(res)),
            ("stationary", self.views.tile(lhs)),
            ("moving", self.views.tile(rhs)),
        ]
        return _isa("nc_matmul", [*operands, ("accumulate", "None" if always else self.exprs.text(accum))])

    def _activation(self, result: Any, data: Any, opcode: Any, bias: Expr, scale: Expr) -> list[str]:
        return _isa("activation", self._function(result, data, opcode) + self._affine(bias, scale))

    def _activation_reduce(
        self, reduce_res: Any, act_res: Any, data: Any, opcode: Any, reduce_opcode: Any, bias: Expr, scale: Expr
    ) -> Any:
        reduction = [("reduce_op", _op(reduce_opcode)), ("reduce_res", self.views.tile(reduce_res))]
        return _isa("activation_reduce", self._function(act_res, data, opcode) + reduction + self._affine(bias, scale))

    def _function(self, result: Any, data: Any, opcode: Any) -> Keywords:
        return [("dst", self.views.tile(result)), ("op", _op(opcode)), ("data", self.views.tile(data))]

    def _affine(self, bias: Expr, scale: Expr) -> Keywords:
        given = [("bias", bias, 0.0), ("scale", scale, 1.0)]
        return [(name, self.value(expr)) for name, expr, default in given if not _is(expr, default)]

    def _reciprocal(self, result: Any, data: Any) -> list[str]:
        return _isa("reciprocal", [("dst", self.views.tile(result)), ("data", self.views.tile(data))])

    def _tensorreduce(self, result: Any, data: Any, opcode: Any, negate: Expr, *axes: Any) -> list[str]:
        """Axes count dimensions of the view; a dimension of one element has gone from it."""
        dims = view_dims(data)
        wanted = [dims.index(axis.value) for axis in axes if axis.value in dims] or [len(dims) - 1]
        text = f"({', '.join(map(str, wanted))}{',' if len(wanted) == 1 else ''})"
        keywords = [*self._function(result, data, opcode), ("axis", text), *self._flag("negate", negate)]
        return _isa("tensor_reduce", keywords)

    def _tensortensor(self, result: Any, operand0: Any, operand1: Any, opcode: Any) -> list[str]:
        tiles = [
            (name, self.views.tile(tile)) for name, tile in (("dst", result), ("data1", operand0), ("data2", operand1))
        ]
        return _isa("tensor_tensor", [*tiles, ("op", _op(opcode))])

    def _tensorscalar(self, result: Any, operand0: Any, operand1: Expr, opcode: Any, reverse: Expr) -> list[str]:
        return _isa(
            "tensor_scalar", self._tiles(result, operand0) + self._step(0, opcode, self.value(operand1), reverse)
        )

    def _tensorscalar_reduce(
        self,
        reduce_res: Any,
        result: Any,
        operand0: Any,
        operand1: Expr,
        opcode: Any,
        reduce_opcode: Any,
        reverse: Expr,
    ) -> list[str]:
        step = self._tiles(result, operand0) + self._step(0, opcode, self.value(operand1), reverse)
        reduction = [("reduce_op", _op(reduce_opcode)), ("reduce_res", self.views.tile(reduce_res))]
        return _isa("tensor_scalar_reduce", step + reduction)

    def _scalar_tensor_tensor(
        self,
        result: Any,
        data: Any,
        operand0: Expr,
        operand1: Any,
        opcode0: Any,
        opcode1: Any,
        reverse0: Expr,
        reverse1: Expr,
    ) -> list[str]:
        steps = self._step(0, opcode0, self.value(operand0), reverse0) + self._step(
            1, opcode1, self.views.tile(operand1), reverse1
        )
        return _isa("scalar_tensor_tensor", self._tiles(result, data) + steps)

    def _scalar_tensor_scalar(
        self,
        result: Any,
        data: Any,
        operand0: Expr,
        operand1: Expr,
        opcode0: Any,
        opcode1: Any,
        reverse0: Expr,
        reverse1: Expr,
    ) -> list[str]:
        steps = self._step(0, opcode0, self.value(operand0), reverse0) + self._step(
            1, opcode1, self.value(operand1), reverse1
        )
        return _isa("tensor_scalar", self._tiles(result, data) + steps)

    def _tiles(self, result: Any, data: Any) -> Keywords:
        return [("dst", self.views.tile(result)), ("data", self.views.tile(data))]

    def _step(self, position: int, opcode: Any, operand: str, reverse: Expr) -> Keywords:
        step = [(f"op{position}", _op(opcode)), (f"operand{position}", operand)]
        return step + self._flag(f"reverse{position}", reverse)

    def _memset(self, result: Any, value: Expr) -> list[str]:
        return _isa("memset", [("dst", self.views.tile(result)), ("value", self._memory_value(result, value))])

    def _memory_value(self, result: Any, value: Expr) -> str:
        if isinstance(value, IntImm | FloatImm):
            return number(value.value, integer=not result.buffer.dtype.is_float)
        return self.exprs.text(value)

    def _identity(self, result: Any, size: Any) -> list[str]:
        name = self.exprs.names.define(Var("identity", result.dtype))
        made = f"{name} = nl.shared_identity_matrix(n={size.value}, dtype={NKI_DTYPES[result.buffer.dtype.name]})"
        return [made, *_isa("tensor_copy", [("dst", self.views.tile(result)), ("src", name)])]

    def _select_pattern(
        self,
        result: Any,
        true_value: Any,
        false_value: Expr,
        comparison: Any,
        offset: Expr,
        multiplier: Any,
        *steps: Any,
    ) -> list[str]:
        free = [dim for dim in range(result.buffer.ndim) if dim != 0]  # SBUF only: partitions are dimension 0
        by_dim = {dim: step.value for dim, step in zip(free, steps, strict=True)}
        pattern = [[by_dim[dim], result.extents[dim].value] for dim in view_dims(result)[1:]]
        keywords = [
            ("dst", self.views.tile(result)),
            ("pattern", str(pattern)),
            ("channel_multiplier", str(multiplier.value)),
            ("on_true_tile", self.views.tile(true_value)),
            ("on_false_value", self.value(false_value)),
            ("cmp_op", f"nl.{comparison.value}"),
        ]
        return _isa("affine_select", keywords + ([] if _is(offset, 0) else [("offset", self.exprs.text(offset))]))


def _isa(name: str, keywords: Keywords) -> list[str]:
    """A call on one line, or one argument a line where that is too long."""
    texts = [f"{key}={value}" for key, value in keywords]
    line = f"nisa.{name}({', '.join(texts)})"
    if len(line) <= WIDTH:
        return [line]
    return [f"nisa.{name}(", *(f"{INDENT}{text}," for text in texts), ")"]


def _op(opcode: Any) -> str:
    assert isinstance(opcode, StringImm)
    return OPCODES[opcode.value]


def _is(expr: Expr, value: float) -> bool:
    return isinstance(expr, IntImm | FloatImm) and expr.value == value


def _rules(names: Sequence[str]) -> dict[str, Callable[..., list[str]]]:
    return {f"nki.{name}": getattr(Instructions, f"_{name}") for name in names}


_RULES = _rules((
    "load", "store", "tensor_copy", "matmul", "activation", "activation_reduce", "reciprocal", "tensorreduce", "tensortensor",
    "tensorscalar", "tensorscalar_reduce", "scalar_tensor_tensor", "scalar_tensor_scalar", "memset", "identity", "select_pattern",
))  # fmt: skip
