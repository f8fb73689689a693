"""Kernels without a word of any vendor: they run on `generic`, with warps of 32 and of 64 threads, on core alone."""

from __future__ import annotations

import numpy as np
import pytest

import tirx
from tests.programs.examples import NEUTRAL, copies, largest_error, load
from tirx import script as Tx
from tirx.ir import structural_equal

FILES = sorted(NEUTRAL.glob("*.py"))


def test_there_are_five() -> None:
    assert [path.stem for path in FILES] == ["histogram", "lock", "reduction", "scale", "shuffles"]


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_computes_what_numpy_computes(path: object, width: int) -> None:
    module = load(path)  # type: ignore[arg-type]
    kernel = module.kernel(width)
    after = module.arguments(np.random.default_rng(7))
    before = copies(after)
    report = tirx.simulate(kernel, *after, target=f"generic -width={width}", checks="all")
    assert report.verdict == "clean", str(report)
    assert largest_error(module, kernel, before, after) <= module.TOLERANCE
    assert getattr(module, "also", lambda *_: True)(*after)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_reads_back(path: object) -> None:
    kernel = load(path).kernel(64)  # type: ignore[arg-type]
    assert structural_equal(Tx.from_source(kernel.script()), kernel)


@pytest.mark.needs("tirx-backend-cuda")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_backend_makes_source_of_it(path: object) -> None:
    assert "__global__" in tirx.compile(load(path).kernel(32), "cuda").source.text  # type: ignore[arg-type]


def test_the_width_of_another_target_is_an_error() -> None:
    kernel = load(NEUTRAL / "shuffles.py").kernel(64)
    with pytest.raises(tirx.support.errors.TirxError, match="64"):
        tirx.compile(kernel, "generic -width=32")
