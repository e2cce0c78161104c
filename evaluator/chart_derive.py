"""A chart derived from the exact strategy: the cards that are always held, the groups of hands, and the list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.chart import Chart, Line, line_text
from evaluator.chart_lines import NOTHING, Candidate, candidates
from evaluator.chart_search import SCHEDULES, Groups, search
from evaluator.chart_view import View, hold_keys, make_view, see
from evaluator.holds import Block, Tables, exact_type, hold_values, optimal_holds
from evaluator.play import blocks
from evaluator.rules import Paytable

_ALWAYS = Fraction(99, 100)
"""a card is wild to a chart where optimal play can hold it in more than so many of its deals"""
_MATTERS = 10_000_000
"""a line is worth its place if it saves more than one in so many of the credits bet"""


@dataclass(frozen=True)
class Derived:
    """A chart with what it loses."""

    chart: Chart
    """the list"""
    cost: Fraction
    """credits per credit bet lost against optimal play, if of several holds that fit a line the worst is taken"""


@dataclass(frozen=True)
class _Deals:
    """All canonical hands, solved for one paytable."""

    blocks: list[Block]
    """without counts"""
    values: NDArray[Any]
    """(32, n): worth of every hold"""
    weights: NDArray[np.int64]
    """(n,): deals of each hand"""
    hands: NDArray[Any]
    """(n, 5): its cards"""


def derive_chart(tables: Tables, paytable: Paytable, wins: Sequence[str], lines: tuple[int, int]) -> Derived:
    """A chart for a paytable, with so many lines at most, without wild cards and with them.

    Raises `evaluator.chart.ChartError` where order matters. Decisions are made on exact integers: the same rules and
    pays give the same chart.

    >>> from evaluator.cards import Deck
    >>> from evaluator.rules import Rules, Win
    >>> from evaluator.solve import solve
    >>> trips = Win("trips", "some(a,b,c: same(aF,bF,cF))")
    >>> tables = solve(Rules(Deck(("2", "3", "4", "5")), (), (trips,))).tables
    >>> found = derive_chart(tables, Paytable("", 1, (Fraction(3), Fraction(0))), ["trips"], (5, 5))
    >>> [line.text for line in found.chart.lines], found.cost
    (['trips', 'pair'], Fraction(0, 1))
    """
    make_view(tables)
    deals = _solve(tables, paytable)
    wild = wild_cards(tables, deals)
    view = make_view(tables, wild)
    keys, kind_of = np.unique(np.hstack([hold_keys(view, block) for block in deals.blocks]), return_inverse=True)
    kinds, kind_of = see(view, keys), kind_of.reshape(deals.values.shape)
    number = np.zeros(len(keys), np.int64)
    for mask in range(32):
        np.add.at(number, kind_of[mask], deals.weights)
    found = [line for line in candidates(view, tables, wins, kinds, number) if line.clauses != NOTHING]
    groups, whole = _groups(tables, paytable, deals, view, found, kind_of)
    sections = sorted(set(view.wild[deals.hands].sum(axis=1).tolist()), reverse=True)
    chosen, loss = search(groups, max(1, lines[bool(wild)] - len(sections)), whole // _MATTERS)
    said = []
    for section in sections:
        mine = [found[line] for line in chosen if found[line].wild == section]
        here = view.wild[deals.hands].sum(axis=1) == section
        fits = np.logical_or.reduce([line.fits for line in mine]) if mine else np.zeros(len(keys), bool)
        clauses = [line.clauses for line in mine]
        if not fits[kind_of[:, here]].any(axis=0).all():
            clauses.append(NOTHING)
        said += [(line_text(one, view.deck, wins), one, section if wild else None) for one in clauses]
    made = tuple(Line(i, text, clauses, section) for i, (text, clauses, section) in enumerate(said, start=1))
    return Derived(Chart(made, wild), Fraction(loss, whole))


def _solve(tables: Tables, paytable: Paytable) -> _Deals:
    """All holds of all hands; the counts of their draws, the bulk of a block, are dropped."""
    solved, values = [], []
    for block in blocks(tables):
        values.append(hold_values(tables, block, paytable.units, paytable.deal_units))
        solved.append(replace(block, counts=np.empty((32, len(block.hands), 0), np.int32)))
    weights, hands = ([getattr(block, name) for block in solved] for name in ("weights", "hands"))
    return _Deals(solved, np.hstack(values), np.concatenate(weights), np.concatenate(hands))


def wild_cards(tables: Tables, deals: _Deals) -> frozenset[int]:
    """The cards that optimal play all but always holds, of those that are alike to the rules all or none."""
    kind = tables.classes.child[0][0]
    held, dealt = np.zeros(int(kind.max()) + 1, np.int64), np.zeros(int(kind.max()) + 1, np.int64)
    optimal = optimal_holds(deals.values, np.zeros(len(deals.hands), np.uint32))
    for i in range(5):
        with_it = np.uint32(sum(1 << mask for mask in range(32) if mask >> i & 1))
        np.add.at(dealt, kind[deals.hands[:, i]], deals.weights)
        np.add.at(held, kind[deals.hands[:, i]], np.where(optimal & with_it, deals.weights, 0))
    always = held * _ALWAYS.denominator > dealt * _ALWAYS.numerator
    return frozenset(np.flatnonzero(always[kind]).tolist())


def _groups(
    tables: Tables, paytable: Paytable, deals: _Deals, view: View, lines: Sequence[Candidate], kind_of: NDArray[Any]
) -> tuple[Groups, int]:
    """The groups of hands that the same lines fit, and how many units of loss all credits bet are."""
    best, weights, n = deals.values.max(axis=0), deals.weights, len(deals.weights)
    most = tables.cycle * max(1, *map(abs, (*paytable.units, *(paytable.deal_units or ()))))
    unit = max(1, int(np.gcd.reduce(deals.values, axis=None)))
    kind = exact_type((2 + max(map(max, SCHEDULES))) * most // unit)
    worth, loss = ((values // unit).astype(kind) for values in (best, best - deals.values))
    sorts, sort_of = _reduce(np.array([line.fits for line in lines]))
    # Sixteen bits, if they are enough, are sorted many times faster.
    sort_of = sort_of.astype(np.uint16 if sorts.shape[1] <= 1 << 16 else np.intp)[kind_of]
    words = _words(sorts.T)
    group_of = _number(reduce(np.bitwise_or, (words[sort_of[mask]] for mask in range(32))))
    number = int(group_of.max()) + 1
    entries = list(_entries(sorts, sort_of, loss * weights, group_of, number))
    line = np.repeat(np.arange(len(lines), dtype=np.int32), [len(groups) for groups, _ in entries])
    group, lost = (np.concatenate(column) for column in zip(*entries, strict=True))
    order = np.argsort(group, kind="stable")
    start = np.searchsorted(group[order], np.arange(number + 1))
    is_wild = view.wild[deals.hands]
    bare = loss[(is_wild * (1 << np.arange(5))).sum(axis=1), np.arange(n)]
    sums = [_sum(group_of, values, number) for values in (weights, worth * weights, bare * weights)]
    whole = tables.cycle * paytable.scale * paytable.coins // unit
    return Groups(sums[0], sums[1], sums[2], start, line[order], lost[order], len(lines)), whole


def _sum(group_of: NDArray[Any], values: NDArray[Any], number: int) -> NDArray[Any]:
    sums = np.zeros(number, values.dtype)
    np.add.at(sums, group_of, values)
    return sums


def _reduce(fits: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """(lines, k): the same for the kinds that differ to any line, and which of those each kind is."""
    sort_of = _number(_words(fits.T))
    first = np.unique(sort_of, return_index=True)[1]
    return fits[:, first], sort_of


def _words(fits: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """(k, lines) as bits."""
    return np.packbits(fits, axis=1)


def _number(rows: NDArray[np.uint8]) -> NDArray[np.intp]:
    """(n,): equal rows get equal numbers, in the order of the rows' bytes."""
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.shape[1]))).ravel()
    number: NDArray[np.intp] = np.unique(whole, return_inverse=True)[1].ravel()
    return number


def _entries(
    sorts: NDArray[np.bool_], sort_of: NDArray[np.intp], loss: NDArray[Any], group_of: NDArray[np.intp], number: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[Any]]]:
    """For each line, the groups that it fits, and what it loses on each, the worst of several holds."""
    n = len(group_of)
    order = np.argsort(sort_of.ravel(), kind="stable")
    bounds = np.searchsorted(sort_of.ravel()[order], np.arange(sorts.shape[1] + 1))
    hand_of, losses = order % n, loss.ravel()[order]
    worst = np.empty(n, loss.dtype)
    for fits in sorts:
        parts = [slice(bounds[sort], bounds[sort + 1]) for sort in np.flatnonzero(fits).tolist()]
        hands = np.concatenate([hand_of[part] for part in parts])
        worst[hands] = -1
        np.maximum.at(worst, hands, np.concatenate([losses[part] for part in parts]))
        hands = _distinct(hands, n)
        groups = group_of[hands]
        sums = _sum(groups, worst[hands], number)
        groups = _distinct(groups, number)
        yield groups, sums[groups]


def _distinct(numbers: NDArray[np.intp], bound: int) -> NDArray[np.intp]:
    """The different numbers below a bound, ascending; without sorting them."""
    found = np.zeros(bound, bool)
    found[numbers] = True
    return np.flatnonzero(found)
