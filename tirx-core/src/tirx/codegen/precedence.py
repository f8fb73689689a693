"""How tightly C's operators bind, and text that knows it."""

from __future__ import annotations

import re
from typing import NamedTuple

from ..ir import (
    EQ,
    GE,
    GT,
    LE,
    LT,
    NE,
    Add,
    And,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    Div,
    Expr,
    LShift,
    Mod,
    Mul,
    Or,
    RShift,
    Sub,
)  # fmt: skip

__all__ = ["ARGUMENT", "BINARY", "POSTFIX", "PRIMARY", "TERNARY", "UNARY", "Operator", "Term", "term_of"]

PRIMARY, POSTFIX, UNARY = 16, 15, 14
MUL, ADD, SHIFT, RELATION, EQUALITY, BIT_AND, BIT_XOR, BIT_OR, AND, OR, TERNARY, ARGUMENT = range(13, 1, -1)


class Term(NamedTuple):
    """Source text of an expression and the level of its outermost operator."""

    text: str
    level: int

    def at(self, level: int) -> str:
        """The text, in parentheses when it binds more loosely than `level`."""
        return self.text if self.level >= level else f"({self.text})"


class Operator(NamedTuple):
    """An infix operator: its symbol, its own level, and the levels that its left and right operands need.

    Where the operands' levels exceed what the grammar asks for, people would have to look the precedence up.
    """

    symbol: str
    level: int
    left: int
    right: int


BINARY: dict[type[Expr], Operator] = {
    Add: Operator("+", ADD, ADD, MUL),
    Sub: Operator("-", ADD, ADD, MUL),
    Mul: Operator("*", MUL, MUL, UNARY),
    Div: Operator("/", MUL, MUL, UNARY),
    Mod: Operator("%", MUL, MUL, UNARY),
    LShift: Operator("<<", SHIFT, UNARY, UNARY),
    RShift: Operator(">>", SHIFT, UNARY, UNARY),
    BitwiseAnd: Operator("&", BIT_AND, UNARY, UNARY),
    BitwiseXor: Operator("^", BIT_XOR, UNARY, UNARY),
    BitwiseOr: Operator("|", BIT_OR, UNARY, UNARY),
    LT: Operator("<", RELATION, SHIFT, SHIFT),
    LE: Operator("<=", RELATION, SHIFT, SHIFT),
    GT: Operator(">", RELATION, SHIFT, SHIFT),
    GE: Operator(">=", RELATION, SHIFT, SHIFT),
    EQ: Operator("==", EQUALITY, SHIFT, SHIFT),
    NE: Operator("!=", EQUALITY, SHIFT, SHIFT),
    And: Operator("&&", AND, AND, BIT_OR),
    Or: Operator("||", OR, BIT_OR, BIT_OR),
}

_CALL = re.compile(r"[A-Za-z_][\w:]*(<[\w\s:,*]*>)?\(")
_PREFIX = re.compile(r"\([A-Za-z_][\w ]*\**\)|[-!~&*]")  # a cast, or an operator before its operand
_PLAIN = re.compile(r"[\w.:]+")


def term_of(text: str) -> Term:
    """Text that somebody else wrote: a name, number or call stands by itself, after a cast or sign it is unary, else loose."""
    prefix = _PREFIX.match(text)
    if prefix is not None and prefix.end() < len(text):
        return Term(text, UNARY if term_of(text[prefix.end() :]).level >= UNARY else ARGUMENT)
    call = _CALL.match(text)
    whole = bool(_PLAIN.fullmatch(text)) or (call is not None and _closes_at_end(text, call.end()))
    return Term(text, POSTFIX if whole else ARGUMENT)


def _closes_at_end(text: str, start: int) -> bool:
    """Whether the parenthesis that was opened just before `start` is closed by the last character."""
    depth, quote = 1, ""
    for index in range(start, len(text)):
        char = text[index]
        if quote:
            quote = "" if char == quote and text[index - 1] != "\\" else quote
        elif char in "\"'":
            quote = char
        else:
            depth += (char in "([{") - (char in ")]}")
            if depth == 0:
                return index == len(text) - 1
    return False
