"""Rules and paytables: a deck, definitions and ordered wins decide every count; a paytable says what each win pays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
    bonuses: tuple[Win, ...] = ()
    """what can be paid for the deal beside the draw, highest first, like `wins`"""


@dataclass(frozen=True)
class Program:
    """Rules with every formula bound."""

    rules: Rules
    pool: Pool
    """the expressions of all definitions"""
    wins: tuple[int, ...]
    """the node of each win"""
    used: frozenset[str]
    """the definitions that some win or bonus uses"""
    key: str = "win"
    """where the wins stand in a game file"""
    bonuses: Program | None = None
    """the bonuses of the deal, as a program of their own"""


@dataclass(frozen=True)
class Progressive:
    """A pay that grows: a meter."""

    win: int
    """number of the win that it is paid for"""
    reset: Fraction
    """credits at which it starts"""
    rate: Fraction
    """credits added to the meter per credit bet"""


@dataclass(frozen=True)
class Paytable:
    """What each outcome pays, exactly."""

    name: str
    """for example ``9/6``"""
    coins: int
    """credits bet"""
    pays: tuple[Fraction, ...]
    """(W + 1): credits won for that bet, one per win, then for nothing"""
    on_deal: tuple[Fraction, ...] | None = None
    """(W + 1): what each pays instead when all five cards of the deal are held; None where that is the same"""
    bonuses: tuple[Fraction, ...] = (Fraction(0),)
    """(B + 1): credits won for the deal beside the draw, one per bonus, then for none of them"""
    progressive: Progressive | None = None
    """the pay that is a meter; `pays` has it at its reset"""
    levels: bool = False
    """whether this is one of several coin levels of a paytable"""

    @property
    def label(self) -> str:
        """The name, with the coin level where there are several: ``9/6, 5 coins``."""
        return f"{self.name}, {self.coins} coin{'s' if self.coins > 1 else ''}" if self.levels else self.name

    @cached_property
    def scale(self) -> int:
        """The least common denominator of everything that is paid."""
        return lcm(*(pay.denominator for pay in (*self.pays, *(self.on_deal or ()), *self.bonuses)))

    @cached_property
    def units(self) -> tuple[int, ...]:
        """The pays times `scale`, as integers."""
        return tuple(int(pay * self.scale) for pay in self.pays)

    @cached_property
    def deal_units(self) -> tuple[int, ...] | None:
        """The pays of hands held as dealt times `scale`; None where they are the same."""
        return None if self.on_deal is None else tuple(int(pay * self.scale) for pay in self.on_deal)

    @cached_property
    def bonus_units(self) -> tuple[int, ...]:
        """The bonuses times `scale`."""
        return tuple(int(pay * self.scale) for pay in self.bonuses)


def win_key(number: int, key: str = "win") -> str:
    """Where the definition of a win stands in a game file; `number` counts from 0."""
    return f"{key}[{number + 1}].when"


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
    wins = _bind(binder, rules.wins, "win", errors)
    bonuses = _bind(binder, rules.bonuses, "bonus", errors)
    if errors:
        raise Faults(errors)
    paid = Program(replace(rules, wins=rules.bonuses, bonuses=()), binder.pool, bonuses, binder.used, "bonus")
    return Program(rules, binder.pool, wins, binder.used, bonuses=paid if bonuses else None)


def _bind(binder: Binder, wins: Sequence[Win], key: str, errors: list[DefinitionError]) -> tuple[int, ...]:
    nodes = []
    for number, win in enumerate(wins):
        where = win_key(number, key)
        try:
            nodes.append(binder.bind(Definition("", (), parse(win.when, where), where, win.when)))
        except DefinitionError as error:
            errors.append(error)
    return tuple(nodes)


def _win_errors(rules: Rules) -> list[DefinitionError]:
    """The errors of wins that can be told without the definitions."""
    errors = []
    for number, win in enumerate(rules.wins):
        try:
            parse(win.when, win_key(number))
        except DefinitionError as error:
            errors.append(error)
    return errors
