"""Places for tiles, where the target asks for them (`-allocation=explicit`); else the NKI compiler chooses.

before  x = Tx.alloc_buffer((128, 512), "float32", scope="trn.sbuf")
        y = Tx.alloc_buffer((128, 512), "float32", scope="trn.sbuf")
after   x = Tx.alloc_buffer((128, 512), "float32", scope="trn.sbuf", allocated_addr=(0,))
        y = Tx.alloc_buffer((128, 512), "float32", scope="trn.sbuf", allocated_addr=(2048,))      (0,) if x is not needed any more

Tiles that the author placed stay where they are. Needs: a target.
"""

from __future__ import annotations

from typing import Any

from tirx.ir import Alloc, Attr, Buffer, BufferRegion, IRModule, PrimFunc, Stmt, rewrite
from tirx.support.errors import Diagnostic, VerifyError
from tirx.target import Target
from tirx.transform.pipeline import Pass, PassContext

from ..capacity import plan
from ..hardware import BANK_BYTES, PSUM
from ..kernel import ENTRY

__all__ = ["allocate"]


def _function(func: PrimFunc, context: PassContext) -> PrimFunc:
    target: Target = func.attrs.get("target", context.target)
    if target.attrs["allocation"] != "explicit":
        return func
    return func.with_body(
        rewrite(func.body, {}, enter={Attr: lambda node: _entry(node, target) if node.key == ENTRY else None})
    )


def _entry(node: Attr, target: Target) -> Stmt:
    found = plan(node.body, target)
    if isinstance(found, Diagnostic):
        raise VerifyError(diagnostics=[found])
    made: dict[int, Buffer] = {}

    def placed(buffer: Buffer) -> Buffer | None:
        if id(buffer) not in found:
            return None
        if id(buffer) not in made:
            made[id(buffer)] = buffer.replaced(allocated_addr=_address(buffer, found[id(buffer)]))
        return made[id(buffer)]

    def rule(item: Any) -> Any:
        buffer = placed(item.buffer)
        return item.rebuild(buffer=buffer) if buffer is not None else None

    return node.rebuild(body=rewrite(node.body, {Alloc: rule, BufferRegion: rule}))


def _address(buffer: Buffer, byte: int) -> tuple[int, ...]:
    return (byte // BANK_BYTES, byte % BANK_BYTES) if buffer.scope_name == PSUM else (byte,)


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with an address for every tile."""
    return module.map(lambda func: _function(func, context))


allocate = Pass("allocate", run, requires=("target",))
