"""The backend keeps what core and other backends count on; where there is a device its kernels run on it."""

from __future__ import annotations

from pathlib import Path

from tirx.testing.conformance import conformance_tests

test_conformance = conformance_tests("opencl", samples=[Path(__file__).parent / "kernels.py"])
