"""How long a kernel keeps each engine busy, by the documented cost of its instructions: an estimate, not a measurement.

    report = cost(tirx.compile(kernel, "trn").lowered, Target("trn"))
    print(report)                # instructions, engines, cycles, bytes; which engine bounds the kernel
    report.bound, report.microseconds, report.engines["tensor"].microseconds, report.reached

Engines work beside each other, so the kernel takes at least as long as the busiest of them: that is the figure of the report. Beside it
stands what any kernel with these products and parameters needs: the tensor engine at full rate, the queues for every parameter once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

from tirx.analysis.evaluate import evaluate
from tirx.ir import (
    Attr,
    Bind,
    Buffer,
    BufferRegion,
    Call,
    Evaluate,
    Expr,
    For,
    If,
    IntImm,
    IRModule,
    PrimFunc,
    Seq,
    Stmt,
    StringImm,
    Var,
    as_expr,
    variables,
    walk,
)
from tirx.support.errors import TargetError
from tirx.support.span import Span
from tirx.target import Target

from .cycles import CYCLES, DMA_LEAST_ROW, LEAST, MATMUL_FLOAT32
from .hardware import CHIP, ENGINES, PARTITIONS, PSUM, Generation
from .kernel import is_instruction
from .kind import generation_of
from .op import name_of
from .table import TABLE

__all__ = ["Busy", "Line", "Report", "cost"]

DMA = "dma"


class Line:
    """All runs of one instruction of the kernel: how often, on which engine, cycles of it, and bytes through the DMA queues."""

    __slots__ = ("bytes", "count", "cycles", "engine", "instruction", "nanoseconds", "span")

    def __init__(self, instruction: str, engine: str, span: Span | None) -> None:
        self.instruction = instruction
        self.engine = engine
        self.span = span
        self.count = 0
        self.cycles = 0.0
        self.bytes = 0
        self.nanoseconds = 0.0


class Busy:
    """What one engine does in the whole kernel."""

    __slots__ = ("bytes", "cycles", "microseconds")

    def __init__(self) -> None:
        self.cycles = 0.0
        self.bytes = 0
        self.microseconds = 0.0


class Report:
    """The estimate of one kernel. `flops` are those of its products; `least` microseconds of an engine for any kernel like this."""

    __slots__ = ("flops", "least", "lines", "name", "target")

    def __init__(self, name: str, target: Target) -> None:
        self.name = name
        self.target = target
        self.lines: list[Line] = []
        self.flops = 0
        self.least: dict[str, float] = {}

    @property
    def reached(self) -> float:
        """How near the kernel comes to the larger of the two bounds: 1 is as fast as can be."""
        return max(self.least.values(), default=0.0) / self.microseconds if self.microseconds else 1.0

    @property
    def engines(self) -> dict[str, Busy]:
        """Every engine that is used, the busiest first."""
        found: dict[str, Busy] = {}
        for line in self.lines:
            busy = found.setdefault(line.engine, Busy())
            busy.cycles += line.cycles
            busy.bytes += line.bytes
            busy.microseconds += line.nanoseconds / 1000
        return dict(sorted(found.items(), key=lambda entry: -entry[1].microseconds))

    @property
    def bound(self) -> str:
        """The busiest engine."""
        return next(iter(self.engines), "nothing")

    @property
    def microseconds(self) -> float:
        """How long the busiest engine works."""
        return max((busy.microseconds for busy in self.engines.values()), default=0.0)

    @property
    def bytes(self) -> int:
        """Bytes through the DMA queues."""
        return sum(line.bytes for line in self.lines)

    def plain(self) -> dict[str, Any]:
        """The report as plain data, for JSON."""
        return {
            "kernel": self.name,
            "target": str(self.target),
            "bound": self.bound,
            "microseconds": self.microseconds,
            "flops": self.flops,
            "bytes": self.bytes,
            "least": dict(self.least),
            "reached": self.reached,
            "engines": {
                name: {"microseconds": busy.microseconds, "cycles": busy.cycles, "bytes": busy.bytes}
                for name, busy in self.engines.items()
            },
            "instructions": [
                {
                    "instruction": line.instruction,
                    "line": line.span.line if line.span is not None else None,
                    "engine": line.engine,
                    "count": line.count,
                    "cycles": line.cycles,
                    "bytes": line.bytes,
                    "microseconds": line.nanoseconds / 1000,
                }
                for line in self.lines
            ],
        }

    def __str__(self) -> str:
        rows = [("instruction", "line", "engine", "count", "cycles", "bytes", "us")]
        for line in self.lines:
            where = str(line.span.line) if line.span is not None else ""
            figures = (
                f"{line.count:,}",
                f"{line.cycles:,.0f}" if line.cycles else "",
                f"{line.bytes:,}" if line.bytes else "",
            )
            rows.append((line.instruction, where, line.engine, *figures, f"{line.nanoseconds / 1000:,.1f}"))
        busy = [
            f"  {name:<7} {item.microseconds:>10,.1f} us {100 * item.microseconds / (self.microseconds or 1):>4.0f} %"
            for name, item in self.engines.items()
        ]
        head = f"{self.name} on {self.target}: bound by {self.bound}, at least {self.microseconds:,.1f} us (estimated)"
        return "\n".join([head, *_table(rows), "busy:", *busy, *self._bounds()])

    def _bounds(self) -> Iterator[str]:
        """What could be reached, and how much of it is."""
        if not self.least:
            return
        yield f"bounds, of which {100 * self.reached:.0f} % are reached:"
        for name, least in sorted(self.least.items(), key=lambda entry: -entry[1]):
            yield f"  {name:<7} {least:>10,.1f} us for {_NEEDS[name]}"


_NEEDS = {"tensor": "its products at full rate", DMA: "every parameter once"}


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    left = (True, False, True, False, False, False, False)
    aligned = (
        [
            text.ljust(width) if to_left else text.rjust(width)
            for text, width, to_left in zip(row, widths, left, strict=True)
        ]
        for row in rows
    )
    return [("  " + "  ".join(cells)).rstrip() for cells in aligned]


def cost(module: IRModule, target: Target, sizes: Mapping[str, int] | None = None) -> Report:
    """The estimate of the kernels of a lowered module; `sizes` are its symbolic dimensions by name."""
    kernels = [func for func in module if func.attrs.get("role") == "device"]
    report = Report(", ".join(func.name for func in kernels), target)
    for func in kernels:
        counter = _Counter(report, generation_of(target), target, sizes or {})
        counter.visit(func.body, 1)
        report.least[DMA] = report.least.get(DMA, 0.0) + counter.parameters(_tensors(module, func)) / 1000
    return report


def _tensors(module: IRModule, kernel: PrimFunc) -> Iterator[Buffer]:
    """The device tensors that a kernel takes."""
    taken = {id(param) for param in kernel.params}
    for func in module:
        if func.attrs.get("role") != "device":
            yield from (buffer for buffer in func.buffers() if id(buffer.data) in taken)


class _Counter:
    """Walks a kernel as often as its loops turn; a loop whose turns are alike is walked once."""

    def __init__(self, report: Report, figures: Generation, target: Target, sizes: Mapping[str, int]) -> None:
        self.report = report
        self.figures = figures
        self.sizes = sizes
        self.clocks = {engine: target.attrs[f"{engine}_mhz"] / 1000 for engine in ENGINES}
        hbm = target.attrs.get("hbm_gbps_per_core")
        self.dma_gbps = min(figures.dma_gbps, hbm) if hbm else figures.dma_gbps
        self.values: dict[int, int | Expr] = {}
        self.lines: dict[int, Line] = {}

    def visit(self, stmt: Stmt, times: int) -> None:
        """Count a statement that runs `times` times."""
        if isinstance(stmt, Seq):
            for item in stmt.stmts:
                self.visit(item, times)
        elif isinstance(stmt, For):
            self._loop(stmt, times)
        elif isinstance(stmt, If):
            branch = stmt.then if self._number(stmt.condition) else stmt.orelse
            if branch is not None:
                self.visit(branch, times)
        elif isinstance(stmt, Attr):
            self.visit(stmt.body, times)
        elif isinstance(stmt, Bind):
            self.values[id(stmt.var)] = stmt.value
        elif isinstance(stmt, Evaluate) and isinstance(stmt.value, Call) and is_instruction(stmt.value):
            self._count(stmt.value, times)

    def _loop(self, stmt: For, times: int) -> None:
        start, extent, step = (self._number(part) for part in (stmt.start, stmt.extent, stmt.step))
        turns = range(start, start + extent, step)
        if not _decides(stmt):
            self.values[id(stmt.var)] = start
            self.visit(stmt.body, times * len(turns))
            return
        for turn in turns:
            self.values[id(stmt.var)] = turn
            self.visit(stmt.body, times)

    def _number(self, expr: Expr) -> int:
        by_name = {id(var): self.sizes[var.name] for var in variables(expr) if var.name in self.sizes}
        value = evaluate(expr, {**by_name, **self.values})
        if value is None:
            unknown = sorted({var.name for var in variables(expr) if id(var) not in self.values})
            raise TargetError(
                f"the cost depends on {', '.join(unknown)}",
                span=expr.span,
                hint=f"give a number for each: sizes={{{unknown[0]!r}: 4096}}",
            )
        return value

    def _count(self, call: Call, times: int) -> None:
        line = self.lines.get(id(call))
        if line is None:
            line = self.lines[id(call)] = Line(name_of(call.op.name), _engine(call), call.span)
            self.report.lines.append(line)
        cycles, size, nanoseconds = self._price(call, line.engine)
        line.count += times
        line.cycles += cycles * times
        line.bytes += size * times
        line.nanoseconds += nanoseconds * times
        if line.instruction == "matmul":
            rows, columns = (_free(side) // _rows_at_once(call) for side in call.args[1:3])
            flops = 2 * times * _partitions(call.args[1]) * _rows_at_once(call) * rows * columns
            self.report.flops += flops
            self._full_rate(call, flops)

    def parameters(self, tensors: Iterable[Buffer]) -> float:
        """Nanoseconds of the queues for all of them once."""
        shapes = [([self._number(as_expr(extent)) for extent in item.shape], item.dtype.bytes) for item in tensors]
        return sum(prod(shape) * size for shape, size in shapes) / self.dma_gbps

    def _price(self, call: Call, engine: str) -> tuple[float, int, float]:
        """Cycles, bytes and nanoseconds of one run."""
        if engine == DMA:
            size, charged = _transfer(call)
            return 0.0, size, charged / self.dma_gbps
        cycles = self._matmul(call) if name_of(call.op.name) == "matmul" else self._elementwise(call, engine)
        return cycles, 0, cycles / self.clocks[engine]

    def _full_rate(self, call: Call, flops: int) -> None:
        """What products take where every processing element works in every cycle."""
        rate = 2 * PARTITIONS * PARTITIONS * _rows_at_once(call) * self.clocks["tensor"] / _passes(call)
        self.report.least["tensor"] = self.report.least.get("tensor", 0.0) + flops / rate / 1000

    def _matmul(self, call: Call) -> float:
        """max(min(64, stationary elements), moving elements), four times for float32."""
        passes = _passes(call)
        rows, columns = (_free(side) // _rows_at_once(call) for side in call.args[1:3])
        return float(passes * max(min(LEAST, rows), columns))

    def _elementwise(self, call: Call, engine: str) -> float:
        tiles = [value for value in call.args if isinstance(value, BufferRegion)]
        row = CYCLES[name_of(call.op.name)]
        count = max(_free(tile) for tile in tiles)
        if name_of(call.op.name) == "nc_transpose" and engine == "tensor":
            return float(max(_partitions(call.args[1]), min(LEAST, _free(call.args[1]))))
        return max(LEAST, row.per_element * count * 128 / self._lanes(tiles, engine)) + row.extra

    def _lanes(self, tiles: list[BufferRegion], engine: str) -> int:
        """Elements in a cycle, of all partitions: more for 2-byte floats on the vector engine."""
        if engine in ("gpsimd", "tensor"):
            return 128
        narrow = all(tile.buffer.dtype.bytes == 2 and tile.buffer.dtype.is_float for tile in tiles)
        return self.figures.lanes["vector_2_bytes" if narrow and engine == "vector" else engine]


def _passes(call: Call) -> int:
    """How often the tensor engine goes through a product."""
    region = call.args[1]
    assert isinstance(region, BufferRegion)
    return MATMUL_FLOAT32 if region.buffer.dtype.name == "float32" else 1


def _rows_at_once(call: Call) -> int:
    """Rows of the contraction that each processing element multiplies in a cycle."""
    return 2 if call.attr("perf_mode") == "double_row" else 1


def _decides(stmt: For) -> bool:
    """Whether the turns of a loop may differ: something inside depends on its variable, or on one that does."""
    return any(isinstance(node, If | For | Bind) and _mentions(node, stmt.var) for node in walk(stmt.body))


def _mentions(node: object, var: Var) -> bool:
    parts = [getattr(node, name) for name in ("condition", "start", "extent", "value") if hasattr(node, name)]
    return any(found is var for part in parts for found in variables(part))


def _engine(call: Call) -> str:
    """Who runs an instruction: as it says, else by the rules of the documentation."""
    item, chosen = TABLE[name_of(call.op.name)], dict(call.attrs).get("engine", "unknown")
    if chosen != "unknown":
        return str(chosen)
    opcodes = {value.value for value in call.args if isinstance(value, StringImm)}
    tiles = [value for value in call.args if isinstance(value, BufferRegion)]
    if opcodes & {"power", "rsqrt"} and "gpsimd" in item.engines:
        return "gpsimd"
    whole = all(
        tile.buffer.dtype.is_integer and tile.buffer.dtype.bits == 32 and tile.buffer.scope_name != PSUM
        for tile in tiles
    )
    if (
        item.name == "tensortensor"
        and whole
        and not any(opcode.startswith(("bitwise", "left", "right")) for opcode in opcodes)
    ):
        return "gpsimd"
    if item.name == "nc_transpose" and tiles[0].buffer.scope_name != PSUM:
        return "vector"
    return item.engines[0]


def _extents(region: Expr) -> list[int]:
    assert isinstance(region, BufferRegion)
    return [extent.value for extent in region.extents if isinstance(extent, IntImm)]


def _lead(region: Expr) -> int:
    assert isinstance(region, BufferRegion)
    return 1 if region.buffer.scope_name == PSUM else 0


def _partitions(region: Expr) -> int:
    return _extents(region)[_lead(region)]


def _free(region: Expr) -> int:
    return prod(_extents(region)) // _partitions(region)


def _transfer(call: Call) -> tuple[int, int]:
    """Bytes of a copy, and the bytes that it takes the time of: short pieces take as long as long ones."""
    regions = [value for value in call.args if isinstance(value, BufferRegion)]
    size = prod(_extents(regions[0])) * max(region.buffer.dtype.bytes for region in regions)
    piece = max(1, min(_piece(region) for region in regions))
    return size, size * max(DMA_LEAST_ROW, piece) // piece


def _piece(region: BufferRegion) -> int:
    """Contiguous bytes of a slice: its innermost dimension, and outer ones as long as the inner are whole."""
    total = region.buffer.dtype.bytes
    lead = 1 if region.buffer.scope_name in CHIP else 0  # a piece never spans partitions
    for extent, whole in list(zip(_extents(region), region.buffer.shape, strict=True))[lead:][::-1]:
        total *= extent
        if not (isinstance(whole, int) and whole == extent):
            break
    return total
