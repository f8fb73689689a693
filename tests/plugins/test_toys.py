"""Backends that nobody here knows: what a stranger publishes does all that ours do."""

from __future__ import annotations

from pathlib import Path

import pytest

KERNELS = Path(__file__).parent / "kernels"


def test_waves_of_64_threads(environment):
    place = environment("wavefront")
    done = place.start([str(place.python), str(KERNELS / "waves.py")])
    assert done.returncode == 0, done.stderr
    first, second, *source, loaded = done.stdout.splitlines()
    assert (first, second, loaded) == ("clean True", "clean True", "[]")
    assert source[0] == "template <class T> T wave_sum(T value);"
    assert "kernel void wave_totals_kernel(const float* A, float* B) {" in source
    assert "  int tx = thread_id('x');" in source
    assert "= wave_sum(A[" in "".join(source)


def test_a_machine_without_threads(environment):
    place = environment("dataflow")
    done = place.start([str(place.python), str(KERNELS / "streams.py")])
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "clean True\n"
        "add_rows_kernel:\n"
        "    load left, A\n"
        "    load right, B\n"
        "    add total, left, right\n"
        "    store C, total\n"
        "\n"
        "`thread_id([64])` counts threads, and target `dataflow` has none\n"
        "[]\n"
    )


def test_both_beside_each_other(environment):
    place = environment("wavefront", "dataflow", "wavefront_fast")
    for script in ("waves.py", "streams.py"):
        assert place.start([str(place.python), str(KERNELS / script)]).stdout.startswith("clean True\n")


def test_rows_have_owners(environment):
    place = environment("wavefront", "dataflow", "wavefront_fast")
    owners = place.ask(
        """
        import json
        from tirx import backend
        asked = [
            ("target_kinds", "wavefront"), ("target_kinds", "dataflow"), ("namespaces", "wave_fast"), ("target_tags", "toy/big"),
            ("layout_axes", "wavelane"), ("storage_scopes", "lds"), ("storage_scopes", "flow.bank"), ("target_kinds", "generic"),
        ]
        for kind, key in asked:
            assert backend.find(kind, key) is not None, (kind, key)
        print(json.dumps([str(backend.registry().owner(*pair)).rpartition(" ")[0] for pair in asked]))
        """
    )  # fmt: skip
    assert owners == [
        "tirx-toy-wavefront", "tirx-toy-dataflow", "tirx-toy-wavefront-fast", "tirx-toy-wavefront",
        "tirx-toy-wavefront", "tirx-toy-wavefront", "tirx-toy-dataflow", "tirx-core",
    ]  # fmt: skip


EXTENSION = """
    import json, sys
    from tirx import backend
    backend.load("wavefront")
    acting = backend.registry(sys.argv[1:]).entries("passes")
    print(json.dumps([backend.is_loaded("wavefront.fast"), [f"{owner}: {row.step.name}" for row, owner in acting]]))
"""


def test_an_extension_acts_when_it_is_enabled(environment):
    place = environment("wavefront", "dataflow", "wavefront_fast")
    assert place.ask(EXTENSION) == [True, []]
    enabled = [True, ["tirx-toy-wavefront-fast 0.3: mark"]]
    assert place.ask(EXTENSION, TIRX_EXTENSIONS="wavefront.fast") == enabled
    assert place.ask(EXTENSION.replace("sys.argv[1:]", "['wavefront.fast']")) == enabled


def test_a_kernel_that_uses_an_extension(environment):
    place = environment("wavefront", "dataflow", "wavefront_fast")
    done = place.start([str(place.python), str(KERNELS / "fast.py")])
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "clean True",
        "False True",  # its pass ran: not enabled, enabled
        f"tirx-core {place.version('tirx-core')}, tirx-toy-wavefront 1.0, tirx-toy-wavefront-fast 0.3",
        "[]",
    ]
    enabled = place.start([str(place.python), str(KERNELS / "fast.py")], TIRX_EXTENSIONS="wavefront.fast")
    assert enabled.stdout.splitlines()[1] == "True True"


def test_tile_operations_of_a_stranger_and_of_a_strangers_extension(environment):
    place = environment("wavefront", "dataflow", "wavefront_fast")
    done = place.start([str(place.python), str(KERNELS / "tiles.py")])
    assert done.returncode == 0, done.stderr
    plain, fast, *explained, meaning, loaded = done.stdout.splitlines()
    assert plain == "clean True wave_copy wave_rotate"
    assert fast == "clean True even_copy wave_rotate"
    assert (meaning, loaded) == ("True", "[]")
    assert [line.strip() for line in explained if "->" in line or "fits" in line] == [
        "-> `even_copy` of tirx-toy-wavefront-fast 0.3, priority 50",
        "`wave_copy` of tirx-toy-wavefront 1.0, priority 10: fits too",
        "-> `wave_rotate` of tirx-toy-wavefront 1.0, priority 10",
    ]
    assert "  tirx-toy-wavefront-fast 0.3" in explained  # it is among what was used
    enabled = place.start([str(place.python), str(KERNELS / "tiles.py")], TIRX_EXTENSIONS="wavefront.fast")
    assert enabled.stdout.splitlines()[0] == "clean True even_copy wave_rotate"


def test_a_strangers_machine_runs_cores_variants(environment):
    place = environment("wavefront")
    done = place.start([str(place.python), str(KERNELS / "neutral.py")])
    assert done.returncode == 0, done.stderr
    for owner, lines in (("tirx-lists", slice(0, 3)), ("tirx-core", slice(3, 6))):
        assert done.stdout.splitlines()[lines] == [
            "clean True True",
            "copy_async:vec_auto mul:mixed sum:shared copy:vec_auto add:reg max:local copy:vec_auto",
            f"{{'{owner}'}}",
        ]


@pytest.mark.parametrize("name", ["wavefront", "dataflow"])
def test_a_missing_backend_is_named(environment, name):
    place = environment()
    done = place.run(f"import tirx; tirx.Target({name!r})")
    assert f"TargetError: there is no target kind `{name}`" in done.stderr


def test_a_name_of_a_backend_that_is_kept_out(environment):
    place = environment("wavefront")
    done = place.run("from tirx import script as Tx; Tx.wave", TIRX_BACKENDS="")
    assert "the language has no `wave`" in done.stderr
    assert "tirx-toy-wavefront 1.0 offers it, but is DISABLED: TIRX_BACKENDS is empty" in done.stderr
