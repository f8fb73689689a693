"""Emitted text against the interface of every release, and the lint against text that it must refuse."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.trn.build import source_of
from tests.trn.lint import claimed, complaints
from tests.trn.test_kernels import add_kernel, matmul_kernel, softmax_kernel
from tests.trn.test_ops import ALL, case_kernel, tile_kernel
from tirx.ir import PrimFunc
from tirx.support.errors import VerifyError
from tirx_trn import script as nki
from tirx_trn.nki_api import RELEASES


@pytest.mark.parametrize("make", [add_kernel, matmul_kernel, softmax_kernel])
@pytest.mark.parametrize("generation", ["v2", "v3", "v4"])
def test_kernels_stay_in_the_common_subset(make: Callable[[], PrimFunc], generation: str) -> None:
    assert complaints(source_of(make(), f"trn -generation={generation}")) == []


CONTINUED = "largest of two"  # needs what 0.4 added


@pytest.mark.parametrize("release", [RELEASES[0], RELEASES[-1]])  # the lint binds against those between
@pytest.mark.parametrize("name", [name for name in ALL if name != CONTINUED])
def test_instructions_keep_to_the_interface_of_their_release(name: str, release: str) -> None:
    text = source_of(case_kernel(ALL[name]), f"trn -nki={release}")
    assert release in claimed(text)
    assert complaints(text) == []


def test_only_one_instruction_differs_between_releases() -> None:
    for name, case in ALL.items():
        if name == CONTINUED:
            continue
        texts = {source_of(case_kernel(case), f"trn -nki={release}").partition("\n")[2] for release in RELEASES}
        assert len(texts) == (2 if "tensor_scalar_reduce" in "".join(texts) else 1), name


def test_what_a_release_lacks_is_refused_at_the_line() -> None:
    with pytest.raises(VerifyError, match=r"nisa.tensor_scalar_reduce has no reduce_cmd in NKI 0\.3") as caught:
        source_of(case_kernel(ALL[CONTINUED]), "trn -nki=0.3")
    assert complaints(source_of(case_kernel(ALL[CONTINUED]), "trn -nki=0.4")) == []
    assert caught.value.hint == "write for NKI 0.4 or newer: target attribute -nki=0.4"


def test_an_operation_of_a_later_release_is_refused() -> None:
    func = tile_kernel(
        lambda x, r: [nki.tensortensor(r, x, x, "abs_max")], [np.ones((2, 2), np.float32)], ((2, 2), "float32")
    )
    assert "for NKI 0.4 to 0.6." in source_of(func, "trn -generation=v4")
    with pytest.raises(VerifyError, match=r"nl\.abs_max came with NKI 0\.4"):
        source_of(func, "trn -generation=v4 -nki=0.3")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("nisa.dma_copy(dst=x, src=y, priority=1)", "nisa.dma_copy in NKI 0.3"),
        ("nisa.memset(dst=x)", "missing a required argument: 'value'"),
        ("nisa.memset(x, value=0)", "positional arguments"),
        ("nisa.divide(dst=x, data=y)", "nisa.divide is no function of the subset"),
        ("nisa.tensor_tensor(dst=x, data1=x, data2=x, op=nl.divide)", "nl.divide is not in every release"),
        ("x is None", "Is"),
        ("[1, 2]", "a list"),
        ("lambda: 0", "Lambda"),
    ],
)
def test_what_does_not_belong_is_noticed(line: str, complaint: str) -> None:
    text = f"import nki\nimport nki.isa as nisa\nimport nki.language as nl\n\ndef kernel(x, y):\n    {line}\n"
    assert any(complaint in found for found in complaints(text))
