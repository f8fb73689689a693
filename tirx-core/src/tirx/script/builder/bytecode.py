"""Which variable the author's running line assigns its value to: `tx = Tx.thread_id([256])` names the id `tx`.

Read from the instructions after the call, so that traced kernels get the same readable names as parsed ones. Where the value
goes anywhere else (an argument, an attribute, a list) there is no name to see, and the answer is empty.
"""

from __future__ import annotations

import os
import sys
from opcode import EXTENDED_ARG, opmap, opname

from ...support.span import is_internal, is_pinned

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType

__all__ = ["assigned_names"]

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_LANGUAGE = tuple(os.path.join(_ROOT, name) + os.sep for name in ("script", "ir", "intrinsic", "support", "tile"))
_FILLERS = frozenset({"CACHE", "<0>"})
_STORES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")
_GIVES = frozenset(name for name in opmap if name.startswith("CALL")) | {"FOR_ITER", "BEFORE_WITH", "SETUP_WITH"}


def assigned_names(count: int) -> tuple[str, ...]:
    """The names that `count` values made by the innermost author's frame are about to be assigned to; () when unclear."""
    frame: FrameType | None = sys._getframe(1)
    skip = is_language if is_pinned() else is_internal
    while frame is not None and skip(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return ()
    code, at = frame.f_code.co_code, frame.f_lasti
    while at > 0 and opname[code[at]] in _FILLERS:  # the interpreter may stand behind the instruction's own cache
        at -= 2
    if opname[code[at]] not in _GIVES:
        return ()
    found = _stored(frame.f_code, frame.f_lasti + 2, count)
    return found if len(found) == count else ()


def is_language(filename: str) -> bool:
    """Whether a file is part of the language: code of the compiler that builds with it names things as authors do."""
    return filename.startswith(_LANGUAGE)


def _stored(code: CodeType, start: int, count: int) -> tuple[str, ...]:
    """The variables that the instructions from `start` store to, at most `count`."""
    names: list[str] = []
    extended = 0
    for offset in range(start, len(code.co_code), 2):
        name, argument = opname[code.co_code[offset]], code.co_code[offset + 1] | extended
        extended = argument << 8 if code.co_code[offset] == EXTENDED_ARG else 0
        if name in _FILLERS or name == "EXTENDED_ARG":
            continue
        if name == "UNPACK_SEQUENCE" and argument == count and not names:
            continue
        if name == "STORE_FAST_STORE_FAST":
            names += [code.co_varnames[argument >> 4], code.co_varnames[argument & 15]]
        elif name == "STORE_FAST_LOAD_FAST":
            names.append(code.co_varnames[argument >> 4])
        elif name in _STORES:
            names.append(_variable(code, name, argument))
        else:
            break
        if len(names) >= count:
            break
    return tuple(names)


def _variable(code: CodeType, operation: str, argument: int) -> str:
    if operation == "STORE_FAST":
        return code.co_varnames[argument]
    if operation != "STORE_DEREF":
        return code.co_names[argument]
    cells = code.co_cellvars + code.co_freevars
    if sys.version_info >= (3, 11):
        cells = code.co_varnames + tuple(name for name in cells if name not in code.co_varnames)
    return cells[argument]
