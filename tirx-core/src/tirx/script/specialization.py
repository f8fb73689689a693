"""Kernels with compile-time parameters: `@Tx.jit`, `Tx.constexpr`, `Tx.Optional`."""

from __future__ import annotations

import sys
from types import FunctionType

from ..support.errors import ScriptError
from ..support.span import Span, here
from ..support.suggest import did_you_mean
from ..support.words import an
from .decorators import kernel_options
from .parameters import Annotations, defining_names
from .parsing import Kernel, attempt, plain_function

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

    from ..ir import PrimFunc

__all__ = ["Jit", "Optional", "OptionalAnnotation", "constexpr", "jit"]


class Constexpr:
    """`n: Tx.constexpr`: a parameter whose value is given to `specialize` and is a Python value in the kernel."""

    __slots__ = ()

    __tirx_constexpr__ = True

    def __repr__(self) -> str:
        return "Tx.constexpr"


constexpr = Constexpr()
"""Annotation of a parameter of a @Tx.jit kernel that is known when it is compiled: `N: Tx.constexpr`."""


class OptionalAnnotation:
    """A parameter that `specialize(name=None)` removes; the kernel then sees None."""

    __slots__ = ("__tirx_annotation__",)

    def __init__(self, annotation: Any) -> None:
        self.__tirx_annotation__ = annotation


class _Optional:
    """`X: Tx.Optional(Tx.Buffer(...))`: a parameter that may be specialised to None."""

    __slots__ = ()

    def __call__(self, annotation: Any) -> OptionalAnnotation:
        return OptionalAnnotation(annotation)

    __getitem__ = __call__


Optional = _Optional()
"""`X: Tx.Optional(Tx.Buffer(...))`: a parameter that may be specialised to None."""


class Jit:
    """A kernel that is built by `specialize(**values)`, once for each set of values."""

    def __init__(self, function: FunctionType, names: Mapping[str, Any], options: Mapping[str, Any]) -> None:
        self.__wrapped__ = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._kernel = Kernel(function, names, options, defaults=True)
        self._built: dict[tuple[tuple[str, Any], ...], PrimFunc] = {}
        self._kinds: dict[str, str] = {}

    def specialize(self, *args: Any, **values: Any) -> PrimFunc:
        """The kernel for these compile-time values, given by name. The same values give the same function again."""
        if args:
            self._refuse(f"{self.__name__}.specialize() takes its values by name", "write NAME=value for each")
        full = self._full(values)
        key = tuple(sorted((name, _Typed(value)) for name, value in full.items()))
        found = self._built.get(key)
        if found is None:
            made = attempt(lambda: self._kernel.build(full))
            if isinstance(made, BaseException):
                raise made
            found = self._built[key] = made
        return found

    def __call__(self, *args: Any, **keywords: Any) -> NoReturn:
        """A kernel without its compile-time values cannot run."""
        self._refuse(f"`{self.__name__}` is not specialised", f"call {self.__name__}.specialize(...) first")

    def __getitem__(self, grid: Any) -> NoReturn:
        """Kernels are not launched as `kernel[grid](...)`."""
        self._refuse(
            f"`{self.__name__}[...]` is no launch: the grid is part of the kernel (Tx.cta_id, Tx.thread_id)",
            f"write tirx.compile({self.__name__}.specialize(NAME=value), target)(...)",
        )

    def __repr__(self) -> str:
        return f"<jit kernel {self.__name__}>"

    def _repr_html_(self) -> str:
        """What notebooks show: the author's text, and what has to be given."""
        from ..support.html import beside, block_of  # only in notebooks

        given = "\n".join(f"{name}: {kind}" for name, kind in self._parameters().items() if kind != "value")
        return beside([("source", block_of(self._place())), ("specialize", given)])

    def _full(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """All compile-time values, defaults included; a clear error for what is missing, unknown or not hashable."""
        kinds = self._parameters()
        for name, value in values.items():
            self._check(name, value, kinds)
        missing = [name for name, kind in kinds.items() if kind == "constexpr" and name not in values]
        full = {**{name: self._default(name) for name in missing}, **values}
        lacking = [name for name in missing if full[name] is _MISSING]
        if lacking:
            self._refuse(
                f"{self.__name__}.specialize() lacks {', '.join(lacking)}", "give every Tx.constexpr parameter a value"
            )
        return full

    def _check(self, name: str, value: Any, kinds: Mapping[str, str]) -> None:
        if name not in kinds:
            known = ", ".join(item for item, kind in kinds.items() if kind != "value")
            self._refuse(
                f"{self.__name__} has no parameter `{name}`",
                did_you_mean(name, kinds) or f"it can be specialised in {known or 'nothing'}",
            )
        if kinds[name] == "value" or (kinds[name] == "optional" and value is not None):
            only = "only None removes it" if kinds[name] == "optional" else "annotate it with Tx.constexpr"
            self._refuse(f"`{name}` of {self.__name__} is a parameter of the kernel, and is passed when it runs", only)
        try:
            hash(value)
        except TypeError:
            self._refuse(
                f"the value of `{name}` is {an(type(value).__name__)}, which cannot be hashed",
                "pass a tuple instead of a list, for example",
            )

    def _parameters(self) -> dict[str, str]:
        """Parameter -> `constexpr`, `optional` or `value`."""
        if not self._kinds:
            args = self._kernel.definition.node.args
            for item in (*args.posonlyargs, *args.args, *args.kwonlyargs):
                assert item.annotation is not None  # the checker refused parameters without one
                self._kinds[item.arg] = self._kind(item.arg, item.annotation)
        return self._kinds

    def _kind(self, name: str, node: Any) -> str:
        kernel = self._kernel
        value = kernel.function.__annotations__.get(name)
        if isinstance(value, str):
            value = Annotations(kernel.definition, kernel.function, kernel.names, {}).marker(node)
        if getattr(value, "__tirx_constexpr__", False):
            return "constexpr"
        return "optional" if isinstance(value, OptionalAnnotation) or value is Optional else "value"

    def _default(self, name: str) -> Any:
        function = self._kernel.function
        args = self._kernel.definition.node.args
        positional = [item.arg for item in (*args.posonlyargs, *args.args)]
        defaults = dict(zip(reversed(positional), reversed(function.__defaults__ or ()), strict=False))
        defaults.update(function.__kwdefaults__ or {})
        return defaults.get(name, _MISSING)

    def _refuse(self, message: str, hint: str) -> NoReturn:
        raise ScriptError(message, span=here(2) or self._place(), hint=hint)

    def _place(self) -> Span:
        return self._kernel.definition.head


_MISSING = object()


class _Typed:
    """A value as a key: 1, 1.0 and True are different kernels. Sorted by nothing; names decide."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Typed) and type(other.value) is type(self.value) and bool(other.value == self.value)

    def __hash__(self) -> int:
        return hash(self.value)


def jit(
    func: Any = None,
    private: bool = False,
    check_well_formed: bool = True,
    is_stir: bool = False,
    persistent: bool = False,
) -> Any:
    """Keep the decorated function's text; `.specialize(**values)` makes a `PrimFunc` of it. Options as in `prim_func`."""
    options = kernel_options("jit", private=private, check=check_well_formed, s_tir=is_stir, persistent=persistent)
    frame = sys._getframe(1)

    def decorate(found: Any) -> Jit:
        function = plain_function(found, "jit")
        return Jit(function, defining_names(function, frame), options)

    return decorate if func is None else decorate(func)
