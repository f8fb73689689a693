"""The kernel part becomes a device function, and a launch stands where it was.

before  @Tx.prim_func
        def scale(A: Tx.Buffer((n,), "float32")):
            with Tx.attr({"tirx.device_entry": True, "tirx.extent.cta.x": Tx.ceildiv(n, 256), "tirx.extent.thread.x":
            256}):
                ...
after   scale (host): launch scale_kernel(A.data, n) with cta.x = ceildiv(n, 256), thread.x = 256
        scale_kernel (device): A = decl_buffer((n,), data=A.data); ...

Parameters of the device function are the storage pointers and values that it uses, pointers first, in the host's order.
Needs: a target on every function; all ids and layouts lowered.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..analysis.free import free_variables
from ..arith import simplify
from ..ir import (
    Alloc,
    Attr,
    Buffer,
    Decl,
    Expr,
    IntImm,
    IRModule,
    PrimFunc,
    Seq,
    Stmt,
    Var,
    as_expr,
    definitions,
    mask_of,
    rewrite,
    seq,
    walk,
)  # fmt: skip
from ..ir import Launch as LaunchStmt
from ..target import ScopeModel, Target
from .launch import EXTENT, Bounds, Launch
from .levels import launch_levels
from .mark_kernels import ENTRY
from .pipeline import Pass, PassContext

__all__ = ["split_host_device"]

DYNAMIC_BYTES = "tirx.dyn_smem_bytes"
RESOURCE = "dynamic_shared_bytes"
# Attribute statements that describe the launch and not a part of the body.
_LAUNCH_KEYS = {
    "tirx.launch_bounds_min_blocks_per_sm": "min_ctas_per_multiprocessor",
    "tirx.launch_bounds_max_blocks_per_cluster": "max_ctas_per_cluster",
    "tirx.max_registers": "max_registers",
    DYNAMIC_BYTES: RESOURCE,
}


class _Kernel:
    """One kernel part of a host function, taken apart."""

    def __init__(self, host: PrimFunc, entry: Attr, name: str, target: Target) -> None:
        self.host = host
        self.name = name
        self.target = target
        self.span = entry.span
        self.model: ScopeModel = target.scope_model(host.attrs)
        self.axes: list[tuple[str, Expr]] = []
        self.settings: dict[str, Expr] = {}
        self.body = rewrite(entry.body, {Attr: self._attribute})
        self.axes.reverse()
        self.flags: tuple[str, ...] = tuple(host.attrs.get("tirx.kernel_launch_params", ()))
        self.order = _host_order(host)

    def _attribute(self, node: Attr) -> Any:
        if node.key.startswith(EXTENT):
            self.axes.append((node.key.removeprefix(EXTENT), simplify(node.value)))
        elif node.key in _LAUNCH_KEYS:
            self.settings[_LAUNCH_KEYS[node.key]] = node.value
        else:
            return None
        return list(node.body.stmts) if isinstance(node.body, Seq) else [node.body]

    def device(self) -> PrimFunc:
        """The device function."""
        params = self.params()
        views = [Decl(flat, span=self.span) for flat in self.views(params)]
        attrs = {
            **{key: value for key, value in self.host.attrs.items() if key in ("target", "tirx.noalias")},
            "global_symbol": self.name,
            "role": "device",
            "launch": self.launch(),
        }
        return PrimFunc(self.name, params, seq([*views, self.body]), attrs, span=self.host.span)

    def params(self) -> list[Var]:
        """Free variables of the kernel: pointers first, then scalars, in the host's order."""
        if not hasattr(self, "_params"):
            free = free_variables(self.body)
            free.sort(key=lambda var: (not var.dtype.is_handle, self.order.get(id(var), len(self.order))))
            self._params = free
        return self._params

    def views(self, params: Iterable[Var]) -> list[Buffer]:
        """Flat buffers over the parameters, in the order of use."""
        pointers = {id(var) for var in params}
        declared = {id(node.buffer) for node in walk(self.body, mask_of(Alloc, Decl)) if isinstance(node, Alloc | Decl)}
        found: dict[int, Buffer] = {}
        for node in walk(self.body):
            for buffer in _buffers(node):
                if id(buffer.data) in pointers and id(buffer) not in declared:
                    found.setdefault(id(buffer), buffer)
        rank = {id(var): position for position, var in enumerate(params)}
        return sorted(found.values(), key=lambda buffer: rank[id(buffer.data)])

    def launch(self) -> Launch:
        """The record of how it is launched."""
        extents = [_static(value) for _, value in self.axes]
        names = [axis for axis, _ in self.axes]
        levels = launch_levels(self.model, dict(zip(names, extents, strict=True)))
        settings = {key: _static(value) for key, value in self.settings.items()}
        shared, dynamic = self._shared()
        return Launch(
            names,
            extents,
            bounds=Bounds(
                levels.get(("cta", "thread")),
                settings.get("min_ctas_per_multiprocessor"),
                settings.get("max_ctas_per_cluster"),
            ),
            max_registers=settings.get("max_registers"),
            shared_bytes=shared,
            dynamic_shared=dynamic,
            levels=levels,
            flags=self.flags,
        )

    def _shared(self) -> tuple[int, Buffer | None]:
        """Bytes of static shared memory, and the dynamic buffer."""
        total, dynamic = 0, None
        for node in walk(self.body, mask_of(Alloc)):
            if not isinstance(node, Alloc):
                continue
            buffer = node.buffer
            if buffer.scope_name == "shared.dyn":
                dynamic = buffer
            elif buffer.scope_name == "shared" and isinstance(buffer.shape[0], int):
                align = max(buffer.align, buffer.dtype.bytes, 1)
                total = -(-total // align) * align + -(-buffer.shape[0] * buffer.dtype.total_bits // 8)
        return total, dynamic

    def statement(self) -> LaunchStmt:
        """The launch, on the host."""
        names, values = self._resources()
        return LaunchStmt(
            self.name, tuple(self.params()), tuple(axis for axis, _ in self.axes),
            tuple(value for _, value in self.axes), names, values, self.flags, span=self.span,
        )  # fmt: skip

    def _resources(self) -> tuple[tuple[str, ...], tuple[Expr, ...]]:
        bytes_ = self.settings.get(RESOURCE)
        dynamic = self._shared()[1]
        if bytes_ is None and dynamic is not None:
            size = as_expr(dynamic.shape[0]) * dynamic.dtype.total_bits
            bytes_ = simplify((size + 7) // 8)
        return ((RESOURCE,), (bytes_,)) if bytes_ is not None else ((), ())


def _buffers(node: Any) -> list[Buffer]:
    buffer = getattr(node, "buffer", None)
    return [buffer] if isinstance(buffer, Buffer) else []


def _static(value: Expr) -> int | None:
    return value.value if isinstance(value, IntImm) else None


def _host_order(host: PrimFunc) -> dict[int, int]:
    """Position of each variable of the host: parameters, symbolic dimensions, then what its statements define."""
    order: dict[int, int] = {}
    for param in host.params:
        order.setdefault(id(param.data if isinstance(param, Buffer) else param), len(order))
    for var in host.symbols():
        order.setdefault(id(var), len(order))
    for node in walk(host.body):
        if isinstance(node, Stmt):
            for var in definitions(node):
                order.setdefault(id(var), len(order))
    return order


def _split(func: PrimFunc, target: Target, taken: set[str]) -> list[PrimFunc]:
    """The host function and its kernels; a function without a kernel part stays whole."""
    kernels: list[_Kernel] = []

    def enter(node: Attr) -> Any:
        if node.key != ENTRY:
            return None
        name = _fresh(f"{func.attrs.get('global_symbol', func.name)}_kernel", taken)
        kernels.append(_Kernel(func, node, name, target))
        return kernels[-1].statement()

    body = rewrite(func.body, {}, enter={Attr: enter})
    host = func.replaced(body=body, attrs={**func.attrs, "role": "host"})
    return [host, *(kernel.device() for kernel in kernels)]


def _fresh(name: str, taken: set[str]) -> str:
    made, number = name, 1
    while made in taken:
        made, number = f"{name}_{number}", number + 1
    taken.add(made)
    return made


def run(module: IRModule, context: PassContext) -> IRModule:
    """The module with host and device functions."""
    taken = {func.attrs.get("global_symbol", name) for name, func in module.functions.items()} | set(module.functions)
    made: list[PrimFunc] = []
    for func in module:
        made += _split(func, func.attrs.get("target", context.target), taken)
    return module.with_functions(made)


split_host_device = Pass("split_host_device", run, requires=("target",), ensures=("split",))
