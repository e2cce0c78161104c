"""The catalogue: one page with all paytables of a run, to be sorted, filtered and compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any

from markupsafe import Markup

from pipeline.certificate import Certificate
from pipeline.faults import count
from pipeline.open_run import Place
from pipeline.report import plots
from pipeline.report.figures import Figure, row_name
from pipeline.report.pages import amount, percent, places, render, text_of

MOST_TOLD = 3
"""pays that differ from the first paytable of the game and are told in the table of all"""

Pays = dict[str, Fraction]
"""name of an outcome -> credits won per credit bet"""


@dataclass(frozen=True)
class Certified:
    """A paytable and what is certified of it."""

    place: Place
    """where it is in the run"""
    certificate: Certificate
    """its certificate"""


@dataclass(frozen=True)
class Family:
    """The paytables of one game: they share everything but what is paid."""

    game: str
    """name"""
    sheets: tuple[Certified, ...]
    """highest payback first"""
    differing: tuple[str, ...]
    """outcomes whose pay is not the same in all of them, highest first"""
    common: tuple[str, ...]
    """the others, each with its pay"""
    explorer: str
    """the page of the game that answers for any hand"""

    def pay(self, sheet: Certified, name: str) -> Fraction | None:
        """What an outcome pays per credit bet; None where the paytable has no such row."""
        return pays(sheet.certificate).get(name)


def page(sheets: Sequence[Certified], manifest: dict[str, Any]) -> str:
    """The page of a run, at ``index.html``."""
    games = [list(group) for _, group in groupby(sheets, lambda sheet: sheet.certificate["game"])]
    told = {id(sheet): other_pays(game[0], sheet) for game in games for sheet in game}
    return render(
        "catalogue.html",
        title="Certified paytables",
        sheets=sheets,
        told=[told[id(sheet)] for sheet in sheets],
        families=[family(game) for game in games],
        overview=overview(sheets),
        manifest=manifest,
        script=text_of("catalogue.js"),
    )


def pays(content: Certificate) -> Pays:
    """What every outcome pays, per credit bet."""
    return {row_name(win): Fraction(win["pays"]) / content["coins"] for win in content["wins"]}


def other_pays(first: Certified, sheet: Certified) -> str:
    """The pays, per credit bet, that differ from those of the first paytable of the game."""
    if sheet is first:
        return "the first of its game"
    base, own = pays(first.certificate), pays(sheet.certificate)
    names = [name for name in own if own[name] != base.get(name)]
    told = [f"{name} {_plain(own[name])}" for name in names[:MOST_TOLD]]
    more = len(names) - len(told)
    return ", ".join(told + [f"and {more} more"] * bool(more)) or "none"


def _plain(pay: Fraction) -> str:
    """A pay as text without markup.

    >>> _plain(Fraction(25, 3)), _plain(Fraction(5, 2))
    ('25/3', '2.5')
    """
    return str(Markup(amount(pay)).striptags())


def family(sheets: Sequence[Certified]) -> Family:
    """Compare the paytables of a game."""
    tables = [pays(sheet.certificate) for sheet in sheets]
    names = dict.fromkeys(name for table in tables for name in table)
    differing = tuple(name for name in names if len({table.get(name) for table in tables}) > 1)
    common = tuple(f"{name} {_plain(tables[0][name])}" for name in names if name not in differing and tables[0][name])
    ranked = sorted(sheets, key=lambda sheet: -Fraction(sheet.certificate["payback"]))
    folder = sheets[0].place.folder.split("/")[0]
    return Family(sheets[0].certificate["game"], tuple(ranked), differing, common, f"{folder}/explorer.html")


def overview(sheets: Sequence[Certified]) -> Figure:
    """Payback against standard deviation of all paytables."""
    contents = [sheet.certificate for sheet in sheets]

    def name(content: Certificate) -> str:
        return f"{content['game']}, {content['label']}"

    def deviation(content: Certificate) -> Fraction:
        return Fraction(content["standard_deviation_decimal"])

    least, most = (end(contents, key=lambda content: Fraction(content["payback"])) for end in (min, max))
    calm, wild = (end(contents, key=deviation) for end in (min, max))
    above = sum(Fraction(content["payback"]) > 1 for content in contents)
    sentence = (
        f"Paybacks go from {percent(least['payback'], 3)} ({name(least)}) to {percent(most['payback'], 3)} "
        f"({name(most)}); {above} of {len(contents)} {'is' if above == 1 else 'are'} above 100 %. Standard deviations "
        f"go from {places(deviation(calm), 3)} ({name(calm)}) to {places(deviation(wild), 3)} ({name(wild)})."
    )
    if len(contents) == 1:
        sentence = f"Payback {percent(least['payback'], 3)}, standard deviation {places(deviation(calm), 3)}."
    svg = plots.scatter(
        "overview",
        f"Scatter: payback against standard deviation of {count(len(contents), 'paytable')}",
        [100 * float(Fraction(content["payback"])) for content in contents],
        [float(deviation(content)) for content in contents],
    )
    return Figure(svg, sentence)
