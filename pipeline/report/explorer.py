"""The explorer: a page for each game that answers for any five cards what each hold is worth, without a server."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.open_run import Place


def page(places: Sequence[Place]) -> str | None:
    """The page of one game for the paytables `places`, all of the same rules; None where there is none.

    It stands at ``<game>/explorer.html``, so the sheets are at ``<paytable>/par-sheet.html`` from it.
    """
    return None
