"""Strategy charts against the optimum: exact return, cost in millionths, and the hands that a chart gets wrong."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.chart import Chart, ChartError, read_chart
from evaluator.chart_view import apply_chart, make_view
from evaluator.holds import exact_type, hold_values
from evaluator.play import blocks, play
from evaluator.rules import Paytable
from evaluator.solve import Solved
from pipeline.certificate import exact
from pipeline.faults import ConfigError, Fault
from pipeline.open_run import Place
from pipeline.tasks import solved

NO_LINE = "no line of the chart"


def audit_chart(place: Place, paytable: Paytable, path: Path) -> dict[str, Any]:
    """A chart, played on a paytable of a run's game; raises `ConfigError` for a chart that cannot be read or used."""
    names = [win.name for win in place.entry.rules.wins]
    try:
        chart = read_chart(path.read_text(encoding="utf-8"), place.entry.rules.deck, names)
        found = play_chart(place, paytable, chart)
    except (ChartError, UnicodeDecodeError) as problem:
        raise ConfigError([Fault(str(path), "", str(problem))]) from None
    return {"run": str(place.run), "chart": str(path), **found}


def play_chart(place: Place, paytable: Paytable, chart: Chart) -> dict[str, Any]:
    """What a chart comes to on a paytable of a run's game; raises `ChartError` where order matters."""
    solution = solved(place.entry.rules)
    applied = _apply(chart, solution, paytable)
    lines, better, masks = applied.lines, applied.better, applied.masks
    done = play(solution.tables, paytable, np.arange(len(masks)), masks)
    least = done.payback - Fraction(applied.ambiguous, solution.tables.cycle * paytable.scale * paytable.coins)
    deals = int(done.weights.sum())
    lost = done.cost * done.weights / deals * 1e6
    hands = place.strategy("hand").column("hand").to_pylist()
    costly = ~done.optimal
    said = [*(line.text for line in chart.lines), NO_LINE]
    return {
        "game": place.entry.name,
        "paytable": paytable.label,
        "deals": str(deals),
        **exact("payback", done.payback),
        **exact("payback_at_least", least),
        **exact("optimal_payback", done.best),
        **exact("cost", done.best - done.payback),
        "cost_millionths": float((done.best - done.payback) * 1_000_000),
        "costly_hands": int(costly.sum()),
        "costly_deals": str(int(done.weights[costly].sum())),
        "lines": [
            {
                "line": line.number,
                "text": line.text,
                "wild": line.wild,
                "hands": int((lines == number).sum()),
                "deals": str(int(done.weights[lines == number].sum())),
                **applied.worth(number, paytable, solution.tables.cycle_factor),
                "cost_millionths": float(lost[lines == number].sum()),
            }
            for number, line in enumerate(chart.lines)
        ],
        "wrong": _groups(chart, said, lines, better, lost, costly, done, masks, hands),
    }


@dataclass(frozen=True)
class _Applied:
    """All rows of a game, played by a chart."""

    masks: NDArray[np.intp]
    """what is held"""
    lines: NDArray[np.intp]
    """the line that decides, -1 for none"""
    better: NDArray[np.intp]
    """the first line that fits the best hold, -1 for none"""
    won: tuple[tuple[int, int], ...]
    """for each line, L times the units won in its deals, and the deals"""
    ambiguous: int
    """L times the units less that are won in all deals if of several holds that fit a line the worst is taken"""

    def worth(self, line: int, paytable: Paytable, factor: int) -> dict[str, str | None]:
        """What the deals that a line decides win on average; None for no deals."""
        won, deals = self.won[line]
        if not deals:
            return {"ev": None, "ev_decimal": None}
        return exact("ev", Fraction(won, deals * factor * paytable.scale * paytable.coins))


def _apply(chart: Chart, solution: Solved, paytable: Paytable) -> _Applied:
    tables, view = solution.tables, make_view(solution.tables, chart.wild)
    kind = exact_type(tables.cycle * max(1, *paytable.units, *(paytable.deal_units or ())))
    found, ambiguous = [], 0
    won = [(0, 0)] * len(chart.lines)
    for block in blocks(tables):
        values = hold_values(tables, block, paytable.units, paytable.deal_units)
        played = apply_chart(chart, view, block, values)
        every = np.arange(len(block.hands))
        sums = values[played.masks, every].astype(kind) * block.weights
        ambiguous += int(sums.sum()) - int((values[played.worst, every].astype(kind) * block.weights).sum())
        for line in np.flatnonzero(np.bincount(played.lines + 1)[1:]).tolist():
            mine = played.lines == line
            won[line] = (won[line][0] + int(sums[mine].sum()), won[line][1] + int(block.weights[mine].sum()))
        found.append((played.masks, played.lines, played.better))
    masks, lines, better = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return _Applied(masks, lines, better, tuple(won), ambiguous)


def _groups(
    chart: Chart, said: list[str], lines: NDArray[Any], better: NDArray[Any], lost: NDArray[Any],
    costly: NDArray[Any], done: Any, masks: NDArray[Any], hands: list[str],
) -> list[dict[str, Any]]:  # fmt: skip
    """Costly hands by the line that decides them and the line that the best hold is, the costliest group first."""
    groups = []
    for line, best in sorted({*zip(lines[costly].tolist(), better[costly].tolist(), strict=True)}):
        rows = np.flatnonzero(costly & (lines == line) & (better == best))
        worst = int(rows[np.argmax(done.cost[rows])])
        groups.append(
            {
                "line": chart.lines[line].number if line >= 0 else None,
                "played": said[line],
                "better": said[best],
                "hands": len(rows),
                "deals": str(int(done.weights[rows].sum())),
                "cost_millionths": float(lost[rows].sum()),
                "example": hands[worst],
                "held": _held(hands[worst], int(masks[worst])),
                "best": _held(hands[worst], int(done.better[worst])),
                "loses": float(done.cost[worst]),
            }
        )
    return sorted(groups, key=lambda group: -group["cost_millionths"])


def _held(hand: str, mask: int) -> str:
    return " ".join(card for i, card in enumerate(hand.split()) if mask >> i & 1)


def describe_chart(found: dict[str, Any]) -> list[str]:
    """A chart's audit for a terminal."""
    lines = [
        f"{found['chart']}, on {found['game']}, {found['paytable']}",
        f"  payback  {found['payback_decimal']}   {found['payback']}",
        f"  optimal  {found['optimal_payback_decimal']}   {found['optimal_payback']}",
        f"  cost     {found['cost_decimal']}   {found['cost_millionths']:.3f} millionths",
        f"  at least {found['payback_at_least_decimal']}   where a line fits several holds and the worst is taken",
        f"  {found['costly_hands']:,} hands, {int(found['costly_deals']):,} deals, are not played optimally",
    ]
    lines += [
        f"  line {line['line']} ({line['text']}) decides no hand" for line in found["lines"] if line["hands"] == 0
    ]
    for group in found["wrong"]:
        line = f"line {group['line']}, {group['played']}" if group["line"] else group["played"]
        lines.append(f"  {group['cost_millionths']:>8.3f} millionths, {int(group['deals']):,} deals: {line}")
        lines.append(
            f"             better: {group['better']}; {group['example']}: "
            f"{group['best'] or 'nothing'} instead of {group['held'] or 'nothing'} (+{group['loses']:.4f})"
        )
    return lines
