"""The strategy of a paytable as people read it: a ranked list of holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pipeline.derived import ranked_list
from pipeline.manifest import FORMAT
from pipeline.open_run import Place
from pipeline.report.pages import render


@dataclass(frozen=True)
class Listed:
    """The ranked list of a paytable."""

    content: dict[str, Any]
    """strategy-list.json"""
    html: Markup
    """its part of the PAR sheet, under a heading of level 3 and below"""


def strategy_list(place: Place) -> Listed | None:
    """The ranked list of a paytable, from its exact strategy; None where the order of the cards matters."""
    if place.entry.ordered:
        return None
    found = ranked_list(place)
    has_wild = any(line["wild"] is not None for line in found["lines"])
    html = render("strategy-list.html", list=found, has_wild=has_wild)
    return Listed({"format": FORMAT, "label": place.paytable.label, **found}, Markup(html))
