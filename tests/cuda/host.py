"""Generated kernels on the host: a C++ compiler reads the very source, a few lines stand for the machine.

Each thread of a cta is a thread of the host, and a barrier is a barrier; ctas run one after the other.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

COMPILER = shutil.which("g++") or shutil.which("clang++")

SHIM = """\
#include <cmath>
#include <cstdio>
#include <cstring>
#include <algorithm>
#include <barrier>
#include <memory>
#include <thread>
#include <vector>
using std::min; using std::max; using std::abs;
#define __global__
#define __device__
#define __restrict__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define CUDART_INF_F HUGE_VALF
#define CUDART_NAN_F NAN
struct uint3 { unsigned int x, y, z; };
static thread_local uint3 threadIdx;
static uint3 blockIdx, blockDim;
static std::unique_ptr<std::barrier<>> host_cta;
#define __shared__ static
#define __syncthreads() host_cta->arrive_and_wait()
#define VECTORS(T, name) \\
  struct name##2 { T x, y; }; struct alignas(4 * sizeof(T)) name##4 { T x, y, z, w; }; \\
  static inline name##2 make_##name##2(T x, T y) { return {x, y}; } \\
  static inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
VECTORS(float, float) VECTORS(int, int) VECTORS(unsigned int, uint)
template <typename To, typename From> To same_bits(From from) { To to; memcpy(&to, &from, sizeof to); return to; }
static inline int __float_as_int(float x) { return same_bits<int>(x); }
static inline unsigned int __float_as_uint(float x) { return same_bits<unsigned int>(x); }
static inline float __int_as_float(int x) { return same_bits<float>(x); }
static inline float __uint_as_float(unsigned int x) { return same_bits<float>(x); }
static inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __popc(unsigned int x) { return __builtin_popcount(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
"""

CALLER = """
extern "C" void run(unsigned int grid, unsigned int block, {parameters}) {{
  blockDim.x = block;
  for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x) {{
    host_cta = std::make_unique<std::barrier<>>(block);
    std::vector<std::thread> threads;
    for (unsigned int i = 0; i < block; ++i)
      threads.emplace_back([=] {{
        threadIdx.x = i;
        {kernel}({arguments});
        host_cta->arrive_and_drop();  // who has left is not waited for
      }});
    for (auto& thread : threads) thread.join();
  }}
}}
"""


def built(text: str, kernel: str, folder: Path, parameters: str) -> Any:
    """The function `run(grid, block, pointers...)` of a generated source without CUDA's headers."""
    assert COMPILER is not None
    names = [item.rpartition(" ")[2] for item in parameters.split(", ")]
    source, library = folder / "kernel.cc", folder / "kernel.so"
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("#include"))
    source.write_text(
        SHIM + plain + CALLER.format(parameters=parameters, kernel=kernel, arguments=", ".join(names)), encoding="utf-8"
    )
    options = [
        "-std=c++20",
        "-O1",
        "-pthread",
        "-shared",
        "-fPIC",
        "-w",
        "-ffp-contract=off",
        "-fwrapv",
        "-fno-strict-aliasing",
    ]
    subprocess.run([COMPILER, *options, "-o", str(library), str(source)], check=True, capture_output=True, text=True)
    return ctypes.CDLL(str(library)).run
