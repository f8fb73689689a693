"""A NumPy stand-in for NKI, for the subset that TIRx emits, so that an emitted file can be executed unchanged.

Written from AWS's documentation of NKI 0.3 to 0.6 and of the NeuronCore architectures, not from our emitter. Each rule names
what it follows. It is stricter than the official simulator: what hardware leaves undefined or cannot do is refused, reads of
memory that nobody wrote are refused, and capacity is counted. It shows values; it does not show that a file compiles.

`installed(target)` makes it importable as `nki`, `nki.language` and `nki.isa` for the length of a `with` block.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Signature
from types import ModuleType
from typing import Any

from tests.trn.nki_numpy import isa, language
from tests.trn.nki_numpy.jit import jit
from tests.trn.nki_numpy.state import NkiError, machine
from tests.trn.nki_signatures import ISA, LANGUAGE, LATER_NAMES, signature

__all__ = ["NkiError", "installed", "isa", "jit", "language"]


def _of_release(module: ModuleType, prefix: str, release: str) -> ModuleType:
    """The functions of a module, taking what they took in one release; operations that came later are not there."""
    made = ModuleType(module.__name__)
    for name, value in vars(module).items():
        if LATER_NAMES.get(name, release) > release:
            continue
        known = name in {"nisa": ISA, "nl": LANGUAGE}[prefix]
        setattr(made, name, _bound(value, signature(f"{prefix}.{name}", release)) if known else value)
    return made


def _bound(function: Callable[..., Any], parameters: Signature) -> Callable[..., Any]:
    def called(*args: Any, **keywords: Any) -> Any:
        parameters.bind(*args, **keywords)
        return function(*args, **keywords)

    return called


@contextmanager
def installed(generation: str = "v3", release: str = "") -> Iterator[None]:
    """`import nki` finds this package, running as a NeuronCore of `generation`; with a `release` it has the parameters of that one."""
    package = ModuleType("nki")
    parts: dict[str, Any] = {"isa": isa, "language": language}
    if release:
        parts = {"isa": _of_release(isa, "nisa", release), "language": _of_release(language, "nl", release)}
    package.jit, package.language, package.isa = jit, parts["language"], parts["isa"]  # type: ignore[attr-defined]
    package.simulate, package.__version__ = lambda kernel: kernel, f"{release or '0.6'}.0+numpy"  # type: ignore[attr-defined]
    modules = {"nki": package, "nki.language": parts["language"], "nki.isa": parts["isa"]}
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
