"""Pictures of the built documentation as a desktop and a phone show it, and what does not fit there.

    python -m tools.screenshots [PAGE ...] [--html FOLDER] [--to FOLDER] [--dark] [--no-pictures]

Writes `PAGE.WIDTH.png` for each page and width. The exit code is 1 when a page is wider than its screen: tables and code
may scroll inside the page, the page itself may not. `nox -s docs` builds what this looks at.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import NamedTuple

from tools.browser import Browser, find_browser

ROOT = Path(__file__).resolve().parents[1]
WIDTHS = (1280, 390)
TALLEST = 20_000  # points; what is below looks like what is above
LEFT_OUT = {"genindex.html", "search.html"}
# Elements that stick out of the page, unless something around them scrolls or cuts them off.
STICKING_OUT = """
(() => {
  const held = e => { for (let p = e.parentElement; p && p !== document.body; p = p.parentElement)
    if (getComputedStyle(p).overflowX !== 'visible') return true; return false; };
  const found = [...document.querySelectorAll('article *')].filter(
    e => e.getBoundingClientRect().right > innerWidth + 1 && !held(e) && getComputedStyle(e).position !== 'fixed');
  const wide = document.documentElement.scrollWidth > innerWidth ? ['the page: ' + document.documentElement.scrollWidth] : [];
  return [...wide, ...found.map(e => e.tagName.toLowerCase() + ': ' + e.textContent.trim().slice(0, 60))].slice(0, 4);
})()
"""


class Problem(NamedTuple):
    """What sticks out of a page at some width."""

    page: str
    width: int
    what: str


def pages(folder: Path, wanted: list[str]) -> list[str]:
    """The pages of a built documentation, without `.html`; those that begin with one of the wanted names."""
    found = [path.relative_to(folder) for path in folder.rglob("*.html") if path.name not in LEFT_OUT]
    names = sorted(path.with_suffix("").as_posix() for path in found if not path.parts[0].startswith("_"))
    return [name for name in names if not wanted or name.startswith(tuple(wanted))]


def visit(browser: Browser, folder: Path, page: str, width: int, target: Path | None) -> list[Problem]:
    """Look at one page: take its picture, say what sticks out."""
    browser.open((folder / f"{page}.html").as_uri())
    if target is not None:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(browser.picture(TALLEST))
    return [Problem(page, width, what) for what in browser.ask(STICKING_OUT)]


def look(program: str, options: argparse.Namespace) -> list[Problem]:
    """Visit all pages at all widths."""
    folder, problems = options.html.resolve(), []
    scheme = "dark" if options.dark else "light"
    with Browser(program) as browser:
        for width in WIDTHS:
            browser.look(width, scheme)
            for page in pages(folder, options.pages):
                name = f"{page}.{width}{'.dark' * options.dark}.png"
                problems += visit(browser, folder, page, width, None if options.no_pictures else options.to / name)
    return problems


def main() -> int:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", help="how the names of pages begin (default: all)")
    parser.add_argument("--html", type=Path, default=ROOT / "docs/_build/html", help="the built documentation")
    parser.add_argument("--to", type=Path, default=ROOT / "docs/_build/screenshots", help="where the pictures go")
    parser.add_argument("--dark", action="store_true", help="as readers see it who like it dark")
    parser.add_argument("--no-pictures", action="store_true", help="only say what does not fit")
    options = parser.parse_args()
    program = find_browser()
    if program is None:
        parser.error(
            "no Chromium is on the PATH; install one (Debian: apt install chromium) or name it in TIRX_BROWSER"
        )
    if not pages(options.html, options.pages):
        parser.error(f"{options.html} holds no such page; `nox -s docs` builds them")
    problems = look(program, options)
    for problem in problems:
        print(f"{problem.page}, {problem.width} points wide: {problem.what}")
    print(f"{len(pages(options.html, options.pages))} pages, {len(problems)} problems")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
