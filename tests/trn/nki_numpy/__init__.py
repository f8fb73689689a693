"""A NumPy stand-in for NKI, for the subset that TIRx emits, so that an emitted file can be executed unchanged.

Written from AWS's documentation of NKI 0.3 to 0.6 and of the NeuronCore architectures, not from our emitter. Each rule names
what it follows. It is stricter than the official simulator: what hardware leaves undefined or cannot do is refused, reads of
memory that nobody wrote are refused, and capacity is counted. It shows values; it does not show that a file compiles.

`installed(target)` makes it importable as `nki`, `nki.language` and `nki.isa` for the length of a `with` block.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from tests.trn.nki_numpy import isa, language
from tests.trn.nki_numpy.jit import jit
from tests.trn.nki_numpy.state import NkiError, machine

__all__ = ["NkiError", "installed", "isa", "jit", "language"]


@contextmanager
def installed(generation: str = "v3") -> Iterator[None]:
    """`import nki` finds this package, running as a NeuronCore of `generation`."""
    package = ModuleType("nki")
    package.jit, package.language, package.isa = jit, language, isa  # type: ignore[attr-defined]
    package.simulate, package.__version__ = lambda kernel: kernel, "0.6.0+numpy"  # type: ignore[attr-defined]
    modules = {"nki": package, "nki.language": language, "nki.isa": isa}
    before = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    machine.start(generation)
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
