"""Progressives: the payback as an exact function of the meter, which is what one win pays.

Under meter m a hold that ends in the win in B of L combinations, and wins A credits in the others, is worth A + B m. A
row is worth the best of its 32 lines, their upper envelope, so the payback is convex, never falling, and linear but for
finitely many *break points*. At a break point the holds on both sides are optimal:

    worth                     /  B = 47
      |                     /
      |  B = 1    _____---/      to the left of the break point the hold of slope 1 is best,
      |_____-----       /        to the right the hold of slope 47
      |               /
      +-------------|------- m

A `Curve` is what some rows add to a range of meters; curves of disjoint rows add up, whatever the order. A break point
of a row is where two integer lines cross: numerators and denominators are compared by cross-multiplication, in 64-bit
integers where a bound proves that they suffice.

A pay on the deal is on the meter if it is the same as the pay of the final hand, and fixed if it is another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil, gcd
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck
from evaluator.holds import Block, Tables, cycle_factor, deal_count, exact_type, hold_block, hold_values
from evaluator.rules import Paytable, Progressive
from evaluator.symmetry import ProofError


@dataclass(frozen=True)
class Curve:
    """What some rows win under every meter of a range, under optimal play; exact sums.

    >>> flat = Curve.zero(Fraction(0), Fraction(9))
    >>> rising = Curve(Fraction(0), Fraction(9), 1, Fraction(7), 2, {(9, 2): 3})
    >>> (flat + rising + rising).breaks
    {(9, 2): 6}
    """

    low: Fraction
    """the least meter, in credits"""
    high: Fraction
    """the greatest"""
    deals: int
    """deals that the rows stand for"""
    value: Fraction
    """credits won at `low`, over all combinations of these deals"""
    combinations: int
    """combinations that end in the win just above `low`: the slope of the curve"""
    breaks: Mapping[tuple[int, int], int]
    """break point above `low` and up to `high`, as numerator and denominator in lowest terms -> rise of the slope"""

    @classmethod
    def zero(cls, low: Fraction, high: Fraction) -> Curve:
        """The curve of no rows."""
        return cls(low, high, 0, Fraction(0), 0, {})

    def __add__(self, other: Curve) -> Curve:
        if (self.low, self.high) != (other.low, other.high):
            raise ValueError(f"curves of {self.low} to {self.high} and of {other.low} to {other.high} do not add up")
        breaks = dict(self.breaks)
        for at, rise in other.breaks.items():
            breaks[at] = breaks.get(at, 0) + rise
        return Curve(
            self.low,
            self.high,
            self.deals + other.deals,
            self.value + other.value,
            self.combinations + other.combinations,
            breaks,
        )


@dataclass(frozen=True)
class Segment:
    """A range of meters without a break point inside: one strategy is optimal throughout."""

    low: Fraction
    """the least meter, in credits"""
    high: Fraction
    """the greatest"""
    payback: Fraction
    """at `low`"""
    slope: Fraction
    """payback per credit of the meter: the frequency of the win, divided by the bet"""
    combinations: int
    """of the cycle, that end in the win"""

    def at(self, meter: Fraction) -> Fraction:
        """The payback under a meter of this range."""
        return self.payback + self.slope * (meter - self.low)


@dataclass(frozen=True)
class MeterSummary:
    """What a certificate states about a progressive."""

    payback: Fraction
    """at the reset"""
    slope: Fraction
    """payback per credit of the meter just above the reset"""
    break_even: Fraction | None
    """the least meter under which the payback is 1; None where it is above 1 even without the meter"""


def progressive_of(paytable: Paytable) -> Progressive:
    """The meter of a paytable; raises `ValueError` where it has none."""
    if paytable.progressive is None:
        raise ValueError(f"no win of paytable {paytable.label!r} is paid a meter")
    return paytable.progressive


# --- rows -------------------------------------------------------------------------------------------------------------


def meter_lines(tables: Tables, block: Block, paytable: Paytable, low: Fraction, high: Fraction) -> Curve:
    """The curve of a block of rows under a paytable whose progressive win is paid a meter from `low` to `high`.

    Raises `ValueError` for a paytable without a progressive and for a range that is none.
    """
    if not 0 <= low <= high:
        raise ValueError(f"expected a range of meters from 0 upwards, found {low} to {high}")
    win = progressive_of(paytable).win
    fixed, fixed_deal, metered, metered_deal = _split(paytable, win)
    constant = hold_values(tables, block, fixed, fixed_deal)
    rising = hold_values(tables, block, metered, metered_deal)
    scale, factor = paytable.scale, tables.cycle_factor
    top = factor * max(fixed + (fixed_deal or ()))  # no constant is above it, and no slope above `factor`
    value, slope, per = _best(constant, rising, low * scale, top, factor)
    _, end, _ = _best(constant, rising, high * scale, top, factor)
    weights = block.weights
    kind = exact_type(tables.deals * (top * per + factor * (low * scale).numerator))
    total = int(weights.astype(kind) @ value.astype(kind))
    bonuses = sum(
        unit * factor * int(weights[block.bonuses == bonus].sum()) for bonus, unit in enumerate(paytable.bonus_units)
    )
    turning = np.flatnonzero(end != slope)
    intercept = (value[turning].astype(object) - slope[turning].astype(object) * (low * scale).numerator) // per
    breaks = _walk(constant[:, turning], rising[:, turning], intercept, slope[turning], end[turning], top * factor)
    return Curve(
        low,
        high,
        int(weights.sum()),
        Fraction(total, per * scale) + Fraction(bonuses, scale),
        int(weights.astype(exact_type(tables.cycle)) @ slope.astype(exact_type(tables.cycle))),
        _gather(breaks, weights[turning], scale),
    )


Units = tuple[int, ...]


def _split(paytable: Paytable, win: int) -> tuple[Units, Units | None, Units, Units | None]:
    """The units that stay, and those of the meter, for final hands and for hands held as dealt."""

    def fixed(units: Units) -> Units:
        return (*units[:win], 0, *units[win + 1 :])

    single = tuple(int(outcome == win) for outcome in range(len(paytable.units)))
    dealt = paytable.deal_units
    if dealt is None:
        return fixed(paytable.units), None, single, None
    if dealt[win] == paytable.units[win]:
        return fixed(paytable.units), fixed(dealt), single, single
    return fixed(paytable.units), dealt, single, (0,) * len(single)


def _best(
    constant: NDArray[Any], rising: NDArray[Any], meter: Fraction, top: int, factor: int
) -> tuple[NDArray[Any], NDArray[Any], int]:
    """For each row the greatest value under a meter (in units) times its denominator, which is the third result, and
    the greatest slope among the holds that have this value."""
    per = meter.denominator
    kind = exact_type(top * per + factor * meter.numerator)
    values = constant.astype(kind) * per
    values += rising.astype(kind) * meter.numerator
    value = values.max(axis=0)
    slope = np.where(values == value, rising, 0).max(axis=0)
    return value, slope, per


Crossings = list[tuple[NDArray[np.intp], NDArray[Any], NDArray[Any]]]
"""rows, and numerators and denominators of where their envelope turns; the denominator is the rise of the slope too"""


def _walk(
    constant: NDArray[Any], rising: NDArray[Any], intercept: NDArray[Any], slope: NDArray[Any], end: NDArray[Any],
    bound: int,
) -> Crossings:  # fmt: skip
    """Follow the envelope of each row from the line it starts on to the line of slope `end`; at each turn the next line
    is that which the present one meets first, and the steepest of several."""
    kind = exact_type(bound)  # of a numerator times a denominator
    constant, rising, intercept, slope, end = (v.astype(kind) for v in (constant, rising, intercept, slope, end))
    rows = np.arange(len(slope))
    crossings: Crossings = []
    while len(rows):
        numerator, denominator = _first_crossing(intercept - constant, rising - slope)
        if not (denominator > 0).all():
            raise ProofError(f"{int((denominator <= 0).sum())} rows have no line of the slope that they must end with")
        crossings.append((rows, numerator, denominator))
        intercept, slope = intercept - numerator, slope + denominator
        going = slope != end
        rows, intercept, slope, end = rows[going], intercept[going], slope[going], end[going]
        constant, rising = constant[:, going], rising[:, going]
    return crossings


def _first_crossing(numerators: NDArray[Any], denominators: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """For each column the least fraction with a positive denominator, and of equal ones that of the greatest.

    >>> _first_crossing(np.array([[6], [2], [4], [-9]]), np.array([[2], [1], [2], [-3]]))
    (array([4]), array([2]))
    """
    numerator, denominator = np.zeros_like(numerators[0]), np.zeros_like(denominators[0])
    for up, down in zip(numerators, denominators, strict=True):
        ours, theirs = up * denominator, numerator * down
        better = (denominator == 0) | (ours < theirs) | ((ours == theirs) & (down > denominator))
        better &= down > 0
        numerator, denominator = np.where(better, up, numerator), np.where(better, down, denominator)
    return numerator, denominator


def _gather(crossings: Crossings, weights: NDArray[np.int64], scale: int) -> dict[tuple[int, int], int]:
    """Break points in credits, each once, with the rise of the slope over all deals."""
    breaks: dict[tuple[int, int], int] = {}
    for rows, numerators, denominators in crossings:
        for weight, up, down in zip(weights[rows].tolist(), numerators.tolist(), denominators.tolist(), strict=True):
            common = gcd(up, down * scale)
            at = up // common, down * scale // common
            breaks[at] = breaks.get(at, 0) + weight * down
    return breaks


# --- whole games ------------------------------------------------------------------------------------------------------


def whole_curve(tables: Tables, paytable: Paytable, low: Fraction, high: Fraction, rows: int) -> Curve:
    """The curve of all canonical hands, so many `rows` of them at a time."""
    count = len(tables.outcomes)
    blocks = (hold_block(tables, start, min(start + rows, count)) for start in range(0, count, rows))
    curves = (meter_lines(tables, block, paytable, low, high) for block in blocks)
    return reduce(add, curves, Curve.zero(low, high))


def summarise_curve(curve: Curve, deck: Deck, paytable: Paytable, ordered: bool = False) -> tuple[Segment, ...]:
    """The segments between the break points of a curve of all deals, in a game where order matters if `ordered`.

    There is at least one; a break point at the end of the range starts none. Raises `ProofError` where deals are
    missing.
    """
    deals = deal_count(deck, ordered)
    if curve.deals != deals:
        raise ProofError(f"deals of the curve: {curve.deals}, expected {deals}")
    bet = deals * cycle_factor(deck, ordered) * paytable.coins
    turns = sorted((Fraction(*at), rise) for at, rise in curve.breaks.items())
    inside = [(at, rise) for at, rise in turns if at < curve.high]
    ends = [at for at, _ in inside] + [curve.high]
    low, combinations = curve.low, curve.combinations
    intercept = curve.value - combinations * low
    segments = [Segment(low, ends[0], curve.value / bet, Fraction(combinations, bet), combinations)]
    for (at, rise), end in zip(inside, ends[1:], strict=True):
        combinations, intercept = combinations + rise, intercept - rise * at
        segments.append(
            Segment(at, end, (intercept + combinations * at) / bet, Fraction(combinations, bet), combinations)
        )
    return tuple(segments)


def break_even(segments: Sequence[Segment]) -> Fraction | None:
    """The least meter of some segments, one after the other, under which the payback is 1; None where it is outside.

    >>> break_even([Segment(Fraction(2), Fraction(5), Fraction(1, 2), Fraction(1, 4), 1)])
    Fraction(4, 1)
    """
    if segments[0].payback > 1:
        return None
    for segment in segments:
        if segment.at(segment.high) >= 1:
            missing = 1 - segment.payback
            return segment.low + (missing / segment.slope if missing else 0)
    return None


def summarise_meter(tables: Tables, paytable: Paytable, rows: int) -> tuple[MeterSummary, tuple[Segment, ...]]:
    """The figures of a progressive, and the segments of the range that was searched for the break-even meter.

    The payback is convex, so it is at least its tangent at the reset, which reaches 1 at reset + (1 - payback) / slope:
    no further need be searched. Where the payback at the reset is 1 or more, the range is from 0 to the reset.
    """
    reset = progressive_of(paytable).reset
    deck, ordered = tables.classes.deck, tables.ordered is not None

    def between(low: Fraction, high: Fraction) -> tuple[Segment, ...]:
        return summarise_curve(whole_curve(tables, paytable, low, high, rows), deck, paytable, ordered)

    at_reset = between(reset, reset)[0]
    if at_reset.payback >= 1:
        segments = between(Fraction(0), reset)
    elif at_reset.slope:
        segments = between(reset, Fraction(ceil(reset + (1 - at_reset.payback) / at_reset.slope)))
    else:  # optimal play at the reset never wins the meter; under a high one it does
        high = max(2 * reset, Fraction(paytable.coins))
        while between(high, high)[0].payback < 1:
            high *= 2
        segments = between(reset, high)
    return MeterSummary(at_reset.payback, at_reset.slope, break_even(segments)), segments


def part_of(segments: Sequence[Segment], low: Fraction, high: Fraction) -> tuple[Segment, ...]:
    """The part of some segments, one after the other, that lies from `low` to `high`; both must be within them.

    >>> whole = [Segment(Fraction(0), Fraction(9), Fraction(1, 2), Fraction(1, 4), 1)]
    >>> part_of(whole, Fraction(2), Fraction(3))[0].payback
    Fraction(1, 1)
    """
    if not segments[0].low <= low <= high <= segments[-1].high:
        raise ValueError(f"{low} to {high} is not within {segments[0].low} to {segments[-1].high}")
    kept = [s for s in segments if s.high > low and s.low < high]
    if low == high:
        kept = [s for s in segments if s.low <= low <= s.high][-1:]
    return tuple(
        Segment(max(low, s.low), min(high, s.high), s.at(max(low, s.low)), s.slope, s.combinations) for s in kept
    )
