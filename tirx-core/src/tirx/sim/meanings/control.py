"""Choice and hints. Generated code understands most of these itself; the functions serve the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["assume", "filter", "if_then_else", "launch_index", "likely", "selector", "uniform"]


def if_then_else(ctx: Any, condition: Any, true_value: Any, false_value: Any) -> Any:
    """One of two values."""
    return np.where(condition, true_value, false_value)


def likely(ctx: Any, condition: Any) -> Any:
    """The condition."""
    return condition


def assume(ctx: Any, condition: Any) -> None:
    """A promise that must hold."""
    ctx.finding("assumption", "a condition that the kernel promises does not hold", ~np.asarray(condition, bool))


def filter(ctx: Any, var: Any, condition: Any) -> Any:  # the language's name
    """The condition."""
    return condition


def selector(ctx: Any, var: Any, condition: Any) -> Any:
    """The condition."""
    return condition


def uniform(ctx: Any, value: Any, *, level: str) -> Any:
    """The value."""
    return value


def launch_index(ctx: Any, *, axis: str) -> Any:
    """Position along a launch axis."""
    return ctx.axis(axis)
