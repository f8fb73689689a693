"""The published implementation's layouts in a process of their own: one operation per line of input, one answer per line of output.

    python layout_peer.py   < {"op": "tile", "layout": ..., "arguments": [...]}   > {"result": ...} | {"error": "..."}

Layouts travel as `{"shard": [[extent, stride, axis], ...], "replica": ..., "offset": {axis: value}}`, swizzled ones as
`{"swizzle": [per_element, swizzle_len, atom_len, swizzle_inner], "tile": layout}`.
"""

from __future__ import annotations

import json
import operator
import os
import sys
from typing import Any

from tvm.target import Target
from tvm.tirx.layout import Axis, ComposeLayout, Iter, TileLayout

OPERATIONS = {
    "Add": operator.add, "Sub": operator.sub, "Mul": operator.mul, "FloorDiv": operator.floordiv, "FloorMod": operator.mod,
    "BitwiseAnd": operator.and_, "BitwiseXor": operator.xor, "LShift": operator.lshift, "RShift": operator.rshift,
}  # fmt: skip
CUDA = Target({"kind": "cuda", "arch": "sm_90a"})


def read(text: Any) -> Any:
    """A layout, or anything that holds some."""
    if isinstance(text, list):
        return [read(item) for item in text]
    if not isinstance(text, dict):
        return text
    if "swizzle" in text:
        bits, inner = text["swizzle"][:3], text["swizzle"][3]
        return ComposeLayout(*bits, read(text["tile"]), inner)
    shard, replica = ([Iter(e, s, Axis.get(a)) for e, s, a in text[part]] for part in ("shard", "replica"))
    return TileLayout.from_iters(shard, replica, {Axis.get(a): v for a, v in text["offset"].items()})


def write(value: Any) -> Any:
    """The same back as plain data."""
    if isinstance(value, TileLayout):
        iters = [[[int(i.extent), int(i.stride), i.axis.name] for i in part] for part in (value.shard, value.replica)]
        return {"shard": iters[0], "replica": iters[1], "offset": {a.name: int(v) for a, v in value.offset.items()}}
    if isinstance(value, ComposeLayout):
        bits = [int(value.per_element), int(value.swizzle_len), int(value.atom_len), bool(value.swizzle_inner)]
        return {"swizzle": bits, "tile": write(value.tile_layout)}
    if value is None or isinstance(value, bool):
        return value
    if hasattr(value, "items"):
        return {str(key): number(item) for key, item in value.items()}
    if hasattr(value, "name"):
        return value.name
    if isinstance(value, (list, tuple)) or type(value).__name__ == "Array":
        return [write(item) for item in value]
    return number(value)


def number(value: Any) -> int:
    """A constant; swizzled positions come as expressions that bind variables."""
    try:
        return int(value)
    except TypeError:
        return evaluate(value, {})


def evaluate(expr: Any, known: dict[str, int]) -> int:
    """The value of an expression of constants and of variables that it binds itself."""
    kind = type(expr).__name__
    if kind == "Let":
        inner = {**known, expr.var.name: evaluate(expr.value, known)}
        return evaluate(expr.body, inner)
    if kind == "Var":
        return known[expr.name]
    operation = OPERATIONS.get(kind)
    if operation is None:
        return int(expr)
    return operation(evaluate(expr.a, known), evaluate(expr.b, known))


def answer(op: str, layout: Any, arguments: list[Any], options: dict[str, Any]) -> Any:
    """What an operation gives."""
    made = read(layout)
    if op == "canonicalize for CUDA":
        with CUDA:
            return write(made.canonicalize())
    return write(getattr(made, op)(*read(arguments), **options))


def main() -> None:
    """Answer until the input ends."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what it prints does not mix with the answers
    for line in sys.stdin:
        try:
            found = {"result": answer(**json.loads(line))}
        except BaseException as error:  # noqa: BLE001  # whatever it raises is its answer
            lines = str(error).strip().splitlines()
            found = {"error": f"{type(error).__name__}: {lines[-1] if lines else ''}"}
        print(json.dumps(found), file=out, flush=True)


main()
