"""`tirx targets [FILTER]`."""

from __future__ import annotations

from typing import Any

import click

from ..backend import available, load, registry
from ..support.errors import BackendError
from ..support.table import table
from ..target import Target
from .output import json_option, print_json

__all__ = ["command"]


@click.command("targets")
@click.argument("text", metavar="[FILTER]", required=False, default="")
@json_option
def command(text: str, as_json: bool) -> None:
    """List target kinds and named targets of all installed backends.

    \b
    tirx targets generic
    """  # noqa: D301 - click reads the backspace
    for name in available():
        _load(name)
    kinds = [_kind(row) for row in registry().rows("target_kinds").values() if text.lower() in row.name]
    tags = [
        _tag(row)
        for row in registry().rows("target_tags").values()
        if text.lower() in f"{row.name} {row.attributes}".lower()
    ]
    if as_json:
        print_json({"kinds": kinds, "tags": tags})
        return
    if kinds:
        click.echo(table(["kind", "from", "about"], [(k["name"], k["distribution"], k["doc"]) for k in kinds]))
    if tags:
        rows = [(t["name"], t["kind"], "  ".join(f"{k}={v}" for k, v in t["attributes"].items())) for t in tags]
        click.echo("\n" * bool(kinds) + table(["tag", "kind", "attributes"], rows))
    if not (kinds or tags):
        raise click.ClickException(f"no kind or tag matches {text!r}")


def _load(name: str) -> None:
    try:
        load(name)
    except BackendError as error:
        click.echo(f"left out: {error}", err=True)


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
