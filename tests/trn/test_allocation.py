"""Where tiles go: live ranges, addresses that reuse room, and what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trn.build import block, index, kernel, loop, lowered, psum, run, sbuf, source_of
from tests.trn.test_examples import load
from tests.trn.test_kernels import floats, softmax, softmax_kernel
from tirx.ir import Alloc, Buffer, Stmt, walk
from tirx.support.errors import Diagnostic, VerifyError
from tirx.target import Target
from tirx_trn import script as nki
from tirx_trn.capacity import bytes_of, plan
from tirx_trn.liveness import ranges

EXPLICIT = "trn -allocation=explicit"


def used(tile: Buffer) -> list[Any]:
    return [tile, nki.memset(tile, 0.0), nki.tensor_copy(tile, tile)]


def addresses(func: Any, target: str = EXPLICIT) -> dict[str, Any]:
    module = lowered(func, target)
    nodes = [node for item in module for node in walk(item.body)]
    return {node.buffer.name: node.buffer.allocated_addr for node in nodes if isinstance(node, Alloc)}


def with_output(*items: Any) -> Any:
    a, tile = Buffer("a", (128, 8)), sbuf("last", 128, 8)
    return kernel("k", [a], *items, tile, nki.memset(tile, 0.0), nki.store(a, tile))


def test_tiles_that_follow_each_other_share_their_room() -> None:
    func = with_output(*used(sbuf("x", 128, 512)), *used(sbuf("y", 128, 512)))
    assert addresses(func) == {"x": (0,), "y": (0,), "last": (0,)}


def test_tiles_that_are_needed_together_lie_beside_each_other() -> None:
    x, y = sbuf("x", 128, 500), sbuf("y", 128, 512)
    func = with_output(x, y, nki.memset(x, 0.0), nki.memset(y, 0.0), nki.tensor_copy(x[:, 0:8], y[:, 0:8]))
    assert addresses(func) == {"x": (0,), "y": (2016,), "last": (0,)}


def test_the_authors_places_stay() -> None:
    x, y = sbuf("x", 128, 512, allocated_addr=(0,)), sbuf("y", 128, 512)
    func = with_output(x, y, nki.memset(x, 0.0), nki.memset(y, 0.0), nki.tensor_copy(x, y))
    assert addresses(func) == {"x": (0,), "y": (2048,), "last": (0,)}


def test_psum_is_given_out_in_banks() -> None:
    tiles = [psum("p", 128, 512), psum("q", 2, 128, 512), psum("r", 128, 8)]
    func = with_output(
        *tiles, *(nki.memset(tile, 0.0) for tile in tiles), *(nki.tensor_copy(tile, tile) for tile in tiles)
    )
    assert addresses(func) == {"p": (0, 0), "q": (1, 0), "r": (3, 0), "last": (0,)}


def test_addresses_are_written_only_where_they_are_wanted() -> None:
    func = with_output(*used(sbuf("x", 128, 512)))
    assert "address=" not in source_of(func)
    assert "buffer=nl.sbuf, address=(0, 0))" in source_of(func, EXPLICIT)


def test_a_tile_of_a_loop_lives_in_its_turn_only() -> None:
    inner, outer = sbuf("inner", 128, 64), sbuf("outer", 128, 64)
    body = block(
        outer, loop(index("i"), 3, inner, nki.memset(inner, 0.0), nki.memset(outer, 0.0)), nki.tensor_copy(outer, outer)
    )
    assert [(item.buffer.name, item.first, item.last) for item in ranges(body)] == [("outer", 0, 2), ("inner", 0, 0)]


def test_what_does_not_fit_in_one_piece_is_an_error_with_the_map() -> None:
    """Both fit by their sizes, but the author's tile stands in the middle."""
    middle, large = sbuf("middle", 128, 256, allocated_addr=(100_000,)), sbuf("large", 128, 30_000)
    func = with_output(
        middle, large, nki.memset(middle, 0.0), nki.memset(large, 0.0), nki.tensor_copy(middle, large[:, 0:256])
    )
    with pytest.raises(VerifyError) as caught:
        lowered(func, EXPLICIT)
    (found,) = caught.value.diagnostics
    assert found.message == "SBUF has no 120,000 bytes in one piece for `large`"
    assert found.notes == ("SBUF there, bytes per partition:\n  large    120,000\n  middle     1,024",)


@pytest.mark.parametrize("generation", ["v2", "v3", "v4"])
def test_a_kernel_with_addresses_computes_the_same(generation: str, tmp_path: Path) -> None:
    """The executed file refuses tiles that share bytes while both are alive."""
    x = floats(np.random.default_rng(2), 256, 1000)
    result = run(softmax_kernel(), tmp_path, x, target=f"{EXPLICIT} -generation={generation}")
    np.testing.assert_allclose(result, softmax(x), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", ["nki_attention", "nki_layernorm", "nki_rope"])
def test_examples_with_addresses_compute_the_same(name: str, tmp_path: Path) -> None:
    module = load(name)
    *inputs, _ = module.arguments(np.random.default_rng(1))
    (wanted,) = module.expected(*inputs, None).values()
    np.testing.assert_allclose(run(module.KERNEL, tmp_path, *inputs, target=EXPLICIT), wanted, rtol=1e-3, atol=1e-4)


@st.composite
def bodies(draw: Any) -> Stmt:
    """Tiles of any size, used in any order, some of them in loops."""
    tiles = [sbuf(f"t{n}", 128, draw(st.integers(1, 3000))) for n in range(draw(st.integers(1, 8)))]
    tiles += [psum(f"p{n}", draw(st.integers(1, 3)), 128, 8) for n in range(draw(st.integers(0, 2)))]
    touches = st.lists(st.sampled_from(tiles), max_size=4)
    items: list[Any] = list(tiles)
    for number in range(draw(st.integers(1, 5))):
        work = [nki.memset(tile, 0.0) for tile in draw(touches)]
        items += [loop(index(f"i{number}"), 2, *work)] if draw(st.booleans()) and work else work
    return block(*items)


@settings(max_examples=80)
@given(bodies())
def test_nothing_overlaps_while_both_are_needed(body: Stmt) -> None:
    found = plan(body, Target("trn"))
    assert not isinstance(found, Diagnostic)
    every = ranges(body)
    assert {id(item.buffer) for item in every} == set(found)
    for number, one in enumerate(every):
        for other in every[:number]:
            if one.buffer.scope_name == other.buffer.scope_name and one.overlaps(other):
                a, b = found[id(one.buffer)], found[id(other.buffer)]
                assert a + bytes_of(one.buffer) <= b or b + bytes_of(other.buffer) <= a
