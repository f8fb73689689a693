"""The kind `trn`: generations, tags, memories, and what the plugin offers."""

from __future__ import annotations

from importlib.metadata import version

import pytest

import tirx
from tests.trn.test_kernels import add_kernel
from tirx import backend
from tirx.support.errors import TargetError
from tirx.target import Target
from tirx_trn.hardware import GENERATIONS
from tirx_trn.target_tags import TAGS


def test_sizes_follow_the_generation() -> None:
    limits = {name: Target(f"trn -generation={name}").limits for name in ("v2", "v3", "v4")}
    assert {name: row["sbuf_bytes_per_partition"] for name, row in limits.items()} == {
        "v2": 180_224,
        "v3": 212_984,
        "v4": 245_752,
    }
    assert {name: row["matmul_moving_size"] for name, row in limits.items()} == {"v2": 512, "v3": 512, "v4": 4096}
    assert {row["psum_bytes_per_partition"] for row in limits.values()} == {16384}


def test_a_size_can_be_given() -> None:
    assert Target("trn -max_sbuf_size_per_partition=196608").limits["sbuf_bytes_per_partition"] == 196608


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trn -generation=v5", "it is one of v2, v3, v4"),
        ("trn -num-cores=0", "it is a positive number"),
        ("trn -width=32", "width"),
    ],
)
def test_wrong_attributes_are_refused(text: str, message: str) -> None:
    with pytest.raises(TargetError, match=message):
        Target(text)


@pytest.mark.parametrize(
    ("name", "generation", "cores"),
    [
        ("aws/trn1/trn1.2xlarge", "v2", 2),
        ("aws/trn1/trn1.32xlarge", "v2", 32),
        ("aws/inf2/inf2.48xlarge", "v2", 24),
        ("aws/trn2/trn2.48xlarge", "v3", 128),
        ("aws/trn1/trn1n.32xlarge", "v2", 32),
        ("aws/trn2/trn2u.48xlarge", "v3", 128),
        ("aws/trn3/ultraserver-gen1", "v4", 512),
        ("aws/trainium3", "v4", 8),
    ],
)
def test_tags(name: str, generation: str, cores: int) -> None:
    target = Target(name)
    assert (target.kind.name, target["generation"], target["num_cores"]) == ("trn", generation, cores)


@pytest.mark.parametrize(
    ("name", "gib", "bandwidth"),
    [
        ("aws/trn1/trn1.2xlarge", 32, 410),
        ("aws/inf2/inf2.24xlarge", 192, 410),
        ("aws/trn2/trn2.48xlarge", 1536, 362),
        ("aws/trainium3", 144, 612),
    ],
)
def test_tags_know_their_device_memory(name: str, gib: int, bandwidth: int) -> None:
    target = Target(name)
    assert (target["hbm_gib"], target["hbm_gbps_per_core"]) == (gib, bandwidth)


def test_figures_of_the_generations_are_the_documented_ones() -> None:
    """Lanes times clock is the documented throughput of the tensor engine; clocks as the guides give them."""
    assert {name: row.clocks for name, row in GENERATIONS.items()} == {
        "v2": {"tensor": 2.8, "vector": 1.12, "scalar": 1.4, "gpsimd": 1.4},
        "v3": {"tensor": 2.4, "vector": 0.96, "scalar": 1.2, "gpsimd": 1.2},
        "v4": {"tensor": 2.4, "vector": 1.2, "scalar": 1.2, "gpsimd": 1.2},
    }
    dense = {name: round(2 * 128 * 128 * row.clocks["tensor"] / 1000) for name, row in GENERATIONS.items()}
    assert dense == {"v2": 92, "v3": 79, "v4": 79}


@pytest.mark.parametrize("text", ["trn -nki=0.2", "trn -allocation=manual"])
def test_unknown_choices_are_refused(text: str) -> None:
    with pytest.raises(TargetError, match="it is one of"):
        Target(text)


def test_every_tag_says_where_it_comes_from() -> None:
    for tag in TAGS:
        figures = [part.partition(":") for part in tag.source.split("; ")]
        assert [what for what, _, _ in figures if what != "chips"] == [
            "cores of a chip, HBM and its bandwidth", "clocks of the engines, partitions, PSUM", "usable bytes of SBUF",
        ]  # fmt: skip
        assert all("AWS" in where for _, _, where in figures)


def test_a_target_has_the_clocks_of_its_engines() -> None:
    names = ("tensor", "vector", "scalar", "gpsimd")
    for tag, clocks in (
        ("aws/trn1/trn1.2xlarge", [2800, 1120, 1400, 1400]), ("aws/trn2/trn2.48xlarge", [2400, 960, 1200, 1200]),
        ("aws/trn3/ultraserver-gen1", [2400, 1200, 1200, 1200]),
    ):  # fmt: skip
        assert [Target(tag).attrs[f"{name}_mhz"] for name in names] == clocks


def test_there_are_no_threads() -> None:
    assert Target("trn").scope_model().levels == ()


def test_memories_are_addressed_by_hand_or_not_at_all() -> None:
    scopes = {name: backend.find("storage_scopes", name) for name in ("trn.sbuf", "trn.psum")}
    assert {name: scope.address for name, scope in scopes.items()} == {
        "trn.sbuf": ("byte",),
        "trn.psum": ("bank", "byte"),
    }
    assert [scope.capacity(Target("trn")) for scope in scopes.values()] == [212_984, 16_384]
    assert not any(scope.pointers for scope in scopes.values())


def test_the_backend_is_loaded_by_what_it_promises() -> None:
    assert backend.provides("kind", "trn") == ("trn",)
    assert backend.info("trn").state == "OK"


def test_core_is_among_what_was_used() -> None:
    used = tirx.compile(add_kernel(), "trn").provenance
    assert used == (("tirx-backend-trn", version("tirx-backend-trn")), ("tirx-core", tirx.__version__))
