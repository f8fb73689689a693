"""Names of CUDA C++ that `Tx.cuda` has under another name, for hints."""

from __future__ import annotations

from collections.abc import Sequence

from tirx.support.suggest import did_you_mean

__all__ = ["near"]

# Underscores and capitals do not count.
_CALLED = {
    "syncthreads": "cta_sync",
    "syncwarp": "warp_sync",
    "shfl": "__shfl_sync",
    "shfldown": "__shfl_down_sync",
    "shflup": "__shfl_up_sync",
    "shflxor": "__shfl_xor_sync",
    "print": "printf",
    "assert": "trap_when_assert_failed",
    "clock": "clock64",
}
_IDS = {
    "threadidx": "Tx.thread_id([64])",
    "blockidx": "Tx.cta_id([blocks])",
    "laneid": "Tx.lane_id()",
    "warpid": "Tx.warp_id()",
}


def near(name: str, known: Sequence[str]) -> str:
    """What to write instead of `Tx.cuda.<name>`, after a semicolon; empty where nothing resembles it."""
    plain = name.replace("_", "").lower()
    if plain in _IDS:
        return f"; write {_IDS[plain]}"
    same = next((item for item in known if item.replace("_", "").lower() == plain), None)
    found = _CALLED.get(plain) or same
    hint = f"did you mean `{found}`?" if found else did_you_mean(name, known)
    return f"; {hint}" if hint else ""
