"""The backend keeps what core and other backends count on; its own examples are the kernels that show it."""

from __future__ import annotations

import pytest

from tests.conftest import HERE
from tirx.testing.conformance import conformance_tests

KERNELS = HERE.parent / "docs/examples/kernels"
SAMPLES = [KERNELS / f"nki_{name}.py" for name in ("add", "transpose")]

test_conformance = pytest.mark.slow(conformance_tests("trn", samples=SAMPLES))
