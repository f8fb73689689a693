"""The examples can be written and read back as they are, and after every pass that their target runs on them."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import installed
from tirx import backend
from tirx.ir import IRModule
from tirx.target import Target
from tirx.testing import assert_round_trip
from tirx.transform.pipeline import Pass, PassContext

KERNELS = sorted((Path(__file__).parents[2] / "docs" / "examples" / "kernels").glob("*.py"))


def stages(kernel: object, target: Target) -> Iterator[tuple[str, IRModule]]:
    """The module before the first pass, and after each."""
    module = kernel if isinstance(kernel, IRModule) else IRModule([kernel])
    yield "script", module
    context = PassContext(target)
    pipeline = backend.find("pipelines", target.kind.name)
    for step in (*pipeline.lower, *pipeline.prepare):
        if isinstance(step, Pass):
            module = step.run(module, context)
            yield step.name, module


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_reads_back_at_every_stage(path: Path) -> None:
    backend_name = "tirx-backend-trn" if path.stem.startswith("nki_") else "tirx-backend-cuda"
    if not installed(backend_name):
        pytest.skip(f"not installed: {backend_name}")
    pytest.importorskip("ml_dtypes")
    example = runpy.run_path(str(path))
    names = []
    for name, module in stages(example["KERNEL"], Target(example["TARGET"])):
        assert_round_trip(module)
        names.append(name)
    assert len(names) > 3
