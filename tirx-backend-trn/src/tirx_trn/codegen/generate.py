"""NKI source: one `@nki.jit` function per kernel.

Inputs are its parameters; what it writes is created in shared device memory and returned, in the order of the author's
parameters. Loops are plain `range`, which NKI unrolls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tirx.arith import simplify
from tirx.codegen.row import Source
from tirx.ir import (
    Alloc,
    Assert,
    Attr,
    Bind,
    Buffer,
    Call,
    Decl,
    Evaluate,
    Expr,
    For,
    If,
    IRModule,
    PrimFunc,
    Seq,
    Stmt,
    Var,
    variables,
    walk,
)
from tirx.support.errors import VerifyError
from tirx.target import Target

from ..dtypes import NKI_DTYPES
from ..hardware import BANK_BYTES, PSUM
from ..kernel import Access, accesses, last_uses
from ..kind import generation_of
from ..layout import is_on_chip
from ..nki_api import RELEASES
from .calls import INDENT, Instructions
from .exprs import Exprs
from .names import Names
from .views import Views, tensor_shape

__all__ = ["generate"]


def generate(module: IRModule, target: Target, config: dict[str, Any] | None = None) -> Source:
    """The source of all kernels of `module`."""
    kernels = [func for func in module if func.attrs.get("role") == "device"]
    host = _Host(func for func in module if func.attrs.get("role") != "device")
    names = Names()
    release = target.attrs["nki"]
    writers = [_Kernel(func, names.define(Var(func.name, func.result)), host, release) for func in kernels]
    bodies = [writer.text() for writer in writers]
    oldest = max([RELEASES[0], *(writer.instructions.oldest for writer in writers)])
    head = _head(target, oldest, any("math.inf" in body for body in bodies))
    entries = [body.partition("def ")[2].partition("(")[0] for body in bodies]
    return Source("\n\n\n".join([head, *bodies]) + "\n", "nki", ".py", entries)


def _head(target: Target, oldest: str, needs_math: bool) -> str:
    generation, release = generation_of(target), target.attrs["nki"]
    releases = f"{oldest} to {release}" if oldest != release else release
    core = f"NeuronCore-{generation.name} ({generation.platform})"
    lines = [f"# NKI source for {core}, written by TIRx for NKI {releases}."]
    lines += ["import math", ""] if needs_math else []
    return "\n".join([*lines, "import nki", "import nki.isa as nisa", "import nki.language as nl"])


class _Host:
    """What the host functions know of the kernels' parameters: tensors by storage, and symbolic dimensions."""

    def __init__(self, functions: Iterable[PrimFunc]) -> None:
        self.tensors: dict[int, Buffer] = {}
        self.symbols: dict[int, Var] = {}
        for func in functions:
            self.tensors.update((id(buffer.data), buffer) for buffer in func.buffers())
            self.symbols.update((id(var), var) for var in func.symbols())


class _Kernel:
    """Writes one device function."""

    def __init__(self, func: PrimFunc, name: str, host: _Host, release: str) -> None:
        self.func = func
        self.name = name
        self.host = host
        self.names = Names()
        self.exprs = Exprs(self.names)
        self.views = Views(self.exprs)
        self.instructions = Instructions(self.exprs, self.views, release)
        self.used: dict[int, Access] = {}  # what instructions do with each storage
        self.last = last_uses(func.body)
        self.allocated = {node.buffer.name for node in walk(func.body) if isinstance(node, Alloc)}
        self.written = 0  # instructions so far
        self.tiles: dict[int, Buffer] = {}  # by the `id` of their storage
        self.inputs: list[Buffer] = []
        self.outputs: list[Buffer] = []

    def text(self) -> str:
        """The function's text."""
        used = self.used = accesses(self.func.body)
        for param in self.func.params:
            tensor = self.host.tensors.get(id(param))
            if tensor is not None:
                access = used.get(id(param))
                self.names.define(tensor)
                (self.outputs if access is not None and access.written is not None else self.inputs).append(tensor)
        lines = [
            *self._order(),
            "@nki.jit",
            f"def {self.name}({', '.join(self.names.of(item) for item in self.inputs)}):",
        ]
        sizes = self._sizes()
        body = [*self._results(), *self._block(_statements(self.func.body))]
        body = [line for var, line in sizes if self.names.is_used(var)] + body
        lines += [INDENT + line for line in body]
        lines.append(f"{INDENT}return {', '.join(self.names.of(item) for item in self.outputs)}")
        return "\n".join(lines)

    def _order(self) -> list[str]:
        """A comment where inputs and results are mixed in the author's list: whoever launches the kernel must know it."""
        listed = [self.host.tensors[id(param)] for param in self.func.params if id(param) in self.host.tensors]
        if listed == [*self.inputs, *self.outputs]:
            return []
        return [f"# The author's parameters: {', '.join(self.names.of(item) for item in listed)}"]

    def _sizes(self) -> list[tuple[Var, str]]:
        """Symbolic dimensions, read from the inputs' shapes."""
        wanted = {
            id(param): param for param in self.func.params if isinstance(param, Var) and not param.dtype.is_handle
        }
        for buffer in self.outputs:
            for extent in buffer.shape:
                if isinstance(extent, Expr):
                    wanted.update((id(var), var) for var in variables(extent))
        return [(var, f"{self.names.define(var)} = {self._size_source(var)}") for var in wanted.values()]

    def _size_source(self, var: Var) -> str:
        for buffer in self.inputs:
            for dim, extent in enumerate(buffer.shape):
                if extent is var:
                    return f"{self.names.of(buffer)}.shape[{dim}]"
        raise VerifyError(
            f"`{var.name}` is a value from the host; an NKI kernel takes tensors only",
            span=var.span or self.func.span,
            hint="sizes can be read from an input that has them as a whole dimension; other values must be constants",
        )

    def _results(self) -> Iterator[str]:
        for buffer in self.outputs:
            yield f"{self.names.of(buffer)} = nl.ndarray({self._shape(buffer.shape)}, dtype={_dtype(buffer)}, buffer=nl.shared_hbm)"

    def _shape(self, shape: Iterable[int | Expr]) -> str:
        texts = [self.exprs.text(extent) for extent in shape]
        return f"({', '.join(texts)}{',' if len(texts) == 1 else ''})"

    # ---- statements -------------------------------------------------------------------------------------------------

    def _block(self, stmts: Iterable[Stmt]) -> list[str]:
        """Lines of a block; `pass` for an empty one."""
        self.names.enter()
        lines = [line for stmt in stmts for line in self._stmt(stmt)]
        self.names.leave()
        return lines or ["pass"]

    def _stmt(self, stmt: Stmt) -> list[str]:
        if isinstance(stmt, Seq):
            return [line for item in stmt.stmts for line in self._stmt(item)]
        if isinstance(stmt, Evaluate) and isinstance(stmt.value, Call):
            self.written += 1
            return self.instructions.write(stmt.value)
        if isinstance(stmt, Alloc):
            return [self._alloc(stmt.buffer)] if id(stmt.buffer.data) in self.used else []
        if isinstance(stmt, For):
            return self._loop(stmt)
        if isinstance(stmt, If):
            return self._branch(stmt)
        if isinstance(stmt, Bind):
            value = self.exprs.text(stmt.value)
            return [f"{self.names.define(stmt.var)} = {value}"]
        if isinstance(stmt, Decl):
            return self._decl(stmt)
        if isinstance(stmt, Attr):
            return self._stmt(stmt.body)
        what = "an assertion" if isinstance(stmt, Assert) else f"`{type(stmt).__name__}`"
        raise VerifyError(
            f"{what} has no form in NKI", span=stmt.span, hint="check arguments on the host, before device_entry()"
        )

    def _alloc(self, buffer: Buffer) -> str:
        memory = "nl.psum" if buffer.scope_name == PSUM else "nl.sbuf"
        address = self._address(buffer)
        self.tiles[id(buffer.data)] = buffer
        name = self.names.define(buffer, self._stem(buffer), self._is_done)
        return f"{name} = nl.ndarray({self._shape(tensor_shape(buffer))}, dtype={_dtype(buffer)}, buffer={memory}{address})"

    def _stem(self, buffer: Buffer) -> str:
        """The name without the number that tells it from another tile of the kernel."""
        stem, _, number = buffer.name.rpartition("_")
        return stem if number.isdigit() and stem in self.allocated else buffer.name

    def _is_done(self, item: Var | Buffer) -> bool:
        """Whether a tile has had its last instruction: its name is free for the next."""
        return isinstance(item, Buffer) and is_on_chip(item) and self.last.get(id(item.data), 0) <= self.written

    def _address(self, buffer: Buffer) -> str:
        """(partition, byte) as NKI counts them; a PSUM address is given as bank and byte."""
        if not buffer.allocated_addr:
            return ""
        *bank, byte = buffer.allocated_addr
        offset = self.exprs.text(bank[0] * BANK_BYTES + byte if bank else byte)
        return f", address=(0, {offset})"

    def _loop(self, stmt: For) -> list[str]:
        start, stop, step = (self.exprs.text(x) for x in (stmt.start, simplify(stmt.start + stmt.extent), stmt.step))
        self.names.enter()
        var = self.names.define(stmt.var)
        lines = [INDENT + line for line in self._block([stmt.body])]
        self.names.leave()
        bounds = f"{start}, {stop}, {step}" if step != "1" else stop if start == "0" else f"{start}, {stop}"
        return [f"for {var} in range({bounds}):", *lines]

    def _branch(self, stmt: If) -> list[str]:
        lines = [f"if {self.exprs.text(stmt.condition)}:", *(INDENT + line for line in self._block([stmt.then]))]
        if stmt.orelse is not None:
            lines += ["else:", *(INDENT + line for line in self._block([stmt.orelse]))]
        return lines

    def _decl(self, stmt: Decl) -> list[str]:
        """A parameter under its own name, or seen with another shape."""
        buffer = stmt.buffer
        if is_on_chip(buffer):
            made = f"{self.names.of(self.tiles[id(buffer.data)])}.reshape({self._shape(tensor_shape(buffer))})"
            return [f"{self.names.define(buffer, done=self._is_done)} = {made}"]
        base = self.host.tensors.get(id(buffer.data))
        if base is None or base.dtype is not buffer.dtype or buffer.elem_offset != 0:
            raise VerifyError(
                f"`{buffer.name}` sees its storage with another type or from another start",
                span=stmt.span,
                hint="slice the parameter itself; only its shape can be changed",
            )
        if len(base.shape) == len(buffer.shape) and all(
            a is b or a == b for a, b in zip(base.shape, buffer.shape, strict=True)
        ):
            self.names.alias(buffer, self.names.of(base))
            return []
        return [f"{self.names.define(buffer)} = {self.names.of(base)}.reshape({self._shape(buffer.shape)})"]


def _statements(stmt: Stmt) -> list[Stmt]:
    return list(stmt.stmts) if isinstance(stmt, Seq) else [stmt]


def _dtype(buffer: Buffer) -> str:
    return NKI_DTYPES[buffer.dtype.name]
