"""The plots of a PAR sheet, each with a sentence that says what to see, computed from the exact values."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from evaluator.holds import cycle_factor, exact_type
from evaluator.payback import line_units
from evaluator.summary import CONFIDENCES
from evaluator.symmetry import ProofError
from pipeline.certificate import Certificate
from pipeline.check_table import numbers
from pipeline.meter import solved_curve
from pipeline.open_run import Place
from pipeline.report import plots
from pipeline.report.pages import grouped, percent, places
from pipeline.tasks import solved

MOST_GAMES = 10**12
"""a number of games above it is not written out"""


@dataclass(frozen=True)
class Figure:
    """A plot and what to see in it."""

    svg: Markup
    """the plot"""
    sentence: str
    """for everybody, whether or not they see the plot"""


def row_name(win: dict[str, str]) -> str:
    """The name of an outcome; with what it is paid for, unless that is the final hand."""
    return win["name"] + {"draw": "", "deal": " (held as dealt)", "bonus": " (bonus of the deal)"}[win["on"]]


def contributions(content: Certificate) -> Figure | None:
    """What each win adds to the payback; None where nothing is paid."""
    rows = [win for win in content["wins"] if Fraction(win["contribution"])]
    if not rows:
        return None
    most = max(rows, key=lambda win: Fraction(win["contribution"]))
    sentence = (
        f"Of the payback of {percent(content['payback'], 3)}, most comes from {row_name(most)}: "
        f"{percent(most['contribution'], 3)} of what is bet, or {percent(most['share_of_payback'], 1)} of the payback."
    )
    top = [win for win in rows if win["pays"] == content["top_award"]["pays"] and win is not most]
    if top:
        shares = sum((Fraction(win["contribution"]) for win in top), Fraction(0))
        sentence += f" The top award, {' and '.join(map(row_name, top))}, adds {percent(shares, 3)}."
    svg = plots.bars(
        "contribution",
        f"Bars: what each win adds to the payback of {content['game']}, {content['label']}",
        [row_name(win) for win in rows],
        [100 * float(Fraction(win["contribution"])) for win in rows],
        "contribution to the payback, % of the bet",
        [percent(win["contribution"], 3) for win in rows],
    )
    return Figure(svg, sentence)


def variances(content: Certificate) -> Figure | None:
    """What each outcome adds to the variance; None where it is not a sum over outcomes, or there is none."""
    rows = [win for win in content["wins"] if win["variance_contribution"] is not None and win["combinations"] != "0"]
    variance = Fraction(content["variance"])
    if not rows or not variance:
        return None
    values = [Fraction(win["variance_contribution"]) for win in rows]
    most = max(range(len(rows)), key=values.__getitem__)
    sentence = (
        f"{row_name(rows[most])[0].upper()}{row_name(rows[most])[1:]}, which comes once in "
        f"{places(rows[most]['one_in'], 1)} games, makes up {percent(values[most] / variance, 1)} of the variance."
    )
    svg = plots.bars(
        "variance",
        f"Bars: what each outcome adds to the variance of {content['game']}, {content['label']}",
        [row_name(win) for win in rows],
        [float(value) for value in values],
        "contribution to the variance, (credits per credit bet)²",
        [f"{places(value, 4)} ({percent(value / variance, 1)})" for value in values],
    )
    return Figure(svg, sentence)


def bands(content: Certificate) -> Figure | None:
    """Where the payback lies after so many games; None where it is always the same."""
    payback, variance = Fraction(content["payback"]), Fraction(content["variance"])
    if not variance:
        return None
    said = {(band["confidence_percent"], band["games"]): band for band in content["bands"]}
    few, many = (said[95, games] for games in (10**4, 10**7))
    sentence = (
        "In 95 of 100 cases, by the normal approximation, the payback of 10,000 games lies between "
        f"{percent(few['low'])} and {percent(few['high'])}, and that of 10,000,000 games between "
        f"{percent(many['low'])} and {percent(many['high'])}."
    )
    if payback != 1:
        games = int(CONFIDENCES[1][1] ** 2 * variance / (1 - payback) ** 2) + 1
        edge = "upper end of the 95 % band falls" if payback < 1 else "lower end of the 95 % band rises"
        number = grouped(games) if games <= MOST_GAMES else f"more than {grouped(MOST_GAMES)}"
        sentence += f" The {edge} to 100 % after {number} games."
    svg = plots.bands(
        "bands",
        f"Payback bands of {content['game']}, {content['label']}: they narrow around the payback as games are played",
        float(payback),
        float(content["standard_deviation_decimal"]),
        [(level, float(z)) for level, z in CONFIDENCES],
    )
    return Figure(svg, sentence)


def deals(place: Place, content: Certificate) -> Figure | None:
    """What dealt hands are worth under optimal play; None where no deal is worth anything.

    Raises `ProofError` where the strategy table does not give the payback of the certificate.
    """
    value, weights, unit = _worth(place)
    count, kind = int(weights.sum()), exact_type(int(value.max()) * int(weights.sum()))
    won = Fraction(int(weights.astype(kind) @ value.astype(kind)), count * unit)
    payback = Fraction(content["payback"])
    beside = sum((Fraction(win["contribution"]) for win in content["wins"] if win["on"] == "bonus"), Fraction(0))
    if won + beside != payback:
        raise ProofError(f"{place.folder}: the strategy table wins {won} + {beside}, the certificate says {payback}")
    if not won:
        return None
    order = np.argsort(value, kind="stable")
    middle = order[np.searchsorted(np.cumsum(weights[order]), -(-count // 2))]
    above = value > unit
    carried = Fraction(int(weights[above].astype(kind) @ value[above].astype(kind)), count * unit) / won
    what = "won by the draw" if beside else "payback"
    sentence = (
        f"{percent(Fraction(int(weights[above].sum()), count))} of all deals are worth more than the bet under optimal "
        f"play, and these carry {percent(carried)} of the {what}. Half of all deals are worth "
        f"{places(Fraction(int(value[middle]), unit), 4)} credits per credit bet or less; the best is worth "
        f"{places(Fraction(int(value.max()), unit), 2)}, the poorest {places(Fraction(int(value.min()), unit), 4)}."
    )
    svg = plots.histogram(
        "deals",
        f"Histogram: share of the deals of {content['game']}, {content['label']}, by expected win under optimal play",
        value.astype(np.float64) / float(unit),
        weights,
    )
    return Figure(svg, sentence)


def _worth(place: Place) -> tuple[NDArray[np.object_], NDArray[np.int64], int]:
    """For each row of the strategy table its expected win, exact, as a multiple of 1 / the third result, in credits per
    credit bet; and the deals that it stands for."""
    table = place.strategy("weight", "ev_numerator", "draws")
    factor = cycle_factor(place.entry.rules.deck, bool(place.entry.ordered))
    kind = exact_type(factor * max(line_units(place.paytable)))
    value = numbers(table, "ev_numerator").astype(kind) * (factor // numbers(table, "draws").astype(np.int64)).astype(
        kind
    )
    return value, numbers(table, "weight").astype(np.int64), factor * place.paytable.scale * place.paytable.coins


def meter(place: Place, content: Certificate) -> Figure | None:
    """The payback under every meter from the reset on; None where there is no meter.

    Raises `ProofError` where its start is not the payback of the certificate.
    """
    if place.paytable.progressive is None:
        return None
    curve = solved_curve(content["game"], solved(place.entry.rules), place.paytable)
    if curve.payback(curve.low) != Fraction(content["payback"]):
        raise ProofError(f"{place.folder}: the curve of the meter starts at {curve.payback(curve.low)}")
    points = [segment.low for segment in curve.segments] + [curve.high]
    turns = len(points) - 2
    even = curve.summary.break_even
    sentence = (
        f"The payback rises from {percent(curve.payback(curve.low), 3)} at the reset of {_credits(curve.low)} credits "
        f"to {percent(curve.payback(curve.high), 3)} at {_credits(curve.high)} credits, in straight lines between "
        f"{grouped(turns)} meters at which optimal play changes."
    )
    if even is None:
        sentence += " It is above 100 % even without the meter."
    elif even < curve.low:
        sentence += f" It would be 100 % at {_credits(even)} credits."
    svg = plots.curve(
        "meter",
        f"Payback of {content['game']}, {content['label']}, against the meter",
        [float(point) for point in points],
        [float(curve.payback(point)) for point in points],
        None if even is None or not curve.low <= even <= curve.high else float(even),
    )
    return Figure(svg, sentence)


def _credits(value: Fraction) -> str:
    """Two decimals at most.

    >>> _credits(Fraction(4000)), _credits(Fraction(8665, 2))
    ('4,000', '4,332.5')
    """
    return places(value, 2).rstrip("0").rstrip(".")
