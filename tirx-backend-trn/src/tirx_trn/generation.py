"""What one NeuronCore generation has and another has not, refused at the author's line once the target is known.

Sources: architecture guides of Trainium/Inferentia2 (v2), Trainium2 (v3) and Trainium3 (v4); "Constraints" of `nki.isa`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod

from tirx.ir import Alloc, BufferRegion, Call, Expr, FloatImm, IntImm, Stmt, StringImm, Var, walk
from tirx.support.errors import Diagnostic

from .box import Box, box_of
from .dtypes import SINCE
from .hardware import BANK_BYTES, Generation
from .kernel import instructions
from .op import name_of
from .opcodes import OPCODES
from .table import TABLE, Instruction, source_of

__all__ = ["missing"]

Found = Iterator[Diagnostic]
_ON_SCALAR_ENGINE = (("mul", "add"), ("mul",), ("add",))  # steps of a tensor_scalar


def missing(part: Stmt, figures: Generation) -> Found:
    """Everything in a kernel that a NeuronCore of this generation cannot do."""
    for node in walk(part):
        if isinstance(node, Alloc) and figures.name < SINCE.get(node.buffer.dtype.name, "v2"):
            yield _later(
                f"`{node.buffer.name}` is of type {node.buffer.dtype}", SINCE[node.buffer.dtype.name], figures, node
            )
    for call in instructions(part):
        yield from _instruction(call, figures)


def _instruction(call: Call, figures: Generation) -> Found:
    item = TABLE.get(name_of(call.op.name))
    if item is None:
        return
    for found in _problems(call, item, figures):
        yield Diagnostic(found.message, found.span, found.hint, (*found.notes, source_of(item)))


def _problems(call: Call, item: Instruction, figures: Generation) -> Found:
    if figures.name < item.since:
        yield _later(f"nki.{item.name} is an instruction", item.since, figures, call)
    for opcode in _opcodes(call):
        if figures.name < OPCODES[opcode].since:
            yield _later(f"{opcode} is an operation", OPCODES[opcode].since, figures, call)
    rule = _RULES.get(item.name)
    if rule is not None:
        yield from rule(call, figures)


def _later(what: str, since: str, figures: Generation, node: Call | Alloc) -> Diagnostic:
    return Diagnostic(
        f"{what} of NeuronCore-{since} and newer; the target has NeuronCore-{figures.name}",
        node.span,
        "choose a newer target, or another way to compute it",
    )


def _opcodes(call: Call) -> Iterator[str]:
    for value in call.args:
        if isinstance(value, StringImm) and value.value in OPCODES:
            yield value.value


def _matmul(call: Call, figures: Generation) -> Found:
    res, _, rhs = call.args[:3]
    if not isinstance(res, BufferRegion) or not isinstance(rhs, BufferRegion):
        return
    pairs = 2 if call.attr("perf_mode") == "double_row" else 1
    box, free = box_of(res), box_of(rhs).free // pairs
    wide = 2 if res.buffer.dtype.name == "bfloat16" else 1
    if pairs == 2 and figures.name < "v3":
        yield _later("double_row of nki.matmul is a mode", "v3", figures, call)
    if 32 in call.attr("tile_size", ()) and figures.name < "v3":
        yield _later(f"a tile_size of {call.attr('tile_size')} is a mode", "v3", figures, call)
    if res.buffer.dtype.name != "float32" and figures.name < "v4":
        yield Diagnostic(
            f"`res` of nki.matmul is of type {res.buffer.dtype}; NeuronCore-{figures.name} sums up in float32",
            call.span,
            "use a float32 tile, and convert it with tensor_copy",
        )
    if free > figures.moving_max * wide:
        yield Diagnostic(
            f"`rhs` of nki.matmul has {free} elements per partition; NeuronCore-{figures.name} takes {figures.moving_max}",
            call.span,
            "tile the columns",
        )
    elif figures.name < "v4" and _banks(box) > 1:
        yield Diagnostic(
            f"`res` of nki.matmul lies in {_banks(box)} PSUM banks; NeuronCore-{figures.name} writes one bank at a time",
            call.span,
            f"write at most {BANK_BYTES // 4} float32 elements of one bank in each instruction",
        )


def _banks(box: Box) -> int:
    return prod(box.extents[: box.place.partition_dim])


def _tensor_copy(call: Call, figures: Generation) -> Found:
    if call.attr("engine") == "scalar" and figures.name == "v2":
        yield Diagnostic(
            "the scalar engine of NeuronCore-v2 has no tensor_copy",
            call.span,
            'use Tx.nki.activation(res, data, "copy")',
        )


def _tensor_scalar(call: Call, figures: Generation) -> Found:
    if call.attr("engine") != "scalar":
        return
    steps = tuple(_opcodes(call))
    turned = any(isinstance(value, IntImm) and value.dtype.is_bool and value.value for value in call.args)
    if steps not in _ON_SCALAR_ENGINE or turned:
        yield Diagnostic(
            f"the scalar engine does not do {' then '.join(steps)}{' reversed' if turned else ''}",
            call.span,
            "it does mul, add, or mul then add; leave the engine open, or choose the vector engine",
        )


def _bias(position: int) -> Callable[[Call, Generation], Found]:
    def rule(call: Call, figures: Generation) -> Found:
        bias: Expr = call.args[position]
        if figures.constant_bias or isinstance(bias, BufferRegion | FloatImm):
            return
        if any(isinstance(node, Var) for node in walk(bias)):
            yield Diagnostic(
                f"the bias of {call.op.name} is computed from loop variables; NeuronCore-{figures.name} takes it from a tile",
                call.span,
                "put it into a float32 tile with Tx.nki.memset",
            )

    return rule


_RULES: dict[str, Callable[[Call, Generation], Found]] = {
    "matmul": _matmul, "tensor_copy": _tensor_copy, "tensorscalar": _tensor_scalar, "scalar_tensor_scalar": _tensor_scalar,
    "activation": _bias(3), "activation_reduce": _bias(5),
}  # fmt: skip
