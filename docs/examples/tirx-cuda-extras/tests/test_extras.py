"""What the extension adds, and when."""

from __future__ import annotations

import numpy as np

import tirx
from tirx import script as Tx


@Tx.prim_func
def shades(x: Tx.Buffer((256,), "float32"), y: Tx.Buffer((256,), "float32")):
    Tx.device_entry()
    Tx.cta_id([1])
    tx = Tx.thread_id([64])
    kept = Tx.alloc_shared((256,), "float32")
    Tx.cta.fill(kept, 0.5)
    Tx.tvm_storage_sync("shared")
    Tx.tvm_storage_sync("shared")
    for i in range(4):
        y[i * 64 + tx] = Tx.cuda_extras.saturate(x[i * 64 + tx]) + kept[255 - i * 64 - tx]


def test_the_name_is_there_and_nothing_else_acts():
    plain = tirx.compile(shades, "cuda")
    assert "__saturatef(" in plain.source.text
    assert plain.source.text.count("__syncthreads();") == 2
    assert plain.decisions[0].chosen.variant.name != "strided_fill"


def test_enabled_the_variant_and_the_pass_act():
    enabled = tirx.compile(shades, "cuda", extensions=["cuda.extras"])
    assert enabled.source.text.count("__syncthreads();") == 1
    assert enabled.decisions[0].chosen.variant.name == "strided_fill"
    assert ("tirx-cuda-extras", "0.1.0") in enabled.provenance


def test_both_compute_the_same():
    x = np.linspace(-1, 2, 256, dtype=np.float32)
    for extensions in ([], ["cuda.extras"]):
        y = np.zeros(256, np.float32)
        assert tirx.simulate(shades, x, y, target="cuda", extensions=extensions).verdict == "clean"
        np.testing.assert_allclose(y, np.clip(x, 0, 1) + 0.5, rtol=1e-6)
