"""What notebooks show of kernels, reports, explanations and plans: whole HTML, nothing that runs; text stays text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import tirx
from tests.programs.examples import EXAMPLES, load
from tirx import script as Tx
from tirx.layout import S, TileLayout
from tirx.support.errors import DispatchError
from tirx.support.html import block_of, heading, table

VOID = {"br", "hr", "img", "input", "meta", "link", "rect", "line", "path"}


class Checker(HTMLParser):
    """Holds that every tag is closed where it was opened, and that nothing runs or is fetched."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag not in ("script", "style", "link", "iframe")
        assert not [name for name, value in attrs if name.startswith("on") or "url(" in (value or "")]
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        assert tag in VOID

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def shown(value: Any) -> str:
    """The text of what a notebook shows."""
    html = value if isinstance(value, str) else value._repr_html_()
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.open == []
    assert len(html) < 200_000
    return "".join(checker.text)


@Tx.prim_func
def reverse(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    s = Tx.alloc_shared((64,), "float32")
    if tx < 64:  # <b>&amp;
        s[tx] = A[tx]
    B[tx] = s[63 - tx]


def test_a_kernel_is_its_source_beside_its_ir() -> None:
    text = shown(reverse)
    assert text.index("source@Tx.prim_func\ndef reverse(") < text.index("if tx < 64:  # <b>&amp;\n") < text.index("IR")
    assert text.count("B[tx] = s[63 - tx]") == 2
    assert repr(reverse) == "<PrimFunc reverse(A, B)>"


def test_a_kernel_without_source_is_its_ir() -> None:
    func = tirx.from_source(reverse.script())
    kernel = getattr(func, "reverse", func)
    assert "def reverse(" in shown(kernel)


def test_a_kernel_to_specialise_is_its_source_beside_what_it_needs() -> None:
    @Tx.jit
    def fill(A: Tx.Buffer((64,), "float32"), bias: Tx.Optional(Tx.Buffer((64,), "float32")), value: Tx.constexpr):
        Tx.device_entry()
        A[Tx.thread_id([64])] = value

    text = shown(fill)
    assert text.index("source@Tx.jit") < text.index("specializebias: optional\nvalue: constexpr")
    assert repr(fill) == "<jit kernel fill>"


def test_a_module_shows_every_function() -> None:
    lowered = tirx.compile(reverse, "generic").lowered
    text = shown(lowered)
    assert all(f"def {func.name}(" in text for func in lowered)


def test_a_report_shows_verdict_finding_and_traffic() -> None:
    a, b = np.arange(64, dtype="float32"), np.zeros(64, dtype="float32")
    report = tirx.simulate(reverse, a, b, target="generic")
    text = shown(report)
    assert text.startswith("reverse: error")
    assert "race: " in text
    assert "B[tx] = s[63 - tx]" in text
    assert "sectors/req" in text
    assert str(report).startswith("reverse: error (checked: ")


def test_a_plan_is_a_table() -> None:
    plan = tirx.compile(reverse, "generic").launch_plan
    assert "reverse_kernelA, B" in shown(plan).replace("__", "_")
    assert "thread.x=64" in shown(plan)
    assert re.fullmatch(r"<LaunchPlan of 1: \w+>", repr(plan))
    assert repr(plan[0]) == f"<LaunchStep {plan[0].kernel}>"


def test_an_executable_without_source_shows_the_lowered_ir() -> None:
    text = shown(tirx.compile(reverse, "generic"))
    assert text.startswith("for generic")
    assert "lowered" in text


@pytest.mark.needs("tirx-backend-cuda")
def test_an_executable_shows_the_target_s_source() -> None:
    text = shown(tirx.compile(reverse, "cuda"))
    assert "@Tx.prim_func\ndef reverse(" in text
    assert "__global__" in text


@pytest.mark.needs("tirx-backend-cuda")
def test_an_explanation_opens_call_by_call() -> None:
    kernel = load(EXAMPLES / "tile_layernorm.py").KERNEL
    found = tirx.explain(kernel, "cuda")
    text = shown(found)
    assert found.decisions
    assert "tirx-core" in text
    assert repr(found) == f"<Explanation for {found.target}: {len(found.decisions)} tile operations>"


def test_an_explanation_shows_its_error() -> None:
    @Tx.prim_func
    def unfit(A: Tx.Buffer((64,), "float32"), B: Tx.Buffer((64,), "float32")):
        Tx.device_entry()
        Tx.thread_id([64])
        Tx.tile.copy(B, A, dispatch="nothing_of_that_name")

    try:
        found = tirx.explain(unfit, "generic")
    except DispatchError as error:
        pytest.fail(f"explain answers: {error}")
    assert "nothing_of_that_name" in shown(found)
    assert repr(found).endswith(", error>")


def test_a_layout_is_a_picture() -> None:
    assert "<svg" in TileLayout(S[(8, 4) : (4, 1)])._repr_html_()


def test_values_are_escaped() -> None:
    assert shown(table(("<i>",), [("<script>alert(1)</script>",)])) == "<i><script>alert(1)</script>"


def test_no_source_is_no_panel() -> None:
    assert block_of(None) == ""


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb`, by the rule of web accessibility."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("verdict", ["clean", "ok", "error", "incomplete"])
def test_verdicts_are_legible_in_light_and_dark(verdict: str) -> None:
    (colour,) = re.findall(r"color:(#\w{6})", heading("kernel:", verdict))
    for background in ("#ffffff", "#111111"):  # what notebooks have behind their output
        low, high = sorted([luminance(colour), luminance(background)])
        assert (high + 0.05) / (low + 0.05) > 4.0
