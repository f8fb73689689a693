"""Functions and modules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..support.errors import ScriptError
from ..support.span import Span, here
from .buffer import Buffer
from .dtype import VOID, DType
from .expr import Expr, Var
from .stmt import Stmt
from .visit import variables

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["IRModule", "Param", "PrimFunc", "variable_of"]

Param = Var | Buffer


def variable_of(param: Param) -> Var:
    """The variable that stands for a parameter in the body: of a buffer the pointer to its storage."""
    return param.data if isinstance(param, Buffer) else param


class PrimFunc:
    """A kernel or helper function.

    `params` are buffers (typed tensors), pointer variables (handles) and scalar variables, in call order; `names` the
    argument names that a caller sees (a buffer made by `match_buffer` keeps the handle's). `attrs` are plain data;
    `attrs["global_symbol"]` is the exported name, absent for private functions. Symbolic dimensions are variables that
    occur in the shapes of `params` without being parameters. `callees` are functions that the body calls by name: they join
    the module when this function becomes one (`IRModule.of`). Immutable: `replaced`, `with_attr`, `with_body` copy.
    """

    __slots__ = ("_memo", "attrs", "body", "callees", "name", "names", "params", "result", "span")

    def __init__(
        self,
        name: str,
        params: Sequence[Param],
        body: Stmt,
        attrs: Mapping[str, Any] | None = None,
        result: DType = VOID,
        names: Sequence[str] | None = None,
        span: Span | None = None,
        callees: Iterable[PrimFunc] = (),
    ) -> None:
        self.name = name
        self.params: tuple[Param, ...] = tuple(params)
        self.names: tuple[str, ...] = tuple(names) if names is not None else tuple(p.name for p in self.params)
        self.body = body
        self.attrs: dict[str, Any] = dict(attrs or {})
        self.result = result
        self.span = span
        self.callees: tuple[PrimFunc, ...] = tuple(callees)
        self._memo: dict[str, Any] = {}

    def replaced(self, **changes: Any) -> PrimFunc:
        """A function that differs in the given constructor arguments."""
        values: dict[str, Any] = {
            "name": self.name,
            "params": self.params,
            "body": self.body,
            "attrs": self.attrs,
            "result": self.result,
            "names": self.names,
            "span": self.span,
            "callees": self.callees,
        }
        values.update(changes)
        return PrimFunc(**values)

    def with_body(self, body: Stmt) -> PrimFunc:
        """The same function with another body (itself when the body is the same object)."""
        return self if body is self.body else self.replaced(body=body)

    def with_attr(self, key: str, value: Any) -> PrimFunc:
        """The same function with one attribute set."""
        return self.replaced(attrs={**self.attrs, key: value})

    def symbols(self) -> tuple[Var, ...]:
        """Symbolic dimensions: variables of the parameters' shapes, strides and offsets that are no parameters."""
        known = {id(p) for p in self.params}
        found: dict[int, Var] = {}
        for buffer in self.buffers():
            for item in (*buffer.shape, *buffer.strides, buffer.elem_offset):
                for var in variables(item) if isinstance(item, Expr) else ():
                    if id(var) not in known:
                        found.setdefault(id(var), var)
        return tuple(found.values())

    def buffers(self) -> tuple[Buffer, ...]:
        """The parameters that are buffers."""
        return tuple(p for p in self.params if isinstance(p, Buffer))

    def script(self) -> str:
        """Text that the parser reads back."""
        from .context import late  # the printer lives above

        text: str = late("print")(self)
        return text

    def show(self) -> None:
        """Print the script."""
        print(self.script())  # noqa: T201 - printing is what it is for

    def __call__(self, *args: Any) -> Any:
        """Inside a kernel: a call of this function. Outside: compile for the current target and run."""
        from .context import late  # the runtime and the builder live above

        return late("call_function")(self, args)

    def __getitem__(self, grid: Any) -> NoReturn:
        """Kernels are not launched as `kernel[grid](...)`."""
        raise ScriptError(
            f"`{self.name}[...]` is no launch: the grid is part of the kernel (Tx.cta_id, Tx.thread_id)",
            span=here(2),
            hint=f"write tirx.compile({self.name}, target)(...), or tirx.simulate({self.name}, ..., target=...)",
        )

    __iter__ = None  # else `__getitem__` would make it iterable

    def __repr__(self) -> str:
        return f"<PrimFunc {self.name}({', '.join(self.names)})>"

    def _repr_html_(self) -> str:
        """What notebooks show: the author's text beside the IR."""
        from ..support.html import beside, block_of  # only in notebooks

        return beside([("source", block_of(self.span)), ("IR", self.script())])


class IRModule:
    """Functions by name, in order, with attributes. Immutable: `with_functions` copies."""

    __slots__ = ("attrs", "functions")

    def __init__(
        self, functions: Mapping[str, PrimFunc] | Sequence[PrimFunc], attrs: Mapping[str, Any] | None = None
    ) -> None:
        if not isinstance(functions, Mapping):
            functions = {f.name: f for f in functions}
        self.functions: dict[str, PrimFunc] = dict(functions)
        self.attrs: dict[str, Any] = dict(attrs or {})

    @classmethod
    def of(cls, func: PrimFunc) -> IRModule:
        """`func` with all functions that it calls, itself first."""
        found: dict[str, PrimFunc] = {}
        waiting = [func]
        while waiting:
            item = waiting.pop(0)
            if item.name not in found:
                found[item.name] = item
                waiting.extend(item.callees)
        return cls(found)

    def __getitem__(self, name: str) -> PrimFunc:
        return self.functions[name]

    def __iter__(self) -> Iterator[PrimFunc]:
        return iter(self.functions.values())

    def __len__(self) -> int:
        return len(self.functions)

    def with_functions(self, functions: Mapping[str, PrimFunc] | Sequence[PrimFunc]) -> IRModule:
        """A module with other functions and the same attributes."""
        return IRModule(functions, self.attrs)

    def map(self, change: Any) -> IRModule:
        """A module with `change(function)` for each function; itself when nothing changed."""
        made = {name: change(func) for name, func in self.functions.items()}
        if all(made[name] is func for name, func in self.functions.items()):
            return self
        return self.with_functions(made)

    def with_attr(self, key: str, value: Any) -> IRModule:
        """The same module with one attribute set."""
        return IRModule(self.functions, {**self.attrs, key: value})

    def script(self) -> str:
        """Text that the parser reads back."""
        from .context import late  # the printer lives above

        text: str = late("print")(self)
        return text

    def _repr_html_(self) -> str:
        """What notebooks show: each function with its author's text."""
        return "".join(func._repr_html_() for func in self)
