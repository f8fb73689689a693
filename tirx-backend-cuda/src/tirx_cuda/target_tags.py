"""Named targets: boards and chips by the names that people know.

Architectures: https://developer.nvidia.com/cuda-gpus. Numbers of multiprocessors: the architecture whitepapers and data sheets
named in `source`. Everything else follows from the architecture (`arch.py`).
"""

from __future__ import annotations

from tirx.target import TargetTag

__all__ = ["TAGS"]

_LIST = "developer.nvidia.com/cuda-gpus"

# name after `nvidia/`, arch, multiprocessors (None: several variants), where the numbers stand
_ROWS: tuple[tuple[str, str, int | None, str], ...] = (
    # data centre
    ("nvidia-b300", "sm_103a", None, _LIST),
    ("nvidia-gb300", "sm_103a", None, _LIST),
    ("nvidia-b200", "sm_100a", 148, f"{_LIST}; Blackwell architecture technical brief"),
    ("nvidia-gb200", "sm_100a", 148, f"{_LIST}; Blackwell architecture technical brief"),
    ("nvidia-b100", "sm_100a", 148, f"{_LIST}; Blackwell architecture technical brief"),
    ("nvidia-h200", "sm_90a", 132, f"{_LIST}; H200 data sheet"),
    ("nvidia-gh200", "sm_90a", 132, f"{_LIST}; Grace Hopper whitepaper"),
    ("nvidia-h100", "sm_90a", 132, f"{_LIST}; H100 whitepaper (SXM5)"),
    ("nvidia-h100-pcie", "sm_90a", 114, f"{_LIST}; H100 whitepaper (PCIe)"),
    ("nvidia-l40s", "sm_89", 142, f"{_LIST}; L40S data sheet"),
    ("nvidia-l40", "sm_89", 142, f"{_LIST}; L40 data sheet"),
    ("nvidia-l4", "sm_89", 58, f"{_LIST}; L4 data sheet"),
    ("nvidia-a100", "sm_80", 108, f"{_LIST}; A100 whitepaper"),
    ("nvidia-a30", "sm_80", 56, f"{_LIST}; A30 data sheet"),
    ("nvidia-a40", "sm_86", 84, f"{_LIST}; A40 data sheet"),
    ("nvidia-a16", "sm_86", None, _LIST),
    ("nvidia-a10", "sm_86", 72, f"{_LIST}; A10 data sheet"),
    ("nvidia-a10g", "sm_86", None, _LIST),
    ("nvidia-a2", "sm_86", 10, f"{_LIST}; A2 data sheet"),
    ("nvidia-t4", "sm_75", 40, f"{_LIST}; Turing whitepaper"),
    ("nvidia-v100", "sm_70", 80, f"{_LIST}; V100 whitepaper"),
    ("nvidia-p100", "sm_60", 56, f"{_LIST}; P100 whitepaper"),
    ("tesla-t4", "sm_75", 40, f"{_LIST}; Turing whitepaper"),
    ("tesla-v100", "sm_70", 80, f"{_LIST}; V100 whitepaper"),
    ("tesla-p100", "sm_60", 56, f"{_LIST}; P100 whitepaper"),
    # workstation
    ("rtx-pro-6000-blackwell", "sm_120a", 188, f"{_LIST}; RTX Blackwell PRO whitepaper"),
    ("rtx-6000-ada", "sm_89", 142, f"{_LIST}; RTX 6000 Ada data sheet"),
    ("rtx-a6000", "sm_86", 84, f"{_LIST}; RTX A6000 data sheet"),
    ("quadro-rtx-6000", "sm_75", 72, f"{_LIST}; Turing whitepaper"),
    # consumer
    ("geforce-rtx-5090", "sm_120a", 170, f"{_LIST}; RTX Blackwell whitepaper"),
    ("geforce-rtx-5080", "sm_120a", 84, f"{_LIST}; RTX Blackwell whitepaper"),
    ("geforce-rtx-5070-ti", "sm_120a", 70, f"{_LIST}; RTX Blackwell whitepaper"),
    ("geforce-rtx-5070", "sm_120a", 48, f"{_LIST}; RTX Blackwell whitepaper"),
    ("geforce-rtx-5060-ti", "sm_120a", 36, f"{_LIST}; GeForce product page"),
    ("geforce-rtx-4090", "sm_89", 128, f"{_LIST}; Ada whitepaper"),
    ("geforce-rtx-4080", "sm_89", 76, f"{_LIST}; Ada whitepaper"),
    ("geforce-rtx-4070-ti", "sm_89", 60, f"{_LIST}; GeForce product page"),
    ("geforce-rtx-4070", "sm_89", 46, f"{_LIST}; GeForce product page"),
    ("geforce-rtx-4060-ti", "sm_89", 34, f"{_LIST}; GeForce product page"),
    ("geforce-rtx-4060", "sm_89", 24, f"{_LIST}; GeForce product page"),
    ("geforce-rtx-3090-ti", "sm_86", 84, f"{_LIST}; GeForce product page"),
    ("geforce-rtx-3090", "sm_86", 82, f"{_LIST}; GA102 whitepaper"),
    ("geforce-rtx-3080", "sm_86", 68, f"{_LIST}; GA102 whitepaper"),
    ("geforce-rtx-3070", "sm_86", 46, f"{_LIST}; GA102 whitepaper"),
    ("geforce-rtx-3060", "sm_86", 28, f"{_LIST}; GeForce product page"),
    ("geforce-rtx-2080-ti", "sm_75", 68, f"{_LIST}; Turing whitepaper"),
    ("geforce-rtx-2080", "sm_75", 46, f"{_LIST}; Turing whitepaper"),
    ("geforce-rtx-2070", "sm_75", 36, f"{_LIST}; Turing whitepaper"),
    # embedded and integrated
    ("jetson-agx-thor", "sm_110a", 20, f"{_LIST}; Jetson Thor data sheet"),
    ("jetson-agx-orin-64gb", "sm_87", 16, f"{_LIST}; Jetson AGX Orin data sheet"),
    ("jetson-agx-orin-32gb", "sm_87", 14, f"{_LIST}; Jetson AGX Orin data sheet"),
    ("jetson-orin-nx", "sm_87", 8, f"{_LIST}; Jetson Orin NX data sheet"),
    ("jetson-agx-xavier", "sm_72", 8, f"{_LIST}; Jetson AGX Xavier data sheet"),
    ("dgx-spark", "sm_121a", 48, f"{_LIST}; DGX Spark data sheet"),
)


def _tag(name: str, arch: str, multiprocessors: int | None, source: str) -> TargetTag:
    figures = {} if multiprocessors is None else {"multiprocessors": multiprocessors}
    return TargetTag(f"nvidia/{name}", "cuda", {"arch": arch, **figures}, source=source)


TAGS = tuple(_tag(*row) for row in _ROWS)
