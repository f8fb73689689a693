"""How statements are written: small kernels in the language beside the text that comes out."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.trn.build import block, imported, index, kernel, loop, lowered, run, sbuf, source_of
from tests.trn.lint import complaints
from tests.trn.test_examples import load
from tests.trn.test_ops import ALL, case_kernel
from tirx import script as Tx
from tirx.ir import FLOAT32, Buffer, Cast, IRModule, PrimFunc
from tirx.support.errors import VerifyError
from tirx.target import Target
from tirx.transform.pipeline import PassContext, run_passes
from tirx_trn import script as nki
from tirx_trn.codegen.generate import generate
from tirx_trn.pipeline import PIPELINE

GOLDEN = Path(__file__).parent / "golden"


SHOWN = ("nki_add", "nki_matmul", "nki_softmax", "nki_tiled_matmul", "nki_rmsnorm", "nki_long_softmax", "nki_transpose")


@pytest.mark.parametrize("name", SHOWN)
def test_examples_are_written_like_this(name: str, request: pytest.FixtureRequest) -> None:
    path, text = GOLDEN / f"{name}.txt", source_of(load(name).KERNEL)
    if request.config.getoption("--update-golden"):
        path.write_text(text)
    assert text == path.read_text()


def test_every_instruction_is_written_like_this(request: pytest.FixtureRequest) -> None:
    """What each vector's instructions become; loads and stores around them left out."""
    parts = []
    for name, case in ALL.items():
        lines = [line[4:] for line in source_of(case_kernel(case)).splitlines() if line.startswith("    ")]
        kept = [
            line for line in lines if "dma_copy(dst=t" not in line and "nl.ndarray" not in line and "return" not in line
        ]
        kept = [line for line in kept if not re.match(r"nisa.dma_copy\(dst=r\d, ", line)]
        parts.append(f"# {name}\n" + "\n".join(kept) + "\n")
    path, text = GOLDEN / "instructions.txt", "\n".join(parts)
    if request.config.getoption("--update-golden"):
        path.write_text(text)
    assert text == path.read_text()


def body(func: PrimFunc) -> str:
    """The text after the imports."""
    text = source_of(func)
    assert complaints(text) == []
    return text.partition("\n\n\n")[2]


@Tx.prim_func
def branches(a: Tx.Buffer((512, 64), "float32"), b: Tx.Buffer((512, 64), "float32")):
    Tx.device_entry()
    for i in range(4):
        row: Tx.let = i * 128
        x = Tx.alloc_buffer((128, 64), "float32", scope="trn.sbuf", layout="PF")
        Tx.nki.load(x, a[row : row + 128, :])
        if i % 2 == 0:
            Tx.nki.tensorscalar(x, x, 2.0, "mul")
        else:
            Tx.nki.tensorscalar(x, x, 1.0, "sub", True)
        Tx.nki.store(b[row : row + 128, :], x)


BRANCHES = """\
@nki.jit
def branches_kernel(a):
    b = nl.ndarray((512, 64), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in range(4):
        row = i * 128
        x = nl.ndarray((128, 64), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=x, src=a[row : row + 128, :])
        if i % 2 == 0:
            nisa.tensor_scalar(dst=x, data=x, op0=nl.multiply, operand0=2.0)
        else:
            nisa.tensor_scalar(dst=x, data=x, op0=nl.subtract, operand0=1.0, reverse0=True)
        nisa.dma_copy(dst=b[row : row + 128, :], src=x)
    return b
"""


def test_branches_and_bindings(tmp_path: Path) -> None:
    assert body(branches) == BRANCHES
    x = np.random.default_rng(0).standard_normal((4, 128, 64)).astype(np.float32)
    wanted = np.where(np.arange(4)[:, None, None] % 2 == 0, x * 2, 1 - x)
    np.testing.assert_array_equal(run(branches, tmp_path, x.reshape(512, 64)), wanted.reshape(512, 64))


@Tx.prim_func
def two_results(
    nl: Tx.Buffer(("list", "m"), "float32"),
    high: Tx.Buffer(("list", 1), "float32"),
    low: Tx.Buffer(("list", 1), "float32"),
):
    Tx.device_entry()
    for i in range(list // 128):
        x = Tx.alloc_buffer((128, 32), "float32", scope="trn.sbuf", layout="PF")
        r = Tx.alloc_buffer((128, 1), "float32", scope="trn.sbuf", layout="PF")
        Tx.nki.load(x, nl[i * 128 : i * 128 + 128, 0:32])
        Tx.nki.tensorreduce(r, x, "max", False, 1)
        Tx.nki.store(high[i * 128 : i * 128 + 128, :], r)
        Tx.nki.tensorreduce(r, x, "min", False, 1)
        Tx.nki.store(low[i * 128 : i * 128 + 128, :], r)


TWO_RESULTS = """\
@nki.jit
def two_results_kernel(nl_1):
    list = nl_1.shape[0]
    high = nl.ndarray((list, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    low = nl.ndarray((list, 1), dtype=nl.float32, buffer=nl.shared_hbm)
    for i in range(list // 128):
"""


def test_several_results_and_names_that_mean_something_else(tmp_path: Path) -> None:
    assert body(two_results).startswith(TWO_RESULTS)
    assert body(two_results).endswith("    return high, low\n")
    x = np.random.default_rng(0).standard_normal((256, 40)).astype(np.float32)
    high, low = run(two_results, tmp_path, x)
    np.testing.assert_array_equal(high[:, 0], x[:, :32].max(axis=1))
    np.testing.assert_array_equal(low[:, 0], x[:, :32].min(axis=1))


@Tx.prim_func
def reshaped(a: Tx.Buffer((64, 256), "float32"), b: Tx.Buffer((128, 128), "float32")):
    Tx.device_entry()
    rows = a.view(128, 128)
    x = Tx.alloc_buffer((128, 128), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.load(x, rows)
    Tx.nki.store(b, x)


def test_a_parameter_seen_with_another_shape(tmp_path: Path) -> None:
    assert "    a_view = a.reshape((128, 128))\n" in body(reshaped)
    x = np.random.default_rng(0).standard_normal((64, 256)).astype(np.float32)
    np.testing.assert_array_equal(run(reshaped, tmp_path, x), x.reshape(128, 128))


@Tx.prim_func
def infinite(a: Tx.Buffer((128, 8), "float32")):
    Tx.device_entry()
    x = Tx.alloc_buffer((128, 8), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.memset(x, float("-inf"))
    Tx.nki.store(a, x)


def test_infinity_brings_its_import() -> None:
    text = source_of(infinite)
    assert "import math\n" in text
    assert "value=-math.inf" in text
    assert "import math" not in source_of(branches)


def test_several_kernels_in_one_file(tmp_path: Path) -> None:
    module = run_passes(PIPELINE.lower, IRModule([branches, reshaped]), PassContext(Target("trn")))
    made = generate(module, Target("trn"))
    assert made.entries == ("branches_kernel", "reshaped_kernel")
    assert (made.language, made.suffix) == ("nki", ".py")
    x = np.random.default_rng(0).standard_normal((64, 256)).astype(np.float32)
    with imported(made.text, tmp_path) as file:
        np.testing.assert_array_equal(file.reshaped_kernel(x), x.reshape(128, 128))


@Tx.prim_func
def unknown_size(a: Tx.Buffer((128, 64), "float32"), b: Tx.Buffer(("n", 64), "float32")):
    Tx.device_entry()
    x = Tx.alloc_buffer((128, 64), "float32", scope="trn.sbuf", layout="PF")
    Tx.nki.load(x, a)
    for i in range(b.shape[0] // 128):
        Tx.nki.store(b[i * 128 : i * 128 + 128, :], x)


def test_a_size_comes_from_an_input() -> None:
    module = lowered(unknown_size)
    with pytest.raises(VerifyError, match="`n` is a value from the host; an NKI kernel takes tensors only"):
        generate(module, Target("trn"))


def pieces_of(count: int, *, both: bool) -> str:
    """Source of a kernel that takes a tile of one name for each piece; with `both`, two of them are needed together."""
    a, b = Buffer("a", (128 * count, 64)), Buffer("b", (128 * count, 64))
    tiles = [sbuf("x" if not n else f"x_{n}", 128, 64) for n in range(count)]
    loads = [block(tile, nki.load(tile, a[n * 128 : n * 128 + 128, :])) for n, tile in enumerate(tiles)]
    stores = [block(nki.store(b[n * 128 : n * 128 + 128, :], tile)) for n, tile in enumerate(tiles)]
    order = [*loads, *stores] if both else [item for pair in zip(loads, stores, strict=True) for item in pair]
    return source_of(kernel("pieces", [a, b], *order))


def test_a_name_is_free_again_when_its_tile_is_done() -> None:
    text = pieces_of(3, both=False)
    assert text.count("    x = nl.ndarray((128, 64)") == 3
    assert "x_1" not in text


def test_tiles_that_are_needed_together_have_names_of_their_own() -> None:
    text = pieces_of(3, both=True)
    for name in ("x", "x_1", "x_2"):
        assert text.count(f"    {name} = nl.ndarray((128, 64)") == 1


def test_what_nobody_uses_is_not_written() -> None:
    a, b = Buffer("a", (128, 64)), Buffer("b", (128, 64))
    x, idle, i = sbuf("x", 128, 64), sbuf("idle", 128, 100_000), index("i")
    text = source_of(
        kernel(
            "lean",
            [a, b],
            x,
            idle,
            loop(i, 1, nki.load(x, a), nki.tensorscalar(x, x, Cast(FLOAT32, i), "add")),
            nki.store(b, x),
        )
    )
    assert "idle" not in text
    assert "in range" not in text
    assert "nisa.tensor_scalar(dst=x, data=x, op0=nl.add, operand0=0.0)" in text
