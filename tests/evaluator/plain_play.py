"""Optimal play by trying every hold of every deal: what certified sums must be, from nothing but counts of draws."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from math import comb, factorial, lcm
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck
from evaluator.payback import Outcome
from evaluator.rules import Paytable
from evaluator.summary import summarise

MASKS = range(32)
HELD = [mask.bit_count() for mask in MASKS]
PLACES = [[i for i in range(5) if mask >> i & 1] for mask in MASKS]


# --- draws in order ---------------------------------------------------------------------------------------------------


def deals_in_order(cards: int) -> NDArray[np.intp]:
    """(n, 5): every deal of so many different cards."""
    return np.array(list(permutations(range(cards), 5)))


def codes(hands: NDArray[Any], cards: int) -> NDArray[Any]:
    """(…, 5) hands in order to numbers, one for each."""
    return hands @ cards ** np.arange(4, -1, -1)


def outcomes_in_order(cards: int, outcome_of: Callable[[NDArray[np.intp]], NDArray[Any]]) -> NDArray[np.uint8]:
    """(cards ** 5,): the outcome of each hand in order, by its code; 255 for what is no hand."""
    hands = deals_in_order(cards)
    table = np.full(cards**5, 255, np.uint8)
    table[codes(hands, cards)] = outcome_of(hands)
    return table


def stocks(cards: int, deals: NDArray[Any]) -> NDArray[np.intp]:
    """(n, cards - 5): the cards that are not in each deal."""
    left = np.ones((len(deals), cards), bool)
    left[np.arange(len(deals))[:, None], deals] = False
    return np.nonzero(left)[1].reshape(len(deals), -1)


def ways_to_draw(cards: int, mask: int) -> NDArray[np.intp]:
    """(draws, open places): every draw in order from the stock, by place in it."""
    ways = list(permutations(range(cards - 5), 5 - HELD[mask]))
    return np.array(ways, np.intp).reshape(len(ways), 5 - HELD[mask])


def final_hands(cards: int, deal: NDArray[Any], mask: int) -> NDArray[np.intp]:
    """(draws, 5): every draw in order into the places that `mask` does not hold."""
    ways = ways_to_draw(cards, mask)
    hands = np.tile(deal, (len(ways), 1))
    hands[:, PLACES[31 - mask]] = stocks(cards, deal[None])[0][ways]
    return hands


def counts_in_order(cards: int, deals: NDArray[Any], outcomes: NDArray[np.uint8], width: int) -> NDArray[np.int64]:
    """(32, n, width): draws in order that end in each outcome, by the table of `outcomes_in_order`."""
    counts = np.zeros((32, len(deals), width), np.int64)
    value, stock = cards ** np.arange(4, -1, -1), stocks(cards, deals)
    for mask in MASKS:
        ways = ways_to_draw(cards, mask)
        for start in range(0, len(deals), 1024):
            part = slice(start, start + 1024)
            final = np.repeat(deals[part, PLACES[mask]] @ value[PLACES[mask]], len(ways)).reshape(-1, len(ways))
            for place, column in zip(PLACES[31 - mask], ways.T, strict=True):
                final += (stock[part] * value[place])[:, column]
            found = outcomes[final]
            for outcome in range(width):
                counts[mask, part, outcome] = np.count_nonzero(found == outcome, axis=1)
    return counts


# --- paytables --------------------------------------------------------------------------------------------------------


def random_paytable(rng: Random, wins: int, bonuses: int = 0) -> Paytable:
    """Few different pays, so that there are ties and pushes; in half of them a pay on the deal, and for nothing."""
    coins = rng.choice([1, 1, 2, 5])
    some = [
        Fraction(0),
        Fraction(1),
        Fraction(coins),
        Fraction(2 * coins),
        Fraction(5, 3),
        Fraction(1, 2),
        Fraction(40),
    ]
    pays = (*rng.choices(some, k=wins), rng.choice([Fraction(0), Fraction(0), Fraction(1, 2)]))
    on_deal = None
    if rng.random() < 0.5:
        on_deal = (*(rng.choice([pay, pay, rng.choice(some), 3 * pay]) for pay in pays[:-1]), pays[-1])
    paid = (*rng.choices(some, k=bonuses), Fraction(0))
    return Paytable("random", coins, pays, on_deal, paid)


# --- sums over all deals ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """Every hold of n deals under a paytable. All numbers are small enough for int64, and are combinations of L."""

    counts: NDArray[np.int64]
    """(32, n, outcomes): draws that end in each outcome"""
    weights: NDArray[np.int64]
    """(n,): how many deals each stands for"""
    dealt: NDArray[np.intp]
    """(n,): what the deal is already"""
    bonus: NDArray[np.intp]
    """(n,): the bonus of the deal"""
    paytable: Paytable
    """what is paid"""
    distinct: NDArray[np.bool_] | None = None
    """(32, n): holds that no lower mask repeats; all of them where no cards are alike"""

    @cached_property
    def factor(self) -> int:
        """L, of which all holds are choices."""
        return lcm(*map(int, self.counts[:, 0].sum(axis=1)))

    @cached_property
    def scale(self) -> int:
        """What makes integers of all pays."""
        table = self.paytable
        return lcm(*(pay.denominator for pay in (*table.pays, *(table.on_deal or ()), *table.bonuses)))

    @cached_property
    def lines(self) -> NDArray[np.int64]:
        """(32, n, lines): combinations of each outcome; then, where that pays otherwise, of hands held as dealt."""
        lines = self.counts * (self.factor // self.counts.sum(axis=2, keepdims=True))
        if self.paytable.on_deal is None:
            return lines
        pat = np.zeros_like(lines)
        pat[31], lines[31] = lines[31], 0
        return np.concatenate([lines, pat], axis=2)

    @cached_property
    def won(self) -> NDArray[np.int64]:
        """(n, lines): credits times scale that the deal and each line pay together."""
        table = self.paytable
        line = np.array([int(pay * self.scale) for pay in (*table.pays, *(table.on_deal or ()))])
        beside = np.array([int(pay * self.scale) for pay in table.bonuses])
        return line + beside[self.bonus][:, None]

    @cached_property
    def values(self) -> NDArray[np.int64]:
        """(32, n): what each hold wins in all L combinations."""
        return (self.lines * self.won).sum(axis=2)

    @cached_property
    def hits(self) -> NDArray[np.int64]:
        """(32, n): combinations that pay anything."""
        return (self.lines * (self.won > 0)).sum(axis=2)

    @cached_property
    def squares(self) -> NDArray[np.int64]:
        """(32, n): sum of the squared wins."""
        return (self.lines * self.won**2).sum(axis=2)

    @cached_property
    def optimal(self) -> NDArray[np.bool_]:
        """(32, n): the holds that no other beats."""
        best = np.asarray(self.values == self.values.max(axis=0))
        return best if self.distinct is None else best & self.distinct

    def sum(self, per_deal: NDArray[np.int64]) -> Any:
        """The sum over all deals of (n,) or (n, …) numbers of each."""
        return np.tensordot(self.weights, per_deal, 1)

    def chosen(self, per_hold: NDArray[np.int64], hold: NDArray[Any]) -> Any:
        """The sum over all deals of (32, n, …) numbers under the holds."""
        return self.sum(per_hold[hold, np.arange(len(hold))])

    def range(self, per_hold: NDArray[np.int64]) -> tuple[Any, Any]:
        """The least and the greatest sum over all optimal strategies of (32, n, …) numbers."""
        allowed = self.optimal.reshape(*self.optimal.shape, *(1,) * (per_hold.ndim - 2))
        low = np.where(allowed, per_hold, per_hold.max()).min(axis=0)
        return self.sum(low), self.sum(np.where(allowed, per_hold, -1).max(axis=0))

    def check(self, got: Outcome, hold: NDArray[Any], deck: Deck, ordered: bool = False) -> None:
        """Compare certified sums, and the figures made of them, with those of the holds (n,) that were played."""
        deals, rows = int(self.weights.sum()), np.arange(len(hold))
        assert self.optimal[hold, rows].all()
        low, high = self.range(self.lines)
        played = self.lines[hold, rows]
        cells = [self.sum(played * (self.bonus == bonus)[:, None]) for bonus in range(len(self.paytable.bonuses))]
        by_line, hits, squares = self.sum(played), self.chosen(self.hits, hold), self.chosen(self.squares, hold)
        assert got.combinations == tuple(np.concatenate(cells))
        assert got.by_line == tuple(by_line)
        assert (got.combinations_min, got.combinations_max) == (tuple(low), tuple(high))
        assert (got.hits_min, got.hits, got.hits_max) == (*self.range(self.hits)[:1], hits, self.range(self.hits)[1])
        assert (got.squares_min, got.squares_max) == self.range(self.squares)
        assert got.squares == squares
        assert got.deals == deals
        assert got.tied_deals == self.weights[self.optimal.sum(axis=0) > 1].sum()
        width = self.counts.shape[2]
        assert got.deal_combinations == tuple(self.weights[self.dealt == i].sum() for i in range(width))
        means = self.values.max(axis=0).astype(object)
        assert got.squared_means == self.sum(means * means)
        self._check_summary(got, hold, deck, ordered)

    def _check_summary(self, got: Outcome, hold: NDArray[Any], deck: Deck, ordered: bool) -> None:
        summary = summarise(got, deck, self.paytable, ordered)
        cycle, bet = int(self.weights.sum()) * self.factor, self.scale * self.paytable.coins
        assert cycle == summary.cycle == comb(deck.size, 5) * (factorial(5) if ordered else 1) * self.factor
        part = lambda number: Fraction(int(number), cycle)  # noqa: E731
        mean = part(self.chosen(self.values, hold)) / bet
        assert summary.payback == mean == 1 - summary.house_edge
        assert summary.variance == part(self.chosen(self.squares, hold)) / bet**2 - mean**2
        assert summary.variance_range == tuple(part(n) / bet**2 - mean**2 for n in self.range(self.squares))
        assert summary.variance_between + summary.variance_within == summary.variance
        assert min(summary.variance_between, summary.variance_within) >= 0
        played = self.lines[hold, np.arange(len(hold))]
        for name, some in (
            ("hit_frequency", self.won > 0),
            ("win_frequency", self.won > bet),
            ("push_frequency", self.won == bet),
        ):
            assert getattr(summary, name) == part(self.sum((played * some).sum(axis=1))), name
        assert summary.hit_frequency_range == tuple(map(part, self.range(self.hits)))
        rows = {on: [win for win in summary.wins if win.on == on] for on in ("draw", "deal", "bonus")}
        assert len(summary.wins) == sum(map(len, rows.values()))
        assert sum(win.combinations for win in rows["draw"] + rows["deal"]) == cycle
        assert sum(win.contribution for win in summary.wins) == mean
        width, table = self.counts.shape[2], self.paytable
        assert [win.pays for win in rows["draw"]] == list(table.pays)
        assert [win.pays for win in rows["deal"]] == list(table.on_deal or ())
        assert [win.pays for win in rows["bonus"]] == list(table.bonuses[:-1])
        assert [win.combinations for win in rows["draw"] + rows["deal"]] == list(self.sum(played))
        assert len(rows["draw"]) == width
        for number, win in enumerate(rows["bonus"]):
            dealt = int(self.weights[self.bonus == number].sum())
            assert (win.outcome, win.deal_combinations, win.combinations) == (number, dealt, dealt * self.factor)
            assert (
                win.contribution
                == Fraction(dealt, deck.hands * (factorial(5) if ordered else 1)) * win.pays / table.coins
            )
        for win in rows["draw"] + rows["deal"]:
            assert win.deal_combinations == self.weights[self.dealt == win.outcome].sum()
