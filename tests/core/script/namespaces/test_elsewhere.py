"""What people write who come from other languages: every answer names something that is there."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

import pytest

import tirx
from tirx import script as Tx
from tirx.ir import Buffer, DType
from tirx.runtime import Executable
from tirx.support.elsewhere import advice, elsewhere
from tirx.support.errors import ScriptError, TargetError
from tirx.target import Target
from tirx.tile.ops import ALL

OPERATIONS = {row.name for row in ALL}
BY_BACKENDS = {"cuda", "ptx", "nki"}  # namespaces that core does not have
ENTRIES = sorted(elsewhere().items())


def exists(kind: str, name: str) -> bool:
    """Whether a name that an answer gives is there."""
    places: dict[str, Any] = {
        "language": lambda: hasattr(Tx, name),
        "dtype": lambda: bool(DType(name)),
        "tile": lambda: name in OPERATIONS,
        "scope": lambda: name in ("shared", "shared.dyn", "local", "global", "trn.sbuf", "trn.psum"),
        "target": lambda: name in ("cuda", "trn"),
        "package": lambda: name in tirx.__all__,
        "executable": lambda: hasattr(Executable, name),
    }
    return bool(places[kind]())


@pytest.mark.parametrize("kind", sorted({kind for kind, _ in elsewhere()}))
def test_other_names_are_there(kind: str) -> None:
    others = {text[1:] for (found, _), text in ENTRIES if found == kind and text.startswith("=")}
    assert not [name for name in others if not exists(kind, name)]


def test_sentences_name_what_is_there() -> None:
    for (_, word), text in ENTRIES:
        for path in re.findall(r"\bTx((?:\.\w+)+)", text.replace("{0}", "copy")):
            first, *rest = path[1:].split(".")
            if first in BY_BACKENDS or text.count("{0}"):
                continue
            value = getattr(Tx, first)
            assert all(name in OPERATIONS or hasattr(value, name) for name in rest), f"{word}: {text}"


def test_names_that_are_there_need_no_advice() -> None:
    assert not [name for kind, name in elsewhere() if kind == "language" and name in Tx.__all__]
    assert not [name for kind, name in elsewhere() if kind == "tile" and name in OPERATIONS]
    assert not [name for kind, name in elsewhere() if kind == "package" and name in tirx.__all__]
    assert not [name for kind, name in elsewhere() if kind == "buffer" and hasattr(Buffer, name)]


def test_advice() -> None:
    assert advice("dtype", "half") == "did you mean `float16`?"
    assert advice("value", "sqrt") == "it is a function: Tx.sqrt(x)"
    assert advice("dtype", "sqrt") is None


@pytest.mark.parametrize(
    ("name", "hint"),
    [("jit", "then Tx.jit"), ("build", "did you mean `compile`?"), ("simulat", "did you mean `simulate`")],
)
def test_names_of_the_package(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(hint)):
        getattr(tirx, name)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("gpu", "there is no target kind `gpu`"),
        ("generic width=32", "write it -width=32"),
        ("generic -width 32", "write it -width=32"),
        ("sm_90", 'it is an architecture: "cuda -arch=sm_90"'),
        ("zebra", "`tirx targets zebra` searches products"),
        ("llvm", "tirx.simulate"),
    ],
)
def test_targets(given: str, message: str) -> None:
    with pytest.raises(TargetError) as caught:
        Target(given)
    assert message in str(caught.value)


def plain(x: Any) -> None:
    """Not a kernel."""


@Tx.jit
def unspecialised(x: Tx.Buffer((8,), "float32"), N: Tx.constexpr):
    Tx.device_entry()
    x[N] = 1.0


@Tx.prim_func
def kernel(x: Tx.Buffer((8,), "float32")):
    Tx.device_entry()
    Tx.thread_id([1])
    x[0] = 1.0


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        (plain, "`plain` is a plain function of Python, not a kernel", "@Tx.prim_func"),
        (unspecialised, "`unspecialised` has compile-time parameters, and is no kernel yet", "unspecialised.specialize("),
        ("kernel.py", "a str is no kernel", "`tirx compile FILE`"),
        ([kernel], "a list is no kernel", "IRModule"),
        (ModuleType("m"), "a module is no kernel", "one of its kernels"),
        (3, "an int is no kernel", "@Tx.prim_func"),
    ],
)  # fmt: skip
def test_what_is_no_kernel(given: Any, message: str, hint: str) -> None:
    with pytest.raises(ScriptError) as caught:
        tirx.compile(given, "generic")
    assert caught.value.message == message
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize("launch", [lambda: kernel[1, 64], lambda: unspecialised[1]])
def test_kernels_are_not_launched_with_a_grid(launch: Any) -> None:
    with pytest.raises(ScriptError, match=r"\[\.\.\.\]` is no launch: the grid is part of the kernel") as caught:
        launch()
    assert "tirx.compile(" in str(caught.value.hint)
    assert caught.value.span is not None
    with pytest.raises(TypeError):
        iter(kernel)


def test_compile_time_values_go_by_name() -> None:
    with pytest.raises(ScriptError, match="takes its values by name"):
        unspecialised.specialize(3)


@pytest.mark.parametrize(
    ("name", "hint"), [("asm", "`source`"), ("save", "executable.source"), ("zebra", "has no `zebra`")]
)
def test_names_of_executables(name: str, hint: str) -> None:
    with pytest.raises(AttributeError, match=hint):
        getattr(tirx.compile(kernel, "generic"), name)
