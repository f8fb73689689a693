"""What commands write and compute: files, arrays, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.core.cli.commands import Shell

RUN = ("run", "scale.py", "--arg", "x=random:100", "--arg", "a=2")


@pytest.mark.parametrize("file", ["latin.py", "zero_byte.py"])
def test_files_that_are_no_text(tirx: Shell, file: str) -> None:
    assert f"{file} is not valid Python: " in tirx("check", file, status=1).err


def test_run_reads_and_writes_arrays(tirx: Shell) -> None:
    x = np.arange(70, dtype=np.float32)
    np.save("in.npy", x)
    tirx("run", "scale.py", "--arg", "x=in.npy", "--arg", "y=empty", "--arg", "a=0.5", "-o", "out")
    assert [path.name for path in Path("out").iterdir()] == ["y.npy"]
    assert np.array_equal(np.load("out/y.npy"), x / 2)


def test_the_input_file_is_left_as_it_is(tirx: Shell) -> None:
    np.save("in.npy", np.zeros(64, np.int32))
    before = Path("in.npy").read_bytes()
    tirx("run", "faulty.py", "--arg", "in.npy", status=1)
    assert Path("in.npy").read_bytes() == before


def test_a_seed_makes_the_same_arrays_again(tirx: Shell) -> None:
    for seed, folder in (("1", "a"), ("1", "b"), ("2", "c")):
        tirx(*RUN, "--seed", seed, "-o", folder)
    a, b, c = (np.load(f"{folder}/y.npy") for folder in "abc")
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_arrays_of_the_wrong_kind(tirx: Shell) -> None:
    np.save("wide.npy", np.zeros(8))
    assert (
        "expected dtype float32, got float64"
        in tirx("run", "scale.py", "--arg", "wide.npy", "--arg", "a=1", status=1).err
    )
    np.save("objects.npy", np.array([None, {}], dtype=object), allow_pickle=True)
    assert "objects.npy is no array" in tirx("run", "scale.py", "--arg", "objects.npy", "--arg", "a=1", status=1).err
    Path("text.npy").write_text("not an array")
    assert "text.npy is no array" in tirx("run", "scale.py", "--arg", "text.npy", "--arg", "a=1", status=1).err
    Path("short.npy").write_bytes(Path("wide.npy").read_bytes()[:-8])
    assert "short.npy is no array" in tirx("run", "scale.py", "--arg", "short.npy", "--arg", "a=1", status=1).err
    Path("nothing.npy").write_bytes(b"")
    assert "nothing.npy is no array" in tirx("run", "scale.py", "--arg", "nothing.npy", "--arg", "a=1", status=1).err


def test_arrays_that_do_not_fit_into_memory(tirx: Shell) -> None:
    huge = tirx("run", "scale.py", "--arg", "x=zeros:99999999999999", "--arg", "a=1", status=1)
    assert "argument `x`: no memory for an array of 99999999999999" in huge.err
    assert "no memory" in tirx("run", "scale.py", "--arg", f"x=zeros:{10**30}", "--arg", "a=1", status=1).err


def test_json_of_a_run(tirx: Shell) -> None:
    found = json.loads(tirx(*RUN, "--json").out)
    assert found["report"]["verdict"] == "clean"
    assert found["written"]["y"]["shape"] == [100]


def test_json_has_no_numbers_that_json_lacks(tirx: Shell) -> None:
    text = tirx("run", "scale.py", "--arg", "x=ones:4", "--arg", "a=nan", "--json").out
    found = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert found["written"]["y"]["max"] == "nan"


def test_json_survives_files_that_print(tirx: Shell) -> None:
    shown = tirx("check", "prints.py", "--json")
    assert json.loads(shown.out)[0]["verdict"] == "ok"
    assert "hello from the file" in shown.err


def test_json_survives_printed_passes(tirx: Shell) -> None:
    shown = tirx("compile", "scale.py", "--emit", "launch", "--print-after", "simplify", "--json")
    assert json.loads(shown.out)["functions"] == ["scale"]
    assert shown.err.startswith("# after simplify\n")


def test_passes_are_printed_in_the_order_in_which_they_run(tirx: Shell) -> None:
    words = ("--print-after", "remove_dead", "--print-after", "verify")
    out = tirx("compile", "scale.py", "--emit", "launch", *words).out
    assert out.index("# after verify") < out.index("# after remove_dead") < out.index("geometry")


def test_an_unknown_pass_is_an_error_that_lists_the_passes(tirx: Shell) -> None:
    err = tirx("compile", "scale.py", "--print-after", "lower_storag", status=1).err
    assert (
        "error: target kind `generic` has no pass `lower_storag`\n  help: did you mean `lower_storage` or `lower_tile`? "
        in err
    )
    assert "the passes are bind_target, " in err


def test_compile_writes_each_form_into_a_file(tirx: Shell) -> None:
    shown = tirx("compile", "scale.py", "--emit", "ir", "--emit", "lowered", "--emit", "launch", "-o", "build")
    assert shown.out == ""
    assert sorted(path.name for path in Path("build").iterdir()) == [
        "scale.ir.py",
        "scale.launch.json",
        "scale.lowered.py",
    ]
    plan = json.loads(Path("build/scale.launch.json").read_text())
    assert "thread.x" in json.dumps(plan)


def test_a_folder_that_cannot_be_written(tirx: Shell) -> None:
    shown = tirx("compile", "scale.py", "--emit", "ir", "-o", "empty.py/build", status=1)
    assert "error: cannot write to empty.py/build: Not a directory" in shown.err
    shown = tirx(*RUN, "-o", "empty.py/build", status=1)
    assert "error: cannot write to empty.py/build: Not a directory" in shown.err


def test_a_kernel_file_leaves_nothing_behind(tirx: Shell) -> None:
    before = set(Path().rglob("*"))
    tirx("check", "scale.py")
    assert set(Path().rglob("*")) == before


def test_targets_can_be_searched(tirx: Shell) -> None:
    assert "generic  tirx-core" in tirx("targets", "GENERIC".lower()).out
    assert json.loads(tirx("targets", "--json").out)["kinds"][0]["name"] == "generic"
    assert "no kind or tag matches 'zzz'" in tirx("targets", "zzz", status=1).err


def test_why_and_backends_answer_in_json(tirx: Shell) -> None:
    assert "backends" in json.loads(tirx("backends", "--json").out)
    assert json.loads(tirx("why", "acme", "--json").out)
    assert "acme" in tirx("why", "acme").out


def test_doctor_notes_others_that_install_the_same_name(tirx: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tirx.folder / "site/other_tirx-2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other-tirx\nVersion: 2.0\n")
    (info / "RECORD").write_text("tirx/__init__.py,,\n")
    (info / "top_level.txt").write_text("tirx\n")
    monkeypatch.syspath_prepend(str(info.parent))
    out = tirx("doctor").out
    assert "! import name: other-tirx also installs an import package named `tirx`" in out
    assert "uninstall it: pip uninstall other-tirx" in out


def test_doctor_tests_the_cache(tirx: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIRX_CACHE", "empty.py")
    assert "! binary cache: empty.py cannot be written" in tirx("doctor").out
    monkeypatch.setenv("TIRX_CACHE", "0")
    assert "! binary cache: off" in tirx("doctor").out


def test_a_layout_is_written_as_picture_and_text(tirx: Shell) -> None:
    for name in ("a.svg", "a.html", "a.txt"):
        assert tirx("layout", "S[8, 64]", "--dtype", "float16", "-o", name).out == ""
    assert Path("a.svg").read_text().startswith("<svg ")
    assert Path("a.html").read_text().startswith("<div ")
    assert Path("a.txt").read_text() == tirx("layout", "S[8, 64]", "--dtype", "float16").out


def test_json_of_a_layout(tirx: Shell) -> None:
    found = json.loads(tirx("layout", "S[8, 64]", "--dtype", "float16", "--json", "-o", "a.svg").out)
    assert found["output"] == "a.svg"
    assert found["shape"] == [8, 64]
    assert [(access["name"], access["conflicts"]) for access in found["accesses"]] == [("row", 0), ("column", 56)]
    assert sum(cell["count"] for cell in found["cells"]) == 8 * 64
