"""What changed between two runs: inputs, paybacks, and the holds that differ with what they cost."""

from __future__ import annotations

from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np

from evaluator.play import play
from pipeline.certificate import exact
from pipeline.location import Location
from pipeline.open_run import Place, open_run
from pipeline.plan import describe_paytable
from pipeline.strategy import NOTHING
from pipeline.tasks import solved

SETTINGS = ("software", "tie_break", "rows_per_part", "all_holds", "sensitivity")
FIGURES = ("payback", "variance", "hit_frequency", "tied_deals")
WORST = 10
Places = tuple[Place, ...]


def compare_runs(before: Location, after: Location) -> dict[str, Any]:
    """The differences of two runs as plain values; empty lists where there are none.

    Paytables are paired by their folder; where a game has one more on either side, these two are a pair as well.
    """
    old, new = open_run(before), open_run(after)
    settings = [
        {"key": key, "before": old[0].get(key), "after": new[0].get(key)}
        for key in SETTINGS
        if old[0].get(key) != new[0].get(key)
    ]
    pairs, only_old, only_new = _pairs(old[2], new[2])
    return {
        "same": old[0].get("identity") == new[0].get("identity"),
        "before": {"run": str(before), "identity": old[0].get("identity")},
        "after": {"run": str(after), "identity": new[0].get("identity")},
        "settings": settings,
        "only_before": [place.folder for place in only_old],
        "only_after": [place.folder for place in only_new],
        "paytables": [_compare(mine, theirs) for mine, theirs in pairs],
    }


def _pairs(
    old: tuple[Place, ...], new: tuple[Place, ...]
) -> tuple[list[tuple[Place, Place]], list[Place], list[Place]]:
    there = {place.folder: place for place in new}
    pairs = [(place, there[place.folder]) for place in old if place.folder in there]
    left = [place for place in old if place.folder not in there]
    right = [place for place in new if place.folder not in {mine.folder for mine, _ in pairs}]
    for mine in list(left):
        same = [place for place in right if place.entry.name == mine.entry.name]
        if len(same) == 1 and sum(place.entry.name == mine.entry.name for place in left) == 1:
            pairs.append((mine, same[0]))
            left.remove(mine)
            right.remove(same[0])
    return pairs, left, right


def _compare(old: Place, new: Place) -> dict[str, Any]:
    mine, theirs = old.certificate(), new.certificate()
    figures = {
        key: {"before": mine[key], "after": theirs[key], **exact("change", Fraction(theirs[key]) - Fraction(mine[key]))}
        for key in FIGURES
        if mine[key] != theirs[key]
    }
    return {
        "before": old.folder,
        "after": new.folder,
        "inputs": _inputs(old, new),
        "figures": figures,
        "holds": _holds(old, new),
    }


def _inputs(old: Place, new: Place) -> list[dict[str, Any]]:
    """Every input that differs: pays by win, definitions by head, and the deck."""
    sides = []
    for place in (old, new):
        rules = place.entry.rules
        names = [*(win.name for win in rules.wins), NOTHING]
        said = describe_paytable(place.paytable)
        flat = {f"pays.{name}": pay for name, pay in zip(names, said.pop("pays"), strict=True)}
        flat |= {f"deck.{key}": value for key, value in asdict(rules.deck).items()}
        flat |= {f"define.{head}": text for head, text in rules.definitions}
        flat |= {f"win.{number + 1}.{win.name}": win.when for number, win in enumerate(rules.wins)}
        flat |= {f"bonus.{number + 1}.{win.name}": win.when for number, win in enumerate(rules.bonuses)}
        sides.append(flat | {f"paytable.{key}": value for key, value in said.items()})
    keys = [*sides[0], *(key for key in sides[1] if key not in sides[0])]
    return [
        {"key": key, "before": sides[0].get(key), "after": sides[1].get(key)}
        for key in keys
        if sides[0].get(key) != sides[1].get(key)
    ]


def _holds(old: Place, new: Place) -> dict[str, Any]:
    """The rows whose holds differ, and what each strategy costs on the other's paytable; null where rows differ."""
    keys = ["hand", *(["arrangements"] if old.entry.ordered else [])]
    if bool(old.entry.ordered) != bool(new.entry.ordered) or not _same_rows(old, new, keys):
        return {"comparable": False, "rows": None, "deals": None}
    mine, theirs = old.holds(), new.holds()
    rows = np.flatnonzero(mine != theirs)
    if not len(rows):
        none = exact("cost_old_holds_on_new", Fraction(0)) | exact("cost_new_holds_on_old", Fraction(0))
        return {"comparable": True, "rows": 0, "deals": "0", "tied_rows": 0, **none, "worst": []}
    hands = new.strategy("hand").column("hand").to_pylist()
    on_new = play(solved(new.entry.rules).tables, new.paytable, rows, mine[rows])
    on_old = play(solved(old.entry.rules).tables, old.paytable, rows, theirs[rows])
    whole = int(new.certificate()["deals"])
    cost = {"old_holds_on_new": on_new, "new_holds_on_old": on_old}
    ranked = np.argsort(-on_new.cost * on_new.weights, kind="stable")[:WORST].tolist()
    return {
        "comparable": True,
        "rows": len(rows),
        "deals": str(on_new.deals),
        "tied_rows": int(on_new.optimal.sum()),
        **{key: part for name, p in cost.items() for key, part in exact(f"cost_{name}", _lost(p, whole)).items()},
        "worst": [
            {
                "hand": hands[rows[i]],
                "before": _held(hands[rows[i]], int(mine[rows[i]])),
                "after": _held(hands[rows[i]], int(theirs[rows[i]])),
                "deals": str(int(on_new.weights[i])),
                "cost": float(on_new.cost[i]),
            }
            for i in ranked
        ],
    }


def _same_rows(old: Place, new: Place, keys: list[str]) -> bool:
    try:
        return bool(old.strategy(*keys).equals(new.strategy(*keys)))
    except (KeyError, ValueError):
        return False


def _lost(done: Any, whole: int) -> Fraction:
    """What decisions for some deals cost over all deals."""
    return Fraction((done.best - done.payback) * done.deals / whole)


def _held(hand: str, mask: int) -> str:
    return " ".join(card for i, card in enumerate(hand.split()) if mask >> i & 1)


def describe_runs(found: dict[str, Any]) -> list[str]:
    """The differences for a terminal."""
    lines = [f"the identity of both is {found['before']['identity']}"] if found["same"] else []
    lines += [f"{one['key']}: {one['before']} -> {one['after']}" for one in found["settings"]]
    lines += [f"only before: {folder}" for folder in found["only_before"]]
    lines += [f"only after: {folder}" for folder in found["only_after"]]
    for table in found["paytables"]:
        holds = table["holds"]
        if not table["inputs"] and not table["figures"] and holds["rows"] == 0:
            continue
        names = table["before"] if table["before"] == table["after"] else f"{table['before']} -> {table['after']}"
        lines.append(names)
        lines += [f"  {one['key']}: {one['before']} -> {one['after']}" for one in table["inputs"]]
        for key, figure in table["figures"].items():
            lines.append(f"  {key}: {figure['before']} -> {figure['after']} ({figure['change_decimal']})")
        if not holds["comparable"]:
            lines.append("  holds: the rows are not the same hands")
        elif holds["rows"]:
            tied = f"; {holds['tied_rows']:,} of the rows tied" if holds["tied_rows"] else ""
            lines.append(f"  holds: {holds['rows']:,} rows differ, {int(holds['deals']):,} deals{tied}")
            lines.append(f"    the old holds on the new paytable cost {holds['cost_old_holds_on_new_decimal']}")
            lines.append(f"    the new holds on the old paytable cost {holds['cost_new_holds_on_old_decimal']}")
            lines += [
                f"    {one['hand']:<16} {one['before'] or 'nothing':<16} -> {one['after'] or 'nothing':<16} "
                f"{one['deals']:>3} deals, {one['cost']:.6f} each"
                for one in holds["worst"]
                if one["cost"]
            ]
    return lines or ["nothing differs"]
