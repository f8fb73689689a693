"""`Tx.nvshmem`: source against NVSHMEM's headers, and kernels on several elements in one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import tirx
from tests.cuda.helpers import source_of
from tirx import script as Tx
from tirx.ir import IRModule, structural_equal
from tirx.runtime import Resources
from tirx.script import from_source
from tirx.support.errors import ArgumentError, ScriptError, ToolchainError
from tirx.target import Target
from tirx_cuda import nvshmem, nvshmem_link
from tirx_cuda.cubin import linked
from tirx_cuda.nvjitlink import open_nvjitlink
from tirx_cuda.nvrtc import nvshmem_root, open_nvrtc
from tirx_cuda.toolchain import compile_with_nvrtc

TARGET = "cuda -arch=sm_90a"


def clean(reports: Any) -> None:
    for report in reports:
        assert report.verdict == "clean", str(report)


@Tx.prim_func
def every_function(
    A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32"), S: Tx.Buffer((4,), "uint64"), n: Tx.int32
):
    Tx.device_entry()
    tx = Tx.thread_id([32])
    peer: Tx.let = (Tx.nvshmem.my_pe() + 1) % Tx.nvshmem.n_pes()
    Tx.nvshmem.putmem_nbi.block(B.ptr_to([0]), A.ptr_to([0]), 16, peer)
    Tx.nvshmem.getmem_nbi.warp(B.ptr_to([16]), A.ptr_to([16]), n, peer)
    Tx.nvshmem.putmem_signal_nbi.block(B.ptr_to([32]), A.ptr_to([32]), 8, S.ptr_to([0]), 5, "set", peer)
    Tx.nvshmem.putmem_signal_nbi.warp(B.ptr_to([40]), A.ptr_to([40]), 8, S.ptr_to([1]), 1, "add", peer)
    if tx == 0:
        Tx.nvshmem.putmem_nbi(B.ptr_to([48]), A.ptr_to([48]), 4, peer)
        Tx.nvshmem.getmem_nbi(B.ptr_to([52]), A.ptr_to([52]), 4, peer)
        Tx.nvshmem.putmem_signal_nbi(B.ptr_to([56]), A.ptr_to([56]), 8, S.ptr_to([1]), 1, "add", peer)
        Tx.nvshmem.fence()
        Tx.nvshmem.signal_op(sig_addr=S.ptr_to([2]), signal=n, sig_op="set", pe=peer)
        Tx.nvshmem.wait_until(S.ptr_to([0]), "eq", 5)
        Tx.nvshmem.wait_until(S.ptr_to([2]), "ge", n, type="uint64_t")
        Tx.nvshmem.quiet()
        Tx.nvshmem.barrier_all()


def arguments(elements: int) -> list[tuple[Any, ...]]:
    return [
        (np.arange(64, dtype=np.float32) + 100 * pe, np.zeros(64, np.float32), np.zeros(4, np.uint64), 16)
        for pe in range(elements)
    ]


@pytest.mark.parametrize("elements", [1, 2, 3, 5])
def test_every_function_on_several_elements(elements: int) -> None:
    given = arguments(elements)
    clean(nvshmem.simulate(every_function, given, target=TARGET))
    for pe, (_, b, signals, _) in enumerate(given):
        before, after = given[(pe - 1) % elements][0], given[(pe + 1) % elements][0]
        puts = [*range(16), *range(32, 52), *range(56, 64)]
        gets = [*range(16, 32), *range(52, 56)]
        assert (b[puts] == before[puts]).all()
        assert (b[gets] == after[gets]).all()
        assert signals.tolist() == [5, 2, 16, 0]


def test_alone_a_kernel_is_the_only_element() -> None:
    ((a, b, signals, n),) = arguments(1)
    report = tirx.simulate(every_function, a, b, signals, n, target=TARGET)
    assert report.verdict == "clean", str(report)
    assert (a == b).all()


def test_source() -> None:
    text = source_of(every_function, TARGET).text
    assert text.startswith("#include <nvshmem.h>\n#include <nvshmemx.h>\n")
    for line in (
        "int peer = floormod(nvshmem_my_pe() + 1, nvshmem_n_pes());",
        "nvshmemx_putmem_nbi_block(B, A, 64, peer);",
        "nvshmemx_getmem_nbi_warp(&B[16], &A[16], n * 4, peer);",
        "nvshmemx_putmem_signal_nbi_block(&B[32], &A[32], 32, (uint64_t*)S, 5ULL, NVSHMEM_SIGNAL_SET, peer);",
        "nvshmem_putmem_nbi(&B[48], &A[48], 16, peer);",
        "nvshmem_uint64_wait_until((uint64_t*)S, NVSHMEM_CMP_EQ, 5ULL);",
        "nvshmem_quiet();",
    ):
        assert line in " ".join(text.split()), line


@Tx.prim_func
def every_word(S: Tx.Buffer((4,), "uint64"), W: Tx.Buffer((4,), "int32")):
    """`wait_until` for words of every type."""
    Tx.device_entry()
    for word in ("uint64_t", "int64_t", "size_t"):
        Tx.nvshmem.wait_until(S.ptr_to([0]), "gt", 5, type=word)
    for word in ("uint32_t", "int32_t"):
        Tx.nvshmem.wait_until(W.ptr_to([0]), "ne", 5, type=word)


@pytest.mark.slow
@pytest.mark.skipif(open_nvrtc() is None or nvshmem_root() is None, reason="needs NVRTC and tirx-backend-cuda[nvshmem]")
@pytest.mark.parametrize("arch", ["sm_75", "sm_90a", "sm_100a"])
def test_kernels_are_linked_with_the_library(arch: str) -> None:
    """The library's functions are in the module, and the figures are those with them."""
    source = source_of(IRModule([every_function, every_word]), f"cuda -arch={arch}")
    binary = compile_with_nvrtc(source, Target(f"cuda -arch={arch}"))
    assert binary.data[:4] == b"\x7fELF"
    assert b"nvshmemi_transfer_quiet" in binary.data
    assert set(binary.resources) == {"every_function_kernel", "every_word_kernel"}
    assert binary.resources["every_function_kernel"].stack_bytes > 0


class Remote:
    """Source that uses NVSHMEM."""

    text = "#include <nvshmem.h>\n"
    places: ClassVar[dict[int, Any]] = {}


def installation(folder: Path, version: str = "9.1.2", library: bool = False) -> Path:
    """A folder that looks like one of NVSHMEM's."""
    (folder / "include" / "non_abi").mkdir(parents=True)
    (folder / "include" / "nvshmem.h").touch()
    names = ("MAJOR", "MINOR", "PATCH")
    lines = [
        f"#define NVSHMEM_VENDOR_{name}_VERSION {part}" for name, part in zip(names, version.split("."), strict=True)
    ]
    (folder / "include" / "non_abi" / "nvshmem_version.h").write_text("\n".join(lines))
    if library:
        (folder / "lib").mkdir()
        (folder / "lib" / "libnvshmem_device.a").touch()
    return folder


def test_without_the_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tirx_cuda.nvshmem_link.nvshmem_root", lambda: None)
    with pytest.raises(ToolchainError, match="the kernel uses NVSHMEM, whose headers are not installed") as caught:
        nvshmem_link.include_folder()
    assert "tirx-backend-cuda[nvshmem]" in (caught.value.hint or "")


def test_without_the_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NVSHMEM_HOME", str(installation(tmp_path)))
    with pytest.raises(ToolchainError, match=r"device library libnvshmem_device.a is not beside its headers") as caught:
        nvshmem_link.link(Remote, b"", Target(TARGET), {})  # type: ignore[arg-type]
    assert "tirx-backend-cuda[nvshmem]" in (caught.value.hint or "")


def test_without_the_linker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NVSHMEM_HOME", str(installation(tmp_path, library=True)))
    monkeypatch.setattr("tirx_cuda.nvshmem_link.open_nvjitlink", lambda: None)
    with pytest.raises(ToolchainError, match="nvJitLink, which links it, is not installed") as caught:
        nvshmem_link.link(Remote, b"", Target(TARGET), {})  # type: ignore[arg-type]
    assert "tirx-backend-cuda[nvshmem]" in (caught.value.hint or "")


@pytest.mark.skipif(open_nvjitlink() is None, reason="nvJitLink is not installed: pip install nvidia-nvjitlink")
def test_what_does_not_link_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NVSHMEM_HOME", str(installation(tmp_path, library=True)))
    with pytest.raises(ToolchainError, match="nvJitLink: "):
        nvshmem_link.link(Remote, b"no cubin", Target(TARGET), {})  # type: ignore[arg-type]


def test_another_installation_is_another_binary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("NVSHMEM_HOME", str(installation(tmp_path)))
    assert nvshmem_link.version_for(Remote) == f"{tmp_path} 9 1 2"  # type: ignore[arg-type]
    plain = source_of(every_word, TARGET)
    plain.text = plain.text.replace("#include <nvshmem.h>", "")
    assert nvshmem_link.version_for(plain) == ""


def test_figures_after_linking() -> None:
    before = {"a": Resources(10, 4, 0, 0), "b": Resources(20, 0, 8, 16)}
    log = """info    : Function properties for 'a':
info    : used 58 registers, used 1 barriers, 488 stack, 32 bytes smem, 556 bytes cmem[0], 0 bytes lmem"""
    after = linked(log, before)
    assert vars_of(after["a"]) == (58, 4, 488, 32)
    assert vars_of(after["b"]) == (20, 0, 8, 16)


def vars_of(figures: Resources) -> tuple[int, ...]:
    return figures.registers, figures.spill_bytes, figures.stack_bytes, figures.shared_bytes


def test_text_reads_back() -> None:
    assert structural_equal(from_source(every_function.script()), every_function)


def test_a_ring_sum() -> None:
    """All-reduce around a ring: each element waits for its neighbour, with data that depends on what came before."""

    @Tx.prim_func
    def ring(A: Tx.Buffer((32,), "int32"), T: Tx.Buffer((8, 32), "int32"), S: Tx.Buffer((8,), "uint64")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        me: Tx.let = Tx.nvshmem.my_pe()
        n: Tx.let = Tx.nvshmem.n_pes()
        T[0, tx] = A[tx]
        Tx.cuda.cta_sync()
        for step in range(n - 1):
            Tx.nvshmem.putmem_signal_nbi.block(
                T.ptr_to([step + 1, 0]), T.ptr_to([step, 0]), 32, S.ptr_to([step]), 1, "set", (me + 1) % n
            )
            if tx == 0:
                Tx.nvshmem.wait_until(S.ptr_to([step]), "eq", 1)
            Tx.cuda.cta_sync()
            A[tx] = A[tx] + T[step + 1, tx]

    given = [
        (np.arange(32, dtype=np.int32) * (pe + 1), np.zeros((8, 32), np.int32), np.zeros(8, np.uint64))
        for pe in range(4)
    ]
    clean(nvshmem.simulate(ring, given, target=TARGET))
    for a, _, _ in given:
        assert a.tolist() == (np.arange(32) * 10).tolist()


def test_copies_come_no_sooner_than_they_must() -> None:
    """A signal that nothing orders behind a copy may overtake it."""

    def kernel(fenced: bool) -> Any:
        @Tx.prim_func
        def body(A: Tx.Buffer((8,), "int32"), S: Tx.Buffer((1,), "uint64"), O: Tx.Buffer((1,), "int32")):
            Tx.device_entry()
            me: Tx.let = Tx.nvshmem.my_pe()
            if me == 0:
                A[0] = 7
                Tx.nvshmem.putmem_nbi(A.ptr_to([4]), A.ptr_to([0]), 1, 1)
                if fenced:
                    Tx.nvshmem.fence()
                Tx.nvshmem.signal_op(S.ptr_to([0]), 1, "set", 1)
            else:
                Tx.nvshmem.wait_until(S.ptr_to([0]), "eq", 1)
                O[0] = A[4]

        return body

    for fenced in (True, False):
        given = [(np.zeros(8, np.int32), np.zeros(1, np.uint64), np.full(1, -1, np.int32)) for _ in range(2)]
        clean(nvshmem.simulate(kernel(fenced), given, target=TARGET))
        assert given[1][2][0] == (7 if fenced else 0)
        assert given[1][0][4] == 7


def test_who_waits_for_ever() -> None:
    @Tx.prim_func
    def kernel(S: Tx.Buffer((1,), "uint64")):
        Tx.device_entry()
        if Tx.nvshmem.my_pe() == 1:
            Tx.nvshmem.wait_until(S.ptr_to([0]), "gt", 3)

    reports = nvshmem.simulate(kernel, [(np.zeros(1, np.uint64),) for _ in range(3)], target=TARGET)
    assert [report.verdict for report in reports] == ["clean", "error", "clean"]
    assert "never" in str(reports[1])


def test_faults() -> None:
    @Tx.prim_func
    def nobody(A: Tx.Buffer((8,), "int32")):
        Tx.device_entry()
        Tx.nvshmem.putmem_nbi(A.ptr_to([0]), A.ptr_to([4]), 4, 2)

    @Tx.prim_func
    def outside(A: Tx.Buffer((8,), "int32")):
        Tx.device_entry()
        Tx.nvshmem.putmem_nbi(A.ptr_to([4]), A.ptr_to([0]), 8, 0)

    @Tx.prim_func
    def divided(A: Tx.Buffer((64,), "int32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        Tx.nvshmem.putmem_nbi.warp(A.ptr_to([tx]), A.ptr_to([32]), 1, 0)

    for kernel, size, message in (
        (nobody, 8, "there is no element 2; there are 2"),
        (outside, 8, "lie in no symmetric array"),
        (divided, 64, "the threads of one warp give different arguments"),
    ):
        reports = nvshmem.simulate(kernel, [(np.zeros(size, np.int32),) for _ in range(2)], target=TARGET)
        assert all(report.verdict == "error" for report in reports)
        assert message in str(reports[0])


def test_symmetric_memory_is_alike() -> None:
    with pytest.raises(ArgumentError, match="argument 0 of element 1 is no array of the same shape and type"):
        nvshmem.simulate(every_function, [(np.zeros(4),), (np.zeros(5),)], target=TARGET)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda A: Tx.nvshmem.signal_op(A.ptr_to([0]), 1, "sub", 0), "`sig_op` is not 'sub'"),
        (lambda A: Tx.nvshmem.wait_until(A.ptr_to([0]), "==", 1), "`cmp` is not '=='"),
        (lambda A: Tx.nvshmem.wait_until(A.ptr_to([0]), "eq", 1, type="float"), "`type` is not 'float'"),
        (
            lambda A: Tx.nvshmem.putmem_nbi(Tx.reinterpret("handle", A[0]), Tx.reinterpret("handle", A[0]), 1, 0),
            "do not say what",
        ),
    ],
)
def test_mistakes(write: Any, message: str) -> None:
    with Tx.prim_func():
        A = Tx.arg("A", Tx.Buffer((8,), "uint64"))
        Tx.device_entry()
        with pytest.raises(ScriptError, match=message):
            write(A)
