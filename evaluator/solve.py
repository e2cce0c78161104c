"""Rules solved: everything about a game that does not depend on what the wins pay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluator.classify import DealCount, deal_counts, depends_on_order, highest, indicators, suit_components
from evaluator.holds import Tables, build_tables
from evaluator.language import DefinitionError
from evaluator.rules import Faults, Paytable, Program, Rules, compile_rules, win_key
from evaluator.symmetry import canonical_classes, count_classes


@dataclass(frozen=True)
class Solved:
    """The counts of a game, ready for any paytable."""

    program: Program
    """the rules, bound"""
    tables: Tables
    """canonical hands and how often each can become what"""
    deals: tuple[DealCount, ...]
    """for each win, how many deals are in it"""
    takes: NDArray[np.bool_]
    """(W, W): whether win i takes hands for which the definition of win j holds as well"""


def plan_rows(program: Program) -> int:
    """How many canonical hands the rules have; none is made."""
    return count_classes(program.rules.deck, suit_components(program))


def solve(rules: Rules) -> Solved:
    """Classes, classification and tables of some rules.

    Raises `Faults` for definitions that are wrong, depend on the order of the cards or never hold, and
    `TooManyClasses` for a deck that is too large.

    >>> from evaluator.cards import Deck
    >>> from evaluator.rules import Win
    >>> solved = solve(Rules(Deck(), (), (Win("flush", "same(C1S,C2S,C3S,C4S,C5S)"),)))
    >>> solved.deals[0].excluding
    5148
    """
    program = compile_rules(rules)
    ordered = [number for number in range(len(rules.wins)) if depends_on_order(program, number)]
    if ordered:
        raise Faults(_order_error(rules, number) for number in ordered)
    classes = canonical_classes(rules.deck, suit_components(program))
    try:
        found = indicators(program, classes.hands[5])
    except DefinitionError as error:
        raise Faults([error]) from None
    deals = deal_counts(found, classes.weights)
    if not all(count.excluding for count in deals):
        raise Faults(_never(rules, number, deals) for number, count in enumerate(deals) if not count.excluding)
    outcomes = highest(found)
    takes = np.array([found[:, outcomes == number].any(axis=1) for number in range(len(rules.wins))])
    np.fill_diagonal(takes, False)
    return Solved(program, build_tables(classes, outcomes, len(rules.wins)), deals, takes)


def _order_error(rules: Rules, number: int) -> DefinitionError:
    name = rules.wins[number].name
    hint = "quantify over the cards, as in some(a,b: …), instead of naming places C1 … C5"
    return DefinitionError(f"{name!r} depends on the order of the cards", win_key(number), hint=hint)


def _never(rules: Rules, number: int, deals: Sequence[DealCount]) -> DefinitionError:
    win = rules.wins[number]
    if not deals[number].including:
        return DefinitionError(
            f"{win.name!r} can never occur: no hand of this deck meets its definition", win_key(number)
        )
    higher = ", ".join(repr(rules.wins[i].name) for i in deals[number].exclusions)
    return DefinitionError(
        f"{win.name!r} can never occur: each of its {deals[number].including} deals is in a higher win ({higher})",
        win_key(number),
        hint="a hand goes to the first win whose definition holds; move this win up",
    )


def order_warnings(solved: Solved, paytable: Paytable) -> list[str]:
    """Where a win takes hands from a later one that pays more; order decides, so this may be meant or not."""
    names = [win.name for win in solved.program.rules.wins]
    return [
        f"{names[i]!r} ({paytable.pays[i]}) takes hands from {names[j]!r}, which pays more ({paytable.pays[j]})"
        for i, j in np.argwhere(solved.takes).tolist()
        if i < j and paytable.pays[i] < paytable.pays[j]
    ]
