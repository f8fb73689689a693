"""How the cases of this folder are run: each is a small file that leaves its result in `kernel`."""

from __future__ import annotations

import linecache
from typing import Any

from tirx import script as Tx
from tirx.script.printer import to_script
from tirx.support.errors import TirxError

PATH = "kernel.py"


def run(text: str) -> Any:
    """What the file leaves in `kernel`."""
    linecache.cache[PATH] = (len(text), None, text.splitlines(keepends=True), PATH)
    space: dict[str, Any] = {"Tx": Tx, "__name__": "kernel"}
    exec(compile(text, PATH, "exec", dont_inherit=True), space)
    return space.get("kernel")


def message(text: str) -> str:
    """The error that the file raises."""
    try:
        run(text)
        return "no error"
    except TirxError as error:
        return str(error)
    finally:
        linecache.cache.pop(PATH, None)


def script(value: Any) -> str:
    """Its text without the comments at the top."""
    lines = to_script(value).splitlines()
    return "\n".join(line for line in lines if not line.startswith("# from")).strip("\n")
