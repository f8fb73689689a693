"""Operations in words: the signature and the documentation of the language's functions, made from their rows."""

from __future__ import annotations

from .row import KEYWORDS, TileAttr, TileOp, TileOperand

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from collections.abc import Iterator
    from inspect import Signature

__all__ = ["description", "may_be_absent", "parameters", "signature"]


def parameters(row: TileOp) -> Iterator[tuple[TileOperand | TileAttr, str]]:
    """Each operand and plain keyword in the order of the function, and how it stands in the signature."""
    known: dict[str, TileOperand | TileAttr] = {item.name: item for item in row.operands}
    known.update((item.name, item) for item in row.attrs)
    for name in row.form:
        item = known[name]
        default = _default(item)
        yield item, name if default is None else f"{name}={default}"


def may_be_absent(item: TileOperand | TileAttr) -> bool:
    """Whether a call need not give it."""
    return item.optional if isinstance(item, TileOperand) else item.default is not TileAttr.REQUIRED


def _default(item: TileOperand | TileAttr) -> str | None:
    if isinstance(item, TileOperand):
        return "None" if item.optional else None
    return None if item.default is TileAttr.REQUIRED else repr(item.default)


def signature(row: TileOp) -> Signature:
    """The signature of the language's function."""
    from inspect import Parameter, Signature  # only for who looks

    either, keyword = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
    made = [Parameter(item.name, either, default=_value(item)) for item, _ in parameters(row)]
    made += [Parameter(name, keyword, default=None) for name in KEYWORDS]
    return Signature([*made, Parameter("config", Parameter.VAR_KEYWORD)])


def _value(item: TileOperand | TileAttr) -> object:
    from inspect import Parameter  # only for who looks

    if isinstance(item, TileOperand):
        return None if item.optional else Parameter.empty
    return Parameter.empty if item.default is TileAttr.REQUIRED else item.default


def description(row: TileOp) -> str:
    """What the operation does and takes."""
    lines = [f"{row.doc}.".capitalize() if row.doc[0].isalpha() else f"{row.doc}.", ""]
    lines += [f"{item.name}: {item.doc}" for item, _ in parameters(row) if item.doc]
    return "\n".join(lines).rstrip()
