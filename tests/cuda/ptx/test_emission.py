"""Source: a function for each form that is used, readable, and what the compiler takes."""

from __future__ import annotations

from typing import Any

import pytest

import tirx
from tirx import script as Tx
from tirx_cuda.toolchain import find_nvrtc


def source(kernel: Any, arch: str = "sm_100a") -> str:
    """The CUDA C++ of a kernel."""
    return str(tirx.compile(kernel, target=f"cuda -arch={arch}").source)


def test_a_result_is_returned() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        x: Tx.float32 = 0.0
        Tx.ptx.ex2.approx.ftz.f32(x, A[tx])
        A[tx] = x

    text = source(kernel)
    assert (
        "__device__ __forceinline__ float ptx_ex2_approx_ftz_f32(float a) {\n"
        "  float d;\n"
        '  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(d) : "f"(a));\n'
        "  return d;\n"
        "}"
    ) in text
    assert "x = ptx_ex2_approx_ftz_f32(A[tx]);" in text


def test_several_results_are_references_and_memory_is_clobbered() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        v = Tx.alloc_local((2,), "float32")
        Tx.ptx.ld.global_.v2.f32(v[0], v[1], A.ptr_to([tx * 2]))
        Tx.ptx.st.global_.v2.f32(A.ptr_to([tx * 2]), v[1], v[0])

    text = source(kernel)
    assert "ptx_ld_global_v2_f32(float& d0, float& d1, const void* a)" in text
    assert 'asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(d0), "=f"(d1) : "l"(a) : "memory");' in text
    assert "ptx_ld_global_v2_f32(v[0], v[1], &A[tx * 2]);" in text
    assert "const float* __restrict__ A" not in text


def test_shared_addresses_come_from_pointers_and_from_registers() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        s = Tx.alloc_shared((32,), "float32")
        x: Tx.float32 = 0.0
        Tx.ptx.st.shared.f32(s.ptr_to([tx]), A[tx])
        Tx.ptx.ld.shared.f32(x, Tx.ptx.addr(Tx.cuda.cvta_generic_to_shared(s.ptr_to([0])), tx * 4))
        A[tx] = x

    text = source(kernel)
    assert '"r"((unsigned int)__cvta_generic_to_shared(a))' in text
    assert "ptx_ld_shared_f32(unsigned int a)" in text


def test_predicates_live_inside_the_assembly() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "float32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        p: Tx.bool = False
        x: Tx.float32 = A[tx]
        Tx.ptx.setp.gt.f32(p, x, 1.0)
        Tx.ptx.selp.f32(x, x, 0.0, p)
        Tx.ptx.add.f32(x, x, 1.0, pred=p, preserve_dst=True)
        A[tx] = x

    text = source(kernel)
    assert '"  setp.gt.f32 p_p, %1, %2;"' in text
    assert '"  selp.b32 %0, 1, 0, p_p;"' in text
    assert '"  @guard add.f32 %0, %1, %2;"' in text
    assert '"+f"(d)' in text


def test_immediates_are_part_of_the_text() -> None:
    @Tx.prim_func
    def kernel(A: Tx.Buffer((32,), "uint32")):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        x: Tx.uint32 = Tx.uint32(0)
        Tx.ptx.lop3.b32(x, A[tx], x, x, 0x80)
        Tx.ptx.lop3.b32(x, x, A[tx], x, 0x96)
        A[tx] = x

    text = source(kernel)
    assert 'asm("lop3.b32 %0, %1, %2, %3, 128;"' in text
    assert "ptx_lop3_b32_150(x, A[tx], x)" in text


def _everything() -> Any:
    """A kernel with every kind of operand."""

    @Tx.prim_func
    def kernel(
        A: Tx.Buffer((64,), "float32"),
        B: Tx.Buffer((64,), "uint32"),
        C: Tx.Buffer((64,), "uint8"),
        D: Tx.Buffer((64,), "float16"),
    ):
        Tx.device_entry()
        tx = Tx.thread_id([32])
        s = Tx.alloc_shared((64,), "uint32", align=128)
        q = Tx.alloc_local((4,), "uint32")
        r = Tx.alloc_local((1,), "uint32x4")
        pair = Tx.alloc_local((1,), "float16x2")
        b: Tx.uint8 = Tx.uint8(0)
        w: Tx.int32 = 0
        h: Tx.float16 = D[tx]
        p: Tx.bool = False
        n: Tx.uint32 = Tx.uint32(0)
        k: Tx.uint16 = Tx.uint16(0)
        l: Tx.uint64 = Tx.uint64(0)
        Tx.ptx.ld.global_.u8(b, C.ptr_to([tx]))
        Tx.ptx.ld.global_.s8(w, C.ptr_to([tx]))
        Tx.ptx.st.global_.u8(C.ptr_to([tx]), w)
        Tx.ptx.add.f16(h, h, h)
        Tx.ptx.cvt.rn.f16x2.f32(pair[0], A[tx], A[tx])
        Tx.ptx.add.f16x2(pair[0], pair[0], pair[0])
        Tx.ptx.cvt.rn.satfinite.e4m3x2.f32(k, A[tx], A[tx])
        Tx.ptx.cvt.rn.satfinite.e2m1x2.f32(b, A[tx], A[tx])
        Tx.ptx.cvt.rn.f16x2.e2m1x2(n, b)
        Tx.ptx.ld.global_.b128(r[0], B.ptr_to([0]))
        Tx.ptx.mov.b128(q[0], q[1], q[2], q[3], r[0])
        Tx.ptx.ldmatrix.sync.aligned.m8n8.x4.shared.b16(q[0], q[1], q[2], q[3], s.ptr_to([0]))
        Tx.ptx.match.all.sync.b32(n, p, q[0], Tx.uint32(0xFFFFFFFF))
        Tx.ptx.elect.sync(n, p, Tx.uint32(0xFFFFFFFF))
        Tx.ptx.and_.pred(p, p, Tx.ptx.pred(n))
        Tx.ptx.mapa.u64(l, s.ptr_to([0]), 0)
        Tx.ptx.isspacep.shared(p, s.ptr_to([0]))
        Tx.ptx.createpolicy.fractional.L2__evict_last.b64(l)
        Tx.ptx.ld.global_.L2__cache_hint.f32(A[tx], A.ptr_to([tx]), l)
        Tx.ptx.membar.gl()
        Tx.ptx.nanosleep.u32(20)
        B[tx] = n + q[3]
        C[tx] = b
        D[tx] = h

    return kernel


@pytest.mark.slow
@pytest.mark.skipif(find_nvrtc() is None, reason="needs NVRTC")
def test_the_compiler_takes_every_kind_of_operand() -> None:
    made = tirx.compile(_everything(), target="cuda -arch=sm_100a")
    assert len(made.binaries["cubin"]) > 1000
