"""Rewriting: the syntax tree of a kernel becomes a Python function that builds the kernel when it runs.

In the order in which a function passes through them:

* `check`: what a kernel cannot contain, all of it reported at once
* `names`: which names are the function's own
* `expressions`, `statements`: the rewriting; their docstrings are the tables of what becomes what
* `nodes`: making tree nodes that stand where the author's text stands
* `function`: the whole function, compiled under its own file name, bound to its closure
* `positions`: columns on Python 3.10
* `runtime/`: what the rewritten text calls: `scope` (names, assignments), `blocks` (what is alive where), `control` (branches and
  loops), `operators`

A condition, loop or value that Python knows takes Python's way. Everything else becomes a call of the public builder.
"""
