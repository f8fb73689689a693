"""The `tirx` command. Each subcommand is a module of this package, imported when it is asked for."""

from __future__ import annotations

from .app import main

__all__ = ["main"]
