"""`tirx doctor`."""

from __future__ import annotations

import platform
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from .. import __version__
from ..backend import available, info, load, registry
from ..backend.report import backends_data
from ..runtime.cache import BinaryCache
from ..runtime.toolchains import installed_toolchains
from ..support.errors import BackendError, TirxError
from ..support.late import load_object
from .loading import deadly
from .output import json_option, print_json

__all__ = ["command"]


@click.command("doctor")
@json_option
def command(as_json: bool) -> None:
    """What is installed, what is missing, and what to install.

    \b
    tirx doctor
    """  # noqa: D301 - click reads the backspace
    findings = _examined()
    if as_json:
        print_json(findings)
        return
    for item in findings:
        mark = {"ok": "+", "missing": "-", "note": "!"}[item["state"]]
        colour = {"+": "green", "-": "red", "!": "yellow"}[mark]
        click.echo(f"{click.style(mark, fg=colour)} {item['what']}: {item['found']}")
        if item["advice"]:
            click.echo(f"    {item['advice']}")


def _finding(what: str, state: str, found: str, advice: str = "") -> dict[str, Any]:
    return {"what": what, "state": state, "found": found, "advice": advice}


def _examined() -> list[dict[str, Any]]:
    python = f"{platform.python_version()} ({sys.executable})"
    found = [_finding("python", "ok", python), _finding("tirx-core", "ok", __version__)]
    found += _shadows() + _libraries() + _cache()
    fatal = deadly(available())
    for name in (item["name"] for item in backends_data()["backends"]):
        found += [_unusable(name, fatal[name])] if name in fatal else _backend(name)
    if not available():
        found.append(
            _finding("backends", "note", "none installed", "kernels are simulated only; pip install tirx-backend-...")
        )
    return found


def _shadows() -> list[dict[str, Any]]:
    """Other distributions that install an import package named `tirx`."""
    import importlib_metadata

    owners = set(importlib_metadata.packages_distributions().get("tirx", []))
    return [
        _finding("import name", "note", f"{name} also installs an import package named `tirx`",
                 f"uninstall it: pip uninstall {name}; this one is {Path(__file__).parents[1]}")
        for name in sorted(owners - {"tirx-core"})
    ]  # fmt: skip


def _libraries() -> list[dict[str, Any]]:
    found = []
    for name, use in (("numpy", "simulation"), ("ml_dtypes", "bfloat16 and fp8"), ("hypothesis", "the test kit")):
        if find_spec(name) is None:
            extra = " (pip install 'tirx-core[testing]')" if name == "hypothesis" else f" (pip install {name})"
            found.append(_finding(name, "missing", f"not installed; needed for {use}", f"install it{extra}"))
        else:
            found.append(_finding(name, "ok", f"installed, for {use}"))
    return found


def _cache() -> list[dict[str, Any]]:
    cache = BinaryCache.from_environment()
    if cache.directory is None:
        return [_finding("binary cache", "note", "off (TIRX_CACHE=0)")]
    works = cache.put("doctor", {}, b"") and cache.get("doctor") is not None
    cache.drop("doctor")
    if works:
        return [_finding("binary cache", "ok", str(cache.directory))]
    return [
        _finding("binary cache", "note", f"{cache.directory} cannot be written", "set TIRX_CACHE to another folder")
    ]


def _unusable(name: str, error: BackendError) -> dict[str, Any]:
    return _finding(f"backend {name}", "missing", error.message, error.hint or "")


def _backend(name: str) -> list[dict[str, Any]]:
    try:
        load(name)
    except BackendError as error:
        return [_unusable(name, error)]
    item = info(name)
    found = [_finding(f"backend {name}", "ok", f"{item.distribution} {item.version}")]
    kinds = [k for k in registry().rows("target_kinds") if registry().owner("target_kinds", k).backend == name]
    for kind in kinds:
        found += _toolchains(kind) + _device(kind)
    return found


def _toolchains(kind: str) -> list[dict[str, Any]]:
    return [
        _finding(f"compiler {row.name} ({kind})", "ok", version) if version is not None
        else _finding(f"compiler {row.name} ({kind})", "missing", "not installed", row.install)
        for row, version in installed_toolchains(kind)
    ]  # fmt: skip


def _device(kind: str) -> list[dict[str, Any]]:
    row = registry().rows("devices").get(kind)
    if row is None:
        return []
    try:
        count = load_object(row.open)().count()
    except Exception as error:  # noqa: BLE001 - a driver may fail in any way; that is what we report
        message = error.message if isinstance(error, TirxError) else f"{type(error).__name__}: {error}".splitlines()[0]
        advice = (error.hint if isinstance(error, TirxError) else None) or row.install
        return [_finding(f"device ({kind})", "missing", message, advice)]
    if count == 0:
        return [_finding(f"device ({kind})", "note", "none present", "kernels are simulated here")]
    return [_finding(f"device ({kind})", "ok", f"{count} present")]
