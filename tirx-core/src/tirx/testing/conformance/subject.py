"""The backend that is looked at: its manifest, its rows, its targets, and what processes of their own saw of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...backend import default_host, load, registry
from ...backend.candidates import Candidate
from ...backend.spelling import split_value
from ...driver import compile as compile_kernel
from ...ir import IRModule, PrimFunc
from ...runtime import Executable
from ...support.errors import BackendError, TirxError
from ...target import Target, TargetKind
from .sample import Sample, load_samples

__all__ = ["Subject"]

_CHILD = str(Path(__file__).with_name("child.py"))
TIMEOUT = 60.0
"""Seconds that a process which only imports the backend may take."""


class Subject:
    """One installed backend. What is asked for is found once and kept.

    `paths` are Python files with kernels of its own and declared gaps (see `load_samples`), beside those that it ships in the
    folder `conformance` of its package.
    """

    def __init__(self, name: str, paths: Sequence[str | Path] = ()) -> None:
        self.name = name
        self.given = tuple(os.path.abspath(path) for path in paths)
        self.used_gaps: set[str] = set()
        self.outcomes: dict[str, Any] = {}  # of checks that were run; a check may come after others
        self._compiled: dict[tuple[int, str], Executable] = {}
        self._kept: list[Any] = []

    @cached_property
    def _extra(self) -> tuple[list[Sample], dict[str, str]]:
        return load_samples(self.paths)

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """The files of samples: those that the backend ships, its host's if it is an extension, and those that were given."""
        shipped = _shipped(self.package)
        if self.host != self.name:
            shipped = [*_shipped(Subject(self.host).package), *shipped]
        return (*shipped, *self.given)

    @property
    def samples(self) -> list[Sample]:
        """Kernels of its own."""
        return self._extra[0]

    # ---- before loading ---------------------------------------------------------------------------------------------

    @cached_property
    def candidate(self) -> Candidate:
        """What its manifest says; `BackendError` where no distribution has this name."""
        found = [item for item in default_host().candidates() if item.name == self.name]
        if not found:
            raise default_host().unknown(self.name)
        return min(found, key=lambda item: not item.usable)

    @property
    def package(self) -> str:
        """The import package that the plugin lies in."""
        return split_value(self.candidate.value)[0].partition(".")[0]

    @cached_property
    def observed(self) -> dict[str, Any]:
        """What a process saw that imported core, then the plugin, then loaded it."""
        return self.child("look")

    def child(self, what: str, *arguments: str, timeout: float = TIMEOUT, hash_seed: str = "0") -> dict[str, Any]:
        """What a process of its own answers; `{"died": ...}` where it does not."""
        with tempfile.TemporaryDirectory() as folder:
            answer = Path(folder, "answer.json")
            words = [what, self.name, split_value(self.candidate.value)[0], str(answer)]
            request = json.dumps({"words": words, "arguments": arguments, "path": self._path()})
            return self._asked([sys.executable, "-B", _CHILD, request], answer, timeout, hash_seed)

    def _path(self) -> list[str]:
        """The path of this process, and the folders of backends that only `TIRX_PLUGIN_PATH` names."""
        found = [item.distribution.location for item in default_host().candidates() if item.usable]
        return list(dict.fromkeys([*sys.path, *found]))

    def _asked(self, command: list[str], answer: Path, timeout: float, hash_seed: str) -> dict[str, Any]:
        environ = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONDONTWRITEBYTECODE": "1"}
        log = answer.with_name("output")
        with log.open("wb") as output:
            try:
                done = subprocess.run(
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, timeout=timeout, env=environ,
                    cwd=answer.parent, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return {"died": f"it did not finish within {timeout:g} s"}
        try:
            found: dict[str, Any] = json.loads(answer.read_text())
        except (OSError, ValueError):
            words = log.read_text(errors="replace").strip().splitlines()
            return {"died": f"its process ended with status {done.returncode}" + (f": {words[-1]}" if words else "")}
        return found

    # ---- loaded -----------------------------------------------------------------------------------------------------

    @property
    def _contribution(self) -> Mapping[str, tuple[Any, ...]]:
        load(self.name)
        for item in default_host().snapshot().contributions:
            if item.owner.backend == self.name:
                return item.rows
        raise BackendError(f"backend `{self.name}` gave no rows")

    def rows(self, kind: str) -> tuple[Any, ...]:
        """Its rows of one kind."""
        return tuple(self._contribution.get(kind, ()))

    @property
    def kinds(self) -> tuple[TargetKind, ...]:
        """Its kinds of targets."""
        return self.rows("target_kinds")

    @property
    def host(self) -> str:
        """The backend whose machines it is for: its own, or for an extension the one that it adds to."""
        return self.name.partition(".")[0]

    @property
    def extensions(self) -> tuple[str, ...]:
        """What must be enabled for its variants and passes to act."""
        return (self.name,) if self.host != self.name else ()

    def _hosted(self, kind: str) -> list[Any]:
        """Rows of a kind that belong to the host."""
        load(self.name)
        return [row for row, owner in registry().entries(kind) if owner.backend == self.host]

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """A target of each kind that it is for: the plain one, or where that needs more, the first tag."""
        found = []
        for kind in self._hosted("target_kinds"):
            specs = [kind.name, *(tag.name for tag in self._hosted("target_tags") if tag.kind == kind.name)]
            target = next((made for made in map(_made, specs) if made is not None), None)
            if target is not None:
                found.append(target)
        return tuple(found)

    @cached_property
    def every_target(self) -> tuple[Target, ...]:
        """Those, and one for each tag: for what only some machines have."""
        tags = [_made(tag.name) for tag in self._hosted("target_tags")]
        return (*self.targets, *(item for item in tags if item is not None))

    def has_threads(self, target: Target) -> bool:
        """Whether kernels of threads make sense there."""
        return "thread" in target.scope_model()

    def width(self, target: Target) -> int:
        """Threads of the innermost group that runs in step; 32 where there is none."""
        model = target.scope_model()
        return (model.fixed_width("warp", "thread") if "warp" in model else None) or 32

    def compiled(self, kernel: PrimFunc | IRModule, target: Target) -> Executable:
        """The kernel, compiled once for each target."""
        key = (id(kernel), str(target))
        if key not in self._compiled:
            self._kept.append(kernel)
            self._compiled[key] = self.compile(kernel, target)
        return self._compiled[key]

    def compile(self, kernel: PrimFunc | IRModule, target: Target) -> Executable:
        """The kernel, compiled anew."""
        return compile_kernel(kernel, target, extensions=self.extensions)

    def gap(self, check: str, item: str) -> str | None:
        """The reason why the backend knowingly lacks something, where its samples declare that."""
        key = f"{check}: {item}"
        if key in self._extra[1]:
            self.used_gaps.add(key)
        return self._extra[1].get(key)

    @property
    def unused_gaps(self) -> list[str]:
        """Declared gaps that no check had to ask for."""
        return sorted(set(self._extra[1]) - self.used_gaps)


def _shipped(package: str) -> list[str]:
    spec = find_spec(package)  # finds a package on the path without importing it
    folders = spec.submodule_search_locations if spec is not None else None
    return [str(file) for folder in folders or () for file in sorted(Path(folder, "conformance").glob("[!_]*.py"))]


def _made(spec: str) -> Target | None:
    try:
        return Target(spec)
    except TirxError:
        return None
