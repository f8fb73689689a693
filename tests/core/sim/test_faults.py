"""Every fault of the corpus is found, at a line of its kernel; its corrected twin is clean."""

from __future__ import annotations

import linecache

import pytest

from tests.core.sim import corpus, corpus_accesses, corpus_races
from tests.core.sim.running import simulate

assert corpus_accesses, corpus_races  # they fill the corpus


@pytest.mark.parametrize("name", corpus.PAIRS)
def test_the_fault_is_found(name):
    kind, build = corpus.PAIRS[name]
    kernel, *args = build(True)
    report = simulate(kernel, *args, patience=20_000)
    assert report.verdict == "error", str(report)
    assert kind in {finding.kind for finding in report.findings}, str(report)
    found = next(finding for finding in report.findings if finding.kind == kind)
    assert found.span is not None
    assert linecache.getline(found.span.path, found.span.line).strip()
    assert "corpus_" in found.span.path


@pytest.mark.parametrize("name", corpus.PAIRS)
def test_the_twin_is_clean(name):
    _, build = corpus.PAIRS[name]
    kernel, *args = build(False)
    report = simulate(kernel, *args, patience=20_000)
    assert report.verdict == "clean", str(report)


def test_the_corpus_is_large():
    assert len(corpus.PAIRS) >= 40
