"""How an intrinsic is written in a target's source."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ir import Call
from .requirement import Requirement

TYPE_CHECKING = False  # type checkers take it as true; importing `typing` for it would cost 10 ms at start-up
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Emission", "check_emission"]

if TYPE_CHECKING:
    Rule = str | Callable[[Any, Call, Sequence[str]], str]


class Emission:
    """A row of hook `tirx_emissions`: (intrinsic of any owner, target kind) -> source text.

    * `rule`: a format such as `"barrier({0})"`, whose fields are the operands' texts by position and the attributes by
      name; or a function `(printer, call, texts) -> text`, where `printer` is the C-family printer (see `tirx.codegen`)
    * `requires`: what the target must have; checked when a target is bound, at the call's line
    * `helpers`: names of helper definitions that the text uses; the backend's codegen knows them
    * `includes`: headers or modules that the text needs
    """

    __slots__ = ("helpers", "includes", "intrinsic", "kind", "requires", "rule")

    def __init__(
        self,
        intrinsic: str,
        kind: str,
        rule: Rule,
        *,
        requires: Requirement | None = None,
        helpers: Sequence[str] = (),
        includes: Sequence[str] = (),
    ) -> None:
        self.intrinsic = intrinsic
        self.kind = kind
        self.rule = rule
        self.requires = requires
        self.helpers = tuple(helpers)
        self.includes = tuple(includes)


def check_emission(row: Emission) -> None:
    """Raise `ValueError` when a row is malformed."""
    if not isinstance(row, Emission):
        raise ValueError(f"expected an Emission, got {type(row).__name__}")
    if not (row.intrinsic and row.kind and row.rule):
        raise ValueError("an emission names its intrinsic, its target kind and a rule")
