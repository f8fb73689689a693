"""run.py: what a newcomer calls first, on a machine with only Python."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.docs.blocks import ROOT


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """run.py as a module that works on a folder of its own."""
    spec = importlib.util.spec_from_file_location("run_under_test", ROOT / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    return module


def test_without_a_command_it_explains_itself(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main([]) == 0
    assert {line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]} == set(script.COMMANDS)


def test_an_unknown_command_is_refused(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert script.main(["tset"]) == 2
    assert "unknown command 'tset'" in capsys.readouterr().err


def test_an_old_python_is_refused(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(script, "OLDEST", (99, 0))
    assert script.main(["setup"]) == 1
    assert "Python 99.0 or newer is needed" in capsys.readouterr().err


def test_a_python_without_venv_is_told_what_to_install(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    assert script.main(["setup"]) == 1
    assert f"sudo apt install python3.{sys.version_info[1]}-venv" in capsys.readouterr().err
    assert not script.VENV.exists()


def test_an_environment_of_somebody_else_is_kept(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    script.VENV.mkdir()
    assert script.main(["clean"]) == 1
    assert script.main(["setup"]) == 1
    assert script.VENV.exists()
    assert "was not made by run.py" in capsys.readouterr().err


def test_an_interrupted_environment_is_made_anew(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(command: list[str], failure: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(script, "run", interrupted)
    assert script.main(["setup"]) == 130
    monkeypatch.setattr(script, "run", lambda command, failure: calls.append(command))
    calls: list[list[str]] = []
    script.set_up(("test",))
    assert calls[0][1:3] == ["-m", "venv"]


def test_a_second_call_does_nothing(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(script, "run", lambda command, failure: calls.append(command))
    script.set_up(("test",))
    python = script.python_of(script.VENV)
    python.parent.mkdir()
    python.touch()
    first = len(calls)
    script.set_up(("test",))
    assert first == len(calls) > 0


def test_an_environment_whose_python_is_gone_is_made_anew(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []
    monkeypatch.setattr(script, "run", lambda command, failure: calls.append(command))
    script.set_up(("test",))
    script.set_up(("test",))
    assert [command[1:3] for command in calls].count(["-m", "venv"]) == 2


def test_a_failed_step_is_an_error_that_shows_the_command(script: ModuleType) -> None:
    with pytest.raises(script.SetupError, match=r"it broke \(see above\).*-c raise SystemExit"):
        script.run([sys.executable, "-c", "raise SystemExit(3)"], "it broke")


def test_ci_calls_the_test_command_of_the_readme() -> None:
    command = "python3 run.py test"
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert command in (ROOT / ".ci/run").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name == "nt", reason="bash")
def test_the_ci_script_is_valid_bash() -> None:
    subprocess.run(["bash", "-n", str(ROOT / ".ci/run")], check=True)
