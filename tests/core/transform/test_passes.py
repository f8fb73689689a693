"""What passes do: one small program a file, and behind `----` how it prints after the pass named in `# until:`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tirx.ir import IRModule, PrimFunc, structural_equal
from tirx.script import from_source
from tirx.target import Capabilities, Target
from tirx.transform import SIMT_LOWER, SIMT_PREPARE, PassContext, run_passes
from tirx.transform.instruments import VerifyEach

CASES = sorted((Path(__file__).parent / "cases").glob("*.txt"))


def make_target(name: str) -> Target:
    """A target by its text; one of them lacks arithmetic that it can store."""
    if name != "generic-without-bfloat16":
        return Target(name)
    target = Target("generic")
    known = target.capabilities
    target._capabilities = Capabilities(
        tuple(known.dtypes), tuple(known.constructs), arithmetic=tuple(known.dtypes - {"bfloat16"})
    )
    return target


def lowered(text: str) -> IRModule:
    """The module after the passes up to the one that the second line names."""
    first, second, program = text.split("\n", 2)
    target = make_target(first.removeprefix("# target: "))
    steps = (*SIMT_LOWER, *SIMT_PREPARE)
    names = [step.name for step in steps]
    func = from_source(program, filename="kernel.py")
    module = IRModule([func]) if isinstance(func, PrimFunc) else func
    until = names.index(second.removeprefix("# until: ")) + 1
    return run_passes(steps[:until], module, PassContext(target, instruments=[VerifyEach()]))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_pass(path: Path, request: pytest.FixtureRequest) -> None:
    program, _, expected = path.read_text(encoding="utf-8").partition("----\n")
    module = lowered(program)
    found = module.script() + "\n"
    assert structural_equal(from_source(found), module)
    if request.config.getoption("--update-golden"):
        path.write_text(f"{program}----\n{found}", encoding="utf-8")
        return
    assert found == expected
