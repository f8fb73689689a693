"""Functions and modules as source of the C family."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ..intrinsic import Emission
from ..ir import Buffer, Call, DType, GlobalVar, IRModule, PointerType, PrimFunc, Var, walk
from ..support.errors import TargetError
from .dialect import CDialect
from .expr import ExprPrinter
from .names import Names
from .prelude import Prelude
from .row import Source
from .stmt import StmtPrinter
from .usage import Usage
from .writer import SourceWriter

__all__ = ["CGenerator"]


class CGenerator:
    """Writes the device functions of a module in one dialect. Backends override `attributes` and the signature's parts.

    `emission(name)` answers how the target writes an intrinsic, or None.
    """

    def __init__(
        self,
        dialect: CDialect,
        emission: Callable[[str], Emission | None],
        target: Any = None,
        *,
        directives: bool = False,
        noalias: bool = True,
    ) -> None:
        self.dialect = dialect
        self.emission = emission
        self.target = target
        self.directives = directives
        self.noalias = noalias
        self.prelude = Prelude(dialect)
        self.names = Names(dialect.reserved)
        self._dynamic: dict[str, str] = {}

    # ---- what backends override -------------------------------------------------------------------------------

    def attributes(self, func: PrimFunc) -> str:
        """What stands between a kernel's result type and its name, such as launch bounds; ends in a space."""
        return ""

    def opening(self, func: PrimFunc) -> Iterable[str]:
        """Lines that the body of a function begins with."""
        return ()

    def further_parameters(self, func: PrimFunc) -> Iterable[str]:
        """Parameters of a kernel behind the author's, as they stand in its head; the device's `launch` gives them."""
        return ()

    def is_noalias(self, func: PrimFunc) -> bool:
        """Whether the buffers of a kernel are promised not to overlap, nor to change behind its back."""
        return self.noalias and bool(func.attrs.get("tirx.noalias", True))

    def parameter_type(self, param: Var, *, const: bool, restrict: bool) -> str:
        """The type of a parameter, ready for its name."""
        kind = param.dtype
        text = self._printer_type(kind)
        if not isinstance(kind, PointerType):
            return text
        return f"{'const ' if const else ''}{text}{' ' + self.dialect.restrict if restrict and self.dialect.restrict else ''}"

    # ---- modules ----------------------------------------------------------------------------------------------

    def module(self, module: IRModule, language: str, suffix: str) -> Source:
        """All device functions as one source; functions stand before their callers."""
        functions = {name: func for name, func in module.functions.items() if func.attrs.get("role") != "host"}
        called = {name: self.names.take(name) for name in functions}
        bodies = [self.function(functions[name], called) for name in _callees_first(functions)]
        out = SourceWriter()
        for section in self.prelude.sections():
            out.line(section)
            out.line()
        for body in bodies:
            out.append(body)
            out.line()
        entries = [called[name] for name, func in functions.items() if "launch" in func.attrs]
        return Source(out.text(), language, suffix, entries, places=out.places)

    # ---- functions --------------------------------------------------------------------------------------------

    def function(self, func: PrimFunc, called: Mapping[str, str]) -> SourceWriter:
        """One function. A local that would hide a definition it uses is found when both are known; then it is renamed."""
        taken = {*self.dialect.reserved, *called.values(), *self._dynamic.values()}
        out, names = self._printed(func, called, taken)
        hidden = names.ever & self.prelude.names()
        return self._printed(func, called, taken | hidden)[0] if hidden else out

    def _printed(self, func: PrimFunc, called: Mapping[str, str], taken: Iterable[str]) -> tuple[SourceWriter, Names]:
        out = SourceWriter(directives=self.directives)
        usage = Usage(func.body)
        launch = func.attrs.get("launch")
        names = Names(taken)
        extents = {axis: launch.extent(axis) for axis in self.dialect.launch_axes} if launch is not None else {}
        printer = ExprPrinter(
            self.dialect, self.prelude, self.emission, names=names, usage=usage, target=self.target, functions=called,
            extents=extents,
        )  # fmt: skip
        parameters = ", ".join(self._parameters(func, printer, usage))
        with out.block(f"{self._head(func, printer)}{called.get(func.name, func.name)}({parameters})", span=func.span):
            for line in self.opening(func):
                out.line(line)
            StmtPrinter(printer, out, self._dynamic_name).stmt(func.body)
        return out, names

    def _head(self, func: PrimFunc, printer: ExprPrinter) -> str:
        if "launch" in func.attrs:
            return f"{self.dialect.kernel} {self.attributes(func)}"
        result = "void" if func.result.name == "void" else printer.type(func.result)
        return f"{self.dialect.function} inline {result} "

    def _parameters(self, func: PrimFunc, printer: ExprPrinter, usage: Usage) -> Iterator[str]:
        kernel = "launch" in func.attrs
        for param in func.params:
            if isinstance(param, Buffer):
                raise TargetError(f"parameter `{param.name}` of {func.name} is not lowered", span=func.span)
            printer.type(param.dtype)
            record = param.dtype.pointee if isinstance(param.dtype, PointerType) and param.dtype.by_value else None
            if kernel and record is not None:
                printer.variables.add(id(param))
                yield f"{self.dialect.record}{self._printer_type(record)} {printer.names.of(param, param.name)}"
                continue
            restrict = kernel and self.is_noalias(func) and _pointee(param)
            const = record is not None or (kernel and id(param) not in usage.written and _pointee(param))
            kind = self.parameter_type(param, const=const, restrict=restrict)
            yield f"{kind} {printer.names.of(param, param.name)}"
        if kernel:
            yield from self.further_parameters(func)
        if kernel and self.dialect.dynamic_argument and func.attrs["launch"].dynamic_shared is not None:
            yield f"{self.dialect.dynamic}{printer.type(DType('uint8'))}* {self.dialect.dynamic_argument}"

    def _printer_type(self, dtype: Any) -> str:
        if isinstance(dtype, PointerType):
            pointee = "void" if dtype.pointee is None else self.dialect.type(dtype.pointee.unit).name
            return f"{self.dialect.spaces.get(dtype.scope, '')}{pointee}*"
        return self.dialect.type(dtype).name

    def _dynamic_name(self, buffer: Buffer, kind: str) -> str:
        """All functions of a module that declare such memory with one type share its name."""
        if kind not in self._dynamic:
            self._dynamic[kind] = self.names.take(buffer.name)
        return self._dynamic[kind]


def _pointee(param: Var) -> bool:
    return isinstance(param.dtype, PointerType) and param.dtype.pointee is not None


def _callees_first(functions: Mapping[str, PrimFunc]) -> list[str]:
    """Names in an order in which each function follows those that it calls."""
    done: dict[str, None] = {}
    open_: list[str] = []

    def visit(name: str) -> None:
        if name in done or name not in functions:
            return
        if name in open_:
            cycle = " -> ".join([*open_[open_.index(name) :], name])
            raise TargetError(f"functions call each other in a circle: {cycle}", span=functions[name].span)
        open_.append(name)
        for node in walk(functions[name].body):
            if isinstance(node, Call) and isinstance(node.op, GlobalVar):
                visit(node.op.name)
        open_.pop()
        done[name] = None

    for name in functions:
        visit(name)
    return list(done)
