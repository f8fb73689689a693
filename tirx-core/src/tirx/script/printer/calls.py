"""Calls as text: `T.<name>(operands, keyword=value)`, and the few whose functions take their arguments in another order."""

from __future__ import annotations

from ...intrinsic import Intrinsic
from ...ir import FLOAT32, Call, DType, GlobalVar
from .literals import is_number, number, plain_data, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["call_text"]

_FAMILIES = frozenset({"int", "uint", "integer", "float", "number", "bool"})


def call_text(node: Call, texts: Sequence[str]) -> str:
    """The call with the texts of its operands."""
    if isinstance(node.op, GlobalVar):
        result = f', result="{node.op.result}"' if node.op.result is not None else ""
        return f"T.tirx.call({', '.join([quoted(node.op.name), *texts])}{result})"
    row = node.op
    assert isinstance(row, Intrinsic)
    own = row.printed(node, texts)
    if own is not None:
        return own
    listed = [_argument(row, position, node, text) for position, text in enumerate(texts)]
    if row.form:
        listed = [text for name in row.form for text in _part(row, node, name, listed)]
    keywords = [
        f"{key}={plain_data(value)}"
        for key, value in node.attrs
        if key not in row.form and row.attrs.get(key, row) != value
    ]
    return f"T.{row.name}({', '.join([*listed, *keywords])})"


def _part(row: Intrinsic, node: Call, name: str, texts: list[str]) -> list[str]:
    """What stands for one name of the row's form; the last operand of a variadic row stands for all that follow."""
    if name in row.attrs:
        return [plain_data(node.attr(name))]
    position = [operand.name for operand in row.operands].index(name)
    if row.variadic and position == len(row.operands) - 1:
        return texts[position:]
    return [texts[position]]


def _argument(row: Intrinsic, position: int, node: Call, text: str) -> str:
    """An operand; a constant is plain where the row gives Python's number its type."""
    value = node.args[position]
    if not is_number(value):
        return text
    operand = row.operands[min(position, len(row.operands) - 1)]
    names = [name for name in operand.dtypes if name not in _FAMILIES]
    expected = None
    if operand.kind in ("value", "constant"):
        expected = DType(names[0]) if names else FLOAT32 if set(operand.dtypes) == {"float"} else None
    return number(value, expected)
