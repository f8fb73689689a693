"""Every command a contributor needs; `nox -l` lists them. `python3 run.py nox ...` brings nox along."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "virtualenv"
nox.options.reuse_existing_virtualenvs = True
nox.options.sessions = ["lint", "types", "core"]

ROOT = Path(__file__).parent
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
OWN = f"{sys.version_info[0]}.{sys.version_info[1]}"
CORE = "tirx-core[testing]"
CUDA = "tirx-backend-cuda[nvrtc]"
TRN = "tirx-backend-trn"
EVERYTHING = (CORE, CUDA, TRN)
SOURCES = ("tirx-core", "tirx-backend-cuda", "tirx-backend-trn")
IMPORTABLE = (CORE, *SOURCES[1:])  # enough for what only reads or imports them
OPENCL = (
    "docs/examples/tirx-backend-opencl[cpu]"  # the example of a third party's; it brings PoCL, which runs on any CPU
)
POCL = {("linux", "x86_64")}  # where there is a wheel of it
THIRD_PARTY = "tests/plugins/distributions/wavefront"  # a backend that none of ours knows

# The install matrix: what a user may have, and the tests that must pass with just that.
MATRIX = {
    "core": ((CORE,), ("tests/core", "tests/property")),
    "core+cuda": ((CORE, CUDA), ("tests/core", "tests/cuda", "tests/programs")),
    "core+trn": ((CORE, TRN), ("tests/core", "tests/trn", "tests/programs")),
    "core+third-party": ((CORE, THIRD_PARTY), ("tests/core", "tests/plugins")),
    "all": (EVERYTHING, ("tests",)),
}


def runs(python: Path | str, version: str) -> bool:
    """Whether this is that Python: version managers put commands on the PATH that only print an error."""
    probe = [str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    try:
        answer = subprocess.run(probe, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.stdout.strip() == version


def find_python(version: str) -> Path | None:
    """The interpreter of this version: on the PATH, or where pyenv and uv keep theirs."""
    managed = [
        *Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python{version}"),
        *Path.home().glob(f".local/share/uv/python/cpython-{version}.*/bin/python{version}"),
    ]
    on_path = shutil.which(f"python{version}")
    candidates = [*([Path(on_path)] if on_path else []), *sorted(managed, reverse=True)]
    return next((candidate for candidate in candidates if runs(candidate, version)), None)


def installed_pythons() -> list[str]:
    """The supported Pythons found on this machine, put on the PATH so that nox finds the same ones."""
    found = {version: find_python(version) for version in PYTHONS if version != OWN}
    folders = dict.fromkeys(str(python.parent) for python in found.values() if python is not None)
    os.environ["PATH"] = os.pathsep.join([*folders, os.environ.get("PATH", "")])
    return [version for version in PYTHONS if version == OWN or found.get(version) is not None]


INSTALLED = installed_pythons()


def install(session: nox.Session, *distributions: str, groups: tuple[str, ...] = ()) -> None:
    """Install dependency groups and distributions of the workspace, editable."""
    session.install(*nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "install", *groups))
    editable = [argument for name in distributions for argument in ("--editable", f"./{name}")]
    if editable:
        session.install("--no-build-isolation", *editable)


def pytest(session: nox.Session, *arguments: str) -> None:
    """Run pytest on both cores; what is given after `--` comes last and so decides."""
    session.run("python", "-m", "pytest", "-n", "2", "--dist", "worksteal", *arguments, *session.posargs)


@nox.session
def demo(session: nox.Session) -> None:
    """Run the example kernels: simulate, check against NumPy, compile, run what OpenCL can run natively; one table."""
    install(session, *EVERYTHING, OPENCL, groups=("demo",))
    session.run("python", "docs/examples/demo.py", *session.posargs)


@nox.session
def opencl(session: nox.Session) -> None:
    """Run kernels natively on this machine's CPU through the OpenCL backend of docs/examples, and its own tests."""
    if (sys.platform, platform.machine()) not in POCL:
        session.skip(
            f"PoCL has no wheel for {sys.platform} on {platform.machine()}; install a driver and run its tests"
        )
    install(session, CORE, OPENCL, groups=("opencl",))
    session.run("python", "-c", "import tirx_opencl.device as device; print(device.open_device().describe(0))")
    pytest(session, "tests/programs/test_opencl.py", "docs/examples/tirx-backend-opencl/tests")


@nox.session
def nvshmem(session: nox.Session) -> None:
    """Compile kernels for several GPUs against NVSHMEM's wheel and link them with its library; downloads 200 MB."""
    install(session, CORE, "tirx-backend-cuda[nvrtc,nvshmem]", groups=("test",))
    pytest(session, "tests/cuda/test_nvshmem.py")


@nox.session(python=INSTALLED)
def tests(session: nox.Session) -> None:
    """Run the whole test suite on every supported Python that is installed."""
    install(session, *EVERYTHING, groups=("test",))
    pytest(session, "--nothing-missing")


@nox.session
def others(session: nox.Session) -> None:
    """Run what is quick on the supported Pythons other than this one, as CI does after the whole suite."""
    for version in INSTALLED:
        if version != OWN:
            session.notify(f"tests-{version}", posargs=["-m", "not slow"])


@nox.session
def core(session: nox.Session) -> None:
    """Run the tests of core with core alone installed: the quick loop of everyday work."""
    install(session, CORE, groups=("test",))
    pytest(session, "tests/core", "tests/property", "-m", "not slow")


@nox.session
@nox.parametrize("installed", [nox.param(name, id=name) for name in MATRIX])
def matrix(session: nox.Session, installed: str) -> None:
    """Install one combination of distributions and run the tests that must pass with just that."""
    distributions, folders = MATRIX[installed]
    install(session, *distributions, groups=("test",))
    pytest(session, *(folder for folder in folders if (ROOT / folder).is_dir()))


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format, layers and the rules of tests/architecture; `-- --fix` repairs what it can."""
    install(session, *IMPORTABLE, groups=("test", "lint"))
    fix = "--fix" in session.posargs
    session.run("ruff", "format", *([] if fix else ["--check"]), ".")
    session.run("ruff", "check", *(["--fix"] if fix else []), ".")
    session.run("lint-imports")
    session.run("python", "-m", "pytest", "-q", "tests/architecture")


@nox.session
def types(session: nox.Session) -> None:
    """Check types strictly, as the oldest and the newest supported Python see them; and the stubs, with mypy and pyright."""
    install(session, *IMPORTABLE, groups=("types",))
    for version in (PYTHONS[0], PYTHONS[-1]):
        session.run("mypy", "--python-version", version)
    session.run("mypy", "--python-version", PYTHONS[0], "noxfile.py", "run.py")
    session.run("python", "-m", "pytest", "-q", "tests/programs/test_stubs.py")


@nox.session
def docs(session: nox.Session) -> None:
    """Build the documentation into docs/_build/html; every warning is an error."""
    install(session, *EVERYTHING, groups=("demo", "docs"))  # the gallery simulates and compiles the example kernels
    session.run("python", "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "docs/_build/html")
    session.log("open docs/_build/html/index.html")


@nox.session
def screenshots(session: nox.Session) -> None:
    """Build the documentation and take pictures of it at desktop and phone width, where a Chromium is installed."""
    docs(session)
    session.run("python", "-m", "tools.screenshots", *session.posargs)


@nox.session
def build(session: nox.Session) -> None:
    """Build wheel and source archive of each distribution into dist/, check them, install the wheels and import."""
    session.install("build", "twine", "hatchling")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    for name in SOURCES:
        session.run("python", "-m", "build", "--no-isolation", "--outdir", "dist", name)
    files = sorted(str(path) for path in (ROOT / "dist").iterdir())
    session.run("twine", "check", "--strict", *files)
    session.install("--force-reinstall", "--no-deps", *(file for file in files if file.endswith(".whl")))
    session.install(*SOURCES, "--find-links", "dist")  # what they depend on
    session.run("python", "-I", "-c", "import tirx, tirx_cuda, tirx_trn")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure speed against bare Python, the published implementation and numba's simulator; one table of ratios."""
    install(session, *EVERYTHING, groups=("bench",))
    session.run("python", "-m", "bench", *session.posargs)


@nox.session
def parity(session: nox.Session) -> None:
    """Compare with the published implementation, kernel by kernel (installs it)."""
    install(session, *EVERYTHING, groups=("test", "parity"))
    pytest(session, "tests/parity", "tests/programs", "-m", "parity")


@nox.session
def coverage(session: nox.Session) -> None:
    """Run the suite and show which lines no test reaches."""
    install(session, *EVERYTHING, groups=("test",))
    session.install("coverage[toml]>=7.10")
    session.run("coverage", "run", "-m", "pytest", *session.posargs)
    session.run("coverage", "combine")
    session.run("coverage", "report")
