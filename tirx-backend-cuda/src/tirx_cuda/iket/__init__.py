"""NVIDIA's in-kernel profiler: kernels with annotations, programs under its tool, and the traces it writes.

iket = IketProfiler()                    # in a kernel: iket.range_push("load"); ...; iket.range_pop()
kernel = iket.compile(function)          # elsewhere the annotations leave no trace
result = profile(["python", "program.py"], output_dir="trace")
"""

from .profiler import IketProfiler
from .result import IketProfileError, IketProfileResult
from .tool import profile, run

__all__ = ["IketProfileError", "IketProfileResult", "IketProfiler", "profile", "run"]
