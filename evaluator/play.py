"""What given decisions win: the exact payback of any holds, and what each costs against the best.

A decision is a row of the strategy table and the mask that is held there. Where a row has several decisions, made for
different deals that it stands for, they count equally. Rows without a decision are not played; what is stated is then
about the other deals, and how many they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.holds import Block, Tables, exact_type, hold_block, hold_values, lowest_hold, optimal_holds
from evaluator.rules import Paytable

_HANDS = 16_384
_ORDERED_HANDS = 512


@dataclass(frozen=True)
class Play:
    """Decisions under one paytable."""

    deals: int
    """deals of the rows that have a decision"""
    payback: Fraction
    """credits won per credit bet over those deals, with the decisions"""
    best: Fraction
    """the same with optimal play"""
    cost: NDArray[np.float64]
    """(m,): expected credits per credit bet that each decision loses; for people and for ranking"""
    optimal: NDArray[np.bool_]
    """(m,): whether each decision is exactly optimal"""
    better: NDArray[np.uint8]
    """(m,): the optimal hold of each row, the one of the lowest mask"""
    weights: NDArray[np.int64]
    """(m,): deals of the row of each decision"""


def blocks(tables: Tables) -> Iterator[Block]:
    """All rows of a game, a block of hands at a time, in the order of its strategy tables."""
    step = _HANDS if tables.ordered is None else _ORDERED_HANDS
    for start in range(0, len(tables.classes.weights), step):
        yield hold_block(tables, start, start + step)


def play(
    tables: Tables,
    paytable: Paytable,
    rows: NDArray[Any],
    masks: NDArray[Any],
    weights_of: NDArray[np.int64] | None = None,
) -> Play:
    """The exact payback of decisions: (m,) rows and (m,) masks, in any order. Raises `ValueError` for none.

    `weights_of` is how many deals every row of the table is to stand for; without it, those that it does.

    >>> from evaluator.rules import Rules, Win
    >>> from evaluator.cards import Deck
    >>> from evaluator.solve import solve
    >>> tables = solve(Rules(Deck(("2", "3", "4")), (), (Win("p", "some(a,b,c: same(aF,bF,cF))"),))).tables
    >>> rows = np.arange(len(tables.classes.weights))
    >>> done = play(tables, Paytable("", 1, (Fraction(3), Fraction(0))), rows, np.full(len(rows), 31))  # stand pat
    >>> done.deals, done.payback  # 360 deals have three alike
    (792, Fraction(15, 11))
    """
    rows, masks = np.asarray(rows, np.intp), np.asarray(masks, np.intp)
    if not len(rows):
        raise ValueError("there are no decisions")
    order = np.argsort(rows, kind="stable")
    cost, optimal, weights = np.zeros(len(rows)), np.zeros(len(rows), bool), np.zeros(len(rows), np.int64)
    better = np.zeros(len(rows), np.uint8)
    stake = paytable.scale * paytable.coins
    kind = exact_type(tables.cycle * max(1, *paytable.units, *(paytable.deal_units or ())))
    deals, won, best, bonus, first = 0, Fraction(0), 0, 0, 0
    for block in blocks(tables):
        stop = first + len(block.hands)
        mine = order[np.searchsorted(rows[order], first) : np.searchsorted(rows[order], stop)]
        at = rows[mine] - first
        first = stop
        if not len(at):
            continue
        weight = block.weights if weights_of is None else weights_of[first - len(block.hands) : first]
        values = hold_values(tables, block, paytable.units, paytable.deal_units)
        tops, chosen = values.max(axis=0), values[masks[mine], at]
        sums, times = np.zeros(len(block.hands), values.dtype), np.bincount(at, minlength=len(block.hands))
        np.add.at(sums, at, chosen)
        played = times > 0
        for number in np.unique(times[played]).tolist():
            some = times == number
            won += Fraction(int(weight[some].astype(kind) @ sums[some].astype(kind)), number)
        deals += int(weight[played].sum())
        best += int(weight[played].astype(kind) @ tops[played].astype(kind))
        bonus += int(weight[played] @ np.array(paytable.bonus_units)[block.bonuses[played]])
        cost[mine] = (tops[at] - chosen).astype(np.float64) / (tables.cycle_factor * stake)
        optimal[mine] = tops[at] == chosen
        better[mine] = lowest_hold(optimal_holds(values, block.repeats))[at]
        weights[mine] = weight[at]
    whole = deals * tables.cycle_factor * stake
    paid = bonus * tables.cycle_factor
    return Play(deals, (won + paid) / whole, Fraction(best + paid, whole), cost, optimal, better, weights)
