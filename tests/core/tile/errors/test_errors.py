"""What authors see when a tile call is wrong: each case is the body of a kernel and the whole message.

    == name of the case
    <statements; A, B are (128, 64) float16, C (128,) float16, F (128, 64) float32, I (128, 64) int32 in global memory>
    -- output
    <what is printed>

A body is run in both ways, parsed and traced, and must say the same. `pytest --update-golden` writes what came out.
"""

from __future__ import annotations

import linecache
import re
import sys
from pathlib import Path
from textwrap import indent

import pytest

import tirx
from tests.core.script.errors.test_errors import HEAD, update, without_columns
from tirx import script as Tx
from tirx.analysis.verify import check_module
from tirx.ir import IRModule
from tirx.support.errors import TirxError

HERE = Path(__file__).parent
PARSED = """\
@Tx.prim_func
def kernel(A: Tx.Buffer((128, 64), "float16"), B: Tx.Buffer((128, 64), "float16"), C: Tx.Buffer((128,), "float16"),
           F: Tx.Buffer((128, 64), "float32"), I: Tx.Buffer((128, 64), "int32"), n: Tx.int32, x: Tx.float32):
"""
TRACED = """\
def kernel(A, B, C, F, I, n, x):
# line 2
# line 3
"""
RUN = """
kernel = Tx.trace(kernel, Tx.Buffer((128, 64), "float16"), Tx.Buffer((128, 64), "float16"), Tx.Buffer((128,), "float16"),
    Tx.Buffer((128, 64), "float32"), Tx.Buffer((128, 64), "int32"), Tx.int32, Tx.float32)
"""
ENTRY = "    Tx.device_entry(); bx = Tx.cta_id([8]); tx = Tx.thread_id([64])\n"


def cases() -> list[tuple[Path, str, str, str]]:
    """File, name, statements and expected output of each case."""
    found = []
    for path in sorted(HERE.glob("*.txt")):
        parts = HEAD.split(path.read_text())[1:]
        for name, body in zip(parts[::2], parts[1::2], strict=True):
            text, _, output = body.partition("\n-- output\n")
            found.append((path, name, text.strip("\n"), output.strip("\n")))
    return found


WITHOUT_COLUMNS = {
    "misspelt operation"
}  # on Python 3.10, which keeps no columns: the whole call is marked, not its name
CASES = cases()
IDS = [f"{case[0].stem}-{case[1]}" for case in CASES]


def message_of(body: str, *, parsed: bool) -> str:
    """What a kernel with `body` prints."""
    lines = indent(body, "    ")
    text = (PARSED if parsed else TRACED) + ("" if "device_entry" in body else ENTRY) + lines + ("" if parsed else RUN)
    path = "kernel.py"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    space = {"Tx": Tx, "__name__": "kernel"}
    try:
        exec(compile(text, path, "exec", dont_inherit=True), space)
        check_module(IRModule.of(space["kernel"]), tirx.Target("generic"))  # type: ignore[arg-type]
    except TirxError as error:
        return str(error)
    finally:
        del linecache.cache[path]
    return "no error"


@pytest.mark.parametrize(("path", "name", "body", "expected"), CASES, ids=IDS)
def test_message(path: Path, name: str, body: str, expected: str, request: pytest.FixtureRequest) -> None:
    output = message_of(body, parsed=True)
    if request.config.getoption("--update-golden"):
        update(path, name, output)
        return
    if sys.version_info < (3, 11) and name in WITHOUT_COLUMNS:
        output, expected = without_columns(output), without_columns(expected)
    assert output == expected


@pytest.mark.parametrize(("path", "name", "body", "expected"), CASES, ids=IDS)
def test_message_of_a_traced_kernel(path: Path, name: str, body: str, expected: str) -> None:
    output = re.sub(r"\n  called from .*(\n +\d+ \| .*|\n +\| +\^+)*", "", message_of(body, parsed=False))
    if sys.version_info < (3, 11):
        output, expected = without_columns(output), without_columns(expected)
    assert output == re.sub(r"\n  called from .*(\n +\d+ \| .*|\n +\| +\^+)*", "", expected)


def test_every_mistake_is_placed_and_explained() -> None:
    assert len(CASES) >= 40
    for _, name, _, expected in CASES:
        assert re.match(r"kernel\.py:\d+:\d+: error: ", expected), name
        assert "\n  help: " in expected, name
