"""The suite's own switches: what is skipped, why, and that CI does not skip what must run."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]


def item(pytester: pytest.Pytester, marks: str) -> pytest.Item:
    """One collected test with these marks."""
    pytester.makeini("[pytest]\nmarkers = needs\n    device\n    parity\n")
    return pytester.getitem(f"import pytest\n@pytest.mark.{marks}\ndef test_it(): pass\n", "test_it")


def test_a_missing_distribution_skips_with_its_name(pytester: pytest.Pytester) -> None:
    from tests.conftest import reason_to_skip

    wanted = item(pytester, "needs('tirx-core', 'no-such-distribution')")
    assert reason_to_skip(wanted, nothing_missing=False) == "not installed: no-such-distribution"


def test_a_missing_distribution_does_not_skip_where_nothing_may_be_missing(pytester: pytest.Pytester) -> None:
    from tests.conftest import reason_to_skip

    assert reason_to_skip(item(pytester, "needs('no-such-distribution')"), nothing_missing=True) is None


def test_a_device_test_is_skipped_without_a_device(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests import conftest

    monkeypatch.setattr(conftest, "has_device", lambda: False)
    reason = conftest.reason_to_skip(item(pytester, "device"), nothing_missing=True)
    assert reason is not None
    assert reason.startswith("no device")
    monkeypatch.setattr(conftest, "has_device", lambda: True)
    assert conftest.reason_to_skip(item(pytester, "device"), nothing_missing=True) is None
