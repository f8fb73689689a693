"""What a compiled module says about itself: resources from the assembler's report, instruction counts from the ELF file."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from tirx.runtime.row import Resources

__all__ = ["instruction_counts", "linked", "messages", "resources"]

_ENTRY = re.compile(r"Compiling entry function '([^']+)'")
_PROPERTIES = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_LINKED = re.compile(r"Function properties for '([^']+)'")
_USED = re.compile(r"used (\d+) registers, .*?(\d+) stack, (\d+) bytes smem")
_SHARED = re.compile(r"(\d+) bytes smem")
_REPORT = re.compile(r"^(ptxas info|ptxas  +\.|\s+\d+ bytes stack frame)")


def resources(log: str) -> dict[str, Resources]:
    """Figures per kernel from the verbose report of ptxas."""
    found: dict[str, Resources] = {}
    name, stack, spill = "", 0, 0
    for line in log.splitlines():
        if entry := _ENTRY.search(line):
            name, stack, spill = entry[1], 0, 0
        elif figures := _PROPERTIES.search(line):
            stack, spill = int(figures[1]), int(figures[2])
        elif (registers := _REGISTERS.search(line)) and name:
            shared = _SHARED.search(line)
            found[name] = Resources(int(registers[1]), spill, stack, int(shared[1]) if shared else 0)
    return found


def linked(log: str, before: dict[str, Resources]) -> dict[str, Resources]:
    """Figures per kernel after linking, from nvJitLink's verbose report; what it does not say is as it was `before`."""
    found = dict(before)
    name = ""
    for line in log.splitlines():
        if entry := _LINKED.search(line):
            name = entry[1]
        elif (figures := _USED.search(line)) and name in found:
            old = found[name]
            found[name] = Resources(int(figures[1]), old.spill_bytes, int(figures[2]), int(figures[3]))
    return found


def messages(log: str) -> str:
    """The log without that report: what a person may need to read."""
    return "\n".join(line for line in log.splitlines() if line.strip() and not _REPORT.match(line))


# ---- the ELF file -------------------------------------------------------------------------------------------------

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_INSTRUCTION = 16  # bytes of one instruction since sm_70
_NOP = 0x918  # low 12 bits of its encoding


def _sections(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and contents of each section that has contents."""
    fields = _HEADER.unpack_from(data)
    offset, size, count, names = fields[6], fields[11], fields[12], fields[13]
    table = [_SECTION.unpack_from(data, offset + index * size) for index in range(count)]
    strings = table[names]
    for section in table:
        start = strings[4] + section[0]
        name = data[start : data.index(b"\0", start)].decode()
        if section[1] == 1:  # PROGBITS
            yield name, data[section[4] : section[4] + section[5]]


def instruction_counts(data: bytes) -> dict[str, int]:
    """Machine instructions per kernel, without the padding at the end."""
    found = {}
    for name, code in _sections(data):
        if name.startswith(".text."):
            words = [int.from_bytes(code[at : at + 2], "little") & 0xFFF for at in range(0, len(code), _INSTRUCTION)]
            while words and words[-1] == _NOP:
                words.pop()
            found[name.removeprefix(".text.")] = len(words)
    return found
