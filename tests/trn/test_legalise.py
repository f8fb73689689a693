"""Forms that the engines lack: what stands for them computes the same, is checked like the rest, and keeps the author's line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.trn.build import imported, index, kernel, loop, psum, run, sbuf, source_of
from tests.trn.lint import complaints
from tirx import script as Tx
from tirx.ir import FLOAT32, Buffer, Cast, PrimFunc
from tirx.script import from_source
from tirx.support.errors import VerifyError
from tirx_trn import script as nki


@Tx.prim_func
def normalise(x: Tx.Buffer((256, 640), "float32"), y: Tx.Buffer((256, 640), "float32")):
    """Rows divided by their sums, and by the first sum of all."""
    Tx.device_entry()
    for i in range(2):
        row = Tx.alloc_buffer((128, 640), "float32", scope="trn.sbuf", layout="PF")
        total = Tx.alloc_buffer((128, 1), "float32", scope="trn.sbuf", layout="PF")
        Tx.nki.load(row, x[i * 128 : i * 128 + 128, :])
        Tx.nki.tensorreduce(total, row, "add", False, 1)
        Tx.nki.tensor_tensor(row, row, total, "divide")
        Tx.nki.tensor_scalar(row, row, "divide", total[0:1, :])
        Tx.nki.store(y[i * 128 : i * 128 + 128, :], row)


def wanted(x: np.ndarray) -> np.ndarray:
    sums = x.astype(np.float64).reshape(2, 128, 640).sum(axis=2, keepdims=True)
    return np.asarray(x.reshape(2, 128, 640) / sums / sums[:, :1]).reshape(256, 640)


@pytest.mark.parametrize("target", ["trn", "trn -generation=v2", "trn -generation=v4", "trn -allocation=explicit"])
def test_quotients_and_lone_scalars(target: str, tmp_path: Path) -> None:
    x = np.random.default_rng(0).uniform(1, 2, (256, 640)).astype(np.float32)
    y = np.empty_like(x)
    assert tirx.simulate(normalise, x, y, target=target).verdict == "clean"
    np.testing.assert_allclose(y, wanted(x), rtol=1e-6)
    text = source_of(normalise, target)
    assert complaints(text) == []
    np.testing.assert_allclose(run(normalise, tmp_path, x, target=target), y, rtol=3e-7)
    assert text.count("nisa.memset(") == 1  # the ones that scalars are spread with are set once


def test_what_is_written_prints_and_reads_back() -> None:
    text = normalise.script()
    assert 'T.nki.tensorscalar(row[0:128, 0:640], row[0:128, 0:640], total[0:128, 0], "div"' in text
    assert from_source(text).script() == text


def test_room_for_a_quotient_is_counted() -> None:
    a, b, out = (Buffer(name, (128, 20_000)) for name in ("a", "b", "out"))
    x, y = sbuf("x", 128, 20_000), sbuf("y", 128, 20_000)
    func = kernel(
        "large", [a, b, out], x, y, nki.load(x, a), nki.load(y, b), nki.tensortensor(x, x, y, "div"), nki.store(out, x)
    )
    with pytest.raises(
        VerifyError, match="`quotient` brings SBUF to 240,000 bytes per partition, of which there are 212,984"
    ):
        source_of(func)


def test_a_scalar_in_psum_is_copied_first(tmp_path: Path) -> None:
    a, out = Buffer("a", (4, 4)), Buffer("out", (4, 4))
    x, acc = sbuf("x", 4, 4), psum("acc", 4, 4)
    body = [nki.load(x, a), nki.matmul(acc, x, x), nki.tensor_scalar(x, x, "add", acc[0:1, 2:3]), nki.store(out, x)]
    func = kernel("corner", [a, out], x, acc, *body)
    values = np.arange(16, dtype=np.float32).reshape(4, 4)
    np.testing.assert_array_equal(run(func, tmp_path, values), values + (values.T @ values)[0, 2])


def scaled() -> PrimFunc:
    """Scalars computed from a loop variable."""
    a, out, x, i = Buffer("a", (4, 8)), Buffer("out", (4, 8)), sbuf("x", 4, 8), index("i")
    number = Cast(FLOAT32, i)
    steps = [
        nki.tensorscalar(x, x, number, "add"),
        nki.tensorscalar(x, x, number * 0.5 + 1.0, "mul"),
        nki.activation(x, x, "copy", 0.0, number + number),
    ]
    return kernel("scaled", [a, out], x, nki.load(x, a), loop(i, 4, *steps), nki.store(out, x))


def test_a_loop_variable_is_a_scalar(tmp_path: Path) -> None:
    values = np.ones((4, 8), np.float32)
    text = source_of(scaled())
    for scalar in ("operand0=i * 1.0)", "operand0=i * 0.5 + 1.0)", "scale=i * 1.0 + i * 1.0)"):
        assert scalar in text
    assert complaints(text) == []
    result = values
    for i in range(4):
        result = (result + i) * (i * 0.5 + 1) * (2 * i)
    np.testing.assert_array_equal(run(scaled(), tmp_path, values), result)


def product(**options: Any) -> PrimFunc:
    """A small product with a mode."""
    a, out = Buffer("a", (32, 2, 16), "float8_e4m3"), Buffer("out", (16, 16))
    x, acc, r = sbuf("x", 32, 2, 16, dtype="float8_e4m3"), psum("acc", 16, 16), sbuf("r", 16, 16)
    side = x if options.get("perf_mode") == "double_row" else x[:, 0, :]
    return kernel(
        "product",
        [a, out],
        x,
        acc,
        r,
        nki.load(x, a),
        nki.matmul(acc, side, side, **options),
        nki.tensor_copy(r, acc),
        nki.store(out, r),
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"perf_mode": "double_row"},
            "double_row of nki.matmul is a mode of NeuronCore-v3 and newer; the target has NeuronCore-v2",
        ),
        (
            {"tile_position": (32, 0), "tile_size": (32, 128)},
            r"a tile_size of \(32, 128\) is a mode of NeuronCore-v3 and newer",
        ),
    ],
)
def test_modes_of_the_tensor_engine_came_with_v3(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(VerifyError, match=message):
        tirx.compile(product(**options), "trn -generation=v2")
    import ml_dtypes

    x = np.random.default_rng(0).standard_normal((32, 2, 16)).astype(ml_dtypes.float8_e4m3)
    wide = x.astype(np.float32)
    flat = wide.reshape(64, 16) if "perf_mode" in options else wide[:, 0]
    text = source_of(product(**options))
    assert complaints(text) == []
    with imported(text, tmp_path) as module:
        np.testing.assert_allclose(module.product_kernel(x), flat.T @ flat, rtol=1e-5, atol=1e-5)
