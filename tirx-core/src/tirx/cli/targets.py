"""`tirx targets [FILTER]`."""

from __future__ import annotations

from textwrap import fill
from typing import Any

import click

from ..backend import registry
from ..support.table import table
from ..target import Target
from .loading import load_all
from .output import json_option, print_json

__all__ = ["command"]

WIDTH = 120
_SIZES = ((2**20, "MiB"), (2**10, "KiB"), (1, "bytes"))


@click.command("targets")
@click.argument("text", metavar="[FILTER]", required=False, default="")
@json_option
def command(text: str, as_json: bool) -> None:
    """List target kinds and named targets of all installed backends; of one tag, all that is known.

    \b
    tirx targets generic
    """  # noqa: D301 - click reads the backspace
    load_all()
    text = text.lower()
    kinds = [_kind(row) for row in registry().rows("target_kinds").values() if text in row.name]
    tags = [
        _tag(row) for row in registry().rows("target_tags").values() if text in f"{row.name} {row.attributes}".lower()
    ]
    tags = [tag for tag in tags if text in (tag["name"], tag["name"].rpartition("/")[2])] or tags
    if as_json:
        print_json({"kinds": kinds, "tags": tags})
    else:
        _show(kinds, tags)
    if not (kinds or tags):
        raise click.ClickException(f"no kind or tag matches {text!r}")


def _show(kinds: list[dict[str, Any]], tags: list[dict[str, Any]]) -> None:
    if kinds:
        click.echo(table(["kind", "from", "about"], [(k["name"], k["distribution"], k["doc"]) for k in kinds]))
    if len(tags) == 1:
        click.echo("\n" * bool(kinds) + _sheet(tags[0]))
    else:
        for number, kind in enumerate(dict.fromkeys(tag["kind"] for tag in tags)):
            click.echo("\n" * bool(kinds or number) + _figures(kind, [tag for tag in tags if tag["kind"] == kind]))


def _figures(kind: str, tags: list[dict[str, Any]]) -> str:
    """A line for each tag, a column for each attribute in which they differ; what they share stands below."""
    attributes = registry().rows("target_kinds")[kind].attributes
    values = {key: [tag["attributes"].get(key) for tag in tags] for key in attributes}
    differing = [key for key, column in values.items() if any(value != column[0] for value in column)]
    shared = {key: column[0] for key, column in values.items() if key not in differing and column[0] is not None}
    rows = [(tag["name"], *(_shown(attributes[key], tag["attributes"].get(key)) for key in differing)) for tag in tags]
    text = table(["tag", *(attributes[key].label or key for key in differing)], rows)
    same = ", ".join(
        f"{attributes[key].label or key} {_shown(attributes[key], value)}" for key, value in shared.items()
    )
    return f"{text}\n{fill(f'all of kind {kind}: {same}', WIDTH)}" if same else text


def _sheet(tag: dict[str, Any]) -> str:
    """All that is known of one tag, an attribute a line, and where it stands."""
    attributes = registry().rows("target_kinds")[tag["kind"]].attributes
    rows = [
        (key, _shown(attributes[key], tag["attributes"][key]), attributes[key].doc)
        for key in attributes
        if tag["attributes"].get(key) is not None
    ]
    sources = "\n".join(f"  {line}" for line in tag["source"].split("; "))
    return f"{tag['name']}: kind {tag['kind']}\n{table(['attribute', 'value', 'what it is'], rows)}\n\nfrom\n{sources}"


def _shown(attribute: Any, value: Any) -> str:
    """A value for people: sizes in the largest unit that divides them, lists by their words."""
    if value is None:
        return "-"
    if attribute.unit == "bytes":
        size, unit = next((value // size, unit) for size, unit in _SIZES if value % size == 0)
        return f"{size} {unit}"
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return f"{value} {attribute.unit}".rstrip()


def _kind(row: Any) -> dict[str, Any]:
    owner = registry().owner("target_kinds", row.name)
    attributes = {
        name: {"type": a.type.__name__, "default": a.default, "doc": a.doc} for name, a in row.attributes.items()
    }
    return {"name": row.name, "distribution": owner.distribution, "doc": row.doc, "attributes": attributes}


def _tag(row: Any) -> dict[str, Any]:
    owner = registry().owner("target_tags", row.name)
    return {
        "name": row.name,
        "kind": row.kind,
        "distribution": owner.distribution,
        "attributes": dict(Target(row.name).attrs),
        "source": row.source,
    }
