"""A small world for plugins: toy row kinds, a folder to install made-up distributions into, hosts that look there."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

# Its first import puts its own finder into `sys.meta_path` and disables the standard library's: not while a test has replaced that
# list, or nothing that is installed would be found afterwards.
import importlib_metadata  # noqa: F401

from tirx.backend import Owner, RowKind, hookimpl
from tirx.backend.host import Host


class Kind:
    """A row: something with a name."""

    def __init__(self, name: str, width: int = 32) -> None:
        self.name = name
        self.width = width


class Name(Kind):
    pass


class Variant(Kind):
    def __init__(self, name: str, priority: int = 0) -> None:
        super().__init__(name)
        self.priority = priority


def _positive(row: Kind, owner: Owner) -> None:
    if row.width <= 0:
        raise ValueError(f"kind {row.name!r} has width {row.width}")


def _by_name(row: Kind) -> str:
    return row.name


def _accept(row: Kind, owner: Owner) -> None:
    pass


KINDS = (
    RowKind(
        "kinds", "tirx_kinds", doc="Target kinds.", record=Kind, key=_by_name, validate=_positive, provides=("kind",)
    ),
    RowKind(
        "names", "tirx_names", doc="Names.", record=Name, key=_by_name, validate=_accept, provides=("namespace", "name")
    ),
    RowKind(
        "tags",
        "tirx_tags",
        doc="Tags.",
        key=str,
        validate=_accept,
        provides=("tags",),
        promise=lambda key: key.partition("/")[0],
    ),
    RowKind(
        "variants",
        "tirx_variants",
        doc="Variants.",
        record=Variant,
        key=_by_name,
        validate=_accept,
        multi=True,
        opt_in=True,
        order=lambda row: -row.priority,
    ),
)


class Core:
    @hookimpl
    def tirx_kinds(self):
        return [Kind("generic")]


GOOD = """
    from tirx.backend import hookimpl
    from tests.core.backend.toy import Kind, Name, Variant

    @hookimpl
    def tirx_kinds():
        return [Kind("acme")]

    @hookimpl
    def tirx_names():
        return [Name("acme")]
"""

ACME = {"tirx.api.v1": {"acme": "acme_toy.plugin"}, "tirx.provides": {"kind.acme": "acme_toy.plugin"}}


def write_distribution(
    site: Path, name: str = "acme-toy", version: str = "1.0", groups: dict | None = None, suffix: str = "dist-info"
) -> Path:
    """The metadata of a made-up distribution."""
    metadata = site / f"{name.replace('-', '_')}-{version}.{suffix}"
    metadata.mkdir(parents=True, exist_ok=True)
    head = "METADATA" if suffix == "dist-info" else "PKG-INFO"
    (metadata / head).write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: not this\n")
    lines = []
    for group, points in (ACME if groups is None else groups).items():
        lines += [f"[{group}]", *(f"{point} = {value}" for point, value in points.items()), ""]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    return metadata


class World:
    """Folders on the path, and hosts that see nothing else."""

    def __init__(self, folder: Path, monkeypatch) -> None:
        self.monkeypatch = monkeypatch
        self.folder = folder
        self.cache = folder / "cache"
        self.site = self.add_folder("site")
        self.modules = set(sys.modules)

    def add_folder(self, name: str) -> Path:
        """One more folder, searched after those before it."""
        place = self.folder / name
        place.mkdir()
        self.monkeypatch.setattr(sys, "path", [*sys.path, str(place)])
        self.paths = [*getattr(self, "paths", []), str(place)]
        return place

    def install(
        self, code: str = GOOD, name: str = "acme-toy", version="1.0", groups=None, site=None, module=None
    ) -> Path:
        """Install a distribution whose plugin module holds `code`; returns that module's file."""
        site = site or self.site
        module = module or name.replace("-", "_")
        write_distribution(site, name, version, groups)
        package = site / module
        package.mkdir(exist_ok=True)
        (package / "__init__.py").write_text("")
        plugin = package / "plugin.py"
        plugin.write_text(textwrap.dedent(code))
        return plugin

    def extension(self, code: str, name: str = "acme.fast", distribution: str = "fast-toy", provides=()) -> Path:
        """Install an extension of `acme`."""
        module = f"{distribution.replace('-', '_')}.plugin"
        groups = {"tirx.extensions": {name: module}, "tirx.provides": dict.fromkeys(provides, module)}
        return self.install(code, distribution, groups=groups)

    def host(self, kinds=KINDS, core=Core, slow_after: float = 5.0, **environ: str) -> Host:
        """A host that looks into this world's folders only."""
        settings = {"TIRX_PLUGIN_CACHE": str(self.cache), **environ}
        owner = Owner("tirx-core", "0.1", "core")
        path = list(self.paths)
        return Host(kinds, core(), core_owner=owner, path=lambda: path, environ=settings, slow_after=slow_after)

    def forget_modules(self) -> None:
        """Undo what loading imported."""
        for name in set(sys.modules) - self.modules:
            if getattr(sys.modules[name], "__file__", None) and str(self.folder) in sys.modules[name].__file__:
                del sys.modules[name]


def age(folder: Path, seconds: float = 10) -> None:
    """Make a folder look as if it had not changed for a while, so that it may be cached."""
    status = os.stat(folder)
    os.utime(folder, ns=(status.st_atime_ns, status.st_mtime_ns - int(seconds * 1e9)))
