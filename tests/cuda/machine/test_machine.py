"""The machine itself: its 16 and 8-bit floats against others', and what it says about kernels that do not end well."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tirx
from tests.cuda.machine.build import COMPILER, MISSING, OPTIONS, Machine, MachineError
from tests.cuda.machine.compare import distance, where
from tirx import script as Tx

pytestmark = pytest.mark.skipif(COMPILER is None, reason=MISSING)

TYPES = {
    "half": (np.float16, np.uint16), "__nv_bfloat16": (ml_dtypes.bfloat16, np.uint16),
    "__nv_fp8_e4m3": (ml_dtypes.float8_e4m3fn, np.uint8), "__nv_fp8_e5m2": (ml_dtypes.float8_e5m2, np.uint8),
}  # fmt: skip
LARGEST = {"__nv_fp8_e4m3": 448.0, "__nv_fp8_e5m2": 57344.0}
PROBE = """
extern "C" void to_{name}(const float* from, {name}* to, int n) {{ for (int i = 0; i < n; ++i) to[i] = {name}(from[i]); }}
extern "C" void from_{name}(const {name}* from, float* to, int n) {{ for (int i = 0; i < n; ++i) to[i] = (float)from[i]; }}
"""


@pytest.fixture(scope="module")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Conversions of arrays."""
    assert COMPILER is not None
    folder = tmp_path_factory.mktemp("probe")
    text = '#include "types.hpp"\n' + "".join(PROBE.format(name=name) for name in TYPES)
    (folder / "probe.cc").write_text(text, encoding="utf-8")
    subprocess.run([COMPILER, *OPTIONS, "-o", folder / "probe.so", folder / "probe.cc"], check=True)
    return ctypes.CDLL(str(folder / "probe.so"))


def converted(function: Any, given: Any, made: Any) -> Any:
    """`given` by way of one of the probe's functions."""
    function(given.ctypes.data_as(ctypes.c_void_p), made.ctypes.data_as(ctypes.c_void_p), len(given))
    return made


@pytest.mark.parametrize("name", TYPES)
def test_all_codes_are_the_numbers_that_others_say(name: str, probe: Any) -> None:
    kind, word = TYPES[name]
    codes = np.arange(1 << (8 * np.dtype(word).itemsize), dtype=np.int64).astype(word)
    found = converted(probe[f"from_{name}"], codes, np.empty(len(codes), np.float32))
    wanted = codes.view(kind).astype(np.float32)
    assert distance(found, wanted) == 0, where(found, wanted)


@pytest.mark.parametrize("name", TYPES)
def test_floats_are_rounded_as_others_round_them(name: str, probe: Any) -> None:
    kind, word = TYPES[name]
    rng = np.random.default_rng(3)
    given = rng.integers(0, 1 << 32, 200_000, dtype=np.uint32).view(np.float32)
    given = np.concatenate([given, (rng.standard_normal(200_000) * 100).astype(np.float32)])
    codes = np.arange(1 << (8 * np.dtype(word).itemsize), dtype=np.int64).astype(word).view(kind).astype(np.float32)
    exact = codes[np.isfinite(codes)]
    halfway = ((exact.astype(np.float64)[:-1] + exact.astype(np.float64)[1:]) / 2).astype(np.float32)
    given = np.ascontiguousarray(np.concatenate([given, exact, halfway]))
    found = converted(probe[f"to_{name}"], given, np.empty(len(given), word)).view(kind)
    limit = LARGEST.get(name, np.inf)  # CUDA's constructors of 8-bit floats saturate
    with np.errstate(over="ignore", invalid="ignore"):
        wanted = np.clip(given, -limit, limit).astype(kind)
    assert distance(found, wanted) == 0, where(found, wanted)


# ---- kernels that do not end well -------------------------------------------------------------------------------------


@Tx.prim_func
def half_of_them(A: Tx.Buffer((64,), "int32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    if tx < 32:
        A[tx] = 1
        Tx.cuda.warp_sum(tx)
    else:
        if tx < 48:
            A[tx] = Tx.cuda.warp_sum(tx)


def machine_of(kernel: Any, folder: Path) -> Machine:
    """One kernel."""
    return Machine.of(folder, {"kernel": tirx.compile(kernel, "cuda -arch=sm_90a")}, "-O0")


def test_threads_that_never_come(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="threads wait for threads that never come"):
        machine_of(half_of_them, tmp_path).run("kernel", np.zeros(64, np.int32))


def test_a_source_that_does_not_compile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable = tirx.compile(half_of_them, "cuda -arch=sm_90a")
    monkeypatch.setattr(executable.source, "text", executable.source.text.replace("int tx =", "tx ="))
    with pytest.raises(MachineError, match="tx"):
        Machine.of(tmp_path, {"kernel": executable})
