"""Python's exceptions, in the words of the language: what is wrong in a kernel's text, and what to write instead."""

from __future__ import annotations

import re
from inspect import isroutine, signature
from types import ModuleType

from .. import ir
from ..ir import Buffer, Expr, Scalar
from ..support.elsewhere import advice, elsewhere
from ..support.errors import Diagnostic, TirxError
from ..support.suggest import did_you_mean
from .assign import is_kernel_value
from .namespaces import LAZY, load_lazy, loaded_namespaces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

__all__ = ["described", "in_other_words"]

# What a `TypeError` mentions -> what to write instead.
_TYPES = {
    "'Buffer' object is not callable": "index an element with brackets, e.g. A[i]",
    "object is not callable": "it is a value; functions of the language are in Tx",
    "does not support item assignment": "only buffers have elements: with one index for each dimension, e.g. A[i, j]; a Tx.handle becomes "
    "a buffer with Tx.match_buffer(p, shape, dtype)",
    "is not subscriptable": "only buffers have elements; a Tx.handle becomes one with Tx.match_buffer(p, shape, dtype)",
    "'Buffer'": "a buffer is no value; index an element, e.g. A[i]",
    "'BufferRegion'": "a region is many elements; index one, e.g. A[i], or use a tile operation",
    "'meta_var'": "assign it to a name first: `k = Tx.meta_var(5)` makes `k` the number",
    "'NoneType'": "a statement of the kernel gives no value; write it on a line of its own",
    "'LoopFrame'": "loop over it: `for i in ...:`",
}

# Builtins that a kernel may mean; the author's own names come first.
_BUILTINS = ("abs", "bool", "enumerate", "float", "int", "len", "max", "min", "range", "round", "sum", "zip")

_OF_BUFFERS = "data, dtype, layout, ndim, permute, ptr_to, scope(), shape, strides, view, vload, vstore"

_NEAR = re.compile("; (?=did you mean|write |are )")  # ours say here what to write
_OBJECT = re.compile(r"'(\w+)' object")
_ATTRIBUTE = re.compile(r"has no attribute '(\w+)'")
_ADDED = re.compile(r" and no __dict__ for setting new attributes$|\. Did you mean '\w+'\?$")  # what Python 3.13 adds
_CALL = re.compile(r"^([\w.]+)\(\) (?:got|takes|missing)")
_FOREIGN = re.compile(r"\b(\w+)\.(\w+)\(")  # `math.sqrt(`
_NUMPY = ("ufunc", "__array_ufunc__", "no callable")
_NO_NUMBER = ("a kernel value is not a Python ", "a kernel value has no truth value")


def described(error: Exception, frame: FrameType, text: str) -> tuple[str, str | None]:
    """Message and hint for what Python raised at `text` of the author's, in `frame`."""
    if isinstance(error, TypeError) and any(word in str(error) for word in _NUMPY):
        found = _foreign_call(frame, text)
        if found is not None:
            return found
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    near = _NEAR.split(str(error), maxsplit=1)[1:]
    own = trace is None or trace.tb_frame is frame  # raised by the kernel's text, not by us
    return _message(error, own), near[0] if near else _hint(error, frame)


def in_other_words(error: TirxError, frame: FrameType, text: str) -> TirxError:
    """`error`, saying that a function of another module was called with a kernel value, where that is what happened."""
    found = _foreign_call(frame, text) if error.message.startswith(_NO_NUMBER) else None
    if found is not None:
        first, *rest = error.diagnostics
        error.diagnostics = (Diagnostic(found[0], first.span, found[1], first.notes), *rest)
        error.args = (found[0],)
    return error


def _foreign_call(frame: FrameType, text: str) -> tuple[str, str | None] | None:
    """`math.sqrt(x[i])`, `np.exp(x[i])`: functions of Python's that need a number now."""
    for alias, name in _FOREIGN.findall(text):
        module = frame.f_globals.get(alias)
        if isinstance(module, ModuleType) and not module.__name__.startswith("tirx") and hasattr(module, name):
            message = (
                f"`{alias}.{name}` computes while the kernel is built, and a kernel value is known only when it runs"
            )
            language = _language(frame)
            own = name if name in _known() else elsewhere().get(("language", name), "").removeprefix("=")
            near = f"write {language}.{own}(...)" if own in _known() else own
            return message, near or f"compute it with functions of the language: dir({language}) lists them"
    return None


def _language(frame: FrameType) -> str:
    """What the author's file calls the language."""
    values = frame.f_globals.items()
    named = (name for name, value in values if isinstance(value, ModuleType) and value.__name__ == "tirx.script")
    return next(named, "Tx")


def _known() -> frozenset[str]:
    from . import __all__ as names  # this module is imported by the package

    return frozenset(names)


def _message(error: Exception, own: bool) -> str:
    if isinstance(error, NameError) and getattr(error, "name", None):
        return f"the name `{error.name}` is not defined"
    if isinstance(error, KeyError):
        key = error.args[0] if error.args else None
        return "a dict of Python is asked for a kernel value" if is_kernel_value(key) else f"there is no key {error}"
    text = _ADDED.sub("", _NEAR.split(str(error))[0])
    if own and isinstance(error, ValueError | ArithmeticError):
        return f"{type(error).__name__}: {text}" if text else type(error).__name__
    return _ATTRIBUTE.sub(r"has no `\1`", _OBJECT.sub(_called, text)) or type(error).__name__


def _called(found: re.Match[str]) -> str:
    """A class of ours in an error of Python's, as authors know it."""
    kind = getattr(ir, found[1], None)
    if not isinstance(kind, type):
        return "a function" if found[1] == "function" else found[0]
    return "a buffer" if kind is Buffer else "a kernel value" if issubclass(kind, Expr | Scalar) else found[0]


def _hint(error: Exception, frame: FrameType) -> str | None:
    if isinstance(error, TypeError):
        found = next((hint for text, hint in _TYPES.items() if text in str(error)), None)
        return found or _signature(str(error), frame)
    if isinstance(error, IndexError) and "valid indices" in str(error):
        return "an array of NumPy is indexed while the kernel is built; it comes into a kernel as a parameter: x: Tx.Buffer(shape, dtype)"
    if isinstance(error, KeyError) and error.args and is_kernel_value(error.args[0]):
        return "the value is known only when the kernel runs: keep tables in buffers, or choose with Tx.if_then_else"
    name = getattr(error, "name", None)
    if not isinstance(name, str):  # before 3.13 an attribute that cannot be assigned has none
        return f"buffers have {_OF_BUFFERS}" if str(error).startswith("'Buffer' object has no") else None
    if isinstance(error, NameError):
        return _undefined(name, frame)
    return _missing(name, error.obj) if isinstance(error, AttributeError) else None


def _undefined(name: str, frame: FrameType) -> str:
    """A name that stands in the kernel and means nothing."""
    language = _language(frame)
    if name in _known():
        return f"it is in the language: write {language}.{name}"
    other = elsewhere().get(("language", name), "")
    if other.startswith("="):
        return f"it is called {language}.{other[1:]} here"
    known = [item for item in {**frame.f_globals, **frame.f_locals} if not item.startswith("__")]
    return (
        advice("name", name)
        or advice("language", name)
        or did_you_mean(name, known)
        or did_you_mean(name, _BUILTINS)
        or "define or import it before the kernel; a misspelt variable?"
    )


def _missing(name: str, obj: Any) -> str | None:
    """An attribute that a buffer, a value or a function does not have."""
    near = did_you_mean(name, [item for item in dir(obj) if not item.startswith("_")])
    if isinstance(obj, Buffer):
        return advice("buffer", name) or near or f"buffers have {_OF_BUFFERS}"
    if isinstance(obj, Expr | Scalar):
        return advice("value", name) or near
    if isroutine(obj):
        return f"`{obj.__name__}` is a function: call it"
    return near


def _signature(message: str, frame: FrameType) -> str | None:
    """What a function takes that was called with other arguments."""
    found = _CALL.match(message)
    function = _function(found[1], frame) if found is not None else None
    if function is None:
        return None
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    shown = [str(item.replace(annotation=item.empty)) for item in parameters if item.name != "self"]
    given = re.search(r"keyword argument '(\w+)'", message)
    near = did_you_mean(given[1], [item.name for item in parameters]) if given is not None else None
    takes = f"it takes ({', '.join(shown)})"
    return f"{near} {takes}" if near else takes


def _members(namespace: Any) -> dict[str, Any]:
    return getattr(namespace, "__dict__", {})


def _function(name: str, frame: FrameType) -> Any:
    """The function that Python names in an error: of the language, of buffers, or of the author."""
    from .. import script  # this module belongs to the package
    from . import builder, tile  # for the same reason

    head, _, last = name.rpartition(".")
    if head in ("Buffer", "Scalar"):
        return getattr(Buffer if head == "Buffer" else Scalar, last, None)
    places = (frame.f_locals, frame.f_globals, vars(builder), vars(tile), *map(_members, loaded_namespaces()))
    found = next((place[name] for place in places if name in place), None)
    if found is None and name in _known():
        found = load_lazy(name) if name in LAZY else getattr(script, name)
    return found
