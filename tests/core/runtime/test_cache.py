"""The cache of binaries: whole entries or none, whoever writes, dies, damages or fills it."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import pytest

from tirx.runtime.cache import DEFAULT_LIMIT, BinaryCache

HEAD = "import sys\nfrom pathlib import Path\nfrom tirx.runtime.cache import BinaryCache\ncache = BinaryCache(Path({!r}))\n"


def process(folder: Path, code: str) -> subprocess.Popen[str]:
    """A Python with `cache` at hand."""
    text = HEAD.format(str(folder)) + textwrap.dedent(code)
    return subprocess.Popen([sys.executable, "-c", text], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_is_put_is_what_comes_back(tmp_path: Path) -> None:
    cache = BinaryCache(tmp_path / "new/folder")
    assert cache.get("k") is None
    assert cache.put("k", {"format": "x", "n": [1, 2]}, b"\n\0data\n")
    assert BinaryCache(cache.directory).get("k") == ({"format": "x", "n": [1, 2]}, b"\n\0data\n")


def test_keys_tell_their_parts_apart() -> None:
    parts = [{"a": "1", "b": "2"}, {"a": "12", "b": ""}, {"a": "1", "b": 2}, {"a": "1", "b": ["2"]}, {"a": "1"}, {}]
    assert len({BinaryCache.key(item) for item in parts}) == len(parts)
    assert BinaryCache.key({"a": 1, "b": 2}) == BinaryCache.key({"b": 2, "a": 1})


def test_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIRX_CACHE", "0")
    off = BinaryCache.from_environment()
    assert off.directory is None
    assert not off.put("k", {}, b"")
    assert off.get("k") is None
    assert (off.clear(), off.info().entries) == (0, 0)
    monkeypatch.setenv("TIRX_CACHE", str(tmp_path))
    monkeypatch.setenv("TIRX_CACHE_LIMIT", "3")
    assert (BinaryCache.from_environment().directory, BinaryCache.from_environment().limit) == (tmp_path, 3 << 20)
    monkeypatch.setenv("TIRX_CACHE_LIMIT", "much")
    assert BinaryCache.from_environment().limit == DEFAULT_LIMIT << 20
    monkeypatch.delenv("TIRX_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    if sys.platform == "linux":
        assert BinaryCache.from_environment().directory == tmp_path / "xdg/tirx/binaries"


def test_every_damage_of_a_byte_is_noticed_and_dropped(tmp_path: Path) -> None:
    cache = BinaryCache(tmp_path)
    cache.put("k", {"format": "x"}, b"some bytes")
    path = tmp_path / "k.tirx"
    whole = path.read_bytes()
    damaged = [whole[:n] + bytes([whole[n] ^ 4]) + whole[n + 1 :] for n in range(len(whole))]
    for content in [*damaged, *(whole[:n] for n in range(len(whole))), whole * 2, b"\0" * len(whole)]:
        path.write_bytes(content)
        assert cache.get("k") is None
        assert not path.exists()
    assert cache.put("k", {"format": "x"}, b"some bytes")
    assert path.read_bytes() == whole


def test_a_file_of_another_user_or_format_is_a_miss(tmp_path: Path) -> None:
    cache = BinaryCache(tmp_path)
    (tmp_path / "k.tirx").mkdir()
    assert cache.get("k") is None
    assert not cache.put("k", {}, b"")
    assert files(tmp_path) == {"k.tirx"}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_folder_still_answers(tmp_path: Path) -> None:
    cache = BinaryCache(tmp_path)
    cache.put("k", {}, b"old")
    tmp_path.chmod(0o500)
    assert cache.get("k") == ({}, b"old")
    assert not cache.put("other", {}, b"new")
    assert cache.clear() == 0
    tmp_path.chmod(0o700)


NOBODY = 65534


@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork") or os.geteuid() != 0, reason="only the superuser may become somebody else")
@pytest.mark.parametrize(
    ("mode", "expected"), [(0o555, (True, False, 0)), (0o500, (False, False, 0)), (0o777, (True, True, 2))]
)
def test_folders_of_somebody_else(mode: int, expected: tuple[object, ...]) -> None:
    """A user reads what they may, writes where they may, and is never told about the rest."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        place = Path(name)
        cache = BinaryCache(place)
        cache.put("k", {}, b"old")
        (place / "k.tirx").chmod(0o444)
        place.chmod(mode)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:  # the test goes on in the parent only
            try:
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                found = (cache.get("k") is not None, cache.put("other", {}, b"new"), cache.clear())
                os.write(writer, json.dumps(found).encode())
            finally:
                os._exit(0)
        os.close(writer)
        os.waitpid(child, 0)
        with os.fdopen(reader) as answer:
            text = answer.read()
        place.chmod(0o700)
    assert tuple(json.loads(text)) == expected


def test_a_read_only_file_system_still_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = BinaryCache(tmp_path)
    cache.put("k", {}, b"old")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "read-only file system")

    for owner, name in ((tempfile, "mkstemp"), (os, "utime"), (os, "replace"), (Path, "unlink"), (Path, "mkdir")):
        monkeypatch.setattr(owner, name, refuse)
    assert cache.get("k") == ({}, b"old")
    assert not cache.put("other", {}, b"new")
    assert cache.clear() == 0


def test_a_folder_that_is_a_file_is_a_miss(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = BinaryCache(tmp_path / "file")
    assert not cache.put("k", {}, b"")
    assert (cache.get("k"), cache.clear(), cache.info().entries) == (None, 0, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of file sizes there")
def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    code = """
        import resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        print(cache.put("big", {}, b"x" * 5000), cache.put("small", {}, b"x"))
    """
    with process(tmp_path, code) as running:
        assert running.communicate(timeout=60)[0] == "False True\n"
    assert files(tmp_path) == {"small.tirx"}


def test_writers_and_readers_at_once_see_whole_entries(tmp_path: Path) -> None:
    """Four processes write the same keys over and over, each what belongs to the key, and read what the others wrote."""
    code = """
        import hashlib
        seen = 0
        for turn in range(150):
            for key in "abcd":
                cache.put(key, {"key": key}, key.encode() * 20_000)
            for key in "abcd":
                header, data = cache.get(key)
                assert header == {"key": key} and data == key.encode() * 20_000
                seen += 1
        print(seen)
    """
    running = [process(tmp_path, code) for _ in range(4)]
    answers = [one.communicate(timeout=100) for one in running]
    assert [out for out, _ in answers] == ["600\n"] * 4, answers
    assert files(tmp_path) == {f"{key}.tirx" for key in "abcd"}


def test_writers_that_are_killed_leave_whole_entries(tmp_path: Path) -> None:
    code = """
        print("ready", flush=True)
        while True:
            for key in "abcd":
                cache.put(key, {}, key.encode() * 3_000_000)
    """
    rng = random.Random(7)
    for _ in range(6):
        with process(tmp_path, code) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
            time.sleep(rng.uniform(0.0, 0.1))
            writer.send_signal(signal.SIGKILL)
    cache = BinaryCache(tmp_path)
    for path in list(tmp_path.glob("[a-d].tirx")):
        key = path.stem
        assert cache.get(key) == ({}, key.encode() * 3_000_000)
    drafts = [path for path in tmp_path.iterdir() if path.name.startswith(".new-")]
    for path in drafts:
        os.utime(path, (0, 0))
    cache.put("e", {}, b"")
    assert not [name for name in files(tmp_path) if name.startswith(".new-")]


def test_what_was_unused_for_longest_goes_first(tmp_path: Path) -> None:
    cache = BinaryCache(tmp_path, limit=10_000)
    for age, key in enumerate("abcdefgh"):
        cache.put(key, {}, b"x" * 1000)
        os.utime(tmp_path / f"{key}.tirx", (1000 + age, 1000 + age))
    assert cache.get("a") is not None  # used now: the youngest
    cache.put("new", {}, b"x" * 3000)
    assert files(tmp_path) == {f"{key}.tirx" for key in ("a", "e", "f", "g", "h", "new")} - {"e.tirx"}
    assert cache.info().bytes <= 0.8 * 10_000


def test_an_entry_over_the_limit_is_kept_alone(tmp_path: Path) -> None:
    cache = BinaryCache(tmp_path, limit=100)
    cache.put("a", {}, b"x" * 50)
    cache.put("b", {}, b"x" * 5000)
    assert files(tmp_path) == {"b.tirx"}


def test_files_of_others_are_never_removed(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x" * 5000)
    (tmp_path / "folder").mkdir()
    cache = BinaryCache(tmp_path, limit=100)
    cache.put("a", {}, b"x" * 5000)
    assert cache.clear() == 1
    assert files(tmp_path) == {"thesis.tex", "folder"}


def test_nothing_in_an_entry_can_run_code(tmp_path: Path) -> None:
    cache = BinaryCache(tmp_path)
    cache.put("k", {"format": "x"}, b"data")
    body = (tmp_path / "k.tirx").read_bytes()
    _, header, _ = body.split(b"\n", 2)
    assert json.loads(header) == {"format": "x"}
    with pytest.raises(TypeError):
        cache.put("k", {"object": object()}, b"")
