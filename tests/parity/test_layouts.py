"""Layouts under both implementations: what means something else is known, with the reason and who is right."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.parity.layout_rules import RULES, Answers, reason_of, reasons
from tests.parity.layouts import Case, Peer, cases, difference, ours
from tirx.target import Target

pytestmark = [pytest.mark.parity, pytest.mark.needs("tirx-backend-cuda")]
COUNT = int(os.environ.get("PARITY_LAYOUTS", "8000"))


@pytest.fixture(scope="module")
def peer() -> Iterator[Peer]:
    child = Peer(os.environ.get("PARITY_PYTHON", sys.executable))
    yield child
    child.close()


def test_layouts(peer: Peer) -> None:
    scopes = Target({"kind": "cuda", "arch": "sm_90a"}).scope_model()
    met: Counter[str] = Counter()
    unknown: list[str] = []
    for case in cases(COUNT):
        mine, theirs = ours(case, scopes), peer.ask(case)
        if difference(case, mine, theirs) is None:
            continue
        reason = reason_of(Answers(case, mine, theirs))
        met[reason or "unknown"] += 1
        if reason is None:
            unknown.append(described(case, mine, theirs))
    print(listed(met))
    assert not unknown, f"{len(unknown)} differences that nobody has explained:\n" + "\n".join(unknown[:10])
    if COUNT >= 8000:
        assert set(met) == set(RULES), f"not met any more: {set(RULES) - set(met)}"


def listed(met: Counter[str]) -> str:
    """Each difference with how often it was met, who is right, and why."""
    known = reasons()
    return "\n".join(f"{count:5} {name}: {': '.join(known.get(name, ('?',)))}" for name, count in met.most_common())


def described(case: Case, mine: object, theirs: object) -> str:
    return f"{case.layout}.{case.op}{case.arguments}\n    ours  {mine}\n    peer  {theirs}"


def test_every_reason_is_written_down() -> None:
    assert set(reasons()) == set(RULES)
    assert {right for right, _ in reasons().values()} <= {"ours", "theirs", "both"}
