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
from dataclasses import dataclass, fields, replace
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
    """(bonuses + 1) * lines: combinations by bonus of the deal and line. The lines are the outcomes, the last nothing;
    then, where a hand held as dealt pays otherwise, the outcomes once more for such hands"""
    combinations_min: tuple[int, ...]
    """(lines): the fewest over all optimal strategies, for each line by itself"""
    combinations_max: tuple[int, ...]
    """(lines): the most"""
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
    def zero(cls, outcomes: int, lines: int | None = None, cells: int | None = None) -> Outcome:
        """The sums over no rows, for wins + 1 `outcomes`, so many lines, and lines times bonuses + 1 `cells`."""
        lines = outcomes if lines is None else lines
        per_line, per_cell = (0,) * lines, (0,) * (lines if cells is None else cells)
        return cls(0, 0, 0, per_cell, per_line, per_line, (0,) * outcomes, 0, 0, 0, 0, 0, 0, 0)

    @classmethod
    def none_of(cls, paytable: Paytable) -> Outcome:
        """The sums over no rows under a paytable."""
        lines = len(line_units(paytable))
        return cls.zero(len(paytable.pays), lines, lines * len(paytable.bonuses))

    @property
    def by_line(self) -> tuple[int, ...]:
        """(lines): combinations of each line, whatever the bonus."""
        lines = len(self.combinations_min)
        return tuple(sum(self.combinations[line::lines]) for line in range(lines))

    @property
    def by_bonus(self) -> tuple[int, ...]:
        """(bonuses + 1): combinations of each bonus, whatever the line."""
        lines = len(self.combinations_min)
        return tuple(sum(self.combinations[at : at + lines]) for at in range(0, len(self.combinations), lines))

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(*map(_add, vars(self).values(), vars(other).values()))


def _add(mine: Any, theirs: Any) -> Any:
    if isinstance(mine, tuple):
        return tuple(a + b for a, b in zip(mine, theirs, strict=True))
    return mine + theirs


@dataclass(frozen=True)
class Strategy:
    """Optimal play of the n rows of a block; masks refer to the cards of the row's hand."""

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


def joined(pieces: Sequence[Strategy]) -> Strategy:
    """The strategy of the rows of all pieces, one after the other."""
    if len(pieces) == 1:
        return pieces[0]
    columns = {field.name: [getattr(piece, field.name) for piece in pieces] for field in fields(Strategy)}
    numerators = columns.pop("numerators")
    rows: dict[str, NDArray[Any]] = {name: np.concatenate(column) for name, column in columns.items()}
    return Strategy(**rows, numerators=None if numerators[0] is None else np.concatenate(numerators, axis=1))


def certify_rows(
    tables: Tables, block: Block, paytable: Paytable, tie_break: str = "lowest-mask", all_holds: bool = False
) -> tuple[Outcome, Strategy]:
    """The sums over a block of rows, and the strategy; any number of paytables can share the block.

    Raises `ValueError` for pays that do not fit or an unknown rule, `ProofError` when the sums disagree.
    """
    rows = np.arange(len(block.weights))
    values = hold_values(tables, block, paytable.units, paytable.deal_units)
    optimal = optimal_holds(values, block.repeats)
    tied = np.flatnonzero(optimal & (optimal - np.uint32(1)))
    figures = _tied_figures(tables, block, paytable, tied)
    hold = lowest_hold(optimal)
    hold[tied] = choose(optimal[tied], figures[..., -1], tie_break)

    best, chosen = values[hold, rows], block.counts[hold, rows]
    outcome = _sum_rows(tables, block, paytable, hold, best, chosen)
    outcome = _spread(outcome, block.weights[tied], optimal[tied], hold[tied], figures)
    held, per_draw = np.array(HELD), np.array(tables.multipliers, values.dtype)
    draws = np.array(tables.draws)[held[hold]]
    numerator = best // per_draw[held[hold]]
    stake = paytable.scale * paytable.coins
    ev = (numerator / (draws.astype(exact_type(tables.draws[0] * stake)) * stake)).astype(np.float64)
    numerators = values // per_draw[held, None] if all_holds else None
    return outcome, Strategy(hold, optimal, draws, numerator, ev, chosen, numerators)


def line_units(paytable: Paytable) -> tuple[int, ...]:
    """What the lines of an `Outcome` pay, in units."""
    return paytable.units + (paytable.deal_units or ())


def _tied_figures(tables: Tables, block: Block, paytable: Paytable, tied: NDArray[np.intp]) -> NDArray[Any]:
    """(32, tied, lines + 2): combinations of each line, hits and squares for one deal, under each hold."""
    kind = exact_type(tables.cycle_factor * max(1, *(unit * unit for unit in line_units(paytable))))
    figures = np.zeros((32, len(tied), len(line_units(paytable)) + 2), kind)
    outcomes = len(paytable.pays)
    pat = slice(outcomes, 2 * outcomes) if paytable.deal_units else slice(outcomes)
    figures[:31, :, :outcomes] = block.counts[:31, tied]
    figures[31, :, pat] = block.counts[31, tied]
    paid = np.array(line_units(paytable), dtype=object)
    figures[..., -2:] = figures[..., :-2] @ np.column_stack([paid > 0, paid * paid]).astype(kind)
    figures[:, np.array(paytable.bonus_units)[block.bonuses[tied]] > 0, -2] = 0  # a deal with a bonus always pays
    figures *= np.array(tables.multipliers, kind)[list(HELD), None, None]
    return figures


def _sum_rows(
    tables: Tables, block: Block, paytable: Paytable, hold: NDArray[np.uint8], best: NDArray[Any], chosen: NDArray[Any]
) -> Outcome:
    """The sums under the chosen holds, their values and their counts, as if there were no ties."""
    weights, factor = block.weights, tables.cycle_factor
    combinations = _combinations(tables, block, paytable, hold, chosen)
    deals = int(weights.sum())
    paid = [line + bonus for bonus in paytable.bonus_units for line in line_units(paytable)]
    won = sum(number * unit for number, unit in zip(combinations, paid, strict=True))
    means, squared_means = _means(block, paytable, best, factor)
    if sum(combinations) != deals * factor or won != means:
        raise ProofError(
            f"canonical hands {block.start} to {block.stop}: {sum(combinations)} combinations win {won}; "
            f"expected {deals * factor} and {means}"
        )
    dealt = tuple(int(weights[block.outcomes == i].sum()) for i in range(len(paytable.pays)))
    lines = len(line_units(paytable))
    by_line = tuple(sum(combinations[line::lines]) for line in range(lines))
    hits = sum(number for number, unit in zip(combinations, paid, strict=True) if unit > 0)
    squares = sum(number * unit * unit for number, unit in zip(combinations, paid, strict=True))
    ranges = {"combinations_min": by_line, "combinations_max": by_line, "deal_combinations": dealt}
    return Outcome(
        len(hold), deals, 0, combinations, **ranges, hits=hits, hits_min=hits, hits_max=hits,
        squares=squares, squares_min=squares, squares_max=squares, squared_means=squared_means,
    )  # fmt: skip


def _means(block: Block, paytable: Paytable, best: NDArray[Any], factor: int) -> tuple[int, int]:
    """What the deals win on average, times L: the sum over the deals, and the sum of the squares."""
    first = second = 0
    for bonus, unit in enumerate(paytable.bonus_units):
        some = slice(None) if len(paytable.bonuses) == 1 else block.bonuses == bonus
        more, (deals, plain, square) = unit * factor, _moments(best[some], block.weights[some])
        first += plain + more * deals
        second += square + 2 * more * plain + more * more * deals
    return first, second


def _moments(values: NDArray[Any], weights: NDArray[np.int64]) -> tuple[int, int, int]:
    """The exact sums of the weights, of weight * value and of weight * value**2; no value is negative.

    Values are cut into digits so short that no product and no sum of them leaves 64 bits.

    >>> _moments(np.array([3, 2**62]), np.array([1, 2])) == (3, 3 + 2**63, 9 + 2**125)
    True
    """
    if values.min(initial=0) < 0:
        raise ValueError(f"expected no negative value, found {values.min()}")
    total = int(weights.sum())
    size = max(1, (63 - total.bit_length()) // 2)
    digits = []
    while values.any():
        digits.append((values & ((1 << size) - 1)).astype(np.int64))
        values = values >> size
    weighted = [weights * digit for digit in digits]
    plain = sum(int(digit.sum()) << size * i for i, digit in enumerate(weighted))
    square = sum(
        int(mine @ theirs) << size * (i + j) for i, mine in enumerate(weighted) for j, theirs in enumerate(digits)
    )
    return total, plain, square


def _combinations(
    tables: Tables, block: Block, paytable: Paytable, hold: NDArray[np.uint8], chosen: NDArray[Any]
) -> tuple[int, ...]:
    """Combinations under the chosen holds, for each bonus and then each line."""
    kind = exact_type(tables.cycle)  # no sum of combinations is above it
    per_row = block.weights.astype(kind) * np.array(tables.multipliers, kind)[np.array(HELD)[hold]]
    chosen = chosen.astype(kind)
    if paytable.deal_units:
        pat = (hold == 31)[:, None]
        chosen = np.hstack([np.where(pat, 0, chosen), np.where(pat, chosen, 0)])
    combinations: list[int] = []
    for bonus in range(len(paytable.bonuses)):
        some = slice(None) if len(paytable.bonuses) == 1 else block.bonuses == bonus
        combinations += [int(number) for number in per_row[some] @ chosen[some]]
    return tuple(combinations)


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
    return outcome + replace(
        Outcome.zero(len(outcome.deal_combinations), len(low) - 2, len(outcome.combinations)),
        tied_deals=int(weights.sum()),
        combinations_min=tuple(low[:-2]),
        combinations_max=tuple(high[:-2]),
        hits_min=low[-2],
        hits_max=high[-2],
        squares_min=low[-1],
        squares_max=high[-1],
    )
