"""Calls of intrinsics as text: a few are understood here, the others go to the meaning that their row names."""

from __future__ import annotations

from typing import Any

from ..intrinsic import Intrinsic
from ..intrinsic.internal import WITH_LANE
from ..ir import BufferLoad, BufferRegion, Call, Expr, StringImm, Var
from .emit_base import Val
from .emit_expr import PASS_THROUGH, PLAIN_GROUPS
from .emit_memory import MemoryEmitter
from .facts import NARROW_LEVELS, row_of

__all__ = ["CallEmitter"]


def _only_written(row: Intrinsic, position: int) -> bool:
    """Whether a meaning is not given an operand: it takes a result, and its old value is not read."""
    operand = row.operands[min(position, len(row.operands) - 1)]
    return operand.kind == "output" and operand.rw == "w"


class CallEmitter(MemoryEmitter):
    """Emits calls."""

    def _call(self, node: Call) -> Val:
        row = row_of(node)
        if row is None:
            return self._unmodelled(node, f"the call of function {node.op.name}")
        if row.name == "if_then_else":
            return self._lazy(node)
        if row.name in PASS_THROUGH:
            return self.expr(node.args[PASS_THROUGH[row.name]])
        if row.name == "address_of":
            (load,) = node.args
            assert isinstance(load, BufferLoad)
            same = not self.facts.differs(load.indices[-1]) and self._same_pointer(load.buffer.data)
            return Val(self.address(load.buffer, load.indices[-1]), same)
        if row.name == "tirx.launch_index":
            axis = node.attr("axis")
            return Val(self.fetch(f"ax_{axis.replace('.', '_')}", per_thread=True), False)
        if row.meaning is None:
            name = getattr(node.args[0], "value", row.name) if node.args else row.name
            return self._unmodelled(node, f"{row.name}({name})" if row.name.startswith("call_") else row.name)
        return self._meant(node, row)

    def _same_pointer(self, data: Var) -> bool:
        root = self.facts.roots.get(id(data))
        if root is None or root.kind == "pointer":
            return id(data) not in self.facts.variant
        return root.kind in ("param", "local")

    def _unmodelled(self, node: Call, what: str) -> Val:
        site = self.site(node, "call", None, node.dtype, name=what)
        self.line(f"cx.at({site}, {self.level.p}).unmodelled({what!r})")
        if node.dtype.kind == "void":
            return Val("None", True)
        return Val(f"spread(0, {self.count()}, {self.pool.dtype(node.dtype)}, {node.dtype.lanes})", False, fresh=True)

    def _meant(self, node: Call, row: Intrinsic) -> Val:
        assert row.meaning is not None
        function = self.pool.meaning(row.meaning)
        if row is WITH_LANE:
            self.pool.partial.add(id(node.args[0]))
        self.operation = row if row.effect.later else None
        try:
            return self._with_operands(node, row, function)
        finally:
            self.operation = None

    def _with_operands(self, node: Call, row: Intrinsic, function: str) -> Val:
        assert row.meaning is not None
        pieces = [self._argument(arg, row, at) for at, arg in enumerate(node.args) if not _only_written(row, at)]
        attrs = [f"{name}={self._attribute(value)}" for name, value in node.attrs]
        same = not self.facts.differs(node)
        if row.effect.is_pure and row.meaning.startswith(PLAIN_GROUPS):
            text = f"{function}({', '.join(['cx', *pieces, *attrs])})"
            if same and node.dtype.lanes == 1 and (node.dtype.is_integer or node.dtype.is_bool or node.dtype.is_handle):
                text = f"{'bool' if node.dtype.is_bool else 'int'}({text})"
            return Val(text, same, fresh=not same)
        return self._with_context(node, row, function, pieces + attrs, same)

    def _with_context(self, node: Call, row: Intrinsic, function: str, pieces: list[str], same: bool) -> Val:
        site = self.site(node, "call", None, node.dtype, name=row.name)
        if row.effect.barrier is not None and row.effect.barrier.level in NARROW_LEVELS:
            self.line(f"cx.at({site}, {self.level.p}).meet({row.effect.barrier.level!r})")
        text = f"{function}({', '.join([f'cx.at({site}, {self.level.p})', *pieces])})"
        outputs = [arg for arg, operand in zip(node.args, row.operands, strict=False) if operand.kind == "output"]
        if outputs:
            return self._distributed(node, self.temp(text, "r"), outputs)
        if node.dtype.kind == "void" and row.effect.kind == "wait":
            return Val(self.temp(text), True)  # who may go on; the kernel itself gets nothing
        if node.dtype.kind == "void":
            self.line(text)
            self.line_changed()
            return Val("None", True)
        if same:
            plain = node.dtype.lanes == 1 and (node.dtype.is_integer or node.dtype.is_bool or node.dtype.is_handle)
            return Val(self.temp(f"{'bool' if node.dtype.is_bool else 'int'}({text})" if plain else text), True)
        kind = self.pool.dtype(node.dtype)
        return Val(self.temp(f"shaped({text}, {self.count()}, {kind}, {node.dtype.lanes})"), False)

    def _distributed(self, node: Call, answer: str, outputs: list[Expr]) -> Val:
        """What a meaning answered goes to the operands that take it."""
        for position, place in enumerate(outputs):
            if not isinstance(place, BufferLoad):
                continue  # nobody wants this one
            kind, lanes = self.pool.dtype(place.dtype), place.dtype.lanes
            value = self.temp(f"taken({answer}[{position}], {self.count()}, {kind}, {lanes})")
            store = self.pool.output(node, position, place)
            self.put(store, self.root(place.buffer), Val(value, False, fresh=True))
        self.line_changed()
        return Val("None", True)

    def _argument(self, arg: Expr, row: Intrinsic, position: int) -> str:
        operand = row.operands[min(position, len(row.operands) - 1)]
        if isinstance(arg, StringImm):
            return repr(arg.value)
        if operand.kind == "place" and isinstance(arg, BufferLoad):
            return self.address(arg.buffer, arg.indices[-1])
        if operand.kind in ("region", "pointer") and isinstance(arg, BufferRegion):
            return self.address(arg.buffer, arg.starts[-1])
        if isinstance(arg, Var) and arg.dtype.is_handle:
            return self.pointer(arg)
        value = self.typed(arg)
        return value.text

    def _attribute(self, value: Any) -> str:
        if value is None or isinstance(value, bool | int | float | str):
            return repr(value)
        return self.pool.constant(value, ("attribute", repr(value)))

    def variable(self, var: Var) -> Val:
        """A variable; pointer variables of buffers read as addresses."""
        root = self.facts.roots.get(id(var)) if var.dtype.is_handle else None
        if root is None or root.kind == "pointer":
            return super().variable(var)
        return Val(self.pointer(var), root.kind in ("param", "local"))
