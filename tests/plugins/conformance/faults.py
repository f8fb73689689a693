"""The faults of `faults.txt`, which says how they are written.

    python -m tests.plugins.conformance.faults [NAME ...]

prints for each fault which checks fail, all checks run; the tests leave out those that take long.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from tests.plugins.conformance.toys import Edit, installed, plant
from tirx.testing.conformance import ConformanceReport, check_backend
from tirx.testing.conformance.subject import Subject

TEXT = Path(__file__).with_name("faults.txt")
EDIT = re.compile(r"^<<< (?P<file>.*)\n(?P<old>(?:.*\n)*?)===\n(?P<new>(?:.*\n)*?)>>>$", re.MULTILINE)


class Fault(NamedTuple):
    """What is wrong, the check that must say so, a part of its message, the edits that make it so, and in which toy.

    `beside` is another toy that is installed, `samples` a file that the kit is given, `also` what fails as well.
    """

    name: str
    check: str
    says: str
    toy: str
    edits: tuple[Edit, ...]
    beside: tuple[str, ...]
    samples: tuple[str, ...]
    also: frozenset[str]

    def __str__(self) -> str:
        return self.name


def read(block: str) -> Fault:
    """One fault from its text."""
    name, _, rest = block.partition("\n")
    fields = dict(re.findall(r"^(check|says|toy|beside|samples|also): (.*)$", rest.partition("<<<")[0], re.MULTILINE))
    edits = tuple(
        Edit(*(found[part].removesuffix("\n") for part in ("file", "old", "new"))) for found in EDIT.finditer(rest)
    )
    assert edits, name
    samples = tuple(str(TEXT.with_name("samples") / file) for file in fields.get("samples", "").split())
    return Fault(
        name,
        fields["check"],
        fields["says"],
        fields.get("toy", "wavefront"),
        edits,
        tuple(fields.get("beside", "").split()),
        samples,
        frozenset(fields.get("also", "").split()),
    )


FAULTS = tuple(map(read, TEXT.read_text(encoding="utf-8").split("\n== ")[1:]))


def judged(fault: Fault, folder: Path, only: Iterable[str] = (), *, imported: bool = True) -> ConformanceReport:
    """What the kit says of a toy with this fault. Without `imported`, importing it is taken to be well: that takes long to see."""
    beside = [plant(name, folder) for name in fault.beside]
    well = nullcontext() if imported else mock.patch.object(Subject, "observed", {"error": ""})
    with installed(plant(fault.toy, folder, *fault.edits), *beside), well:
        return check_backend(fault.toy, fault.samples, only)


def shown(fault: Fault) -> str:
    """The checks that fail, in a process of its own: some faults are contagious."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "PYTHONPATH": str(TEXT.parents[3])}
        command = [sys.executable, "-m", __spec__.name, "--one", fault.name]
        done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
    return (done.stdout or f"the process ended with status {done.returncode}").strip().splitlines()[-1]


def main(words: list[str]) -> int:
    """Show each fault beside what finds it; 1 where another check fails than is said."""
    if words[:1] == ["--one"]:
        fault = next(item for item in FAULTS if item.name == words[1])
        with tempfile.TemporaryDirectory() as folder:
            print(" ".join(sorted(judged(fault, Path(folder)).failed)))
        return 0
    wrong = 0
    for fault in FAULTS:
        if words and fault.name not in words:
            continue
        failed = set(shown(fault).split())
        wrong += failed - fault.also != {fault.check}
        print(
            f"{'ok ' if failed - fault.also == {fault.check} else 'NO '} {fault.name}: {' '.join(sorted(failed))}",
            flush=True,
        )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
