"""Named targets and the table of capabilities."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tirx.cli.app import app
from tirx.target import Target
from tirx_cuda.arch import parse_arch
from tirx_cuda.capabilities import ARCHITECTURES, FEATURES, has, having, needs
from tirx_cuda.target_tags import TAGS, records

PUBLISHED = [
    line.split("\t")
    for line in Path(__file__).with_name("data").joinpath("published_tags.tsv").read_text().splitlines()
    if not line.startswith("#")
]
PRODUCTS = list(records("products.tsv"))
MODERN = [row for row in PRODUCTS if int(parse_arch(row["arch"]).number) >= 60]


def test_all_published_names_are_there_with_their_architecture() -> None:
    assert len(PUBLISHED) == 245
    named = {tag.name: tag for tag in TAGS}
    for name, arch in PUBLISHED:
        own = named[name].attributes["arch"]
        assert parse_arch(own).number == parse_arch(arch).number
        assert own.startswith(arch)  # sm_120a has all that sm_120 has


_MISSING = """
nvidia-h200 nvidia-b200 nvidia-gb200 nvidia-b300 nvidia-gb300 nvidia-gh200
nvidia-l4 nvidia-l40 nvidia-l40s geforce-rtx-5090 geforce-rtx-5080 geforce-rtx-5070-ti
geforce-rtx-5070 geforce-rtx-5060-ti geforce-rtx-5060 geforce-rtx-5050 rtx-pro-6000-blackwell rtx-pro-6000-blackwell-server
jetson-agx-thor jetson-agx-orin-64gb jetson-orin-nx jetson-orin-nano dgx-spark
"""


@pytest.mark.parametrize("name", _MISSING.split())
def test_products_that_published_lacks(name: str) -> None:
    assert Target(f"nvidia/{name}").attrs["memory_bandwidth"] > 0


def test_a_figure_has_a_source_and_the_source_a_document() -> None:
    documents = {row["key"] for row in records("products_sources.tsv")}
    for row in PRODUCTS:
        for column in ("arch", "multiprocessors", "l2", "bandwidth"):
            source = row[f"{column}_source"]
            assert bool(row[column]) == bool(source.replace("unstated", "")), (row["name"], column)
            assert row[f"{column}_source"] in {*documents, ""}
    assert documents == {
        row[f"{c}_source"] for row in PRODUCTS for c in ("arch", "multiprocessors", "l2", "bandwidth")
    } - {""}
    assert not any("http" in tag.source or "www" in tag.source for tag in TAGS)


def test_figures_are_plausible() -> None:
    """Every product of the last ten years is known in its size; columns were not mixed up."""
    for row in MODERN:
        assert row["multiprocessors"] or row["name"] == "nvidia-b100"
        assert 1 <= int(row["multiprocessors"] or 1) <= 192
        assert not row["l2"] or 512 <= int(row["l2"]) <= 192 * 1024
        assert not row["bandwidth"] or 25 <= int(row["bandwidth"]) <= 8000
    assert len(MODERN) > 150


def test_a_data_centre_product_without_a_figure_says_why() -> None:
    """Of those that people rent, every blank was looked for."""
    names = [row["name"] for row in PRODUCTS]
    rented = PRODUCTS[names.index("nvidia-b300") : names.index("nvidia-t4")]
    blanks = {(row["name"], c) for row in rented for c in ("multiprocessors", "l2", "bandwidth") if not row[c]}
    assert blanks
    assert all(row[f"{c}_source"] == "unstated" for row in rented for n, c in blanks if n == row["name"])
    assert "l2: not known" in next(tag for tag in TAGS if tag.name == "nvidia/nvidia-b100").source


# From the documents that the sources name.
@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("nvidia-h100", {"multiprocessors": 132, "l2_cache_size_bytes": 52428800, "memory_bandwidth": 3352}),
        ("nvidia-h200", {"multiprocessors": 132, "l2_cache_size_bytes": 62914560, "memory_bandwidth": 4800}),
        ("nvidia-gb200", {"multiprocessors": 152, "l2_cache_size_bytes": 132120576}),
        ("nvidia-gb300", {"multiprocessors": 152}),
        ("nvidia-b300", {"multiprocessors": 148}),
        ("nvidia-a100", {"multiprocessors": 108, "l2_cache_size_bytes": 41943040, "memory_bandwidth": 1555}),
        ("geforce-rtx-4090", {"multiprocessors": 128, "l2_cache_size_bytes": 75497472, "memory_bandwidth": 1008}),
        ("nvidia-t4", {"multiprocessors": 40, "max_shared_memory_per_block": 65536, "memory_bandwidth": 320}),
        ("nvidia-v100", {"multiprocessors": 80, "max_shared_memory_per_block": 98304, "memory_bandwidth": 900}),
        ("jetson-agx-thor", {"max_shared_memory_per_block": 232448, "l2_cache_size_bytes": 33554432}),
        ("jetson-tx2", {"registers_per_block": 32768, "max_shared_memory_per_block": 49152}),
        ("tesla-k80", {"shared_memory_per_multiprocessor": 112 * 1024, "max_threads_per_multiprocessor": 2048}),
        ("geforce-gtx-1650", {"tensor_core_dtypes": (), "max_threads_per_multiprocessor": 1024}),
        ("geforce-rtx-2060", {"tensor_core_dtypes": ("float16", "int8", "int4", "int1")}),
    ],
)
def test_figures_of_products(name: str, figures: dict[str, object]) -> None:
    attrs = Target(f"nvidia/{name}").attrs
    assert {key: attrs[key] for key in figures} == figures


# Programming guide, tables of technical specifications: shared memory of a cta and of a multiprocessor in KiB, threads, ctas.
@pytest.mark.parametrize(
    ("number", "figures"),
    [
        (75, (64, 64, 1024, 16)),
        (80, (163, 164, 2048, 32)),
        (86, (99, 100, 1536, 16)),
        (87, (163, 164, 1536, 16)),
        (89, (99, 100, 1536, 24)),
        (90, (227, 228, 2048, 32)),
        (100, (227, 228, 2048, 32)),
        (110, (227, 228, 1536, 24)),
        (120, (99, 100, 1536, 24)),
    ],
)
def test_figures_of_architectures(number: int, figures: tuple[int, ...]) -> None:
    row = ARCHITECTURES[number]
    assert (row.shared_bytes // 1024, row.multiprocessor_shared // 1024, row.threads, row.ctas) == figures


@pytest.mark.parametrize(
    ("feature", "present", "absent"),
    [
        ("wgmma", "sm_90a", "sm_90 sm_100a sm_120a"),
        ("tcgen05", "sm_100a sm_100f sm_103a sm_110a sm_110f", "sm_100 sm_90a sm_120a sm_121f"),
        ("tma", "sm_90 sm_90a sm_120", "sm_89"),
        ("setmaxnreg", "sm_90a sm_100a sm_120f", "sm_90 sm_120"),
        ("cp_async", "sm_80 sm_86 sm_121", "sm_75"),
        ("ldmatrix", "sm_75", "sm_72"),
        ("stmatrix", "sm_90", "sm_89"),
        ("float32x2", "sm_100 sm_120", "sm_90a"),
        ("mma_block_scale", "sm_120a sm_121a sm_121f", "sm_120 sm_100a"),
    ],
)
def test_features(feature: str, present: str, absent: str) -> None:
    assert all(has(arch, feature) for arch in present.split())
    assert not any(has(arch, feature) for arch in absent.split())


def test_requirements_say_who_has_it() -> None:
    assert needs("tma").text == "sm_90 or newer"
    assert needs("wgmma").text == "sm_90a"
    assert needs("mma_block_scale").text == "sm_120a, sm_120f, sm_121a or sm_121f"
    assert needs("wgmma").holds(Target("cuda -arch=sm_90a"))
    assert not needs("wgmma").holds(Target("cuda -arch=sm_90"))
    assert needs("tcgen05").available == having("tcgen05")


def test_every_feature_exists_somewhere_and_is_documented() -> None:
    for feature in FEATURES.values():
        assert having(feature.name)
        assert feature.doc
        assert feature.section


def test_warps_are_what_they_are() -> None:
    assert Target("cuda -arch=sm_80 -thread_warp_size=32 -max_num_threads=1024")["thread_warp_size"] == 32
    with pytest.raises(Exception, match="warps have 32 threads, not 64"):
        Target("cuda -arch=sm_80 -thread_warp_size=64")


# ---- `tirx targets` -----------------------------------------------------------------------------------------------------------


def listed(*args: str) -> str:
    found = CliRunner().invoke(app, ["targets", *args])
    assert found.exit_code == 0, found.output
    return found.stdout


def test_what_tags_share_stands_once() -> None:
    text = listed("h100-")
    assert text.splitlines()[0].split() == ["tag", "SMs", "L2", "bandwidth"]
    assert "nvidia/nvidia-h100-pcie  114  50 MiB  2039 GB/s" in text
    assert "shared/cta 227 KiB" in " ".join(text.split())


def test_one_tag_is_shown_whole() -> None:
    text = listed("nvidia/nvidia-a100")
    assert "l2_cache_size_bytes               40 MiB" in text
    assert "bandwidth: NVIDIA A100 Tensor Core GPU Architecture" in text


def test_as_json() -> None:
    found = json.loads(listed("nvidia-l40s", "--json"))
    assert [tag["name"] for tag in found["tags"]] == ["nvidia/nvidia-l40s"]
    assert found["tags"][0]["attributes"]["max_shared_memory_per_block"] == 101376
