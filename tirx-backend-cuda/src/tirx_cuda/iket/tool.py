"""Programs under the profiler's tool, `run-iket`, which runs them twice: to find the kernels, and to record them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tirx.support.errors import ArgumentError
from tirx.support.suggest import did_you_mean

from .result import IketProfileError, IketProfileResult

__all__ = ["profile", "run"]

_Text = str | os.PathLike[str]

_TOOL, _INSTALL = "run-iket", 'pip install "nvidia-cutlass-dsl>=4.6.0"'
_PROFILES = ("cutlass-4.6.0",)
_POSTPROCESS = ("perfetto", "json", "html", "none", "all")
_UNDER_TOOL = "TIRX_CUDA_IKET_REPLAY"  # set in programs that `run` starts
_TAIL = 8000


def profile(
    command: Sequence[_Text],
    *,
    output_dir: _Text,
    profile_name: str = "cutlass-4.6.0",
    postprocess: str = "all",
    clobber: bool = False,
    cwd: _Text | None = None,
    env: Mapping[str, _Text] | None = None,
    max_ts_cnt_per_warp: int | None = None,
    keep: bool = False,
    timeout: float | None = 600.0,
) -> IketProfileResult:
    """Run `command` under the tool, which records the events of kernels that `IketProfiler.compile` made.

    `postprocess` is perfetto, json, html, none or all; `clobber` lets a folder that is there be overwritten, `keep` keeps what the
    tool made on the way, `env` adds to the environment. Raises `IketProfileError`, also where the tool is missing.
    """
    _one_of("profile_name", profile_name, _PROFILES)
    _one_of("postprocess", postprocess, _POSTPROCESS)
    if isinstance(command, str | os.PathLike) or not command:
        raise ArgumentError("command is a list of words", hint='such as ["python", "program.py"]')
    if max_ts_cnt_per_warp is not None and max_ts_cnt_per_warp < 1:
        raise ArgumentError("max_ts_cnt_per_warp is a positive number")
    place = Path(output_dir).absolute()
    if place.exists() and not clobber and (not place.is_dir() or any(place.iterdir())):
        raise ArgumentError(f"{place} exists", hint="give clobber=True, or another folder")
    options = ["-o", str(place), *(["--clobber"] if clobber else [])]
    passes = ["profile", "--postprocess", postprocess, *(["--keep"] if keep else [])]
    if max_ts_cnt_per_warp is not None:
        passes += ["--max-ts-cnt-per-warp", str(max_ts_cnt_per_warp)]
    words = [_tool(), *options, *passes, *(os.fspath(word) for word in command)]
    _execute(words, cwd, {name: os.fspath(value) for name, value in (env or {}).items()}, timeout)
    return _result(place, postprocess, tuple(words))


def run(
    main: Callable[[], object],
    *,
    output_dir: _Text,
    profile_name: str = "cutlass-4.6.0",
    postprocess: str = "all",
    clobber: bool = False,
    cwd: _Text | None = None,
    env: Mapping[str, _Text] | None = None,
    max_ts_cnt_per_warp: int | None = None,
    keep: bool = False,
    timeout: float | None = 600.0,
) -> IketProfileResult:
    """Profile `main` by running this program again under the tool.

    There, `run` calls `main` and ends the program; here, it answers the result. What stands before `run` happens in all of them.
    """
    if os.environ.get(_UNDER_TOOL):
        main()
        raise SystemExit(0)
    script = getattr(sys.modules["__main__"], "__file__", None)
    if script is None:
        raise IketProfileError("run() starts the program again, and this is none; put it into a file, or use profile()")
    return profile(
        [sys.executable, os.path.abspath(script), *sys.argv[1:]],
        output_dir=output_dir,
        profile_name=profile_name,
        postprocess=postprocess,
        clobber=clobber,
        cwd=cwd,
        env={**(env or {}), _UNDER_TOOL: "1"},
        max_ts_cnt_per_warp=max_ts_cnt_per_warp,
        keep=keep,
        timeout=timeout,
    )


def _one_of(name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        hint = did_you_mean(value, known) or f"it is one of {', '.join(known)}"
        raise ArgumentError(f"{name} has no value {value!r}", hint=hint)


def _tool() -> str:
    """Where the tool is: beside this Python, or on the path."""
    found = shutil.which(_TOOL, path=sysconfig.get_path("scripts")) or shutil.which(_TOOL)
    if found is None:
        raise IketProfileError(f"the profiler's tool `{_TOOL}` is not installed: {_INSTALL}")
    return found


def _execute(words: list[str], cwd: _Text | None, env: Mapping[str, str], timeout: float | None) -> None:
    with subprocess.Popen(
        words,
        cwd=cwd,
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as error:
            _end(process)
            tail = (error.output or b"")[-_TAIL:].decode(errors="replace")
            message = f"`{_TOOL}` did not end within {timeout:g} s"
            raise IketProfileError(message, command=words, output_tail=tail, timeout=timeout) from None
        except BaseException:
            _end(process)
            raise
    if process.returncode != 0:
        tail = output[-_TAIL:].decode(errors="replace")
        message = f"`{_TOOL}` ended with {process.returncode}:\n{tail}".rstrip()
        raise IketProfileError(message, returncode=process.returncode, command=words, output_tail=tail)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the tool and what it started, which shares its session."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, 9)
    else:
        process.kill()
    process.wait()


def _result(place: Path, postprocess: str, words: tuple[str, ...]) -> IketProfileResult:
    perfetto = tuple(sorted({*_files(place, "*.trace.json"), *_files(place, "*.pftrace")}))
    traces = tuple(file for file in _files(place, "*.json") if file not in perfetto)
    html = tuple(_files(place, "*.html"))
    wanted = {"json": (traces,), "perfetto": (perfetto,), "html": (html,), "all": (traces, perfetto, html), "none": ()}
    if not all(wanted[postprocess]):
        raise IketProfileError(f"`{_TOOL}` ended well, but its {postprocess} files are not in {place}", command=words)
    return IketProfileResult(place, postprocess, traces, perfetto, html, words)


def _files(place: Path, pattern: str) -> Iterator[Path]:
    yield from sorted(path for path in place.rglob(pattern) if path.is_file())
