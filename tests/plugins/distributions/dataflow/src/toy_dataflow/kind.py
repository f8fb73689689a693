"""The target kind: no levels of cooperation, one memory with an address of two parts."""

from __future__ import annotations

from tirx.target import Attribute, Capabilities, ScopeModel, StorageScope, TargetKind
from tirx.transform.bind_target import bind_target
from tirx.transform.mark_kernels import mark_kernels
from tirx.transform.pipeline import Anchor, Pipeline
from tirx.transform.split_host_device import split_host_device
from tirx.transform.verify import verify

__all__ = ["BANK", "DATAFLOW", "PIPELINE"]

DATAFLOW = TargetKind(
    "dataflow",
    doc="a machine without threads",
    attributes={"banks": Attribute(int, 4, "banks of words")},
    scope_model=lambda target, attrs: ScopeModel(),
    capabilities=lambda target: Capabilities(("float32", "int32"), scopes=("global", "flow.bank")),
    limits=lambda target: {"banks": target["banks"]},
)

BANK = StorageScope(
    "flow.bank",
    doc="banks of 1024 words",
    capacity=lambda target: target["banks"] * 4096,
    address=("bank", "word"),
    pointers=False,
    dtypes=("float32", "int32"),
)

PIPELINE = Pipeline("dataflow", lower=(bind_target, mark_kernels, verify, Anchor("dataflow:after_verify"), split_host_device))
