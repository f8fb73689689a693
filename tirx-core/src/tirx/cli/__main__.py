"""`python -m tirx.cli` is `tirx`."""

from __future__ import annotations

from .app import main

main()
