"""The answer of a plugin that is whole but cannot work here."""

from __future__ import annotations

from tirx.support.errors import BackendError

__all__ = ["UnavailableError"]


class UnavailableError(BackendError):
    """Raised by a plugin while it loads: say why it cannot work on this machine, and in `hint` what would help."""
