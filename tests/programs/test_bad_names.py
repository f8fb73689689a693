"""Names and strings that would mean something else in generated text: nothing of them leaves its place."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

import tirx
from tests.programs.bad import fill, traced
from tests.programs.examples import binary_or_skip
from tirx import script as Tx
from tirx.ir import PrimFunc, structural_equal
from tirx.support.errors import ScriptError, TargetError, TirxError

pytestmark = pytest.mark.needs("tirx-backend-cuda")

NAMES = [
    "half",
    "int",
    "threadIdx",
    "__global__",
    "été",
    "変数",
    "lambda",
    "None",
    "def",
    "match",
    "T",
    "Tx",
    "a b",
    "../x",
    "x; } //",
]
HOSTILE = ['"; } evil {', "\\", "\n} evil {", "*/ evil /*", "??/\n", "%n%s", "\0", "é", "' + evil + '", "// \\\nevil"]


def source(kernel: PrimFunc, **config: Any) -> str:
    return tirx.compile(kernel, "cuda", config=config).source.text


def outside_of_strings(text: str) -> str:
    """C++ source without its string literals."""
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)


def reads_back(kernel: PrimFunc) -> bool:
    return structural_equal(Tx.from_source(kernel.script()), kernel)


@Tx.prim_func
def half(
    int: Tx.Buffer((64,), "float32"),
    threadIdx: Tx.Buffer((64,), "float32"),
    __global__: Tx.float32,
    été: Tx.float32,
    extern: Tx.float32,
):
    Tx.device_entry()
    float = Tx.thread_id([64])
    blockIdx: Tx.float32 = int[float] * __global__
    half2: Tx.float32 = été + extern
    threadIdx[float] = blockIdx + half2


def test_keywords_of_the_target_are_fine_names() -> None:
    text = source(half)
    assert "int_[float_] * global" in text
    assert not re.search(r"\b(int|float|threadIdx|blockIdx|half2|extern)( =|\[| \*|;)", text)
    assert reads_back(half)


@pytest.mark.slow
def test_the_compiler_takes_them() -> None:
    for kernel in (half, *(traced(fill, name=name, argument=name) for name in NAMES)):
        assert binary_or_skip(kernel, "cuda -arch=sm_90a").resources


@pytest.mark.parametrize("name", NAMES)
def test_kernels_and_arguments_may_be_called_anything(name: str) -> None:
    kernel = traced(fill, name=name, argument=name)
    head = source(kernel).splitlines()[0]
    assert re.fullmatch(
        r'extern "C" __global__ void __launch_bounds__\(64\) [A-Za-z_]\w*\(float\* __restrict__ [A-Za-z_]\w*\) {', head
    )
    assert reads_back(kernel)


@pytest.mark.parametrize("name", ["", " ", None, 3])
def test_a_function_needs_a_name(name: Any) -> None:
    with pytest.raises(ScriptError, match="a function needs a name"):
        traced(fill, name=name)


def test_names_that_would_collide_stay_apart() -> None:
    def body(x: Any, tx: Any) -> None:
        first, second = Tx.Bind(x[tx]), Tx.Bind(x[63 - tx])
        for value, name in ((first, "v a"), (second, "v_a")):
            value.name = name if hasattr(value, "name") else None
        Tx.buffer_store(x, first + second, [tx])

    kernel = traced(body)
    declared = re.findall(r"^  (?:float|int) (\w+) =", source(kernel), re.MULTILINE)
    assert len(declared) == len(set(declared)) == 3
    assert reads_back(kernel)


@pytest.mark.parametrize("text", HOSTILE)
def test_messages_of_assertions_stay_strings(text: str) -> None:
    kernel = traced(lambda x, tx: (Tx.Assert(tx < 3, text), fill(x, tx)))
    assert "evil" not in outside_of_strings(source(kernel))
    assert reads_back(kernel)


@pytest.mark.parametrize("text", [text for text in HOSTILE if "%" not in text])
def test_formats_stay_strings(text: str) -> None:
    kernel = traced(lambda x, tx: (Tx.evaluate(Tx.cuda.printf(text + "%d", tx)), fill(x, tx)))
    assert "evil" not in outside_of_strings(source(kernel))
    assert reads_back(kernel)


@pytest.mark.parametrize("text", HOSTILE)
def test_attributes_and_hints_reach_no_source(text: str) -> None:
    def body(x: Any, tx: Any) -> None:
        Tx.func_attr({"note": text})
        with Tx.hint(text), Tx.attr({"pragma_note": text}):
            fill(x, tx)

    kernel = traced(body)
    assert "evil" not in source(kernel)
    assert reads_back(kernel)


@pytest.mark.parametrize("name", ["f(); } //", "f g", "", "f\n", "1f"])
def test_only_names_can_be_called(name: str) -> None:
    for call in (
        lambda x, tx: Tx.call_extern("float32", name, x[tx]),
        lambda x, tx: Tx.cuda.func_call(name, x[tx], source_code=f"float {name}(float a);", return_type="float32"),
    ):
        with pytest.raises(TirxError, match=r"is not the name of a function|the name of a function"):
            source(traced(lambda x, tx, call=call: Tx.buffer_store(x, call(x, tx), [tx])))


def test_given_source_must_define_the_function() -> None:
    def body(x: Any, tx: Any) -> None:
        Tx.buffer_store(x, Tx.cuda.func_call("f", x[tx], source_code="} evil {", return_type="float32"), [tx])

    with pytest.raises(TargetError, match="the source given for `f` does not define it"):
        source(traced(body))


def test_paths_in_line_directives_stay_strings(tmp_path: Path) -> None:
    folder = tmp_path / 'a"\n} evil {\\'
    folder.mkdir()
    file = folder / "kernel.py"
    file.write_text((Path(__file__).parent / "neutral/scale.py").read_text())
    spec = importlib.util.spec_from_file_location("oddly_placed", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = source(module.KERNEL, line_directives=True)
    assert "#line" in text
    assert "evil" not in outside_of_strings(text)
