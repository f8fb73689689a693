"""A kernel of published TIRx needs its import lines changed and nothing else: the example of the how-to, on real sizes."""

from __future__ import annotations

import difflib
import re

import numpy as np
import pytest

import tirx
from tests.programs.examples import EXAMPLES, binary_or_skip, load

PORT = EXAMPLES.parent / "port"
PAGE = EXAMPLES.parents[1] / "how-to/port-a-kernel.md"
OUTPUTS = ("o", "o8", "s8", "lse")

pytestmark = pytest.mark.needs("tirx-backend-cuda")


def differences() -> str:
    """The changed lines between the published kernel and ours."""
    texts = ((PORT / name).read_text(encoding="utf-8").splitlines() for name in ("published.py", "ported.py"))
    return "\n".join(
        line for line in difflib.unified_diff(*texts, n=0, lineterm="") if not line.startswith(("---", "+++", "@@"))
    )


def test_only_import_lines_differ() -> None:
    changed = differences().splitlines()
    assert len(changed) == 4
    assert all(re.match(r"[+-]from \S+ import ", line) for line in changed)


def test_the_page_shows_that_difference() -> None:
    assert differences() in PAGE.read_text(encoding="utf-8")


def test_the_kernel_is_of_a_real_size() -> None:
    assert len((PORT / "ported.py").read_text(encoding="utf-8").splitlines()) > 120


def expected(q, k, v, bias, gamma, scale, cap, epsilon, window):  # type: ignore[no-untyped-def]
    """The same in NumPy, in float64: scores of all pairs, then what the mask leaves."""
    length = q.shape[1]
    distance = np.arange(length)[:, None] - np.arange(length)[None, :]
    inside = (distance >= 0) & (distance < window)
    scores = scale * np.einsum("hid,hjd->hij", q, k) + bias[:, np.clip(distance, 0, window - 1)]
    scores = np.where(inside, cap * np.tanh(scores / cap), -np.inf)
    top = scores.max(axis=2, keepdims=True)
    weights = np.exp(scores - top)
    total = weights.sum(axis=2, keepdims=True)
    rows = np.einsum("hij,hjd->hid", weights / total, v)
    o = rows / np.sqrt((rows**2).mean(axis=2, keepdims=True) + epsilon) * gamma
    s8 = np.abs(o).max(axis=2) / 127
    return {"o": o, "s8": s8, "o8": o / s8[..., None], "lse": (top + np.log(total))[..., 0]}


@pytest.mark.slow
def test_it_computes_what_numpy_computes() -> None:
    module = load(PORT / "ported.py")
    rng = np.random.default_rng(1)
    shape = (module.HEADS, module.LENGTH, module.WIDTH)
    q, k, v = rng.standard_normal((3, *shape), dtype=np.float32)
    bias = rng.standard_normal((module.HEADS, module.WINDOW), dtype=np.float32)
    gamma = rng.random(module.WIDTH, dtype=np.float32)
    o, o8 = np.zeros(shape, np.float32), np.zeros(shape, np.int8)
    s8, lse = np.zeros((2, *shape[:2]), np.float32)
    numbers = (0.125, 30.0, 1e-6)
    report = tirx.simulate(
        module.attention, q, k, v, bias, gamma, o, o8, s8, lse, *numbers, target="cuda", checks="all"
    )
    assert report.verdict == "clean", str(report)
    wanted = expected(*(a.astype(np.float64) for a in (q, k, v, bias, gamma)), *numbers, module.WINDOW)
    for name, got in {"o": o, "s8": s8, "lse": lse}.items():
        np.testing.assert_allclose(got, wanted[name], rtol=1e-4, atol=1e-5)
    assert np.abs(o8 - wanted["o8"]).max() < 1.01


@pytest.mark.slow
def test_it_compiles() -> None:
    used = binary_or_skip(load(PORT / "ported.py").attention, "cuda -arch=sm_90a").resources["attention_kernel"]
    assert used.spill_bytes == 0


@pytest.mark.parity
def test_the_published_implementation_takes_the_file_as_it_was() -> None:
    published = load(PORT / "published.py")
    assert type(published.attention).__module__.startswith("tvm")
