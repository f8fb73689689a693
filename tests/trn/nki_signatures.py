"""Signatures of NKI 0.3 to 0.6, as its documentation gives them: what a call by keywords may say in each release.

A row is the signature of 0.3; LATER lists parameters that a release added. Source: the API reference of each release of the
Neuron SDK (2.29 to 2.32). Kept apart from the table that the emitter reads; a test compares the two.
"""

from __future__ import annotations

import inspect

RELEASES = ("0.3", "0.4", "0.5", "0.6")

ISA = {
    "dma_copy": "dst, src, oob_mode=None, dge_mode=None, engine=None, name=None",
    "dma_transpose": "dst, src, axes=None, dge_mode=None, oob_mode=None, name=None",
    "tensor_copy": "dst, src, engine=None, name=None",
    "tensor_copy_predicated": "dst, src, predicate, reverse_pred=False, name=None",
    "nc_matmul": (
        "dst, stationary, moving, is_stationary_onezero=False, is_moving_onezero=False, is_transpose=False, accumulate=None, "
        "tile_position=(), tile_size=(), perf_mode=None, name=None"
    ),
    "nc_transpose": "dst, data, engine=None, name=None",
    "activation": "dst, op, data, bias=None, scale=1.0, reduce_op=None, reduce_res=None, reduce_cmd=None, name=None",
    "activation_reduce": "dst, op, data, reduce_op, reduce_res, bias=None, scale=1.0, name=None",
    "reciprocal": "dst, data, name=None",
    "tensor_reduce": "dst, op, data, axis, negate=False, keepdims=False, name=None",
    "tensor_tensor": "dst, data1, data2, op, engine=None, name=None",
    "tensor_tensor_scan": "dst, data0, data1, initial, op0, op1, reverse0=False, reverse1=False, name=None",
    "tensor_scalar": (
        "dst, data, op0, operand0, reverse0=False, op1=None, operand1=None, reverse1=False, engine=None, name=None"
    ),
    "tensor_scalar_reduce": "dst, data, op0, operand0, reduce_op, reduce_res, reverse0=False, name=None",
    "scalar_tensor_tensor": "dst, data, op0, operand0, op1, operand1, reverse0=False, reverse1=False, name=None",
    "memset": "dst, value, engine=None, name=None",
    "iota": "dst, pattern, offset=0, channel_multiplier=0, name=None",
    "affine_select": (
        "dst, pattern, channel_multiplier, on_true_tile, on_false_value, cmp_op=None, offset=0, name=None"
    ),
    "range_select": (
        "dst, on_true_tile, comp_op0, comp_op1, bound0, bound1, reduce_cmd=None, reduce_res=None, reduce_op=None, range_start=0, "
        "on_false_value=None, name=None"
    ),
    "select_reduce": (
        "dst, predicate, on_true, on_false, reduce_res=None, reduce_cmd=None, reduce_op=None, reverse_pred=False, name=None"
    ),
    "max8": "dst, src, name=None",
    "nc_find_index8": "dst, data, vals, name=None",
    "nc_match_replace8": "dst, data, vals, imm, dst_idx=None, name=None",
}
LANGUAGE = {
    "ndarray": "shape, dtype, buffer=None, name='', address=None",
    "shared_identity_matrix": "n, dtype='uint8', dst=None",
}
LATER = {
    ("dma_copy", "0.4"): "priority=None",
    ("dma_transpose", "0.4"): "priority=None",
    ("tensor_scalar_reduce", "0.4"): "reduce_cmd=None, reduce_init=None",
    ("tensor_scalar_reduce", "0.6"): "reduce_res_negate=None",
}
ENUMS = {
    "nisa.engine": {"unknown", "tensor", "vector", "scalar", "gpsimd", "dma", "sync"},
    "nisa.reduce_cmd": {"idle", "reset", "reduce", "reset_reduce", "load_reduce"},
    "nisa.matmul_perf_mode": {"none", "double_row"},
}
# Members of nki.language that emitted files name without calling them.
NAMES = frozenset(
    [
        *("sbuf", "psum", "shared_hbm"),
        *("float32", "float16", "bfloat16", "float8_e4m3", "float8_e4m3fn", "float8_e5m2"),
        *("int32", "int16", "int8", "uint32", "uint16", "uint8", "bool_"),
        *("add", "subtract", "multiply", "maximum", "minimum", "power", "abs", "rsqrt"),
        *("equal", "not_equal", "greater", "greater_equal", "less", "less_equal"),
        *("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"),
        *("exp", "sqrt", "copy", "square", "sigmoid", "relu", "gelu", "gelu_dx", "gelu_apprx_tanh", "gelu_apprx_sigmoid"),
        *("gelu_apprx_sigmoid_dx", "silu", "silu_dx", "tanh", "softplus", "mish", "erf", "erf_dx", "log", "sin", "arctan"),
        *("reciprocal", "sign"),
    ]
)  # fmt: skip
LATER_NAMES = {"abs_max": "0.4", "abs_min": "0.4"}


def signature(function: str, release: str) -> inspect.Signature:
    """The signature of `nisa.function` or `nl.function` in one release."""
    module, _, name = function.partition(".")
    text = {"nisa": ISA, "nl": LANGUAGE}[module][name]
    added = [LATER[name, item] for item in RELEASES[: RELEASES.index(release) + 1] if (name, item) in LATER]
    return inspect.signature(eval(f"lambda {', '.join([text, *added])}: None"))
