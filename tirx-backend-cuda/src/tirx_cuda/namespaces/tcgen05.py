"""`Tx.cuda.tcgen05`: descriptors of Blackwell's matrix instructions.

Each function writes the descriptor to `desc`: a pointer (`Tx.address_of(desc)`) or the scalar itself.
"""

# ruff: noqa: N803 - M, N and K are called so everywhere

from __future__ import annotations

from typing import Any

from tirx.intrinsic import call
from tirx.ir import Call, IntImm, as_expr

from ..descriptor import block_scaled_instruction, instruction, matrix_constant
from ..op import ROW
from .checked import at_line, known, no_name, pointer_to

__all__ = [
    "encode_instr_descriptor", "encode_instr_descriptor_block_scaled", "encode_matrix_descriptor", "runtime_instr_desc",
]  # fmt: skip


def __dir__() -> list[str]:
    """What completion offers."""
    return [*__all__]


def __getattr__(name: str) -> Any:
    raise no_name("Tx.cuda.tcgen05", name, __all__)


def encode_matrix_descriptor(desc: Any, addr: Any, ldo: Any, sdo: Any, swizzle: Any) -> Call:
    """The 64-bit descriptor of a matrix in shared memory at `addr`.

    `ldo` and `sdo` are offsets along the leading and the other dimension in units of 16 bytes. `swizzle`: 0 none, 1 to 3 rows of
    32, 64, 128 bytes, 4 rows of 128 bytes in units of 32.
    """
    return matrix("tcgen05", desc, addr, ldo, sdo, swizzle)


def matrix(name: str, desc: Any, addr: Any, ldo: Any, sdo: Any, swizzle: Any) -> Call:
    """The call for `wgmma` or `tcgen05`, what is constant checked."""
    offsets = [as_expr(offset, "int32") for offset in (ldo, sdo)]
    plain = [offset.value if isinstance(offset, IntImm) else 0 for offset in offsets]
    code = known("swizzle", swizzle)
    at_line(matrix_constant, name, *plain, code)
    return call(ROW[f"{name}.encode_matrix_descriptor"], pointer_to(desc), addr, *offsets, code)


def encode_instr_descriptor(
    desc: Any,
    d_dtype: str,
    a_dtype: str,
    b_dtype: str,
    M: int,
    N: int,
    K: int,
    trans_a: bool = False,
    trans_b: bool = False,
    n_cta_groups: int = 1,
    neg_a: bool = False,
    neg_b: bool = False,
    sat_d: bool = False,
    is_sparse: bool = False,
) -> Call:
    """The 32-bit descriptor of a `tcgen05.mma` of kind f16, tf32, f8f6f4 or i8.

    `M` counts the rows of all `n_cta_groups` ctas. Types, shapes and modifiers that no instruction has are refused. float32 is
    multiplied as `"tf32"`.
    """
    fields = {
        "d_dtype": _name(d_dtype), "a_dtype": _name(a_dtype), "b_dtype": _name(b_dtype), "M": known("M", M), "N": known("N", N),
        "K": known("K", K), "trans_a": _flag(trans_a), "trans_b": _flag(trans_b),
        "n_cta_groups": known("n_cta_groups", n_cta_groups), "neg_a": _flag(neg_a), "neg_b": _flag(neg_b),
        "sat_d": _flag(sat_d), "is_sparse": _flag(is_sparse),
    }  # fmt: skip
    at_line(instruction, **fields)
    return call(ROW["tcgen05.encode_instr_descriptor"], pointer_to(desc), **fields)


def encode_instr_descriptor_block_scaled(
    desc: Any,
    d_dtype: str,
    a_dtype: str,
    b_dtype: str,
    sfa_dtype: str,
    sfb_dtype: str,
    sfa_tmem_addr: Any,
    sfb_tmem_addr: Any,
    M: int,
    N: int,
    K: int,
    trans_a: bool = False,
    trans_b: bool = False,
    n_cta_groups: int = 1,
    neg_a: bool = False,
    neg_b: bool = False,
    is_sparse: bool = False,
) -> Call:
    """The 32-bit descriptor of a `tcgen05.mma` of kind mxf8f6f4, mxf4 or mxf4nvf4.

    The two highest bits of the addresses of scales in tensor memory say which byte of a column holds them.
    """
    fields = {
        "d_dtype": _name(d_dtype), "a_dtype": _name(a_dtype), "b_dtype": _name(b_dtype), "sfa_dtype": _name(sfa_dtype),
        "sfb_dtype": _name(sfb_dtype), "M": known("M", M), "N": known("N", N), "K": known("K", K), "trans_a": _flag(trans_a),
        "trans_b": _flag(trans_b), "n_cta_groups": known("n_cta_groups", n_cta_groups), "neg_a": _flag(neg_a),
        "neg_b": _flag(neg_b), "is_sparse": _flag(is_sparse),
    }  # fmt: skip
    at_line(block_scaled_instruction, **fields)
    addresses = [as_expr(address, "uint32") for address in (sfa_tmem_addr, sfb_tmem_addr)]
    return call(ROW["tcgen05.encode_instr_descriptor_block_scaled"], pointer_to(desc), *addresses, **fields)


def runtime_instr_desc(desc: Any, sf_id: Any) -> Call:
    """Put `sf_id`, 0 to 3, in place of both scale factor ids of a block-scaled instruction descriptor."""
    return call(ROW["runtime_instr_desc"], pointer_to(desc), sf_id)


def _flag(value: Any) -> bool:
    return bool(known("a flag", value))


def _name(dtype: Any) -> str:
    """A type by its name; `tf32` is one here."""
    return str(dtype)
