"""No circles between modules, however they are drawn: imports in functions count like those at the top.

Between the layers of core, imports for type checking count too (the contract in pyproject.toml). Inside one package
they do not: records that hold each other must be able to name each other in annotations.
"""

from __future__ import annotations

from collections.abc import Iterator

import grimp
import pytest

from tests.architecture.tree import PACKAGES


def circles(graph: grimp.ImportGraph, package: str) -> Iterator[str]:
    """For each package whose children depend on each other in a circle, the imports that close it."""
    breakers = graph.nominate_cycle_breakers(package)
    yield from sorted(f"{importer} -> {imported}" for importer, imported in breakers)
    for child in sorted(graph.find_children(package)):
        if graph.find_children(child):
            yield from circles(graph, child)


@pytest.mark.parametrize("package", PACKAGES)
def test_there_are_no_circles(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(PACKAGES[package].parent)  # the example of a third party's need not be installed
    graph = grimp.build_graph(package, exclude_type_checking_imports=True, cache_dir=None)
    found = list(circles(graph, package))
    assert not found, "these imports close a circle:\n" + "\n".join(found)


def test_a_circle_is_noticed() -> None:
    graph = grimp.ImportGraph()
    for module in ("p", "p.a", "p.b", "p.b.c", "p.b.d"):
        graph.add_module(module)
    for importer, imported in (("p.a", "p.b"), ("p.b.c", "p.b.d"), ("p.b.d", "p.b.c")):
        graph.add_import(importer=importer, imported=imported)
    assert len(list(circles(graph, "p"))) == 1
    graph.add_import(importer="p.b.c", imported="p.a")
    assert len(list(circles(graph, "p"))) == 2
