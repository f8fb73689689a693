"""Where the kernel starts, and the ids of its threads and of the groups that they form."""

from __future__ import annotations

from ...ir import BOOL, Expr, IntImm, ScopeIdDef, StringImm, Var, as_expr, const, current_span, emit
from ...ir.ops import ExprOps
from .attributes import AttrFrame
from .loops import LoopFrame
from .state import builder, refuse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = [
    "SCOPE_IDS", "cluster_id", "cta_id", "cta_id_in_cluster", "cta_id_in_pair", "device_entry", "elected", "env_thread", "lane_id",
    "launch_thread", "scope_id", "thread_id", "thread_id_in_wg", "warp_id", "warp_id_in_wg", "warpgroup_id",
]  # fmt: skip

# function -> outer level, inner level, largest number of dimensions, names of its variables
SCOPE_IDS: dict[str, tuple[str, str, int, tuple[str, ...]]] = {
    "cluster_id": ("kernel", "cluster", 3, ("cluster", "cluster_y", "cluster_z")),
    "cta_id": ("kernel", "cta", 3, ("bx", "by", "bz")),
    "cta_id_in_cluster": ("cluster", "cta", 3, ("cbx", "cby", "cbz")),
    "cta_id_in_pair": ("cta_pair", "cta", 1, ("cta_in_pair",)),
    "warpgroup_id": ("cta", "warpgroup", 1, ("wg",)),
    "warp_id": ("cta", "warp", 1, ("warp",)),
    "warp_id_in_wg": ("warpgroup", "warp", 1, ("warp_in_wg",)),
    "thread_id": ("cta", "thread", 3, ("tx", "ty", "tz")),
    "thread_id_in_wg": ("warpgroup", "thread", 1, ("tid_in_wg",)),
    "lane_id": ("warp", "thread", 1, ("lane",)),
}
_DTYPES = ("int32", "uint32")


def device_entry() -> AttrFrame:
    """What follows is the kernel; what came before runs on the host."""
    owner = builder("device_entry()")
    if len(owner.stack) > 1:
        refuse("device_entry() stands inside a block", "put it at the top level of the function")
    if any(isinstance(item, AttrFrame) and item.has("tirx.device_entry") for item in owner.top.stmts):
        refuse("device_entry() was called before", "a function has one kernel part; remove one of the two calls")
    frame = AttrFrame((("tirx.device_entry", const(1, BOOL)),), "device_entry()")
    owner.open_rest(frame)
    return frame


def scope_id(extents: Any, parent: str, cur: str, dtype: str = "int32", preferred: Any = None) -> Any:
    """The ids of a `cur` inside its `parent`: one variable, or a tuple of one per extent."""
    rank, names = next(((r, n) for p, c, r, n in SCOPE_IDS.values() if (p, c) == (parent, cur)), (3, ()))
    return _define(f"{cur} in {parent}", parent, cur, rank, names or (cur,), extents, preferred, dtype)


def _define(
    what: str, parent: str, cur: str, rank: int, names: Sequence[str], extents: Any, preferred: Any, dtype: Any
) -> Any:
    owner = builder(what)
    sizes = None if extents is None else _extents(what, extents, rank)
    wished = None if preferred is None else _extents(f"preferred extents of {what}", preferred, rank)
    if wished is not None and len(wished) != len(sizes or ()):
        refuse(f"{what}: preferred has {len(wished)} extents, and extents {len(sizes or ())}", "give as many of both")
    if str(dtype) not in _DTYPES:
        refuse(f"{what}: an id is int32 or uint32, not {dtype}")
    variables = tuple(Var(names[0], _dtype(dtype), span=current_span()) for _ in sizes or (0,))
    for number, item in enumerate(variables):
        owner.claim(item, names[number] if number < len(names) else f"{names[0]}_{number}")
    emit(ScopeIdDef(variables, sizes, parent, cur, wished, span=current_span()))
    owner.names.give_assigned(variables)
    return variables[0] if len(variables) == 1 else variables


def _dtype(dtype: Any) -> Any:
    from ...ir import DType  # the name is taken by the parameter

    return DType(str(dtype))


def _extents(what: str, extents: Any, rank: int) -> tuple[Expr, ...]:
    items = tuple(extents) if isinstance(extents, list | tuple) else (extents,)
    if not 1 <= len(items) <= rank:
        refuse(f"{what} has {len(items)} extents; it takes 1{f' to {rank}' if rank > 1 else ''}", None)
    made = tuple(as_expr(item) for item in items)
    for item in made:
        if not item.dtype.is_integer:
            refuse(
                f"{what}: an extent is an integer, not {'text' if isinstance(item, StringImm) else item.dtype}",
                "e.g. Tx.cta_id([4, 2])",
            )
        if isinstance(item, IntImm) and item.value < 1:
            refuse(f"{what}: an extent is at least 1, not {item.value}")
    return made


def _named(name: str, extents: Any, preferred: Any, dtype: Any) -> Any:
    parent, cur, rank, names = SCOPE_IDS[name]
    return _define(f"{name}()", parent, cur, rank, names, extents, preferred, dtype)


def cluster_id(extents: Any = None, dtype: Any = "int32") -> Any:
    """Id of the cluster in the kernel."""
    return _named("cluster_id", extents, None, dtype)


def cta_id(extents: Any = None, preferred: Any = None, dtype: Any = "int32") -> Any:
    """Id of the block of threads in the kernel."""
    if preferred is not None:
        refuse("cta_id() takes no preferred extents", "they belong to cta_id_in_cluster()")
    return _named("cta_id", extents, None, dtype)


def cta_id_in_cluster(extents: Any = None, preferred: Any = None, dtype: Any = "int32") -> Any:
    """Id of the block in its cluster; `preferred` names a larger cluster that the launch may use where it fits."""
    return _named("cta_id_in_cluster", extents, preferred, dtype)


def cta_id_in_pair(dtype: Any = "int32") -> Any:
    """Id of the block in its pair."""
    return _named("cta_id_in_pair", None, None, dtype)


def warpgroup_id(extents: Any = None, dtype: Any = "int32") -> Any:
    """Id of the group of warps in the block."""
    return _named("warpgroup_id", extents, None, dtype)


def warp_id(extents: Any = None, dtype: Any = "int32") -> Any:
    """Id of the warp in the block."""
    return _named("warp_id", extents, None, dtype)


def warp_id_in_wg(extents: Any = None, dtype: Any = "int32") -> Any:
    """Id of the warp in its group of warps."""
    return _named("warp_id_in_wg", extents, None, dtype)


def thread_id(extents: Any = None, dtype: Any = "int32") -> Any:
    """Id of the thread in the block."""
    return _named("thread_id", extents, None, dtype)


def thread_id_in_wg(extents: Any = None, dtype: Any = "int32") -> Any:
    """Id of the thread in its group of warps."""
    return _named("thread_id_in_wg", extents, None, dtype)


def lane_id(extents: Any = None, dtype: Any = "int32") -> Any:
    """Id of the thread in its warp."""
    return _named("lane_id", extents, None, dtype)


# ---- the older way ------------------------------------------------------------------------------------------------------


def env_thread(tag: str, dtype: Any = "int32") -> Var:
    """A variable for the launch axis `tag`, whose extent `launch_thread` gives."""
    owner = builder("env_thread()")
    made = Var("thread", _dtype(dtype), span=current_span())
    owner.claim(made, tag.replace(".", "_"))
    owner.function.env[id(made)] = tag
    owner.names.fresh_vars[id(made)] = made
    owner.names.give_assigned((made,))
    return made


class LaunchFrame(LoopFrame, ExprOps):  # type: ignore[misc]  # it can be iterated, as loops can
    """A launch axis over the rest of the block, where it stands for its variable; or over a body: `with ... as tx:`."""

    __slots__ = ()

    def __tirx_expr__(self) -> Expr:
        return self.vars[0]


def launch_thread(thread: Any, extent: Any) -> Any:
    """`extent` threads along a launch axis, named by a tag or by the variable of `env_thread`.

    As a statement it covers the rest of the block and gives the variable; with `with` it covers the body.
    """
    owner = builder("launch_thread()")
    frame = owner.function
    if isinstance(thread, Var):
        tag = frame.env.get(id(thread))
        if tag is None:
            refuse(f"`{thread.name}` is no launch axis", 'make it with Tx.env_thread("...")')
        owner.names.fresh_vars.pop(id(thread), None)
    else:
        thread, tag = None, str(thread)
    size = as_expr(extent)
    header = (const(0, size.dtype), size, const(1, size.dtype), "thread_binding")
    loop = LaunchFrame([header], "launch_thread()", thread=tag, var=thread)
    owner.open_rest(loop)
    if thread is None:
        owner.names.give_assigned(loop.vars)
    return loop


def elected() -> None:
    """Gone from the language; says so."""
    refuse(
        "Tx.elected() was removed from the language", "choose one thread with a condition, or a target's own election"
    )
