"""What makes two compilations the same, seen through a compiler that counts."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tirx
from tests.core.runtime import test_launcher
from tests.core.runtime.test_launcher import HERE, Plugin, double
from tirx import backend
from tirx.codegen import Source
from tirx.runtime import Binary, Resources, toolchains


class Compiler:
    """Counts what it compiles, and can be another version."""

    version = "1.0"

    def __init__(self) -> None:
        self.runs = 0

    def compile(self, source: Source, target: Any, options: Any) -> Binary:
        self.runs += 1
        text = f"{source.text} {self.version} {' '.join(options)}"
        return Binary(text.encode(), "toy", {"double_kernel": Resources(4, 1, 2, 3)}, f"toycc {self.version}", "a log")


@pytest.fixture
def compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Compiler]:
    """The compiler of `toydev`, with an empty cache."""
    made = Compiler()
    monkeypatch.setenv("TIRX_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys.modules[HERE], "compile_source", made.compile)
    monkeypatch.setattr(sys.modules[HERE], "find_compiler", lambda: made.version)
    register()
    yield made
    backend.unload("toydev")


def register(version: str = "1.0") -> None:
    if backend.is_loaded("toydev"):
        backend.unload("toydev")
    backend.register("toydev", Plugin(), distribution="tirx-toydev", version=version, provides=("kind.toydev",))


def built(target: str = "toydev", **options: Any) -> Binary:
    return tirx.compile(double, target, **options).binary


def test_a_hit_is_the_same_binary(compiler: Compiler) -> None:
    first, second = built(), built()
    assert compiler.runs == 1
    assert (first.data, first.format, first.toolchain, first.log) == (
        second.data, second.format, second.toolchain, second.log,
    )  # fmt: skip
    assert repr(first.resources) == repr(second.resources)


def test_off_means_off(compiler: Compiler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIRX_CACHE", "0")
    built(), built()
    assert compiler.runs == 2
    assert not (tmp_path / "cache").exists()


def test_another_source(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    built()
    monkeypatch.setattr(test_launcher, "generate", lambda *_: Source("other", "toy", ".toy", ["double_kernel"]))
    assert built().data == b"other 1.0 "
    assert compiler.runs == 2


def test_another_target(compiler: Compiler) -> None:
    built(), built("toydev -max_threads=512")
    assert compiler.runs == 2


def test_another_version_of_the_compiler(compiler: Compiler) -> None:
    built()
    compiler.version = "2.0"
    assert built().data == b"multiply 2.0 "
    compiler.version = "1.0"
    assert built().data == b"multiply 1.0 "
    assert compiler.runs == 2


def test_another_version_of_the_backend(compiler: Compiler) -> None:
    built()
    register("1.1")
    built()
    assert compiler.runs == 2


def test_another_version_of_core(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    built()
    monkeypatch.setattr(toolchains, "VERSION", "99.0")
    built()
    assert compiler.runs == 2


def test_other_options_distributions_and_extensions(compiler: Compiler) -> None:
    executable = tirx.compile(double, "toydev")
    source, target = executable.source, executable.target
    for _ in range(2):
        toolchains.build(source, target)
        toolchains.build(source, target, ["-O1"])
        toolchains.build(source, target, ["-O1", "-g"])
        toolchains.build(source, target, used=[("tirx-core", "1")])
        toolchains.build(source, target, used=[("tirx-core", "2")])
        toolchains.build(source, target, extensions=["toydev.fast"])
    assert compiler.runs == 6


def test_edited_code_of_the_compiler(compiler: Compiler, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "toolchain.py"
    file.write_text("FLAGS = ()")
    monkeypatch.setattr(test_launcher, "__file__", str(file))
    built(), built()
    file.write_text("FLAGS = ('-g',)")
    built()
    assert compiler.runs == 2


def test_a_damaged_entry_is_compiled_again(compiler: Compiler, tmp_path: Path) -> None:
    good = built()
    (entry,) = (tmp_path / "cache").iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])
    assert built().data == good.data
    assert compiler.runs == 2
    assert built().data == good.data
    assert compiler.runs == 2


def test_an_entry_with_an_unknown_header_is_compiled_again(compiler: Compiler, tmp_path: Path) -> None:
    from tirx.runtime.cache import BinaryCache

    built()
    (entry,) = (tmp_path / "cache").iterdir()
    BinaryCache(tmp_path / "cache").put(entry.stem, {"format": "toy", "new": "field"}, b"data")
    assert built().data == b"multiply 1.0 "
    assert compiler.runs == 2
