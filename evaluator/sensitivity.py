"""How the payback of one paytable answers to each of its pays.

Raise one pay by d and keep the strategy: every deal in which a hold wins V in L choices, n of them with that pay, wins
V + n d. So the payback grows by the frequency of the win for each unit, exactly, until another hold h of some hand
overtakes the best one, b, at

    d = (V_b - V_h) / (n_h - n_b)    for the least such d over all hands and holds with n_h > n_b

and for lower pays the same with n_h < n_b. Where several holds are best today, that with the greatest n is best just
above today's pay, and that with the least n just below: the payback has a kink there, and the changes next to today are
counted from these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.holds import HELD, Block, Tables, exact_type, hold_block, hold_values, lowest_hold, optimal_holds
from evaluator.payback import line_units
from evaluator.rules import Paytable

_ROWS, _ORDERED_ROWS = 4096, 512  # canonical hands worked on at once: measured best from 1024 to 8192


@dataclass(frozen=True)
class Change:
    """Where the best strategy changes next when one pay is raised, or lowered."""

    distance: Fraction
    """units from today's pay, above 0"""
    deals: int
    """for which another hold is best beyond"""
    hand: tuple[int, ...]
    """the first of them: card numbers"""
    before: int
    """mask of its best hold up to there; of several the lowest"""
    after: int
    """mask of its best hold beyond; of several the lowest"""

    def first(self, other: Change | None) -> Change:
        """The nearer of two changes of different hands; both together where they are equally near."""
        if other is None or self.distance < other.distance:
            return self
        return other if other.distance < self.distance else replace(self, deals=self.deals + other.deals)


@dataclass(frozen=True)
class Sensitivity:
    """What one pay does, over some rows under today's optimal play (ties by lowest-mask); disjoint rows add up."""

    lines: tuple[int, ...]
    """the lines of the paytable that are this pay, as in `evaluator.payback.line_units`"""
    combinations: int
    """of the cycle that win it"""
    just_below: int
    """under the strategy that is best for a pay just below today's; fewer only where holds are tied"""
    just_above: int
    """just above today's"""
    below: Change | None
    """the next change when the pay is lowered, however far; None if there is none"""
    above: Change | None
    """when it is raised"""

    def __add__(self, other: Sensitivity) -> Sensitivity:
        return Sensitivity(
            self.lines,
            self.combinations + other.combinations,
            self.just_below + other.just_below,
            self.just_above + other.just_above,
            other.below if self.below is None else self.below.first(other.below),
            other.above if self.above is None else self.above.first(other.above),
        )


def pay_lines(paytable: Paytable) -> list[tuple[int, ...]]:
    """The pays that can change by themselves, as lines; what pays the same on the deal goes with the pay on the draw.

    Paying nothing for nothing is no pay.

    >>> pay_lines(Paytable("", 1, (Fraction(9), Fraction(6), Fraction(0)), (Fraction(9), Fraction(8), Fraction(0))))
    [(0, 3), (1,), (4,)]
    """
    units, outcomes = line_units(paytable), len(paytable.pays)
    lines: list[tuple[int, ...]] = []
    for line in range(outcomes):
        dealt = line + outcomes
        if dealt < len(units) and units[dealt] == units[line]:
            lines.append((line, dealt))
        else:
            lines += [(number,) for number in (line, dealt) if number < len(units)]
    nothing = {outcomes - 1, 2 * outcomes - 1}
    return [some for some in lines if units[some[0]] or not nothing & {*some}]


def sensitivities(tables: Tables, paytable: Paytable, start: int = 0, stop: int | None = None) -> list[Sensitivity]:
    """One for each of `pay_lines`, over the canonical hands `start` to `stop`, all of them by default."""
    stop = len(tables.classes.weights) if stop is None else stop
    lines = pay_lines(paytable)
    totals = [Sensitivity(some, 0, 0, 0, None, None) for some in lines]
    step = _ROWS if tables.ordered is None else _ORDERED_ROWS
    for at in range(start, stop, step):
        block = hold_block(tables, at, min(at + step, stop))
        values = hold_values(tables, block, paytable.units, paytable.deal_units)
        optimal = optimal_holds(values, block.repeats)
        hold = lowest_hold(optimal)
        gap = values[hold, np.arange(len(hold))] - values
        totals = [
            total + _one(block, total.lines, _draws(tables, block, paytable, total.lines), gap, hold)
            for total in totals
        ]
    return totals


def _draws(tables: Tables, block: Block, paytable: Paytable, lines: Sequence[int]) -> NDArray[Any]:
    """(32, n) int64 or object: of a choice among L draws under each hold, how many win any of these lines."""
    outcomes = len(paytable.pays)
    kind = exact_type(tables.cycle_factor)
    draws = np.zeros(block.counts.shape[:2], kind)
    for line in lines:
        some = slice(None) if paytable.deal_units is None else slice(31, 32) if line >= outcomes else slice(31)
        draws[some] += block.counts[some, :, line % outcomes]
    draws *= np.array(tables.multipliers, kind)[list(HELD), None]
    return draws


def _one(
    block: Block, lines: tuple[int, ...], draws: NDArray[Any], gap: NDArray[Any], hold: NDArray[np.uint8]
) -> Sensitivity:
    """The sensitivity of one pay, from (32, n) `gap`, how much less each hold wins than the best."""
    best = gap == 0
    most = np.where(best, draws, -1).max(axis=0)
    least = np.where(best, draws, draws.max(initial=0)).min(axis=0)
    chosen = draws[hold, np.arange(len(hold))]
    below, above = (_next(block, gap, sign * (draws - edge), best) for sign, edge in ((-1, least), (1, most)))
    weights = block.weights.astype(object)
    today, under, over = (int(weights @ number.astype(object)) for number in (chosen, least, most))
    return Sensitivity(lines, today, under, over, below, above)


def _next(block: Block, gap: NDArray[Any], faster: NDArray[Any], best: NDArray[np.bool_]) -> Change | None:
    """The first hold to overtake the best one; `faster` is by how much the value of each hold grows faster than it."""
    # A quotient of rounded numbers is off by less than 2^-51 of itself: the least one is among these few, and is found
    # among them by exact fractions.
    quotients = np.full(gap.shape, np.inf)
    np.divide(gap, faster, out=quotients, where=faster > 0, dtype=np.float64, casting="unsafe")
    least = quotients.min(initial=np.inf)
    if least == np.inf:
        return None
    masks, rows = np.nonzero(quotients <= least * (1 + 2.0**-48))
    exact = [Fraction(int(a), int(b)) for a, b in zip(gap[masks, rows], faster[masks, rows], strict=True)]
    distance = min(exact)
    reached = [i for i, fraction in enumerate(exact) if fraction == distance]
    row = min(int(rows[i]) for i in reached)
    after = min(int(masks[i]) for i in reached if rows[i] == row)
    before = int(np.flatnonzero(best[:, row] & (faster[:, row] == 0))[0])
    deals = int(block.weights[np.unique(rows[reached])].sum())
    return Change(distance, deals, tuple(block.hands[row].tolist()), before, after)
