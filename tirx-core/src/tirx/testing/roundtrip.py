"""Text and back: what the printer writes, the parser reads."""

from __future__ import annotations

from typing import Any

from ..ir import IRModule, PrimFunc, structural_equal
from ..script.printer import to_script
from ..script.text import from_source
from .compare import first_difference

__all__ = ["assert_round_trip"]


def assert_round_trip(program: PrimFunc | IRModule) -> Any:
    """Print, read back and compare; the text must also be the same the second time. What was read."""
    text = to_script(program)
    try:
        back = from_source(text)
    except Exception as error:
        error.add_note(text) if hasattr(error, "add_note") else None
        raise
    if isinstance(program, IRModule) and isinstance(back, PrimFunc):
        back = IRModule([back], program.attrs)
    if not structural_equal(program, back):
        raise AssertionError(f"{first_difference(program, back)}\n--- written\n{text}\n--- read as\n{to_script(back)}")
    again = to_script(back)
    if again != text:
        raise AssertionError(f"the text changes when it is written again\n--- first\n{text}\n--- then\n{again}")
    return back
