"""The lines that a derived chart may have: every hold that the language of charts can name, within reason.

No win is known by name. Which faces belong together follows from what pairs, three and four of a kind of them can
become; a draw to a win is worth a line where few holds of that size can become it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.chart import INSIDE, OUTSIDE, ChartError, line_text, read_line
from evaluator.chart_view import Kinds, View, alike, clauses_fit
from evaluator.holds import Tables

Clauses = tuple[tuple[str, Any], ...]
NOTHING: Clauses = (("nothing", True),)
_RARE = 4
"""a draw is worth a line where at most one in so many holds of its size can become the win"""


@dataclass(frozen=True)
class Candidate:
    """A line that a chart may have."""

    wild: int
    """for hands with so many wild cards"""
    clauses: Clauses
    """what must hold"""
    fits: NDArray[np.bool_]
    """(k,): the kinds of holds that it fits"""


def candidates(
    view: View, tables: Tables, wins: Sequence[str], kinds: Kinds, deals: NDArray[np.int64]
) -> list[Candidate]:
    """All lines, the simplest first; of lines that fit the same holds, only the first. `deals` (k,) have each kind.

    The number of wild cards of a hand is that of each of its holds, since charts keep them all.
    """
    wild = kinds.held - kinds.natural
    found: dict[bytes, Candidate] = {}
    lines = []
    for section in sorted(set(wild[kinds.real].tolist())):
        here = kinds.real & (wild == section)
        ranges = _alike_ranges(view, tables)
        lines += [(section, here, clauses) for clauses in _dealt(view, ranges)]
        for cards in range(section + 1, 5):
            draws = _draws(kinds, here & (kinds.held == cards), deals) if cards > 2 else []
            lines += [(section, here, clauses) for clauses in _drawn(view, cards, cards - section, draws)]
    lines.sort(key=lambda line: (*_complexity(line[2]), line[0], line_text(line[2], view.deck, wins)))
    for section, here, clauses in lines:
        fits = clauses_fit(clauses, kinds) & here
        if fits.any() and _can_be_read(clauses, view, wins):
            found.setdefault(fits.tobytes(), Candidate(section, clauses, fits))
    return list(found.values())


def _can_be_read(clauses: Clauses, view: View, wins: Sequence[str]) -> bool:
    """Whether the text of a line says what it means; it may not if a win has a name like `pair` or `a, b`."""
    try:
        return read_line(line_text(clauses, view.deck, wins), view.deck, wins) == clauses
    except ChartError:
        return False


def _complexity(clauses: Clauses) -> tuple[int, int]:
    """How much there is to read, a win as dealt being nothing but its name; then the win that a draw is to."""
    said = dict(clauses)
    counted = said.get("straights") not in (None, OUTSIDE, INSIDE)
    return sum(kind != "win" for kind, _ in clauses) + counted, said.get("to", (0, 0))[1]


def _draws(kinds: Kinds, here: NDArray[np.bool_], deals: NDArray[np.int64]) -> list[int]:
    """The wins to which a draw is worth a line."""
    every = int(deals[here].sum())
    wins = range(kinds.reach.shape[1])
    return [win for win in wins if _RARE * int(deals[here & kinds.reach[:, win]].sum()) <= every]


def _alike_ranges(view: View, tables: Tables) -> list[Clauses]:
    """Ranges of faces that the rules treat alike in pairs, three and four of a kind; of all faces, no clause."""
    chances: dict[int, list[Any]] = {}
    for cards in (2, 3, 4):
        for face, rows in alike(tables, view.wild, cards).items():
            chances.setdefault(face, []).append(sorted(tables.counts[cards][rows].tolist()))
    faces = [face for face in sorted(chances) if face < len(view.deck.faces)]
    starts = [i for i, face in enumerate(faces) if i == 0 or chances[face] != chances[faces[i - 1]]]
    bounds = [*starts, len(faces)]
    ranges = [(low, high) for i, low in enumerate(bounds) for high in bounds[i + 1 :]]
    whole = (0, len(faces))
    return [(), *((("faces", tuple(range(faces[a], faces[b - 1] + 1))),) for a, b in ranges if (a, b) != whole)]


def _dealt(view: View, ranges: Sequence[Clauses]) -> Iterator[Clauses]:
    """Nothing, wins as dealt, and cards of one face."""
    yield NOTHING
    for among in ranges:
        for win in range(view.reach.shape[1]):
            yield (("win", win), *among)
        for number in (2, 3, 4):
            yield (("alike", number), *among)


def _drawn(view: View, cards: int, natural: int, draws: Sequence[int]) -> Iterator[Clauses]:
    """So many cards, or a draw to a win with them."""
    straights = [(), *(((("straights", value)),) for value in (OUTSIDE, INSIDE))]
    straights += [(("straights", (number, more)),) for number in range(2, 6) for more in (False, True)]
    high: list[Clauses] = []
    if view.high:
        yield (("high cards", natural),)
        yield from ((("high cards", natural), ("suited", suited)) for suited in (True, False) if natural > 1)
        high = [(("high", (number, False)),) for number in range(natural + 1)]
        high += [(("high", (number, True)),) for number in range(1, natural)]
    ranges = list(_ranges(view, natural))
    if natural > 1:
        for win in draws:
            to: Clauses = (("to", (cards, win)),)
            yield from ((*to, *run, *court) for run in straights for court in [(), *high])
            yield from ((*to, *among) for among in ranges)
    if natural < 4:
        suits: list[Clauses] = [(), (("suited", True),), (("suited", False),)]
        for suit in suits if natural > 1 else suits[:1]:
            size: Clauses = (("size", cards), *suit)
            yield from ((*size, *among) for among in [(), *ranges])
            # Where faces are not high, or do not matter beside a wild card, it is worth a line how near they are.
            if natural < 3 and (cards > natural or not view.high):
                yield from ((*size, *run) for run in straights[1:])


def _ranges(view: View, natural: int) -> Iterator[Clauses]:
    """Ranges of the faces of the highest straight and of high faces, and for two cards `with` one of them."""
    number = len(view.deck.faces)
    for low in range(max(0, min([number - 5, *view.high])), number):
        for top in range(low + natural - 1, number):
            among = ("faces", tuple(range(low, top + 1)))
            yield (among,)
            if natural <= 2 and top - low + 1 > natural:
                yield from ((("with", (face,)), among) for face in range(low, top + 1))
