"""Tile operations on Trainium: they become instructions, and what these need is checked at the line of the operation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.trn.build import run
from tirx import backend
from tirx import script as Tx
from tirx.backend import hookimpl
from tirx.support.errors import DispatchError, VerifyError
from tirx.tile import Predicate, Variant
from tirx_trn import script as nki
from tirx_trn.pipeline import PIPELINE

_numbers = count()


class Plugin:
    """A distribution with one variant."""

    def __init__(self, variant: Variant) -> None:
        self.variant = variant

    @hookimpl
    def tirx_dispatch_variants(self) -> Iterable[Variant]:
        return (self.variant,)


@contextmanager
def permuting(columns: int) -> Iterator[None]:
    """`permute_layout` by two instructions, over a tile of `columns` elements that it allocates."""

    def emit(call: Any, context: Any) -> None:
        dst, src = (call.operand(name) for name in ("dst", "src"))
        between = Tx.alloc_buffer((128, columns), "float32", scope="trn.sbuf", layout="PF")
        nki.tensor_copy(between[:, 0:64], src)
        nki.memset(between[:, 64:columns], 0.0)
        nki.tensor_copy(dst, between[:, 0:64])

    name = f"permuting{next(_numbers)}"
    always = Predicate("always", lambda call, context: None)
    made = Variant("permute_layout", "trn", f"two_steps_{name}", emit=emit, predicates=(always,), priority=99)
    backend.register(name, Plugin(made), distribution="permuting-kit", version="1.0")
    backend.load(name)
    try:
        yield
    finally:
        backend.unload(name)


@Tx.prim_func
def permuted(a: Tx.Buffer((128, 64), "float32"), b: Tx.Buffer((128, 64), "float32")):
    Tx.device_entry()
    x = Tx.alloc_buffer((128, 64), "float32", scope="trn.sbuf", layout="PF")
    y = Tx.alloc_buffer((128, 64), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.load(x, a)
    Tx.tile.permute_layout(y, x)
    Tx.nki.store(b, y)


def test_a_tile_operation_becomes_instructions(tmp_path: Path) -> None:
    x = np.random.default_rng(0).standard_normal((128, 64)).astype(np.float32)
    with permuting(100):
        text = tirx.compile(permuted, "trn").source.text
        assert text.count("nisa.tensor_copy(") == 2
        np.testing.assert_array_equal(run(permuted, tmp_path, x), x)


def test_what_a_variant_needs_is_checked_too() -> None:
    with permuting(60_000), pytest.raises(VerifyError, match="brings SBUF to 240,") as caught:
        tirx.compile(permuted, "trn")
    (found,) = caught.value.diagnostics
    assert found.message.startswith("`between` brings")
    assert "Tx.tile.permute_layout(y, x)" in str(found)


@Tx.prim_func
def across(a: Tx.Buffer((128, 64), "float32"), b: Tx.Buffer((1, 64), "float32")):
    Tx.device_entry()
    x = Tx.alloc_buffer((128, 64), "float32", scope="trn.sbuf", layout="PF")
    y = Tx.alloc_buffer((1, 64), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.load(x, a)
    Tx.tile.sum(y, x, axes=0)
    Tx.nki.store(b, y)


def test_an_operation_that_no_variant_takes_is_an_error_at_its_line() -> None:
    with pytest.raises(DispatchError, match=r"no variant of Tx\.tile\.sum") as caught:
        tirx.compile(across, "trn")
    assert "Tx.tile.sum(y, x, axes=0)" in str(caught.value)


def test_others_may_insert_passes_at_the_anchors() -> None:
    from tirx.transform.pipeline import Anchor

    anchors = [step.name for step in PIPELINE.lower if isinstance(step, Anchor)]
    assert anchors == ["trn:after_verify", "trn:after_lower_tile", "trn:before_allocate", "trn:after_lower_tiles"]
