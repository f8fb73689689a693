"""Runs single instructions in the simulator, a value for each thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tirx
from tirx import script as Tx
from tirx_cuda.ptx.forms import Form, forms_of
from tirx_cuda.ptx.types import TYPES

__all__ = ["TARGET", "kernel_text", "run"]

TARGET = "cuda -arch=sm_100a"
_CARRIER = {1: "uint32", 8: "uint8", 16: "uint16", 32: "uint32", 64: "uint64"}  # bits of any type


def carrier(type_name: str) -> str:
    """The unsigned integer that holds the bits of a PTX type."""
    return _CARRIER[TYPES[type_name].bits]


def _chosen(mnemonic: str, count: int) -> Form:
    return next(form for form in forms_of(mnemonic) if form.arity == count)


def kernel_text(form: Form, immediates: Sequence[int], threads: int) -> str:
    """A kernel in which each thread runs the instruction on its own values."""
    lines, args, params, left = [], [], [], list(immediates)
    for number, part in enumerate(form.parts):
        if part.kind == "imm":
            args.append(str(left.pop(0)))
            continue
        assert part.type is not None
        held = carrier(part.type.name)
        params.append(f'P{number}: T.Buffer(({threads},), "{held}")')
        if part.rw == "r":
            loaded = f"P{number}[tx]"
            args.append(f"T.ptx.pred({loaded})" if part.type.kind == "pred" else loaded)
        else:
            first = f"P{number}[tx]" if part.rw == "rw" else f"T.{held}(0)"
            lines.append(f"    d{number}: T.{held} = {first}")
            args.append(f"d{number}")
    lines.append(f'    T.ptx["{form.mnemonic}"]({", ".join(args)})')
    lines += [f"    P{n}[tx] = d{n}" for n, part in enumerate(form.parts) if part.rw != "r"]
    head = [
        "@T.prim_func",
        f"def instruction({', '.join(params)}):",
        "    T.device_entry()",
        f"    tx = T.thread_id([{threads}])",
    ]
    return "\n".join([*head, *lines]) + "\n"


def run(
    mnemonic: str, *inputs: Any, immediates: Sequence[int] = (), verdict: str = "clean", target: str = TARGET
) -> Any:
    """The written operands (as unsigned integers that hold their bits), one array or a tuple of them."""
    arrays = [np.atleast_1d(np.asarray(value)) for value in inputs]
    threads = max(len(array) for array in arrays)
    forms = [f for f in forms_of(mnemonic) if sum(p.rw != "w" and p.kind != "imm" for p in f.parts) == len(arrays)]
    form = forms[0]
    values, given = [], list(arrays)
    for part in form.parts:
        if part.kind == "imm":
            continue
        assert part.type is not None
        held = np.dtype(carrier(part.type.name))
        if part.rw == "w":
            values.append(np.zeros(threads, held))
            continue
        bits = np.ascontiguousarray(np.broadcast_to(given.pop(0), (threads,)))
        values.append(np.array(bits.astype(held) if bits.dtype == bool else bits.view(held)))
    made = Tx.from_source(kernel_text(form, immediates, threads))
    report = tirx.simulate(made, *values, target=target)
    assert report.verdict == verdict, str(report)
    places = [part for part in form.parts if part.kind != "imm"]
    written = tuple(value for part, value in zip(places, values, strict=True) if part.rw != "r")
    return written[0] if len(written) == 1 else written
