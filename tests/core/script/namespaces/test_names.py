"""`Tx.<name>`: core's at once, backends' when asked for, a clear error otherwise. Each case is a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tirx import script as Tx
from tirx.script.namespaces import UnknownNameError
from tirx.support.errors import TirxError

PLUGIN = """
import sys, types
import tirx.backend
from tirx.backend import hookimpl

space = types.ModuleType("acme_script")
space.vote = lambda x: ("vote", x)
space.Pool = type("Pool", (), {})
sys.modules["acme_script"] = space

class Acme:
    @staticmethod
    @hookimpl
    def tirx_namespaces():
        from tirx.script.row import Namespace
        return [Namespace("acme", "acme_script", doc="votes"), Namespace("AcmePool", "acme_script:Pool", doc="a pool")]

class Broken:
    @staticmethod
    @hookimpl
    def tirx_namespaces():
        raise RuntimeError("no licence")

tirx.backend.register("acme", Acme, distribution="acme-tirx", provides=("namespace.acme", "name.AcmePool"))
tirx.backend.register("broken", Broken, distribution="broken-tirx", provides=("namespace.broken",))
from tirx import script as Tx
"""
PACKED = "there is no packed calling convention here; host code is generated from the kernel's signature"


def run(code: str, tmp_path: Path) -> str:
    """What the code prints in a fresh interpreter, with a plugin installed."""
    text = PLUGIN + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_namespace_loads_only_its_backend(tmp_path: Path) -> None:
    out = run(
        "print(tirx.backend.is_loaded('acme'), Tx.acme.vote(3), tirx.backend.is_loaded('acme'), tirx.backend.is_loaded('broken'))",
        tmp_path,
    )
    assert out == "False ('vote', 3) True False"


def test_a_single_name_comes_from_its_backend(tmp_path: Path) -> None:
    assert run("print(Tx.AcmePool.__name__)", tmp_path) == "Pool"


def test_from_import_finds_backends_too(tmp_path: Path) -> None:
    assert (
        run("from tirx.script import acme, AcmePool; print(acme.vote(1), AcmePool.__name__)", tmp_path)
        == "('vote', 1) Pool"
    )


def test_nothing_is_kept_in_the_module(tmp_path: Path) -> None:
    code = """
    Tx.acme
    print("acme" in vars(Tx))
    tirx.backend.unload("acme")
    print(tirx.backend.is_loaded("acme"))
    """
    assert run(code, tmp_path).split() == ["False", "False"]


def test_dir_and_dunders_load_nothing(tmp_path: Path) -> None:
    code = """
    assert "exp" in dir(Tx) and "float32x4" in dir(Tx)
    print(hasattr(Tx, "__path_of_nothing__"), hasattr(Tx, "_private"), tirx.backend.is_loaded("acme"))
    """
    assert run(code, tmp_path) == "False False False"


def test_a_broken_backend_is_named(tmp_path: Path) -> None:
    code = """
    try:
        Tx.broken
    except tirx.backend.BackendError as error:
        print(type(error).__name__, isinstance(error, AttributeError), "no licence" in str(error), "broken" in str(error))
    """
    assert run(code, tmp_path) == "BackendError False True True"


def test_registered_by_hand() -> None:
    space = object()
    Tx.register_script_namespace("mine", space)
    assert Tx.mine is space


@pytest.mark.parametrize("name", ["1st", "_hidden", "a b"])
def test_a_registered_name_is_a_name(name: str) -> None:
    with pytest.raises(ValueError, match="is not a name"):
        Tx.register_script_namespace(name, object())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("theadid", "the language has no `theadid`\n  help: did you mean `thread_id` or `thread` or `thread_binding`?"),
        ("sblock", "the language has no `sblock`\n  help: schedulable blocks are not part of this language; write the loops"),
        ("call_packed", f"the language has no `call_packed`\n  help: {PACKED}"),
    ],
)  # fmt: skip
def test_an_unknown_name(name: str, message: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        getattr(Tx, name)
    assert isinstance(caught.value, AttributeError | TirxError)
    assert f"{caught.value.message}\n  help: {caught.value.hint}" == message
    assert (caught.value.name, caught.value.obj) == (name, Tx)


def test_from_import_of_an_unknown_name() -> None:
    with pytest.raises(ImportError) as caught:
        exec("from tirx.script import thread_ids")
    assert (
        str(caught.value)
        == "the language has no `thread_ids`\n  help: did you mean `thread_id` or `thread_binding` or `thread`?"
    )


def test_every_listed_name_is_there() -> None:
    missing = [name for name in Tx.__all__ if not hasattr(Tx, name)]
    assert not missing


def test_dtypes_of_the_language() -> None:
    names = [
        "int8x4",
        "uint64x64",
        "float16x2",
        "float8_e4m3fnx16",
        "float4_e2m1fnx8",
        "f16",
        "bf16",
        "boolean",
        "bool",
        "handle",
        "void",
    ]
    assert all(hasattr(Tx, name) for name in names)
    assert str(Tx.bfloat16x2) == "bfloat16x2"
    assert str(Tx.float32x3) == "float32x3"
    assert not any(hasattr(Tx, name) for name in ("float31x2", "float32x1", "float32x0", "x4"))
    assert str(Tx.f16) == "float16"
    assert Tx.float32 == "float32"
