"""Arguments of kernels from the command line: `.npy` files, made arrays, numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from ..ir import Buffer, DType, PrimFunc, Var
from ..ir.numpy_types import numpy_dtype
from ..support.errors import ArgumentError

__all__ = ["arg_option", "make_arguments"]

arg_option = click.option(
    "--arg",
    "specs",
    multiple=True,
    metavar="[NAME=]SPEC",
    help="An argument, in order or by name: FILE.npy, a number, or random, zeros, ones, arange, empty, with :SHAPE where the "
    "kernel leaves it open (random:1024x512).",
)

_MAKERS = ("random", "zeros", "ones", "arange", "empty")


def make_arguments(func: PrimFunc, specs: tuple[str, ...], seed: int) -> tuple[list[Any], dict[str, Path]]:
    """Values for each parameter in order, and the `.npy` files that some came from."""
    chosen = _by_name(func, specs)
    rng = np.random.default_rng(seed)
    symbols: dict[str, int] = {}
    files: dict[str, Path] = {}
    values = []
    for param, name in zip(func.params, func.names, strict=True):
        spec = chosen.get(name, "random" if isinstance(param, Buffer) else None)
        if spec is None:
            raise ArgumentError(f"argument `{name}` of {func.name} has no value", hint=f"give it: --arg {name}=VALUE")
        values.append(_value(param, name, spec, rng, symbols, files))
    return values, files


def _by_name(func: PrimFunc, specs: tuple[str, ...]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    position = 0
    for spec in specs:
        name, equals, text = spec.partition("=")
        if equals and name.isidentifier():
            if name not in func.names:
                raise ArgumentError(f"{func.name} has no argument `{name}`", hint=f"it has {', '.join(func.names)}")
            chosen[name] = text
            continue
        if position >= len(func.names):
            raise ArgumentError(f"{func.name} takes {len(func.names)} arguments: {', '.join(func.names)}")
        chosen[func.names[position]] = spec
        position += 1
    return chosen


def _value(
    param: Buffer | Var, name: str, spec: str, rng: Any, symbols: dict[str, int], files: dict[str, Path]
) -> Any:
    if isinstance(param, Var) and not param.dtype.is_handle:
        return _number(param.dtype, name, spec, symbols)
    if spec.endswith(".npy"):
        files[name] = Path(spec)
        array = _loaded(spec)
        if isinstance(param, Buffer):
            symbols.update({d.name: e for d, e in zip(param.shape, array.shape, strict=False) if isinstance(d, Var)})
        return array
    maker, _, shape_text = spec.partition(":")
    if maker not in _MAKERS or not isinstance(param, Buffer):
        raise ArgumentError(
            f"argument `{name}`: {spec!r} is no value for an array", hint=f"give FILE.npy or one of {', '.join(_MAKERS)}"
        )
    return _made(maker, _shape(param, name, shape_text, symbols), param.dtype, rng)


def _number(dtype: DType, name: str, spec: str, symbols: dict[str, int]) -> int | float:
    try:
        value = float(spec) if dtype.is_float else int(spec, 0)
    except ValueError:
        raise ArgumentError(f"argument `{name}`: {spec!r} is no number of type {dtype}") from None
    if isinstance(value, int):
        symbols[name] = value
    return value


def _loaded(path: str) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise ArgumentError(f"cannot read {path}: {error}") from None


def _shape(param: Buffer, name: str, text: str, symbols: dict[str, int]) -> tuple[int, ...]:
    given = [int(part) for part in text.split("x")] if text else []
    if given and len(given) != param.ndim:
        raise ArgumentError(f"argument `{name}` has {param.ndim} dimensions, {text!r} has {len(given)}")
    shape = []
    for axis, extent in enumerate(param.shape):
        size = given[axis] if given else extent if isinstance(extent, int) else symbols.get(getattr(extent, "name", ""))
        if size is None:
            hint = f"give its shape: --arg {name}=random:{'x'.join('64' for _ in param.shape)}"
            raise ArgumentError(f"dimension {axis} of `{name}` is not known", hint=hint)
        if isinstance(extent, Var):
            symbols.setdefault(extent.name, size)
        shape.append(size)
    return tuple(shape)


def _made(maker: str, shape: tuple[int, ...], dtype: DType, rng: Any) -> Any:
    kind = numpy_dtype(dtype)
    if maker == "empty":
        return np.empty(shape, kind)
    if maker in ("zeros", "ones"):
        return np.full(shape, maker == "ones").astype(kind)
    if maker == "arange":
        return np.arange(int(np.prod(shape))).reshape(shape).astype(kind)
    if dtype.is_float:
        return rng.standard_normal(shape).astype(kind)
    high = 2 if dtype.is_bool else min(dtype.max_int, 99) + 1
    return rng.integers(0, high, shape).astype(kind)
