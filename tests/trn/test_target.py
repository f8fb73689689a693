"""The kind `trn`: generations, tags, memories, and what the plugin offers."""

from __future__ import annotations

from importlib.metadata import version

import pytest

import tirx
from tests.trn.test_kernels import add_kernel
from tirx import backend
from tirx.support.errors import TargetError
from tirx.target import Target
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
        ("aws/trainium3", "v4", 8),
    ],
)
def test_tags(name: str, generation: str, cores: int) -> None:
    target = Target(name)
    assert (target.kind.name, target["generation"], target["num_cores"]) == ("trn", generation, cores)


def test_every_tag_says_where_it_comes_from() -> None:
    assert all(tag.source.startswith("AWS Neuron documentation") for tag in TAGS)


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
