"""Bank conflicts as pictures count them: by hand, by brute force, and as the simulator measures them."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tirx
from tirx import script as Tx
from tirx.layout import R, S, TileLayout, laneid
from tirx.layout.draw import picture_of
from tirx.layout.draw.banks import Banks

ROWS = TileLayout(S[8, 64])
PADDED = TileLayout(S[(8, 64) : (72, 1)])


def counted(layout: TileLayout, **options: object) -> dict[str, tuple[int, int, int]]:
    picture = picture_of(layout, dtype="float16", **options)
    return {item.name: (item.bytes, item.turns, item.requests) for item in picture.accesses}


def test_rows_of_a_round_of_banks_conflict_down_their_columns() -> None:
    assert counted(ROWS) == {"row": (16, 8, 8), "column": (16, 64, 8)}
    assert picture_of(ROWS, dtype="float16").turns == ((1,) * 8, (8,) * 8)


def test_padding_by_one_vector_resolves_them() -> None:
    assert counted(PADDED) == {"row": (16, 8, 8), "column": (16, 8, 8)}


def test_rows_that_are_off_by_one_element_take_narrow_reads() -> None:
    assert counted(TileLayout(S[(8, 64) : (65, 1)]))["row"][0] == 2
    assert counted(TileLayout(S[(8, 64) : (66, 1)]))["row"][0] == 4


def test_one_row_has_no_columns_to_read() -> None:
    assert list(counted(TileLayout(S[64]), shape=(1, 64))) == ["row"]


def test_words_that_are_shared_are_served_once() -> None:
    assert counted(TileLayout(S[(8, 64) : (0, 1)]))["column"][1:] == (8, 8)


def test_only_memory_has_banks() -> None:
    assert picture_of(TileLayout(S[(8, 4) : (1 @ laneid, 1)])).accesses == ()
    assert picture_of(TileLayout(S[8, 8] + R[2:64])).banks is not None


def test_other_memories_have_other_banks() -> None:
    layout = TileLayout(S[16, 16])
    wide = picture_of(layout, dtype="float32", banks=(16, 8), vector=8, lanes=16)
    assert {item.name: (item.lanes, item.worst) for item in wide.accesses} == {"row": (16, 1), "column": (16, 8)}


def test_the_notes_say_it_in_words() -> None:
    notes = picture_of(ROWS, dtype="float16").notes
    assert "32 threads read 16 bytes each along rows: no bank conflicts" in notes
    assert (
        "8 threads read 16 bytes each down columns: 56 bank conflicts (64 turns where 8 suffice; up to 8 threads meet in "
        "one bank)"
    ) in notes


@settings(max_examples=80)
@given(
    st.lists(st.integers(0, 500), min_size=1, max_size=32),
    st.sampled_from([1, 2, 8]),
    st.sampled_from([4, 8, 16, 32, 64]),
    st.sampled_from([(32, 4), (16, 8), (4, 4)]),
)
def test_turns_are_the_distinct_words_of_the_busiest_bank(
    positions: list[int], elements: int, bits: int, shape: tuple[int, int]
) -> None:
    banks = Banks(*shape, 4, 32, bits)
    touched = defaultdict(set)
    for position in positions:
        for bit in range(position * bits, (position + elements) * bits):
            word = bit // (8 * banks.width)
            touched[word % banks.number].add(word)
    assert banks.turns([(position, elements) for position in positions]) == max(map(len, touched.values()))


@pytest.mark.parametrize("pitch", [32, 33, 36, 40, 48])
def test_the_simulator_measures_what_the_picture_says(pitch: int) -> None:
    """One warp reads down each column of 32 x 32 floats, one float for each thread."""
    layout = TileLayout(S[(32, 32) : (pitch, 1)])

    @Tx.prim_func
    def down(x: Tx.Buffer((32,), "float32")):  # type: ignore[valid-type]
        Tx.device_entry()
        Tx.cta_id([1])
        lane = Tx.thread_id([32])
        tile = Tx.alloc_buffer((32, 32), "float32", scope="shared", layout=layout)
        for column in Tx.serial(32):
            tile[lane, column] = Tx.float32(0)
        x[lane] = Tx.float32(0)

    report = tirx.simulate(down, np.zeros(32, np.float32), target="generic -width=32")
    (line,) = [item for item in report.lines if item.space == "shared"]
    (column,) = [item for item in picture_of(layout, vector=4).accesses if item.name == "column"]
    assert (line.passes, line.requests) == (column.turns, column.requests)


def test_rows_that_are_cut_off_are_not_read_as_if_they_were_joined() -> None:
    access = picture_of(TileLayout(S[16, 256]), dtype="float16", limit=(16, 12)).accesses[0]
    assert (access.turns, access.requests, access.conflicts) == (32, 32, 0)
