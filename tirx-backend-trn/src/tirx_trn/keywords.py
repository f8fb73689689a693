"""What to write in place of keywords and names that NKI has or had, and `Tx.nki` has not."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from tirx.support.suggest import did_you_mean

from .opcodes import ACTIVATIONS, OPCODES, UNARY, canonical
from .operands import refuse
from .table import TABLE

__all__ = ["instead_of", "knows_its_keywords"]

_SHAPE = "slice the tiles to what takes part; instructions have no masks since NKI 0.2"
_QUEUE = "which DMA queue runs a copy is left to NKI"
_KEYWORDS = {
    "mask": _SHAPE,
    "dtype": "results are converted to the type of the tile that they go to",
    "is_transpose": "transpose with Tx.nki.nc_transpose(dst, data)",
    "psum_accumulate_flag": "pass accumulate=False for the first product",
    "name": "instructions have no names here",
    "dst_rmw_op": "add in SBUF: Tx.nki.tensor_tensor(dst, data1, data2, op)",
    **dict.fromkeys(("priority", "dge_mode", "oob_mode", "unique_indices"), _QUEUE),
}  # fmt: skip

# Instructions of NKI that are not offered, and what does their work.
_ABSENT = {
    "bn_stats": "sums of the row and of its squares: Tx.nki.tensor_reduce, Tx.nki.activation_reduce with square",
    "bn_aggr": "sums of the row and of its squares: Tx.nki.tensor_reduce, Tx.nki.activation_reduce with square",
    "tensor_partition_reduce": "multiply with a column of ones: Tx.nki.matmul",
    "nc_stream_shuffle": "copy rows through a DMA queue: Tx.nki.dma_copy",
    "activate2": "Tx.nki.activation, and Tx.nki.tensor_scalar for what follows",
    "dma_compute": "load both, and add them in SBUF",
    "copy": "Tx.nki.tensor_copy between tiles, Tx.nki.load and Tx.nki.store from and to device memory",
    "zeros": 'Tx.alloc_buffer(shape, dtype, scope="trn.sbuf"), then Tx.nki.memset(tile, 0.0)',
    "ndarray": 'Tx.alloc_buffer(shape, dtype, scope="trn.sbuf")',
    "transpose": "Tx.nki.nc_transpose(dst, data)",
    "sum": 'Tx.nki.tensor_reduce(dst, "add", data, axis)',
    "affine_range": "range(n)",
    "sequential_range": "range(n)",
    "static_range": "range(n)",
}  # fmt: skip


def instead_of(name: str) -> str | None:
    """What does the work of a name that is no instruction here."""
    if name in _ABSENT:
        return _ABSENT[name]
    opcode = canonical(name)
    if opcode in ACTIVATIONS or opcode in UNARY:
        return f'`{name}` is an operation: Tx.nki.activation(result, data, "{opcode}")'
    if opcode in OPCODES:
        return f'`{name}` is an operation: Tx.nki.tensor_tensor(dst, data1, data2, "{name}")'
    return None


def knows_its_keywords(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function`, which says what to write in place of a keyword that it does not have."""
    names = _parameters(function)

    @functools.wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        for keyword in given:
            if keyword not in names:
                hint = _KEYWORDS.get(keyword) or did_you_mean(keyword, names) or f"it takes {', '.join(names)}"
                refuse(f"nki.{function.__name__} has no keyword `{keyword}`", hint)
        return function(*args, **given)

    return checked


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of parameters, and NKI's where those are taken as well."""
    inner: Any = function
    while hasattr(inner, "__wrapped__"):
        inner = inner.__wrapped__
    code = inner.__code__
    own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    item = TABLE.get(function.__name__)
    fields = item.fields if item is not None and inner is not function else ()
    more = ("pattern", "channel_multiplier", "cmp_op", "offset") if function.__name__ == "affine_select" else ()
    return tuple(dict.fromkeys((*own, *(field.nki for field in fields), *more)))
