"""`Tx.ptx`: instructions as chains of their words, checked word by word and then against their operands.

    Tx.ptx.ld.global_.v4.f32(a, b, c, d, source.ptr_to([i]))
    Tx.ptx["mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"](...)

The second way takes the text of the manual.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from tirx.intrinsic import enter
from tirx.intrinsic.core.memory import handle_add_byte_offset
from tirx.ir import Call, Expr, as_expr, cast, current_span
from tirx.support.errors import ScriptError
from tirx.support.span import pin
from tirx.support.suggest import did_you_mean

from .forms import Form, assign, forms_of, made_forms, rows_of
from .names import ALIASES, FAMILIES, python_name, token_of
from .nearest import family_for, misplaced, nearest
from .operands import SINK, MisfitError, bound
from .registers import sreg
from .syntax import Row

__all__ = ["Chain", "Ptx", "UnknownInstructionError", "ptx"]


class UnknownInstructionError(ScriptError, AttributeError, KeyError):
    """A word or a combination of words that no row of the tables has."""

    def __str__(self) -> str:
        return ScriptError.__str__(self)


def _unknown(message: str, hint: str | None) -> NoReturn:
    raise UnknownInstructionError(message, span=current_span(), hint=hint)


class Chain:
    """An instruction as far as its words are given. Call it with its operands; further words are attributes."""

    def __init__(self, family: str, tokens: tuple[str, ...]) -> None:
        self._family = family
        self._tokens = tokens
        self._forms: dict[int, tuple[Form, ...]] | None = None

    def __getattr__(self, name: str) -> Chain:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _PROPERTIES:  # it failed with an error that is an AttributeError too
            getter = _PROPERTIES[name].fget
            assert getter is not None
            return getter(self)  # type: ignore[no-any-return]
        tokens = (*self._tokens, token_of(name))
        rows = rows_of(self._family)
        if not any(assign(row.slots[1:], tokens, complete=False) is not None for row in rows):
            self._refuse_word(token_of(name))
        made = self.__dict__[name] = Chain(self._family, tokens)
        return made

    def _refuse_word(self, token: str) -> NoReturn:
        following = self._following()
        shown = ", ".join(following[:40]) + (", ..." if len(following) > 40 else "")
        _unknown(
            f"`.{token}` does not go with `{self._text}`",
            did_you_mean(token, following) or (f"these do: {shown}" if following else "it has all of its modifiers"),
        )

    @property
    def _text(self) -> str:
        return ".".join((self._family, *self._tokens))

    def _following(self) -> list[str]:
        """The words that may come next."""
        found: dict[str, None] = {}
        for row in rows_of(self._family):
            values = assign(row.slots[1:], self._tokens, complete=False)
            if values is not None:
                found.update((word, None) for slot in row.slots[1:] if slot.name not in values for word in slot.choices)
        rows = rows_of(self._family)
        return [
            word
            for word in found
            if any(assign(row.slots[1:], (*self._tokens, word), complete=False) is not None for row in rows)
        ]

    def __dir__(self) -> list[str]:
        names = [python_name(word) or f"_{word}" for word in self._following()]
        return sorted({*names, "archs", "effects", "forms", "mnemonic", "operands", "section"})

    def __repr__(self) -> str:
        return f"<PTX {self._text}>"

    # ---- what is known of it --------------------------------------------------------------------------------------------

    @property
    def forms(self) -> tuple[Form, ...]:
        """The exact forms: more than one where operands may be left out or differ in type."""
        return tuple(form for group in self._resolved().values() for form in group)

    @property
    def mnemonic(self) -> str:
        """The instruction with all modifiers in PTX's order."""
        return self.forms[0].mnemonic

    @property
    def archs(self) -> tuple[str, ...]:
        """The architectures that have it."""
        return max((form.requires.available for form in self.forms if form.requires is not None), key=len)

    @property
    def operands(self) -> tuple[str, ...]:
        """Its operands in order, of the longest form."""
        return tuple(part.text for part in max(self.forms, key=lambda form: form.arity).parts)

    @property
    def effects(self) -> str:
        """What it does besides computing: `pure`, `read`, `write`, `atomic`, `async`, `warp`, `barrier`, `control`, ..."""
        return self.forms[0].note.get("effect", "pure")

    @property
    def section(self) -> str:
        """Where the manual describes it."""
        row = self.forms[0].row
        return f"PTX ISA {row.section}, {row.title}"

    # ---- the call -------------------------------------------------------------------------------------------------------

    def _resolved(self) -> dict[int, tuple[Form, ...]]:
        """The forms by their number of operands."""
        if self._forms is None:
            complete: list[tuple[Row, dict[str, str]]] = []
            for row in rows_of(self._family):
                values = assign(row.slots[1:], self._tokens, complete=True)
                if values is not None:
                    complete.append((row, values))
            kept = [(row, values) for row, values in complete if misplaced(row, values) is None]
            if not kept:
                self._refuse_form(complete)
            mnemonics = {made_forms(row, values, 0)[0].mnemonic for row, values in kept}
            forms = [form for mnemonic in mnemonics for form in forms_of(mnemonic)]
            self._forms = {}
            for form in forms:
                self._forms[form.arity] = (*self._forms.get(form.arity, ()), form)
        return self._forms

    def _refuse_form(self, complete: Sequence[tuple[Row, dict[str, str]]]) -> NoReturn:
        hint = nearest(self._family, self._tokens)
        if complete:
            _unknown(f"there is no `{self._text}`: {misplaced(*complete[0])}", hint)
        missing = _missing(self._family, self._tokens)
        _unknown(f"`{self._text}` lacks {missing}", hint)

    def __call__(self, *args: Any, pred: Any = None, preserve_dst: bool = False) -> Call:
        """The call with its operands. `pred` decides whether it happens; `preserve_dst` keeps what was there where it does not."""
        known = self._forms or self._resolved()
        forms = known.get(len(args))
        if forms is None:
            wanted = tuple(arg for arg in args if arg is not SINK)  # `_` for a whole vector, or where it stands anyway
            forms = known.get(len(wanted))
            if forms is None or len(wanted) == len(args):
                self._refuse_count(len(args))
            args = wanted
        span = current_span()
        release = pin(span)  # operands that become expressions belong to this line too: it is looked for once
        try:
            form, values = (forms[0], bound(forms[0], args)) if len(forms) == 1 else _first_fit(forms, args)
            if pred is not None:
                form = form.with_guard(bool(preserve_dst))
                values.append(predicate(pred))
        finally:
            release()
        return enter(Call(form.answer, form, tuple(values), form.attributes, span=span))

    def _refuse_count(self, count: int) -> NoReturn:
        ways = [f"({', '.join(part.name for part in form.parts)})" for form in self.forms]
        raise ScriptError(
            f"{self.mnemonic} takes {' or '.join(ways)}, and is called with {count} operand{'s' if count != 1 else ''}",
            span=current_span(),
        )


_PROPERTIES = {name: value for name, value in vars(Chain).items() if isinstance(value, property)}


def _first_fit(forms: Sequence[Form], args: Sequence[Any]) -> tuple[Form, list[Expr]]:
    """The form whose operands take the arguments; what the first one says where none does."""
    first: MisfitError | None = None
    for form in forms:
        made = _tried(form, args)
        if not isinstance(made, MisfitError):
            return form, made
        first = first or made
    assert first is not None
    raise first


def _tried(form: Form, args: Sequence[Any]) -> list[Expr] | MisfitError:
    try:
        return bound(form, args)
    except MisfitError as problem:
        return problem


def _missing(family: str, tokens: Sequence[str]) -> str:
    """The modifiers that the row that is nearest to complete still needs."""
    best: list[str] | None = None
    for row in rows_of(family):
        values = assign(row.slots[1:], tokens, complete=False)
        if values is not None:
            left = [_choice(slot.choices) for slot in row.slots[1:] if slot.name not in values and not slot.optional]
            best = left if best is None or len(left) < len(best) else best
    return " and ".join(best) if best else "a modifier"


def _choice(words: Sequence[str]) -> str:
    shown = [f".{word}" for word in words[:8]]
    return shown[0] if len(words) == 1 else f"one of {' '.join(shown)}{' ...' if len(words) > 8 else ''}"


def predicate(value: Any) -> Expr:
    """A predicate operand: a bool as it is, of an integer whether it differs from 0."""
    expr = as_expr(value)
    return expr if expr.dtype.is_bool else cast(expr, "bool")


class Ptx:
    """The instructions of PTX. Families are attributes; `ptx["exact.mnemonic"]` takes the text of the manual."""

    SINK = SINK

    def __getattr__(self, name: str) -> Chain:
        if name.startswith("__"):
            raise AttributeError(name)
        word = token_of(name)
        family, *tokens = ALIASES.get(word, word).split(".")
        if family not in FAMILIES:
            _unknown(
                f"PTX has no instruction `{word}`",
                family_for(word),
            )
        made = self.__dict__[name] = Chain(family, tuple(tokens))
        return made

    def __getitem__(self, mnemonic: str) -> Chain:
        made = _exact.get(mnemonic)
        if made is None:
            family, *tokens = mnemonic.split(".")
            if family not in FAMILIES:
                _unknown(f"PTX has no instruction `{family}`", did_you_mean(family, FAMILIES))
            made = Chain(family, tuple(tokens))
            written = made.mnemonic
            if written != mnemonic:
                _unknown(f"there is no `{mnemonic}`", f"PTX writes `{written}`")
            _exact[mnemonic] = made
        return made

    def __dir__(self) -> list[str]:
        names = [python_name(family) or family for family in FAMILIES]
        return sorted({*names, *ALIASES, "SINK", "addr", "pred", "sreg"})

    def sreg(self, name: str) -> Call:
        """The value of a special register, by the name that PTX gives it (`"laneid"`, `"tid.x"`), in its own type."""
        return sreg(name)

    def pred(self, value: Any) -> Expr:
        """`value` as a predicate operand: an integer counts as true where it is not 0."""
        return predicate(value)

    def addr(self, base: Any, byte_offset: Any) -> Expr:
        """The address `byte_offset` bytes behind a pointer, or behind a shared address in a register."""
        expr = as_expr(getattr(base, "data", base))
        if expr.dtype.is_handle:
            return handle_add_byte_offset(expr, byte_offset)
        moved: Expr = expr + cast(byte_offset, expr.dtype)
        return moved


_exact: dict[str, Chain] = {}
ptx = Ptx()
