"""Rows of what matrix instructions need: descriptors, fragments, registers that stay in place."""

from __future__ import annotations

from collections.abc import Iterator

from tirx.intrinsic import Operand

from . import emit_matrix
from .capabilities import needs
from .entry import Entry, pointer, value

__all__ = ["entries"]

_WORD = ("integer",)
_SHAPE = {"M": 0, "N": 0, "K": 0, "trans_a": False, "trans_b": False, "n_cta_groups": 1, "neg_a": False, "neg_b": False}
_SCALES = ("sfa_dtype", "sfb_dtype", "sfa_tmem_addr", "sfb_tmem_addr")
_TYPES = {"d_dtype": "", "a_dtype": "", "b_dtype": ""}


def _constant(name: str) -> Operand:
    return Operand(name, "constant", dtypes=_WORD)


def _descriptors() -> Iterator[Entry]:
    for name, arch in (("wgmma", "wgmma"), ("tcgen05", "tcgen05")):
        yield Entry(
            f"{name}.encode_matrix_descriptor",
            [pointer("desc", "w"), pointer("addr"), value("ldo", *_WORD), value("sdo", *_WORD), _constant("swizzle")],
            "void", "write", emit_matrix.matrix_descriptor(name),
            "descriptor of a matrix in shared memory: its address, offsets in units of 16 bytes, and how rows are swizzled",
            meaning="matrix:encode_wgmma" if name == "wgmma" else "matrix:encode_tcgen05", requires=needs(arch),
            source="Matrix Descriptor Format" if name == "wgmma" else "Shared memory descriptor",
        )  # fmt: skip
    yield Entry(
        "tcgen05.encode_instr_descriptor", [pointer("desc", "w")], "void", "write", emit_matrix.instruction_descriptor,
        "descriptor of a tcgen05.mma of kind f16, tf32, f8f6f4 or i8", meaning="matrix:encode_instruction",
        attrs={**_TYPES, **_SHAPE, "sat_d": False, "is_sparse": False}, requires=needs("tcgen05"),
        form=("desc", *_TYPES, *_SHAPE, "sat_d", "is_sparse"),
        source="Instruction descriptor",
    )  # fmt: skip
    yield Entry(
        "tcgen05.encode_instr_descriptor_block_scaled",
        [pointer("desc", "w"), value("sfa_tmem_addr", "uint32", "integer"), value("sfb_tmem_addr", "uint32", "integer")],
        "void", "write", emit_matrix.block_scaled_descriptor,
        "descriptor of a tcgen05.mma of kind mxf8f6f4, mxf4 or mxf4nvf4", meaning="matrix:encode_block_scaled",
        attrs={**_TYPES, "sfa_dtype": "", "sfb_dtype": "", **_SHAPE, "is_sparse": False}, requires=needs("tcgen05"),
        form=("desc", *_TYPES, *_SCALES, *_SHAPE, "is_sparse"),
        source="Instruction descriptor",
    )  # fmt: skip
    yield Entry(
        "runtime_instr_desc", [pointer("desc", "rw"), value("sf_id", *_WORD)], "void", "write",
        emit_matrix.runtime_descriptor, "put `sf_id` in place of both scale factor ids of an instruction descriptor",
        meaning="matrix:runtime_instruction", requires=needs("tcgen05"), source="Instruction descriptor",
    )  # fmt: skip
    yield Entry(
        "wgmma.noop_barrier", [Operand("reg", "place", rw="rw", dtypes=("float32", "int32", "uint32"))], "void", "opaque",
        "keep_register({0})", "the compiler keeps a register where it is across this point", meaning="matrix:noop_barrier",
        helpers=("keep_register",),
    )  # fmt: skip


def _fragments() -> Iterator[Entry]:
    yield Entry(
        "mma_fill", [_constant("local_size"), pointer("local_ptr", "w"), value("offset", *_WORD)], "void", "write",
        emit_matrix.mma_fill, "zeros in the registers of an accumulator", meaning="matrix:mma_fill", attrs={"dtype": "float32"},
        helpers=("mma_fill",), form=("dtype", "local_size", "local_ptr", "offset"),
    )  # fmt: skip
    yield Entry(
        "mma_store",
        [
            _constant("m"), _constant("n"), pointer("dst_ptr", "w"), pointer("src_ptr"), value("src_offset", *_WORD),
            value("dst_stride", *_WORD),
        ],
        "void", "write", emit_matrix.mma_store, "the 16 by 16 accumulator of a warp to memory, row after row",
        meaning="matrix:mma_store", attrs={"dtype": "float32"}, helpers=("mma_store",),
        form=("dtype", "m", "n", "dst_ptr", "src_ptr", "src_offset", "dst_stride"),
    )  # fmt: skip


def entries() -> Iterator[Entry]:
    """All rows of this file."""
    yield from _descriptors()
    yield from _fragments()
