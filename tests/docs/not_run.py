"""Blocks of code in the documentation that no test runs, each by its first words, and why.

Everything else runs or is compared with what came out: a `text` block is output unless it stands here. Blocks of generated pages are
held by their generators.
"""

from __future__ import annotations

__all__ = ["NOT_RUN"]

DRAWING = "a drawing"
INSTALLS = "installs; the CI does it"
PLACEHOLDER = "names that stand for the reader's own"
SETTINGS = "settings, for programs that are not here"
OTHER = "of another implementation"

NOT_RUN: dict[str, dict[str, str]] = {
    "README.md": {"python3 run.py demo": INSTALLS},
    "docs/architecture.md": {"Python function --script": DRAWING, "cli  testing  driver": "held by tests/architecture"},
    "docs/how-to/check-a-backend.md": {"tirx conform acme": PLACEHOLDER, "+ codegen.deterministic": PLACEHOLDER},
    "docs/how-to/come-from-triton.md": {"@triton.jit": OTHER},
    "docs/how-to/extend-a-backend.md": {"[tool.tirx]": SETTINGS},
    "docs/how-to/port-a-kernel.md": {
        "-from tvm.script": OTHER,
        "ported.py:98:54": "the kernel as it was before its fix",
    },
    "docs/how-to/set-up-your-editor.md": {
        "[tool.mypy]": SETTINGS,
        "tirx completion bash": "writes to the reader's home",
    },
    "docs/how-to/write-a-backend.md": {"pip install -e": INSTALLS},
    "docs/reference/plugins.md": {
        "tirx backends    ": "a list of commands",
        "[project.entry-points": "read by installers, as in the plugins of the tests",
    },
    "docs/tutorial.md": {"python3 -m venv": INSTALLS, "executable = tirx.compile": "needs a GPU"},
}
