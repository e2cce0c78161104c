"""The PAR sheet: all that a certificate states about one paytable, on one page, with the sums that prove it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evaluator.summary import CONFIDENCES
from evaluator.symmetry import ProofError
from pipeline.certificate import Certificate
from pipeline.faults import count
from pipeline.open_run import Place
from pipeline.plan import part_path
from pipeline.report import figures
from pipeline.report.pages import render
from pipeline.report.strategy_list import Listed

MOST_PARTS = 64
"""files of a strategy table that are listed one by one"""


@dataclass(frozen=True)
class Check:
    """A sum that must come out."""

    what: str
    """what is added up"""
    found: Fraction
    """the sum"""
    name: str
    """what it must be"""


@dataclass(frozen=True)
class Listing:
    """A file of the run."""

    path: str
    """from the run directory"""
    sha256: str
    """of the file"""
    rows: int | None = None
    """of a table"""
    content: str = ""
    """content digest of a table"""


def sheet(place: Place, others: Sequence[Place], files: Mapping[str, Listing], listed: Listed | None) -> str:
    """The sheet of a paytable; `others` are all paytables of its game, `files` those of the run by path."""
    content = place.certificate()
    name = place.paytable.name
    levels = [other for other in others if other.paytable.levels and other.paytable.name == name]
    paths = [part_path(place.folder, part) for part in range(place.parts)]
    fixed = [f"{place.folder}/certificate.json", f"{place.folder}/wins.parquet"]
    return render(
        "par-sheet.html",
        title=f"{content['game']}, {content['label']}: PAR sheet",
        c=content,
        place=place,
        rules=place.entry.rules,
        row_name=figures.row_name,
        checks=checks(content),
        levels=[(level, level.certificate()) for level in levels] if place.paytable.levels else [],
        files=[files[path] for path in fixed + (paths if len(paths) <= MOST_PARTS else [])],
        parts=len(paths),
        deck=deck_text(content["deck"]),
        ranged=any(
            low != high
            for low, high in [
                content["variance_range"],
                content["hit_frequency_range"],
                *(win["combinations_range"] for win in content["wins"]),
            ]
        ),
        quantiles={level: f"{float(z):.3f}" for level, z in CONFIDENCES},
        bands=bands_by_games(content),
        contributions=figures.contributions(content),
        variances=figures.variances(content),
        spread=figures.bands(content),
        deals=figures.deals(place, content),
        meter=figures.meter(place, content),
        listed=listed,
        home="../../index.html",
        run="../../..",
    )


def deck_text(deck: Mapping[str, Any]) -> str:
    """A deck in words: its faces and suits, copies, and what is odd about it."""
    text = f"{deck['cards']} cards: {' '.join(deck['faces'])} in suits {' '.join(deck['suits'])}"
    text += f", {deck['decks']} decks" if deck["decks"] > 1 else ""
    text += f", {count(deck['jokers'], 'joker')}" if deck["jokers"] else ""
    return text + (f", {' '.join(deck['extra'])} besides" if deck["extra"] else "")


def bands_by_games(content: Certificate) -> dict[int, dict[int, dict[str, Any]]]:
    """Games -> confidence in percent -> band."""
    found: dict[int, dict[int, dict[str, Any]]] = {}
    for band in content["bands"]:
        found.setdefault(band["games"], {})[band["confidence_percent"]] = band
    return found


def checks(content: Certificate) -> list[Check]:
    """The sums that the sheet shows below its rows; raises `ProofError` where one does not come out.

    Outcomes of the draw and of hands held as dealt share the cycle; bonuses of the deal overlay it.
    """
    wins = content["wins"]
    drawn = [win for win in wins if win["on"] != "bonus"]
    dealt = [win for win in wins if win["on"] == "draw"]
    found = [
        (Check("combinations", _sum(drawn, "combinations"), "the cycle"), content["cycle"]),
        (Check("probabilities", _sum(drawn, "probability"), "1"), "1"),
        (Check("contributions", _sum(wins, "contribution"), "the payback"), content["payback"]),
        (Check("deals of the outcomes", _sum(dealt, "deal_combinations"), "all deals"), content["deals"]),
    ]
    if all(win["variance_contribution"] is not None for win in wins):
        found += [(Check("variance contributions", _sum(wins, "variance_contribution"), "σ²"), content["variance"])]
    pairs = [(check, Fraction(expected)) for check, expected in found]
    for check, expected in pairs:
        if check.found != expected:
            raise ProofError(f"{content['label']}: {check.what} add up to {check.found}, expected {expected}")
    return [check for check, _ in pairs]


def _sum(wins: Sequence[Mapping[str, Any]], key: str) -> Fraction:
    return sum((Fraction(win[key]) for win in wins), Fraction(0))
