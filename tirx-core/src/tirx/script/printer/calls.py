"""Calls as text: `T.<name>(operands, keyword=value)`, and the few whose functions take their arguments in another order."""

from __future__ import annotations

from ...intrinsic import Intrinsic
from ...ir import FLOAT32, Call, DType, GlobalVar
from .literals import is_number, number, plain_data, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["call_text"]

_FAMILIES = frozenset({"int", "uint", "integer", "float", "number", "bool"})


def call_text(node: Call, texts: Sequence[str]) -> str:
    """The call with the texts of its operands."""
    if isinstance(node.op, GlobalVar):
        result = f', result="{node.op.result}"' if node.op.result is not None else ""
        return f"T.tirx.call({', '.join([quoted(node.op.name), *texts])}{result})"
    row = node.op
    assert isinstance(row, Intrinsic)
    listed = [_argument(row, position, node, text) for position, text in enumerate(texts)]
    special = _SPECIAL.get(row.name)
    if special is not None:
        return f"T.{row.name}({', '.join(special(node, listed))})"
    keywords = [f"{key}={plain_data(value)}" for key, value in node.attrs if row.attrs.get(key, row) != value]
    return f"T.{row.name}({', '.join([*listed, *keywords])})"


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


def _dtype_first(node: Call, texts: list[str]) -> list[str]:
    return [quoted(node.attr("dtype")), *texts]


def _access_ptr(node: Call, texts: list[str]) -> list[str]:
    return [quoted(node.attr("dtype")), *texts, str(node.attr("rw_mask"))]


def _scope_only(node: Call, texts: list[str]) -> list[str]:
    return [quoted(node.attr("scope"))]


_SPECIAL: dict[str, Callable[[Call, list[str]], list[str]]] = {
    "reinterpret": _dtype_first,
    "type_annotation": _dtype_first,
    "call_extern": _dtype_first,
    "call_pure_extern": _dtype_first,
    "masked_load": _dtype_first,
    "undef": _dtype_first,
    "tvm_access_ptr": _access_ptr,
    "tvm_storage_sync": _scope_only,
}
