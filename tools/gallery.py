"""The gallery of the documentation: a page for each example kernel, with what TIRx makes of it. docs/conf.py calls this.

Nothing of it is committed, so nothing of it is ever old: each page is written from the kernel's file, by compiling and simulating it.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

import tirx
from tirx import ir
from tools.gallery_pictures import Drawn, layouts, minimap
from tools.tables import table

__all__ = ["write"]

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "docs/examples"
THIRD_PARTY = EXAMPLES / "tirx-backend-opencl/src"
INPUTS = ("tools", "docs/examples", "tirx-core/src", "tirx-backend-cuda/src", "tirx-backend-trn/src")
GROUPS = {
    "": (
        "Threads",
        "Each thread says what it loads, computes and stores; shared memory, barriers and shuffles are written out.",
    ),
    "tensor": (
        "Tensor copies",
        "Copies of whole boxes by the hardware (TMA) feed products that run beside the threads.",
    ),
    "tile": ("Tile operations", "Groups of threads move and compute tiles; dispatch picks the instructions."),
    "nki": ("Trainium", "A machine without threads: engines that work on tiles in on-chip memory."),
}
# What a kernel's text has in it, and the page that explains it.
RELATED = {
    "Tx.If(": "how-to/trace-kernels.md",
    "Tx.trace(": "how-to/trace-kernels.md",
    "Tx.nki.": "how-to/write-nki-kernels.md",
    "Tx.cta.copy(": "how-to/write-with-tiles.md",
    "Tx.warp.copy(": "how-to/write-with-tiles.md",
    "Tx.tile.": "how-to/write-with-tiles.md",
    "dispatch": "how-to/choose-a-variant.md",
    "tensor_map": "how-to/copy-tiles-with-tma.md",
    "tirx_cuda.lang": "how-to/build-a-pipeline.md",
    "Tx.ptx.": "how-to/use-ptx.md",
    "layout=": "how-to/read-a-layout.md",
    "alloc_shared": "how-to/debug-a-race.md",
}
GROUP_OF = {"tile": "tile", "nki": "nki", "hopper": "tensor", "blackwell": "tensor"}  # first words of names
LONG = 40  # lines; what is longer is folded
LANGUAGES = {"cuda": "cuda", "nki": "python", "opencl": "c"}
TITLES = {"cuda": "CUDA C++", "nki": "NKI", "opencl": "OpenCL C"}


def write(folder: Path) -> None:
    """Write all pages and their index, unless everything that they are made from is as it was."""
    stamp, now = folder / "digest", digest()
    if stamp.exists() and stamp.read_text() == now:
        return
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    offer_opencl()
    demo = module("demo", EXAMPLES / "demo.py")
    kernels = [Example(demo, path.stem) for path in sorted(demo.KERNELS.glob("*.py"))]
    for kernel in kernels:
        for name, text in kernel.files():
            (folder / name).write_text(text, encoding="utf-8")
    (folder / "index.md").write_text(index(kernels), encoding="utf-8")
    stamp.write_text(now)


def digest() -> str:
    """What the pages depend on, in one number."""
    found = hashlib.sha256(np.__version__.encode())
    for path in sorted(path for name in INPUTS for path in (ROOT / name).rglob("*.*")):
        if path.is_file() and path.suffix not in {".pyc", ".md"}:
            found.update(path.read_bytes())
    return found.hexdigest()


def offer_opencl() -> None:
    """The example of a third party's backend is found without being installed: writing source needs no driver."""
    if "opencl" not in tirx.backend.available():
        sys.path.append(str(THIRD_PARTY))
        promised = ["kind.opencl", "namespace.opencl"]
        tirx.backend.register("opencl", "tirx_opencl.plugin", distribution="tirx-backend-opencl", provides=promised)


def module(name: str, path: Path) -> ModuleType:
    """A Python file as a module."""
    spec = spec_from_file_location(f"gallery_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


class Run(NamedTuple):
    """A simulated run: its report, its distance from NumPy, its arguments."""

    report: Any
    error: float
    arguments: tuple[Any, ...]


class Example:
    """An example kernel: what is known of it, and its page."""

    def __init__(self, demo: ModuleType, name: str) -> None:
        self.demo = demo
        self.name = name
        self.module = demo.load(name)
        self.kernel, self.target = self.module.KERNEL, self.module.TARGET
        self.text = Path(str(self.module.__file__)).read_text(encoding="utf-8")
        self.about = inspect.getdoc(self.module) or ""
        self.executable = tirx.compile(self.kernel, self.target)
        self.run = self.simulated()
        self.pictures: list[Drawn] = layouts(self.kernel)

    @property
    def group(self) -> str:
        """What the first part of its name says."""
        return GROUP_OF.get(self.name.partition("_")[0], "")

    @property
    def sentence(self) -> str:
        """What it does, in short."""
        return " ".join(self.about.partition("\n\n")[0].split())

    @property
    def thumbnail(self) -> str:
        """The file of the picture that stands for it."""
        return f"{self.name}.0.svg" if self.pictures else f"{self.name}.map.svg"

    def simulated(self) -> Run:
        """Run it as the demo does, with all checks."""
        arguments = self.demo.inputs(self.name, self.module)
        before = self.demo.copies(arguments)
        report = tirx.simulate(self.kernel, *arguments, target=self.target)
        return Run(report, self.demo.largest_error(self.module, self.kernel.names, before, arguments), before)

    def files(self) -> Iterator[tuple[str, str]]:
        """The page and its pictures, by file names."""
        yield f"{self.name}.md", "\n".join(self.page())
        for number, picture in enumerate(self.pictures):
            yield f"{self.name}.{number}.svg", picture.svg
        if not self.pictures:
            yield f"{self.name}.map.svg", minimap(self.text)

    # ---- the page ----------------------------------------------------------------------------------------------------

    def page(self) -> Iterator[str]:
        """The page, part by part."""
        yield f"# {self.name}\n\n{self.about}\n"
        yield table(("", ""), self.facts())
        yield self.related()
        yield f"## Kernel\n\n```{{literalinclude}} ../examples/kernels/{self.name}.py\n:language: python\n```\n"
        yield from self.layouts()
        yield f"## Checks\n\n{block(str(self.run.report), 'text')}"
        yield from self.tiles()
        yield f"## {self.language()}\n\n{block(self.executable.source.text, LANGUAGES[self.executable.source.language])}"
        if self.demo.is_neutral(self.module):
            source = block(tirx.compile(self.kernel, "opencl").source.text, "c", fold=True)
            yield f"## OpenCL C\n\nThe kernel has no word of a vendor, so it runs on anybody's machine.\n\n{source}"
        lowered = block(self.executable.lowered.script(), "python", fold=True)
        yield f"## Lowered\n\nWhat the simulator runs and source is written from.\n\n{lowered}"
        yield f"## Launch plan\n\n{block(str(self.executable.launch_plan), 'text')}"

    def language(self) -> str:
        """The heading of its source."""
        name = TITLES[self.executable.source.language]
        return f"{name} for `{self.target}`" if " " in str(self.target) else name

    def facts(self) -> Iterator[tuple[str, str]]:
        """The table at the top."""
        yield "target", f"`{self.target}`"
        yield (
            "arguments",
            ", ".join(described(n, a) for n, a in zip(self.kernel.names, self.run.arguments, strict=True)),
        )
        yield "checks", f"{self.run.report.verdict}"
        yield "largest difference from NumPy", f"{self.run.error:.1e}, of {self.module.TOLERANCE:.0e} that are allowed"
        yield from self.resources()

    def resources(self) -> Iterator[tuple[str, str]]:
        """What a compiler made of it, where one is installed; what it costs, where that is documented."""
        if self.group == "nki":
            report = tirx.estimate(self.kernel, self.target, sizes=self.sizes())
            yield "bounded by", f"{report.bound}"
            return
        for arch in self.demo.ARCHITECTURES:
            try:
                used = next(iter(tirx.compile(self.kernel, {"kind": "cuda", "arch": arch}).resources.values()))
            except tirx.TirxError:
                continue  # it lacks what the kernel needs, or there is no compiler
            spilled = f", {used.spill_bytes} bytes spilled" if used.spill_bytes else ", none spilled"
            yield (
                f"compiled for {arch}",
                f"{used.registers} registers{spilled}, {used.shared_bytes} bytes of static shared memory",
            )

    def sizes(self) -> dict[str, int]:
        """The dimensions that the arrays decide."""
        found = {}
        for parameter, argument in zip(self.kernel.params, self.run.arguments, strict=True):
            for extent, size in zip(getattr(parameter, "shape", ()), np.shape(argument), strict=False):
                if isinstance(extent, ir.Var):
                    found[extent.name] = size
        return found

    def related(self) -> str:
        """Where to read on."""
        pages = dict.fromkeys(page for word, page in RELATED.items() if word in self.text)
        links = [f"[](../{page})" for page in pages]
        file = f"`docs/examples/kernels/{self.name}.py`"
        return f"The file is {file}. {'About what it uses: ' + ', '.join(links) + '.' if links else ''}\n"

    def layouts(self) -> Iterator[str]:
        """The pictures."""
        if self.pictures:
            yield "## Layouts\n\n::::{container} pictures"
            for number, picture in enumerate(self.pictures):
                names = ", ".join(f"`{name}`" for name in picture.names)
                shown = f"![Layout of {names}]({self.name}.{number}.svg)"
                yield f":::{{container}} picture\n{names}: {picture.about}\n\n{shown}\n:::"
            yield "::::\n"

    def tiles(self) -> Iterator[str]:
        """What became of tile operations."""
        decisions = self.executable.decisions
        if decisions:
            rows = dict.fromkeys(map(decided, decisions))
            yield "## Tile operations\n\nWhat each became; `tirx explain` says why.\n"
            yield table(("operation", "threads", "variant", "of"), rows)


def decided(decision: Any) -> tuple[str, str, str, str]:
    """A row: an operation and its variant."""
    chosen = decision.chosen
    return f"`{decision.call.op.name}`", str(decision.threads), f"`{chosen.variant.name}`", chosen.owner.distribution


def described(name: str, argument: Any) -> str:
    """An argument: an array by its type and shape, a number by its value."""
    if isinstance(argument, np.ndarray):
        return f"`{name}` {argument.dtype} {' x '.join(map(str, argument.shape))}"
    return f"`{name}` = {argument}"


def block(text: str, language: str, *, fold: bool = False) -> str:
    """A block of code; a long one is opened by who wants it."""
    lines = text.rstrip().splitlines()
    code = "\n".join(["```" + language, *lines, "```"])
    if not fold and len(lines) <= LONG:
        return code + "\n"
    return f"<details>\n<summary>{len(lines)} lines</summary>\n\n{code}\n\n</details>\n"


# ---- the index -------------------------------------------------------------------------------------------------------

INTRO = """# Gallery

Each kernel of `docs/examples/kernels`, with its layouts, the report of its checks and the source it becomes. All run here on the
simulator at real sizes and are held against NumPy; `nox -s demo` does the same on your machine.
"""


def index(kernels: list[Example]) -> str:
    """Cards, group by group."""
    parts = [INTRO]
    for group, (title, about) in GROUPS.items():
        cards = "\n".join(card(kernel) for kernel in kernels if kernel.group == group)
        parts.append(f"## {title}\n\n{about}\n\n:::::{{container}} cards\n{cards}:::::\n")
    names = "\n".join(kernel.name for kernel in kernels)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{names}\n```\n")
    return "\n".join(parts)


def card(kernel: Example) -> str:
    """One card: picture, name, sentence, target."""
    return (
        "::::{container} card\n"
        f"[![]({kernel.thumbnail})]({kernel.name}.md)\n\n"
        f"[{kernel.name}]({kernel.name}.md)\n\n"
        f"{kernel.sentence}\n\n"
        f"`{kernel.target}`\n"
        "::::\n"
    )
