"""Decisions against the optimum: how many differ, what they pay exactly, what they cost, and the worst of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.play import Play, play
from evaluator.rules import Paytable
from evaluator.solve import Solved
from evaluator.symmetry import locate
from pipeline.api import ordered_rows
from pipeline.certificate import exact
from pipeline.check_table import numbers
from pipeline.decisions import Decisions, read_decisions
from pipeline.faults import ConfigError, Fault
from pipeline.open_run import Place
from pipeline.tasks import solved

WORST = 20
SHOWN = 20


def audit_holds(place: Place, path: Path) -> dict[str, Any]:
    """The decisions of a file under the paytable of a run, as plain values.

    A decision counts for all deals that its row stands for; where a file has several deals of a row, they share it
    equally. So a file with one deal of each kind is as good as one with every deal.
    """
    solution = solved(place.entry.rules)
    deck, ordered = place.entry.rules.deck, bool(place.entry.ordered)
    read = read_decisions(path, deck, ordered)
    rows, places = locate(solution.tables.classes, read.deals)
    weights = numbers(place.strategy("weight"), "weight").astype(np.int64)
    if ordered:
        orders = place.strategy("canonical", "arrangements").to_pandas()
        rows, places = ordered_rows(orders, rows, places)
        # A hand that an exchange of suits leaves as it is has rows that are images of each other: one stands for all.
        shown = place.strategy("c1", "c2", "c3", "c4", "c5")
        cards = np.column_stack([numbers(shown, name) for name in shown.column_names])
        stand_in, _ = ordered_rows(orders, *locate(solution.tables.classes, cards))
        weights = np.bincount(stand_in, weights, len(weights)).astype(np.int64)
    held = read.masks[:, None] >> np.arange(5) & 1
    masks = (held << places.astype(np.intp)).sum(axis=1)
    texts = [" ".join(deck.names[card] for card in deal) for deal in read.deals.tolist()]
    return _result(place, place.paytable, solution, rows.astype(np.intp), masks, read, texts, weights)


def audit_other(place: Place, other: Paytable) -> dict[str, Any]:
    """The strategy of a run's paytable, played on another paytable of the same rules."""
    table = place.strategy("hand", "hold")
    masks = numbers(table, "hold").astype(np.intp)
    rows = np.arange(len(masks))
    read = Decisions(np.empty((0, 5), np.intp), masks, ())
    weights = numbers(place.strategy("weight"), "weight").astype(np.int64)
    hands = table.column("hand").to_pylist()
    return _result(place, other, solved(place.entry.rules), rows, masks, read, hands, weights)


def choose_other(place: Place, name: str) -> Paytable:
    """Another paytable of the same game in the run; raises `ConfigError`."""
    found = [table for table in place.entry.paytables if name in (table.name, table.label)]
    if len(found) != 1:
        known = ", ".join(table.label for table in place.entry.paytables)
        what = f"the run has no {name!r} of {place.entry.name}, but {known}; certify both into one run"
        raise ConfigError([Fault(str(place.run), "--paytable", what)])
    return found[0]


def _result(
    place: Place, paytable: Paytable, solution: Solved, rows: NDArray[np.intp], masks: NDArray[np.intp],
    read: Decisions, texts: list[str], weights: NDArray[np.int64],
) -> dict[str, Any]:  # fmt: skip
    """What decisions come to; `texts` are their deals, `weights` what every row of the table is to stand for."""
    if not len(rows):
        raise ConfigError([Fault("--holds", "", f"has no row that can be played; {len(read.problems)} cannot")])
    done = play(solution.tables, paytable, rows, masks, weights)
    hands = place.strategy("hand").column("hand").to_pylist()
    missing = np.setdiff1d(np.flatnonzero(weights), rows)
    costly = ~done.optimal
    share = _shares(rows, done)
    kinds = Counter(problem.kind for problem in read.problems)
    return {
        "run": str(place.run),
        "strategy": place.folder,
        "paytable": paytable.label,
        "decisions": len(rows),
        "deals": str(done.deals),
        "complete": not len(missing),
        "missing": {
            "rows": len(missing),
            "deals": str(int(weights[missing].sum())),
            "hands": [hands[row] for row in missing[:SHOWN].tolist()],
        },
        "impossible": kinds["impossible"],
        "duplicates": kinds["duplicate"],
        "conflicts": kinds["conflict"],
        "problems": [asdict(problem) for problem in read.problems],
        "costly_decisions": int(costly.sum()),
        "costly_deals": str(sum((share[i] for i in np.flatnonzero(costly).tolist()), Fraction(0))),
        **exact("payback", done.payback),
        **exact("optimal_payback", done.best),
        **exact("cost", done.best - done.payback),
        "cost_millionths": float((done.best - done.payback) * 1_000_000),
        "worst": _worst(hands, done, rows, masks, texts, share),
    }


def _shares(rows: NDArray[np.intp], done: Play) -> list[Fraction]:
    """How many deals each decision is for."""
    times = np.bincount(rows)[rows]
    return [Fraction(weight, number) for weight, number in zip(done.weights.tolist(), times.tolist(), strict=True)]


def _worst(
    hands: list[str], done: Play, rows: NDArray[np.intp], masks: NDArray[np.intp], texts: list[str],
    share: list[Fraction],
) -> list[dict[str, Any]]:  # fmt: skip
    """The costly decisions that lose the most a deal, with the best hold of each."""
    ranked = [i for i in np.argsort(-done.cost, kind="stable")[:WORST].tolist() if not done.optimal[i]]
    return [
        {
            "deal": texts[i],
            "row": int(rows[i]),
            "hand": hands[rows[i]],
            "held": _held(hands[rows[i]], int(masks[i])),
            "best": _held(hands[rows[i]], int(done.better[i])),
            "deals": str(share[i]),
            "cost": float(done.cost[i]),
        }
        for i in ranked
    ]


def _held(hand: str, mask: int) -> str:
    return " ".join(card for i, card in enumerate(hand.split()) if mask >> i & 1)


def describe_audit(found: dict[str, Any]) -> list[str]:
    """An audit for a terminal."""
    deals = f"{int(found['deals']):,} deals"
    lines = [
        f"{found['strategy']}, on {found['paytable']}: {found['decisions']:,} decisions for {deals}",
        f"  payback  {found['payback_decimal']}   {found['payback']}",
        f"  optimal  {found['optimal_payback_decimal']}   {found['optimal_payback']}",
        f"  cost     {found['cost_decimal']}   {found['cost_millionths']:.3f} millionths",
        f"  {found['costly_decisions']:,} decisions for {found['costly_deals']} deals are not optimal",
    ]
    missing = found["missing"]
    if missing["rows"]:
        lines.append(
            f"  MISSING: {missing['rows']:,} hands, {int(missing['deals']):,} deals; the figures leave them out"
        )
        lines.append(f"    {', '.join(missing['hands'][:5])} …")
    for kind in ("impossible", "duplicates", "conflicts"):
        if found[kind]:
            lines.append(f"  {kind.upper()}: {found[kind]:,} rows, left out")
    lines += [f"    row {p['row']}: {p['kind']}: {p['message']}" for p in found["problems"][:SHOWN]]
    if found["worst"]:
        lines.append(f"  {'hand':<16} {'held':<16} {'best':<16} {'deals':>7} {'loses each':>11}")
    lines += [
        f"  {one['hand']:<16} {one['held'] or 'nothing':<16} {one['best'] or 'nothing':<16} {one['deals']:>7} "
        f"{one['cost']:>11.6f}"
        for one in found["worst"]
    ]
    return lines
