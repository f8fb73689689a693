"""One tile operation in a kernel of its own: operands brought to where a test wants them by tile copies, the result held against NumPy.

    check("add", dst=Place((128, 64)), src1=Place((128, 64)), src2=2.0)

The kernel is simulated, and its source for each NKI release is executed by our NumPy `nki`.
"""

from __future__ import annotations

import itertools
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.trn.build import imported
from tests.trn.lint import complaints
from tirx import script as Tx
from tirx.backend import find
from tirx.ir import DType, PrimFunc
from tirx.ir.numpy_types import numpy_dtype
from tirx.support.errors import TirxError
from tirx.support.late import load_object
from tirx.tile import TileOp
from tirx_trn.codegen.generate import generate

SBUF, PSUM = "trn.sbuf", "trn.psum"
Arrays = dict[str, "np.ndarray[Any, Any]"]


class Place:
    """Where a tested operand lives: the buffer around it, the part of that which takes part, memory, element type, layout."""

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: str = "float32",
        layout: Any = None,
        scope: str = SBUF,
        of: tuple[int, ...] | None = None,
        at: tuple[int, ...] | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.layout = layout if layout is not None else "P" + "F" * (len(shape) - 1)
        self.scope = scope
        self.of = of or shape
        self.at = at or (0,) * len(shape)

    def values(self, name: str) -> np.ndarray[Any, Any]:
        """Small values, never zero."""
        made = np.random.default_rng(zlib.crc32(name.encode())).integers(1, 9, self.shape)
        dtype = DType(self.dtype)
        return (made / 8 if dtype.is_float else made).astype(numpy_dtype(dtype))

    def tile(self, outside: Any) -> tuple[Any, Any]:
        """The tile that the operand is, allocated; in device memory the parameter itself."""
        if self.scope == "global":
            return outside
        options = {} if self.layout == "none" else {"layout": self.layout}
        buffer = Tx.alloc_buffer(self.of, self.dtype, scope=self.scope, **options)
        part = tuple(slice(first, first + extent) for first, extent in zip(self.at, self.shape, strict=True))
        return buffer[part]


def crossed(*axes: Any, keep: int = 1) -> list[Any]:
    """Of all combinations of the values of several parameters every `keep`th."""
    return list(itertools.product(*axes))[::keep]


def kernel(operation: str, operands: dict[str, Any], keywords: dict[str, Any], scratch: dict[str, Place]) -> PrimFunc:
    """Inputs first; what is written goes to parameters `<name>_out`. Written operands are read from inputs of their own name."""
    row = find("tile_ops", operation)
    assert row is not None
    places = {name: item for name, item in operands.items() if isinstance(item, Place)}
    written = [item.name for item in row.operands if "w" in item.rw and item.name in places]
    held = [name for name in places if name not in written or _is_read(row, name, keywords)]
    names = [*held, *(f"{name}_out" for name in written)]

    def build(outside: dict[str, Any]) -> None:
        Tx.device_entry()
        tiles = {}
        for name, place in places.items():
            is_output = place.scope == "global" and name in written
            tiles[name] = place.tile(outside.get(f"{name}_out" if is_output else name))
            if name in held and place.scope != "global":
                Tx.tile.copy(tiles[name], outside[name])
        spaces = {name: place.tile(None).buffer for name, place in scratch.items()}
        if "identity" in spaces:
            Tx.nki.identity(spaces["identity"], spaces["identity"].shape[0])
        given = {name: tiles.get(name, value) for name, value in operands.items()}
        getattr(Tx.tile, operation)(**given, **keywords, **({"workspace": spaces} if spaces else {}))
        for name in written:
            if places[name].scope != "global":
                Tx.tile.copy(outside[f"{name}_out"], tiles[name])

    space: dict[str, Any] = {"build": build}
    exec(f"def tested({', '.join(names)}): build(locals())", space)
    types = [
        Tx.Buffer(places[name.removesuffix("_out")].shape, places[name.removesuffix("_out")].dtype) for name in names
    ]
    made: PrimFunc = Tx.trace(space["tested"], *types)
    return made


def _is_read(row: TileOp, name: str, keywords: dict[str, Any]) -> bool:
    operand = next(item for item in row.operands if item.name == name)
    return bool(operand.read_if and keywords.get(operand.read_if))


def expected(operation: str, operands: dict[str, Any], arrays: Arrays, keywords: dict[str, Any]) -> Arrays:
    """The new values of what is written, by the operation's own meaning."""
    row = find("tile_ops", operation)
    attrs = {item.name: keywords.get(item.name, item.default) for item in row.attrs}
    for name in attrs.keys() & {"axes", "reduce_axes"}:
        rank = max(array.ndim for array in arrays.values())
        axes = attrs[name] if isinstance(attrs[name], tuple) else (attrs[name],)
        attrs[name] = tuple(sorted(axis % rank for axis in axes))
    scalars = {item.name: keywords[item.name] for item in row.operands if item.name in keywords}
    given = {**{name: arrays.get(name, value) for name, value in operands.items()}, **scalars, **attrs}
    written = [item.name for item in row.operands if "w" in item.rw]
    found = load_object(row.meaning)(**given)
    return dict(zip(written, found if len(written) > 1 else (found,), strict=True))


def check(
    operation: str,
    *,
    target: str = "trn",
    tolerance: float = 0.0,
    given: Arrays | None = None,
    keywords: dict[str, Any] | None = None,
    scratch: dict[str, Place] | None = None,
    folder: Path | None = None,
    means: dict[str, Any] | None = None,
    **operands: Any,
) -> str:
    """Simulate, hold against NumPy; with a `folder` execute the source as well. Answers the source.

    `means` has operands for NumPy where the language's are no functions of arrays.
    """
    words = keywords or {}
    func = kernel(operation, operands, words, scratch or {})
    places = {name: item for name, item in operands.items() if isinstance(item, Place)}
    arrays = {name: (given or {}).get(name, place.values(name)) for name, place in places.items()}
    wanted = expected(operation, {**operands, **(means or {})}, arrays, words)
    inputs = [arrays[name].copy() for name in func.names if not name.endswith("_out")]
    outputs = {name: np.empty_like(arrays[name.removesuffix("_out")]) for name in func.names if name.endswith("_out")}
    report = tirx.simulate(func, *inputs, *outputs.values(), target=target)
    assert report.verdict == "clean", str(report)
    for name, value in wanted.items():
        _same(operation, name, outputs[f"{name}_out"], value, tolerance)
    (lowered,) = func._memo["lowered"].values()  # the simulator has it by now
    source = generate(lowered, tirx.Target(target)).text
    if folder is not None:
        assert complaints(source) == []
        _execute(source, folder, target, inputs, {name: outputs[f"{name}_out"] for name in wanted}, tolerance)
    return source


def refused(operation: str, *, target: str = "trn", keywords: dict[str, Any] | None = None, **operands: Any) -> str:
    """Why no variant takes a call: the text of the error."""
    func = kernel(operation, operands, keywords or {}, {})
    with pytest.raises(TirxError) as caught:
        tirx.compile(func, target)
    return " ".join(str(caught.value).split())


def _execute(source: str, folder: Path, target: str, inputs: list[Any], simulated: Arrays, tolerance: float) -> None:
    """The unchanged source gives what the simulator gives."""
    generation = tirx.Target(target).attrs["generation"]
    with imported(source, folder, generation) as module:
        found = module.tested_kernel(*inputs)
    results = found if isinstance(found, tuple) else (found,)
    for (name, value), result in zip(simulated.items(), results, strict=True):
        _same("executed", name, np.asarray(result), value, max(tolerance, 1e-6) if tolerance else 0.0)


def _same(operation: str, name: str, found: Any, wanted: Any, tolerance: float) -> None:
    pair = np.asarray(found).astype("float64"), np.asarray(wanted).astype("float64")
    np.testing.assert_allclose(*pair, rtol=tolerance, atol=tolerance / 8, err_msg=f"{operation}: {name}")
