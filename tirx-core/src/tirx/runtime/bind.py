"""Arguments against the signature.

Every rule is checked before a launch, and every refusal names the argument, what was expected and what came.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ..backend import find
from ..codegen.usage import Usage
from ..ir import (
    Buffer,
    DType,
    Expr,
    IntImm,
    PointerType,
    PrimFunc,
    TileCall,
    Var,
    as_expr,
    substitute,
    variable_of,
    variables,
    walk,
)
from ..ir.numpy_types import numpy_dtype
from ..ir.tiles import writes
from ..support.errors import ArgumentError, TirxError
from ..support.late import late, load_object
from .arrays import ArrayView, in_elements, view_of
from .overlap import check_overlaps

__all__ = ["Bound", "bind_arguments", "written_buffers"]

Value = ArrayView | int | float | bool | None


class Bound:
    """Checked arguments: `values` by parameter (array views and Python numbers), `symbols` the symbolic dimensions."""

    __slots__ = ("device", "func", "symbols", "values")

    def __init__(self, func: PrimFunc, values: list[Value], symbols: dict[int, int], device: str) -> None:
        self.func = func
        self.values = values
        self.symbols = symbols
        self.device = device

    def environment(self) -> dict[int, Any]:
        """Values of the host function's variables by `id`: pointers (array views), scalars, symbolic dimensions."""
        found: dict[int, Any] = dict(self.symbols)
        for param, value in zip(self.func.params, self.values, strict=True):
            found[id(variable_of(param))] = value
        return found


def bind_arguments(
    func: PrimFunc, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None, *, noalias: bool = True
) -> Bound:
    """`args` matched with the parameters of `func`; `ArgumentError` with all that does not fit.

    `noalias`: whether arrays that the kernel writes may not overlap others (unless the function says that they may).
    """
    given = _positions(func, args, kwargs or {})
    binder = _Binder(func)
    values = [
        binder.bind(param, name, value) for param, name, value in zip(func.params, func.names, given, strict=True)
    ]
    binder.check_dimensions(values)
    if noalias:
        check_overlaps(func, [binder.given.get(name, value) for name, value in zip(func.names, values, strict=True)])
    return Bound(func, values, binder.symbols, binder.device or "cpu")


def _positions(func: PrimFunc, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    names = func.names
    signature = f"{func.name}({', '.join(names)})"
    if len(args) + len(kwargs) != len(names):
        raise ArgumentError(
            f"{signature} takes {len(names)} argument{'s' if len(names) != 1 else ''}, and is called with {len(args) + len(kwargs)}",
            hint="outputs are arguments too: kernels write into arrays that the caller gives",
        )
    given = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names:
            raise ArgumentError(f"{signature} has no argument `{name}`")
        if name in given:
            raise ArgumentError(f"{signature} gets `{name}` twice")
        given[name] = value
    return [given[name] for name in names]


def written_buffers(func: PrimFunc) -> set[int]:
    """Ids of the `data` of parameters that the kernel stores to, or hands to something that may write."""
    tiles = (region for node in walk(func.body, TileCall.BIT) if isinstance(node, TileCall) for region in writes(node))
    return Usage(func.body).written | {id(region.buffer.data) for region in tiles}


class _Binder:
    """Checks one argument after the other, and learns the symbolic dimensions on the way."""

    def __init__(self, func: PrimFunc) -> None:
        self.func = func
        self.symbols: dict[int, int] = {}
        self.source: dict[int, str] = {}
        self.device: str | None = None
        self.device_of = ""
        self.given: dict[str, ArrayView] = {}  # as they came, whatever the kernel counts in
        memo = func._memo.get("written")
        self.written: set[int] = memo if memo is not None else func._memo.setdefault("written", written_buffers(func))

    def bind(self, param: Buffer | Var, name: str, value: Any) -> Any:
        if isinstance(param, Buffer):
            return self._array(param, name, value)
        if isinstance(param.dtype, PointerType) and param.dtype.by_value:
            return self._encoded(param.dtype, name, value)
        if param.dtype.is_handle:
            return self._pointer(name, value)
        number = self._number(param.dtype, name, value)
        if param.dtype.is_integer:
            self.symbols[id(param)] = int(number)
        return number

    # ---- arrays ---------------------------------------------------------------------------------------------------

    def _array(self, param: Buffer, name: str, value: Any) -> ArrayView:
        if isinstance(value, np.ma.MaskedArray):
            self._refuse(name, "an array", "a masked one", f"say what stands for what is masked: {name}.filled(0)")
        view = self._view(name, value)
        if view is None:
            raise self._refusal(
                name, f"an array of {param.dtype} {_shape_text(param.shape)}", f"{type(value).__name__}", None
            )
        self.given[name] = view
        if param.dtype.unit is not param.dtype.element:
            view = self._elements(param, name, view)
        self._dtype(param, name, view)
        self._rank(param, name, view)
        self._strides(param, name, view)
        self._placement(param, name, view)
        return view

    def _elements(self, param: Buffer, name: str, view: ArrayView) -> ArrayView:
        """An array of the parts of what the kernel counts: lanes of vectors, bytes that two elements share."""
        found = in_elements(view, param.dtype)
        if found is not None:
            return found
        shown = view.dtype.name if view.dtype is not None else view.type_name
        kind, parts = (
            ("uint8", param.dtype.lanes // 2) if param.dtype.is_packed else (param.dtype.element, param.dtype.lanes)
        )
        whole = (
            f"{kind} with a last dimension of {parts}"
            if parts > 1
            else f"{kind}, two elements of {param.dtype.element} each"
        )
        hint = f"make its last dimension the {parts} parts of an element" if parts > 1 else None
        if param.dtype.is_packed and view.dtype is param.dtype.element:
            shown, hint = f"{shown}, a byte each", f"pass tirx.runtime.pack_elements({name})"
        raise self._refusal(name, whole, f"{shown} of shape {view.shape}", hint)

    def _view(self, name: str, value: Any) -> ArrayView | None:
        try:
            return view_of(value)
        except TirxError:
            raise
        except Exception as error:  # whatever another library raises
            raise ArgumentError(
                f"argument `{name}` of {self.func.name}: the {type(value).__name__} does not hand out its data: "
                f"{type(error).__name__}: {error}",
                hint="the library that made the array refuses; pass an array that it can share, e.g. a detached copy",
            ) from error

    def _dtype(self, param: Buffer, name: str, view: ArrayView) -> None:
        if view.dtype is not param.dtype.element:
            shown = view.dtype.name if view.dtype is not None else view.type_name
            self._refuse(
                name, f"dtype {param.dtype.element}", shown, f"convert it: {name}.astype({param.dtype.element})"
            )

    def _rank(self, param: Buffer, name: str, view: ArrayView) -> None:
        if len(view.shape) != len(param.shape):
            self._refuse(name, f"{len(param.shape)} dimensions {_shape_text(param.shape)}", f"shape {view.shape}", None)
        for axis, (wanted, got) in enumerate(zip(param.shape, view.shape, strict=True)):
            if isinstance(wanted, int) and wanted != got:
                self._refuse(
                    name, f"shape {_shape_text(param.shape)}", f"{view.shape} (dimension {axis} is {got})", None
                )
            if isinstance(wanted, Var):
                self._symbol(wanted, got, f"{name}.shape[{axis}]")
        if 0 in view.shape:
            self._refuse(name, "at least one element", f"shape {view.shape}", "do not launch a kernel on empty arrays")

    def _symbol(self, var: Var, value: int, where: str) -> None:
        if not var.dtype.min_int <= value <= var.dtype.max_int:
            raise ArgumentError(f"{where} is {value}, which does not fit the {var.dtype} dimension `{var.name}`")
        known = self.symbols.setdefault(id(var), value)
        if known != value:
            raise ArgumentError(
                f"dimension `{var.name}` of {self.func.name} is {known} by {self.source.get(id(var), var.name)} and {value} by {where}",
                hint="arrays that share a dimension must agree on it",
            )
        self.source.setdefault(id(var), where)

    def _strides(self, param: Buffer, name: str, view: ArrayView) -> None:
        if param.strides:
            for axis, (wanted, got) in enumerate(zip(param.strides, view.strides, strict=True)):
                if isinstance(wanted, Var):
                    self._symbol(wanted, got, f"{name}.strides[{axis}]")
                elif isinstance(wanted, int) and wanted != got and view.shape[axis] > 1:
                    self._refuse(name, f"strides {_shape_text(param.strides)} (in elements)", f"{view.strides}", None)
            return
        expected = 1
        for axis in reversed(range(len(view.shape))):
            if view.shape[axis] > 1 and view.strides[axis] != expected:
                self._refuse(
                    name, "a contiguous (row-major) array", f"strides {view.strides} for shape {view.shape}",
                    f"pass numpy.ascontiguousarray({name}), or declare strides in the kernel",
                )  # fmt: skip
            expected *= view.shape[axis]

    def _placement(self, param: Buffer, name: str, view: ArrayView) -> None:
        align = param.align or param.dtype.bytes
        if view.pointer % align:
            self._refuse(name, f"data aligned to {align} bytes", f"address {view.pointer:#x}", "copy the array")
        if view.readonly and id(param.data) in self.written:
            self._refuse(name, "an array that can be written", "a read-only one", f"pass {name}.copy()")
        if self.device is None:
            self.device, self.device_of = view.device, name
        elif view.device != self.device:
            raise ArgumentError(
                f"`{name}` is on {view.device} and `{self.device_of}` on {self.device}",
                hint="all arrays of a call live on one device",
            )

    # ---- records, scalars and pointers ---------------------------------------------------------------------------------------

    def _encoded(self, dtype: PointerType, name: str, value: Any) -> Any:
        """A record that the host encodes."""
        row = find("argument_kinds", str(dtype.pointee))
        if row is None:
            raise ArgumentError(
                f"argument `{name}` of {self.func.name} is a {dtype.pointee}, which no installed backend encodes"
            )
        found = load_object(row.accept)(value)
        if found is None:
            raise self._refusal(name, row.expected, type(value).__name__, None)
        return found

    def _pointer(self, name: str, value: Any) -> Value:
        view = self._view(name, value)
        if view is not None:
            return view
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        raise self._refusal(name, "an array or an address", f"{type(value).__name__}", None)

    def _number(self, dtype: DType, name: str, value: Any) -> int | float | bool:
        if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
            value = value.item()
        if dtype.is_bool and isinstance(value, bool | int) and value in (0, 1):
            return bool(value)
        if dtype.is_integer and isinstance(value, int):
            if not dtype.min_int <= value <= dtype.max_int:
                self._refuse(name, f"{dtype} ({dtype.min_int} to {dtype.max_int})", str(value), None)
            return int(value)
        if dtype.is_float and isinstance(value, int | float) and not isinstance(value, bool):
            return self._float(dtype, name, float(value))
        raise self._refusal(name, f"a number of type {dtype}", f"{type(value).__name__} {value!r}"[:60], None)

    def _float(self, dtype: DType, name: str, value: float) -> float:
        with np.errstate(over="ignore"):
            stored = float(np.asarray(value).astype(numpy_dtype(dtype)))
        if math.isinf(stored) and not math.isinf(value):
            self._refuse(name, f"{dtype}", f"{value}, which overflows it", None)
        return value

    # ---- dimensions that are expressions ------------------------------------------------------------------------------

    def check_dimensions(self, values: Sequence[Value]) -> None:
        """Dimensions such as `n * 2`, after all symbols are known; every symbol must be known by then."""
        for param, name, view in zip(self.func.params, self.func.names, values, strict=True):
            if isinstance(param, Buffer) and isinstance(view, ArrayView):
                for axis, (wanted, got) in enumerate(zip(param.shape, view.shape, strict=True)):
                    if not isinstance(wanted, int | Var):
                        self._computed(wanted, got, name, axis)

    def _computed(self, wanted: Expr, got: int, name: str, axis: int) -> None:
        known: dict[Var, Expr] = {}
        for var in variables(wanted):
            if id(var) not in self.symbols:
                raise ArgumentError(
                    f"dimension `{var.name}` of {self.func.name} cannot be told from the arguments",
                    hint=f"it occurs only inside the expression for {name}.shape[{axis}]; make it a scalar parameter",
                )
            known[var] = as_expr(self.symbols[id(var)], var.dtype)
        value = late("simplify")(substitute(wanted, known))
        if not (isinstance(value, IntImm) and value.value == got):
            expected = value.value if isinstance(value, IntImm) else wanted.script()
            self._refuse(name, f"dimension {axis} to be {wanted.script()} = {expected}", str(got), None)

    def _refuse(self, name: str, expected: str, got: str, hint: str | None) -> NoReturn:
        raise self._refusal(name, expected, got, hint)

    def _refusal(self, name: str, expected: str, got: str, hint: str | None) -> ArgumentError:
        return ArgumentError(f"argument `{name}` of {self.func.name}: expected {expected}, got {got}", hint=hint)


def _shape_text(shape: Sequence[Any]) -> str:
    parts = [str(e) if isinstance(e, int) else e.name if isinstance(e, Var) else e.script() for e in shape]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
