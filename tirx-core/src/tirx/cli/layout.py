"""`tirx layout TEXT`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..ir import DType
from ..layout.draw import BANKS, LIMIT, VECTOR, Picture, data_of, html_of, picture_of, svg_of, text_of
from ..layout.read import read_layout
from ..support.errors import LayoutError
from .output import json_option, print_json

__all__ = ["command"]

_WRITERS = {".svg": svg_of, ".html": html_of, ".txt": text_of}


def _sizes(_context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, ...] | None:
    """The numbers of `8,16`; exactly two of them where rows and columns are meant."""
    if value is None:
        return None
    parts = value.replace("x", ",").split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise click.BadParameter(f"{value!r} is not sizes with commas between them, as in 8,16")
    if option.name == "limit" and len(parts) != 2:
        raise click.BadParameter(f"{value!r} is not rows and columns, as in 64,32")
    return tuple(int(part) for part in parts)


def _dtype(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    try:
        return value if value is None else str(DType(value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _file(_context: click.Context, _option: click.Parameter, value: Path | None) -> Path | None:
    if value is not None and value.suffix not in _WRITERS:
        raise click.BadParameter(f"{value} ends in none of {', '.join(_WRITERS)}")
    return value


@click.command("layout")
@click.argument("text", metavar="LAYOUT")
@click.option(
    "--shape", callback=_sizes, metavar="N,M,...", help="Shape of the buffer (default: one that suits the layout)."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_file,
    help="Write the picture into this file: .svg, .html or .txt.",
)
@click.option(
    "--dtype",
    metavar="DTYPE",
    callback=_dtype,
    help="Type of the elements, for banks (default: float32; a swizzle's own).",
)
@click.option("--banks", type=click.IntRange(min=1), default=BANKS[0], show_default=True, help="Banks of the memory.")
@click.option(
    "--bank-width", type=click.IntRange(min=1), default=BANKS[1], show_default=True, help="Bytes of a bank's word."
)
@click.option(
    "--vector", type=click.IntRange(min=1), default=VECTOR, show_default=True, help="Bytes that a thread reads at once."
)
@click.option(
    "--lanes", type=click.IntRange(min=1), help="Threads that read together (default: as many as there are banks)."
)
@click.option(
    "--limit",
    callback=_sizes,
    default=f"{LIMIT[0]},{LIMIT[1]}",
    metavar="ROWS,COLUMNS",
    show_default=True,
    help="Rows and columns of cells that are shown.",
)
@json_option
def command(
    text: str,
    shape: tuple[int, ...] | None,
    output: Path | None,
    dtype: str | None,
    banks: int,
    bank_width: int,
    vector: int,
    lanes: int | None,
    limit: tuple[int, int],
    as_json: bool,
) -> None:
    """Show which thread, register or bank holds which element of a layout.

    \b
    tirx layout "S[(8, 2, 4, 2):(4@laneid, 1@warpid, 1@laneid, 1)] + R[2:4@warpid]" --shape 8,16
    tirx layout "ComposeLayout(3, 3, 3, S[(8, 64):(64, 1)])" --dtype float16 -o swizzle.svg
    tirx layout "S[(32, 33):(33, 1)]" --vector 4 --json
    """  # noqa: D301 - click reads the backspace
    layout = read_layout(text, "LAYOUT")
    picture = picture_of(layout, shape, dtype=dtype, banks=(banks, bank_width), vector=vector, lanes=lanes, limit=limit)
    if output is not None:
        _write(picture, output)
    if as_json:
        print_json({**data_of(picture), **({} if output is None else {"output": str(output)})})
    elif output is None:
        click.echo(text_of(picture, colour=_has_colour()))


def _has_colour() -> bool:
    return sys.stdout.isatty() and click.get_current_context().color is not False


def _write(picture: Picture, output: Path) -> None:
    try:
        output.write_text(_WRITERS[output.suffix](picture).rstrip() + "\n", encoding="utf-8")
    except OSError as error:
        raise LayoutError(f"cannot write to {output}: {error.strerror}", hint="choose another file with -o") from None
