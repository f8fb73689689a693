"""`Tx.ptx_legacy`: two instructions with the arguments that older kernels give them; they become those of `Tx.ptx`."""

from __future__ import annotations

import re
from typing import Any

from tirx.intrinsic.core.memory import ptr_byte_offset
from tirx.ir import Buffer, DType, Expr, as_expr
from tirx.script.builder import decl_buffer

from ..ptx.chain import ptx
from .checked import known, no_name, pointer_to, refuse

__all__ = ["ldmatrix", "mma"]


def __dir__() -> list[str]:
    """What completion offers."""
    return [*__all__]


def __getattr__(name: str) -> Any:
    raise no_name("Tx.ptx_legacy", name, __all__)


_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
# names of element types in these calls -> PTX's, and bits of an element
_TYPES = {
    "float16": ("f16", 16), "fp16": ("f16", 16), "bfloat16": ("bf16", 16), "bf16": ("bf16", 16), "tf32": ("tf32", 32),
    "float32": ("f32", 32), "fp32": ("f32", 32), "float64": ("f64", 64), "fp64": ("f64", 64), "int8": ("s8", 8),
    "uint8": ("u8", 8), "int4": ("s4", 4), "uint4": ("u4", 4), "int1": ("b1", 1), "int32": ("s32", 32),
    "float8_e4m3fn": ("e4m3", 8), "e4m3": ("e4m3", 8), "float8_e5m2": ("e5m2", 8), "e5m2": ("e5m2", 8),
}  # fmt: skip
_WARP = 32


def mma(*all_args: Any, operator: str | None = None, dtype: str | None = None) -> None:
    """Multiply and add fragments of a warp in place: C += A B.

    Arguments: shape (`"m16n8k16"`), layouts of A and B (`"row"`, `"col"`), element types of A, B and C, then pointer and offset in
    elements of A, B and C, then whether integers saturate. `operator` is `"xor"` or `"and"` for single bits. A type given first, or
    as `dtype`, is that of C once more.
    """
    args = list(all_args)
    if args and not (isinstance(args[0], str) and _SHAPE.fullmatch(args[0])) and len(args) > 13:
        args.pop(0)
    if len(args) == 14:
        operator = args.pop()
    if len(args) != 13:
        raise refuse(
            f"mma takes 13 arguments, not {len(args)}",
            "shape, a_layout, b_layout, a_dtype, b_dtype, c_dtype, a, a_offset, b, b_offset, c, c_offset, saturate",
        )
    shape, a_layout, b_layout, *types = args[:6]
    (a_name, a_bits), (b_name, b_bits), (c_name, c_bits) = (_type(name) for name in types)
    m, n, k = (int(size) for size in _match(shape))
    a = _registers(args[6], args[7], a_name, a_bits, m * k)
    b = _registers(args[8], args[9], b_name, b_bits, k * n)
    c = _registers(args[10], args[11], c_name, c_bits, m * n)
    saturates = ".satfinite" if known("saturate", args[12]) else ""
    bits = f".{operator}.popc" if operator is not None and a_name == "b1" else ""
    form = f"mma.sync.aligned.{shape}.{a_layout}.{b_layout}{saturates}.{c_name}.{a_name}.{b_name}.{c_name}{bits}"
    ptx[form](*c, *a, *b, *c)


def ldmatrix(*all_args: Any, dtype: str | None = None) -> None:
    """Load 8 by 8 matrices of a warp from shared memory.

    Arguments: whether they are transposed, how many (1, 2, 4), the type (`".b16"`), then pointer and offset in elements of the
    registers and of this thread's row in shared memory. The type of elements is given first, or as `dtype`.
    """
    args = list(all_args)
    if len(args) == 8:
        dtype = str(args.pop(0))
    if len(args) != 7 or dtype is None:
        raise refuse(
            f"ldmatrix takes 7 arguments and dtype, not {len(args)}",
            "trans, num, type, local_ptr, local_offset, smem_ptr, smem_offset, dtype=...",
        )
    transposed, number, kind = known("trans", args[0]), known("num", args[1]), str(args[2]).lstrip(".")
    bits = DType(dtype).bits
    if transposed and bits != 16:
        raise refuse(
            f"ldmatrix transposes elements of 16 bits, not {dtype}", "transpose in shared memory, or load without"
        )
    registers = _view(args[3], args[4], bits, number)
    row = _moved(args[5], args[6], bits)
    form = f"ldmatrix.sync.aligned.m8n8.x{number}{'.trans' if transposed else ''}.shared.{kind}"
    ptx[form](*(registers[i] for i in range(number)), row)


def _match(shape: Any) -> tuple[str, ...]:
    found = _SHAPE.fullmatch(str(shape))
    if found is None:
        raise refuse(f"{shape!r} is no shape", 'such as "m16n8k16"')
    return found.groups()


def _type(name: Any) -> tuple[str, int]:
    found = _TYPES.get(str(name))
    if found is None:
        raise refuse(f"mma does not multiply {name}", f"it takes {', '.join(_TYPES)}")
    return found


def _registers(pointer: Any, offset: Any, name: str, bits: int, elements: int) -> list[Any]:
    """The registers of a fragment: words of 32 bits, or numbers of their own."""
    own = {"f32": "float32", "s32": "int32", "f64": "float64"}.get(name)
    count = elements * bits // _WARP // (DType(own).bits if own else 32)
    view = _view(pointer, offset, bits, count, own or "uint32")
    return [view[i] for i in range(count)]


def _view(pointer: Any, offset: Any, bits: int, count: int, dtype: str = "uint32") -> Buffer:
    """`count` words from an element on."""
    made: Buffer = decl_buffer((count,), dtype, data=_moved(pointer, offset, bits, dtype), scope="local")
    return made


def _moved(pointer: Any, offset: Any, bits: int, dtype: str = "handle") -> Expr:
    """A pointer so many elements further; of elements below a byte, whole bytes of them."""
    base = pointer_to(pointer)
    if isinstance(offset, int):
        if offset * bits % 8:
            raise refuse(f"element {offset} of {bits} bits does not begin a byte", "give an offset of whole bytes")
        size: Any = offset * bits // 8
    else:
        size = as_expr(offset) * (bits // 8) if bits % 8 == 0 else as_expr(offset) * bits // 8
    return ptr_byte_offset(base, size, dtype)
