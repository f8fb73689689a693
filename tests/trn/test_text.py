"""Emitted text against the interface of every release, and the lint against text that it must refuse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.trn.build import source_of
from tests.trn.lint import complaints
from tests.trn.test_kernels import add_kernel, matmul_kernel, softmax_kernel
from tests.trn.test_ops import CASES, tile_kernel
from tirx.ir import PrimFunc


@pytest.mark.parametrize("make", [add_kernel, matmul_kernel, softmax_kernel])
@pytest.mark.parametrize("generation", ["v2", "v3", "v4"])
def test_kernels_stay_in_the_common_subset(make: Callable[[], PrimFunc], generation: str) -> None:
    assert complaints(source_of(make(), f"trn -generation={generation}")) == []


@pytest.mark.parametrize("name", CASES)
def test_instructions_stay_in_the_common_subset(name: str) -> None:
    build, inputs, expected = CASES[name]
    shapes = [np.shape(item) for item in expected]
    assert complaints(source_of(tile_kernel(build, inputs, *((shape, "float32") for shape in shapes)))) == []


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("nisa.dma_copy(dst=x, src=y, priority=1)", "nisa.dma_copy in NKI 0.3"),
        ("nisa.memset(dst=x)", "missing a required argument: 'value'"),
        ("nisa.memset(x, value=0)", "positional arguments"),
        ("nisa.divide(dst=x, data=y)", "nisa.divide is no function of the subset"),
        ("nisa.tensor_tensor(dst=x, data1=x, data2=x, op=nl.divide)", "nl.divide is not in every release"),
        ("x is None", "Is"),
        ("[1, 2]", "a list"),
        ("lambda: 0", "Lambda"),
    ],
)
def test_what_does_not_belong_is_noticed(line: str, complaint: str) -> None:
    text = f"import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\ndef kernel(x, y):\n    {line}\n"
    assert any(complaint in found for found in complaints(text))
