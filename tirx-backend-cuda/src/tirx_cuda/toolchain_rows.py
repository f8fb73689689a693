"""The toolchains as rows; what they do is in `toolchain.py`, which is imported when something is compiled."""

from __future__ import annotations

from tirx.runtime.row import Toolchain

__all__ = ["TOOLCHAINS"]

TOOLCHAINS = (
    Toolchain(
        "nvrtc",
        "cuda",
        find="tirx_cuda.toolchain:find_nvrtc",
        compile="tirx_cuda.toolchain:compile_with_nvrtc",
        against="tirx_cuda.nvshmem_link:version_for",
        install='pip install "tirx-backend-cuda[nvrtc]"',
        priority=2,
    ),
    Toolchain(
        "nvcc",
        "cuda",
        find="tirx_cuda.toolchain:find_nvcc",
        compile="tirx_cuda.toolchain:compile_with_nvcc",
        against="tirx_cuda.nvshmem_link:version_for",
        install="install the CUDA toolkit and put its nvcc on the PATH",
        priority=1,
    ),
)
