"""Signatures of NKI 0.3 to 0.6, as its documentation gives them: what a call by keywords may say in each release.

A row is the signature of 0.3; LATER lists parameters that a release added. Source: the API reference of each release of the
Neuron SDK (2.29 to 2.32).
"""

from __future__ import annotations

import inspect

RELEASES = ("0.3", "0.4", "0.5", "0.6")

ISA = {
    "dma_copy": "dst, src, oob_mode=None, dge_mode=None, engine=None, name=None",
    "tensor_copy": "dst, src, engine=None, name=None",
    "nc_matmul": (
        "dst, stationary, moving, is_stationary_onezero=False, is_moving_onezero=False, is_transpose=False, accumulate=None, "
        "tile_position=(), tile_size=(), perf_mode=None, name=None"
    ),
    "activation": "dst, op, data, bias=None, scale=1.0, reduce_op=None, reduce_res=None, reduce_cmd=None, name=None",
    "activation_reduce": "dst, op, data, reduce_op, reduce_res, bias=None, scale=1.0, name=None",
    "reciprocal": "dst, data, name=None",
    "tensor_reduce": "dst, op, data, axis, negate=False, keepdims=False, name=None",
    "tensor_tensor": "dst, data1, data2, op, engine=None, name=None",
    "tensor_scalar": (
        "dst, data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False, engine=None, name=None"
    ),
    "tensor_scalar_reduce": "dst, data, op0, operand0, reduce_op, reduce_res, reverse0=False, name=None",
    "scalar_tensor_tensor": "dst, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, name=None",
    "memset": "dst, value, engine=None, name=None",
    "affine_select": (
        "dst, pattern, channel_multiplier, on_true_tile, on_false_value, cmp_op=None, offset=0, name=None"
    ),
}
LANGUAGE = {
    "ndarray": "shape, dtype, buffer=None, name='', address=None",
    "shared_identity_matrix": "n, dtype='uint8', dst=None",
}
LATER = {
    ("dma_copy", "0.4"): "priority=None",
    ("tensor_scalar_reduce", "0.4"): "reduce_cmd=None, reduce_init=None",
    ("tensor_scalar_reduce", "0.6"): "reduce_res_negate=None",
}
# Members of nki.language that emitted files name without calling them.
NAMES = frozenset(
    [
        *("sbuf", "psum", "shared_hbm"),
        *("float32", "float16", "bfloat16", "float8_e4m3", "float8_e5m2"),
        *("int32", "int16", "int8", "uint32", "uint16", "uint8", "bool_"),
        *("add", "subtract", "multiply", "maximum", "minimum", "exp", "sqrt"),
        *("equal", "not_equal", "greater", "greater_equal", "less", "less_equal"),
    ]
)


def signature(function: str, release: str) -> inspect.Signature:
    """The signature of `nisa.function` or `nl.function` in one release."""
    module, _, name = function.partition(".")
    text = {"nisa": ISA, "nl": LANGUAGE}[module][name]
    added = [LATER[name, item] for item in RELEASES[: RELEASES.index(release) + 1] if (name, item) in LATER]
    return inspect.signature(eval(f"lambda {', '.join([text, *added])}: None"))
