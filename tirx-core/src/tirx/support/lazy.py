"""Packages whose names are imported at first use, so that reading one small record does not load a whole layer."""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 4 ms at start-up
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["lazy_names"]


def lazy_names(package: str, places: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of `package`, where `places` maps public names to the submodules that define them."""

    def find(name: str) -> Any:
        if name in places:
            from importlib import import_module

            return getattr(import_module(f"{package}.{places[name]}"), name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}{_hint(package, name, places)}", name=name)

    return find, lambda: sorted(places)


def _hint(package: str, name: str, known: Mapping[str, str]) -> str:
    if name.startswith("_"):  # asked for by machinery, not by people
        return ""
    from .elsewhere import advice  # only when something went wrong
    from .suggest import did_you_mean

    found = (advice("package", name) if package == "tirx" else None) or did_you_mean(name, known)
    return f"; {found}" if found else ""
