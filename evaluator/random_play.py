"""Play with random numbers from outside: a strategy against dealt and drawn cards, no hand of it seen before.

Cards are physical here, alike or not, so that all deals are equally likely. A deal is a number below C(N, 5), the place
of its cards in `hands`. The draws are numbers too: the first says which of the N - 5 cards that are left, ascending,
the second which of the N - 6 that are left then. With 0 to 5 dealt, number 2 is the third card that is left: a card
moves up by one for every taken card, ascending, that it has reached.

    taken   . 1 . . 4 . . .      left  0 2 3 5 6 7      number 2 -> 2 -> 3 (has reached 1) -> 3 (has not reached 4)

Where the order of the cards matters, a deal is that number and one of its 120 arrangements, and what is drawn fills the
open places from left to right, so that every arrangement is as likely as the others. The few final hands whose outcome
depends on it are classified as they lie.

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
from evaluator.classify import classify, indicators, only
from evaluator.ordered import ARRANGEMENTS, arrangement_number
from evaluator.payback import line_units
from evaluator.rules import Paytable, Program
from evaluator.solve import Solved
from evaluator.symmetry import locate

MOST_DEALS = 20_000_000
_BITS = 7  # of a physical card in a packed hand
_BLOCK = 1 << 16

Draw = Callable[[int, int], NDArray[Any]]
"""Of a bound and a size: so many random integers from 0 to the bound, the bound excluded."""


class TooManyDeals(ValueError):
    """A deck whose deals do not fit into a table."""


@dataclass(frozen=True)
class Arranged:
    """What a table has beside the rest where the order of the cards matters."""

    program: Program
    """the rules"""
    rows: NDArray[np.int32]
    """(C(N, 5),): the canonical hand of each deal"""
    places: NDArray[np.uint8]
    """(C(N, 5), 5): which card of the ascending canonical hand the i-th card of the deal is"""
    held: NDArray[np.uint8]
    """(rows, 120): the cards held of each canonical hand in each arrangement, bit i for its i-th card"""
    special: NDArray[np.bool_]
    """(C(N, 5),): whether the outcome of a final hand may depend on its arrangement"""


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
    arranged: Arranged | None = None
    """of a game in which order matters; `holds` is not used then"""


def build_table(solved: Solved, paytable: Paytable, holds: NDArray[np.uint8]) -> Table:
    """A game with the hold of each row of a strategy table, (rows,) masks; where order matters with the cards held of
    each canonical hand in each arrangement, (rows, 120) masks as in `held_cards`. Raises `TooManyDeals`.
    """
    deck = solved.program.rules.deck
    deals = deck.hands
    if deals > MOST_DEALS or deck.size >= 1 << _BITS:
        raise TooManyDeals(f"the deck has {deals} deals; at most {MOST_DEALS} are simulated")
    kind = np.repeat(np.arange(deck.kinds), deck.copies)
    rows = chain.from_iterable(combinations(range(deck.size), 5))
    physical = np.fromiter(rows, np.uint8, 5 * deals).reshape(-1, 5)
    cards = kind[physical]
    where, places = locate(solved.tables.classes, cards)
    program = solved.program
    arranged = None
    if solved.tables.ordered is None:
        holding = holds[where][:, None] >> places & 1
    else:
        arranged = Arranged(program, where, places, holds, _special(solved)[where])
        holding = np.zeros((1, 5), np.uint8)
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
        arranged,
    )


def held_cards(arrangements: NDArray[np.bool_], holds: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """(n,): the cards that rows of a strategy table hold, bit i for the i-th card of the ascending hand.

    `arrangements` is (n, 120), those that each row stands for; the bits of its (n,) `holds` are places in the first.

    >>> held_cards(np.eye(120, dtype=bool)[[0, 119]], np.array([0b00001, 0b00001], np.uint8)).tolist()
    [1, 16]
    """
    shown = ARRANGEMENTS[arrangements.argmax(axis=1)]
    cards: NDArray[np.int64] = ((holds[:, None] >> np.arange(5, dtype=np.uint8) & 1) << shown).sum(axis=1)
    return cards.astype(np.uint8)


def _special(solved: Solved) -> NDArray[np.bool_]:
    """(rows,): canonical hands for which a win that depends on order holds in some arrangement."""
    some, hands = only(solved.program, solved.ordered), solved.tables.classes.hands[5]
    found = np.zeros(len(hands), bool)
    for arrangement in ARRANGEMENTS:
        found |= indicators(some, hands[:, arrangement]).any(axis=0)
    return found


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
    orders = None
    if table.arranged is None:
        holds = table.holds[deals]
    else:
        orders = ARRANGEMENTS[draw(len(ARRANGEMENTS), len(deals))]
        holds = _arranged_holds(table.arranged, deals, orders)
    order = np.argsort(holds, kind="stable")
    deals = deals[order]
    ends = np.cumsum(np.bincount(holds, minlength=32))
    packed, counts, start = table.hands[deals], np.zeros(table.cells, np.int64), 0
    for mask, end in enumerate(ends.tolist()):
        if end > start:
            mine = slice(start, end)
            cards = _draw_cards(table, packed[mine], mask, draw)
            outcome = _outcomes(table, cards, mask, None if orders is None else orders[order[mine]]).astype(np.intp)
            if mask == 31 and table.lines > table.outcomes_in_all:
                outcome += table.outcomes_in_all
            if table.cells > table.lines:
                outcome += table.bonuses[deals[mine]].astype(np.intp) * table.lines
            counts += np.bincount(outcome, minlength=table.cells)
            start = end
    return counts


def _arranged_holds(arranged: Arranged, deals: NDArray[np.intp], orders: NDArray[Any]) -> NDArray[np.uint8]:
    """(n,): the hold of each deal as its cards lie, bit i for its i-th card, ascending."""
    places = arranged.places[deals].astype(np.intp)
    lying = arrangement_number(np.take_along_axis(places, orders, axis=1))
    held = arranged.held[arranged.rows[deals], lying]
    cards: NDArray[np.int64] = ((held[:, None] >> places & 1) << np.arange(5)).sum(axis=1)
    return cards.astype(np.uint8)


def _draw_cards(table: Table, packed: NDArray[np.uint64], mask: int, draw: Draw) -> list[NDArray[np.uint8]]:
    """Five arrays (n,), for deals that are all held by the same mask: the cards held, ascending, then those drawn."""
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
    return cards


def _outcomes(
    table: Table, cards: list[NDArray[np.uint8]], mask: int, orders: NDArray[Any] | None
) -> NDArray[np.uint8]:
    """(n,): the outcomes of final hands; `orders` is (n, 5), which card of the deal lay in each place."""
    number = np.zeros(len(cards[0]), np.intp)
    for place, card in enumerate(_sorted(cards)):
        number += np.take(table.ranks[place], card)
    outcomes = table.outcomes[number]
    if table.arranged is None or orders is None:
        return outcomes
    some = np.flatnonzero(table.arranged.special[number])
    if len(some):
        held = [i for i in range(5) if mask >> i & 1]
        here, final = orders[some], np.stack([card[some] for card in cards], axis=1)
        kept = (mask >> here & 1).astype(bool)
        # In `final` stand the cards held, by their number in the deal, then the cards drawn, from left to right.
        position = np.searchsorted(held, here)
        drawn = len(held) + np.cumsum(~kept, axis=1) - 1
        lying = np.take_along_axis(final, np.where(kept, position, drawn), axis=1)
        kind = np.repeat(np.arange(table.arranged.program.rules.deck.kinds), table.arranged.program.rules.deck.copies)
        outcomes[some] = classify(table.arranged.program, kind[lying])
    return outcomes


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
