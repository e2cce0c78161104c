"""Optimal play of canonical hands under one paytable: exact sums that add up, and the strategy row by row.

Every hold of a hand is a choice among the same number L of draws, counted with multiplicity: a hold with `draws` draws
takes each L / draws times. So a deal and its draw are one of C(N, 5) * L equally likely combinations, and all that a
certificate states is a sum over them, divided once at the end. An `Outcome` is such a sum over some rows: outcomes of
disjoint rows add up, whatever the order.

Where several holds are optimal, the payback is the same under each; the number of combinations of a win, of paying
combinations, and the square of what is won are not. Their least and greatest values over all optimal strategies are
kept beside those of the strategy that the tie rule takes. Rows are independent, so each is a sum of least or greatest
values of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.holds import HELD, Block, Tables, choose, exact_type, hold_values, lowest_hold, optimal_holds
from evaluator.rules import Paytable
from evaluator.symmetry import ProofError


@dataclass(frozen=True)
class Outcome:
    """Exact sums over some canonical hands under optimal play; Python integers.

    Combinations are of the cycle; squares and means are in units, credits times the paytable's scale.

    >>> Outcome.zero(2) + Outcome.zero(2) == Outcome.zero(2)
    True
    """

    rows: int
    """canonical hands"""
    deals: int
    """deals they stand for"""
    tied_deals: int
    """of these, deals with several optimal holds"""
    combinations: tuple[int, ...]
    """(wins + 1): combinations that end in each outcome; the last is nothing"""
    combinations_min: tuple[int, ...]
    """(wins + 1): the fewest over all optimal strategies, for each outcome by itself"""
    combinations_max: tuple[int, ...]
    """(wins + 1): the most"""
    deal_combinations: tuple[int, ...]
    """(wins + 1): deals that are each outcome already"""
    hits: int
    """combinations that pay anything"""
    hits_min: int
    """the fewest over all optimal strategies"""
    hits_max: int
    """the most"""
    squares: int
    """sum over the combinations of the squared win"""
    squares_min: int
    """the least over all optimal strategies"""
    squares_max: int
    """the greatest"""
    squared_means: int
    """sum over the deals of the square of L times the mean win of the deal"""

    @classmethod
    def zero(cls, outcomes: int) -> Outcome:
        """The sums over no rows, for wins + 1 `outcomes`."""
        none = (0,) * outcomes
        return cls(0, 0, 0, none, none, none, none, 0, 0, 0, 0, 0, 0, 0)

    def __add__(self, other: Outcome) -> Outcome:
        pairs = ((getattr(self, field.name), getattr(other, field.name)) for field in fields(self))
        return Outcome(*(_add(mine, theirs) for mine, theirs in pairs))


def _add(mine: Any, theirs: Any) -> Any:
    if isinstance(mine, tuple):
        return tuple(a + b for a, b in zip(mine, theirs, strict=True))
    return mine + theirs


@dataclass(frozen=True)
class Strategy:
    """Optimal play of n consecutive canonical hands; masks refer to the cards of the row's hand."""

    start: int
    """the first row"""
    hold: NDArray[np.uint8]
    """(n,): the mask of the chosen hold"""
    optimal_holds: NDArray[np.uint32]
    """(n,): bit set of the masks of all optimal holds"""
    draws: NDArray[np.int64]
    """(n,): how many draws the chosen hold has"""
    ev_numerator: NDArray[Any]
    """(n,) int64 or object: units won over all these draws; the mean win in credits is this / (draws * scale)"""
    ev: NDArray[np.float64]
    """(n,): credits won per credit bet, on average; for people"""
    counts: NDArray[Any]
    """(n, wins + 1): draws that end in each outcome under the chosen hold"""
    numerators: NDArray[Any] | None
    """(32, n) int64 or object, where asked for: units won over all the draws of each hold"""


def certify_rows(
    tables: Tables, block: Block, paytable: Paytable, tie_break: str = "lowest-mask", all_holds: bool = False
) -> tuple[Outcome, Strategy]:
    """The sums over a block of rows, and the strategy; any number of paytables can share the block.

    Raises `ValueError` for pays that do not fit or an unknown rule, `ProofError` when the sums disagree.
    """
    units, lines = paytable.units, np.arange(block.stop - block.start)
    values = hold_values(tables, block, units)
    optimal = optimal_holds(values, block.repeats)
    tied = np.flatnonzero(optimal & (optimal - np.uint32(1)))
    figures = _tied_figures(tables, block, units, tied)
    hold = lowest_hold(optimal)
    hold[tied] = choose(optimal[tied], figures[..., -1], tie_break)

    outcome = _sum_rows(tables, block, units, hold, values[hold, lines])
    outcome = _spread(outcome, tables.classes.weights[block.start + tied], optimal[tied], hold[tied], figures)
    held, per_draw = np.array(HELD), np.array(tables.multipliers, values.dtype)
    draws = np.array(tables.draws)[held[hold]]
    numerator = values[hold, lines] // per_draw[held[hold]]
    stake = paytable.scale * paytable.coins
    ev = (numerator / (draws.astype(exact_type(tables.draws[0] * stake)) * stake)).astype(np.float64)
    numerators = values // per_draw[held, None] if all_holds else None
    return outcome, Strategy(block.start, hold, optimal, draws, numerator, ev, block.counts[hold, lines], numerators)


def _tied_figures(tables: Tables, block: Block, units: Sequence[int], tied: NDArray[np.intp]) -> NDArray[Any]:
    """(32, tied, wins + 3): combinations of each outcome, hits and squares for one deal, under each hold."""
    kind = exact_type(tables.cycle_factor * max(1, *(unit * unit for unit in units)))
    paid = np.array(units, dtype=object)
    figures = np.empty((32, len(tied), len(units) + 2), kind)
    figures[..., :-2] = block.counts[:, tied]
    figures[..., -2:] = figures[..., :-2] @ np.column_stack([paid > 0, paid * paid]).astype(kind)
    figures *= np.array(tables.multipliers, kind)[list(HELD), None, None]
    return figures


def _sum_rows(
    tables: Tables, block: Block, units: Sequence[int], hold: NDArray[np.uint8], best: NDArray[Any]
) -> Outcome:
    """The sums under the chosen holds, as if there were no ties."""
    weights = tables.classes.weights[block.start : block.stop]
    kind = exact_type(tables.cycle)  # no sum of combinations is above it
    per_row = weights.astype(kind) * np.array(tables.multipliers, kind)[np.array(HELD)[hold]]
    chosen = block.counts[hold, np.arange(len(hold))]
    combinations = tuple(int(number) for number in per_row @ chosen.astype(kind))
    deals, won = int(weights.sum()), sum(number * unit for number, unit in zip(combinations, units, strict=True))
    different, which = np.unique(best, return_inverse=True)
    times = np.zeros(len(different), np.int64)
    np.add.at(times, which, weights)
    # Many deals have the same mean, so few products of Python's integers are left.
    means, mean_deals = different.astype(object), times.astype(object)
    if sum(combinations) != deals * tables.cycle_factor or won != means @ mean_deals:
        raise ProofError(
            f"rows {block.start} to {block.stop}: {sum(combinations)} combinations win {won}; "
            f"expected {deals * tables.cycle_factor} and {means @ mean_deals}"
        )
    outcomes = tables.outcomes[block.start : block.stop]
    dealt = tuple(int(weights[outcomes == i].sum()) for i in range(len(units)))
    hits = sum(number for number, unit in zip(combinations, units, strict=True) if unit > 0)
    squares = sum(number * unit * unit for number, unit in zip(combinations, units, strict=True))
    squared_means = int((means * means) @ mean_deals)
    ranges = {"combinations_min": combinations, "combinations_max": combinations, "deal_combinations": dealt}
    return Outcome(
        len(hold), deals, 0, combinations, **ranges, hits=hits, hits_min=hits, hits_max=hits,
        squares=squares, squares_min=squares, squares_max=squares, squared_means=squared_means,
    )  # fmt: skip


def _spread(
    outcome: Outcome,
    weights: NDArray[np.int64],
    optimal: NDArray[np.uint32],
    hold: NDArray[np.uint8],
    figures: NDArray[Any],
) -> Outcome:
    """Widen the ranges by what the tied rows can do otherwise; all arguments but `outcome` are of these rows."""
    allowed = (optimal >> np.arange(32, dtype=np.uint32)[:, None] & np.uint32(1)).astype(bool)[..., None]
    chosen = figures[hold, np.arange(len(hold))]
    least = np.where(allowed, figures, figures.max(initial=0)).min(axis=0) - chosen
    most = np.where(allowed, figures, 0).max(axis=0) - chosen
    # One row fits its type, the sum over rows need not.
    kind = exact_type(int(max(-least.min(initial=0), most.max(initial=0))) * int(weights.sum()))
    low, high = (list(map(int, weights.astype(kind) @ spread.astype(kind))) for spread in (least, most))
    return outcome + Outcome(
        0, 0, int(weights.sum()), (0,) * len(outcome.combinations), tuple(low[:-2]), tuple(high[:-2]),
        (0,) * len(outcome.combinations), 0, low[-2], high[-2], 0, low[-1], high[-1], 0,
    )  # fmt: skip
