"""Of barriers that follow each other directly, one is enough.

before  Tx.tvm_storage_sync("shared")
        Tx.tvm_storage_sync("shared")
after   Tx.tvm_storage_sync("shared")
"""

from __future__ import annotations

from tirx.ir import Call, Evaluate, IRModule, Seq, Stmt, rewrite, seq
from tirx.transform.pipeline import Pass, PassContext

__all__ = ["merge_barriers"]


def _barrier(stmt: Stmt) -> str | None:
    """What a statement that is a barrier and nothing else waits for."""
    if isinstance(stmt, Evaluate) and isinstance(stmt.value, Call) and stmt.value.op.name == "tvm_storage_sync":
        return repr(stmt.value.attrs)
    return None


def _merged(block: Seq) -> Stmt:
    kept: list[Stmt] = []
    for stmt in block.stmts:
        if not (kept and _barrier(stmt) and _barrier(stmt) == _barrier(kept[-1])):
            kept.append(stmt)
    return block if len(kept) == len(block.stmts) else seq(kept)


def _run(module: IRModule, context: PassContext) -> IRModule:
    return module.map(lambda func: func.with_body(rewrite(func.body, {Seq: _merged})))


merge_barriers = Pass("merge_barriers", _run)
