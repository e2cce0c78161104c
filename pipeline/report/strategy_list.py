"""The strategy of a paytable as people read it: a ranked list of holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pipeline.open_run import Place


@dataclass(frozen=True)
class Listed:
    """The ranked list of a paytable."""

    content: dict[str, Any]
    """strategy-list.json"""
    html: Markup
    """its part of the PAR sheet, under a heading of level 3 and below"""


def strategy_list(place: Place) -> Listed | None:
    """The ranked list of a paytable, from its exact strategy table; None where there is none."""
    return None
