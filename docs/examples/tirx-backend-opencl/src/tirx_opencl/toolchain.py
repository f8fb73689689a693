"""OpenCL C to a device's binary, by the compiler in its driver."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tirx.runtime.row import Binary, Resources
from tirx.support.errors import Diagnostic, ToolchainError

if TYPE_CHECKING:
    from tirx.codegen import Source

__all__ = ["compile_source", "find"]

# `error: source.cl:7:14: text` of PoCL, `source.cl:7:14: error: text` of others
_PLACE = re.compile(r"(?:error: \S*?|^\S*?):(?P<line>\d+):\d+: (?:(?:fatal )?error: )?(?P<text>.*)", re.MULTILINE)


def find() -> str | None:
    """The driver's version and the device's name, where there are any: a binary is good for nothing else."""
    try:
        from .driver import default_driver  # opens pyopencl: only where something is compiled
    except ImportError:
        return None
    driver = default_driver()
    return None if driver is None else driver.version


def compile_source(source: Source, target: Any, options: Sequence[str] = ()) -> Binary:
    """The binary of `source`; `ToolchainError` at the author's line when it is refused."""
    from .driver import default_driver  # as in `find`

    driver = default_driver()
    if driver is None:
        raise ToolchainError("no OpenCL device is present", hint='pip install "tirx-backend-opencl[cpu]"')
    try:
        program, log = driver.build(source.text, options)
    except driver.cl.Error as error:
        raise _refusal(source, str(error), driver.version) from None
    figures = {name: _resources(driver, program, name) for name in source.entries}
    return Binary(driver.binary(program), "opencl", figures, driver.version, log)


def _resources(driver: Any, program: Any, name: str) -> Resources:
    """OpenCL tells the local and private memory of a kernel, not its registers."""
    kernel, info = driver.cl.Kernel(program, name), driver.cl.kernel_work_group_info
    private = kernel.get_work_group_info(info.PRIVATE_MEM_SIZE, driver.device)
    local = kernel.get_work_group_info(info.LOCAL_MEM_SIZE, driver.device)
    return Resources(0, 0, int(private), int(local))


def _refusal(source: Source, log: str, name: str) -> ToolchainError:
    """What the compiler said, at the author's lines."""
    found = list(_diagnostics(source, log, name))
    return ToolchainError(diagnostics=found or [Diagnostic(f"{name} failed: {log.strip()}")])


def _diagnostics(source: Source, log: str, name: str) -> Iterator[Diagnostic]:
    lines = source.text.splitlines()
    for place in _PLACE.finditer(log):
        if "error: " not in place[0]:
            continue
        number = int(place["line"])
        excerpt = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        notes = [f"generated line {number}: {excerpt}"]
        yield Diagnostic(f"{name}: {place['text']}", source.places.get(number), notes=notes)
