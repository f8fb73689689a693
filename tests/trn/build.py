"""Kernels as hand-built IR, and the road from there: checks, lowering, source, and the source executed."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tests.trn.nki_numpy import installed
from tirx.ir import INT32, Alloc, Attr, Buffer, Call, Evaluate, Expr, For, IRModule, PrimFunc, Stmt, Var, const, seq
from tirx.support.errors import Diagnostic
from tirx.target import Target
from tirx.transform.pipeline import PassContext, run_passes
from tirx_trn.check import CHECKS
from tirx_trn.codegen.generate import generate
from tirx_trn.pipeline import PIPELINE

Item = Stmt | Call | Buffer


def stmt(item: Item) -> Stmt:
    """A buffer is allocated, a call evaluated."""
    if isinstance(item, Buffer):
        return Alloc(item)
    return Evaluate(item) if isinstance(item, Call) else item


def block(*items: Item) -> Stmt:
    """Statements in order."""
    return seq(stmt(item) for item in items)


def loop(var: Var, count: int | Expr, *items: Item) -> Stmt:
    """for var in range(count)."""
    extent = const(count) if isinstance(count, int) else count
    return For(var, const(0), extent, const(1), "serial", block(*items))


def index(name: str) -> Var:
    """A loop variable."""
    return Var(name, INT32)


def sbuf(name: str, *shape: int, dtype: str = "float32", **options: Any) -> Buffer:
    """A tile in SBUF."""
    return Buffer(name, shape, dtype, scope="trn.sbuf", **options)


def psum(name: str, *shape: int, **options: Any) -> Buffer:
    """A tile in PSUM; without a layout, as the language makes it."""
    options.setdefault("layout", None)
    return Buffer(name, shape, "float32", scope="trn.psum", **options)


def kernel(name: str, params: Sequence[Buffer | Var], *items: Item, **attrs: Any) -> PrimFunc:
    """A function whose whole body is its kernel."""
    body = Attr("tirx.device_entry", const(True), block(*items))
    return PrimFunc(name, params, body, {"global_symbol": name, **attrs})


def problems(func: PrimFunc, target: str = "trn") -> list[Diagnostic]:
    """What the checks of the kind find."""
    return [found for check in CHECKS for found in check.run(IRModule([func]), Target(target))]


def lowered(func: PrimFunc, target: str = "trn") -> IRModule:
    """The module after the pipeline; the checks must have nothing to say."""
    assert [str(item) for item in problems(func, target)] == []
    return run_passes(PIPELINE.lower, IRModule([func]), PassContext(Target(target)))


def source_of(func: PrimFunc, target: str = "trn") -> str:
    """NKI source."""
    return generate(lowered(func, target), Target(target)).text


_numbers = itertools.count()


@contextmanager
def imported(text: str, folder: Path, generation: str = "v3", release: str = "") -> Iterator[Any]:
    """The unchanged source as a module, with our NKI in place of the real one; as of a `release`, where one is given."""
    path = folder / f"emitted{next(_numbers)}.py"
    path.write_text(text)
    with installed(generation, release):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[path.stem] = module
        try:
            spec.loader.exec_module(module)
            yield module
        finally:
            del sys.modules[path.stem]


def run(func: PrimFunc, folder: Path, *arrays: np.ndarray, target: str = "trn") -> Any:
    """What the emitted file answers."""
    made = generate(lowered(func, target), Target(target))
    generation = Target(target).attrs["generation"]
    with imported(made.text, folder, generation) as module:
        return getattr(module, made.entries[0])(*arrays)
