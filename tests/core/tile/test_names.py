"""Where the language has tile operations, and what the functions say of themselves."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import textwrap

import pytest

import tirx
from tests.core.tile.building import built, call_of
from tirx import script as Tx
from tirx.backend import hookimpl
from tirx.script.namespaces import UnknownNameError
from tirx.tile import SCOPES, TileOp, TileOperand
from tirx.tile.ops import ALL

NAMES = re.findall(
    r"\w+",
    """zero fill memset copy copy_async cast permute_layout add sub mul fdiv maximum minimum fma sqrt exp exp2 log2
reciprocal silu sum max min gemm gemm_async select binary_reduce unary_reduce binary_chain reduce_negate""",
)


def test_there_are_the_thirty() -> None:
    assert sorted(row.name for row in ALL) == sorted(NAMES)
    assert set(tirx.backend.registry().rows("tile_ops")) >= set(NAMES)


@pytest.mark.parametrize("scope", [*SCOPES, "wg"])
@pytest.mark.parametrize("name", NAMES)
def test_every_scope_has_every_operation(scope: str, name: str) -> None:
    for function in (getattr(getattr(Tx, scope), name), getattr(getattr(Tx.tile, scope), name)):
        assert (function.row.name, function.scope) == (name, scope)
    assert getattr(Tx.tile, name).scope is None


def test_tile_can_be_imported() -> None:
    space: dict[str, object] = {}
    exec(
        "from tirx.script import tile, warp\nfrom tirx.script.tile import copy\nimport tirx.script.tile as again", space
    )
    assert space["tile"] is Tx.tile is space["again"]
    assert space["warp"] is Tx.warp
    assert repr(space["copy"]) == "<tile operation Tx.tile.copy>"


@pytest.mark.parametrize(
    ("call", "scope"),
    [
        (lambda a, b: Tx.tile.copy(a, b), "thread"),
        (lambda a, b: Tx.thread.copy(a, b), "thread"),
        (lambda a, b: Tx.warp.copy(a, b), "warp"),
        (lambda a, b: Tx.tile.warp.copy(a, b), "warp"),
        (lambda a, b: Tx.wg.copy(a, b), "warpgroup"),
        (lambda a, b: Tx.warpgroup.copy(a, b), "warpgroup"),
        (lambda a, b: Tx.tile.copy(a, b, scope="cta"), "cta"),
        (lambda a, b: Tx.tile.copy(a, b, scope="wg"), "warpgroup"),
        (lambda a, b: Tx.cluster.copy(a, b, scope="cluster"), "cluster"),
    ],
)  # fmt: skip
def test_scopes(call: object, scope: str) -> None:
    assert call_of(call).scope == scope  # type: ignore[arg-type]


def test_functions_describe_themselves() -> None:
    assert str(inspect.signature(Tx.warp.sum)) == (
        "(dst, src, axes=-1, accum=False, *, workspace=None, dispatch=None, scope=None, **config)"
    )
    assert str(inspect.signature(Tx.tile.unary_reduce)).startswith(
        "(unary_output, reduce_output, unary_input, unary_op, reduce_op, bias=None, scale=None, reduce_axes=-1, *"
    )
    assert (Tx.tile.gemm.__doc__ or "").startswith("`D` becomes `alpha * A @ B + beta * C`")
    assert Tx.cta.copy.__name__ == "copy"


def test_listing_names_loads_nothing() -> None:
    code = """
    import sys
    from tirx import script as Tx
    Tx.tile, Tx.warp
    assert {"copy", "gemm", "warp", "wg"} <= set(dir(Tx.tile))
    assert {"copy", "gemm"} <= set(dir(Tx.cta))
    assert "tirx.wiring" not in sys.modules and "numpy" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_the_language_alone_loads_no_tile_operations() -> None:
    code = "import sys\nfrom tirx import script as Tx\nassert 'tirx.tile' not in sys.modules and 'tile' in dir(Tx)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_operation() -> None:
    with pytest.raises(UnknownNameError) as caught:
        Tx.warp.cpoy  # looking it up is the test
    assert (caught.value.message, caught.value.hint) == ("there is no tile operation `cpoy`", "did you mean `copy`?")
    assert caught.value.span is not None
    with pytest.raises(ImportError, match="cannot import name 'gem'"):
        exec("from tirx.script.tile import gem")
    assert not hasattr(Tx.tile, "nothing_like_it")
    assert not hasattr(Tx.warp, "__wrapped__")


class Vendor:
    """A backend with an operation of its own."""

    @staticmethod
    @hookimpl
    def tirx_tile_ops() -> list[TileOp]:
        return [
            TileOp(
                "acme_swap", [TileOperand("left", "rw"), TileOperand("right", "rw")], meaning="acme.meanings:swap",
                doc="the two trade what they hold",
            )
        ]  # fmt: skip


def test_operations_of_a_vendor() -> None:
    tirx.backend.register("acme_tiles", Vendor(), provides=["tile.acme_swap"])
    assert not tirx.backend.is_loaded("acme_tiles")
    try:
        function = built(lambda a, b: Tx.warp.acme_swap(a[0:8, :], b[8:16, :]))
        assert "T.warp.acme_swap(A[0:8, 0:64], B[8:16, 0:64])" in function.script()
        assert tirx.backend.is_loaded("acme_tiles")
        assert str(inspect.signature(Tx.tile.acme_swap)).startswith("(left, right, *")
    finally:
        tirx.backend.unload("acme_tiles")
