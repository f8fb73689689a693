"""Functions: opening one, its parameters, attributes and result."""

from __future__ import annotations

from ...ir import (
    INT32,
    VOID,
    Alloc,
    Buffer,
    Decl,
    DType,
    Expr,
    PrimFunc,
    Stmt,
    Var,
    active_builder,
    set_builder,
    substitute,
    walk,
)  # fmt: skip
from ...support.errors import TirxError
from ...support.late import late
from ...support.span import add_root_code, here
from ...support.words import an
from .effects import Effects
from .naming import Names, rename
from .state import Builder, Frame, builder, refuse
from .types import DtypeConstructor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from ...ir import Param

__all__ = ["FunctionFrame", "LateAttribute", "arg", "func_attr", "func_name", "func_ret", "symbol", "trace"]


class LateAttribute:
    """An attribute of a function that refers to its body by name; it becomes itself when the body is there."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[dict[str, Buffer]], Any]) -> None:
        self.make = make

    def resolve(self, body: Stmt) -> Any:
        """The value, given the buffers of the body by name."""
        return self.make({node.buffer.name: node.buffer for node in walk(body, Alloc.BIT) if isinstance(node, Alloc)})


class FunctionFrame(Frame):
    """`with FunctionFrame() as f:` builds a function, which is `f.get()` afterwards.

    It opens in the builder that is active and empty, or in one of its own.
    """

    __slots__ = (
        "_builder",
        "_restore",
        "attrs",
        "bound",
        "callees",
        "env",
        "func",
        "name",
        "names",
        "params",
        "private",
        "result",
        "symbols",
        "verify",
    )  # fmt: skip

    is_function = True

    def __init__(
        self, name: str | None = None, *, private: bool = False, persistent: bool = False, verify: bool = True
    ) -> None:
        super().__init__("the function")
        self.name = name
        self.private = private
        self.verify = verify
        self.params: list[Param] = []
        self.names: list[str] = []
        self.attrs: dict[str, Any] = {"tirx.persistent": True} if persistent else {}
        self.result: DType = VOID
        self.symbols: dict[str, Var] = {}
        self.bound: dict[int, tuple[Var, Buffer]] = {}  # handle parameters that became buffers
        self.env: dict[int, str] = {}  # variables of env_thread, with their tags
        self.callees: dict[str, PrimFunc] = {}
        self.func: PrimFunc | None = None

    def __enter__(self) -> FunctionFrame:
        found = active_builder()
        reuse = isinstance(found, Builder) and not found.stack
        self._builder: Builder = found if reuse else Builder()  # type: ignore[assignment]  # `reuse` says so
        self._restore: Callable[[], None] = set_builder(self._builder)
        self._builder.names, self._builder.effects = Names(), Effects()
        self._builder.stack.append(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, TypeError | AttributeError | NameError):
            _advise(error)
        try:
            super().__exit__(kind, error, trace)
        finally:
            self._restore()

    def leave(self, owner: Builder, body: Stmt) -> None:
        """Make the function."""
        name = self.name or "main"
        body = self._unaliased(owner.effects.resolve(body))
        attrs = {
            key: value.resolve(body) if isinstance(value, LateAttribute) else value for key, value in self.attrs.items()
        }
        if not self.private:
            attrs = {"global_symbol": name, **attrs}
        if not self.verify:
            attrs["tirx.unchecked"] = True
        self.func = PrimFunc(name, self.params, body, attrs, self.result, self.names, self.span, self.callees.values())
        owner.functions.append(self.func)

    def get(self) -> PrimFunc:
        """The finished function."""
        if self.func is None:
            refuse("the function is not finished", "ask for it after its `with` block")
        return self.func

    def _unaliased(self, body: Stmt) -> Stmt:
        """Handle parameters that became buffers stand for the buffers' pointers."""
        if not self.bound:
            return body
        return substitute(body, {old: buffer.data for old, buffer in self.bound.values()})

    # ---- parameters -------------------------------------------------------------------------------------------

    def add_param(self, name: str, annotation: Any) -> Any:
        """A parameter of the annotated type; what stands for it in the body."""
        if name in self.names:
            refuse(f"the parameter `{name}` exists already", "give every parameter its own name")
        param = self._param(name, annotation)
        self._check_order(param)
        self.params.append(param)
        self.names.append(name)
        self._builder.names.used.setdefault(name, 0)
        return param

    def _check_order(self, param: Param) -> None:
        if any(not isinstance(stmt, Decl) for stmt in self.stmts):
            refuse(f"the parameter `{param.name}` comes after statements", "declare parameters first")

    def _param(self, name: str, annotation: Any) -> Param:
        if isinstance(annotation, Buffer):
            return self._buffer_param(name, annotation)
        if isinstance(annotation, Var):
            return self._var_param(name, annotation)
        try:
            dtype = DType(annotation)
        except ValueError:
            refuse(
                f"parameter `{name}` is annotated with {_described(annotation)}, which is no type",
                _meant(name, annotation),
            )
        if dtype.kind == "void":
            refuse(f"parameter `{name}` cannot be void")
        return Var(name, dtype, span=here(2))

    def _buffer_param(self, name: str, annotation: Buffer) -> Buffer:
        if annotation.name == "" and not any(quoted_name(item) is not None for item in annotation.shape):
            rename(annotation, name)
            return annotation
        values: dict[str, Any] = {"name": name, "shape": [self.dim(item) for item in annotation.shape]}
        if annotation.data.name == annotation.name:
            values["data"] = None
        return annotation.replaced(**values)

    def _var_param(self, name: str, annotation: Var) -> Var:
        names = self._builder.names
        if names.invented.pop(id(annotation), None) is None:
            return Var(name, annotation.dtype, span=here(2))
        names.fresh_vars.pop(id(annotation), None)
        rename(annotation, name)
        return annotation

    # ---- symbolic dimensions ----------------------------------------------------------------------------------

    def symbol(self, name: str, dtype: str = "int32") -> Var:
        """The symbolic dimension `name`, introduced at first use."""
        if name not in self.symbols:
            if not name.isidentifier():
                refuse(f"{name!r} is not the name of a dimension", 'write a name in quotes, e.g. ("m", 64)')
            self.symbols[name] = Var(name, DType(dtype), span=here(2))
            self._builder.names.used.setdefault(name, 0)
        return self.symbols[name]

    def dim(self, item: Any) -> Any:
        """A dimension with quoted names resolved: a parameter of that name, or a symbol."""
        text = quoted_name(item)
        if text is None:
            return item
        known = next((p for p, name in zip(self.params, self.names, strict=True) if name == text), None)
        return known if isinstance(known, Var) else self.symbol(text)

    def bind_buffer(self, handle: Var, buffer: Buffer) -> bool:
        """Let `buffer` stand for the handle parameter; False when that is none, or stands for a buffer already."""
        at = next((i for i, item in enumerate(self.params) if item is handle), None)
        if at is None:
            return False
        self.params[at] = buffer
        self.bound[id(handle)] = (handle, buffer)
        return True


def quoted(name: str) -> Var:
    """A quoted dimension of an annotation that is written outside any function: resolved when it becomes a parameter."""
    return Var(f'"{name}"', INT32)


def quoted_name(item: Any) -> str | None:
    """The name inside a quoted dimension, None for anything else."""
    if isinstance(item, Var) and item.name.startswith('"'):
        return item.name.strip('"')
    return item if isinstance(item, str) else None


_PYTHON = {int: "Tx.int32", float: "Tx.float32", bool: "Tx.bool"}


def _meant(name: str, annotation: Any) -> str:
    """What somebody wanted to write as the type of a parameter."""
    if isinstance(annotation, type) and annotation in _PYTHON:
        return f"write `{name}: {_PYTHON[annotation]}`, or Tx.constexpr for a number that is known at compile time (@Tx.jit)"
    if isinstance(annotation, type) and annotation.__name__ in ("ndarray", "Tensor", "list", "Array"):
        return f'write `{name}: Tx.Buffer((n,), "float32")`, with its shape and the type of its elements'
    return "write Tx.Buffer(shape, dtype), a scalar type such as Tx.float32, or Tx.handle"


def _described(value: Any) -> str:
    if isinstance(value, type):
        return f"the Python type `{value.__name__}`"
    text = repr(value)
    return text if len(text) <= 40 else an(type(value).__name__)


def _advise(error: Exception) -> None:
    """What to write instead, as a note on an exception that Python raised in a traced kernel or a helper."""
    if hasattr(error, "add_note") and not isinstance(error, TirxError):
        hint = late("hint_of")(error)
        if hint is not None:
            error.add_note(f"help: {hint}")


def arg(name: str, annotation: Any) -> Any:
    """A parameter of the open function: a buffer, or a variable."""
    return builder("a parameter").function.add_param(name, annotation)


def func_name(name: Any) -> None:
    """Name the open function; that is also its exported name."""
    if not (isinstance(name, str) and name.strip()):
        refuse("a function needs a name", 'e.g. Tx.func_name("scale")')
    builder("func_name").function.name = name


def func_attr(attrs: Mapping[str, Any]) -> None:
    """Set attributes of the open function."""
    if not isinstance(attrs, dict):
        refuse("function attributes are a dictionary", 'e.g. Tx.func_attr({"num_inputs": 2})')
    builder("func_attr").function.attrs.update({key: _plain(key, value) for key, value in attrs.items()})


def _plain(key: str, value: Any) -> Any:
    """Attribute values are plain data: constants become Python numbers, lists tuples."""
    if isinstance(value, Expr):
        if not hasattr(value, "value") or not isinstance(value.value, bool | int | float | str):
            refuse(f"the attribute `{key}` is not a constant", "attributes of functions are plain data")
        return bool(value.value) if value.dtype.is_bool else value.value
    if isinstance(value, list | tuple):
        return tuple(_plain(key, item) for item in value)
    return value


def func_ret(dtype: Any) -> None:
    """The type that the open function returns."""
    builder("func_ret").function.result = dtype.dtype if isinstance(dtype, Var | DtypeConstructor) else DType(dtype)


def symbol(name: str, dtype: str = "int32") -> Var:
    """The symbolic dimension `name` of the open function."""
    return builder("a symbolic dimension").function.symbol(name, dtype)


def trace(function: Callable[..., Any], *annotations: Any, name: str | None = None, **values: Any) -> PrimFunc:
    """Run a plain Python function as a kernel body, and give the kernel.

    `annotations` are the types of its positional parameters, in order; `values` are passed as they are.

        def scale(A, B, factor):
            i = Tx.thread_id([256])
            B[i] = A[i] * factor

        kernel = Tx.trace(scale, Tx.Buffer((256,)), Tx.Buffer((256,)), factor=2.0)
    """
    positional, optional = _parameters(function, values)
    with FunctionFrame(name or function.__name__) as frame:
        frame.span = _start_of(function.__code__)
        if not len(positional) - optional <= len(annotations) <= len(positional):
            refuse(
                f"{function.__name__} has {len(positional)} parameters ({', '.join(positional)}), "
                f"and {len(annotations)} types are given",
                "give one type per parameter, and Python values by name",
            )
        args = {item: frame.add_param(item, kind) for item, kind in zip(positional, annotations, strict=False)}
        _run(function, {**args, **values})
    return frame.get()


def _parameters(function: Any, values: Mapping[str, Any]) -> tuple[list[str], int]:
    """The positional parameters that need a type, and how many at the end have defaults; a method's own object is none."""
    code = getattr(function, "__code__", None)
    if code is None:
        refuse(f"trace() takes a function, not {an(type(function).__name__)}", "give a plain function or a method")
    start = 1 if getattr(function, "__self__", None) is not None else 0
    names = code.co_varnames[start : code.co_argcount]
    with_default = set(names[len(names) - len(function.__defaults__ or ()) :])
    left = [item for item in names if item not in values]
    return left, sum(1 for item in left if item in with_default)


def _run(function: Callable[..., Any], values: dict[str, Any]) -> None:
    """Where the author's code begins: chains of callers end here."""
    function(**values)


def _start_of(code: Any) -> Any:
    from ...support.span import Span  # only here

    return Span(code.co_filename, code.co_firstlineno)


add_root_code(_run.__code__)
