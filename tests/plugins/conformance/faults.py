"""Faults seeded into the toys: each is one edit, and the check that must find it."""

from __future__ import annotations

from typing import NamedTuple

from tests.plugins.conformance.toys import Edit


class Fault(NamedTuple):
    """What is wrong, the check that must say so, a part of its message, and the edits that make it so."""

    name: str
    check: str
    message: str
    edits: tuple[Edit, ...]
    toy: str = "wavefront"

    def __str__(self) -> str:
        return self.name


def fault(name: str, check: str, message: str, file: str, old: str, new: str, toy: str = "wavefront") -> Fault:
    return Fault(name, check, message, (Edit(file, old, new),), toy)


def at_import(name: str, check: str, message: str, code: str) -> Fault:
    """Something that the plugin does when it is imported."""
    return fault(name, check, message, "plugin.py", "", code)


PASS = """
from tirx.transform.pipeline import Pass
{code}
PIPELINE = Pipeline("wavefront", lower=(Anchor("wavefront:before_lower"), *SIMT_LOWER, Pass("odd", _odd)), prepare=SIMT_PREPARE)
"""


def in_pass(name: str, check: str, message: str, code: str) -> Fault:
    """A pass `odd` at the end of `lower`."""
    return fault(name, check, message, "kind.py", "", PASS.format(code=code))


GENERATE = '    return CGenerator(DIALECT, _emission, target).module(module, "wave-c", ".wave")\n'


def in_source(name: str, check: str, message: str, code: str) -> Fault:
    """Code around the generator, which gives `source`."""
    return fault(
        name,
        check,
        message,
        "codegen.py",
        GENERATE,
        f"    source = {GENERATE.strip().removeprefix('return ')}\n{code}    return source\n",
    )


FAULTS = (
    fault("an API that core does not speak", "manifest.api_window", "plugin API [9]", "pyproject.toml", "tirx.api.v1", "tirx.api.v9"),
    fault("an entry point that is no module", "manifest.found", "is INCOMPATIBLE", "pyproject.toml", '= "toy_wavefront.plugin"', '= "toy_wavefront plugin"'),
    fault("no dependency on core", "manifest.requires_core", "does not depend", "pyproject.toml", '"tirx-core>=0.1"', ""),
    fault("one version of core", "manifest.requires_core", "one version", "pyproject.toml", "tirx-core>=0.1", "tirx-core==0.1.0"),
    fault("a scope that is not promised", "manifest.promises", "'lds'", "pyproject.toml", '"scope.lds" = "toy_wavefront.plugin"\n', ""),
    at_import("an exception", "import.alive", "ImportError: no driver", 'raise ImportError("no driver")'),
    at_import("an end of the process", "import.alive", "status 3", "import os; os._exit(3)"),
    at_import("a sleep", "import.budget", "waits for", "import time; time.sleep(1)"),
    at_import("a computation", "import.budget", "computes for", "import time\nend = time.process_time() + 1\nwhile time.process_time() < end: pass"),
    fault("NumPy", "import.libraries", "imports numpy", "op.py", "from tirx.intrinsic", "import numpy\nfrom tirx.intrinsic"),
    at_import("a print", "import.silent", "prints", 'print("hello")'),
    at_import("a fork", "import.processes", "os.fork", "import os\nif os.fork() == 0: os._exit(0)"),
    at_import("a command", "import.processes", "os.system", 'import os; os.system("true")'),
    at_import("a file", "import.no_work", "for writing", 'open("cache.txt", "w").close()'),
    at_import("a connection", "import.no_work", "socket", "import socket; socket.socket().bind(('127.0.0.1', 0))"),
    at_import("a setting", "import.process_state", "os.environ", 'import os; os.environ["TOY"] = "1"'),
    at_import("a thread", "import.process_state", "threads", "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()"),
    at_import("a patched function", "import.core_untouched", "tirx.driver.compile comes from", "import tirx.driver\ntirx.driver.compile = lambda *a: None"),
    at_import("a patched method", "import.core_untouched", "tirx.ir.expr.Expr.__add__", "from tirx.ir import Expr\nExpr.__add__ = lambda a, b: a"),
    at_import("a patched builtin", "import.core_untouched", "builtins.len was replaced", "import builtins\nbuiltins.len = lambda x, _len=len: _len(x)"),
    at_import("a load of itself that needs core", "import.either_order", "AssertionError", 'import sys; assert "tirx.wiring" in sys.modules'),
    fault("rows that change", "load.unloads", "other rows of target_tags", "plugin.py", 'return [TargetTag("toy/big"', '_SEEN.append(1)\n    return [TargetTag(f"toy/big{len(_SEEN)}"')._replace(edits=(
        Edit("plugin.py", 'return [TargetTag("toy/big"', '_SEEN.append(1)\n    return [TargetTag(f"toy/big{len(_SEEN)}"'), Edit("plugin.py", "", "_SEEN: list[int] = []"))),
    fault("a hook without rows", "load.same_rows", "tirx_target_tags gives no row", "plugin.py", 'return [TargetTag("toy/big", "wavefront", {"compute_units": 60}, source="made up")]', "return []")._replace(edits=(
        Edit("plugin.py", 'return [TargetTag("toy/big", "wavefront", {"compute_units": 60}, source="made up")]', "return []"),
        Edit("pyproject.toml", '"tags.toy" = "toy_wavefront.plugin"\n', ""))),
    in_source("source that depends on the hash seed", "load.processes", "another source", '    source.text += f"// {hash(module.functions.__class__.__name__)}\\n"\n'),
    in_source("source that depends on the thread", "load.threads", "different sources", '    import threading\n    source.text += f"// {threading.get_ident()}\\n"\n'),
    fault("a place that is not there", "rows.places", "generat", "plugin.py", "toy_wavefront.codegen:generate", "toy_wavefront.codegen:generat"),
    fault("a kind that is not there", "rows.kinds", "`wavfront`", "op.py", 'Emission("tvm_storage_sync", "wavefront"', 'Emission("tvm_storage_sync", "wavfront"'),
    fault("no doc", "rows.documented", "layout_axes wavelane has no doc", "plugin.py", 'doc="index of a thread in its wave of 64"', 'doc=""'),
    fault("rows that travel by value", "rows.pickled", "wave.sum comes out", "op.py", "SUM = Intrinsic(", "class Own(Intrinsic):\n    def __reduce__(self):\n        return (make, ())\n\n\ndef make():\n    return Own('wave.sum', doc='x')\n\n\nSUM = Own("),
    fault("an empty namespace", "namespaces.offered", "no public member", "script.py", '__all__ = ["sum"]', "__all__ = []")._replace(edits=(
        Edit("script.py", "def sum(", "def _sum("), Edit("script.py", "from tirx.intrinsic import call", "from tirx.intrinsic import call as _call"),
        Edit("script.py", "return call(SUM", "return _call(_SUM"), Edit("script.py", "from tirx.ir import Call, Expr", "from tirx.ir import Call as _Call"),
        Edit("script.py", "from .op import SUM", "from .op import SUM as _SUM"), Edit("script.py", '__all__ = ["sum"]', ""), Edit("script.py", "from __future__ import annotations", ""),
        Edit("script.py", "value: Expr | float) -> Call", "value: object) -> _Call"))),
    fault("a function without types", "namespaces.signatures", "no type of value", "script.py", "value: Expr | float", "value"),
    fault("a function without a docstring", "namespaces.docs", "Tx.wave.sum has no docstring", "script.py", '    """The sum of `value` over the wave, in every thread of it."""\n', ""),
    fault("a kind that cannot be made", "targets.kinds", "no target of kind", "kind.py", "    limits=_limits,\n)", "    limits=_limits,\n    complete=_refuse,\n)")._replace(edits=(
        Edit("kind.py", "    limits=_limits,\n)", "    limits=_limits,\n    complete=_refuse,\n)"),
        Edit("kind.py", "WAVEFRONT = TargetKind(", "from tirx.support.errors import TargetError\n\n\ndef _refuse(attrs: dict[str, Any]) -> dict[str, Any]:\n    raise TargetError('never')\n\n\nWAVEFRONT = TargetKind("))),
    fault("a default of another type", "targets.attributes", "no int", "kind.py", "Attribute(int, 20,", 'Attribute(int, "20",'),
    fault("a tag with an unknown attribute", "targets.tags", "toy/big", "plugin.py", '"compute_units": 60', '"compute_unit": 60'),
    fault("a construct by a wrong name", "targets.capabilities", "construct `barrier`", "kind.py", '"barriers"', '"barrier"'),
    fault("a limit of nothing", "targets.limits", "`vector_bytes` is 0", "kind.py", '"vector_bytes": 16', '"vector_bytes": 0'),
    fault("a width inside no level", "targets.scope_model", "inside `wave`", "kind.py", 'widths={"warp": WIDTH}', 'widths={"wave": WIDTH}'),
    fault("a memory of no level", "targets.storage_scopes", "level `group`", "kind.py", 'owner_level="cta"', 'owner_level="group"'),
    fault("an axis of no level", "targets.layout_axes", "level `lane`", "plugin.py", 'level="thread", within="warp"', 'level="lane", within="warp"'),
    fault("an anchor of another kind", "pipelines.declared", "does not begin with", "kind.py", "wavefront:before_lower", "wave:before_lower"),
    in_pass("a pass that counts", "pipelines.contracts", "answers something else", "_RUNS = []\ndef _odd(module, context):\n    _RUNS.append(1)\n    return module.map(lambda func: func.with_attr('toy.runs', len(_RUNS)))"),
    in_pass("a pass that loses storage", "pipelines.contracts", "breaks the program", "from tirx.ir import Alloc, rewrite\ndef _odd(module, context):\n    return module.map(lambda func: func.with_body(rewrite(func.body, {Alloc: lambda node: []})))"),
    fault("no host", "pipelines.stages", "not a host's and a device's", "kind.py", "*SIMT_LOWER", "*SIMT_LOWER[:-1]"),
    in_source("a counter in the source", "codegen.deterministic", "another source", '    _RUNS.append(1)\n    source.text += f"// {len(_RUNS)}\\n"\n')._replace(edits=(
        Edit("codegen.py", GENERATE, f"    source = {GENERATE.strip().removeprefix('return ')}\n    _RUNS.append(1)\n    source.text += f'// {{len(_RUNS)}}'\n    return source\n"), Edit("codegen.py", "", "_RUNS: list[int] = []"))),
    in_source("source that marks what it has written", "codegen.pure", "changes the module", '    for func in module:\n        func.attrs["written"] = True\n'),
    fault("no suffix", "codegen.described", "suffix 'wave'", "codegen.py", '".wave"', '"wave"'),
    fault("no reserved words", "codegen.names", "called `return` keeps that name", "codegen.py", "break continue return", "break continue"),
    fault("an operand that is not there", "intrinsics.rules", "names operand 1", "op.py", "wave_sum({0})", "wave_sum({1})"),
    fault("an intrinsic that nothing writes", "intrinsics.emittable", "nothing writes `wave.sum`", "op.py", '    Emission("wave.sum", "wavefront", "wave_sum({0})", helpers=("wave_sum",)),\n', ""),
    fault("an instruction that is left out", "intrinsics.emittable", "nothing is written for `flow.add`", "codegen.py", 'startswith("flow.")', 'startswith("flow.l")', "dataflow"),
    fault("a meaning without operands", "intrinsics.meanings", "takes 1 arguments", "sim.py", "def wave_sum(ctx: SimContext, value: Any)", "def wave_sum(ctx: SimContext)"),
    fault("a variant that fits nowhere", "dispatch.selected", "`wave_copy` of copy fits nowhere", "tile.py", "sizes == [1, 1]", "sizes == [0, 1]"),
    fault("a predicate that raises", "dispatch.refusals", "ZeroDivisionError", "tile.py", "    sizes = [", "    1 // 0\n    sizes = ["),
    fault("a refusal without a reason", "dispatch.refusals", "without a reason", "tile.py", '"only rows of one dimension"', '""'),
    fault("a variant that computes something else", "dispatch.results", "wave_copy", "tile.py", "_each(call, context, 0)", "_each(call, context, 1)"),
    fault("a meaning of another shape", "dispatch.meanings", "the shape (255,)", "tile.py", "return src[[*range(1, len(src)), 0]]", "return src[1:]"),
    fault("a keyword with a wrong default", "dispatch.config", "no int", "tile.py", '"wave_copy", emit=_copy,', '"wave_copy", emit=_copy, config=(ConfigKey("turns", int, "4", "how many"),),')._replace(edits=(
        Edit("tile.py", '"wave_copy", emit=_copy,', '"wave_copy", emit=_copy, config=(ConfigKey("turns", int, "4", "how many"),),'), Edit("tile.py", "import Predicate,", "import ConfigKey, Predicate,"))),
    fault("vectors that are declared and not written", "construct.vectors", "vectors on wavefront", "kind.py", '"while",', '"while", "vectors",'),
    fault("shuffles that nothing writes", "construct.shuffles", "cannot be written", "op.py", '"_xor")', ")"),
    fault("a dtype that has no spelling", "targets.dtypes", "dtype `float16` is declared", "kind.py", '"float32")', '"float32", "float16")'),
    fault("no verification", "targets.refuses_too_much", "taken all the same", "kind.py", "*SIMT_LOWER", '*(step for step in SIMT_LOWER if getattr(step, "name", "") != "verify")'),
    fault("threads on a machine without", "targets.refuses_threads", "taken all the same", "kind.py", "bind_target, mark_kernels, verify, ", "bind_target, mark_kernels, ", "dataflow"),
    fault("no simulator", "simulator.declared", "says nothing of how it is simulated", "plugin.py", '@hookimpl\ndef tirx_simulators() -> Iterable[Simulator]:\n    """Threads."""\n    return [Simulator("wavefront", "simt")]', ""),
    in_pass("a pass that loses barriers", "kernel.row_sums", "the simulator says error", "from tirx.ir import Call, Evaluate, rewrite\ndef _odd(module, context):\n    lost = lambda node: [] if isinstance(node.value, Call) and node.value.op.name == 'tvm_storage_sync' else node\n    return module.map(lambda func: func.with_body(rewrite(func.body, {Evaluate: lost})))"),
)  # fmt: skip
