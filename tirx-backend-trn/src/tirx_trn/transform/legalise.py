"""What the engines lack becomes what they have: quotients, and scalars that lie in one partition.

before  Tx.nki.tensortensor(z, x, y, "div")
after   quotient = Tx.alloc_buffer((128, 512), "float32", scope="trn.sbuf")
        Tx.nki.reciprocal(quotient, y)
        Tx.nki.tensortensor(z, x, quotient, "mul")

before  Tx.nki.tensorscalar(z, x, one[0:1, 0:1], "add")                                              128 partitions
after   spread = Tx.alloc_buffer((128, 1), "float32", scope="trn.psum", layout="PF")
        Tx.nki.matmul(spread, ones, one[0:1, 0:1], False)                                       ones: (1, 128), set once
        column = Tx.alloc_buffer((128, 1), "float32", scope="trn.sbuf")
        Tx.nki.tensor_copy(column, spread)
        Tx.nki.tensorscalar(z, x, column, "add")

A quotient by a number is a product with its reciprocal. What is made is checked like what people write. Needs: a target.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tirx.intrinsic import call as make_call
from tirx.ir import (
    Alloc,
    Attr,
    Buffer,
    BufferRegion,
    Call,
    Evaluate,
    Expr,
    FloatImm,
    IRModule,
    PrimFunc,
    Stmt,
    StringImm,
    const,
    rewrite,
    seq,
)
from tirx.support.span import Span
from tirx.transform.pipeline import Pass, PassContext

from ..box import box_of
from ..hardware import PARTITIONS, PSUM, SBUF
from ..kernel import ENTRY, is_instruction
from ..layout import trainium_psum
from ..op import ROWS, name_of
from ..steps import Step, steps_of
from ..table import TABLE
from .checked import checked

__all__ = ["legalise"]

_PRODUCT = StringImm("mul")


class _Made:
    """What one instruction becomes: statements before it, and the call itself."""

    def __init__(self, call: Call, kernel: _Kernel) -> None:
        self.kernel = kernel
        self.span: Span | None = call.span
        self.before: list[Stmt] = []
        self.name = name_of(call.op.name)
        self.attrs = dict(call.attrs)
        fields = [field.name for field in TABLE[self.name].fields]
        self.args: dict[str, Any] = dict(zip(fields, call.args, strict=False))
        self.rest = call.args[len(fields) :]

    def run(self, name: str, *args: Any, **attrs: Any) -> None:
        """One more instruction before the one at hand."""
        made = make_call(ROWS[name], *args, **attrs)
        made.span = self.span
        self.before.append(Evaluate(made, span=self.span))

    def tile(self, name: str, like: Expr, *, column: bool = False) -> Buffer:
        """A float32 tile in SBUF with the partitions and elements of a region."""
        assert isinstance(like, BufferRegion)
        box = box_of(like)
        lead = box.place.partition_dim
        free = [extent for dim, extent in enumerate(box.extents) if dim != lead and extent != 1]
        made = Buffer(name, (box.partitions, *((1,) if column or not free else free)), "float32", scope=SBUF)
        self.before.append(Alloc(made, span=self.span))
        return made

    @property
    def result(self) -> Expr:
        """The tile that has the instruction's shape."""
        field = next(field for field in TABLE[self.name].fields if field.role == "tile" and field.shape == "same")
        found: Expr = self.args[field.name]
        return found

    def call(self) -> Stmt:
        """The instruction as it is now, after what goes before it."""
        self.run(self.name, *self.args.values(), *self.rest, **self.attrs)
        return seq(self.before)

    # ---- scalars in one partition -----------------------------------------------------------------------------------

    def spread(self, name: str) -> None:
        """A (1, 1) operand in all partitions: a product with a row of ones."""
        count, one = box_of(self.result).partitions, self.args[name]  # type: ignore[arg-type]
        if one.buffer.scope_name == PSUM or one.buffer.dtype.name != "float32":
            copied = self.tile("one", one)
            self.run("tensor_copy", copied.region(), one)
            one = copied.region()
        bank = Buffer("spread", (count, 1), "float32", scope=PSUM, layout=trainium_psum("PF", (count, 1)))
        self.before.append(Alloc(bank, span=self.span))
        self.run(
            "matmul", bank.region(), self.kernel.ones(count, self.span), one, const(False), is_stationary_onezero=True
        )
        column = self.tile("column", self.result, column=True)
        self.run("tensor_copy", column.region(), bank.region())
        self.args[name] = column.region()

    # ---- quotients --------------------------------------------------------------------------------------------------

    def divide(self, step: Step) -> None:
        """One step without its quotient."""
        if step.reverse and self.args[step.reverse].value:
            self._turned(step)
            return
        self.args[step.operand] = self._inverse(self.args[step.operand])
        self.args[step.opcode] = _PRODUCT

    def _inverse(self, divisor: Expr) -> Expr:
        if isinstance(divisor, FloatImm):
            return FloatImm(1.0 / divisor.value, divisor.dtype)
        made = self.tile("quotient", divisor)
        self.run("reciprocal", made.region(), divisor)
        return made.region()

    def _turned(self, step: Step) -> None:
        """A quotient of operand by value: the reciprocal of what stands before this step, then the product."""
        if step.opcode == "opcode1":
            self._apart()
            return
        data = "operand0" if self.name == "tensorscalar" else "data"
        self.args.update({data: self._inverse(self.args[data]), step.opcode: _PRODUCT, step.reverse: const(False)})

    def _apart(self) -> None:
        """Two steps of which the second divides by the result of the first: that one in a tile of its own."""
        data, operand = self.args["data"], self.args["operand1"]
        part = self.tile("part", self.result)
        self.run(
            "tensorscalar", part.region(), data, *(self.args[name] for name in ("operand0", "opcode0", "reverse0"))
        )
        self.run("reciprocal", part.region(), part.region())
        given = {"result": self.args["result"], "operand0": part.region(), "operand1": operand, "opcode": _PRODUCT}
        if self.name == "scalar_tensor_tensor":
            self.name, self.args = "tensortensor", given
        else:
            self.name, self.args = "tensorscalar", {**given, "reverse": const(False)}


class _Kernel:
    """One kernel: the row of ones that scalars are spread with."""

    def __init__(self) -> None:
        self.row: Buffer | None = None
        self.span: Span | None = None
        self.changed = False

    def ones(self, count: int, span: Span | None) -> BufferRegion:
        """`count` ones in one partition; `span` asks for them."""
        if self.row is None:
            self.row, self.span = Buffer("ones", (1, PARTITIONS), "float32", scope=SBUF), span
        return BufferRegion(self.row, (const(0), const(0)), (const(1), const(count)))

    def front(self) -> list[Stmt]:
        """What stands at the start of the kernel."""
        if self.row is None:
            return []
        filled = make_call(ROWS["memset"], self.row, FloatImm(1.0, self.row.dtype))
        filled.span = self.span
        return [Alloc(self.row, span=self.span), Evaluate(filled, span=self.span)]

    def evaluate(self, node: Evaluate) -> Any:
        """An instruction as those that the engines have."""
        call = node.value
        if not (isinstance(call, Call) and is_instruction(call)) or name_of(call.op.name) not in TABLE:
            return None
        made = _Made(call, self)
        lone = [name for name in _scalars(made) if _is_alone(made, name)]
        steps = [step for step in steps_of(made.name) if made.args[step.opcode].value == "div"]
        if not lone and not steps:
            return None
        self.changed = True
        for name in lone:
            made.spread(name)
        for step in steps:
            made.divide(step)
        return made.call()


def _scalars(made: _Made) -> Iterable[str]:
    return (field.name for field in TABLE[made.name].fields if field.role == "scalar")


def _is_alone(made: _Made, name: str) -> bool:
    """Whether a scalar operand lies in one partition of several."""
    value = made.args.get(name)
    if not isinstance(value, BufferRegion):
        return False
    return box_of(value).partitions == 1 and box_of(made.result).partitions > 1  # type: ignore[arg-type]


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module without quotients and lone scalars."""
    made = module.map(_function)
    return module if made is module else checked(made, context)


def _function(func: PrimFunc) -> PrimFunc:
    return func.with_body(rewrite(func.body, {}, enter={Attr: _entry}))


def _entry(node: Attr) -> Any:
    if node.key != ENTRY:
        return None
    kernel = _Kernel()
    body = rewrite(node.body, {Evaluate: kernel.evaluate})
    return node.rebuild(body=seq([*kernel.front(), body])) if kernel.changed else node


legalise = Pass("legalise", run, requires=("target",))
