"""One environment with everything that a plugin can do wrong, and one good backend in the middle of it."""

from __future__ import annotations

import json

import pytest

GOOD = ("plain", "good_extension")
BROKEN = (
    "raises_on_import",
    "raises_in_hook",
    "wrong_type",
    "unknown_hook",
    "unmarked_hook",
    "takes_argument",
    "api_too_new",
    "api_too_old",
    "rival",
    "twin_one",
    "twin_two",
    "missing_dependency",
    "broken_promise",
    "sys_exit",
    "os_exit",
    "hangs",
    "prints",
    "forks",
    "monkeypatches",
    "no_device",
    "broken_extension",
)

# backend: (state after loading it, what its cause says, what to do says)
EXPECTED = {
    "plain": ("OK", "", ""),
    "plain.addition": ("OK", "", ""),
    "plain.broken": (
        "FAILED",
        "while it was imported: RuntimeError: the extension broke",
        "TIRX_BACKENDS=-plain.broken",
    ),
    "prints": ("OK", "", ""),
    "raises_on_import": (
        "FAILED",
        "while it was imported: ImportError: libfoo.so.9: undefined symbol: bar",
        "TIRX_BACKENDS=-raises_on_import",
    ),
    "raises_in_hook": (
        "FAILED",
        "ZeroDivisionError: in the hook (in hook tirx_target_tags of tirx-toy-raises-in-hook 1.0)",
        "pip install --upgrade tirx-toy-raises-in-hook",
    ),
    "wrong_type": (
        "FAILED",
        "in its hooks: row 1 of tirx_namespaces is an object of type str",
        "its rows are Namespace objects",
    ),
    "unknown_hook": ("FAILED", "there is no hook `tirx_target_kind`", "did you mean `tirx_target_kinds`"),
    "unmarked_hook": ("FAILED", "`tirx_target_kinds` is not marked as a hook", "put @tirx.backend.hookimpl above it"),
    "takes_argument": ("FAILED", "Argument(s) {'target'} are declared in the hookimpl", "hooks take no arguments"),
    "api_too_new": ("INCOMPATIBLE", "it speaks plugin API 99, tirx-core ", "pip install --upgrade tirx-core"),
    "api_too_old": ("INCOMPATIBLE", "it speaks plugin API 0, tirx-core ", "pip install --upgrade tirx-toy-api-too-old"),
    "rival": (
        "FAILED",
        "give 'plain' of namespaces: tirx-toy-plain 1.0 (backend plain) and tirx-toy-rival 1.0",
        "TIRX_BACKENDS=-plain or TIRX_BACKENDS=-rival",
    ),
    "twin": (
        "SHADOWED",
        "2 distributions are called 'twin': tirx-toy-twin-one 1.0",
        "TIRX_BACKENDS=-tirx-toy-twin-one",
    ),
    "missing_dependency": (
        "FAILED",
        "ModuleNotFoundError: No module named 'a_library_that_is_not_installed'",
        "install what tirx-toy-missing-dependency needs",
    ),
    "broken_promise": (
        "FAILED",
        "its manifest promises what its hooks do not give: kind.broken_promise, tags.broken_promise",
        "correct the group tirx.provides of tirx-toy-broken-promise",
    ),
    "sys_exit": ("FAILED", "while it was imported: SystemExit: 0", "TIRX_BACKENDS=-sys_exit"),
    "forks": ("FAILED", "while it was loaded: it forked a process", "start processes when they are needed"),
    "monkeypatches": (
        "FAILED",
        "it replaced names of core, which were put back: tirx.ir.function.PrimFunc.script, tirx.support.suggest.did_you_mean",
        "report it to the authors of tirx-toy-monkeypatches",
    ),
    "no_device": ("UNAVAILABLE", "there is no such device here", "buy one"),
}

DEADLY = {"os_exit", "hangs"}  # only a process of its own can survive these

LOAD_ALL = f"""
    import json, os
    from tirx import backend
    asked = ["plain", *sorted({sorted(set(EXPECTED) - {"plain"})!r})]
    errors = {{}}
    for name in asked:
        try:
            backend.load(name)
        except backend.BackendError as error:
            errors[name] = str(error)
    from tirx.backend import report
    print(json.dumps({{"data": report.backends_data(), "text": report.backends_text(), "errors": errors}}))
"""


@pytest.fixture(scope="module")
def crowd(environment):
    """The environment with all of them."""
    return environment(*GOOD, *BROKEN)


@pytest.fixture(scope="module")
def loaded(crowd):
    """What is known after every backend was asked for, and all that was printed."""
    done = crowd.run(LOAD_ALL)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def probed(crowd):
    """What `tirx backends --probe` says."""
    done = crowd.start([str(crowd.python.parent / "tirx"), "backends", "--json", "--probe", "--timeout", "8"])
    assert done.returncode == 0, done.stderr
    return {item["name"]: item["probe"] for item in json.loads(done.stdout)["backends"] if "probe" in item}


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_said_of_it(loaded, name):
    state, cause, todo = EXPECTED[name]
    record = next(item for item in json.loads(loaded.stdout)["data"]["backends"] if item["name"] == name)
    assert record["state"] == state
    assert cause in record["cause"]
    assert todo in record["todo"]
    assert record["distribution"].startswith("tirx-toy-")
    assert record["version"] == "1.0"
    assert record["entry_point"].startswith(f"{name} = toy_")


@pytest.mark.parametrize("name", [name for name, (state, *_) in EXPECTED.items() if state != "OK"])
def test_asking_for_it_is_an_error_with_all_facts(loaded, name):
    message = json.loads(loaded.stdout)["errors"][name]
    _, cause, todo = EXPECTED[name]
    for fact in (f"`{name}` cannot be used", cause, todo, f"{name} = toy_", "distribution: tirx-toy-"):
        assert fact in message


def test_what_plugins_print_does_not_spoil_the_answer(loaded):
    assert "chatter from Python" in loaded.stderr
    assert "chatter past Python" in loaded.stderr
    assert loaded.stdout.count("\n") == 1


def test_the_table_lists_every_one(loaded):
    text = json.loads(loaded.stdout)["text"]
    for name in (*EXPECTED, *DEADLY):
        assert f"\n{name} " in text


def test_asking_about_them_imports_none(crowd):
    found = crowd.ask(
        """
        import json, sys
        from tirx import backend
        from tirx.backend import report
        report.backends_text(), report.backends_data()
        for item in backend.default_host().candidates():
            backend.why(item.name), backend.info(item.name)
        backend.available(), backend.names("namespaces"), backend.provides("namespace", "plain"), dir(backend)
        print(json.dumps([name for name in sys.modules if name.startswith("toy_") or name == "pluggy"]))
        """
    )
    assert found == []


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*EXPECTED, *DEADLY} - {"plain.broken", "rival"}))
def test_probing_it(probed, name):
    expected = {
        "os_exit": ("FAILED", "it ended its process with exit status 0 while it was loaded", ""),
        "hangs": ("FAILED", "it did not finish within 8 s", ""),
        **EXPECTED,
    }
    state, cause, _ = expected[name]
    if state in ("INCOMPATIBLE", "SHADOWED"):
        assert name not in probed  # there is nothing to try
        return
    assert probed[name]["state"] == state
    assert cause in probed[name]["cause"]
    assert probed[name]["ok"] == (state == "OK")


def test_a_good_backend_is_found_by_name_amid_all_of_them(crowd):
    assert crowd.ask(
        """
        import json
        from tirx import backend
        row = backend.find("namespaces", "addition")
        print(json.dumps([row.name, str(backend.registry().owner("namespaces", "addition"))]))
        """
    ) == ["addition", "tirx-toy-good-extension 1.0"]


def test_a_name_that_two_promise_names_both(crowd):
    message = crowd.ask(
        """
        import json
        from tirx import backend
        try:
            backend.find("namespaces", "plain")
        except backend.BackendError as error:
            print(json.dumps(str(error)))
        """
    )
    assert "`namespace.plain` is promised by tirx-toy-plain 1.0 (backend plain) and tirx-toy-rival 1.0" in message


def test_keeping_them_out(crowd):
    states = crowd.ask(
        """
        import json
        from tirx import backend
        print(json.dumps({item.name: item.state for item in backend.default_host().infos()}))
        """,
        TIRX_BACKENDS="plain,twin,-tirx-toy-twin-one",
    )
    allowed = [name for name, state in states.items() if state == "NOT LOADED"]
    assert allowed == ["plain", "twin"]


def test_a_hang_is_named_and_can_be_interrupted(crowd):
    done = crowd.run(
        """
        import _thread, signal, threading
        from tirx import backend
        signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs inherit that it is ignored
        host = backend.default_host()
        host.slow_after = 0.2
        threading.Timer(1.0, _thread.interrupt_main).start()
        try:
            backend.load("hangs")
        except KeyboardInterrupt:
            print("interrupted", backend.load("plain").__name__)
        """
    )
    assert done.stdout == "interrupted toy_plain\n"
    assert "backend `hangs` (tirx-toy-hangs 1.0) has been loading for 0.2 s" in done.stderr
    assert "TIRX_BACKENDS=-hangs" in done.stderr


def test_the_command_line_lists_them_for_machines_and_people(crowd):
    command = str(crowd.python.parent / "tirx")
    listed = crowd.start([command, "backends", "--json"])
    assert {item["name"] for item in json.loads(listed.stdout)["backends"]} == {*EXPECTED, *DEADLY}
    assert (listed.returncode, listed.stderr) == (0, "")
    told = crowd.start([command, "why", "hangs"])
    assert told.returncode == 0
    assert "entry point   hangs = toy_hangs (group tirx.api.v1)" in told.stdout
    assert "distribution  tirx-toy-hangs 1.0" in told.stdout


KERNEL = """
from tirx import script as Tx

@Tx.prim_func
def scale(x: Tx.Buffer((64,), "float32")):
    Tx.device_entry()
    tx = Tx.thread_id([64])
    x[tx] = x[tx] * 2.0

KERNEL, TARGET = scale, "generic"

def arguments(rng):
    return (rng.standard_normal(64).astype("float32"),)

def expected(x):
    return {"x": x * 2}
"""

# Commands that need no backend; {kernel} is a file. What they print has nothing of the broken ones' own.
HEALTHY = {
    "version": ["--version"],
    "help": ["--help"],
    "run": ["run", "{kernel}"],
    "check": ["check", "{kernel}"],
    "explain": ["explain", "{kernel}"],
    "layout": ["layout", "S[(8, 8) : (8, 1)]"],
    "cache": ["cache"],
    "checks": ["conform", "--list"],
    "completion": ["completion", "bash"],
    "a new one": ["new-backend", "acme", "-o", "{folder}/acme"],
    "a listing": ["backends"],
    "a reason": ["why", "raises_on_import"],
}


@pytest.mark.parametrize("words", HEALTHY.values(), ids=HEALTHY)
def test_commands_that_need_no_broken_plugin_succeed(crowd, tmp_path, words):
    file = tmp_path / "scale.py"
    file.write_text(KERNEL)
    command = [
        str(crowd.python.parent / "tirx"),
        *(word.format(kernel=file, folder=tmp_path / "made") for word in words),
    ]
    done = crowd.start(command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    assert "chatter" not in done.stdout
    assert "Traceback" not in done.stdout


# Commands that show everything that is installed: they try it, and go on without those that no process survives.
WHOLE = {"targets": ["targets"], "stubs": ["stubs", "-o", "{folder}"], "doctor": ["doctor"]}


@pytest.mark.parametrize("words", WHOLE.values(), ids=WHOLE)
def test_commands_that_show_everything_name_what_they_leave_out(crowd, tmp_path, words):
    command = [str(crowd.python.parent / "tirx"), *(word.format(folder=tmp_path / "made") for word in words)]
    done = crowd.start(command, TIRX_BACKENDS="-hangs")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert "backend `os_exit` (tirx-toy-os-exit 1.0, os_exit = toy_os_exit (group tirx.api.v1)) cannot be used" in said
    assert "it ended its process with exit status 0 while it was loaded" in said
    assert "work without it: TIRX_BACKENDS=-os_exit" in said


@pytest.mark.slow
def test_a_doctor_does_not_wait_for_ever(crowd):
    done = crowd.start([str(crowd.python.parent / "tirx"), "doctor", "--json"], TIRX_BACKENDS="plain,hangs")
    found = {item["what"]: item for item in json.loads(done.stdout)}
    assert found["backend plain"]["state"] == "ok"
    assert "it did not finish within 10 s" in found["backend hangs"]["found"]
    assert "TIRX_BACKENDS=-hangs" in found["backend hangs"]["advice"]


@pytest.mark.parametrize(
    "name", [name for name in BROKEN if name not in ("twin_one", "twin_two", "no_device", "prints")]
)
def test_why_tells_five_facts_and_succeeds(crowd, name):
    """Entry point, distribution, version, cause, what to do: of what is broken, after it was asked for in the same process."""
    backend = {"broken_extension": "plain.broken"}.get(name, name)
    if backend in DEADLY:
        return
    text = crowd.ask(
        f"""
        import json
        from tirx import backend
        for name in ("plain", {backend!r}):
            try:
                backend.load(name)
            except backend.BackendError:
                pass
        print(json.dumps(backend.why({backend!r})))
        """
    )
    state, cause, todo = EXPECTED[backend]
    assert f"{backend}: {state}\n" in text
    assert f"entry point   {backend} = toy_" in text
    assert "distribution  tirx-toy-" in text
    assert " 1.0, in " in text
    assert cause in text
    assert todo in text
    assert "what to do    " in text
