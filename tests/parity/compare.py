"""What can be compared without running: signature, launch bounds, launch, resources, the instructions that are not arithmetic."""

from __future__ import annotations

import re
from typing import Any

from tirx.codegen import Source
from tirx.target import Target
from tirx_cuda import nvrtc, toolchain

KERNEL = re.compile(r"__global__ void\s*((?:__\w+__\s*\([^)]*\)\s*)*)(\w+)\s*\(([^)]*)\)\s*\{")
TYPES = {"signed char": "int8", "char": "int8", "uchar": "uint8", "unsigned char": "uint8", "short": "int16",
         "ushort": "uint16", "unsigned short": "uint16", "uint": "uint", "unsigned int": "uint", "unsigned": "uint",
         "int64_t": "long long", "long": "long long", "uint64_t": "ull", "unsigned long long": "ull",
         "unsigned long": "ull", "nv_bfloat16": "bf16", "__nv_bfloat16": "bf16", "half": "half", "__half": "half",
         "int8_t": "int8", "uint8_t": "uint8", "int16_t": "int16", "uint16_t": "uint16", "int32_t": "int",
         "uint32_t": "uint"}  # fmt: skip
WARP_NUMBER = (
    "shfl.sync.idx.b32"  # the published implementation has one in every kernel, for a warp id that nobody reads
)
WORDS = (
    "shfl vote bar barrier atom red redux membar fence activemask nanosleep elect match mbarrier cp ld st trap mapa "
    "griddepcontrol prefetch dp4a"
).replace(" ", "|")
KEPT = re.compile(rf"(?:^|[;{{}}])\s*(?:@!?%\w+\s+)?((?:{WORDS})(?:[.:]\w+)*)", re.MULTILINE)


class WithPtx(nvrtc.Nvrtc):
    """NVRTC that keeps the PTX too."""

    ptx = ""

    def _bytes(self, what: str, program: Any) -> bytes:
        if what == "CUBIN":
            self.ptx = super()._bytes("PTX", program).decode(errors="replace")
        return super()._bytes(what, program)


def type_of(parameter: str) -> str:
    """The type of a parameter, one spelling for both."""
    words = re.sub(r"\b(const|__restrict__|__grid_constant__|struct)\b", " ", parameter)
    pointer = "*" in words
    words = " ".join(words.replace("*", " ").split()[: -1 if len(words.replace("*", " ").split()) > 1 else None])
    return TYPES.get(words, words) + ("*" if pointer else "")


def signature(source: str) -> dict[str, Any]:
    """Types of the kernel's parameters in order, and its attributes."""
    found = KERNEL.search(source)
    assert found is not None, source
    return {
        "parameters": [type_of(item) for item in found[3].split(",") if item.strip()],
        "bounds": re.findall(
            r"__(?:launch_bounds|maxnreg)__\s*\([^)]*\)", found[1].replace(" ", "").replace("__launch_bounds__(1)", "")
        ),
        "restrict": found[3].count("__restrict__"),
    }


def binary(source: str, arch: str) -> dict[str, Any]:
    """What NVRTC makes of the source."""
    library = nvrtc.open_nvrtc()
    assert library is not None
    with_ptx = WithPtx(library.path)
    text = "#define __volatile__ volatile\n" + source if "__volatile__" in source else source
    original = toolchain.open_nvrtc
    toolchain.open_nvrtc = lambda: with_ptx
    try:
        built = toolchain.compile_with_nvrtc(Source(text, "cuda", ".cu", ()), Target({"kind": "cuda", "arch": arch}))
    finally:
        toolchain.open_nvrtc = original
    figures = next(iter(built.resources.values()))
    return {
        "registers": figures.registers, "spilled": figures.spill_bytes, "shared": figures.shared_bytes,
        "instructions": instructions(with_ptx.ptx),
    }  # fmt: skip


def instructions(ptx: str) -> list[str]:
    """Kinds of instructions that move data, wait or talk to other threads."""
    found = {re.sub(r"\.(relaxed|weak|volatile|aligned)\b", "", item) for item in KEPT.findall(ptx)}
    return sorted(item for item in found if not item.startswith(("ld.param", "st.param", "ld.const")))
