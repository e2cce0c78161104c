"""Strategy charts: an ordered list of holds, applied to every hand at once.

A chart is text, one hold a line, best first; a hand is played by the first line that fits any of its holds. A line is
clauses with commas between, all of which must fit the cards held:

    full house                 the hand is dealt in that win; held are the fewest cards that are sure of it
    4 to a royal flush         so many cards, which a draw can turn into that win
    2 cards                    so many cards; `nothing` is none but the wild ones
    pair, 3 alike              two, or so many, cards of one face and nothing else
    suited, unsuited           all of one suit, or not
    J-A, 5                     faces, all of the held cards among them; `with T` means one of them at least
    consecutive                faces that follow each other
    outside, inside            faces that are part of two or more straights of the deck, or of just one
    lowest, highest            of several holds that fit, that of the lowest or highest faces; else the best of them

Before the lines there may be ``wild: 2`` (faces that are always held and that the other clauses do not look at; `joker`
is one), and between them ``[2 wild]``: the lines below are for hands with so many of these. `#` begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import JOKER, Deck
from evaluator.holds import HELD, Block, Tables

_SIZES = np.array(HELD)[:, None]
_HOLDS = np.array([[mask >> i & 1 for i in range(5)] for mask in range(32)], bool)
NUMBERS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}


class ChartError(ValueError):
    """A line of a chart that says nothing; the message has its number."""


@dataclass(frozen=True)
class Line:
    """A line of a chart."""

    number: int
    """in the text, from 1"""
    text: str
    """as it stands there"""
    clauses: tuple[tuple[str, Any], ...]
    """what must hold: kind and value"""
    wild: int | None
    """how many wild cards the hand must have; None for any"""


@dataclass(frozen=True)
class Chart:
    """A chart, read."""

    lines: tuple[Line, ...]
    """best first"""
    wild: frozenset[int] = field(default_factory=frozenset)
    """numbers of the faces that are wild"""


def read_chart(text: str, deck: Deck, wins: Sequence[str]) -> Chart:
    """A chart for a deck and the names of its wins; raises `ChartError`.

    >>> chart = read_chart("4 to a flush  # nine ways\\npair\\n2 cards, J-A, suited", Deck(), ["flush"])
    >>> chart.lines[2].clauses
    (('size', 2), ('faces', (9, 10, 11, 12)), ('suited', True))
    """
    lines, wild, section = [], frozenset[int](), None
    names = [name.casefold() for name in wins]
    for number, said in enumerate(text.splitlines(), start=1):
        line = said.partition("#")[0].strip()
        if not line:
            continue
        try:
            if found := re.fullmatch(r"wild:(.*)", line, re.IGNORECASE):
                wild = frozenset(face for part in found[1].split(",") for face in _faces(part.strip(), deck))
            elif found := re.fullmatch(r"\[(\d) wild\]", line, re.IGNORECASE):
                section = int(found[1])
            else:
                clauses = tuple(_clause(part.strip().casefold(), deck, names) for part in line.split(","))
                lines.append(Line(number, line, clauses, section))
        except ChartError as problem:
            raise ChartError(f"line {number}: {problem}") from None
    if not lines:
        raise ChartError("has no lines")
    return Chart(tuple(lines), wild)


def _clause(said: str, deck: Deck, wins: Sequence[str]) -> tuple[str, Any]:
    """One clause, in small letters."""
    if said in wins:
        return "win", wins.index(said)
    if said in ("suited", "unsuited"):
        return "suited", said == "suited"
    if said in ("nothing", "consecutive", "lowest", "highest"):
        return said, True
    if said in ("outside", "inside"):
        return "outside", said == "outside"
    if said == "pair":
        return "alike", 2
    words = " ".join(NUMBERS.get(word, word) for word in said.split())
    if found := re.fullmatch(r"([0-5]) to an? (.+)", words):
        name = found[2]
        if name not in wins:
            raise ChartError(f"{name!r} is no win; the wins are {', '.join(wins)}")
        return "to", (int(found[1]), wins.index(name))
    if found := re.fullmatch(r"([0-5]) (cards?|alike)", words):
        return ("alike" if found[2] == "alike" else "size"), int(found[1])
    if said.startswith("with "):
        return "with", _faces(said[5:].strip(), deck)
    return "faces", _faces(said, deck)


def _faces(said: str, deck: Deck) -> tuple[int, ...]:
    """Numbers of the faces of ``J-A`` or ``T``; the joker comes after all others."""
    names = [face.casefold() for face in deck.faces] + [JOKER] * bool(deck.jokers)
    first, _, last = (part.strip().casefold() for part in said.partition("-"))
    last = last or first
    if first not in names or last not in names or names.index(first) > names.index(last):
        raise ChartError(f"{said!r} is no clause, no win and no range of the faces {', '.join(names)}")
    return tuple(range(names.index(first), names.index(last) + 1))


# --- applying a chart -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Hands:
    """The hands of a block, as clauses look at them; (5, n) each."""

    faces: NDArray[np.intp]
    suits: NDArray[np.intp]
    wild: NDArray[np.bool_]
    reach: list[NDArray[Any]]
    """for each outcome, (32, n): hands with the held cards that are it, whatever is discarded"""
    sure: list[NDArray[np.bool_]]
    """for each outcome, (32, n): whether all hands with the held cards are it or a higher one"""


def apply_chart(
    chart: Chart, tables: Tables, block: Block, values: NDArray[Any]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """(n,) masks, (n,) lines that decide them, and (n,) the line that fits the best hold; -1 for no line.

    values: (32, n) worth of every hold. A hand that no line fits is held as nothing but its wild cards.
    """
    if block.arrangements is not None:
        raise ChartError("the order of the cards matters in this game, of which charts say nothing")
    deck, cards = tables.classes.deck, block.hands.T.astype(np.intp)
    faces = deck.face_of.astype(np.intp)[cards]
    reach = [_reach(tables, block, outcome) for outcome in range(tables.counts[0].shape[1])]
    most = np.array([comb(deck.size - held, 5 - held) for held in HELD])[:, None]
    sure = [upto == most for upto in accumulate(reach)]
    hands = _Hands(faces, deck.suit_of.astype(np.intp)[cards], np.isin(faces, list(chart.wild)), reach, sure)
    n = cards.shape[1]
    held_wild = np.array([(hands.wild[_HOLDS[mask]]).sum(axis=0) for mask in range(32)]).reshape(32, n)
    keeps = (held_wild == hands.wild.sum(axis=0)) & (block.repeats >> np.arange(32, dtype=np.uint32)[:, None] & 1 == 0)
    masks, line_of, line_of_best = np.full(n, -1), np.full(n, -1), np.full(n, -1)
    best = values.max(axis=0)
    for number, line in enumerate(chart.lines):
        fits = keeps & _fits(line, chart, deck, block, hands)
        if line.wild is not None:
            fits &= hands.wild.sum(axis=0) == line.wild
        line_of_best[(line_of_best < 0) & (fits & (values == best)).any(axis=0)] = number
        some = np.flatnonzero((line_of < 0) & fits.any(axis=0))
        masks[some] = _choose(line, fits[:, some], values[:, some], hands.faces[:, some])
        line_of[some] = number
    bare = (hands.wild * (1 << np.arange(5))[:, None]).sum(axis=0)
    return np.where(masks < 0, bare, masks), line_of, line_of_best


def _choose(line: Line, fits: NDArray[np.bool_], values: NDArray[Any], faces: NDArray[np.intp]) -> NDArray[np.intp]:
    """(m,): of the holds that fit, the fewest cards for a win, then lowest or highest faces, else the best."""
    kinds = dict(line.clauses)
    if "win" in kinds:
        fewest = np.where(fits, _SIZES, 6).min(axis=0)
        fits = fits & (fewest == _SIZES)
    if "lowest" in kinds or "highest" in kinds:
        sums = np.array([faces[_HOLDS[mask]].sum(axis=0) for mask in range(32)]).reshape(32, -1)
        scores: NDArray[Any] = sums if "highest" in kinds else -sums
    else:
        scores = values
    least = scores.min(initial=0) - 1
    chosen: NDArray[np.intp] = np.where(fits, scores, least).argmax(axis=0)
    return chosen


def _fits(line: Line, chart: Chart, deck: Deck, block: Block, hands: _Hands) -> NDArray[np.bool_]:
    fits = np.ones((32, hands.faces.shape[1]), bool)
    for kind, value in line.clauses:
        if kind == "win":
            fits &= (block.outcomes == value) & hands.sure[value]
        elif kind == "size":
            fits &= value == _SIZES
        elif kind == "to":
            fits &= (value[0] == _SIZES) & (hands.reach[value[1]] > 0)
        elif kind not in ("lowest", "highest"):
            for mask in np.flatnonzero(fits.any(axis=1)).tolist():
                fits[mask] &= _cards_fit(kind, value, chart, deck, hands, _HOLDS[mask])
    return fits


def _reach(tables: Tables, block: Block, outcome: int) -> NDArray[Any]:
    reach = np.empty((32, len(block.hands)), np.int64)
    reach[31] = block.outcomes == outcome
    tables_of = [np.ascontiguousarray(table[:, outcome]) for table in tables.counts]
    for mask in range(31):
        reach[mask] = tables_of[HELD[mask]][block.rows[mask]]
    return reach


def _cards_fit(
    kind: str, value: Any, chart: Chart, deck: Deck, hands: _Hands, held: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """(n,): whether the held cards that are not wild fit a clause."""
    faces, suits, natural = hands.faces[held], hands.suits[held], ~hands.wild[held]
    count = natural.sum(axis=0)
    low = np.where(natural, faces, 99).min(axis=0, initial=99)
    high = np.where(natural, faces, -1).max(axis=0, initial=-1)
    present = np.zeros(faces.shape[1], np.int64)
    for face, counts in zip(faces, natural, strict=True):
        present |= np.where(counts, 1 << face, 0)
    distinct = np.bitwise_count(present) == count
    some = count > 0
    if kind == "faces":
        fits: Any = (natural <= np.isin(faces, value)).all(axis=0) & some
    elif kind == "nothing":
        fits = ~some
    elif kind == "with":
        fits = (natural & np.isin(faces, value)).any(axis=0)
    elif kind == "alike":
        fits = (count == value) & (low == high) & natural.all(axis=0)
    elif kind == "suited":
        first = np.where(natural, suits, -1).max(axis=0, initial=-1)
        same = (np.where(natural, suits, first) == first).all(axis=0) & (first < len(deck.suits))
        fits = np.equal(same, value) & some
    elif kind == "consecutive":
        fits = distinct & (high - low + 1 == count) & some
    elif kind == "outside":
        parts = sum((np.equal(present & ~window, 0).astype(int) for window in _windows(deck, chart.wild)), 0 * count)
        fits = distinct & some & ((parts > 1) if value else (parts == 1))
    else:
        raise ChartError(f"{kind!r} is no clause")
    return np.asarray(fits, bool)


def _windows(deck: Deck, wild: frozenset[int]) -> list[int]:
    """Bit sets of the five faces of each straight of the deck, the last face low as well; without wild faces."""
    number = len(deck.faces)
    runs = [[(start + i) % number for i in range(5)] for start in range(-1, number - 4)]
    return [sum(1 << face for face in run) for run in runs if not wild & {*run}]
