"""The backend keeps what core and other backends count on."""

from __future__ import annotations

import pytest

from tests.conftest import HERE
from tirx.testing.conformance import conformance_tests

OWN = HERE / "cuda"
SAMPLES = [
    OWN / "conformance_samples.py",
    OWN / "conformance_sums.py",
    HERE.parent / "docs/examples/kernels/tile_gemm.py",
]

test_conformance = pytest.mark.slow(conformance_tests("cuda", samples=SAMPLES))
