"""What varies: ``full house=6..10`` and the like, pays that go together, and what they must keep, as a family."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from evaluator.family import Axis, Family, Relation
from evaluator.payback import line_units
from evaluator.rules import Paytable
from pipeline.config import Game
from pipeline.faults import ConfigError, Fault
from pipeline.paytables import parse_pay

MOST_VALUES = 100_000
"""of one pay"""
LADDER, COINS, RATIOS = "ladder", "coins", "ratios"
"""what `keep` can ask for by one word"""

Values = str | Sequence[object]
"""``6..10``, ``250..1000:25``, ``5,6,"6/5"``, or a list of pays"""


@dataclass(frozen=True)
class Variation:
    """A base paytable and the pays that vary."""

    game: Game
    """the game file"""
    base: Paytable
    """what does not vary"""
    wins: tuple[tuple[str, ...], ...]
    """for each pay that varies, its win, then the wins linked to it"""
    values: tuple[tuple[Fraction, ...], ...]
    """for each, credits won for the bet of the base, ascending"""
    scale: int
    """units in a credit"""
    family: Family
    """the same in units"""

    def pays(self, place: Sequence[int]) -> dict[str, Fraction]:
        """Win -> pay, for the pays that vary, of the paytable at a place of the family."""
        return {win: self.values[i][at] for i, at in enumerate(place) for win in self.wins[i]}

    def name(self, place: Sequence[int]) -> str:
        """The name of a paytable, as `--pay` would make it: ``9/6, full house=8, flush=5``."""
        return ", ".join([self.base.label, *(f"{win}={pay}" for win, pay in self.pays(place).items())])

    @property
    def bonus_units(self) -> tuple[int, ...]:
        """What is paid for the deal beside the draw; it does not vary."""
        return tuple(int(bonus * self.scale) for bonus in self.base.bonuses)


def parse_values(text: str) -> tuple[Fraction, ...]:
    """Values and ranges, ascending; a range steps by 1 unless it says by what. Raises ValueError.

    >>> [str(value) for value in parse_values("5, 6..8, 10..11:1/2")]
    ['5', '6', '7', '8', '10', '21/2', '11']
    """
    values: set[Fraction] = set()
    for part in text.split(","):
        span, colon, step_text = part.partition(":")
        first, dots, last = (side.strip() for side in span.partition(".."))
        if colon and not dots:
            raise ValueError(f"{part.strip()!r}: only a range has a step, like 250..1000:25")
        if not dots:
            values.add(parse_pay(first))
            continue
        low, high, step = parse_pay(first), parse_pay(last), parse_pay(step_text if colon else 1)
        if low > high or not step:
            raise ValueError(f"{part.strip()!r}: expected a range upwards, with a step above 0")
        number = (high - low) // step + 1
        if number > MOST_VALUES:
            raise ValueError(f"{part.strip()!r}: {number} values; expected at most {MOST_VALUES}")
        values |= {low + i * step for i in range(number)}
    return tuple(sorted(values))


def read_variation(
    game: Game,
    base: Paytable,
    vary: Mapping[str, Values],
    link: Mapping[str, str] | None = None,
    keep: Iterable[str] = (),
) -> Variation:
    """What varies: win -> values, win -> the win that it pays the same as, and what the pays must keep.

    `keep` has ``ladder`` (no win pays more than a higher one), ``coins`` (what varies is a multiple of the credits
    bet), ``ratios`` or ``9/5 ratios`` (what varies keeps its ratios in the base, or in the named paytable), and
    relations like ``full house>=flush``, ``four of a kind=4*full house``, ``royal flush<1000``. Raises `ConfigError`
    with all faults.
    """
    names, faults = [win.name for win in game.rules.wins], list[Fault]()
    values = {win: _values(win, given, names, faults) for win, given in vary.items()}
    wins = _linked(list(vary), link or {}, names, faults)
    keeps = [word.strip() for word in keep]
    if not vary:
        faults.append(Fault("--vary", "", "no pay varies; expected at least one WIN=VALUES"))
    if COINS in keeps:
        values = {win: tuple(v for v in some if v % base.coins == 0) for win, some in values.items()}
        none = [win for win, some in values.items() if not some]
        faults += [Fault("--keep", COINS, f"no value of {win!r} is a multiple of {base.coins}") for win in none]
    if faults:
        raise ConfigError(faults)
    scale = lcm(base.scale, *(value.denominator for some in values.values() for value in some))
    family = _family(names, base, scale, list(wins.values()), list(values.values()))
    relations = [r for word in keeps if word != COINS for r in _relations(word, game, base, family, scale, faults)]
    if faults:
        raise ConfigError(faults)
    family = Family(family.base, family.axes, tuple(relations))
    return Variation(game, base, tuple(map(tuple, wins.values())), tuple(values.values()), scale, family)


def _linked(vary: list[str], link: Mapping[str, str], names: list[str], faults: list[Fault]) -> dict[str, list[str]]:
    """For each win that varies, itself and the wins that go with it; a link may lead to another one."""
    wins = {win: [win] for win in vary}
    for win, other in link.items():
        faults += _unknown("--link", [win, other], names)
        home, passed = other, {win}
        while home in link and home not in passed:
            passed.add(home)
            home = link[home]
        if home not in wins or win in wins:
            faults.append(Fault("--link", f"{win}={other}", "expected WIN=OTHER, where only the pay of OTHER varies"))
        else:
            wins[home].append(win)
    return wins


def _values(win: str, given: Values, names: list[str], faults: list[Fault]) -> tuple[Fraction, ...]:
    faults += _unknown("--vary", [win], names)
    try:
        return parse_values(given) if isinstance(given, str) else tuple(sorted({parse_pay(value) for value in given}))
    except ValueError as problem:
        faults.append(Fault("--vary", win, str(problem)))
        return ()


def _unknown(option: str, wins: Iterable[str], names: list[str]) -> list[Fault]:
    faults = []
    for win in wins:
        if win not in names:
            close = difflib.get_close_matches(win, names, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"the wins are {', '.join(names)}"
            faults.append(Fault(option, win, f"there is no such win; {hint}"))
    return faults


def _family(
    names: list[str], base: Paytable, scale: int, wins: list[list[str]], values: list[tuple[Fraction, ...]]
) -> Family:
    """The grid in units. What pays the same for a hand held as dealt goes on paying the same."""
    outcomes, paid = len(base.pays), line_units(base)
    axes = []
    for some, pays in zip(wins, values, strict=True):
        lines = [names.index(win) for win in some]
        if base.on_deal is not None:
            lines += [line + outcomes for line in lines if paid[line + outcomes] == paid[line]]
        axes.append(Axis(tuple(lines), tuple(int(pay * scale) for pay in pays)))
    return Family(tuple(unit * (scale // base.scale) for unit in paid), tuple(axes))


# --- what the pays keep -----------------------------------------------------------------------------------------------

_SIDE = r"(?:(?P<{0}factor>\d+(?:[./]\d+)?)\s*\*\s*)?(?P<{0}what>[^<>=*]+?)"
_RELATION = re.compile(rf"\s*{_SIDE.format('left_')}\s*(?P<sign>>=|<=|>|<|=)\s*{_SIDE.format('right_')}\s*")


def _relations(
    word: str, game: Game, base: Paytable, family: Family, scale: int, faults: list[Fault]
) -> list[Relation]:
    """What one `keep` asks for; what is wrong with it is added to `faults`."""
    wins = len(game.rules.wins)
    pays = [_pay(family, line) for line in range(wins)]
    if word == LADDER:
        differences = [pays[i] - pays[i + 1] for i in range(wins - 1)]
        return [_at_least(row) for row in differences if row[1:].any()]
    if word == RATIOS or word.endswith(f" {RATIOS}"):
        name = word.removesuffix(RATIOS).strip()
        found = [table for table in game.paytables if name in (table.name, table.label)] if name else [base]
        if not found:
            faults.append(Fault("--keep", word, f"there is no paytable {name!r} in {game.file}"))
            return []
        kept = [found[0].pays[axis.lines[0]] for axis in family.axes]
        rows = [_axis(family, i) * kept[0] - _axis(family, 0) * pay for i, pay in enumerate(kept)][1:]
        return [_at_least(sign * row) for row in rows for sign in (1, -1)]
    match = _RELATION.fullmatch(word)
    if match is None:
        message = f"expected {LADDER}, {COINS}, {RATIOS} or a relation like 'full house>=flush'"
        faults.append(Fault("--keep", word, message))
        return []
    names = [win.name for win in game.rules.wins]
    sides = []
    for side in ("left_", "right_"):
        what, factor = match[f"{side}what"].strip(), Fraction(match[f"{side}factor"] or 1)
        if what in names:
            sides.append(pays[names.index(what)] * factor)
            continue
        try:
            sides.append(_constant(family, factor * parse_pay(what) * scale))
        except ValueError:
            faults += _unknown("--keep", [what], names)
            return []
    more = sides[0] - sides[1] if ">" in match["sign"] else sides[1] - sides[0]
    if match["sign"] == "=":
        return [_at_least(more), _at_least(-more)]
    return [_at_least(more, strictly=match["sign"] in "<>")]


def _pay(family: Family, line: int) -> NDArray[np.object_]:
    """What a line pays: a constant, then a multiple of the value of each axis; Fractions."""
    for i, axis in enumerate(family.axes):
        if line in axis.lines:
            return _axis(family, i)
    return _constant(family, Fraction(family.base[line]))


def _axis(family: Family, number: int) -> NDArray[np.object_]:
    row = _constant(family, Fraction(0))
    row[1 + number] = Fraction(1)
    return row


def _constant(family: Family, value: Fraction) -> NDArray[np.object_]:
    return np.array([value, *(Fraction(0) for _ in family.axes)], object)


def _at_least(row: NDArray[np.object_], strictly: bool = False) -> Relation:
    """The relation that a row is 0 or more, or more than 0, in integers."""
    scale = lcm(*(number.denominator for number in row))
    constant, *coefficients = (int(number * scale) for number in row)
    return Relation(constant - strictly, tuple(coefficients))
