"""Every command alike: help with examples, the same words for the same options, JSON where there is data, exit codes 0, 1, 2."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from tests.core.cli.commands import Shell
from tirx.cli.app import app
from tirx.runtime.cache import BinaryCache

CONTEXT = click.Context(app)
NAMES = app.list_commands(CONTEXT)
WITHOUT_DATA = {"completion"}  # what it writes is for shells

# Options that several commands have: their short form, and what their value is called.
SHARED = {
    "--json": ("", None),
    "--target": ("-t", "TARGET"),
    "--output": ("-o", None),
    "--set": ("", "NAME=VALUE"),
    "--time-limit": ("", "SECONDS"),
    "--function": ("-f", "NAME"),
}

# words that end well, words about something that has a fault (None: it reports on what is there), words that are wrong usage
CASES: dict[str, tuple[str, str | None, str]] = {
    "compile": ("scale.py --emit launch", "mistake.py", "scale.py --emit nothing"),
    "run": ("scale.py --arg x=ones:4 --arg a=1", "faulty.py", "scale.py --on moon"),
    "check": ("scale.py", "mistake.py", "scale.py --time-limit no"),
    "explain": ("tiles.py", "mistake.py", "tiles.py --size n"),
    "layout": ("S[(4,4):(4,1)]", "S[(4", "S[(4,4):(4,1)] --banks 0"),
    "targets": ("generic", "nothing_of_that_name", "generic more"),
    "backends": ("list", "verify no_such_file", "unlock"),
    "conform": ("any --list", "nobody", "nobody --only nonsense"),
    "new-backend": ("acme", "acme -o empty.py/in", "1acme"),
    "why": ("acme", None, ""),
    "doctor": ("", None, "now"),
    "stubs": ("-o typings", "-o empty.py/in", "--nothing"),
    "cache": ("info", None, "empty"),
    "completion": ("fish", None, "tcsh"),
}


def options() -> list[tuple[str, click.Option]]:
    """Every option of every command."""
    found = [(name, app.get_command(CONTEXT, name)) for name in NAMES]
    return [(name, item) for name, made in found if made for item in made.params if isinstance(item, click.Option)]


def test_every_command_has_a_case() -> None:
    assert list(CASES) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_help_has_examples_that_are_commands(tirx: Shell, name: str) -> None:
    shown = tirx(name, "--help").out
    assert shown == tirx(name, "-h").out
    assert shown.startswith(f"Usage: tirx {name} ")
    examples = re.findall(rf"^  (tirx {name}\b.*)$", shown, re.MULTILINE)
    assert examples, shown
    known = set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", shown.partition("Options:")[2]))
    for example in examples:
        assert {word for word in example.split() if re.fullmatch(r"--?[a-z][a-z-]*", word)} <= known


@pytest.mark.parametrize("name", NAMES)
def test_json_where_there_is_data(name: str) -> None:
    flags = {flag for command, option in options() if command == name for flag in option.opts}
    assert ("--json" in flags) == (name not in WITHOUT_DATA)


def test_the_same_option_is_the_same_everywhere() -> None:
    for command, option in options():
        long = next(flag for flag in option.opts if flag.startswith("--"))
        assert option.help, f"tirx {command} {long} has no help"
        assert option.help[0].isupper(), f"tirx {command} {long}"
        assert option.help.rstrip(")").endswith((".", "]")) or ")" in option.help, (
            f"tirx {command} {long}: {option.help}"
        )
        if long in SHARED:
            short, metavar = SHARED[long]
            assert [flag for flag in option.opts if not flag.startswith("--")] == ([short] if short else []), command
            assert metavar is None or option.metavar == metavar, command


@pytest.mark.parametrize("name", NAMES)
def test_exit_codes(tirx: Shell, name: str) -> None:
    well, fault, usage = (None if words is None else words.split() for words in CASES[name])
    assert well is not None
    assert usage is not None
    tirx(name, *well)
    if fault is not None:
        shown = tirx(name, *fault, status=1)
        assert "Traceback" not in shown.err
    shown = tirx(name, *usage, status=2)
    assert re.search(rf"^Usage: tirx {name}|^Error: |^error: ", shown.err, re.MULTILINE)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_DATA])
def test_json_is_json_and_nothing_else(tirx: Shell, name: str) -> None:
    well, fault, _ = CASES[name]
    assert json.loads(tirx(name, *well.split(), "--json").out)
    if name in ("check", "explain", "run"):
        assert fault is not None
        json.loads(tirx(name, *fault.split(), "--json", status=1).out or "null")


def test_the_cache_can_be_seen_and_cleared(tirx: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIRX_CACHE", "store")
    cache = BinaryCache(Path("store"))
    cache.put("a", {}, b"x" * (1 << 20))
    shown = tirx("cache").out
    assert re.search(
        r"^folder   store\nentries  1, 1\.0 of 1024 MiB\nused     1 second ago at latest, 1 second ago", shown
    )
    found = json.loads(tirx("cache", "--json").out)
    assert (found["directory"], found["entries"]) == ("store", 1)
    assert tirx("cache", "clear").out == "1 removed\n"
    assert json.loads(tirx("cache", "clear", "--json").out) == {"removed": 0}
    assert tirx("cache").out == "folder   store\nentries  0, 0.0 of 1024 MiB\n"
    monkeypatch.setenv("TIRX_CACHE", "0")
    assert tirx("cache").out == "off (TIRX_CACHE=0)\n"


def test_a_cache_that_cannot_be_cleared_is_an_error(tirx: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIRX_CACHE", "store")
    BinaryCache(Path("store")).put("a", {}, b"x")

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(Path, "unlink", refuse)
    assert "1 entries of store cannot be removed" in tirx("cache", "clear", status=1).err


def completed(line: str) -> list[str]:
    """What bash is told to offer for the last word of a line."""
    asked = {"_TIRX_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "tirx.cli"], env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@pytest.mark.usefixtures("tirx")
def test_completion() -> None:
    assert completed("tirx co") == ["plain,compile", "plain,conform", "plain,completion"]
    assert completed("tirx check sc") == ["file,sc"]
    assert completed("tirx check scale.py --time") == ["plain,--time-limit"]
    assert completed("tirx compile scale.py --target ge") == ["plain,generic"]
    assert completed("tirx cache c") == ["plain,clear"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts_name_the_command(tirx: Shell, shell: str) -> None:
    assert f"_TIRX_COMPLETE={shell}_complete" in tirx("completion", shell).out
