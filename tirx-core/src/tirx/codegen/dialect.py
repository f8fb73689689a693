"""The tables that make the C-family printer write one particular language; a backend fills them.

Nothing here decides anything: names of types and qualifiers, which words are taken, how constants are spelled, and the
texts of helper functions that generated code may call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ir import DType
from ..support.errors import TargetError
from .names import identifier

__all__ = ["LETTERS", "CDialect", "CType", "Helper"]

LETTERS = ("x", "y", "z", "w")


class CType:
    """How one dtype is written.

    * `name`: the type; `include`: the header that defines it, or `definition`: its text
    * `literal`: a float constant from its decimal text (`"{0}f"`); `suffix`: what follows an integer constant
    * `infinity`, `nan`: such constants; `minus_infinity`: where no minus may stand before it; `constants`: the header that
      defines these
    * `lanes`: for vectors, what selects each lane (`.x`, or `[0]`); `make`: a vector from its lanes (`make_float4({0})`)
    * `lane`: instead, what takes a lane from a vector of elements that share bytes (`nibble({0}, {1})`); such vectors have units
      of two, wider ones are an array of them
    * `native`: infix operators that the language defines on a vector; `splat`: a vector from one value, when it is one call
    * `promoted`: arithmetic answers a wider type (C's `short` and below)
    """

    __slots__ = (
        "constants", "definition", "include", "infinity", "lane", "lanes", "literal", "make",
        "minus_infinity", "name", "nan", "native", "promoted", "splat", "suffix",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        *,
        include: str = "",
        definition: str = "",
        literal: str = "{0}",
        suffix: str = "",
        infinity: str = "",
        minus_infinity: str = "",
        nan: str = "",
        constants: str = "",
        lanes: Sequence[str] = (),
        lane: str = "",
        make: str = "",
        native: Sequence[str] = (),
        splat: str = "",
        promoted: bool = False,
    ) -> None:
        self.name = name
        self.include = include
        self.definition = definition
        self.literal = literal
        self.suffix = suffix
        self.infinity = infinity
        self.minus_infinity = minus_infinity
        self.nan = nan
        self.constants = constants
        self.lanes = tuple(lanes)
        self.lane = lane
        self.make = make
        self.native = frozenset(native)
        self.splat = splat
        self.promoted = promoted


class Helper:
    """A definition that generated source may need: its `text`, the helpers it builds on, the headers it includes."""

    __slots__ = ("includes", "name", "needs", "text")

    def __init__(self, name: str, text: str, *, needs: Sequence[str] = (), includes: Sequence[str] = ()) -> None:
        self.name = name
        self.text = text
        self.needs = tuple(needs)
        self.includes = tuple(includes)


class CDialect:
    """One language of the C family.

    * `types`: dtype name -> CType, vectors included where the language has them
    * `vector`: definition of a structure for all other vectors, from their `name`, `element`, `lanes` and `align`ment (at most
      `vector_alignment`); it is called like its dtype, and a lane is selected with `[i]`
    * `reserved`: words that no name of an author may be
    * `launch_axes`: launch axis -> what reads its index; `launch_type`: dtype of that value
    * `scopes`: storage scope -> what stands before the type of an array in it; `dynamic`: the same for a buffer whose size
      the launch decides; `dynamic_argument`: name of the kernel's last parameter, where such memory is one; `align`: an alignment
    * `spaces`: storage scope -> what stands before the type that a pointer into it points to, where pointers say that
    * `kernel`, `function`: what stands before the result type of a kernel and of a function it calls; `restrict`;
      `record`: what stands before the type of a parameter that the host encodes and passes by value
    * `assertion`: statement for an assertion that failed, from the arguments of a `printf` (`printf({0}); __trap();`)
    * `pairs`: dtype -> vector dtype of two on which arithmetic is faster than on single elements
    * `bridges`: dtypes that convert to each other only through a third one, and which
    * `calls`: names of C functions for operations of the IR (`min max fmod floordiv floormod`), also for one dtype (`min.float16`),
      for conversions that are no plain casts (`cast.float16.float32`) and for the same bits (`reinterpret.float32.int32`)
    * `overloads`: whether functions of one name may differ in their parameters, and operators be defined
    * `listed`: up to so many lanes are written one by one, more in a loop
    """

    __slots__ = (
        "align", "assertion", "bridges", "calls", "dynamic", "dynamic_argument", "function", "helpers", "kernel", "launch_axes",
        "launch_type", "listed", "name", "overloads", "pairs", "record", "reserved", "restrict", "scopes", "spaces", "types", "unroll",
        "vector", "vector_alignment",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        *,
        types: Mapping[str, CType],
        reserved: frozenset[str],
        launch_axes: Mapping[str, str],
        scopes: Mapping[str, str],
        kernel: str,
        function: str,
        launch_type: str = "uint32",
        dynamic: str = "",
        dynamic_argument: str = "",
        spaces: Mapping[str, str] | None = None,
        restrict: str = "",
        record: str = "const ",
        align: str = "alignas({0})",
        vector: str = "",
        vector_alignment: int = 16,
        unroll: str = "#pragma unroll{0}",
        assertion: str = "",
        helpers: Mapping[str, Helper] | None = None,
        pairs: Mapping[str, str] | None = None,
        calls: Mapping[str, str] | None = None,
        bridges: Mapping[str, str] | None = None,
        overloads: bool = True,
        listed: int = 4,
    ) -> None:
        self.name = name
        self.types = dict(types)
        self.reserved = reserved
        self.launch_axes = dict(launch_axes)
        self.launch_type = launch_type
        self.scopes = dict(scopes)
        self.dynamic = dynamic
        self.dynamic_argument = dynamic_argument
        self.spaces = dict(spaces or {})
        self.kernel = kernel
        self.function = function
        self.restrict = restrict
        self.record = record
        self.align = align
        self.vector = vector
        self.vector_alignment = vector_alignment
        self.unroll = unroll
        self.assertion = assertion
        self.helpers = dict(helpers or {})
        self.pairs = dict(pairs or {})
        self.calls = dict(calls or {})
        self.bridges = dict(bridges or {})
        self.overloads = overloads
        self.listed = listed

    def type(self, dtype: DType) -> CType:
        """How `dtype` is written; `TargetError` when the language has no such type."""
        found = self.types.get(dtype.name)
        if found is None and dtype.lanes > 1 and self.vector:
            found = self.types[dtype.name] = self._structure(dtype)
        if found is None:
            raise TargetError(
                f"{dtype} cannot be computed with on target {self.name}",
                hint=f"it has {', '.join(name for name in self.types if DType(name).lanes == 1)}",
            )
        return found

    def _structure(self, dtype: DType) -> CType:
        """A vector that the language has no type for."""
        name, align = identifier(dtype.name), min(dtype.alignment, self.vector_alignment)
        if dtype.is_packed:
            return self._structure_of_units(dtype, name, align)
        element = self.type(dtype.element)
        text = self.vector.format(name=name, element=element.name, lanes=dtype.lanes, align=align)
        lanes = tuple(f"[{index}]" for index in range(dtype.lanes))
        return CType(name, include=element.include, definition=text, lanes=lanes, make=f"{name}{{{{{{0}}}}}}")

    def _structure_of_units(self, dtype: DType, name: str, align: int) -> CType:
        """A vector of elements that share bytes: an array of pairs."""
        unit = self.types.get(dtype.element.unit.name)
        if unit is None or unit.name == name:
            raise TargetError(f"vectors of {dtype.element} cannot be written for target {self.name}")
        text = self.vector.format(name=name, element=unit.name, lanes=dtype.lanes // 2, align=align)
        make, splat = (item.replace(unit.name, name) for item in (unit.make, unit.splat))
        return CType(name, include=unit.include, definition=text, lane=unit.lane, make=make, splat=splat)
