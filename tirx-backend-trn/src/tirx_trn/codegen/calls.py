"""Instructions as calls of NKI: which keywords with which texts follows from the table, their order from NKI's interface.

Every argument is a keyword, results are written through `dst`, and arguments with their default are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tirx.arith import simplify
from tirx.ir import BufferRegion, Call, Expr, FloatImm, IntImm, Var
from tirx.support.errors import VerifyError

from ..dtypes import NKI_DTYPES
from ..nki_api import OPERATIONS, RELEASES, needed_release, parameters
from ..op import name_of
from ..opcodes import OPCODES
from ..table import TABLE, Field, Instruction, Option
from .exprs import Exprs, number
from .views import Views, view_dims

__all__ = ["INDENT", "Instructions"]

INDENT = "    "
PAIRED = 3  # dimensions of a tile that is multiplied two rows at a time
WIDTH = 100

# What NKI takes when a keyword is left out; such values are.
_DEFAULTS = {"bias": 0.0, "scale": 1.0, "offset": 0, "reverse0": False, "reverse1": False, "negate": False}
_FP32_MIN = "-3.4028234663852886e+38"


class _Part:
    """A call that is being written: the instruction, its operands by field, its options."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.item: Instruction = TABLE[name_of(call.op.name)]
        fields = [*self.item.fields, *[self.item.fields[-1]] * (len(call.args) - len(self.item.fields))]
        self.given: list[tuple[Field, Expr]] = list(zip(fields, call.args, strict=False))
        self.options = dict(call.attrs)

    def operand(self, name: str) -> Any:
        """The first operand of a field."""
        return next(value for field, value in self.given if field.name == name)

    def rest(self, name: str) -> list[Any]:
        """All operands of a field."""
        return [value for field, value in self.given if field.name == name]


class Instructions:
    """Writes one instruction as the lines of a call, in the language of one NKI release."""

    def __init__(self, exprs: Exprs, views: Views, release: str) -> None:
        self.exprs = exprs
        self.views = views
        self.release = release
        self.oldest = RELEASES[0]  # the oldest release that takes everything written so far

    def write(self, call: Call) -> list[str]:
        """The lines that `call` becomes."""
        part = _Part(call)
        special = _WHOLE.get(part.item.name)
        return special(self, part) if special is not None else self._call(part, dict(self._keywords(part)))

    def _call(self, part: _Part, keywords: dict[str, str], function: str = "") -> list[str]:
        """A call with its keywords in the order of the interface; an error where the release lacks one of them."""
        name = function or part.item.function
        missing = sorted(set(keywords) - set(parameters(name, self.release)))
        self._needs(needed_release(name, keywords), f"{name} has no {' or '.join(missing)} in NKI {self.release}", part)
        return _text(name, [(key, keywords[key]) for key in parameters(name, self.release) if key in keywords])

    def _needs(self, release: str, problem: str, part: _Part) -> None:
        """Something that came with a release of NKI."""
        self.oldest = max(self.oldest, release)
        if release > self.release:
            hint = f"write for NKI {release} or newer: target attribute -nki={release}"
            raise VerifyError(problem, span=part.call.span, hint=hint)

    def _keywords(self, part: _Part) -> Iterator[tuple[str, str]]:
        """Every keyword that is written, with its text."""
        for field, value in part.given:
            writer = _ROLES.get(field.role)
            if writer is not None and not _is_default(field, value):
                yield field.nki, writer(self, part, field, value)
        extra = _EXTRA.get(part.item.name)
        if extra is not None:
            yield from extra(self, part)
        for option in part.item.options:
            value = part.options[option.name]
            if value != option.default or self._is_explicit(part, option):
                yield option.name, _option_text(option, value)

    def _is_explicit(self, part: _Part, option: Option) -> bool:
        """Defaults that differ between releases are written out wherever the keyword exists."""
        if not option.explicit or self.release < option.explicit:
            return False
        return any(field.nki == "reduce_res" for field, _ in part.given)

    # ---- operands ---------------------------------------------------------------------------------------------------

    def _tile(self, part: _Part, field: Field, value: Any) -> str:
        """A tile; operands of a product of two rows at a time keep their 2 and what follows it."""
        pairs = part.options.get("perf_mode") == "double_row" and field.rw == "r"
        return self.views.tile(value, PAIRED if pairs else 0)

    def _copied(self, part: _Part, field: Field, value: Any) -> str:
        """A tile, or a slice of device memory of the shape of the tile on the other side."""
        other = next(region for item, region in part.given if isinstance(region, BufferRegion) and item is not field)
        return self.views.side(value, other)

    def _scalar(self, part: _Part, field: Field, value: Expr) -> str:
        """A number, or a tile of one per partition."""
        if isinstance(value, BufferRegion):
            return self.views.tile(value)
        found = simplify(value)
        return number(found.value) if isinstance(found, FloatImm) else self.exprs.text(found)

    def _number(self, part: _Part, field: Field, value: Expr) -> str:
        """A number; that of a memset is of the tile's kind."""
        if field.name == "value" and isinstance(value, IntImm | FloatImm):
            return number(value.value, integer=not part.operand("result").buffer.dtype.is_float)
        return self._scalar(part, field, value)

    def _opcode(self, part: _Part, field: Field, value: Any) -> str:
        name = OPCODES[value.value].nki
        since = OPERATIONS.get(name, RELEASES[0])
        self._needs(since, f"{name} came with NKI {since}; the source is for NKI {self.release}", part)
        return name

    def _flag(self, part: _Part, field: Field, value: Any) -> str:
        return str(bool(value.value))

    def _condition(self, part: _Part, field: Field, value: Expr) -> str:
        """`accumulate=None` is what `accum=True` means: the first product into a tile replaces, later ones are added."""
        return "None" if isinstance(value, IntImm) and value.value else self.exprs.text(value)

    # ---- keywords that need more than one operand -------------------------------------------------------------------

    def _axis(self, part: _Part) -> Iterator[tuple[str, str]]:
        """Axes count dimensions of the view; a dimension of one element has gone from it."""
        dims = view_dims(part.operand("data"))
        axes = [axis.value for axis in part.rest("axes")]
        wanted = [dims.index(axis) for axis in axes if axis in dims] or [len(dims) - 1]
        yield "axis", f"({', '.join(map(str, wanted))}{',' if len(wanted) == 1 else ''})"

    def _pattern(self, part: _Part) -> Iterator[tuple[str, str]]:
        values = [value.value for value in part.rest("pattern")]
        yield "pattern", str([list(pair) for pair in zip(values[::2], values[1::2], strict=True)])
        yield "channel_multiplier", str(part.operand("channel_multiplier").value)

    def _fill(self, part: _Part) -> Iterator[tuple[str, str]]:
        """The only value that the hardware fills in here."""
        yield "on_false_value", _FP32_MIN
        if part.rest("reduce_res"):
            yield "reduce_op", OPCODES[part.options["reduce_op"]].nki

    def _unary_engine(self, part: _Part) -> Iterator[tuple[str, str]]:
        """Rsqrt of tensor_scalar is the GpSimd engine's."""
        if part.operand("opcode").value == "rsqrt":
            yield "engine", "nisa.engine.gpsimd"

    # ---- instructions that are written in another way ---------------------------------------------------------------

    def _identity(self, part: _Part) -> list[str]:
        result, size = part.operand("result"), part.operand("size")
        name = self.exprs.names.define(Var("identity", result.dtype))
        made = f"{name} = nl.shared_identity_matrix(n={size.value}, dtype={NKI_DTYPES[result.buffer.dtype.name]})"
        return [made, *self._call(part, {"dst": self.views.tile(result), "src": name}, "nisa.tensor_copy")]

    def _activation_reduce(self, part: _Part) -> list[str]:
        """To go on from an earlier sum is a matter of `activation`; it is the same instruction."""
        keywords = dict(self._keywords(part))
        if part.options["reduce_cmd"] == "reset_reduce":
            return self._call(part, keywords)
        return self._call(part, keywords, "nisa.activation")


_ROLES: dict[str, Callable[[Instructions, _Part, Field, Any], str]] = {
    "tile": Instructions._tile, "copied": Instructions._copied, "device": Instructions._copied, "scalar": Instructions._scalar,
    "number": Instructions._number, "opcode": Instructions._opcode, "flag": Instructions._flag, "condition": Instructions._condition,
}  # fmt: skip
_EXTRA: dict[str, Callable[[Instructions, _Part], Iterator[tuple[str, str]]]] = {
    "tensorreduce": Instructions._axis, "select_pattern": Instructions._pattern, "iota": Instructions._pattern,
    "range_select": Instructions._fill, "tensorscalar": Instructions._unary_engine,
}  # fmt: skip
_WHOLE: dict[str, Callable[[Instructions, _Part], list[str]]] = {
    "identity": Instructions._identity, "activation_reduce": Instructions._activation_reduce,
}  # fmt: skip


def _is_default(field: Field, value: Expr) -> bool:
    return field.nki in _DEFAULTS and isinstance(value, IntImm | FloatImm) and value.value == _DEFAULTS[field.nki]


def _option_text(option: Option, value: Any) -> str:
    if option.form == "pair":
        return str(tuple(value))
    if option.form == "opcode":
        return OPCODES[value].nki
    return f"{option.form}.{value}" if option.form.startswith("nisa.") else str(value)


def _text(name: str, keywords: list[tuple[str, str]]) -> list[str]:
    """A call on one line, or one argument a line where that is too long."""
    texts = [f"{key}={value}" for key, value in keywords]
    line = f"{name}({', '.join(texts)})"
    if len(line) <= WIDTH:
        return [line]
    return [f"{name}(", *(f"{INDENT}{text}," for text in texts), ")"]
