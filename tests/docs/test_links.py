"""Relative links in Markdown lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, name_of, pages

LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:|#)([^)#\s]+)")
BUILT = ("docs/reference/api/", "docs/gallery/")  # written when the documentation is built


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    targets = [(page.parent / link).resolve() for link in LINK.findall(page.read_text(encoding="utf-8"))]
    dead = [target for target in targets if not target.exists() and not name_of(target).startswith(BUILT)]
    assert not dead


def test_every_how_to_is_on_the_start_page_and_in_the_list_at_the_side() -> None:
    start = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    names = [f"how-to/{path.stem}" for path in ROOT.glob("docs/how-to/*.md")]
    assert not [name for name in names if f"({name}.md)" not in start]
    assert not [name for name in names if f"\n{name}\n" not in start]


def test_the_readme_fits_on_one_screen() -> None:
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") <= 50
