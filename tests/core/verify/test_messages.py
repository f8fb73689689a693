"""What the verifier says, word for word and with positions: one small program a file, its errors behind `----`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tirx.analysis.verify import verify_module
from tirx.ir import INT32, IRModule, PrimFunc, Var
from tirx.script import from_source
from tirx.target import Target
from tirx.transform.bind_target import bind_target
from tirx.transform.mark_kernels import mark_kernels
from tirx.transform.pipeline import PassContext, run_passes

CASES = sorted((Path(__file__).parent / "cases").glob("*.txt"))
NEEDS = {"call_of_another_backend": pytest.mark.needs("tirx-backend-cuda")}


def problems(text: str) -> str:
    """All problems of the program, as people read them."""
    first, _, program = text.partition("\n")
    target = Target(first.removeprefix("# target: "))
    func = from_source(program, {"half": Var("half", INT32)}, filename="kernel.py")
    module = IRModule([func]) if isinstance(func, PrimFunc) else func
    module = run_passes((bind_target, mark_kernels), module, PassContext(target))
    return "".join(f"{item}\n" for item in verify_module(module, target, "bound"))


@pytest.mark.parametrize("path", [pytest.param(path, marks=NEEDS.get(path.stem, ()), id=path.stem) for path in CASES])
def test_message(path: Path, request: pytest.FixtureRequest) -> None:
    program, _, expected = path.read_text(encoding="utf-8").partition("----\n")
    found = problems(program)
    if request.config.getoption("--update-golden"):
        path.write_text(f"{program}----\n{found}", encoding="utf-8")
        return
    assert expected, f"no expectation in {path.name}"
    assert found == expected
