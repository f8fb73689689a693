"""Raises while it is imported."""

raise ImportError("libfoo.so.9: undefined symbol: bar")
