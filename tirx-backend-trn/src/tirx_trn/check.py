"""What the hardware or NKI lacks, refused at the author's line before any source is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tirx.ir import (
    Alloc,
    Break,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Call,
    Continue,
    For,
    IntImm,
    IRModule,
    Node,
    PrimFunc,
    Return,
    Stmt,
    Var,
    While,
    walk,
)  # fmt: skip
from tirx.support.errors import Diagnostic
from tirx.target import Target
from tirx.transform.row import Check

from .bounds import outside
from .capacity import too_much
from .dtypes import NKI_DTYPES
from .generation import missing
from .hardware import PSUM
from .kernel import CHOICE, Access, accesses, device_part, instructions, is_instruction, operands_of
from .kind import generation_of
from .layout import is_on_chip

__all__ = ["CHECKS"]

Found = Iterator[Diagnostic]
_LANGUAGE = "rule: AWS Neuron documentation, NKI Language Guide"


def _kernels(module: IRModule) -> Iterator[tuple[PrimFunc, Stmt]]:
    for func in module:
        part = device_part(func)
        if part is not None:
            yield func, part


# ---- parameters ---------------------------------------------------------------------------------------------------


def parameters(module: IRModule, target: Target) -> Found:
    """Parameters are buffers; what a kernel writes it returns, so a parameter is read or written, not both."""
    for func, part in _kernels(module):
        used = accesses(part)
        for param in func.params:
            yield from _parameter(func, param, used)
        if all(used.get(id(buffer.data), Access()).written is None for buffer in func.buffers()):
            yield Diagnostic(
                f"kernel `{func.name}` writes none of its parameters",
                func.span,
                "store a result: Tx.nki.store(out, tile)",
            )
        yield from _num_inputs(func, used)


def _parameter(func: PrimFunc, param: Buffer | Var, used: dict[int, Access]) -> Found:
    if not isinstance(param, Buffer):
        yield Diagnostic(
            f"parameter `{param.name}` of `{func.name}` is a scalar; an NKI kernel takes tensors only",
            param.span or func.span,
            "pass it in a tensor of one element per partition, or specialise the kernel with Tx.jit and Tx.constexpr",
            (_LANGUAGE,),
        )
        return
    if param.dtype.name not in NKI_DTYPES:
        yield Diagnostic(
            f"parameter `{param.name}` is of type {param.dtype}, which the engines do not have",
            param.span or func.span,
            f"use one of {', '.join(NKI_DTYPES)}",
            ("rule: AWS Neuron documentation, nki.language, supported data types",),
        )
    access = used.get(id(param.data), Access())
    if access.read is not None and access.written is not None:
        yield Diagnostic(
            f"parameter `{param.name}` is both read and written; an NKI kernel returns new tensors and leaves its inputs alone",
            access.written.span,
            "give the result a parameter of its own",
            (_LANGUAGE,),
        )


def _num_inputs(func: PrimFunc, used: dict[int, Access]) -> Found:
    given = func.attrs.get("num_inputs")
    if given is None:
        return
    if not isinstance(given, int) or not 0 <= given <= len(func.params):
        yield Diagnostic(f"num_inputs is {given!r}; `{func.name}` has {len(func.params)} parameters", func.span)
        return
    for position, buffer in enumerate(func.params):
        access = used.get(id(buffer.data), Access()) if isinstance(buffer, Buffer) else Access()
        if position < given and access.written is not None:
            yield Diagnostic(
                f"`{buffer.name}` is written, but num_inputs={given} makes it an input",
                access.written.span,
                "inputs come first; count only parameters that are read",
            )
        if position >= given and access.written is None:
            yield Diagnostic(
                f"`{buffer.name}` is never written, but num_inputs={given} makes it an output",
                access.read.span if access.read is not None else func.span,
                f"raise num_inputs to {position + 1}, or store to it",
            )


# ---- statements ---------------------------------------------------------------------------------------------------


def statements(module: IRModule, target: Target) -> Found:
    """Constructs that a NeuronCore's instruction streams do not have."""
    for _, part in _kernels(module):
        for node in walk(part):
            rule = _RULES.get(type(node))
            if rule is not None:
                yield from (Diagnostic(found.message, found.span, found.hint, (_LANGUAGE,)) for found in rule(node))


def _element_store(node: BufferStore) -> Found:
    yield Diagnostic(
        f"an element of `{node.buffer.name}` is stored; engines work on tiles and have no single elements",
        node.span,
        "use an instruction such as Tx.nki.tensor_copy(res, data) or Tx.nki.memset(res, value)",
    )


def _element_load(node: BufferLoad) -> Found:
    yield Diagnostic(
        f"an element of `{node.buffer.name}` is read as a value; a kernel's control flow cannot depend on data",
        node.span,
        "work on tiles: Tx.nki.load(tile, data), then instructions on it",
    )


def _loop(node: For) -> Found:
    if node.kind in ("vectorized", "thread_binding"):
        yield Diagnostic(
            f"a {node.kind} loop has no meaning here", node.span, "instructions cover whole tiles; use range()"
        )


def _call(node: Call) -> Found:
    if not is_instruction(node) and node.op.name != CHOICE:
        yield Diagnostic(
            f"`{node.op.name}` works on single values, which a NeuronCore's kernel does not have",
            node.span,
            "use the instructions of Tx.nki on tiles",
        )


def _no_jump(node: Node) -> Found:
    yield Diagnostic(
        f"`{type(node).__name__.lower()}` cannot be expressed: loops are unrolled as a whole",
        node.span,
        "give the loop its exact range",
    )


def _while(node: While) -> Found:
    yield Diagnostic(
        "a `while` loop needs a condition on data, which control flow cannot see", node.span, "use range()"
    )


def _alloc(node: Alloc) -> Found:
    if not is_on_chip(node.buffer):
        what = "scalar" if node.buffer.is_scalar else "buffer"
        yield Diagnostic(
            f"the {what} `{node.buffer.name}` is in {node.buffer.scope_name} memory, which kernels cannot allocate",
            node.span,
            'allocate tiles with scope="trn.sbuf" or "trn.psum"; numbers are Python values or loop variables',
        )


_RULES: dict[type, Callable[..., Found]] = {
    Alloc: _alloc, Break: _no_jump, BufferLoad: _element_load, BufferStore: _element_store, Call: _call, Continue: _no_jump,
    For: _loop, Return: _no_jump, While: _while,
}  # fmt: skip


# ---- the generation -----------------------------------------------------------------------------------------------


def generation(module: IRModule, target: Target) -> Found:
    """Sizes, instructions and operands that differ between generations."""
    for _, part in _kernels(module):
        yield from missing(part, generation_of(target))


def accumulation(module: IRModule, target: Target) -> Found:
    """Products are added to products only: onto what was set or copied, v2 and v3 leave the sum undefined."""
    if generation_of(target).name == "v4":
        return
    for _, part in _kernels(module):
        others = {id(region.buffer.data): call for call, region in _written(part) if call.op.name != "nki.matmul"}
        for call, region in _written(part):
            adds = call.op.name == "nki.matmul" and not (isinstance(call.args[3], IntImm) and not call.args[3].value)
            if adds and id(region.buffer.data) in others:
                yield Diagnostic(
                    f"nki.matmul accumulates onto `{region.buffer.name}`, which {others[id(region.buffer.data)].op.name} writes too",
                    call.span,
                    "the first product replaces what is there: let only products write the tile, or pass accum=False (accumulate=False)",
                    ("rule: AWS Neuron documentation, nki.isa.nc_matmul",),
                )


def _written(part: Stmt) -> Iterator[tuple[Call, BufferRegion]]:
    """The tiles of PSUM that instructions write."""
    for call in instructions(part):
        for operand, value in operands_of(call):
            if "w" in operand.rw and isinstance(value, BufferRegion) and value.buffer.scope_name == PSUM:
                yield call, value


def capacity(module: IRModule, target: Target) -> Found:
    """Tiles that are alive together fit SBUF and PSUM."""
    for _, part in _kernels(module):
        yield from too_much(part, target)


def bounds(module: IRModule, target: Target) -> Found:
    """Slices stay inside their tensors."""
    for _, part in _kernels(module):
        yield from outside(part)


CHECKS = (
    Check("parameters", "trn", "bound", parameters),
    Check("statements", "trn", "bound", statements),
    Check("bounds", "trn", "bound", bounds),
    Check("generation", "trn", "bound", generation),
    Check("accumulation", "trn", "bound", accumulation),
    Check("capacity", "trn", "bound", capacity),
)
