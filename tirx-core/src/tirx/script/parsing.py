"""From a Python function to a `PrimFunc`: find its text, rewrite it, run it under a builder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CellType, FunctionType

from ..ir import PrimFunc
from ..support.errors import ScriptError
from ..support.span import Span, add_root_code
from ..support.words import an
from .class_body import ClassBody
from .expansion import Inline
from .parameters import Annotations, ParsedFrame, make_parameters
from .source import Definition, find_definition
from .traces import explained
from .transpiler.check import check_kernel
from .transpiler.function import rewrite_function
from .transpiler.names import bound_names, free_names
from .transpiler.runtime import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Kernel", "attempt", "plain_function"]


class Kernel:
    """A function that was decorated, and what its decorator said."""

    __slots__ = ("definition", "function", "names", "options")

    def __init__(
        self, function: FunctionType, names: Mapping[str, Any], options: Mapping[str, Any], *, defaults: bool
    ) -> None:
        self.function = function
        self.names = names
        self.options = dict(options)
        self.definition: Definition = find_definition(function)
        check_kernel(self.definition, defaults=defaults)

    def build(self, values: Mapping[str, Any]) -> PrimFunc:
        """The kernel, with the parameters in `values` replaced by Python values."""
        return _building(self, values)


def attempt(build: Callable[[], PrimFunc]) -> PrimFunc | BaseException:
    """What `build` gives, or the exception to raise: where the author called us, so that no frame of ours is in between."""
    try:
        return build()
    except BaseException as error:  # noqa: BLE001 - raised by the caller
        return explained(error)


def _building(kernel: Kernel, values: Mapping[str, Any]) -> PrimFunc:
    """All that happens while a kernel is built; chains of callers stop here."""
    function, definition = kernel.function, kernel.definition
    frame = ParsedFrame(Annotations(definition, function, kernel.names, values), kernel.options)
    with frame:
        frame.span = definition.head
        args = make_parameters(frame, values)
        outer = _outer_names(kernel)
        symbols = {name: var for name, var in frame.symbols.items() if name not in args}
        rewritten = rewrite_function(definition, "kernel", [*function.__code__.co_freevars, *outer], tuple(symbols))
        run = rewritten.bind(function, _start(function.__name__), outer)
        positional = [args.pop(item.arg) for item in definition.node.args.posonlyargs]
        run(*positional, **args, **symbols)
    return frame.get()


add_root_code(_building.__code__)


def _start(name: str) -> Callable[[], Scope]:
    return lambda: Scope(name)


def _outer_names(kernel: Kernel) -> dict[str, CellType]:
    """Names of the text that Python's closure lacks: variables that only annotations use, functions beside it in a class."""
    node, function = kernel.definition.node, kernel.function
    if not kernel.names:
        return {}
    own = {
        name for name, value in kernel.names.items() if isinstance(value, ClassBody)
    }  # whose variable is still empty
    wanted = free_names(node) - (set(function.__code__.co_freevars) - own) - bound_names(node.body).keys()
    return {
        name: CellType(kernel.names[name]) for name in sorted(wanted & kernel.names.keys()) if _is_visible(kernel, name)
    }


def _is_visible(kernel: Kernel, name: str) -> bool:
    """Whether the body may see `name` of the defining frame: in a class its name, and functions of the kernel language."""
    return kernel.definition.class_name is None or isinstance(kernel.names[name], PrimFunc | Inline | ClassBody)


def plain_function(function: Any, decorator: str) -> FunctionType:
    """The Python function that a decorator was put on, below wrappers of others."""
    found = function
    while not isinstance(found, FunctionType) and hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    while isinstance(found, FunctionType) and hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    if not isinstance(found, FunctionType):
        raise ScriptError(
            f"@Tx.{decorator} stands on {an(type(function).__name__)}, not on a function",
            span=_decorator_place(), hint=f"put @Tx.{decorator} directly above `def`",
        )  # fmt: skip
    return found


def _decorator_place() -> Span | None:
    from ..support.span import here  # only when something is wrong

    return here(2)
