"""The decorators of the language: `prim_func`, `inline`, `macro`, and `ir_module`."""

from __future__ import annotations

import sys
from types import FunctionType

from ..ir import IRModule, PrimFunc
from ..support.errors import ScriptError
from ..support.span import here
from ..support.words import an
from .builder.function import FunctionFrame
from .class_body import KEY, class_body, completed
from .expansion import Inline
from .meta import meta_class
from .parameters import defining_names
from .parsing import Kernel, attempt, plain_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType
    from typing import Any

__all__ = ["inline", "ir_module", "kernel_options", "macro", "meta_class", "prim_func"]


class PrimFuncDecorator(FunctionFrame):
    """`@Tx.prim_func(...)` before a function; `with Tx.prim_func(...):` around traced code."""

    __slots__ = ("options",)

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(**options)
        self.options = options

    def __call__(self, function: Any) -> PrimFunc:
        """Parse `function`."""
        frame = sys._getframe(1)
        made = attempt(lambda: _parsed(function, self.options, frame))
        if isinstance(made, BaseException):
            raise made
        return made


def prim_func(
    func: Any = None,
    private: bool = False,
    check_well_formed: bool = True,
    s_tir: bool = False,
    persistent: bool = False,
) -> Any:
    """Parse the decorated function into a `PrimFunc`; `with Tx.prim_func():` opens one for traced code.

    `private`: it has no exported name. `persistent`: a fixed number of blocks loops over the work. `check_well_formed`: verify it.
    """
    options = kernel_options("prim_func", private=private, check=check_well_formed, s_tir=s_tir, persistent=persistent)
    if func is None:
        return PrimFuncDecorator(options)
    frame = sys._getframe(1)
    made = attempt(lambda: _parsed(func, options, frame))
    if isinstance(made, BaseException):
        raise made
    return made


def kernel_options(decorator: str, *, private: bool, check: bool, s_tir: bool, persistent: bool) -> dict[str, Any]:
    """Options of `FunctionFrame`; the schedulable dialect does not exist here."""
    if s_tir:
        raise ScriptError(
            f"@Tx.{decorator}: kernels of the schedulable dialect (blocks and schedules) are not part of TIRx",
            span=here(2), hint="write loops and tile operations, and leave the option out",
        )  # fmt: skip
    return {"private": private, "persistent": persistent, "verify": check}


def _parsed(func: Any, options: Mapping[str, Any], frame: FrameType) -> PrimFunc:
    function = plain_function(func, "prim_func")
    return Kernel(function, _names(function, frame), options, defaults=False).build({})


def _names(function: FunctionType, frame: FrameType) -> dict[str, Any]:
    if frame.f_locals is frame.f_globals and not function.__closure__:
        return {}
    own = class_body(function, frame)
    return {**defining_names(function, frame), **dict([own] if own is not None else [])}


def inline(*args: Any, definition_depth: Any = None, defining_var_table: Any = None) -> Any:
    """A function of kernel code that is expanded where it is called.

    Its arguments may be anything, and it may return values. Names from outside are looked up when it is called. The two
    keywords are accepted for source compatibility and mean nothing: Python's closures do their work.
    """
    return _expanded("inline", args, None)


def macro(*args: Any, hygienic: bool = True) -> Any:
    """The older form of `inline`: names from outside as they were at the definition (`hygienic`), or those of the caller."""
    return _expanded("macro", args, hygienic)


def _expanded(decorator: str, args: tuple[Any, ...], hygienic: bool | None) -> Any:
    if not args:
        return lambda function: _expanded(decorator, (function,), hygienic)
    made = Inline(plain_function(args[0], decorator), hygienic=hygienic)
    kind = type(args[0])
    return kind(made) if kind in (staticmethod, classmethod) else made


def ir_module(cls: Any = None, **options: Any) -> Any:
    """`@I.ir_module class M:` with kernels inside: an `IRModule` of them, in order."""
    if cls is None:
        return lambda found: ir_module(found, **options)
    if not isinstance(cls, type):
        raise ScriptError(
            f"@I.ir_module stands on {an(type(cls).__name__)}, not on a class",
            span=here(1),
            hint="write `class Module:` below it",
        )
    functions = {name: value for name, value in vars(cls).items() if isinstance(value, PrimFunc)}
    if not functions:
        raise ScriptError(
            f"the module `{cls.__name__}` has no kernels",
            span=here(1),
            hint="decorate its functions with @Tx.prim_func",
        )
    return IRModule(completed(functions, vars(cls).get(KEY)), vars(cls).get("__tirx_attrs__"))
