"""A listing: one instruction a line, with the names of the buffers it works on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tirx.codegen import Source
from tirx.ir import BufferRegion, Call, IRModule, walk

__all__ = ["generate"]


def generate(module: IRModule, target: Any, config: Mapping[str, Any]) -> Source:
    """The device functions of a module."""
    lines, entries = [], []
    for func in module:
        if func.attrs.get("role") == "device":
            entries.append(func.name)
            lines.append(f"{func.name}:")
            lines += [f"    {_instruction(node)}" for node in walk(func.body) if _is_instruction(node)]
    return Source("\n".join(lines) + "\n", "flow", ".flow", entries)


def _is_instruction(node: object) -> bool:
    return isinstance(node, Call) and node.op.name.startswith("flow.")


def _instruction(call: Any) -> str:
    operands = ", ".join(arg.buffer.name for arg in call.args if isinstance(arg, BufferRegion))
    return f"{call.op.name.partition('.')[2]} {operands}"
