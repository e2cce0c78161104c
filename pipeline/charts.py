"""Strategy charts against the optimum: exact return, cost in millionths, and the hands that a chart gets wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.chart import Chart, ChartError, apply_chart, read_chart
from evaluator.holds import hold_values
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
    solution = solved(place.entry.rules)
    names = [win.name for win in place.entry.rules.wins]
    try:
        chart = read_chart(path.read_text(encoding="utf-8"), place.entry.rules.deck, names)
        masks, lines, better = _apply(chart, solution, paytable)
    except (ChartError, UnicodeDecodeError) as problem:
        raise ConfigError([Fault(str(path), "", str(problem))]) from None
    done = play(solution.tables, paytable, np.arange(len(masks)), masks)
    deals = int(done.weights.sum())
    lost = done.cost * done.weights / deals * 1e6
    hands = place.strategy("hand").column("hand").to_pylist()
    costly = ~done.optimal
    said = [*(line.text for line in chart.lines), NO_LINE]
    return {
        "run": str(place.run),
        "chart": str(path),
        "game": place.entry.name,
        "paytable": paytable.label,
        "deals": str(deals),
        **exact("payback", done.payback),
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
                "cost_millionths": float(lost[lines == number].sum()),
            }
            for number, line in enumerate(chart.lines)
        ],
        "wrong": _groups(chart, said, lines, better, lost, costly, done, masks, hands),
    }


def _apply(
    chart: Chart, solution: Solved, paytable: Paytable
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Masks, deciding lines, and lines of the best hold, of all rows."""
    found = []
    for block in blocks(solution.tables):
        values = hold_values(solution.tables, block, paytable.units, paytable.deal_units)
        found.append(apply_chart(chart, solution.tables, block, values))
    masks, lines, better = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return masks, lines, better


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
