"""Assignments to several targets mean what they mean in Python: all values count as they are before the first is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx


@Tx.prim_func
def swap_elements(x: Tx.Buffer((8,), "float32")):
    Tx.device_entry()
    Tx.thread_id([1])
    x[0], x[1] = x[1], x[0]


@Tx.prim_func
def swap_scalars(x: Tx.Buffer((8,), "float32")):
    Tx.device_entry()
    Tx.thread_id([1])
    a, b = x[0], x[1]
    a, b = b, a + b
    x[0], x[1] = a, b


@Tx.prim_func
def rotate(x: Tx.Buffer((8,), "float32")):
    Tx.device_entry()
    Tx.thread_id([1])
    x[0], x[1], x[2] = x[1], x[2], x[0]


@Tx.prim_func
def through_a_view(x: Tx.Buffer((8,), "float32")):
    Tx.device_entry()
    Tx.thread_id([1])
    y = x.view(2, 4)
    y[0, 0], x[1] = x[1], x[0]


@Tx.prim_func
def chained(x: Tx.Buffer((8,), "float32")):
    Tx.device_entry()
    Tx.thread_id([1])
    x[0] = last = x[0] + 10.0
    x[1] = last


@Tx.prim_func
def nested(x: Tx.Buffer((8,), "float32")):
    Tx.device_entry()
    Tx.thread_id([1])
    a, b, c = x[0], x[1], x[2]
    (a, b), c = (b, a), a
    x[0], x[1], x[2] = a, b, c


@Tx.prim_func
def sorted_network(x: Tx.Buffer((8,), "float32")):
    Tx.device_entry()
    Tx.thread_id([1])
    for _ in range(8):
        for i in range(7):
            if x[i] > x[i + 1]:
                x[i], x[i + 1] = x[i + 1], x[i]


def in_place(change: Callable[[list[Any]], None]) -> Callable[[Any], None]:
    def run(x: Any) -> None:
        values = list(x)
        change(values)
        x[:] = values

    return run


def _swap(x: list[Any]) -> None:
    x[0], x[1] = x[1], x[0]


def _add(x: list[Any]) -> None:
    x[0], x[1] = x[1], x[0] + x[1]


def _rotate(x: list[Any]) -> None:
    x[0], x[1], x[2] = x[1], x[2], x[0]


def _chained(x: list[Any]) -> None:
    x[0] = x[1] = x[0] + 10.0


def _nested(x: list[Any]) -> None:
    (x[0], x[1]), x[2] = (x[1], x[0]), x[0]


@pytest.mark.parametrize(
    ("kernel", "python"),
    [
        (swap_elements, _swap), (swap_scalars, _add), (rotate, _rotate), (through_a_view, _swap), (chained, _chained),
        (nested, _nested), (sorted_network, lambda x: x.sort()),
    ],
    ids=lambda item: getattr(item, "name", ""),
)  # fmt: skip
def test_as_in_python(kernel: Any, python: Callable[[list[Any]], None]) -> None:
    x = np.array([5, 3, 8, 1, 9, 2, 7, 4], np.float32)
    expected = x.copy()
    in_place(python)(expected)
    report = tirx.simulate(kernel, x, target="generic")
    assert report.verdict == "clean"
    assert x.tolist() == expected.tolist()


def test_values_that_nobody_changes_are_not_kept() -> None:
    @Tx.prim_func
    def apart(x: Tx.Buffer((8,), "float32"), y: Tx.Buffer((8,), "float32")):
        Tx.device_entry()
        Tx.thread_id([1])
        x[0], y[0] = x[1], y[1]
        a, b = x[0] * 2.0, y[0]
        a, b = a + 1.0, b + 1.0
        x[1], x[2] = a, b

    assert "kept" not in apart.script()


def test_buffers_change_names_without_code() -> None:
    @Tx.prim_func
    def doubled(x: Tx.Buffer((8,), "float32")):
        Tx.device_entry()
        Tx.thread_id([1])
        now = Tx.alloc_local((2,), "float32")
        then = Tx.alloc_local((2,), "float32")
        now, then = then, now
        then[0] = 1.0
        x[0] = then[0]

    assert "kept" not in doubled.script()
    assert "now[0] = 1.0" in doubled.script()
