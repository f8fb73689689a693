"""What every test shares: skipping with a reason, a clean environment, and hypothesis without wall-clock limits."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent

# Folders whose tests are about one distribution; without it they are left out (the install matrix).
FOLDER_NEEDS = {"architecture": "tirx_cuda", "cuda": "tirx_cuda", "trn": "tirx_trn"}

settings.register_profile(
    "tests", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "tests"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options of this suite."""
    parser.addoption("--nothing-missing", action="store_true", help="a missing distribution fails instead of skipping")
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files with what came out")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out the folder of a backend that is not installed, unless nothing may be missing."""
    if collection_path.parent != HERE or config.getoption("--nothing-missing"):
        return None
    needed = FOLDER_NEEDS.get(collection_path.name)
    return True if needed is not None and importlib.util.find_spec(needed) is None else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Turn markers into skips that say why."""
    nothing_missing = config.getoption("--nothing-missing")
    for item in items:
        reason = reason_to_skip(item, nothing_missing=nothing_missing)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))


def reason_to_skip(item: pytest.Item, *, nothing_missing: bool) -> str | None:
    """Why this test cannot run here, if it cannot."""
    if item.get_closest_marker("device") and not has_device():
        return "no device: the driver library cannot be loaded or finds no GPU"
    elsewhere = os.environ.get("PARITY_PYTHON")
    if item.get_closest_marker("parity") and not elsewhere and importlib.util.find_spec("tvm") is None:
        return "the published implementation is not installed; `nox -s parity` installs it"
    wanted = [name for mark in item.iter_markers("needs") for name in mark.args]
    missing = [] if nothing_missing else [name for name in wanted if not installed(name)]
    return f"not installed: {', '.join(missing)}" if missing else None


def installed(name: str) -> bool:
    """Whether a distribution of this name is installed."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def has_device() -> bool:
    """Whether the driver is there and counts a GPU."""
    name = ctypes.util.find_library("cuda")
    if name is None:
        return False
    driver, count = ctypes.CDLL(name), ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


@pytest.fixture(scope="session", autouse=True)
def clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Settings of the person who runs the tests do not change what they see; the caches are this run's own."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("TIRX_")]:
            patch.delenv(name)
        patch.setenv("TIRX_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("TIRX_PLUGIN_CACHE", str(tmp_path_factory.mktemp("plugin-cache")))
        patch.setenv("NO_COLOR", "1")
        patch.delenv("FORCE_COLOR", raising=False)
        yield
