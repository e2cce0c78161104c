"""Play with random numbers from outside: a strategy against dealt and drawn cards, no hand of it seen before.

Cards are physical here, alike or not, so that all deals are equally likely. A deal is a number below C(N, 5), the place
of its cards in `hands`. The draws are numbers too: the first says which of the N - 5 cards that are left, ascending,
the second which of the N - 6 that are left then. With 0 to 5 dealt, number 2 is the third card that is left: a card
moves up by one for every taken card, ascending, that it has reached.

    taken   . 1 . . 4 . . .      left  0 2 3 5 6 7      number 2 -> 2 -> 3 (has reached 1) -> 3 (has not reached 4)

Hands are worked on by hold, so that all of a step is the same for each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck
from evaluator.classify import classify
from evaluator.payback import line_units
from evaluator.rules import Paytable
from evaluator.solve import Solved
from evaluator.symmetry import locate

MOST_DEALS = 20_000_000
_BITS = 7  # of a physical card in a packed hand
_BLOCK = 1 << 16

Draw = Callable[[int, int], NDArray[Any]]
"""Of a bound and a size: so many random integers from 0 to the bound, the bound excluded."""


class TooManyDeals(ValueError):
    """A deck, or a game where order matters, whose deals do not fit into a table."""


@dataclass(frozen=True)
class Table:
    """A game ready to be played."""

    size: int
    """N, physical cards"""
    hands: NDArray[np.uint64]
    """(C(N, 5),): cards of each deal, ascending, 7 bits each, the lowest first"""
    holds: NDArray[np.uint8]
    """(C(N, 5),): the hold of each deal, bit i for its i-th card"""
    outcomes: NDArray[np.uint8]
    """(C(N, 5),): the outcome of each final hand, by the same numbers"""
    bonuses: NDArray[np.uint8]
    """(C(N, 5),): the bonus of each deal"""
    ranks: NDArray[np.intp]
    """(5, N): parts of the number of a hand, for each place and card; they add up"""
    lines: int
    """outcomes, and once more for hands held as dealt where these pay otherwise"""
    outcomes_in_all: int
    """wins + 1"""
    cells: int
    """lines times bonuses: what is counted"""


def build_table(solved: Solved, paytable: Paytable, holds: NDArray[np.uint8]) -> Table:
    """A game with the hold of each row of a strategy table; raises `TooManyDeals`."""
    deck = solved.program.rules.deck
    deals = deck.hands
    if solved.tables.ordered is not None:
        raise TooManyDeals("the order of the cards matters in this game, which is not simulated")
    if deals > MOST_DEALS or deck.size >= 1 << _BITS:
        raise TooManyDeals(f"the deck has {deals} deals; at most {MOST_DEALS} are simulated")
    kind = np.repeat(np.arange(deck.kinds), deck.copies)
    rows = chain.from_iterable(combinations(range(deck.size), 5))
    physical = np.fromiter(rows, np.uint8, 5 * deals).reshape(-1, 5)
    cards = kind[physical]
    where, places = locate(solved.tables.classes, cards)
    holding = holds[where][:, None] >> places & 1
    program = solved.program
    none = np.zeros(deals, np.uint8)
    outcomes, lines = len(program.wins) + 1, len(line_units(paytable))
    return Table(
        deck.size,
        sum(physical[:, i].astype(np.uint64) << np.uint64(_BITS * i) for i in range(5)),  # type: ignore[arg-type]
        (holding << np.arange(5, dtype=np.uint8)).sum(axis=1).astype(np.uint8),
        classify(program, cards),
        none if program.bonuses is None else classify(program.bonuses, cards),
        _ranks(deck),
        lines,
        outcomes,
        lines * len(paytable.bonuses),
    )


def _ranks(deck: Deck) -> NDArray[np.intp]:
    """The number of an ascending hand among all, in lexicographic order, is the sum over its places.

    Counting down from the last: C(N, 5) - 1 - sum of C(N - 1 - card, 5 - place).
    """
    ranks = np.array([[-comb(deck.size - 1 - card, 5 - place) for card in range(deck.size)] for place in range(5)])
    ranks[0] += deck.hands - 1
    return ranks.astype(np.intp)


def play_hands(table: Table, deals: NDArray[np.intp], draw: Draw) -> NDArray[np.int64]:
    """(cells,): how often the strategy ends in each line, for each bonus, over (n,) deals; `draw` gives the draws."""
    counts = np.zeros(table.cells, np.int64)
    for start in range(0, len(deals), _BLOCK):
        counts += _play_block(table, deals[start : start + _BLOCK], draw)
    return counts


def _play_block(table: Table, deals: NDArray[np.intp], draw: Draw) -> NDArray[np.int64]:
    holds = table.holds[deals]
    order = np.argsort(holds, kind="stable")
    deals = deals[order]
    ends = np.cumsum(np.bincount(holds, minlength=32))
    packed, counts, start = table.hands[deals], np.zeros(table.cells, np.int64), 0
    for mask, end in enumerate(ends.tolist()):
        if end > start:
            mine = slice(start, end)
            outcome = table.outcomes[_final(table, packed[mine], mask, draw)].astype(np.intp)
            if mask == 31 and table.lines > table.outcomes_in_all:
                outcome += table.outcomes_in_all
            if table.cells > table.lines:
                outcome += table.bonuses[deals[mine]].astype(np.intp) * table.lines
            counts += np.bincount(outcome, minlength=table.cells)
            start = end
    return counts


def _final(table: Table, packed: NDArray[np.uint64], mask: int, draw: Draw) -> NDArray[np.intp]:
    """(n,): the numbers of the final hands of deals that are all held by the same mask."""
    low = np.uint64((1 << _BITS) - 1)
    taken = [(packed >> np.uint64(_BITS * i) & low).astype(np.uint8) for i in range(5)]
    cards = [card for i, card in enumerate(taken) if mask >> i & 1]
    for number in range(5 - len(cards)):
        card = draw(table.size - 5 - number, len(packed))
        for other in taken:
            card = card + (card >= other)
        cards.append(card)
        if len(cards) < 5:
            taken = _insert(taken, card)
    rank = np.zeros(len(packed), np.intp)
    for place, card in enumerate(_sorted(cards)):
        rank += np.take(table.ranks[place], card)
    return rank


def _insert(ascending: list[NDArray[np.uint8]], card: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """A card put into its place among ascending ones."""
    result = []
    for other in ascending:
        result.append(np.minimum(other, card))
        card = np.maximum(other, card)
    return [*result, card]


def _sorted(cards: list[NDArray[np.uint8]]) -> list[NDArray[np.uint8]]:
    ascending: list[NDArray[np.uint8]] = []
    for card in cards:
        ascending = _insert(ascending, card)
    return ascending
