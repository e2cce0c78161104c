"""Rules and paytables: a deck, definitions and ordered wins decide every count; a paytable says what each win pays."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm

from evaluator.binding import Binder
from evaluator.cards import Deck
from evaluator.expression import Pool
from evaluator.language import Definition, DefinitionError, parse, parse_definition


class Faults(Exception):
    """Everything that is wrong with some rules, at once."""

    def __init__(self, errors: Iterable[DefinitionError]) -> None:
        self.errors = tuple({(e.where, e.line, e.column, e.message): e for e in errors}.values())
        super().__init__(*self.errors)

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors))


@dataclass(frozen=True)
class Win:
    """One line of the paytable."""

    name: str
    """for example ``full house``"""
    when: str
    """its definition, a formula that is 0 or 1 on every hand"""


@dataclass(frozen=True)
class Rules:
    """Everything that decides counts. Two equal rules give equal tables."""

    deck: Deck
    definitions: tuple[tuple[str, str], ...]
    """head and formula, like ``("wild(a)", "same(aF){2}")``"""
    wins: tuple[Win, ...]
    """highest first: a hand is in the first win whose definition holds"""


@dataclass(frozen=True)
class Program:
    """Rules with every formula bound."""

    rules: Rules
    pool: Pool
    """the expressions of all definitions"""
    wins: tuple[int, ...]
    """the node of each win"""
    used: frozenset[str]
    """the definitions that some win uses"""


@dataclass(frozen=True)
class Paytable:
    """What each outcome pays, exactly."""

    name: str
    """for example ``9/6``"""
    coins: int
    """credits bet"""
    pays: tuple[Fraction, ...]
    """(W + 1): credits won for that bet, one per win, then for nothing"""

    @cached_property
    def scale(self) -> int:
        """The least common denominator of the pays."""
        return lcm(*(pay.denominator for pay in self.pays))

    @cached_property
    def units(self) -> tuple[int, ...]:
        """The pays times `scale`, as integers."""
        return tuple(int(pay * self.scale) for pay in self.pays)


def win_key(number: int) -> str:
    """Where the definition of a win stands in a game file; `number` counts from 0."""
    return f"win[{number + 1}].when"


def compile_rules(rules: Rules) -> Program:
    """Parse and bind every definition and win.

    Raises `Faults` with all errors: those of every formula, and those that show only where a win uses it.

    >>> program = compile_rules(Rules(Deck(), (("pair", "some(a,b: same(aF,bF))"),), (Win("a pair", "pair"),)))
    >>> len(program.wins)
    1
    """
    errors: list[DefinitionError] = []
    definitions: dict[str, Definition] = {}
    for head, text in rules.definitions:
        try:
            definition = parse_definition(head, text, f"define.{head}", rules.deck)
            if definition.name in definitions:
                raise DefinitionError(f"{definition.name!r} is defined twice", f"define.{head}")
            definitions[definition.name] = definition
        except DefinitionError as error:
            errors.append(error)
    for definition in definitions.values():
        errors += [
            DefinitionError(f"the parameter {name!r} has the name of a definition", definition.where)
            for name in definition.parameters
            if name in definitions
        ]
    if errors:
        raise Faults(errors + _win_errors(rules))
    binder = Binder(rules.deck, definitions)
    wins = []
    for number, win in enumerate(rules.wins):
        where = win_key(number)
        try:
            wins.append(binder.bind(Definition("", (), parse(win.when, where), where, win.when)))
        except DefinitionError as error:
            errors.append(error)
    if errors:
        raise Faults(errors)
    return Program(rules, binder.pool, tuple(wins), binder.used)


def _win_errors(rules: Rules) -> list[DefinitionError]:
    """The errors of wins that can be told without the definitions."""
    errors = []
    for number, win in enumerate(rules.wins):
        try:
            parse(win.when, win_key(number))
        except DefinitionError as error:
            errors.append(error)
    return errors
