"""`Let` expressions become declarations before their statement, where evaluating them early is the same."""

from __future__ import annotations

from ..ir import And, Call, Expr, Let, Or, Var, rewrite, substitute

__all__ = ["hoisted"]


def hoisted(value: Expr) -> tuple[Expr, list[tuple[Var, Expr]]]:
    """`value` without its lets, and what to declare before it, in order.

    A let below an operand that may not be evaluated (`x and ...`, a branch of `if_then_else`) is written out instead.
    """
    bindings: list[tuple[Var, Expr]] = []

    def lift(node: Let) -> Expr:
        bindings.append((node.var, node.value))
        return node.body

    def lazy(node: Expr) -> Expr | None:
        return written_out(node) if node.has(Let) else None

    def call(node: Call) -> Expr | None:
        return lazy(node) if node.op.name == "if_then_else" else None

    return rewrite(value, {Let: lift}, enter={And: lazy, Or: lazy, Call: call}), bindings


def written_out(value: Expr) -> Expr:
    """`value` with every let replaced by what it stands for."""
    return rewrite(value, {Let: lambda node: substitute(node.body, {node.var: node.value})})
