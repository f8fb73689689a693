"""A few lines that run lowered kernels with the instructions' meanings, apart from core's simulator."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tirx.arith import simplify
from tirx.ir import (
    Alloc,
    Bind,
    Buffer,
    BufferRegion,
    Decl,
    DType,
    Evaluate,
    Expr,
    FloatImm,
    For,
    If,
    IntImm,
    PrimFunc,
    Seq,
    Stmt,
    StringImm,
    Var,
    const,
    substitute,
)  # fmt: skip
from tirx.support.late import load_object

EXTRA = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3": ml_dtypes.float8_e4m3,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "bool": np.uint8,
}


def numpy_dtype(dtype: DType) -> Any:
    return np.dtype(EXTRA.get(dtype.name, dtype.name))


class Storage:
    def __init__(self, values: np.ndarray, written: bool) -> None:
        self.values = values
        self.written = np.full(values.shape, written)


class Region:
    """A box of a buffer; implements `tirx.intrinsic.SimRegion`."""

    def __init__(self, storage: Storage, box: tuple[slice, ...], buffer: Buffer) -> None:
        self.storage = storage
        self.box = box
        self.shape = storage.values[box].shape
        self.dtype = buffer.dtype
        self.scope = buffer.scope_name

    def read(self) -> Any:
        assert self.storage.written[self.box].all(), "unwritten memory is read"
        return self.storage.values[self.box].copy()

    def written(self) -> Any:
        return self.storage.written[self.box].copy()

    def write(self, value: Any, mask: Any = None) -> None:
        self.storage.values[self.box] = np.asarray(value).astype(self.storage.values.dtype)
        self.storage.written[self.box] = True


class Context:
    def __init__(self) -> None:
        self.findings: list[tuple[str, str]] = []

    def finding(self, kind: str, message: str, where: Any = None) -> None:
        self.findings.append((kind, message))


class Interpreter:
    """Runs one device function on arrays, one per buffer parameter."""

    def __init__(self, func: PrimFunc, arrays: dict[int, np.ndarray], values: dict[Var, Expr]) -> None:
        self.context = Context()
        self.storage = {key: Storage(array, True) for key, array in arrays.items()}
        self.values = dict(values)
        self.run(func.body)

    def number(self, expr: Expr) -> int:
        found = simplify(substitute(expr, self.values))
        assert isinstance(found, IntImm)
        return found.value

    def run(self, stmt: Stmt) -> None:
        if isinstance(stmt, Seq):
            for item in stmt.stmts:
                self.run(item)
        elif isinstance(stmt, Alloc):
            shape = tuple(int(extent) for extent in stmt.buffer.shape)  # type: ignore[arg-type]
            self.storage[id(stmt.buffer.data)] = Storage(np.zeros(shape, numpy_dtype(stmt.buffer.dtype)), False)
        elif isinstance(stmt, For):
            for value in range(self.number(stmt.start), self.number(stmt.start + stmt.extent), self.number(stmt.step)):
                self.values[stmt.var] = const(value)
                self.run(stmt.body)
        elif isinstance(stmt, If):
            branch = stmt.then if self.number(stmt.condition) else stmt.orelse
            if branch is not None:
                self.run(branch)
        elif isinstance(stmt, Bind):
            self.values[stmt.var] = const(self.number(stmt.value))
        elif isinstance(stmt, Evaluate):
            self.call(stmt.value)
        else:
            assert isinstance(stmt, Decl)

    def call(self, call: Any) -> None:
        load_object(call.op.meaning)(self.context, *(self.argument(arg) for arg in call.args))

    def argument(self, arg: Expr) -> Any:
        if isinstance(arg, BufferRegion):
            pairs = zip(arg.starts, arg.extents, strict=True)
            box = tuple(slice(self.number(start), self.number(start) + self.number(extent)) for start, extent in pairs)
            return Region(self.storage[id(arg.buffer.data)], box, arg.buffer)
        if isinstance(arg, StringImm):
            return arg.value
        return arg.value if isinstance(arg, FloatImm) else self.number(arg)


def interpret(module: Any, *arrays: np.ndarray) -> Context:
    """Run the kernel of a lowered module on the host function's arguments, in place."""
    host = next(func for func in module if func.attrs["role"] == "host")
    device = next(func for func in module if func.attrs["role"] == "device")
    by_storage = {id(buffer.data): array for buffer, array in zip(host.buffers(), arrays, strict=True)}
    sizes: dict[Var, Expr] = {}
    for buffer, array in zip(host.buffers(), arrays, strict=True):
        sizes.update(
            (extent, const(size))
            for extent, size in zip(buffer.shape, array.shape, strict=True)
            if isinstance(extent, Var)
        )
    return Interpreter(device, by_storage, sizes).context
