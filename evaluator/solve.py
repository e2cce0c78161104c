"""Rules solved: everything about a game that does not depend on what the wins pay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.classify import (
    DealCount,
    arranged_indicators,
    deal_counts,
    depends_on_order,
    highest,
    indicators,
    only,
    suit_components,
)
from evaluator.holds import Tables, build_tables, deal_count
from evaluator.language import DefinitionError
from evaluator.ordered import ARRANGEMENTS, TooManyPatterns, prepare_ordered
from evaluator.rules import Faults, Paytable, Program, Rules, compile_rules, win_key
from evaluator.symmetry import Classes, canonical_classes, count_classes


@dataclass(frozen=True)
class Solved:
    """The counts of a game, ready for any paytable."""

    program: Program
    """the rules, bound"""
    tables: Tables
    """canonical hands and how often each can become what"""
    deals: tuple[DealCount, ...]
    """for each win, how many deals are in it; deals in order where order matters"""
    bonus_deals: tuple[DealCount, ...]
    """the same for each bonus of the deal"""
    takes: NDArray[np.bool_]
    """(W, W): whether win i takes hands for which the definition of win j holds as well"""
    ordered: tuple[int, ...]
    """the wins that depend on the order of the cards"""


def plan_rows(program: Program) -> int:
    """How many canonical hands the rules have; none is made."""
    return count_classes(program.rules.deck, suit_components(program))


def solve(rules: Rules) -> Solved:
    """Classes, classification and tables of some rules.

    Raises `Faults` for definitions that are wrong or never hold, `TooManyClasses` for a deck that is too large.

    >>> from evaluator.cards import Deck
    >>> from evaluator.rules import Win
    >>> solved = solve(Rules(Deck(), (), (Win("flush", "same(C1S,C2S,C3S,C4S,C5S)"),)))
    >>> solved.deals[0].excluding
    5148
    """
    program = compile_rules(rules)
    ordered = tuple(number for number in range(len(rules.wins)) if depends_on_order(program, number))
    _check_order(program, ordered)
    classes = canonical_classes(rules.deck, suit_components(program))
    try:
        found = indicators(program, classes.hands[5])
        bonus = None if program.bonuses is None else indicators(program.bonuses, classes.hands[5])
        base, arranged, deals, takes = _classify(program, classes, found, ordered)
    except DefinitionError as error:
        raise Faults([error]) from None
    bonus_deals = () if bonus is None else deal_counts(bonus, classes.weights * deal_factor(rules, ordered))
    _check_occurrence(program, deals)
    if program.bonuses is not None:
        _check_occurrence(program.bonuses, bonus_deals)
    try:
        changes = None if arranged is None else prepare_ordered(classes, base, arranged)
    except TooManyPatterns as problem:
        raise Faults([DefinitionError(str(problem), win_key(ordered[0]))]) from None
    bonuses = None if bonus is None else highest(bonus)
    tables = build_tables(classes, base, len(rules.wins), bonuses, changes)
    return Solved(program, tables, deals, bonus_deals, takes, ordered)


def deal_factor(rules: Rules, ordered: Sequence[int]) -> int:
    """How many deals in order one deal is, in a game with these order-dependent wins; 1 where there are none."""
    return deal_count(rules.deck, bool(ordered)) // rules.deck.hands


def _classify(
    program: Program, classes: Classes, found: NDArray[np.bool_], ordered: Sequence[int]
) -> tuple[NDArray[np.uint8], NDArray[np.uint8] | None, tuple[DealCount, ...], NDArray[np.bool_]]:
    """The win of each canonical hand by what ignores order, and by arrangement if order matters; counts; who takes."""

    if not ordered:
        outcomes = highest(found)
        return outcomes, None, deal_counts(found, classes.weights), _takes(found, outcomes)
    # The wins that depend on order hold for few hands: all others are counted once for all arrangements.
    found[list(ordered)] = False
    base = highest(found)
    takes = _takes(found, base)
    arranged = np.repeat(base[:, None], len(ARRANGEMENTS), axis=1)
    part = only(program, ordered)
    tally = _Tally(deal_counts(found, classes.weights * len(ARRANGEMENTS)))
    for number, holding in enumerate(arranged_indicators(part, classes.hands[5], ARRANGEMENTS.tolist())):
        some = np.flatnonzero(holding.any(axis=0))
        here, weights = found[:, some], classes.weights[some]
        tally.add(deal_counts(here, weights), -1)
        here[list(ordered)] = holding[:, some]
        tally.add(deal_counts(here, weights), 1)
        arranged[some, number] = highest(here)
        takes |= _takes(here, arranged[some, number])
    return base, arranged, tally.counts, takes


class _Tally:
    """Deal counts that change by those of some hands."""

    def __init__(self, counts: Sequence[DealCount]) -> None:
        self.counts = tuple(counts)

    def add(self, counts: Sequence[DealCount], sign: int) -> None:
        """Add or take away the counts; the exclusions of either are kept."""
        self.counts = tuple(
            DealCount(
                count.including + sign * more.including,
                count.excluding + sign * more.excluding,
                tuple(sorted({*count.exclusions, *more.exclusions}, reverse=True)),
            )
            for count, more in zip(self.counts, counts, strict=True)
        )


def _takes(found: NDArray[np.bool_], outcomes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    takes = np.array([found[:, outcomes == number].any(axis=1) for number in range(len(found))])
    np.fill_diagonal(takes, False)
    return takes


def _check_order(program: Program, ordered: Sequence[int]) -> None:
    """Raise `Faults` where the order of cards cannot be taken into account."""
    faults = []
    if ordered and program.rules.deck.copies.max() > 1:
        faults += [
            _order_error(program, number, "so the deck must not have alike cards (decks, jokers)") for number in ordered
        ]
    if program.bonuses is not None:
        bonuses = range(len(program.bonuses.wins))
        faults += [
            _order_error(program.bonuses, number, "a bonus of the deal must not")
            for number in bonuses
            if depends_on_order(program.bonuses, number)
        ]
    if faults:
        raise Faults(faults)


def _order_error(program: Program, number: int, what: str) -> DefinitionError:
    name = program.rules.wins[number].name
    hint = "quantify over the cards, as in some(a,b: …), instead of naming places C1 … C5"
    return DefinitionError(
        f"{name!r} depends on the order of the cards; {what}", win_key(number, program.key), hint=hint
    )


def _check_occurrence(program: Program, deals: Sequence[DealCount]) -> None:
    """Raise `Faults` for wins that no deal is in."""
    never = [number for number, count in enumerate(deals) if not count.excluding]
    if never:
        raise Faults(_never(program, number, deals[number]) for number in never)


def _never(program: Program, number: int, count: DealCount) -> DefinitionError:
    wins, where = program.rules.wins, win_key(number, program.key)
    name = wins[number].name
    if not count.including:
        return DefinitionError(f"{name!r} can never occur: no hand of this deck meets its definition", where)
    higher = ", ".join(repr(wins[i].name) for i in count.exclusions)
    return DefinitionError(
        f"{name!r} can never occur: each of its {count.including} deals is in a higher win ({higher})",
        where,
        hint="a hand goes to the first win whose definition holds; move this win up",
    )


def order_warnings(solved: Solved, paytable: Paytable) -> list[str]:
    """Where a win takes hands from a later one that pays more; order decides, so this may be meant or not."""
    names = [win.name for win in solved.program.rules.wins]
    pairs: list[list[Any]] = np.argwhere(solved.takes).tolist()
    return [
        f"{names[i]!r} ({paytable.pays[i]}) takes hands from {names[j]!r}, which pays more ({paytable.pays[j]})"
        for i, j in pairs
        if i < j and paytable.pays[i] < paytable.pays[j]
    ]
