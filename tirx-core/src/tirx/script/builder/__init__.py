"""The builder: what the language's statements do. Traced kernels call it directly, parsed kernels are rewritten into calls of it.

Opening a function
    `with FunctionFrame(name=None, private=False, persistent=False, verify=True) as f:` opens a function in the active `Builder`, or in
    one of its own, and `f.get()` is the PrimFunc afterwards. `Tx.prim_func()` without a function answers such a frame (a subclass adds
    `__call__` for use as a decorator). `Builder()` is the explicit form: `with Builder() as ib: ...; ib.get()`. `trace(fn, *annotations,
    **values)` runs a plain function as a body. `builder(what)` is the active Builder, or an error at the author's line that names `what`.

Inside
    `arg(name, annotation)` (= `builder().function.add_param`) makes a parameter from anything that can annotate one: a Buffer,
    `Tx.float32`, a DType or its name, `Tx.handle`, `Tx.handle("float32", "shared")`. `func_name func_attr func_ret` as in the language.
    `builder().function.symbols` maps quoted dimensions (`"m"`) to their variables; `symbol(name)` introduces one.
    `f.verify` is what `check_well_formed` said; `f.result` the declared result type; `f.names`, `f.params` as in PrimFunc.

Statements
    Each public function emits its statement into the innermost frame: `evaluate buffer_store bind Assert Break Continue Return
    thread_return alloc_* decl_* match_buffer device_entry cta_id ...`. `expression_statement(value)` is for a Python expression that stands
    alone: kernel values are evaluated, anything else (None, frames, DONE) is ignored. `B[i] = v` stores by itself.
    Calls with an effect are noted when they are made; those that no statement takes are emitted once, in order, before the next one.

Frames
    `If Then Else While serial unroll parallel vectorized thread_binding grid attr hint launch_thread` answer a `Frame`: `with frame as x:`.
    Loops give their variable (a tuple when several). `for i in Tx.serial(n):` works in plain Python too: the body runs once, and the loop
    is built around it; a transpiled `for` may use either form. `isinstance(x, LoopFrame)` tells loops from Python iterables.
    `attr`, `hint`, `device_entry`, `launch_thread` made without `with` cover the rest of the block (nothing else to do for the caller).
    `f.is_loop` is true of `for` and `while`. `builder().stack` is the open frames, outermost first; `stack[0]` the function.

Names
    `builder().name_value(value, name)`: `value` was assigned to `name`. Variables, buffers, scalars, scope ids and loop variables whose
    name was invented take it, once; lists item by item; anything else is left alone. Call it for every assignment and loop target.
    In traced code the names come from the author's own bytecode, so nobody has to call it.

What an assignment needs to know
    `is_fresh(value)`: a variable made by `Tx.int32()`, `Tx.handle()`, `env_thread`: keep it as it is. `scalar_of(value, dtype=None,
    scope="local")`: a new mutable scalar. `LetAnnotation.convert(value)` then `bind`; `LocalVectorAnnotation.allocate()`;
    `LaunchFrame.vars[0]` is the variable of a bare `tx = Tx.launch_thread(...)`. `Scalar.assign(value)` stores.
    Dtype constructors are `DtypeConstructor` (annotation `x: Tx.int32`), `DType(x)` accepts them.

Where things live: `state` (Builder, Frame), `effects`, `naming`, `bytecode`; then one topic a file: `function launch control loops
attributes statements buffers places types nodes`.
"""

from __future__ import annotations

import sys

from .attributes import AttrFrame, attr, hint
from .buffers import (
    BufferProxy,
    alloc_buffer,
    alloc_local,
    alloc_scalar,
    alloc_shared,
    buffer,
    decl_buffer,
    decl_scalar,
    local_scalar,
    match_buffer,
    scalar_of,
    shared_scalar,
    smem,
)  # fmt: skip
from .calls import call_prim_func
from .control import DONE, Break, Continue, Else, If, Return, Then, While, break_loop, continue_loop, thread_return
from .function import FunctionFrame, arg, func_attr, func_name, func_ret, symbol, trace
from .launch import (
    LaunchFrame,
    cluster_id,
    cta_id,
    cta_id_in_cluster,
    cta_id_in_pair,
    device_entry,
    elected,
    env_thread,
    lane_id,
    launch_thread,
    scope_id,
    thread_id,
    thread_id_in_wg,
    warp_id,
    warp_id_in_wg,
    warpgroup_id,
)  # fmt: skip
from .loops import LoopFrame, grid, parallel, serial, thread_binding, unroll, vectorized
from .nodes import NODES, NodeConstructor
from .state import Builder, Frame, builder
from .statements import (
    Assert,
    Bind,
    Let,
    add_to_parent,
    bind,
    buffer_store,
    evaluate,
    expression_statement,
    static_assert,
)  # fmt: skip
from .types import (
    CONSTRUCTORS,
    DtypeConstructor,
    HandleConstructor,
    LetAnnotation,
    LocalVectorAnnotation,
    Ptr,
    TensorMap,
    TupleAnnotation,
    handle,
    is_fresh,
    let,
    ptr,
    var,
    void,
)  # fmt: skip

IRBuilder = Builder

__all__ = [
    "CONSTRUCTORS", "DONE", "NODES", "Assert", "AttrFrame", "Bind", "Break", "BufferProxy", "Builder", "Continue",
    "DtypeConstructor", "Else", "Frame", "FunctionFrame", "HandleConstructor", "IRBuilder", "If", "LaunchFrame",
    "Let", "LetAnnotation", "LocalVectorAnnotation", "LoopFrame", "NodeConstructor", "Ptr", "Return", "TensorMap",
    "Then", "TupleAnnotation", "While", "add_to_parent", "alloc_buffer", "alloc_local", "alloc_scalar",
    "alloc_shared", "arg", "attr", "bind", "break_loop", "buffer", "buffer_store", "builder", "call_prim_func",
    "cluster_id", "continue_loop", "cta_id", "cta_id_in_cluster", "cta_id_in_pair", "decl_buffer", "decl_scalar",
    "device_entry", "elected", "env_thread", "evaluate", "expression_statement", "func_attr", "func_name", "func_ret",
    "grid", "handle", "hint", "is_fresh", "lane_id", "launch_thread", "let", "local_scalar", "match_buffer",
    "parallel", "ptr", "scalar_of", "scope_id", "serial", "shared_scalar", "smem", "static_assert", "symbol",
    "thread_binding", "thread_id", "thread_id_in_wg", "thread_return", "trace", "unroll", "var", "vectorized", "void",
    "warp_id", "warp_id_in_wg", "warpgroup_id",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """`builder.<name>` is the language's `<name>` too: authors who build kernels call this module `IR` (`IR.prim_func()`)."""
    language = sys.modules[__name__.rpartition(".")[0]]
    if name.startswith("__") or not hasattr(language, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found: object = getattr(language, name)
    return found
