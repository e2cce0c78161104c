"""Inverse design: the paytables of a grid that come nearest to a target payback, proven complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evaluator.design import PREFERENCES, Found, Goal, Match, search
from pipeline.api import one_paytable, solve_game
from pipeline.certificate import exact
from pipeline.config import Game
from pipeline.faults import ConfigError, Fault
from pipeline.vary import Values, Variation, read_variation

MOST_PAYTABLES = 10**12
"""of a grid that is searched"""


@dataclass(frozen=True)
class Designed:
    """One paytable that was found."""

    name: str
    """the base paytable and what pays otherwise"""
    pays: dict[str, Fraction]
    """win -> credits won, for the pays that vary"""
    payback: Fraction
    """credits won per credit bet"""
    variance: Fraction
    """of it; ties by lowest-mask"""
    hit_frequency: Fraction
    """probability of winning anything; ties by lowest-mask"""


@dataclass(frozen=True)
class Design:
    """The answer of a search. It is complete: every paytable of the grid was looked at, or is in a box of the grid
    whose exact bounds show that it is no better than these."""

    variation: Variation
    """the base, what varies and what it keeps"""
    target: Fraction
    """payback"""
    within: Fraction | None
    """how far from it a payback may be"""
    prefer: str
    """what the best is: closeness, variance or hit-frequency"""
    matches: tuple[Designed, ...]
    """the best first"""
    nearest: Designed | None
    """the nearest paytable, where none is within; None also where none keeps what was asked for"""
    number: int | None
    """how many are within, beside the matches too; None where only the nearest were searched"""
    found: Found
    """how the search went"""


def design(
    game: Game,
    target: Fraction,
    vary: Mapping[str, Values],
    base: str | None = None,
    *,
    within: Fraction | None = None,
    prefer: str = PREFERENCES[0],
    limit: int = 10,
    link: Mapping[str, str] | None = None,
    keep: Iterable[str] = (),
) -> Design:
    """The paytables of a grid whose payback is nearest to `target`, or the best `limit` of those `within` it.

    `vary`, `base`, `link` and `keep` are as in `sweep`. To prefer ``variance`` (the least) or ``hit-frequency`` (the
    highest) needs `within`. Raises `ConfigError`.

    >>> from pipeline import load_game
    >>> game = load_game("configs/jacks-or-better.toml")
    >>> found = design(game, Fraction("0.973"), {"full house": "6..10", "flush": "5..7"}, "9/6", limit=1)
    >>> found.matches[0].name, round(float(found.matches[0].payback), 9)
    ('9/6, full house=8, flush=5', 0.972984338)
    """
    return carry_out(read_variation(game, one_paytable(game, base), vary, link, keep), target, within, prefer, limit)


def carry_out(
    variation: Variation,
    target: Fraction,
    within: Fraction | None,
    prefer: str = PREFERENCES[0],
    limit: int = 10,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Design:
    """Search a variation in this process."""
    size = variation.family.size
    if size > MOST_PAYTABLES:
        raise ConfigError([Fault("--vary", "", f"{size:,} paytables; expected at most {MOST_PAYTABLES:,}")])
    if prefer != PREFERENCES[0] and within is None:
        raise ConfigError([Fault("--prefer", prefer, "needs --within, for among all paytables it means little")])
    tables = solve_game(variation.game).tables
    stake = tables.cycle * variation.scale * variation.base.coins

    def look(distance: Fraction | None, what: str, number: int) -> Found:
        goal = Goal(target * stake, None if distance is None else distance * stake, what, number)
        return search(tables, variation.family, variation.bonus_units, goal, progress)

    def tell(match: Match) -> Designed:
        return Designed(
            variation.name(match.place),
            variation.pays(match.place),
            Fraction(match.won, stake),
            Fraction(match.squares * tables.cycle - match.won**2, stake**2),
            Fraction(match.hits, tables.cycle),
        )

    if prefer == PREFERENCES[0]:
        found = nearest = look(None, prefer, limit)
    else:
        found = look(within, prefer, limit)
        nearest = found if found.matches else look(None, PREFERENCES[0], 1)
    matches = tuple(tell(match) for match in found.matches)
    matches = tuple(match for match in matches if within is None or abs(match.payback - target) <= within)
    alone = None if matches or not nearest.matches else tell(nearest.matches[0])
    number = found.within if prefer != PREFERENCES[0] else None
    if number is None and len(matches) < limit and within is not None:
        number = len(matches)
    return Design(variation, target, within, prefer, matches, alone, number, found)


def row_json(found: Designed, target: Fraction) -> dict[str, Any]:
    """A paytable as plain values, with its exact distance from the target."""
    return {
        "paytable": found.name,
        "pays": {win: str(pay) for win, pay in found.pays.items()},
        **exact("payback", found.payback),
        **exact("variance", found.variance),
        **exact("hit_frequency", found.hit_frequency),
        **exact("distance", abs(found.payback - target)),
    }
