"""Devices by name. What a driver reports differs between machines: `tirx_opencl.device.attributes()` asks the one that is here."""

from __future__ import annotations

from tirx.target import TargetTag

__all__ = ["TAGS"]

KIB = 1024

TAGS = (
    TargetTag(
        "opencl/pocl-cpu",
        "opencl",
        {"max_threads": 4096, "local_bytes": 512 * KIB},
        source="clGetDeviceInfo of PoCL 3.0 on x86-64",
        doc="a CPU through PoCL",
    ),
    TargetTag(
        "opencl/minimum",
        "opencl",
        {"max_threads": 1, "local_bytes": 32 * KIB, "double": False, "width": 1},
        source="OpenCL 1.2 specification, table 4.3: what every device of the full profile has",
        doc="what every OpenCL 1.2 device has",
    ),
    TargetTag(
        "opencl/intel-gpu",
        "opencl",
        {"max_threads": 512, "local_bytes": 64 * KIB, "half": True, "width": 16, "subgroups": True, "double": False},
        source="Intel graphics compute runtime: FEATURES.md and clGetDeviceInfo of Gen11 and Xe-LP",
        doc="integrated graphics of Intel",
    ),
)
