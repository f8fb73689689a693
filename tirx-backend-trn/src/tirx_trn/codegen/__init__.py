"""From device functions to NKI source: names, expressions, instructions, functions."""
