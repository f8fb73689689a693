"""How Sphinx builds the documentation: Markdown, warnings as errors, pages of Python names and of the gallery written first."""

from __future__ import annotations

import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tools import api_reference, gallery  # noqa: E402 - lies beside docs/, which is on the path from here on

project = "TIRx"
author = "The TIRx authors"
copyright = author
version = release = api_reference.version(HERE.parent / "tirx-core/pyproject.toml")

extensions = ["myst_parser", "tools.quick_sidebar"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
source_suffix = {".md": "markdown"}
exclude_patterns = ["_build", "examples/**"]
nitpicky = True

html_theme = "furo"
html_title = "TIRx"
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["tirx.css"]


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("doctree-resolved", mark_short_code)


def mark_short_code(app: Sphinx, tree: nodes.document, page: str) -> None:
    """Code in a sentence is broken into lines only where it is long; `--max-size` never is (tirx.css)."""
    for code in tree.findall(nodes.literal):
        if len(code.astext()) <= 30:
            code["classes"].append("short")


api_reference.write(HERE / "reference/api")
gallery.write(HERE / "gallery")
