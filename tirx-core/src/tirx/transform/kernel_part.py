"""A kernel part taken out of its host function: what it takes from the host, and how it is launched."""

from __future__ import annotations

from collections.abc import Iterable

from ..analysis.free import free_variables
from ..arith import simplify
from ..backend import find
from ..ir import (
    Alloc,
    Assert,
    Attr,
    Bind,
    Buffer,
    BufferLoad,
    BufferRegion,
    BufferStore,
    Decl,
    Expr,
    IntImm,
    Node,
    PrimFunc,
    Ramp,
    Seq,
    Stmt,
    Var,
    as_expr,
    definitions,
    mask_of,
    rewrite,
    seq,
    variable_of,
    walk,
)  # fmt: skip
from ..ir import Launch as LaunchStmt
from ..target import Target
from .launch import DYNAMIC_BYTES, EXTENT, Bounds, Launch
from .levels import launch_levels
from .lower_storage import is_shared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["KernelPart", "flat_views"]

RESOURCE = "dynamic_shared_bytes"
# Attribute statements that describe the launch and not a part of the body.
_LAUNCH_KEYS = {
    "tirx.launch_bounds_min_blocks_per_sm": "min_ctas_per_multiprocessor",
    "tirx.launch_bounds_max_blocks_per_cluster": "max_ctas_per_cluster",
    "tirx.max_registers": "max_registers",
    DYNAMIC_BYTES: RESOURCE,
}
_PASSED_ON = ("target", "tirx.noalias", "tirx.persistent", "num_inputs")


class KernelPart:
    """One kernel part: `host` is the whole function, `entry` the attribute that opens the part, `name` the device function's."""

    def __init__(self, host: PrimFunc, entry: Attr, name: str, target: Target) -> None:
        self.host = host
        self.name = name
        self.span = entry.span
        self.target = target
        self.model = target.scope_model(host.attrs)
        self.axes: list[tuple[str, Expr]] = []
        self.settings: dict[str, Expr] = {}
        self.captured: dict[int, Bind] = {}
        self.scalars = _host_scalars(host, entry)
        self.body = rewrite(entry.body, {Attr: self._attribute, BufferLoad: self._captured_value})
        self.axes.reverse()  # rewriting meets the innermost first
        order = _host_order(host)
        self.params = free_variables(self.body)
        self.params.sort(key=lambda var: (not var.dtype.is_handle, order.get(id(var), len(order))))
        self.flags: tuple[str, ...] = tuple(host.attrs.get("tirx.kernel_launch_params", ()))

    def _attribute(self, node: Attr) -> Any:
        if node.key.startswith(EXTENT):
            self.axes.append((node.key.removeprefix(EXTENT), simplify(node.value)))
        elif node.key in _LAUNCH_KEYS:
            self.settings[_LAUNCH_KEYS[node.key]] = node.value
        elif node.key != "tirx.hint":
            return None
        return list(node.body.stmts) if isinstance(node.body, Seq) else [node.body]

    def _captured_value(self, node: BufferLoad) -> Expr | None:
        """Of a mutable scalar of the host the kernel gets the value that it has at the launch."""
        key = id(node.buffer.data)
        if key not in self.scalars:
            return None
        if key not in self.captured:
            var = Var(node.buffer.name, node.buffer.dtype, span=node.span)
            self.captured[key] = Bind(var, node.rebuild(source=None, coords=()), span=self.span)
        return self.captured[key].var

    # ---- the device's side ----------------------------------------------------------------------------------------

    def function(self) -> PrimFunc:
        """The device function."""
        views = [Decl(flat, span=self.span) for flat in flat_views(self.body, self.params)]
        attrs = {
            **{key: value for key, value in self.host.attrs.items() if key in _PASSED_ON},
            "global_symbol": self.name,
            "role": "device",
            "launch": self.launch(),
        }
        return PrimFunc(self.name, self.params, seq([*views, self.body]), attrs, span=self.host.span)

    def launch(self) -> Launch:
        """The record of how it is launched."""
        extents = [_static(value) for _, value in self.axes]
        names = [axis for axis, _ in self.axes]
        levels = launch_levels(self.model, dict(zip(names, extents, strict=True)))
        settings = {key: _static(value) for key, value in self.settings.items()}
        return Launch(
            names,
            extents,
            bounds=Bounds(
                levels.get(("cta", "thread")),
                settings.get("min_ctas_per_multiprocessor"),
                settings.get("max_ctas_per_cluster"),
            ),
            max_registers=settings.get("max_registers"),
            shared_bytes=self._static_bytes(),
            dynamic_shared=self._dynamic(),
            levels=levels,
            flags=self.flags,
            alignments=_alignments(self.body, self.params),
        )

    def _allocated(self, allocator: str) -> list[Buffer]:
        """Storage of several threads that `allocator` makes room for."""
        found = [node.buffer for node in walk(self.body, mask_of(Alloc)) if isinstance(node, Alloc)]
        return [item for item in found if is_shared(item.scope_name, self.model) and _allocator(item) == allocator]

    def _static_bytes(self) -> int:
        total = 0
        for buffer in self._allocated("compiler"):
            size = buffer.shape[0]
            if isinstance(size, int):
                align = max(buffer.align, buffer.dtype.bytes, 1)
                total = -(-total // align) * align + -(-size * buffer.dtype.total_bits // 8)
        return total

    def _dynamic(self) -> Buffer | None:
        return next(iter(self._allocated("launch")), None)

    # ---- the host's side ------------------------------------------------------------------------------------------

    def statements(self) -> list[Stmt]:
        """The launch, after the values that it takes from mutable scalars."""
        names, values = self._resources()
        axes, extents = tuple(axis for axis, _ in self.axes), tuple(value for _, value in self.axes)
        launch = LaunchStmt(self.name, tuple(self.params), axes, extents, names, values, self.flags, span=self.span)
        return [*self.captured.values(), *(check for size in values for check in self._fits(size)), launch]

    def _fits(self, size: Expr) -> list[Stmt]:
        """The check of a memory that only the launch sizes; the verifier has seen to those of constant size."""
        dynamic = self._dynamic()
        row = find("storage_scopes", dynamic.scope_name) if dynamic is not None else None
        room = row.capacity(self.target) if row is not None and row.capacity is not None else None
        if dynamic is None or room is None or isinstance(size, IntImm):
            return []
        room -= self._static_bytes()
        message = (as_expr(f"`{dynamic.name}` takes "), size, as_expr(f" bytes, and the target has {room} for it"))
        return [Assert(simplify(size <= room), message, span=dynamic.span or self.span)]

    def _resources(self) -> tuple[tuple[str, ...], tuple[Expr, ...]]:
        size = self.settings.get(RESOURCE)
        dynamic = self._dynamic()
        if size is None and dynamic is not None:
            size = simplify((as_expr(dynamic.shape[0]) * dynamic.dtype.total_bits + 7) // 8)
        return ((RESOURCE,), (size,)) if size is not None else ((), ())


def flat_views(body: Stmt, params: Iterable[Var]) -> list[Buffer]:
    """Buffers over pointer parameters that the body uses without declaring them, in the order of the parameters."""
    rank = {id(var): position for position, var in enumerate(params)}
    found: dict[int, Buffer] = {}
    declared: set[int] = set()
    for node in walk(body, _HOLDERS):
        buffer = getattr(node, "buffer", None)
        if isinstance(node, Alloc | Decl):
            declared.add(id(node.buffer))
        elif isinstance(buffer, Buffer) and id(buffer.data) in rank:
            found.setdefault(id(buffer), buffer)
    made = [buffer for key, buffer in found.items() if key not in declared]
    return sorted(made, key=lambda buffer: rank[id(buffer.data)])


_HOLDERS = mask_of(Alloc, Decl, BufferLoad, BufferStore, BufferRegion)


def _alignments(body: Stmt, params: Iterable[Var]) -> dict[str, int]:
    """Bytes to which a parameter must be aligned because it is accessed in vectors."""
    names = {id(var): var.name for var in params}
    found: dict[str, int] = {}
    for node in walk(body, mask_of(BufferLoad, BufferStore)):
        if isinstance(node, BufferLoad | BufferStore) and id(node.buffer.data) in names and _is_vector(node):
            dtype = node.buffer.dtype
            vector = dtype.with_lanes(dtype.lanes * node.indices[-1].dtype.lanes)
            name = names[id(node.buffer.data)]
            found[name] = max(found.get(name, 1), vector.alignment)
    return found


def _is_vector(node: Any) -> bool:
    index = node.indices[-1]
    return isinstance(index, Ramp) and isinstance(index.stride, IntImm) and index.stride.value == 1


def _allocator(buffer: Buffer) -> str:
    row = find("storage_scopes", buffer.scope_name)
    return row.allocator if row is not None else "compiler"


def _static(value: Expr) -> int | None:
    return value.value if isinstance(value, IntImm) else None


def _host_scalars(host: PrimFunc, entry: Attr) -> set[int]:
    """Storage of mutable scalars that the host part allocates."""

    def scalars(root: Node) -> set[int]:
        nodes = walk(root, mask_of(Alloc))
        return {id(node.buffer.data) for node in nodes if isinstance(node, Alloc) and node.buffer.is_scalar}

    return scalars(host.body) - scalars(entry) if host.body is not entry else set()


def _host_order(host: PrimFunc) -> dict[int, int]:
    """Position of each variable of the host: parameters, symbolic dimensions, then what its statements define."""
    order: dict[int, int] = {}
    for param in host.params:
        order.setdefault(id(variable_of(param)), len(order))
    for var in host.symbols():
        order.setdefault(id(var), len(order))
    for node in walk(host.body, _DEFINING):
        if isinstance(node, Stmt):
            for var in definitions(node):
                order.setdefault(id(var), len(order))
    return order


_DEFINING = mask_of(Alloc, Bind, Decl)
