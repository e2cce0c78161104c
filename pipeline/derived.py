"""A strategy as people read it: a chart derived from the exact strategy of a paytable, and what it loses."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from evaluator.chart import ChartError, chart_text, read_chart
from evaluator.chart_derive import derive_chart as derive
from evaluator.symmetry import ProofError
from pipeline.charts import play_chart
from pipeline.faults import ConfigError, Fault, slug
from pipeline.location import Location, location
from pipeline.open_run import Place, choose_place, open_run
from pipeline.tasks import solved

LINES = 40
"""lines of a chart at most, unless another number is asked for"""
LINES_WITH_WILD = 50
"""the same where there are wild cards: the lines stand by the number of them"""


def ranked_list(place: Place, lines: int | None = None) -> dict[str, Any]:
    """The derived chart of a paytable of a run: `chart`, its text, and the keys of an audit of it.

    Raises `ConfigError`
    where the order of cards matters.
    """
    solution, paytable = solved(place.entry.rules), place.paytable
    deck, wins = place.entry.rules.deck, [win.name for win in place.entry.rules.wins]
    if lines is not None and lines < 2:
        raise ConfigError([Fault(place.folder, "lines", f"expected at least 2, found {lines}")])
    try:
        found = derive(solution.tables, paytable, wins, (LINES, LINES_WITH_WILD) if lines is None else (lines, lines))
    except ChartError as problem:
        raise ConfigError([Fault(place.folder, "", str(problem))]) from None
    # What is stated is what the text comes to, whatever the search had in mind.
    said = play_chart(place, paytable, read_chart(chart_text(found.chart, deck), deck, wins))
    lost = Fraction(said["optimal_payback"]) - Fraction(said["payback_at_least"])
    if lost != found.cost:
        raise ProofError(f"{place.folder}: the derived chart loses {lost}, not {found.cost} as the search has it")
    return {"chart": chart_text(found.chart, deck, _notes(said)), **said}


def _notes(said: dict[str, Any]) -> list[str]:
    deals = int(said["deals"])
    return [
        f"{int(line['deals']) / deals * 100:8.4f} % of deals, win {float(Fraction(line['ev'])):.4f}"
        for line in said["lines"]
    ]


def heading(said: dict[str, Any]) -> list[str]:
    """What a derived chart is, as comments of its text."""
    return [
        f"# {said['game']}, {said['paytable']}: {len(said['lines'])} lines, derived from the exact strategy.",
        f"# payback {said['payback_decimal']} = {said['payback']},",
        f"# {said['cost_millionths']:.3f} millionths below the optimum {said['optimal_payback_decimal']}",
    ]


def derive_chart(run: str | Location, game: str, paytable: str, lines: int | None = None) -> dict[str, Any]:
    """The strategy of a paytable in a run as a ranked list of holds; names or folder names will do.

    Returns `chart`, text that `autohold audit --strategy` evaluates, and what playing by it comes to, exactly:
    `payback`, `optimal_payback`, `cost`, `lines[]` with how often each decides and what its deals win, and `wrong[]`,
    the hands that it plays wrong, grouped. At most `lines` lines, by default 40, or 50 with wild cards. Raises
    `ConfigError` where the run has no such paytable, and for games in which the order of cards matters.

    >>> import tempfile
    >>> from pipeline import certify
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = certify(["configs/jacks-or-better.toml"], folder + "/run", paytables=["9/6"])
    ...     found = derive_chart(run.path, "Jacks or Better", "9/6")
    >>> found["cost_millionths"] < 20, len(found["lines"]), found["lines"][3]["text"]
    (True, 34, '4 to a royal flush')
    """
    return ranked_list(choose_place(open_run(location(run))[2], f"{slug(game)}/{slug(paytable)}"), lines)
