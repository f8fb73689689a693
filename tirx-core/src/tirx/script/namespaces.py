"""Names of the language that are not core's: found in manifests, loaded when asked for, never kept."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder

from .. import backend
from ..support.late import load_object
from .builder.types import constructor
from .errors import UnknownImportError, UnknownNameError
from .row import Namespace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

__all__ = ["LAZY", "UnknownNameError", "find", "load_lazy", "loaded_namespaces", "register_script_namespace"]

# Core's own names whose modules parse and compile Python; a traced kernel does not need them.
LAZY = {
    "prim_func": "decorators", "inline": "decorators", "macro": "decorators", "meta_class": "decorators",
    **dict.fromkeys(("S", "R", "TileLayout", "ComposeLayout", "Iter", "Axis"), "tirx.layout"),
    "target": "tirx.target:Target",
    "jit": "specialization", "constexpr": "specialization", "Optional": "specialization", "from_source": "text", "meta_var": "assign",
    "tile": "tirx.script.tile:", **dict.fromkeys(("thread", "warp", "wg", "warpgroup", "cta", "cluster"), "tile"),
}  # fmt: skip

# Names that the published language has and this one lacks, and what to do instead.
_ABSENT = {
    **dict.fromkeys(
        ("sblock", "axis", "reads", "writes", "init", "sblock_attr", "sblock_alloc_buffer", "Reduce", "CommReducer",
         "comm_reducer", "iter_var", "index_map"),
        "schedulable blocks are not part of this language; write the loops",
    ),
    **dict.fromkeys(
        ("call_packed", "call_cpacked", "tvm_call_packed", "tvm_call_cpacked", "tvm_stack_alloca", "tvm_struct_get", "tvm_struct_set"),
        "there is no packed calling convention here; host code is generated from the kernel's signature",
    ),
    "call_kernel": "write the kernel here, or call a function of the target's own language with Tx.call_extern",
    "block_name_suffix_context": "names are made unique where they are written out; leave the context out",
}  # fmt: skip


_registered: dict[str, Any] = {}


def register_script_namespace(name: str, namespace: Any) -> None:
    """Add `Tx.<name>` for this process; backends return rows of hook `tirx_namespaces` instead."""
    if not name.isidentifier() or name.startswith("_"):
        raise ValueError(f"{name!r} is not a name")
    _registered[name] = namespace


def load_lazy(name: str) -> Any:
    """One of core's own names that are imported at first use."""
    place, colon, attribute = LAZY[name].partition(":")
    module = place if "." in place else f"{__package__}.{place}"
    return load_object(module if colon and not attribute else f"{module}:{attribute or name}")


def find(name: str, module: ModuleType) -> Any:
    """`Tx.<name>` of a backend; `AttributeError` when nobody offers it, `BackendError` when who does is broken."""
    from_import = _is_from_import()
    if name.startswith("_") or (from_import and PathFinder.find_spec(f"{module.__name__}.{name}", module.__path__)):
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
    if name in _registered:
        return _registered[name]
    row: Namespace | None = backend.find("namespaces", name)
    if row is not None:
        loaded = _loaded.get(row.load)
        if loaded is None:
            loaded = _loaded[row.load] = load_object(row.load)
        return loaded
    dtype = constructor(name, _is_brought)
    if dtype is not None:
        return dtype
    hint = _hint(name)
    message = f"the language has no `{name}`"
    if from_import:
        raise UnknownImportError(message, hint=hint)
    raise UnknownNameError(message, name=name, obj=module, hint=hint)


_loaded: dict[str, Any] = {}  # of rows, by their places: every mention of a namespace asks


def loaded_namespaces() -> list[Any]:
    """Namespaces of backends that kernels asked for, to find what an error is about."""
    return list(_loaded.values())


def _is_brought(dtype: str) -> bool:
    return backend.find("dtypes", dtype) is not None


def _is_from_import() -> bool:
    """Whether `from tirx.script import name` asks.

    After an AttributeError it imports the submodule of that name; without one, it says less than we know.
    """
    return sys._getframe(3).f_code.co_name == "_handle_fromlist"


def _hint(name: str) -> str:
    """Who offers the name, what it is called here, or what it resembles."""
    from ..support.elsewhere import advice  # only when something went wrong
    from ..support.suggest import did_you_mean
    from . import __all__ as known  # this module is imported by the package
    from .tile import names_of_operations

    offered = backend.hint_for("namespaces", name, alike=False)
    if offered is not None:
        return offered
    known_elsewhere = _ABSENT.get(name) or advice("language", name)
    if known_elsewhere is None and name in names_of_operations():
        return f"it is a tile operation: Tx.tile.{name}(...) for each thread, Tx.warp.{name}(...), Tx.cta.{name}(...) for all together"
    near = did_you_mean(name, [*known, *backend.names("namespaces")])
    return known_elsewhere or near or "dir(Tx) lists the language, docs/reference/language.md explains it"
