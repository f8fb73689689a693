"""Tier A: is a text inside the subset of Python and of the interface that NKI 0.3 to 0.6 share?"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.trn.nki_signatures import ENUMS, ISA, LANGUAGE, LATER_NAMES, NAMES, RELEASES, signature

# What the NKI compiler refuses in a kernel, by the kind of syntax; lists are allowed only where a page shows one.
FORBIDDEN = (
    ast.Lambda, ast.Try, ast.Yield, ast.YieldFrom, ast.Await, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.With,
    ast.ClassDef, ast.Global, ast.Nonlocal, ast.Starred, ast.NamedExpr, ast.While, ast.Is, ast.IsNot, ast.Delete, ast.Raise, ast.Match,
    ast.Set, ast.Dict, ast.JoinedStr, ast.Div,
)  # fmt: skip
PLAIN = {"range", "min", "max"}
LIST_ARGUMENTS = {("nisa.affine_select", "pattern"), ("nisa.iota", "pattern")}


def complaints(text: str) -> list[str]:
    """Everything that is wrong with an emitted file; it must hold in every release that its first line claims."""
    tree = ast.parse(text)
    releases = claimed(text)
    return [*_syntax(tree), *_calls(tree, releases), *_members(tree, releases)]


def claimed(text: str) -> tuple[str, ...]:
    """The releases that a file says it runs with; all of them where it says nothing."""
    found = re.search(r"TIRx for NKI (\d\.\d)(?: to (\d\.\d))?\.", text)
    if found is None:
        return RELEASES
    return tuple(item for item in RELEASES if found[1] <= item <= (found[2] or found[1]))


def _syntax(tree: ast.Module) -> Iterator[str]:
    allowed_lists = {
        id(item)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for keyword in call.keywords
        if (ast.unparse(call.func), keyword.arg) in LIST_ARGUMENTS
        for item in ast.walk(keyword.value)
    }
    for node in ast.walk(tree):
        if isinstance(node, FORBIDDEN):
            yield f"{type(node).__name__}"
        if isinstance(node, ast.List) and id(node) not in allowed_lists:
            yield f"line {node.lineno}: a list"
        if isinstance(node, ast.arguments) and (node.kwonlyargs or node.defaults or node.vararg or node.kwarg):
            yield "parameters other than plain positional ones"


def _calls(tree: ast.Module, releases: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name in PLAIN or name.endswith(".reshape"):
            continue
        if name.removeprefix("nisa.") not in ISA and name.removeprefix("nl.") not in LANGUAGE:
            yield f"line {node.lineno}: {name} is no function of the subset"
            continue
        yield from _binding(node, name, releases)


def _binding(node: ast.Call, name: str, releases: tuple[str, ...]) -> Iterator[str]:
    if name.startswith("nisa.") and node.args:
        yield f"line {node.lineno}: {name} has positional arguments"
    keywords = {str(keyword.arg): None for keyword in node.keywords}
    for release in releases:
        problem = _unbound(node, name, release, keywords)
        if problem:
            yield f"line {node.lineno}: {name} in NKI {release}: {problem}"


def _unbound(node: ast.Call, name: str, release: str, keywords: dict[str, None]) -> str | None:
    try:
        signature(name, release).bind(*node.args, **keywords)
    except TypeError as error:
        return str(error)
    return None


def _members(tree: ast.Module, releases: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute):
            continue
        owner = ast.unparse(node.value)
        if (
            owner == "nl"
            and node.attr not in NAMES
            and node.attr not in LANGUAGE
            and LATER_NAMES.get(node.attr, "9") > releases[0]
        ):
            yield f"line {node.lineno}: nl.{node.attr} is not in every release"
        if owner in ENUMS and node.attr not in ENUMS[owner]:
            yield f"line {node.lineno}: {owner} has no {node.attr}"
