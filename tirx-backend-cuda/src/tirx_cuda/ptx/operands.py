"""Arguments of a call against the operands of a form: converted and checked where the author writes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tirx.ir import Buffer, BufferLoad, Expr, FloatImm, IntImm, StringImm, as_expr, const, current_span
from tirx.support.errors import ScriptError

from ..tensor_memory import address_of_place
from .forms import Form, Part
from .types import PtxType, accepts, literal_dtype

__all__ = ["SINK", "MisfitError", "bound"]


class _Sink:
    """Stands for a result that nobody wants (`_`)."""

    def __repr__(self) -> str:
        return "Tx.ptx.SINK"


SINK = _Sink()
_NUMBERS = (bool, int, float)


class MisfitError(ScriptError):
    """An argument that does not fit an operand."""


def bound(form: Form, args: Sequence[Any]) -> list[Expr]:
    """The arguments as expressions; `MisfitError` names the first that does not fit."""
    return [_BIND[part.kind](form, part, arg) for part, arg in zip(form.parts, args, strict=True)]


def _refuse(form: Form, part: Part, problem: str, hint: str) -> NoReturn:
    raise MisfitError(f"operand `{part.name}` of {form.mnemonic} {problem}", span=current_span(), hint=hint)


def _register(form: Form, part: Part, arg: Any) -> Expr:
    kind = part.type
    assert kind is not None
    if part.rw != "r":
        return _destination(form, part, kind, arg)
    expr = arg if isinstance(arg, Expr) else _converted(form, part, kind, arg)
    if expr.dtype not in part.taken:
        if not accepts(kind, expr.dtype, part.wide):
            if isinstance(expr, IntImm) and expr.dtype.is_integer:
                return _recast(form, part, kind, expr)
            _refuse(form, part, f"is of type {expr.dtype}", f"it is a .{kind.name}: {_taken(kind, part.wide)}")
        part.taken.append(expr.dtype)
    if part.choices is not None and isinstance(expr, IntImm):
        _limit(form, part, expr.value)
    return expr


def _converted(form: Form, part: Part, kind: PtxType, arg: Any) -> Expr:
    if isinstance(arg, _NUMBERS):
        return _literal(kind, arg)
    if arg is SINK:
        _refuse(form, part, "is read; SINK stands for a result", "give a value")
    return as_expr(arg)


_literals: dict[tuple[str, type, Any, str], Expr] = {}


def _literal(kind: PtxType, value: bool | int | float) -> Expr:
    """A Python number as a constant; equal ones are one node, since looking for the author's line costs more."""
    key = (kind.name, type(value), value, repr(value) if value == 0 else "")
    found = _literals.get(key)
    if found is None:
        made = const(bool(value) if kind.kind == "pred" else value, literal_dtype(kind, value))
        found = _literals[key] = _without_place(made)
    return found


def _without_place(made: Expr) -> Expr:
    if isinstance(made, IntImm):
        return IntImm(made.value, made.dtype)
    return FloatImm(made.value, made.dtype) if isinstance(made, FloatImm) else made


def _recast(form: Form, part: Part, kind: PtxType, number: IntImm) -> Expr:
    """A constant takes the type of the operand."""
    if kind.kind == "pred":
        _refuse(form, part, "is a predicate", "write Tx.ptx.pred(x) for an integer that is one")
    return const(number.value, literal_dtype(kind, number.value))


def _taken(kind: PtxType, wide: bool) -> str:
    """What an operand of a type takes, in words."""
    if kind.kind == "pred":
        return "give a bool, or Tx.ptx.pred(x) for an integer that is one"
    held = {
        "b": f"any type of {kind.bits} bits",
        "u": f"an integer of {kind.bits} bits",
        "s": f"an integer of {kind.bits} bits",
    }
    words = held.get(kind.kind, f"{kind.dtype}, or its bits as uint{kind.bits}")
    return (
        f"give {words}{' or more' if wide else ''}; Tx.cast(x, dtype) converts, Tx.reinterpret(dtype, x) keeps the bits"
    )


def _destination(form: Form, part: Part, kind: PtxType, arg: Any) -> Expr:
    if arg is SINK:
        if not part.sink:
            _refuse(form, part, "cannot be left out", "give a scalar or a buffer element")
        return StringImm("_")
    expr = arg if isinstance(arg, Expr) else as_expr(arg)
    if not isinstance(expr, BufferLoad):
        _refuse(
            form,
            part,
            "is written: it must be a mutable scalar or a buffer element",
            "x: Tx.float32 = 0.0 makes a scalar",
        )
    if expr.dtype in part.taken:
        return expr
    carrier = kind.kind == "pred" and expr.dtype.is_integer and expr.dtype.lanes == 1
    if not carrier and not accepts(kind, expr.dtype, part.wide):
        words = "a bool, or an integer that becomes 0 or 1" if kind.kind == "pred" else _taken(kind, part.wide)
        _refuse(form, part, f"is of type {expr.dtype}", f"it is a .{kind.name}: {words}")
    part.taken.append(expr.dtype)
    return expr


def _immediate(form: Form, part: Part, arg: Any) -> Expr:
    expr = arg if isinstance(arg, Expr) else as_expr(arg)
    if not isinstance(expr, IntImm):
        _refuse(
            form, part, "is an immediate: a number that is known while the kernel is built", "give a Python integer"
        )
    if part.choices is not None:
        _limit(form, part, expr.value)
    return expr


def _limit(form: Form, part: Part, value: int) -> None:
    if value in part.choices:
        return
    allowed = part.choices
    if isinstance(allowed, range):
        step = f" in steps of {allowed.step}" if allowed.step > 1 else ""
        words = f"{allowed.start} to {allowed[-1]}{step}"
    else:
        words = ", ".join(map(str, allowed))
    _refuse(form, part, f"is {value}", f"it may be {words}")


def _memory(form: Form, part: Part, arg: Any) -> Expr:
    if part.space == "tmem":
        place = address_of_place(arg)
        arg = arg if place is None else place
    if isinstance(arg, Buffer):
        arg = arg.data
    expr = arg if isinstance(arg, Expr) else as_expr(arg)
    dtype = expr.dtype
    if dtype.is_handle and part.space != "tmem":
        scope = getattr(dtype, "scope", "")
        if scope and not _reaches(part.space, scope):
            _refuse(form, part, f"points to {scope} memory", f"the instruction accesses {part.space} memory")
        return expr
    bits = 32 if part.space.startswith("shared") or part.space == "tmem" else 64
    if isinstance(expr, IntImm):
        return const(expr.value, f"uint{bits}")
    if dtype.is_integer and dtype.lanes == 1 and dtype.bits == bits:
        return expr
    known = (
        "a pointer (buffer.ptr_to([i, j]), Tx.address_of(buffer[i, j]))"
        if part.space != "tmem"
        else "a buffer in tensor memory, D.ptr_to([lane, column]) of one"
    )
    _refuse(form, part, f"is an address, not a {dtype} value", f"give {known} or a uint{bits}")


def _reaches(space: str, scope: str) -> bool:
    """Whether pointers to storage of `scope` may be given to an instruction on `space`."""
    if space == "generic":
        return True
    family = space.partition("::")[0]
    return scope.partition(".")[0] == family or family in ("const", "param")


_BIND: dict[str, Callable[[Form, Part, Any], Expr]] = {"reg": _register, "imm": _immediate, "memory": _memory}
