"""Buffers as text: the constructor that makes them, with what differs from its defaults."""

from __future__ import annotations

from ...ir import Alloc, Buffer, Decl, Expr, PointerType
from .literals import plain_data, quoted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .statements import StatementPrinter

__all__ = ["alloc_text", "buffer_arguments", "decl_text", "is_plain_scalar", "object_text"]


def is_plain_scalar(buffer: Buffer) -> bool:
    """Whether only its type and scope tell the scalar from another."""
    plain = buffer.has_default_layout and not (
        buffer.strides or buffer.align or buffer.offset_factor or buffer.allocated_addr
    )
    return buffer.is_scalar and plain and _zero(buffer.elem_offset) and buffer.shape == (1,)


def alloc_text(printer: StatementPrinter, stmt: Alloc) -> str:
    """The call that allocates the buffer."""
    buffer = stmt.buffer
    if buffer.is_scalar:
        return _scalar_text(printer, stmt)
    function = {"shared": "alloc_shared", "local": "alloc_local"}.get(buffer.scope_name, "alloc_buffer")
    scope = [] if function != "alloc_buffer" else _scope(buffer, "global")
    parts = [*buffer_arguments(printer, buffer), *scope, *_options(printer, buffer)]
    if stmt.annotations:
        parts.append(f"annotations={plain_data(dict(stmt.annotations))}")
    return f"T.{function}({', '.join(parts)})"


def _scalar_text(printer: StatementPrinter, stmt: Alloc) -> str:
    buffer = stmt.buffer
    function = {"shared": "shared_scalar", "local": "local_scalar"}.get(buffer.scope_name, "alloc_scalar")
    parts = [quoted(buffer.dtype.name)]
    if function == "alloc_scalar":
        parts.append(quoted(buffer.scope_name))
    parts += _options(printer, buffer)
    if stmt.annotations:
        parts.append(f"annotations={plain_data(dict(stmt.annotations))}")
    return f"T.{function}({', '.join(parts)})"


def decl_text(printer: StatementPrinter, stmt: Decl) -> str:
    """The call that declares another view of storage."""
    buffer = stmt.buffer
    data = printer.text(stmt.source) if stmt.source is not None else printer.pointer(buffer.data)
    pointer = stmt.source.dtype if stmt.source is not None else buffer.data.dtype
    scope = _scope(buffer, pointer.scope if isinstance(pointer, PointerType) else "global")
    if buffer.is_scalar:
        return f"T.decl_scalar({', '.join([quoted(buffer.dtype.name), data, quoted(buffer.scope_name), *_options(printer, buffer)])})"
    parts = [*buffer_arguments(printer, buffer), f"data={data}", *scope, *_options(printer, buffer)]
    return f"T.decl_buffer({', '.join(parts)})"


def object_text(printer: StatementPrinter, buffer: Buffer) -> str:
    """A buffer object that no statement makes."""
    known = printer.pointers.get(id(buffer.data))
    data = [f"data={printer.pointer(buffer.data)}"] if known is not None else []
    parts = [*buffer_arguments(printer, buffer), *data, *_scope(buffer, "global"), *_options(printer, buffer)]
    return f"T.buffer({', '.join(parts)})"


def buffer_arguments(printer: StatementPrinter, buffer: Buffer, shape: str | None = None) -> list[str]:
    """Shape and, unless it is float32, element type."""
    parts = [shape if shape is not None else tuple_text([printer.text(item) for item in buffer.shape])]
    return parts if buffer.dtype.name == "float32" else [*parts, quoted(buffer.dtype.name)]


def tuple_text(items: Sequence[str]) -> str:
    """A tuple."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _scope(buffer: Buffer, default: str) -> list[str]:
    return [] if buffer.scope_name == default else [f"scope={quoted(buffer.scope_name)}"]


def _options(printer: StatementPrinter, buffer: Buffer) -> list[str]:
    """Keywords for everything that is not default."""
    parts = []
    if buffer.strides:
        parts.append(f"strides={tuple_text([printer.text(item) for item in buffer.strides])}")
    if not _zero(buffer.elem_offset):
        parts.append(f"elem_offset={printer.text(buffer.elem_offset)}")
    if buffer.align:
        parts.append(f"align={buffer.align}")
    if buffer.offset_factor:
        parts.append(f"offset_factor={buffer.offset_factor}")
    if not buffer.has_default_layout:
        parts.append(f"layout={layout_text(printer, buffer)}")
    if buffer.allocated_addr:
        parts.append(f"allocated_addr={tuple_text([printer.text(item) for item in buffer.allocated_addr])}")
    return parts


def layout_text(printer: StatementPrinter, buffer: Buffer) -> str:
    """A layout as its own class writes it, with the language's names for its parts and the printer's for variables."""
    layout = buffer.layout
    return "None" if layout is None else layout.text(printer.text, "T.")


def _zero(value: int | Expr) -> bool:
    return isinstance(value, int) and value == 0


def parameter_text(printer: StatementPrinter, buffer: Buffer, shape: str) -> str:
    """A buffer parameter's annotation."""
    parts = [*buffer_arguments(printer, buffer, shape), *_scope(buffer, "global"), *_options(printer, buffer)]
    return f"T.Buffer({', '.join(parts)})"


def match_text(printer: StatementPrinter, buffer: Buffer, handle: str) -> str:
    """The call that makes a buffer of a handle parameter."""
    parts = [handle, *buffer_arguments(printer, buffer), *_scope(buffer, "global"), *_options(printer, buffer)]
    return f"T.match_buffer({', '.join(parts)})"
