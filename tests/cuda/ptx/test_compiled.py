"""Every published form as inline assembly, through the compiler."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

import tirx
from tirx import script as Tx
from tirx_cuda.ptx.forms import Form
from tirx_cuda.toolchain import find_nvrtc

from .published import PUBLISHED, matching

ARCHS = ("sm_90a", "sm_100a", "sm_107a", "sm_103a")
BATCH = 80
_PLAIN = {1: "b1", 8: "u8", 16: "u16", 32: "u32", 64: "u64", 128: "u128"}
_NAMED = {"f32": "f32", "f64": "f64", "f16": "f16", "bf16": "bf16", "f16x2": "f16x2", "f32x2": "f32x2"}
_DTYPES = {
    "b1": "bool", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "u128": "uint64x2", "f32": "float32",
    "f64": "float64", "f16": "float16", "bf16": "bfloat16", "f16x2": "float16x2", "f32x2": "float32x2",
}  # fmt: skip
_SPACES = {
    "shared": "S.ptr_to([0])",
    "global": "G.ptr_to([0])",
    "generic": "G.ptr_to([0])",
    "local": "L.ptr_to([0])",
    "tmem": "T.uint32(0)",
}
_HEAD = """\
@T.prim_func
def kernel(G: T.Buffer((4096,), "uint8"), O: T.Buffer((4096,), "uint32")):
    T.device_entry()
    tx = T.thread_id([128])
    S = T.alloc_shared((4096,), "uint8", align=128)
    L = T.alloc_local((64,), "uint8")
    address: T.uint64 = T.uint64(0)
"""


def _operands(form: Form) -> Iterator[str]:
    for position, part in enumerate(form.parts):
        if part.kind == "imm":
            yield str(part.choices[0] if part.choices else 1)
        elif part.kind == "memory":
            yield _SPACES.get(part.space.partition("::")[0], 'T.reinterpret("handle", address)')
        else:
            assert part.type is not None
            array = _NAMED.get(part.type.name) or _PLAIN[part.type.bits]
            yield f"{array}[{position % _size(array)}]"


def _size(array: str) -> int:
    return 256 if array in ("u32", "f32") else 16


def text_of(forms: Sequence[Form]) -> str:
    arrays = [f'    {name} = T.alloc_local(({_size(name)},), "{dtype}")' for name, dtype in _DTYPES.items()]
    calls = [f'    T.ptx["{form.mnemonic}"]({", ".join(_operands(form))})' for form in forms]
    return _HEAD + "\n".join([*arrays, *calls, "    O[tx] = u32[0]"]) + "\n"


def _forms(arch: str) -> list[Form]:
    """The forms that are tried for `arch`: those that none of the ones before it has."""
    found: dict[tuple[str, int], Form] = {}
    for row in PUBLISHED:
        form = matching(row)
        if form is not None and next((name for name in ARCHS if name in row.archs), None) == arch:
            found[form.mnemonic, form.variant] = form
    return list(found.values())


def _batches(arch: str) -> Iterator[list[Form]]:
    forms = _forms(arch)
    pairs = [form for form in forms if "cta_group::2" in form.mnemonic]  # one function has only one kind of groups
    alone = [form for form in forms if "cta_group::2" not in form.mnemonic]
    for kind in (alone, pairs):
        yield from (kind[start : start + BATCH] for start in range(0, len(kind), BATCH))


@pytest.mark.slow
@pytest.mark.skipif(find_nvrtc() is None, reason="needs NVRTC")
@pytest.mark.parametrize("arch", ARCHS)
def test_every_form_compiles_as_inline_assembly(arch: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for batch in _batches(arch):
        for form in batch:
            monkeypatch.setattr(form, "volatile", True)  # or the compiler drops what nobody uses
        made = tirx.compile(Tx.from_source(text_of(batch)), target=f"cuda -arch={arch}")
        assert made.binaries["cubin"]
