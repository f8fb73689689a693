"""Extents of launches: what follows from what, and what every id is, against brute force."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tirx.analysis import Declaration, declarations, resolve_extents
from tirx.analysis.evaluate import evaluate
from tirx.ir import INT32, Attr, Bind, Call, Expr, IRModule, PrimFunc, ScopeIdDef, Stmt, Var, const, seq, walk
from tirx.target import ScopeLevel, ScopeModel, Target
from tirx.transform import PassContext
from tirx.transform.bind_target import bind_target
from tirx.transform.launch import EXTENT
from tirx.transform.lower_scope_ids import lower_scope_ids
from tirx.transform.pipeline import run_passes

FULL = ScopeModel(
    (
        ScopeLevel("kernel"),
        ScopeLevel("cluster", optional=True, reads={"kernel": ("cluster.x", "cluster.y", "cluster.z")}),
        ScopeLevel("pair", optional=True, requires="cluster"),
        ScopeLevel(
            "cta",
            widths={"pair": 2},
            axes={"kernel": ("cta.x", "cta.y", "cta.z"), "cluster": ("cta_in_cluster.x", "cta_in_cluster.y", "cta_in_cluster.z")},
            preferred="cluster",
        ),
        ScopeLevel("warpgroup", optional=True),
        ScopeLevel("warp", widths={"warpgroup": 4}, uniform=True),
        ScopeLevel("thread", widths={"warp": 32}, axes={"cta": ("thread.x", "thread.y", "thread.z")}),
    )
)  # fmt: skip


def ids(parent: str, child: str, *dims: int | Expr, count: int = 0) -> ScopeIdDef:
    variables = tuple(Var(f"{child}_in_{parent}{axis}", INT32) for axis in range(count or len(dims) or 1))
    extents = tuple(const(size) if isinstance(size, int) else size for size in dims)
    return ScopeIdDef(variables, extents or None, parent, child)


def found(*stmts: Stmt) -> list[Declaration]:
    return list(declarations(seq(stmts), FULL))


@pytest.mark.parametrize(
    ("given_ids", "pair", "dims"),
    [
        ([ids("cta", "warp", 4)], ("cta", "thread"), (128,)),
        ([ids("cta", "thread", 256), ids("cta", "warp")], ("cta", "warp"), (8,)),
        ([ids("cta", "thread", 256), ids("cta", "warpgroup")], ("cta", "warpgroup"), (2,)),
        ([ids("cta", "warpgroup", 3)], ("cta", "thread"), (384,)),
        ([ids("cta", "warpgroup", 3), ids("warpgroup", "thread")], ("warpgroup", "thread"), (128,)),
        ([ids("kernel", "cluster", 4, 2), ids("cluster", "cta", 2)], ("kernel", "cta"), (8, 2)),
        ([ids("kernel", "cta", 8, 4), ids("cluster", "cta", 2, 2)], ("kernel", "cluster"), (4, 2)),
        ([ids("kernel", "cta", 8), ids("cluster", "cta")], None, None),
        ([ids("cluster", "cta", 4), ids("pair", "cta")], ("cluster", "pair"), (2,)),
        ([ids("cta", "thread", 16, 4), ids("warp", "thread")], ("cta", "warp"), (2,)),
        ([ids("warp", "thread")], ("cta", "thread"), (32,)),
        ([], ("cta", "thread"), (1,)),
        ([ids("kernel", "cta", 7)], ("kernel", "thread"), (7,)),
    ],
)
def test_what_follows(given_ids: list[ScopeIdDef], pair: tuple[str, str] | None, dims: tuple[int, ...] | None) -> None:
    extents = resolve_extents(FULL, found(*given_ids))
    if pair is None:
        assert extents.problems
    else:
        assert not extents.problems
        assert extents.dims(*pair) == dims


def test_sizes_that_only_the_launch_knows() -> None:
    n = Var("n", INT32)
    extents = resolve_extents(FULL, found(ids("kernel", "cta", n), ids("cluster", "cta", 2)))
    assert not extents.problems
    (check,) = extents.checks
    assert evaluate(check[0], {id(n): 8}) == 1
    assert evaluate(check[0], {id(n): 7}) == 0
    assert extents.levels()["kernel", "cta"] is None
    assert extents.levels()["cluster", "cta"] == 2


def values_of(func: PrimFunc, indices: dict[str, int]) -> dict[str, int | None]:
    """Every bound variable of the kernel at one position of the launch."""
    values: dict[int, int | Expr] = {}
    names: dict[str, int | None] = {}
    for node in walk(func.body):
        if isinstance(node, Bind):
            value = node.value.args[0] if isinstance(node.value, Call) and node.value.args else node.value
            if isinstance(value, Call):
                values[id(node.var)] = indices.get(value.attr("axis"), 0)
            else:
                values[id(node.var)] = value
            names[node.var.name] = evaluate(node.var, values)
    return names


@given(st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.sampled_from([4, 32]), st.data())
def test_ids_are_a_mixed_radix_number(warps: int, y: int, z: int, width: int, data: st.DataObject) -> None:
    x = warps * width
    assume(x * y * z <= 1024)
    stmts = [ids("cta", "thread", x, y, z), ids("cta", "warp"), ids("warp", "thread")]
    body = Attr("tirx.device_entry", const(True), seq(stmts))
    module = IRModule([PrimFunc("k", (), body, {"global_symbol": "k"})])
    target = Target("generic", width=width)
    func = run_passes((bind_target, lower_scope_ids), module, PassContext(target))["k"]
    sizes = {
        n.key.removeprefix(EXTENT): evaluate(n.value, {})
        for n in walk(func.body)
        if isinstance(n, Attr) and n.key.startswith(EXTENT)
    }
    assert prod(value for value in sizes.values() if value) == x * y * z
    thread = data.draw(st.integers(0, x * y * z - 1))
    indices = {"thread.x": thread % x, "thread.y": thread // x % y, "thread.z": thread // x // y}
    values = values_of(func, indices)
    assert values["warp_in_cta0"] == thread // width
    assert values["thread_in_warp0"] == thread % width
    if x > 1:
        assert values["thread_in_cta0"] == thread % x
