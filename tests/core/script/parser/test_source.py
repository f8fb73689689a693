"""Where the text comes from: files, notebooks, strings; and what is said when there is none."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tirx import script as Tx
from tirx.ir import IRModule, PrimFunc, structural_equal
from tirx.script import ir as I
from tirx.support.errors import ScriptError

KERNEL = textwrap.dedent(
    """
    from tirx import script as Tx

    @Tx.prim_func
    def f(A: Tx.Buffer((4,), "float32")):
        A[0] = 1.0
    """
)


def python(*args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, check=False, env={**os.environ, **env}, timeout=60
    )


def test_a_command_line_has_no_source() -> None:
    done = python("-c", f"exec({KERNEL!r})")
    assert "the source of `f` is not available (<string> is no file)" in done.stderr
    assert "tirx.script.from_source(text)" in done.stderr


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text("import pathlib\npathlib.Path(__file__).write_text('# gone')\n" + KERNEL)
    done = python(str(path))
    assert "is not at line 6 of" in done.stderr
    assert "the file changed after it was imported" in done.stderr


def test_notebooks_keep_their_text_in_linecache() -> None:
    name = "<ipython-input-1-abc>"
    linecache.cache[name] = (len(KERNEL), None, KERNEL.splitlines(keepends=True), name)
    space: dict[str, object] = {}
    exec(compile(KERNEL, name, "exec"), space)
    assert isinstance(space["f"], PrimFunc)


def test_two_functions_of_one_name_on_one_line() -> None:
    space: dict[str, object] = {"keep": [], "Tx": Tx}
    text = "for k in (1, 2):\n  def f(A: Tx.Buffer((4,))): A[k] = 1.0\n  keep.append(Tx.prim_func(f))\n"
    linecache.cache["<line>"] = (len(text), None, text.splitlines(keepends=True), "<line>")
    exec(compile(text, "<line>", "exec"), space)
    first, second = space["keep"]  # type: ignore[misc]
    assert [func.body.indices[0].value for func in (first, second)] == [1, 2]


def test_indented_and_decorated_functions_have_exact_places() -> None:
    class Holder:
        if True:

            @staticmethod
            @Tx.prim_func
            def f(
                A: Tx.Buffer((4,)),
            ):
                A[0] = (
                    A[1] + 1.0
                )  # fmt: skip

    func: Any = Holder.f
    store = func.body
    line = Path(__file__).read_text().splitlines()[store.span.line - 1]
    assert line.strip() == "A[0] = ("
    assert line[store.span.column :].startswith("A[0]")
    text = Path(__file__).read_text().splitlines()[store.value.span.line - 1]
    assert text[store.value.span.column : store.value.span.end_column] == "A[1] + 1.0"


class TestFromSource:
    def test_one_function(self) -> None:
        text = textwrap.dedent(
            """
            # from tirx.script import tirx as T
            @T.prim_func
            def f(A: T.Buffer(("m", 64)), B: T.Buffer((m, 64)), s: T.float32):
                for i in range(m):
                    A[i, 0] = B[i, 1] * s
            """
        ).replace("# from tirx.script import tirx as T", "# from tirx import script as T")
        func = Tx.from_source(text)
        assert isinstance(func, PrimFunc)
        assert [var.name for var in func.symbols()] == ["m"]

    def test_several_functions_and_a_module(self) -> None:
        text = "@T.prim_func\ndef f(A: T.handle):\n    pass\n\n@T.prim_func\ndef g(A: T.handle):\n    pass\n"
        module = Tx.from_source(text)
        assert isinstance(module, IRModule)
        assert list(module.functions) == ["f", "g"]
        body = textwrap.indent(text, "    ")
        again = Tx.from_source(f'@I.ir_module\nclass M:\n    I.module_attrs({{"k": 1}})\n{body}')
        assert list(again.functions) == ["f", "g"]
        assert again.attrs == {"k": 1}

    def test_names_and_file_name(self) -> None:
        text = "@T.prim_func\ndef f(A: T.Buffer((size,))):\n    A[size] = 1.0\n"
        with pytest.raises(ScriptError) as info:
            Tx.from_source(text, {"size": 3}, filename="printed.py")
        assert str(info.value).startswith("printed.py:3:5: error: index 3 is outside dimension 0 of `A` (3)")
        assert "3 |     A[size] = 1.0" in str(info.value)

    def test_text_without_a_file_name_is_that_of_its_function(self) -> None:
        text = "@T.prim_func\ndef unnamed(A: T.Buffer((3,))):\n    A[{}] = 1.0\n"
        shown = []
        for index in (3, 4, 3):
            with pytest.raises(ScriptError) as info:
                Tx.from_source(text.format(index))
            shown.append(str(info.value).splitlines()[:2])
        assert [first.partition(" error")[0] for first, _ in shown] == [
            "<text of unnamed>:3:5:",
            "<text of unnamed, 2>:3:5:",
            "<text of unnamed>:3:5:",
        ]
        assert [line for _, line in shown] == [f"  3 |     A[{index}] = 1.0" for index in (3, 4, 3)]
        with pytest.raises(ScriptError) as info:
            Tx.from_source("x = 1\n")
        assert info.value.span.path.startswith("<text")

    def test_text_that_is_no_python(self) -> None:
        with pytest.raises(ScriptError, match="the text is no Python") as info:
            Tx.from_source("def f(:\n", filename="bad.py")
        assert (info.value.span.line, info.value.span.column) == (1, 6)

    def test_text_without_a_kernel(self) -> None:
        with pytest.raises(ScriptError, match="defines no kernel"):
            Tx.from_source("x = 1\n")


def test_a_module_of_kernels() -> None:
    @I.ir_module
    class Module:
        I.module_attrs({"note": "n"})

        @Tx.prim_func
        def f(A: Tx.Buffer((4,))):
            A[0] = 1.0

        @Tx.prim_func
        def g(A: Tx.Buffer((4,))):
            A[1] = 1.0

    assert isinstance(Module, IRModule)
    assert list(Module.functions) == ["f", "g"]
    assert Module.attrs == {"note": "n"}
    same = Tx.from_source('@T.prim_func\ndef f(A: T.Buffer((4,), "float32")):\n    A[0] = 1.0\n')
    assert structural_equal(Module["f"], same)
