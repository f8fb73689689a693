"""The reference pages that are written from the code itself: names, intrinsics, namespaces, targets, commands, errors."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import ModuleType
from typing import Any

import click

import tirx.support.errors as errors
from tirx import script as Tx  # noqa: N812 - what the language is called
from tirx.backend import load, registry
from tirx.cli.app import app
from tools.api_reference import documentation, signature
from tools.ptx_reference import PAGES as PTX_PAGES
from tools.ptx_reference import ptx_forms, ptx_page
from tools.tables import page, table
from tools.tile_reference import tile
from tools.variant_reference import variants

# Where a function is defined says what it is about.
TOPICS = {
    "Functions and parameters": (
        "script.decorators",
        "script.specialization",
        "script.builder.function",
        "script.text",
    ),
    "Launch and ids": ("script.builder.launch",),
    "Memory": ("script.builder.buffers",),
    "Statements": ("script.builder.statements", "script.builder.attributes", "script.assign", "script.meta"),
    "Loops and branches": ("script.builder.loops", "script.builder.control", "intrinsic.core.control"),
    "Operators by name": ("ir.build", "intrinsic.core.arithmetic"),
    "Pointers and vectors": ("intrinsic.core.memory", "intrinsic.core.vector"),
    "Mathematics and calls": ("intrinsic.core.build", "intrinsic.core.calls", "intrinsic.core.math"),
    "Atomics and exchange": ("intrinsic.core.atomic", "intrinsic.core.collective"),
    "For those who build on the language": ("script.builder.state", "script.namespaces", "script", "script.lowered"),
}


def first_line(value: object) -> str:
    """The first sentence of a docstring, on one line."""
    return " ".join(documentation(value).partition("\n\n")[0].split())


# ---- the language ----------------------------------------------------------------------------------------------------


def language() -> str:
    """Every public name of `Tx` that core has."""
    names = [name for name in dir(Tx) if not name.startswith("_")]
    values = {name: getattr(Tx, name) for name in names}
    intro = (
        "Every name that `from tirx import script as Tx` has on core alone. Backends add "
        "[their namespaces](plugins.md): [`Tx.cuda`](cuda.md), [`Tx.nki`](nki.md). What is below `Tx.tile` and the scopes has "
        "[a page of its own](tile.md).\n"
    )
    parts = [intro]
    left = dict(values)
    for topic, modules in TOPICS.items():
        found = {
            name: left.pop(name) for name, value in values.items() if defined_in(value) in modules and name in left
        }
        parts += [f"## {topic}\n", table(("name", "what it is"), (described(n, v) for n, v in found.items()))]
    parts += ["## Dtypes\n", dtypes(left), "## Annotations, layouts, nodes\n", others(left)]
    return page("The language", *parts)


def defined_in(value: Any) -> str:
    """The module of a function below `tirx`, or nothing for plain objects."""
    known = inspect.isclass(value) or inspect.isroutine(value)
    return value.__module__.removeprefix("tirx.") if known else ""


def described(name: str, value: Any) -> tuple[str, str]:
    """A row: the call, and the first line of its documentation (of an intrinsic: both stand in that line)."""
    text = first_line(value)
    call, colon, meaning = text.partition(": ")
    if colon and call.startswith(f"{name}("):
        return f"`{call}`", meaning
    return f"`{name}{plain(signature(value))}`", text


def plain(text: str) -> str:
    """A signature without the annotations that say nothing."""
    return re.sub(r" -> Any$|: Any\b", "", re.sub(r": Any = ", "=", text))


def dtypes(left: dict[str, Any]) -> str:
    """One row for each element type, with the lanes that have names."""
    widths: dict[str, list[str]] = {}
    for name in sorted(name for name, value in left.items() if type(value).__name__ == "DtypeConstructor"):
        base, lanes = re.fullmatch(r"(.*?)(?:x(\d+))?", name).groups()  # type: ignore[union-attr]
        widths.setdefault(base, []).extend([lanes] if lanes else [])
        del left[name]
    intro = "`Tx.float32(x)` converts or makes a constant, `Tx.float32()` a variable, `Tx.float32x4` is a vector of four.\n\n"
    return intro + table(
        ("name", "named vectors of"),
        ((f"`{base}`", " ".join(sorted(lanes, key=int))) for base, lanes in widths.items()),
    )


def others(left: dict[str, Any]) -> str:
    """What is no function: markers, layout builders, node constructors."""
    nodes = [name for name, value in left.items() if type(value).__name__ == "NodeConstructor"]
    rest = {name: value for name, value in left.items() if name not in nodes and not inspect.ismodule(value)}
    rows = [(f"`{name}`", first_line(value) or first_line(type(value))) for name, value in rest.items()]
    return table(("name", "what it is"), rows) + f"\nNodes by name: {', '.join(f'`{name}`' for name in nodes)}.\n"


# ---- intrinsics and namespaces -------------------------------------------------------------------------------------------


def intrinsics() -> str:
    """Core's intrinsics: operands, dtypes, effect, accuracy."""
    rows = [row for name, row in registry().rows("intrinsics").items() if owner("intrinsics", name) == "tirx-core"]
    public = sorted((row for row in rows if not row.name.startswith("tirx.")), key=lambda row: row.name)
    intro = (
        "What the simulator computes, and how exactly: `exact` is bit for bit what every target computes, `ulp(n)` may be "
        "n units in the last place away from it, `model` is a stand-in for what only a device can answer (a clock, say).\n"
    )
    body = ((f"`{row.name}({operands(row)})`", row.doc, row.effect.kind, accuracy(row)) for row in public)
    return page("Intrinsics of core", intro, table(("intrinsic", "meaning", "effect", "accuracy"), body))


def operands(row: Any) -> str:
    """The operands, with the kinds of numbers they may be."""
    shown = [operand.name + (f": {' or '.join(operand.dtypes)}" if operand.dtypes else "") for operand in row.operands]
    return ", ".join([*shown, *(["..."] if row.variadic else [])])


def accuracy(row: Any) -> str:
    """How exact the simulator is."""
    return str(row.accuracy or "exact")


def owner(kind: str, name: str) -> str:
    """The distribution that a row comes from."""
    return str(registry().owner(kind, name).distribution)


def namespace(title: str, intro: str, module: ModuleType, prefix: str) -> str:
    """The functions of a backend's namespace, those of its parts below headings of their own."""
    values = {name: getattr(module, name) for name in module.__all__}
    spaces = {name: value for name, value in values.items() if inspect.ismodule(value)}
    parts = [part for name, space in spaces.items() for part in nested(f"{prefix}.{name}", space)]
    return page(title, intro + "\n", functions({k: v for k, v in values.items() if k not in spaces}, prefix), *parts)


def nested(prefix: str, space: ModuleType) -> list[str]:
    """A part of a namespace."""
    about = (space.__doc__ or "").partition(": ")[2].strip()
    return [
        f"## {prefix}\n",
        f"{about[:1].upper()}{about[1:]}\n",
        functions({k: getattr(space, k) for k in space.__all__}, prefix),
    ]


def functions(values: Mapping[str, Any], prefix: str) -> str:
    """A table of functions."""
    rows = [(f"`{prefix}.{name}{plain(signature(value))}`", first_line(value)) for name, value in values.items()]
    return table(("function", "what it does"), rows)


def cuda() -> str:
    """`Tx.cuda`."""
    intro = "Helpers of `tirx-backend-cuda`. Using one loads the backend."
    own = namespace("Tx.cuda", intro, importlib.import_module("tirx_cuda.script"), "Tx.cuda")
    others = [
        nested(f"Tx.{name}", importlib.import_module(f"tirx_cuda.namespaces.{name}"))
        for name in ("nvshmem", "ptx_legacy")
    ]
    return "\n".join([own, *(part for parts in [*others, kernel_parts()] for part in parts)]).rstrip() + "\n"


def kernel_parts() -> list[str]:
    """The names of `tirx_cuda.lang`, with the calls that make them."""
    module = importlib.import_module("tirx_cuda.lang")
    classes = {name: getattr(module, name) for name in module.__all__}
    rows = [(f"`{name}{plain(signature(value))}`", first_line(value)) for name, value in classes.items()]
    guide = "See [how to build a pipeline](../how-to/build-a-pipeline.md)."
    return [
        "## tirx_cuda.lang\n",
        f"{(module.__doc__ or '').partition(chr(10))[0]} {guide}\n",
        table(("name", "what it is"), rows),
    ]


def nki() -> str:
    """`Tx.nki`."""
    intro = "Instructions of `tirx-backend-trn`; see [how to write NKI kernels](../how-to/write-nki-kernels.md)."
    return namespace("Tx.nki", intro, importlib.import_module("tirx_trn.script"), "Tx.nki")


# ---- targets ---------------------------------------------------------------------------------------------------------------


def targets() -> str:
    """Kinds with their attributes, and tags."""
    for name in ("cuda", "trn"):
        load(name)
    intro = (
        'A target is a kind with attributes, written `"cuda"`, `"cuda -arch=sm_90a"`, `{"kind": "cuda", "arch": "sm_90a"}`, '
        "or a tag. `tirx targets` lists what is installed.\n"
    )
    parts = [intro]
    for name, kind in registry().rows("target_kinds").items():
        rows = [
            (f"`{key}`", item.type.__name__, shown(item.default), item.doc) for key, item in kind.attributes.items()
        ]
        parts += [f"## `{name}`\n", f"{sentence(kind.doc)} From `{owner('target_kinds', name)}`.\n"]
        parts += [table(("attribute", "type", "default", "meaning"), rows)]
        tags = [tag for tag in registry().rows("target_tags").values() if tag.kind == name]
        parts += tag_table(tags) if tags else []
    return page("Targets", *parts)


def sentence(text: str) -> str:
    """Text that starts and ends as a sentence."""
    return f"{text[0].upper()}{text[1:]}."


def shown(default: Any) -> str:
    """A default value, or nothing where the target works it out."""
    return "" if default is None else f"`{default}`"


def tag_table(tags: Sequence[Any]) -> list[str]:
    """Named targets: what tells one from another, and where it stands; the rest follows from the kind's attributes."""
    keys = list(dict.fromkeys(key for tag in tags for key in tag.attributes))
    sources = {source: number for number, source in enumerate(dict.fromkeys(tag.source for tag in tags), 1)}
    rows = [
        (
            f"`{tag.name}`",
            *(" ".join(map(str, _values(tag.attributes.get(key)))) for key in keys),
            str(sources[tag.source]),
        )
        for tag in tags
    ]
    listed = "\n".join(f"{number}. {source}" for source, number in sources.items())
    return [table(("tag", *keys, "source"), rows), f"Where the figures stand:\n\n{listed}\n"]


def _values(value: Any) -> tuple[Any, ...]:
    """What a cell lists: nothing, the words of a list, or the value."""
    if value is None:
        return ()
    return (value or ("none",)) if isinstance(value, tuple) else (value,)


# ---- commands and errors -----------------------------------------------------------------------------------------------------


def command_line() -> str:
    """The help of each command."""
    root = click.Context(app, info_name="tirx", terminal_width=100, **app.context_settings)
    codes = (
        "The exit code is 0 when all is well, 1 when the kernel or what was asked for has a fault, 2 for wrong usage, 124 when "
        "`--time-limit` is over, 130 after Ctrl-C. `--json` writes for machines; what kernel files and backends print goes to "
        "standard error. Colours and progress bars appear on terminals only, and `NO_COLOR` turns colours off.\n"
    )
    parts = [codes, help_of(root)]
    for name in app.list_commands(root):
        command = app.get_command(root, name)
        assert command is not None
        parts += [f"## `tirx {name}`\n", help_of(click.Context(command, parent=root, info_name=name))]
    return page("The command line", *parts)


def help_of(context: click.Context) -> str:
    """The text of `--help` as a block."""
    return f"```text\n{context.get_help()}\n```\n"


def error_classes() -> str:
    """The classes of errors."""
    found = [getattr(errors, name) for name in errors.__all__]
    classes = [each for each in found if inspect.isclass(each) and issubclass(each, errors.TirxError)]
    intro = (
        "Each error says what is wrong, where (`file:line:column`, the line, a caret) and what to do; several problems of one "
        "kind come together. `error.diagnostics` holds them as records with `message`, `span`, `hint`, `notes`. All classes "
        "are in `tirx.support.errors`. How to read one: [Read an error](../how-to/read-an-error.md).\n"
    )
    return page("Errors", intro, table(("class", "raised when"), ((f"`{c.__name__}`", first_line(c)) for c in classes)))


GENERATORS: dict[str, Callable[[], str]] = {
    "language": language,
    "intrinsics": intrinsics,
    "tile": tile,
    "variants": variants,
    "cuda": cuda,
    "nki": nki,
    "ptx": ptx_forms,
    **{f"ptx/{name}": partial(ptx_page, name) for name in PTX_PAGES},
    "targets": targets,
    "command-line": command_line,
    "errors": error_classes,
}
