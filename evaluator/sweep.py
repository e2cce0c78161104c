"""Exact paybacks of any number of paytables at once.

The counts of a game do not depend on what it pays, and most holds are best under none of the paytables asked for: those
go first, by bounds over the box around all paytables (`evaluator.candidates`). What is left is cut in two by one pay
again and again; each half is a smaller box, in which fewer hands are open. Small enough, the best holds of the open
hands are found for all its paytables by one matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.candidates import Candidates, Layout, best_sums, find_candidates, join, make_layout, narrow
from evaluator.holds import Tables, exact_type, hold_block
from evaluator.rules import Paytable
from evaluator.symmetry import ProofError

_LEAF = 64  # paytables that are not divided further: measured best from 16 to 128
_ROWS = 8192  # canonical hands whose counts are made at once
_ORDERED_ROWS = 512  # where each may have 120 rows


@dataclass(frozen=True)
class Swept:
    """Exact sums over some canonical hands under optimal play of each of P paytables; those of disjoint rows add up.

    Ties are resolved by lowest-mask. Python integers in arrays of dtype object.
    """

    won: NDArray[np.object_]
    """(P,): units won in all combinations"""
    squares: NDArray[np.object_]
    """(P,): sum over the combinations of the squared win"""
    hits: NDArray[np.object_]
    """(P,): combinations that pay anything"""
    rows: int
    """hands, and arrangements of hands where order matters"""
    holds: int
    """of these, holds that can be best under some paytable within the box around all"""
    decided: int
    """rows with one such hold"""

    def __add__(self, other: Swept) -> Swept:
        return Swept(
            self.won + other.won,
            self.squares + other.squares,
            self.hits + other.hits,
            self.rows + other.rows,
            self.holds + other.holds,
            self.decided + other.decided,
        )


@dataclass(frozen=True)
class Pays:
    """What P paytables pay, as integers over one scale."""

    scale: int
    """units in a credit"""
    units: NDArray[Any]
    """(P, wins + 1), or twice as many columns with those of hands held as dealt; int64 or object"""
    bonuses: NDArray[Any]
    """(P, bonuses + 1): units for the deal beside the draw"""

    def __post_init__(self) -> None:
        if len(self.units) != len(self.bonuses) or not len(self.units) or min(self.units.min(), self.bonuses.min()) < 0:
            raise ValueError(
                f"expected pays of at least one paytable, none below 0; found {self.units.shape} and "
                f"{self.bonuses.shape}, the least {self.units.min(initial=0)} and {self.bonuses.min(initial=0)}"
            )


def collect_pays(paytables: Sequence[Paytable]) -> Pays:
    """The pays of any paytables of one game, at least one.

    >>> from fractions import Fraction
    >>> half = Paytable("", 1, (Fraction(3, 2), Fraction(0)))
    >>> collect_pays([half, Paytable("", 1, (Fraction(2), Fraction(0)))]).units.tolist()
    [[3, 0], [4, 0]]
    """
    scale = lcm(*(table.scale for table in paytables))
    on_deal = any(table.on_deal for table in paytables)
    units = []
    for table in paytables:
        lines = table.units + (table.deal_units or table.units if on_deal else ())
        units.append([unit * (scale // table.scale) for unit in lines])
    bonuses = [[unit * (scale // table.scale) for unit in table.bonus_units] for table in paytables]
    return Pays(scale, _array(units), _array(bonuses))


def _array(units: list[list[int]]) -> NDArray[Any]:
    return np.array(units, exact_type(max(map(max, units))))


def sweep(tables: Tables, pays: Pays, start: int = 0, stop: int | None = None) -> Swept:
    """The exact sums of every paytable over the canonical hands `start` to `stop`, all of them by default.

    Raises `ProofError` where the combinations do not add up, `ValueError` for pays that do not fit the game.

    >>> from evaluator.rules import Win, Rules
    >>> from evaluator.cards import Deck
    >>> from evaluator.solve import solve
    >>> game = solve(Rules(Deck(("2", "3", "4")), (), (Win("pair", "some(a,b: same(aF,bF){4})"),)))
    >>> swept = sweep(game.tables, Pays(1, np.array([[1, 0], [2, 0]]), np.zeros((2, 1), int)))
    >>> swept.won.tolist(), swept.hits.tolist(), game.tables.cycle
    ([82320, 164640], [82320, 82320], 83160)
    """
    layout = make_layout(pays.units, tables.counts[0].shape[1], pays.bonuses.shape[1])
    opened = open_candidates(tables, layout, start, stop)
    cells = np.empty((len(pays.units), layout.cells), object)
    _divide(opened.candidates, opened.sums, layout.points, np.arange(len(cells)), cells)
    wrong = np.flatnonzero(cells.sum(axis=1) != opened.deals * tables.cycle_factor)
    if len(wrong):
        raise ProofError(
            f"paytable {wrong[0]}: {cells[wrong[0]].sum()} combinations, expected {opened.deals * tables.cycle_factor}"
        )
    won, squares, hits = figures(layout, cells, pays.bonuses)
    return Swept(won, squares, hits, opened.rows, opened.holds, opened.decided)


@dataclass(frozen=True)
class Opened:
    """The holds that can be best in the box around all paytables, and the sums of the hands that are decided."""

    candidates: Candidates
    """of the hands that are not decided"""
    sums: NDArray[np.object_]
    """(cells): combinations of those that are"""
    rows: int
    """all rows"""
    deals: int
    """they stand for"""
    holds: int
    """candidates and the holds of decided hands"""
    decided: int
    """rows that are decided"""


def open_candidates(tables: Tables, layout: Layout, start: int = 0, stop: int | None = None) -> Opened:
    """Find the candidates of the canonical hands `start` to `stop`, some thousand at a time."""
    stop = len(tables.classes.weights) if stop is None else stop
    box = layout.points.min(axis=0), layout.points.max(axis=0)
    step = _ROWS if tables.ordered is None else _ORDERED_ROWS
    parts, sums, rows, deals, decided = [], np.zeros(layout.cells, object), 0, 0, 0
    for at in range(start, stop, step):
        block = hold_block(tables, at, min(at + step, stop))
        left = narrow(find_candidates(tables, block, layout), box)
        parts.append(left.candidates)
        sums = sums + left.decided
        rows += len(block.weights)
        deals += int(block.weights.sum())
        decided += left.hands
    candidates = join(parts)
    return Opened(candidates, sums, rows, deals, len(candidates) + decided, decided)


def _divide(
    candidates: Candidates,
    sums: NDArray[np.object_],
    points: NDArray[Any],
    places: NDArray[np.intp],
    cells: NDArray[np.object_],
) -> None:
    """Write the cells of the paytables at `places`: candidates narrowed to a box around them, halves in turn."""
    here = points[places]
    box = here.min(axis=0), here.max(axis=0)
    left = narrow(candidates, box)
    sums = sums + left.decided
    if len(places) <= _LEAF or not len(left.candidates) or not left.spread.any():
        cells[places] = best_sums(left.candidates, here) + sums
        return
    column = here[:, 1 + int(np.argmax(left.spread))]
    # The greatest value is never below the cut, the least always.
    cut = max(np.sort(column)[len(column) // 2], column[column > column.min()].min())
    for some in (column < cut, column >= cut):
        _divide(left.candidates, sums, points, places[some], cells)


def figures(layout: Layout, cells: NDArray[np.object_], bonuses: NDArray[Any]) -> tuple[NDArray[np.object_], ...]:
    """Units won, squares and hits, (P,) each, from the (P, cells) combinations; Python integers."""
    paid = np.hstack(
        [layout.units.astype(object) + bonuses[:, bonus, None].astype(object) for bonus in range(layout.bonuses)]
    )
    return (cells * paid).sum(axis=1), (cells * paid * paid).sum(axis=1), (cells * (paid > 0)).sum(axis=1)
