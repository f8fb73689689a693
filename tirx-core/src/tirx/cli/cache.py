"""`tirx cache [info|clear]`."""

from __future__ import annotations

import time

import click

from ..runtime.cache import BinaryCache, CacheInfo
from .output import json_option, print_json

__all__ = ["command"]

_SPANS = ((86400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds"))


@click.command("cache")
@click.argument("action", type=click.Choice(["info", "clear"]), default="info")
@json_option
def command(action: str, as_json: bool) -> None:
    """Say what the cache of compiled binaries holds and where it is, or clear it.

    TIRX_CACHE names another folder, TIRX_CACHE=0 turns the cache off; TIRX_CACHE_LIMIT is its size in MiB.

    \b
    tirx cache
    tirx cache clear
    """  # noqa: D301 - click reads the backspace
    cache = BinaryCache.from_environment()
    if action == "clear":
        removed = cache.clear()
        left = cache.info()
        if left.entries:
            raise click.ClickException(f"{left.entries} entries of {left.directory} cannot be removed")
        print_json({"removed": removed}) if as_json else click.echo(f"{removed} removed")
        return
    found = cache.info()
    print_json(found._asdict()) if as_json else click.echo(_text(found))


def _text(info: CacheInfo) -> str:
    if info.directory is None:
        return "off (TIRX_CACHE=0)"
    size = f"{info.bytes / 2**20:.1f} of {info.limit >> 20} MiB"
    lines = [f"folder   {info.directory}", f"entries  {info.entries}, {size}"]
    if info.oldest is not None and info.newest is not None:
        lines.append(f"used     {_ago(info.newest)} ago at latest, {_ago(info.oldest)} ago at longest")
    return "\n".join(lines)


def _ago(moment: float) -> str:
    seconds = max(1, int(time.time() - moment))
    size, unit = next((size, unit) for size, unit in _SPANS if seconds >= size)
    count = seconds // size
    return f"{count} {unit if count > 1 else unit[:-1]}"
