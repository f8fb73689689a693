"""The interface of NKI 0.3 to 0.6, as its documentation gives it: functions, parameters, and the release that added each.

A word is a parameter; `name@0.4` came with that release. The order is that of the newest release, with optional parameters
after the required ones as they stand there. Source: reference pages of `nki.isa` and `nki.language` in the Neuron SDK 2.29
(NKI 0.3), 2.30 (0.4), 2.31 (0.5) and 2.32 (0.6).
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["ENUMS", "FUNCTIONS", "OPERATIONS", "RELEASES", "needed_release", "parameters", "required"]

RELEASES = ("0.3", "0.4", "0.5", "0.6")

# function -> required parameters | optional parameters
FUNCTIONS = {
    "nisa.dma_copy": "dst src | priority@0.4 oob_mode dge_mode engine name",
    "nisa.dma_transpose": "dst src | axes priority@0.4 dge_mode oob_mode name",
    "nisa.tensor_copy": "dst src | engine name",
    "nisa.nc_matmul": (
        "dst stationary moving | is_stationary_onezero is_moving_onezero is_transpose accumulate tile_position tile_size perf_mode name"
    ),
    "nisa.nc_transpose": "dst data | engine name",
    "nisa.activation": "dst op data | bias scale reduce_op reduce_res reduce_cmd name",
    "nisa.activation_reduce": "dst op data reduce_op reduce_res | bias scale name",
    "nisa.reciprocal": "dst data | name",
    "nisa.tensor_reduce": "dst op data axis | negate keepdims name",
    "nisa.tensor_tensor": "dst data1 data2 op | engine name",
    "nisa.tensor_tensor_scan": "dst data0 data1 initial op0 op1 | reverse0 reverse1 name",
    "nisa.tensor_scalar": "dst data op0 operand0 | reverse0 op1 operand1 reverse1 engine name",
    "nisa.tensor_scalar_reduce": (
        "dst data op0 operand0 reduce_op reduce_res | reverse0 reduce_cmd@0.4 reduce_init@0.4 reduce_res_negate@0.6 name"
    ),
    "nisa.scalar_tensor_tensor": "dst data op0 operand0 op1 operand1 | reverse0 reverse1 name",
    "nisa.memset": "dst value | engine name",
    "nisa.iota": "dst pattern | offset channel_multiplier name",
    "nisa.affine_select": "dst pattern channel_multiplier on_true_tile on_false_value | cmp_op offset name",
    "nisa.range_select": (
        "dst on_true_tile comp_op0 comp_op1 bound0 bound1 | reduce_cmd reduce_res reduce_op range_start on_false_value name"
    ),
    "nisa.select_reduce": "dst predicate on_true on_false | reduce_res reduce_cmd reduce_op reverse_pred name",
    "nisa.tensor_copy_predicated": "dst src predicate | reverse_pred name",
    "nisa.max8": "dst src | name",
    "nisa.nc_find_index8": "dst data vals | name",
    "nisa.nc_match_replace8": "dst data vals imm | dst_idx name",
    "nl.ndarray": "shape dtype | buffer name address",
    "nl.shared_identity_matrix": "n | dtype dst",
}

# Operations that came after the first release.
OPERATIONS = {"nl.abs_max": "0.4", "nl.abs_min": "0.4"}

# Members of the enumerations that emitted files name.
ENUMS = {
    "nisa.engine": ("unknown", "tensor", "vector", "scalar", "gpsimd"),
    "nisa.reduce_cmd": ("idle", "reset", "reduce", "reset_reduce", "load_reduce"),
    "nisa.matmul_perf_mode": ("none", "double_row"),
}


def _words(function: str) -> list[tuple[str, str, bool]]:
    """(name, release, whether it must be given) of each parameter."""
    needed, _, optional = FUNCTIONS[function].partition("|")
    found = [(word, True) for word in needed.split()] + [(word, False) for word in optional.split()]
    return [(word.partition("@")[0], word.partition("@")[2] or RELEASES[0], must) for word, must in found]


def parameters(function: str, release: str = RELEASES[-1]) -> tuple[str, ...]:
    """The parameters of `nisa.function` in one release, in order."""
    return tuple(name for name, since, _ in _words(function) if since <= release)


def required(function: str) -> tuple[str, ...]:
    """The parameters that every call gives."""
    return tuple(name for name, _, must in _words(function) if must)


def needed_release(function: str, keywords: Iterable[str]) -> str:
    """The oldest release whose `function` takes all `keywords`."""
    since = {name: release for name, release, _ in _words(function)}
    return max([RELEASES[0], *(since[keyword] for keyword in keywords)])
