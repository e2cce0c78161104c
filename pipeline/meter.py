"""Progressives for people and programs: the payback of a paytable over a range of its meter."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evaluator.decimals import decimal_12
from evaluator.meter import MeterSummary, Segment, part_of, summarise_curve, summarise_meter, whole_curve
from evaluator.rules import Paytable
from evaluator.solve import Solved
from pipeline.api import one_paytable, solve_game
from pipeline.certificate import exact, meter_figures
from pipeline.config import Game
from pipeline.faults import ConfigError, Fault, count
from pipeline.strategy import NOTHING
from pipeline.tasks import hands_at_once

MOST_SHOWN = 20
"""segments that people are shown"""


@dataclass(frozen=True)
class MeterCurve:
    """The payback of a progressive over a range of its meter."""

    game: str
    """name"""
    wins: tuple[str, ...]
    """names of the wins, then of nothing"""
    paytable: Paytable
    """with its progressive"""
    summary: MeterSummary
    """payback and slope at the reset, break-even meter"""
    segments: tuple[Segment, ...]
    """from break point to break point, ascending; under any meter of one the same strategy is optimal"""

    @property
    def low(self) -> Fraction:
        """The least meter, in credits."""
        return self.segments[0].low

    @property
    def high(self) -> Fraction:
        """The greatest meter."""
        return self.segments[-1].high

    def payback(self, meter: Fraction | int) -> Fraction:
        """The exact payback under a meter of the range; raises `ValueError` for another.

        >>> from pipeline import load_game, meter_curve
        >>> curve = meter_curve(load_game("tests/pipeline/progressive.toml"), "meter")
        >>> curve.payback(curve.summary.break_even)
        Fraction(1, 1)
        """
        return part_of(self.segments, Fraction(meter), Fraction(meter))[0].payback


def meter_curve(
    game: Game,
    paytable: str | None = None,
    low: Fraction | int | None = None,
    high: Fraction | int | None = None,
) -> MeterCurve:
    """The payback of a progressive paytable as a function of the meter, exact at every point of the range.

    `paytable` can be left out where the game has one. The range begins at the reset and ends at the break-even meter,
    or at twice the reset where the break-even meter is not above the reset. Raises `ConfigError` for a wrong game,
    paytable or range.
    """
    table = one_paytable(game, paytable)
    progressive = table.progressive
    if progressive is None:
        raise ConfigError([Fault(game.file, f'paytable."{table.label}"', _no_meter(game, table))])
    return solved_curve(game.name, solve_game(game), table, low, high, game.file)


def solved_curve(
    name: str,
    solution: Solved,
    table: Paytable,
    low: Fraction | int | None = None,
    high: Fraction | int | None = None,
    file: str = "",
) -> MeterCurve:
    """The same for a progressive of rules that are solved; `name` of the game and its `file` are what messages say."""
    rows = hands_at_once(solution)
    summary, segments = summarise_meter(solution.tables, table, rows)
    start, end = _range(file, table, summary, low, high)
    if not segments[0].low <= start <= end <= segments[-1].high:
        curve = whole_curve(solution.tables, table, start, end, rows)
        segments = summarise_curve(curve, solution.program.rules.deck, table, bool(solution.ordered))
    wins = (*(win.name for win in solution.program.rules.wins), NOTHING)
    return MeterCurve(name, wins, table, summary, part_of(segments, start, end))


def _no_meter(game: Game, table: Paytable) -> str:
    with_meter = [other.label for other in game.paytables if other.progressive is not None]
    win = max(range(len(game.rules.wins)), key=lambda number: table.pays[number])
    pay = f'"{game.rules.wins[win].name}" = {{reset = {_number(table.pays[win])}, rate = "0.01"}}'
    others = f"; paytables with a meter: {'; '.join(with_meter)}" if with_meter else ""
    return f"no win is paid a meter; a meter is written as a pay like {pay}{others}"


def _number(pay: Fraction) -> str:
    return str(pay) if pay.denominator == 1 else f'"{pay}"'


def _range(
    file: str, table: Paytable, summary: MeterSummary, low: Fraction | int | None, high: Fraction | int | None
) -> tuple[Fraction, Fraction]:
    assert table.progressive is not None
    reset, even = table.progressive.reset, summary.break_even
    end = even if even is not None and even > reset else 2 * reset
    start, end = (Fraction(default if given is None else given) for given, default in ((low, reset), (high, end)))
    if not 0 <= start <= end:
        raise ConfigError([Fault(file, "range", f"expected 0 ≤ low ≤ high, found {start} to {end} credits")])
    return start, end


# --- for programs and for people --------------------------------------------------------------------------------------


def meter_json(curve: MeterCurve) -> dict[str, Any]:
    """The curve as plain values; exact values are text."""
    table = curve.paytable
    return {
        "game": curve.game,
        "paytable": table.label,
        "coins": table.coins,
        **meter_figures(curve.wins, table, curve.summary),
        "range": [str(curve.low), str(curve.high)],
        "break_points": len(curve.segments) - 1,
        "segments": [
            {
                **exact("meter_from", segment.low),
                **exact("meter_to", segment.high),
                **exact("payback", segment.payback),
                **exact("slope", segment.slope),
                "combinations": str(segment.combinations),
            }
            for segment in curve.segments
        ],
    }


def meter_text(curve: MeterCurve) -> list[str]:
    """The curve for a terminal of 80 columns; of many segments the first, the last, and some evenly spaced between."""
    table, summary = curve.paytable, curve.summary
    assert table.progressive is not None
    win, reset, rate = curve.wins[table.progressive.win], table.progressive.reset, table.progressive.rate
    even, percent = summary.break_even, decimal_12(rate * 100).rstrip("0").rstrip(".")
    bet = "1 credit" if table.coins == 1 else f"{table.coins} credits"
    lines = [f"{curve.game}, {table.label}: a meter for {win}, {bet} bet"]
    lines += [f"{'reset, in credits':<36} {_credits(reset):>16}  {_exact(reset)}".rstrip()]
    lines += [f"{'payback at the reset':<36} {decimal_12(summary.payback):>16}"]
    lines += [f"{f'with the {percent} % that go to the meter':<36} {decimal_12(summary.payback + rate):>16}"]
    if even is None:
        lines.append("break-even meter: none; the payback is above 1 even without the meter")
    else:
        lines += [f"{'break-even meter, in credits':<36} {_credits(even):>16}  {_exact(even)}".rstrip()]
    points = len(curve.segments) - 1
    said = count(points, "break point")
    some = _some(len(curve.segments))
    said += ", some shown; all with --json" if len(some) <= points else ""
    lines += ["", f"{_credits(curve.low)} to {_credits(curve.high)} credits: {said}"]
    lines += [_row("meter", "exact", "payback", "one win in")]
    for segment in (curve.segments[number] for number in some):
        one_in = f"{float(1 / (segment.slope * table.coins)):,.1f}" if segment.slope else "never"
        lines.append(_row(_credits(segment.low), _exact(segment.low), decimal_12(segment.payback), one_in))
    lines.append(_row(_credits(curve.high), _exact(curve.high), decimal_12(curve.payback(curve.high)), ""))
    return lines


def _row(meter: str, exact_meter: str, payback: str, one_in: str) -> str:
    return f"{meter:>16}  {exact_meter:>24}  {payback:>16}  {one_in:>14}".rstrip()


def _some(count: int) -> list[int]:
    """Which of so many segments are shown.

    >>> _some(3), _some(100)[:3], _some(100)[-1], len(_some(100))
    ([0, 1, 2], [0, 5, 10], 99, 20)
    """
    if count <= MOST_SHOWN:
        return list(range(count))
    return [round(i * (count - 1) / (MOST_SHOWN - 1)) for i in range(MOST_SHOWN)]


def _credits(meter: Fraction) -> str:
    """A meter with the decimals that it has, at most four."""
    return f"{float(meter):,.4f}".rstrip("0").rstrip(".")


def _exact(meter: Fraction) -> str:
    return "" if meter.denominator == 1 else str(meter)
