"""Elementwise operations in registers: two float32 at a time on sm_100, conversions of pairs, and rounding as it is asked for.

    add sub mul fma   `add.rn.f32x2` ... where registers lie in pairs         PTX ISA 9.7.3
                      `add.rz.f32` ... where a call gives `rounding_mode` or `ftz`
    cast              `cvt.rn.f16x2.f32` ...                                  PTX ISA 9.7.9.21

Everything else is as on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tirx.ir import Broadcast, BufferLoad, Expr, Ramp, Shuffle, TileCall, as_expr, cast, const
from tirx.layout import TileLayout
from tirx.tile import ConfigKey, Predicate, Variant, Verdict, accept, decline
from tirx.tile.context import DispatchContext
from tirx.variants import (
    IN_REGISTERS,
    SHARED_OUT,
    Owned,
    Scalar,
    Share,
    Tile,
    alike,
    emit_elementwise,
    loops,
    operands_of,
    run_of_owner,
    share_of,
    widest_share,
)

from ..ptx.chain import ptx

__all__ = ["CONVERSIONS", "VARIANTS"]

Coords = tuple[Any, ...]

# Operation -> its operands as the instruction takes them.
ARITHMETIC: Mapping[str, tuple[str, ...]] = {
    "add": ("src1", "src2"), "sub": ("src1", "src2"), "mul": ("src1", "src2"), "fma": ("src", "scale", "bias"),
}  # fmt: skip
ROUNDED = {"float32": "f32", "float64": "f64"}

# (from, to) -> the instruction that converts a pair; those from float32 take its elements one by one, the second first.
CONVERSIONS: Mapping[tuple[str, str], str] = {
    ("float32", "float16"): "cvt.rn.f16x2.f32",
    ("float32", "bfloat16"): "cvt.rn.bf16x2.f32",
    ("float32", "float8_e4m3fn"): "cvt.rn.satfinite.e4m3x2.f32",
    ("float32", "float8_e5m2"): "cvt.rn.satfinite.e5m2x2.f32",
    ("float16", "float8_e4m3fn"): "cvt.rn.satfinite.e4m3x2.f16x2",
    ("float16", "float8_e5m2"): "cvt.rn.satfinite.e5m2x2.f16x2",
    ("float8_e4m3fn", "float16"): "cvt.rn.f16x2.e4m3x2",
    ("float8_e5m2", "float16"): "cvt.rn.f16x2.e5m2x2",
}

CONFIG = (
    ConfigKey("rounding_mode", str, None, "how results are rounded; to nearest where it is not given", choices=("rn", "rz", "rm", "rp")),
    ConfigKey("ftz", bool, False, "subnormal float32 operands and results are zero"),
)  # fmt: skip


class Plan:
    """The loops of a thread, and whether they go over pairs of registers."""

    def __init__(self, call: TileCall, context: DispatchContext) -> None:
        self.call, self.context = call, context
        self.target, self.sources = operands_of(call, context)
        self.alike = alike(call, self.target, self.sources)
        self.share, self.ways = self._paired()
        self.paired = self.share is not None or (self.alike and self._registers() % 2 == 0)

    def _paired(self) -> tuple[Share | None, dict[str, str]]:
        """The share in pairs, and how each tile gives its two values: `together` in memory's order, the `same`, or `apart`."""
        last = self.target.extents[-1]
        if self.alike or not isinstance(last, int) or last % 2:
            return None, {}
        whole = share_of(self.target, self.sources)
        if isinstance(whole, Owned) and run_of_owner(whole.owners, len(self.target.extents)) % 2:
            return None, {}
        share = share_of(self.target, self.sources, 2)
        if _way(self.target, share) != "together":
            return None, {}
        return share, {name: _way(tile, share) for name, tile in self.sources.items() if isinstance(tile, Tile)}

    def _registers(self) -> Any:
        layout = self.target.buffer.layout
        return layout.span()  # type: ignore[union-attr]

    @contextmanager
    def pairs(self) -> Iterator[tuple[BufferLoad, dict[str, Expr]]]:
        """The loops: where a pair of results goes, and the pairs of values."""
        if self.share is None:
            with loops([(self._registers() // 2, True)], self.context) as (i,):
                yield self._own(self.target, i), {name: self._own(tile, i) for name, tile in self.sources.items()}
            return
        with self.share.chunks() as coords:
            yield _vector(self.target, coords), {name: self._pair(name, coords) for name in self.sources}

    def _own(self, tile: Tile | Scalar, i: Expr) -> Any:
        if isinstance(tile, Scalar):
            return Broadcast(tile.value, 2)
        return BufferLoad(tile.own(), (Ramp(as_expr(i * 2), const(1), 2),))

    def _pair(self, name: str, coords: Coords) -> Expr:
        source = self.sources[name]
        if isinstance(source, Scalar) or self.ways[name] == "same":
            return Broadcast(source.load(coords), 2)
        if self.ways[name] == "together":
            return _vector(source, coords)
        return Shuffle((source.load(coords), source.load(_next(coords))), (0, 1))

    @contextmanager
    def singles(self) -> Iterator[tuple[BufferLoad, dict[str, Expr]]]:
        """The loops over elements: where a result goes, and the values."""
        with widest_share(self.target, self.sources).each() as coords:
            buffer, indices = self.target.place(coords)
            yield BufferLoad(buffer, indices), {name: item.load(coords) for name, item in self.sources.items()}


def _next(coords: Coords) -> Coords:
    return (*coords[:-1], coords[-1] + 1)


def _vector(tile: Tile, coords: Coords) -> BufferLoad:
    """Two elements that lie together."""
    buffer, indices = tile.place(coords)
    return BufferLoad(buffer, (*indices[:-1], Ramp(indices[-1], const(1), 2)))


def _way(tile: Tile, share: Share) -> str:
    """How the registers of a tile lie that a pair of a share takes."""
    coords, analyzer = share.sample()
    first, second = (_register(tile, place) for place in (coords, _next(coords)))
    if analyzer.equal(second, first):
        return "same"
    plain = isinstance(tile.buffer.layout, TileLayout)
    beside = analyzer.equal(second, first + 1) and analyzer.divides(2, first + as_expr(tile.buffer.elem_offset))
    return "together" if plain and beside else "apart"


def _register(tile: Tile, coords: Coords) -> Expr:
    layout = tile.buffer.layout
    assert layout is not None
    indices = [start if dim is None else start + coords[dim] for start, dim in zip(tile.starts, tile.dims, strict=True)]
    return as_expr(layout.physical(tuple(map(as_expr, indices)), tile.buffer.shape).get("m", 0))


# ---- arithmetic -----------------------------------------------------------------------------------------------------


def _rounding(call: TileCall, context: DispatchContext) -> Verdict:
    mode, ftz = context.config["rounding_mode"], context.config["ftz"]
    target, _ = operands_of(call, context)
    known = ROUNDED if mode is not None and not ftz else {"float32": "f32"}
    if (mode is not None or ftz) and target.dtype.name not in known:
        decline("`rounding_mode` is for float32 and float64, `ftz` for float32", dtype=target.dtype.name)
    return accept()


def emit_arithmetic(call: TileCall, context: DispatchContext) -> None:
    """Pairs where the architecture computes with pairs; single instructions where a rounding is asked for."""
    mode, ftz = context.config["rounding_mode"], context.config["ftz"]
    target, _ = operands_of(call, context)
    name = f"{call.op.name}.{mode or 'rn'}{'.ftz' if ftz else ''}"
    if target.dtype.name == "float32" and context.target["arch"] in ptx[f"{name}.f32x2"].archs:
        plan = Plan(call, context)
        if plan.paired:
            with plan.pairs() as (result, values):
                _apply(f"{name}.f32x2", call, result, values)
            return
    if mode is None and not ftz:
        emit_elementwise(call, context)
        return
    with Plan(call, context).singles() as (result, values):
        _apply(f"{name}.{ROUNDED[target.dtype.name]}", call, result, values)


def _apply(mnemonic: str, call: TileCall, result: BufferLoad, values: Mapping[str, Expr]) -> None:
    """One instruction, of values converted to the type of the result."""
    operands = [values[name] for name in ARITHMETIC[call.op.name]]
    ptx[mnemonic](result, *(cast(value, result.dtype) for value in operands))


# ---- conversions ----------------------------------------------------------------------------------------------------


def emit_cast(call: TileCall, context: DispatchContext) -> None:
    """Pair by pair, by one instruction where there is one for the two types."""
    plan = Plan(call, context)
    source = plan.sources["src"]
    name = CONVERSIONS.get((source.dtype.name, plan.target.dtype.name), "")
    if name and context.target["arch"] not in ptx[name].archs:
        name = ""
    if not plan.paired or not (name or plan.target.dtype.name == "float32"):
        emit_elementwise(call, context)
        return
    with plan.pairs() as (result, values):
        pair = values["src"]
        if not name:
            result.buffer[result.indices] = cast(pair, result.dtype)
        elif source.dtype.name == "float32":
            ptx[name](result, *(Shuffle((pair,), (number,)) for number in (1, 0)))
        else:
            ptx[name](result, pair)


COMMON = (IN_REGISTERS, SHARED_OUT)

VARIANTS = (
    *(
        Variant(name, "cuda", "reg", priority=10, emit=emit_arithmetic, config=CONFIG,
                doc="each thread its registers, in pairs where the architecture computes with them",
                predicates=(*COMMON, Predicate("rounding", _rounding)))
        for name in ARITHMETIC
    ),
    Variant("cast", "cuda", "reg", priority=10, emit=emit_cast, predicates=COMMON,
            doc="each thread its registers, converted in pairs"),
)  # fmt: skip
