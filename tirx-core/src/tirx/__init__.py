"""TIRx: a kernel language embedded in Python, and a compiler for it."""
