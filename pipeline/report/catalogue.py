"""The catalogue: one page with all paytables of a run, to be sorted, filtered and compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.report.pages import render
from pipeline.report.sheet import Sheet


def page(sheets: Sequence[Sheet], manifest: dict[str, Any]) -> str:
    """The page of a run, at ``index.html``."""
    return render("catalogue.html", title="Certified paytables", sheets=sheets, manifest=manifest)
