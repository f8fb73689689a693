"""The matrix products for Hopper and Blackwell with one mistake each: a check finds it, at its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tirx
from tests.programs.examples import EXAMPLES, load
from tirx.support.errors import ScriptError

pytestmark = pytest.mark.needs("tirx-backend-cuda")

# kernel, what is changed, what stands there instead, the kind of finding, what its line holds, a word of it
FULL_WAIT = "pipe.full.wait(use.stage, use.phase)"
READ = "                Tx.ptx.cp.async_.bulk.wait_group.read(0)\n"
MAP = 'A, box=(M_TILE, K_TILE), swizzle="128B"'
FENCE = "        Tx.ptx.fence.proxy.async_()\n        Tx.cuda.warpgroup_sync(1)"
BARRIER = "        Tx.cuda.warpgroup_sync(1)\n"
PRODUCT = {"hopper_gemm": "Tx.ptx[PRODUCT]", "blackwell_gemm": "Tx.ptx.tcgen05.mma"}
SMALL = {"hopper_gemm": "= 64, 64, 64, 3", "blackwell_gemm": "= 128, 64, 64, 3"}  # tiles and stages
BOTH = [
    ("tx_count=STAGE_BYTES", "tx_count=STAGE_BYTES - 32", "transaction_count", "tx_count=", "32 bytes fewer than copies bring"),
    ("tx_count=STAGE_BYTES", "tx_count=STAGE_BYTES + 16", "transaction_count", "tx_count=", "16 bytes more than copies bring"),
    (FULL_WAIT, "pass", "in_flight", PRODUCT, "while `cp.async.bulk.tensor.2d` may still be writing it"),
    ("use = PipelineState(STAGES, 0)", "use = PipelineState(STAGES, 1)", "deadlock", FULL_WAIT, "never gets past this wait"),
    ("pipe.empty.wait(fill.stage, fill.phase)", "pass", "in_flight", "Tx.ptx[LOAD](As", "may still be"),
    (FENCE, BARRIER[:-1], "proxy_fence", "Tx.ptx[STORE]", "wrote to `Cs`: no proxy fence stands between"),
    (BARRIER, "", "race", "Tx.ptx[STORE]", "reads an element of `Cs`"),
    (READ, "", "in_flight", "Tx.ptx[STORE]", "the cta ends while `cp.async.bulk.tensor.2d` may still be reading its memory"),
    (MAP, "A, box=(M_TILE, K_TILE)", "swizzle", PRODUCT, "with swizzle 128B what a tensor copy wrote with swizzle none"),
]  # fmt: skip
HOPPER = [
    ("            Tx.ptx.wgmma.fence.sync.aligned()\n", "", "register_fence", "acc[half, i] for i", "before any fence"),
    ("wait_group.sync.aligned(1)", "wait_group.sync.aligned(2)", "in_flight", "Tx.ptx[LOAD](As",
     "`wgmma.mma_async` may still be reading it"),
    ("        Tx.ptx.wgmma.wait_group.sync.aligned(0)\n", "", "in_flight", "Tx.cast(acc[half", "`acc` is read before it is there"),
]  # fmt: skip
BLACKWELL = [
    ("        finished.wait(0, 0)\n", "", "in_flight", "tcgen05.ld", "while `tcgen05.mma` may still be writing it"),
    ("            Tx.ptx.tcgen05.wait__ld.sync.aligned()\n", "", "in_flight", "part[piece * 8", "`part` is read before it is there"),
    ("pipe.empty.arrive(use.stage)", "pass", "deadlock", "pipe.empty.wait", "never gets past this wait"),
]  # fmt: skip
CASES = [
    *(("hopper_gemm", *case) for case in (*BOTH, *HOPPER)), *(("blackwell_gemm", *case) for case in (*BOTH, *BLACKWELL)),
]  # fmt: skip


def seeded(name: str, old: str, new: str, folder: Path) -> Any:
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    made = text.replace(old, new).replace("= 128, 128, 64, 4", SMALL[name])
    place = folder / f"{name}.py"
    place.write_text(made, encoding="utf-8")
    return load(place), made.splitlines()


@pytest.mark.parametrize(("name", "old", "new", "kind", "line", "words"), CASES)
def test_a_mistake_is_found(name: str, old: str, new: str, kind: str, line: Any, words: str, tmp_path: Path) -> None:
    module, lines = seeded(name, old, new, tmp_path)
    arguments = module.arguments(np.random.default_rng(0), m=56, n=64, k=392)
    report = tirx.simulate(module.KERNEL, *arguments, target=module.TARGET)
    held = line[name] if isinstance(line, dict) else line
    fitting = [found for found in report.findings if found.kind == kind and words in found.message]
    assert fitting, str(report)
    spans = [found.span for found in fitting if found.span is not None]
    assert any(held in lines[span.line - 1] for span in spans), str(report)


@pytest.mark.parametrize("name", ["hopper_gemm", "blackwell_gemm"])
def test_a_swizzle_that_does_not_fit_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="a row of the box has 128 bytes, more than swizzle 64B spans"):
        seeded(name, MAP, 'A, box=(M_TILE, K_TILE), swizzle="64B"', tmp_path)
