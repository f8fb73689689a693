"""`nki.isa`: one function per instruction, by engine. Source: the NKI 0.6 reference page of each."""

from __future__ import annotations

from enum import Enum

from tests.trn.nki_numpy.moving import dma_copy, dma_transpose, iota, memset, tensor_copy, tensor_copy_predicated
from tests.trn.nki_numpy.products import nc_matmul, nc_transpose
from tests.trn.nki_numpy.rules import engine, matmul_perf_mode, reduce_cmd
from tests.trn.nki_numpy.scalar_engine import activation, activation_reduce
from tests.trn.nki_numpy.selecting import (
    affine_select,
    max8,
    nc_find_index8,
    nc_match_replace8,
    range_select,
    select_reduce,
)
from tests.trn.nki_numpy.vector_engine import (
    reciprocal,
    scalar_tensor_tensor,
    tensor_reduce,
    tensor_scalar,
    tensor_scalar_reduce,
    tensor_tensor,
    tensor_tensor_scan,
)

__all__ = [
    "activation", "activation_reduce", "affine_select", "dge_mode", "dma_copy", "dma_transpose", "engine", "iota", "matmul_perf_mode",
    "max8", "memset", "nc_find_index8", "nc_match_replace8", "nc_matmul", "nc_transpose", "oob_mode", "range_select", "reciprocal",
    "reduce_cmd", "scalar_tensor_tensor", "select_reduce", "tensor_copy", "tensor_copy_predicated", "tensor_reduce", "tensor_scalar",
    "tensor_scalar_reduce", "tensor_tensor", "tensor_tensor_scan",
]  # fmt: skip

oob_mode = Enum("oob_mode", "error skip")
dge_mode = Enum("dge_mode", "unknown swdge hwdge none")
