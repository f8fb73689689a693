"""The kind `cuda`: attributes, architectures, tags, limits."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

import tirx
from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.support.errors import TargetError, TirxError, VerifyError
from tirx.target import Target
from tirx_cuda.arch import ARCHITECTURES, DEFAULT_ARCH, at_least, parse_arch
from tirx_cuda.detect import read_device
from tirx_cuda.target_tags import TAGS


@pytest.fixture
def no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tirx_cuda.detect.detect", lambda: None)


@pytest.mark.usefixtures("no_device")
def test_without_a_device_the_documented_default_holds() -> None:
    assert Target("cuda")["arch"] == DEFAULT_ARCH == "sm_90a"


def test_a_device_decides_where_the_author_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tirx_cuda.detect.detect", lambda: {"arch": "sm_89", "multiprocessors": 58})
    assert Target("cuda").attrs["multiprocessors"] == 58
    assert Target("cuda -arch=sm_80")["arch"] == "sm_80"


@pytest.mark.parametrize(
    "spec",
    ["cuda -arch=sm_90a", {"kind": "cuda", "arch": "sm_90a"}, {"tag": "nvidia/nvidia-h200"}, "nvidia/nvidia-h100"],
)
def test_ways_to_say_it(spec: Any) -> None:
    assert Target(spec)["arch"] == "sm_90a"
    assert Target(spec).limits["shared_bytes"] == 232448


# Opt-in shared memory of one block, from the programming guide's table of technical specifications.
@pytest.mark.parametrize(
    ("arch", "shared"),
    [
        ("sm_75", 65536),
        ("sm_80", 166912),
        ("sm_86", 101376),
        ("sm_89", 101376),
        ("sm_90a", 232448),
        ("sm_100a", 232448),
        ("sm_120", 101376),
    ],
)
def test_shared_memory(arch: str, shared: int) -> None:
    assert Target(f"cuda -arch={arch}").limits["shared_bytes"] == shared


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("sm_91", "`sm_91` is no architecture of NVIDIA's", "did you mean"),
        ("90a", "`90a` is no architecture", "sm_90a"),
        ("compute_90", "`compute_90` is no architecture", "there are sm_20"),
        ("sm_80a", "`sm_80a`: sm_80 has no variant `a`", "write sm_80"),
        ("sm_90f", "`sm_90f`: sm_90 has no variant `f`", "write sm_90 or sm_90a"),
    ],
)
def test_unknown_architectures(text: str, message: str, hint: str) -> None:
    with pytest.raises(TargetError) as caught:
        parse_arch(text)
    assert message in str(caught.value)
    assert hint in (caught.value.hint or "")
    with pytest.raises(TargetError, match=text):
        Target("cuda", arch=text)


def test_more_shared_memory_than_there_is() -> None:
    with pytest.raises(TargetError, match="max_shared_memory_per_block=300000: sm_90a has 232448 bytes"):
        Target("cuda", arch="sm_90a", max_shared_memory_per_block=300000)


def test_attributes_that_do_not_exist() -> None:
    with pytest.raises(TargetError, match="target kind `cuda` has no attribute `arhc`") as caught:
        Target("cuda -arhc=sm_90")
    assert "arch" in (caught.value.hint or "")


def test_tags_are_whole() -> None:
    names = [tag.name for tag in TAGS]
    assert len(names) == len(set(names))
    assert all(tag.source and tag.name.startswith("nvidia/") for tag in TAGS)
    for tag in TAGS:
        assert Target(tag.name).limits["shared_bytes"] == parse_arch(tag.attributes["arch"]).shared_bytes


@pytest.mark.parametrize("name", ["h200", "b200", "l4", "l40", "h100", "a100", "t4"])
def test_boards_that_people_use_have_a_tag(name: str) -> None:
    assert Target(f"nvidia/nvidia-{name}").tag == f"nvidia/nvidia-{name}"


def test_a_tag_that_does_not_exist() -> None:
    with pytest.raises(TargetError, match="there is no target tag `nvidia/nvidia-h2000`") as caught:
        Target("nvidia/nvidia-h2000")
    assert "nvidia/nvidia-h200" in str(caught.value)


def test_requirements_list_who_has_it() -> None:
    row = at_least(90)
    assert row.text == "sm_90 or newer"
    assert row.available[0] == "sm_90"
    assert row.holds(Target("cuda -arch=sm_100a"))
    assert not row.holds(Target("cuda -arch=sm_80"))


def test_levels() -> None:
    new, old = Target("cuda -arch=sm_90a").scope_model(), Target("cuda -arch=sm_80").scope_model()
    assert new.names == ("kernel", "cluster", "cta_pair", "cta", "warpgroup", "warp", "thread")
    assert old.names == ("kernel", "cta", "warpgroup", "warp", "thread")
    assert new.fixed_width("warpgroup", "thread") == 128
    assert new.limits["cluster", "cta"] == 16
    assert Target("cuda -arch=sm_120").scope_model().limits["cluster", "cta"] == 8


def test_every_architecture_is_in_order() -> None:
    assert list(ARCHITECTURES) == sorted(ARCHITECTURES)


# ---- kernels that break a rule of the machine ---------------------------------------------------------------------


def refused(kernel: Any, target: str = "cuda -arch=sm_90a") -> TirxError:
    with pytest.raises((VerifyError, TargetError)) as caught:
        source_of(kernel, target)
    return caught.value


def test_too_many_threads() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((2048,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([2048])
        A[tx] = tx

    error = refused(kernel)
    assert "2048" in error.message
    assert "1024" in str(error)
    assert error.span is not None
    assert len(error.diagnostics) == 1


def test_too_much_static_shared_memory() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tile = Tx.alloc_shared((16384,), "float32")
        tile[0] = A[0]
        A[1] = tile[0]

    error = refused(kernel)
    assert error.message == "kernel allocates 65536 bytes of static shared memory; CUDA allows 49152"
    assert error.span is not None
    assert "shared.dyn" in (error.hint or "")


def test_clusters_on_a_machine_without() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        rank = Tx.cta_id_in_cluster([2])
        cl = Tx.cluster_id([2])
        A[rank] = cl

    assert "cluster" in refused(kernel, "cuda -arch=sm_80").message


def test_a_function_that_the_architecture_lacks() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        if Tx.cuda.elect_sync():
            A[tx] = 1

    error = refused(kernel, "cuda -arch=sm_80")
    assert "`cuda.elect_sync` needs sm_90 or newer" in str(error)
    assert error.span is not None
    assert error.span.path == __file__


def test_a_dtype_that_cuda_lacks() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float8_e3m4")):
        Tx.device_entry()
        A[0] = A[1]

    error = refused(kernel)
    assert "has no float8_e3m4" in error.message
    assert "float8_e4m3fn, float8_e5m2," in str(error)
    assert "int8, int16, int32, int64" in str(error)


def test_a_launch_flag_that_does_not_exist() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "int32")):
        Tx.func_attr({"tirx.kernel_launch_params": ["cooperativ"]})
        Tx.device_entry()
        A[0] = 1

    error = refused(kernel)
    assert error.message == "CUDA has no launch flag `cooperativ`"
    assert error.hint == "did you mean `cooperative`?"
    assert error.span is not None


# ---- detection ----------------------------------------------------------------------------------------------------


class FakeDriver:
    """The four functions that detection calls."""

    def __init__(self, values: dict[int, int], status: int = 0) -> None:
        self.values = values
        self.status = status

    def cuInit(self, flags: int) -> int:
        return self.status

    def cuDeviceGet(self, device: Any, index: int) -> int:
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: Any) -> int:
        ctypes.cast(value, ctypes.POINTER(ctypes.c_int))[0] = self.values[attribute]
        return 0


def test_detection_reads_the_driver() -> None:
    assert read_device(FakeDriver({75: 9, 76: 0, 16: 132})) == {"arch": "sm_90a", "multiprocessors": 132}
    assert read_device(FakeDriver({75: 8, 76: 9, 16: 58})) == {"arch": "sm_89", "multiprocessors": 58}
    assert read_device(FakeDriver({}, status=100)) is None


def test_compiling_needs_no_device() -> None:
    assert "cuda" in Target.list_kinds()
    assert tirx.backend.is_loaded("cuda")
