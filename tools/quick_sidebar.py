"""An extension of Sphinx: the list of pages at the side is built from titles alone.

For each page Sphinx copies the headings of all pages, and then drops those that are no titles; with many pages that is most of the
time of a build. Here it finds the titles only. What comes out is the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

BEFORE_THE_THEME = 400  # which takes the list in its own handler of the same event, at 500


def titles_of(toc: Any) -> nodes.bullet_list:
    """The title of a page and the lists of pages below it, without its headings."""
    (first, *_) = toc.children
    item = nodes.list_item("", first[0].deepcopy())
    trees = [tree.copy() for tree in toc.findall(addnodes.toctree)]
    if trees:
        item += nodes.bullet_list("", *trees)
    return nodes.bullet_list("", item)


def quicken(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give the theme a function that sees titles only."""
    env, slow = app.env, context["toctree"]
    known: dict[str, Any] | None = getattr(app, "titles_of_pages", None)
    if known is None:
        known = {name: titles_of(toc) for name, toc in env.tocs.items()}
        setattr(app, "titles_of_pages", known)  # noqa: B010 - Sphinx declares no such attribute
    context["toctree"] = with_titles(env, known, slow)


def with_titles(env: Any, known: dict[str, Any], slow: Callable[..., str]) -> Callable[..., str]:
    """The function, with the tables of contents exchanged while it runs."""

    def quick(**options: Any) -> str:
        whole, env.tocs = env.tocs, known
        try:
            return slow(**options)
        finally:
            env.tocs = whole

    return quick


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("html-page-context", quicken, priority=BEFORE_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
