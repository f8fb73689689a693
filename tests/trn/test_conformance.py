"""The backend keeps what core and other backends count on; its own examples are the kernels that show it."""

from __future__ import annotations

import pytest

from tests.conftest import HERE
from tirx.testing.conformance import conformance_tests

KERNELS = HERE.parent / "docs/examples/kernels"
EXAMPLES = ("add", "transpose", "attention", "tile_matmul", "tile_rmsnorm", "tile_softmax")
SAMPLES = [KERNELS / f"nki_{name}.py" for name in EXAMPLES]

test_conformance = pytest.mark.slow(conformance_tests("trn", samples=SAMPLES))
