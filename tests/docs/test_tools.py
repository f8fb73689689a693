"""What builds the documentation: the gallery, the pages of Python names, the pictures of pages."""

from __future__ import annotations

import inspect
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT
from tools import api_reference, gallery, gallery_pictures, screenshots

pytestmark = pytest.mark.needs("tirx-backend-cuda", "tirx-backend-trn", "pywavelets")


def example(name: str) -> gallery.Example:
    return gallery.Example(gallery.module("demo", gallery.EXAMPLES / "demo.py"), name)


def test_a_page_of_the_gallery_has_all_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    found = example("tile_transpose")
    monkeypatch.setattr(found.demo, "ARCHITECTURES", ())  # compilers are tried elsewhere
    files = dict(found.files())
    page = files["tile_transpose.md"]
    for part in (
        "# tile_transpose",
        "| checks | clean |",
        "## Layouts",
        "## Checks",
        "## CUDA C++",
        "## Lowered",
        "## Launch plan",
    ):
        assert part in page
    assert "[](../how-to/read-a-layout.md)" in page
    assert "| `copy` | 256 |" in page
    assert "ComposeLayout" in files["tile_transpose.0.svg"]
    assert str(ROOT) not in page


def test_a_kernel_of_plain_layouts_is_shown_by_the_shape_of_its_text() -> None:
    found = example("scale")
    assert found.group == ""
    assert found.thumbnail == "scale.map.svg"
    assert gallery.card(found).startswith("::::{container} card\n[![](scale.map.svg)](scale.md)")


def test_only_layouts_that_show_something_get_a_picture() -> None:
    demo = gallery.module("demo", gallery.EXAMPLES / "demo.py")
    assert gallery_pictures.layouts(demo.load("matmul").KERNEL) == []
    (padded,) = gallery_pictures.layouts(demo.load("transpose").KERNEL)
    assert padded.names == ("tile",)
    assert gallery_pictures.layouts(demo.load("nki_add").KERNEL) == []


def test_a_minimap_has_a_bar_for_each_line() -> None:
    picture = ElementTree.fromstring(
        gallery_pictures.minimap("\n@jit\ndef f():\n    for i in x:\n        Tx.f()\n\nKERNEL = f")
    )
    kinds = [bar.get("class") for bar in picture.iter("{http://www.w3.org/2000/svg}rect")]
    assert kinds == ["plain", "plain", "loop", "call"]


def test_long_code_is_folded() -> None:
    assert gallery.block("x\n", "c") == "```c\nx\n```\n"
    assert gallery.block("x\n" * 41, "c").startswith("<details>\n<summary>41 lines</summary>\n\n```c\n")


def test_the_gallery_is_kept_while_nothing_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gallery, "digest", lambda: "same")
    (tmp_path / "digest").write_text("same")
    (tmp_path / "scale.md").write_text("kept")
    gallery.write(tmp_path)
    assert (tmp_path / "scale.md").read_text() == "kept"


def wide(first: int, second: str = "a long default", *, third: list[int] | None = None) -> None:
    """A function."""


def test_long_signatures_are_broken_and_defaults_readable() -> None:
    assert api_reference.signature(wide, 40) == (
        "(\n    first: int,\n    second: str = 'a long default',\n    *,\n    third: list[int] | None = None,\n) -> None"
    )
    assert api_reference.readable(print) == "print"
    assert repr(api_reference.readable(object())) == "..."
    assert api_reference.readable(inspect.Parameter.empty) is inspect.Parameter.empty


def test_every_package_has_one_page(tmp_path: Path) -> None:
    api_reference.write(tmp_path)
    names = {path.stem for path in tmp_path.iterdir()}
    assert {"index", "tirx", "tirx.sim", "tirx_cuda.lang"} <= names
    assert "tirx.sim.executor" not in names
    text = (tmp_path / "tirx.md").read_text(encoding="utf-8")
    assert "## compile" in text
    assert " at 0x" not in text


def test_pages_of_a_built_site_are_found(tmp_path: Path) -> None:
    for name in ("index.html", "how-to/a.html", "_static/x.html", "search.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert screenshots.pages(tmp_path, []) == ["how-to/a", "index"]
    assert screenshots.pages(tmp_path, ["how"]) == ["how-to/a"]


def test_without_a_browser_it_is_said_which_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TIRX_BROWSER", "no-such-browser")
    monkeypatch.setattr("sys.argv", ["screenshots"])
    with pytest.raises(SystemExit):
        screenshots.main()
    assert "apt install chromium" in capsys.readouterr().err
