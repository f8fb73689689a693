"""Running the suite under pytest, apart from whatever tests and plugins of pytest there are around."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pytest

from .check import Outcome
from .report import ConformanceReport
from .subject import Subject
from .suite import conformance_tests

__all__ = ["conform"]

_OPTIONS = (
    "-p",
    "no:cacheprovider",
    "-p",
    "no:terminal",
    "--import-mode=importlib",
    "-o",
    "addopts=",
    "--capture=fd",
    "-c",
    os.devnull,
)


class _Suite:
    """Gives pytest one module of tests that lies in no file of its own."""

    def __init__(self, tests: ModuleType) -> None:
        self.tests = tests

    def pytest_pycollect_makemodule(self, module_path: Path, parent: Any) -> Any:
        made = pytest.Module.from_parent(parent, path=module_path)
        made.obj = self.tests
        return made


def conform(name: str, samples: Sequence[str] = (), only: Iterable[str] = ()) -> ConformanceReport:
    """Check an installed backend under pytest, in this process; what it prints meanwhile is kept away."""
    outcomes: list[Outcome] = []
    tests = ModuleType("tirx_conformance")
    tests.test_conformance = conformance_tests(name, samples, outcomes.append)  # type: ignore[attr-defined]
    chosen = tuple(only)
    words = [str(Path(__file__).with_name("suite.py")), *_OPTIONS, f"--rootdir={Path(__file__).parent}"]
    with mock.patch.dict(os.environ, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}):
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            pytest.main(words, plugins=[_Suite(tests), _Chosen(chosen)])
    return ConformanceReport(Subject(name, samples), outcomes)


class _Chosen:
    """Leaves out the checks that nobody asked for."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.names:
            items[:] = [item for item in items if self._wanted(item.callspec.params["check"].name)]

    def _wanted(self, name: str) -> bool:
        return name in self.names or name.partition(".")[0] in self.names
