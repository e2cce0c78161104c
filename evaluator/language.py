"""The text language of definitions: from formulas to syntax trees, with the place of every error.

A formula combines deltas ``same(aF,bF){J-A}`` (``δ`` for short, also without parentheses) with integers,
``+ - *``, ``&`` (product), ``|`` (OR), ``!`` (NOT) and parentheses; factors may stand side by side. Vertices are the
faces and suits of cards, ``aF`` and ``aS`` for a card variable ``a``, or C1F…C5S long-hand. Quantifiers:

==============================  ======================================================================================
``some(a,b: …)``                OR over all choices of different cards
``every(a,b: …)``               product over them
``total(a,b: …)``               sum over them; instances that are the same expression count once
``some(f in {3-A}: …)``         the same over the values of a set, ``faces`` or ``suits``; variables differ
``some(W in runs(5): …)``       the same over the straight windows of the deck's faces, an ace high or low
==============================  ======================================================================================

An inner quantifier chooses independently of outer ones. Precedence, from the tightest: ``!`` and the sign; ``&``, ``*``
and side by side; ``+ -``; ``|``. Comments run from ``//`` or ``#`` to the end of the line. Nothing is ever executed.

A variable may carry the name of a suit (``some(a,b,c,d: …)``); within its scope the name means the variable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedEOF, UnexpectedInput

from evaluator.cards import JOKER, Deck
from evaluator.polynomial import HAND_SIZE

GRAMMAR = r"""
    ?start: alternative
    ?alternative: sum ("|" sum)*
    ?sum: product (SIGN product)*
    ?product: unary (("&" | "*") unary | atom)*
    ?unary: "!" unary -> negation | SIGN unary -> signed | atom
    ?atom: INT -> number
         | "(" alternative ")"
         | ("same" | "δ") "(" vertices ")" [set] -> delta
         | "δ" vertices [set] -> delta
         | QUANTIFIER "(" names ":" alternative ")" -> over_cards
         | QUANTIFIER "(" names "in" domain ":" alternative ")" -> over_values
         | NAME ["(" argument ("," argument)* ")"] -> call
    vertices: NAME ("," NAME)*
    names: NAME ("," NAME)*
    ?domain: set | NAME -> named_domain | "runs" "(" INT ")" -> runs
    ?argument: NAME -> named | INT -> named | set
    set: "{" [item ("," item)*] "}"
    item: (VALUE | INT | NAME) ["-" (VALUE | INT | NAME)] | "*" -> no_suit
    QUANTIFIER.2: /(some|every|total)(?=\s*\()/
    SIGN: "+" | "-"
    NAME: /[A-Za-z_][A-Za-z0-9_]*/
    VALUE: /[0-9]+[A-Za-z_][A-Za-z0-9_]*/
    %import common.INT
    %import common.WS
    %ignore WS
    %ignore /(\/\/|#)[^\n]*/
"""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
FUNCTIONS = ("some", "every", "total", "same", "runs", "in", "faces", "suits", JOKER)
PLACES = {f"C{place + 1}": place for place in range(HAND_SIZE)}
MAX_TEXT = 20_000


class DefinitionError(ValueError):
    """A definition that is wrong: what, where, and what to do."""

    def __init__(
        self, message: str, where: str = "", text: str = "", line: int = 0, column: int = 0, hint: str = ""
    ) -> None:
        self.message, self.where, self.text, self.line, self.column, self.hint = (
            message, where, text, line, column, hint,
        )  # fmt: skip
        super().__init__(message, where, text, line, column, hint)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        lines = [place + (f"line {self.line}, column {self.column}: " if self.line else "") + self.message]
        if self.line:
            source = self.text.splitlines()[self.line - 1 : self.line]
            start = max(0, self.column - 60)
            lines += ["    " + text[start : start + 100] for text in source]
            lines.append("    " + " " * (self.column - 1 - start) + "^")
        if self.hint:
            lines.append(f"    {self.hint}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Definition:
    """A named formula, parsed."""

    name: str
    parameters: tuple[str, ...]
    tree: Tree[Token]
    where: str
    text: str


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return Lark(GRAMMAR, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def parse(text: str, where: str = "") -> Tree[Token]:
    """The syntax tree of a formula; raises `DefinitionError` with line, column and what could have stood there."""
    if len(text) > MAX_TEXT:
        raise DefinitionError(f"the formula has {len(text)} characters; at most {MAX_TEXT} are allowed", where)
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as problem:
        raise _syntax_error(problem, text, where) from None
    return tree if isinstance(tree, Tree) else Tree("number", [tree])


#: How the grammar's terminals are called in messages; the others are called by their own text.
TERMINALS = {
    "INT": "a number", "NAME": "a name", "VALUE": "a face or suit", "QUANTIFIER": "some, every or total",
    "SIGN": "+ or -", "LPAR": "(", "RPAR": ")", "LBRACE": "{", "RBRACE": "}", "COMMA": "a comma", "COLON": ":",
    "STAR": "*", "AMPERSAND": "&", "VBAR": "|", "__ANON_0": "δ", "BANG": "!", "SAME": "same", "IN": "in",
    "RUNS": "runs", "MINUS": "-", "$END": "the end",
}  # fmt: skip


def _syntax_error(problem: UnexpectedInput, text: str, where: str) -> DefinitionError:
    accepts = set(getattr(problem, "accepts", None) or getattr(problem, "expected", None) or ())
    accepts |= set(getattr(problem, "allowed", None) or ())
    names = sorted({TERMINALS.get(name, name.lower()) for name in accepts})
    hint = "expected " + (", ".join(names[:-1]) + " or " + names[-1] if len(names) > 1 else "".join(names))
    token = getattr(problem, "token", None)
    if isinstance(problem, UnexpectedEOF) or (token is not None and token.type == "$END"):
        lines = text.splitlines() or [""]
        return DefinitionError("the formula ends too early", where, text, len(lines), len(lines[-1]) + 1, hint)
    found = str(token) if token is not None else text[problem.pos_in_stream or 0 :][:1]
    return DefinitionError(f"{found!r} is not expected here", where, text, problem.line, problem.column, hint)


def parse_definition(head: str, text: str, where: str, deck: Deck) -> Definition:
    """A definition like ``wild(a)`` = ``same(aF){2}``; raises `DefinitionError` for a wrong head or formula."""
    match = re.fullmatch(r"\s*(\w+)\s*(?:\(([^()]*)\))?\s*", head)
    parameters = [name.strip() for name in match.group(2).split(",")] if match and match.group(2) is not None else []
    if match is None or not all(NAME.fullmatch(name) for name in [match.group(1), *parameters]):
        raise DefinitionError(f"{head!r} is not a name like 'flush' or 'wild(a)'", where)
    name = match.group(1)
    for taken in [name, *parameters]:
        if taken in (*FUNCTIONS, *PLACES, *deck.faces):
            raise DefinitionError(f"{taken!r} is the name of a {what_is(taken)}", where, hint="choose another name")
    if name in deck.suits or len(set(parameters)) < len(parameters) or name in parameters:
        raise DefinitionError(f"{head!r}: a name is used twice or is the name of a suit", where)
    return Definition(name, tuple(parameters), parse(text, where), where, text)


def what_is(name: str) -> str:
    """What a name that is taken stands for."""
    return "function" if name in FUNCTIONS else "place" if name in PLACES else "face"
