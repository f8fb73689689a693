"""Forms as lines of PTX, and what the assembler of the compiler's wheel says of them."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tirx_cuda.ptx.forms import Form, Part

__all__ = ["VERSION", "accepted", "find_ptxas", "line_of"]

VERSION = "9.5"
_COUNTS = {
    "b32 %r": 300,
    "b64 %rd": 64,
    "b16 %rs": 64,
    "b8 %rb": 16,
    "b128 %rq": 8,
    "f32 %f": 300,
    "f64 %fd": 64,
    "pred %p": 16,
}
_REGISTERS = " ".join(f".reg .{name}<{count}>;" for name, count in _COUNTS.items())
_ERROR = re.compile(r"line (\d+); (?:error|fatal)")


def find_ptxas() -> str | None:
    """The assembler in the wheel of the compiler; one on the PATH may be of any age."""
    spec = importlib.util.find_spec("nvidia")
    places = list(spec.submodule_search_locations or ()) if spec is not None else []
    found = [str(path) for place in places for path in Path(place).glob("*/bin/ptxas")]
    return found[0] if found else None


def _register(part: Part) -> str:
    if part.kind == "memory":
        return "r" if part.space.startswith("shared") or part.space == "tmem" else "rd"
    assert part.type is not None
    named = {"pred": "p", "f32": "f", "f64": "fd"}.get(part.type.name)
    return named or {8: "rb", 16: "rs", 32: "r", 64: "rd", 128: "rq"}[part.type.bits]


def line_of(form: Form) -> str:
    """The instruction with registers and immediates of the right kinds."""
    used: dict[str, int] = {}
    names = []
    for part in form.parts:
        if part.kind == "imm":
            names.append(str(part.choices[0] if part.choices else 1))
            continue
        register = _register(part)
        used[register] = used.get(register, 0) + 1
        names.append(f"%{register}{used[register]}")
    body = re.sub(r"%(\d+)", lambda found: names[int(found[1])], form.template)
    return f"{form.mnemonic}{' ' if body else ''}{body};"


def accepted(lines: Sequence[str], arch: str) -> set[int]:
    """The numbers of the lines that assemble for `arch`: one module of many kernels, without those that fail, until it passes."""
    ptxas = find_ptxas()
    assert ptxas is not None
    alive = dict(enumerate(lines))
    while alive:
        text, places = _module(alive, arch)
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file:
            file.write(text)
            file.flush()
            command = [ptxas, f"-arch={arch}", "-O0", "-o", "/dev/null", file.name]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return set(alive)
        bad = {places[int(found[1])] for found in _ERROR.finditer(done.stderr) if int(found[1]) in places}
        bad |= {int(name) for name in re.findall(r"'k(\d+)'", done.stderr)}
        assert bad & set(alive), done.stderr[:2000]
        alive = {number: line for number, line in alive.items() if number not in bad}
    return set()


def _module(lines: dict[int, str], arch: str) -> tuple[str, dict[int, int]]:
    """One entry for each line, and which line of the text belongs to which."""
    text = [f".version {VERSION}", f".target {arch}", ".address_size 64"]
    places = {}
    for number, line in lines.items():
        text.append(f".visible .entry k{number}() {{ {_REGISTERS}")
        places[len(text) + 1] = number
        text += [line, "ret; }"]
    return "\n".join(text) + "\n", places
