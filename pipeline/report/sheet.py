"""The PAR sheet: all that a certificate states about one paytable, on one page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pipeline.certificate import Certificate
from pipeline.open_run import Place
from pipeline.report.pages import render
from pipeline.report.strategy_list import Listed


@dataclass(frozen=True)
class Sheet:
    """A sheet and what the catalogue says of it."""

    place: Place
    """the paytable"""
    certificate: Certificate
    """what it shows"""
    html: str
    """the page"""


def sheet(place: Place, manifest: dict[str, Any], listed: Listed | None, has_explorer: bool) -> Sheet:
    """The sheet of a paytable of the run with this manifest."""
    content = place.certificate()
    html = render(
        "par-sheet.html",
        title=f"{content['game']}, {content['label']}: PAR sheet",
        certificate=content,
        manifest=manifest,
        listed=listed,
        has_explorer=has_explorer,
        home="../../index.html",
    )
    return Sheet(place, content, html)
