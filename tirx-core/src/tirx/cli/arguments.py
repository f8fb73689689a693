"""Arguments of kernels from the command line: `.npy` files, made arrays, numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
import numpy as np

from ..ir import Buffer, DType, PrimFunc, Var
from ..ir.numpy_types import numpy_dtype
from ..runtime.packing import pack_elements
from ..support.errors import ArgumentError

__all__ = ["arg_option", "make_arguments"]

arg_option = click.option(
    "--arg",
    "specs",
    multiple=True,
    metavar="[NAME=]SPEC",
    help="An argument, in order or by name: FILE.npy, a number, or random, zeros, ones, arange, empty, with :SHAPE where the "
    "kernel leaves it open (random:1024x512). Arrays that are not given are random.",
)

_MAKERS = ("random", "zeros", "ones", "arange", "empty")


def make_arguments(func: PrimFunc, specs: tuple[str, ...], seed: int) -> list[Any]:
    """Values for each parameter in order. What is known (files, numbers, shapes) decides the dimensions of the rest."""
    chosen = _by_name(func, specs)
    params = list(zip(func.params, func.names, strict=True))
    symbols: dict[str, int] = {}
    known = {name: _known(param, name, chosen[name], symbols) for param, name in params if name in chosen}
    rng = np.random.default_rng(seed)
    return [
        known[name] if known.get(name) is not None else _made(param, name, chosen.get(name), func, symbols, rng)
        for param, name in params
    ]


def _by_name(func: PrimFunc, specs: tuple[str, ...]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    in_order = []
    for spec in specs:
        name, equals, text = spec.partition("=")
        if not (equals and name.isidentifier()):
            in_order.append(spec)
        elif name not in func.names:
            raise ArgumentError(f"{func.name} has no argument `{name}`", hint=f"it has {', '.join(func.names)}")
        elif name in chosen:
            raise ArgumentError(f"argument `{name}` of {func.name} is given twice")
        else:
            chosen[name] = text
    free = [name for name in func.names if name not in chosen]
    if len(in_order) > len(free):
        raise ArgumentError(f"{func.name} takes {len(func.names)} arguments: {', '.join(func.names)}")
    return chosen | dict(zip(free, in_order, strict=False))


def _known(param: Buffer | Var, name: str, spec: str, symbols: dict[str, int]) -> Any:
    """The value of a number or file; None for an array still to be made, of which the shape may be given here."""
    if isinstance(param, Var) and not param.dtype.is_handle:
        return _number(param.dtype, name, spec, symbols)
    if spec.endswith(".npy"):
        array = _loaded(name, spec)
        if isinstance(param, Buffer):
            shared = 2 if param.dtype.is_packed and param.dtype.lanes == 1 else 1
            _learn(param, (*array.shape[:-1], *(shared * size for size in array.shape[-1:])), symbols)
        return array
    maker, _, shape = spec.partition(":")
    if maker not in _MAKERS or not isinstance(param, Buffer):
        kinds = ", ".join(_MAKERS)
        raise ArgumentError(
            f"argument `{name}`: {spec!r} is no value for an array", hint=f"give FILE.npy or one of {kinds}"
        )
    if shape:
        _learn(param, _given_shape(param, name, shape), symbols)
    return None


def _learn(param: Buffer, shape: Sequence[int], symbols: dict[str, int]) -> None:
    for extent, size in zip(param.shape, shape, strict=False):
        if isinstance(extent, Var):
            symbols.setdefault(extent.name, size)


def _number(dtype: DType, name: str, spec: str, symbols: dict[str, int]) -> int | float:
    try:
        value = float(spec) if dtype.is_float else int(spec, 0)
    except ValueError:
        raise ArgumentError(f"argument `{name}`: {spec!r} is no number of type {dtype}") from None
    if isinstance(value, int):
        symbols[name] = value
    return value


def _loaded(name: str, path: str) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except OSError as error:
        raise ArgumentError(f"argument `{name}`: cannot read {path}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise ArgumentError(f"argument `{name}`: {path} is no array: {str(error).splitlines()[0]}") from None


def _given_shape(param: Buffer, name: str, text: str) -> tuple[int, ...]:
    parts = text.split("x")
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise ArgumentError(
            f"argument `{name}`: {text!r} is no shape", hint="write sizes with x between them: 1024x512"
        )
    if len(parts) != param.ndim:
        raise ArgumentError(f"argument `{name}` has {param.ndim} dimensions, {text!r} has {len(parts)}")
    return tuple(int(part) for part in parts)


def _made(param: Buffer | Var, name: str, spec: str | None, func: PrimFunc, symbols: dict[str, int], rng: Any) -> Any:
    if not isinstance(param, Buffer):
        raise ArgumentError(f"argument `{name}` of {func.name} has no value", hint=f"give it: --arg {name}=VALUE")
    maker, _, text = (spec or "random").partition(":")
    shape = _given_shape(param, name, text) if text else _shape(param, name, symbols)
    try:
        return _filled(maker, shape, param.dtype, rng)
    except (MemoryError, OverflowError, ValueError) as error:
        size = "x".join(map(str, shape))
        raise ArgumentError(f"argument `{name}`: no memory for an array of {size}: {error}") from None


def _shape(param: Buffer, name: str, symbols: dict[str, int]) -> tuple[int, ...]:
    shape = [e if isinstance(e, int) else symbols.get(getattr(e, "name", "")) for e in param.shape]
    if None in shape:
        hint = f"give its shape: --arg {name}=random:{'x'.join('64' for _ in shape)}"
        raise ArgumentError(f"dimension {shape.index(None)} of `{name}` is not known", hint=hint)
    _learn(param, [size for size in shape if size is not None], symbols)
    return tuple(size for size in shape if size is not None)


def _filled(maker: str, shape: tuple[int, ...], dtype: DType, rng: Any) -> Any:
    """An array of `shape` elements: lanes of vectors are its last dimension, elements that share bytes are packed."""
    made = _elements(maker, (*shape, dtype.lanes) if dtype.lanes > 1 else shape, dtype, rng)
    if not dtype.is_packed:
        return made
    packed = pack_elements(made)
    return packed.reshape(shape) if dtype.lanes == 2 else packed


def _elements(maker: str, shape: tuple[int, ...], dtype: DType, rng: Any) -> Any:
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
