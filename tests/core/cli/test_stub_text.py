"""Stubs of a backend whose package has no types: signatures and documentation are written out."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from tests.core.backend.toy import write_distribution
from tests.core.cli.test_processes import run

PLUGIN = """
    from tirx.backend import hookimpl
    from tirx.script.row import Namespace

    @hookimpl
    def tirx_namespaces():
        return [
            Namespace("acme", "acme_untyped.names", doc="acme's"),
            Namespace("Pool", "acme_untyped.names:Pool", doc="a pool"),
            Namespace("wave", "acme_untyped.names:wave", doc="an object"),
        ]
"""
NAMES = '''
    __all__ = ["LIMIT", "dot"]
    LIMIT = 3

    def dot(a, b, *, wide=False):
        """The product, in "one" turn. \\\\o/"""

    class Pool:
        """A pool."""

        def __init__(self, size, kind=object()):
            self.size = size

        def take(self, n):
            """Takes `n`."""

    class Wave:
        limit = 4

        def sum(self, value):
            """Sum."""

    wave = Wave()
'''


@pytest.fixture
def stubs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The stubs with that backend installed, by the end of their path."""
    site = tmp_path / "site"
    package = site / "acme_untyped"
    package.mkdir(parents=True)
    write_distribution(site, "acme-untyped", groups={"tirx.api.v1": {"acme": "acme_untyped.plugin"}})
    for name, text in (("__init__", ""), ("plugin", PLUGIN), ("names", NAMES)):
        (package / f"{name}.py").write_text(textwrap.dedent(text))
    monkeypatch.setenv("TIRX_PLUGIN_PATH", str(site))
    done = run(tmp_path, "stubs", backends="acme")
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_text() for path in (tmp_path / "typings/tirx/script").glob("*.pyi")}


def test_a_backend_without_types(stubs: dict[str, str]) -> None:
    for text in stubs.values():
        ast.parse(text)
    acme = stubs["_acme.pyi"]
    assert "LIMIT: Any\n" in acme
    assert 'def dot(a, b, *, wide=...):\n    """\n    The product, in "one" turn. \\\\o/\n    """\n' in acme
    tx = stubs["__init__.pyi"]
    assert "from . import _acme as acme\n" in tx
    assert "    def __init__(self, size, kind=...):\n        ...\n" in tx
    assert '    def take(self, n):\n        """\n        Takes `n`.\n        """\n' in tx
    assert "def sum(value):\n" in stubs["_wave.pyi"]
