"""The backend keeps what core and other backends count on."""

from __future__ import annotations

import pytest

from tirx.testing.conformance import conformance_tests

test_conformance = pytest.mark.slow(conformance_tests("cuda"))
