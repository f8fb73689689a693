"""The kernels of the benchmark break no rule of the machine: no races, nothing read that was not written, no index outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx
from tirx.ir import Buffer
from tirx.ir.numpy_types import numpy_dtype

FILES = {path.stem: path for path in sorted((Path(__file__).parents[2] / "bench/kernels").glob("*.py"))}
CHECKS = ("alignment", "barriers", "bounds", "races", "uninitialised")

# Followed warp by warp, the largest kernel takes minutes at its size: one head of 64 queries has every kind of access.
SMALLER = {
    "k6_attention": {
        "(8, 1024, 64)": "(1, 64, 64)",
        "(8, 1024)": "(1, 64)",
        "(8, 256)": "(1, 256)",
        "Tx.cta_id([32, 8])": "Tx.cta_id([2, 1])",
        "for tile in Tx.serial(32):": "for tile in Tx.serial(2):",
    }
}


def text_of(name: str) -> str:
    text = FILES[name].read_text(encoding="utf-8")
    for old, new in SMALLER.get(name, {}).items():
        assert old in text
        text = text.replace(old, new)
    return text


def findings(text: str) -> list[str]:
    kernel = Tx.from_source(text)
    rng = np.random.default_rng(3)
    arguments: list[Any] = []
    for param in kernel.params:
        if isinstance(param, Buffer):
            arguments.append(rng.standard_normal(param.shape, dtype=np.float32).astype(numpy_dtype(param.dtype)))
        else:
            arguments.append(0.5)
    report = tirx.simulate(kernel, *arguments, target="cuda", checks=CHECKS)
    assert not report.unmodelled
    return [f"{item.kind}: {item.buffer}" for item in report.findings]


@pytest.mark.parametrize("name", FILES)
def test_a_kernel_of_the_benchmark_is_clean(name: str) -> None:
    assert findings(text_of(name)) == []


def test_without_its_warp_barrier_the_attention_kernel_races() -> None:
    barrier = "Tx.cuda.warp_sync()"
    text = text_of("k6_attention")
    assert text.count(barrier) == 1
    assert "race: row_max" in findings(text.replace(barrier, "pass"))
