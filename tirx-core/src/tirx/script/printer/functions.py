"""Functions and modules as text."""

from __future__ import annotations

from ...ir import (
    INT32,
    VOID,
    Alloc,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Decl,
    Expr,
    IRModule,
    PointerType,
    PrimFunc,
    Stmt,
    Var,
    mask_of,
    variables,
    walk,
)  # fmt: skip
from . import buffers
from .literals import dtype_text, plain_data, record_fields, record_name
from .names import identifier
from .statements import INDENT, StatementPrinter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["function_lines", "module_lines"]

WIDTH = 120
_HOLDERS = mask_of(BufferLoad, BufferStore, BufferRegion)


def function_lines(func: PrimFunc) -> list[str]:
    """The decorated definition."""
    printer = StatementPrinter()
    signature = _Signature(printer, func)
    parameters = signature.parameters()
    body = signature.opening() + _attributes(printer, func)
    body += _undefined(printer, func)
    body += printer.lines(func.body)
    result = "" if func.result is VOID else f" -> {dtype_text(func.result)}"
    head = [f"@T.prim_func{_options(func)}", *_definition(identifier(func.name, "f"), parameters, result)]
    return head + [f"{INDENT}{line}" for line in body or ["pass"]]


def _undefined(printer: StatementPrinter, func: PrimFunc) -> list[str]:
    """Buffers that no statement defines (between two passes there are some): they are made before everything else."""
    defined = {id(node.buffer) for node in walk(func.body, Alloc.BIT | Decl.BIT) if isinstance(node, Alloc | Decl)}
    for node in walk(func.body, _HOLDERS):
        buffer = getattr(node, "buffer", None)
        if isinstance(buffer, Buffer) and id(buffer) not in defined and printer.names.find(buffer) is None:
            sizes = (*buffer.shape, *buffer.strides, buffer.elem_offset, *buffer.allocated_addr)
            used = [var for size in sizes if isinstance(size, Expr) for var in variables(size)]
            if all(printer.names.find(var) is not None for var in used):
                printer.name(buffer)
    lines, printer.declared = printer.declared, []
    return lines


def _definition(name: str, parameters: list[str], result: str) -> list[str]:
    line = f"def {name}({', '.join(parameters)}){result}:"
    if len(line) <= WIDTH:
        return [line]
    return [f"def {name}(", *(f"{INDENT}{item}," for item in parameters), f"){result}:"]


def _options(func: PrimFunc) -> str:
    options = []
    if "global_symbol" not in func.attrs:
        options.append("private=True")
    if func.attrs.get("tirx.persistent") is True:
        options.append("persistent=True")
    return f"({', '.join(options)})" if options else ""


def _attributes(printer: StatementPrinter, func: PrimFunc) -> list[str]:
    attrs = dict(func.attrs)
    if attrs.get("tirx.persistent") is True:
        del attrs["tirx.persistent"]
    if attrs.get("global_symbol") == identifier(func.name, "f"):
        del attrs["global_symbol"]
    lines = [] if func.name == identifier(func.name, "f") else [f"T.func_name({plain_data(func.name)})"]
    if attrs.get("global_symbol") == func.name:
        del attrs["global_symbol"]
    return [*lines, *wrapped("T.func_attr(", attrs)] if attrs else lines


def wrapped(call: str, attrs: dict[str, Any]) -> list[str]:
    """A call with one dictionary, an entry a line where one line is too long."""
    line = f"{call}{plain_data(attrs)})"
    if len(line) <= WIDTH:
        return [line]
    entries = [entry for key, value in attrs.items() for entry in _entry(f"{plain_data(key)}: ", value)]
    return [f"{call}{{", *(f"{INDENT}{entry}" for entry in entries), "})"]


def _entry(head: str, value: Any) -> list[str]:
    """An entry of a dictionary; the fields of a record a line each where one line is too long."""
    line = f"{head}{plain_data(value)},"
    fields = record_fields(value)
    if len(line) <= WIDTH or fields is None:
        return [line]
    return [
        f"{head}{record_name(value)}(",
        *(f"{INDENT}{key}={plain_data(item)}," for key, item in fields.items()),
        "),",
    ]


class _Signature:
    """Parameters. A buffer is written as its annotation where that says everything, else as a handle and `match_buffer`."""

    def __init__(self, printer: StatementPrinter, func: PrimFunc) -> None:
        self.printer = printer
        self.func = func
        self.matched: list[tuple[str, Buffer]] = []
        self.symbols = {id(var): var for var in func.symbols()}
        self.seen: dict[int, Var] = {}  # variables that a quoted dimension may name by now
        self.storage = {(id(buffer.data), buffer.name) for buffer in _buffers(func.body)}

    def parameters(self) -> list[str]:
        """`name: annotation` of each."""
        taken = set(self.func.names)
        items = list(zip(self.func.params, self.func.names, strict=True))
        return [self._one(param, name, taken) for param, name in items]

    def _one(self, param: Any, name: str, taken: set[str]) -> str:
        if isinstance(param, Var):
            own = self.printer.names.define(param, _pointer_name(param, name, (id(param), name) in self.storage, taken))
            self.seen[id(param)] = param
            return f"{own}: {dtype_text(param.dtype)}"
        if name != param.name or not self._is_simple(param):
            own = self.printer.names.define(Var(name, PointerType()), name if name != param.name else f"{name}_handle")
            self.matched.append((own, param))
            return f"{own}: T.handle"
        shape = buffers.tuple_text([self._dim(item) for item in param.shape])
        own = self.printer.define_buffer(param)
        return f"{own}: {buffers.parameter_text(self.printer, param, shape)}"

    def _is_simple(self, buffer: Buffer) -> bool:
        """Whether the annotation needs no names but quoted ones, and the storage is its own."""
        others = (*buffer.strides, buffer.elem_offset, *buffer.allocated_addr)
        if (
            any(isinstance(item, Expr) for item in others)
            or buffer.is_scalar
            or id(buffer.data) in self.printer.pointers
        ):
            return False
        return all(isinstance(item, int) or self._is_quotable(item) for item in buffer.shape)

    def _is_quotable(self, item: Expr) -> bool:
        if not isinstance(item, Var):
            return False
        return id(item) in self.seen or (id(item) in self.symbols and item.dtype is INT32)

    def _dim(self, item: int | Expr) -> str:
        if isinstance(item, int):
            return str(item)
        assert isinstance(item, Var)
        known = self.printer.names.find(item) or self.printer.names.define(item)
        self.seen[id(item)] = item
        return f'"{known}"'

    def opening(self) -> list[str]:
        """The lines that turn handles into buffers."""
        lines = []
        for handle, buffer in self.matched:
            text = buffers.match_text(self.printer, buffer, handle)
            lines += [*self.printer.declared, f"{self.printer.define_buffer(buffer)} = {text}"]
            self.printer.declared.clear()
        return lines


def _pointer_name(param: Var, name: str, is_storage: bool, taken: set[str]) -> str:
    """Storage that a buffer of the body is named after is called `name_ptr`, so that the buffer keeps its name."""
    wanted = f"{name}_ptr"
    return wanted if is_storage and param.dtype.is_handle and wanted not in taken else name


def _buffers(body: Stmt) -> Iterator[Buffer]:
    return (node.buffer for node in walk(body, Decl.BIT) if isinstance(node, Decl))


def module_lines(module: IRModule) -> list[str]:
    """A class that holds the functions."""
    lines = ["@I.ir_module", "class Module:"]
    if module.attrs:
        lines += [f"{INDENT}I.module_attrs({plain_data(module.attrs)})", ""]
    for number, func in enumerate(module):
        lines += [""] if number else []
        lines += [f"{INDENT}{line}" if line else "" for line in function_lines(func)]
    return lines if len(lines) > 2 else [*lines, f"{INDENT}pass"]
