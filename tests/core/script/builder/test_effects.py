"""Effects happen once, in the order in which they were written: random traced kernels against a model in Python."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import tirx
from tirx import script as Tx


class Both:
    """Writes the same random program into a kernel and runs it on a list."""

    def __init__(self, seed: int, buffer: Any) -> None:
        self.random = random.Random(seed)
        self.buffer = buffer
        self.model = [0] * 16
        self.values: list[tuple[Any, int]] = []  # kernel value, model value

    def run(self) -> None:
        steps = [self.add, self.add, self.add_value, self.store, self.branch, self.plain]
        for _ in range(self.random.randrange(2, 14)):
            self.random.choice(steps)()

    def add(self) -> None:
        self._add(self.random.randrange(1, 5), 0)

    def add_value(self) -> None:
        if self.values:
            value, model = self.random.choice(self.values)
            self._add(value + 1, model + 1)

    def _add(self, value: Any, model: int) -> None:
        place = self.random.randrange(3)
        self.values.append((Tx.atomic_add(self.buffer.ptr_to([place]), value), self.model[place]))
        self.model[place] += model or value

    def store(self) -> None:
        if self.values:
            (a, x), (b, y) = self.random.choice(self.values), self.random.choice(self.values)
            place = self.random.randrange(4, 16)
            self.buffer[place] = a * 2 + b
            self.model[place] = x * 2 + y

    def branch(self) -> None:
        if self.values:
            value, model = self.random.choice(self.values)
            place = self.random.randrange(4, 16)
            with Tx.If(value > 2), Tx.Then():
                self.buffer[place] = value + 1
            if model > 2:
                self.model[place] = model + 1

    def plain(self) -> None:
        place = self.random.randrange(4, 16)
        self.buffer[place] = self.buffer[place] + 1
        self.model[place] += 1


@pytest.mark.parametrize("block", range(4))
def test_once_and_in_order(block: int) -> None:
    for seed in range(40 * block, 40 * block + 40):
        runs: list[Both] = []

        def body(A: Any, seed: int = seed, runs: list[Both] = runs) -> None:
            Tx.device_entry()
            Tx.thread_id([1])
            runs.append(Both(seed, A))
            runs[0].run()

        kernel = Tx.trace(body, Tx.Buffer((16,), "int32"), seed=seed, runs=runs)
        memory = np.zeros(16, np.int32)
        report = tirx.simulate(kernel, memory, target="generic")
        assert report.verdict == "clean"
        assert memory.tolist() == runs[0].model, kernel.script()
