"""What the printer writes of kernels that use `Tx.cuda` is read back to the same program, at every stage."""

from __future__ import annotations

import pytest

import tirx
from tests.cuda.helpers import DEFAULT_TARGET, kernels
from tirx.ir import structural_equal
from tirx.script import from_source

KERNELS = kernels()


@pytest.mark.parametrize("name", KERNELS)
def test_as_written(name: str) -> None:
    kernel = KERNELS[name]
    assert structural_equal(from_source(kernel.script()), kernel)


@pytest.mark.parametrize("name", KERNELS)
def test_lowered(name: str) -> None:
    module = tirx.compile(KERNELS[name], DEFAULT_TARGET).lowered
    assert structural_equal(from_source(module.script()), module)
