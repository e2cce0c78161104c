"""Strategy charts: the language of an ordered list of holds, read and written.

A chart is text, one hold a line, best first; a hand is played by the first line that fits any of its holds. A line is
clauses with commas between, all of which must fit the cards held:

    full house                 the hand is dealt in that win; held are the fewest cards that are sure of it
    4 to a royal flush         so many cards, which a draw can turn into that win
    2 cards                    so many cards; `nothing` is none but the wild ones
    pair, 3 alike              two, or so many, cards of one face and nothing else
    suited, unsuited           all of one suit, or not
    J-A, 5                     faces, all of the held cards among them; `with T` means one of them at least
    consecutive                faces that follow each other
    in 3 straights             faces that are part of so many straights of the deck; `in 3+ straights`: or of more
    outside, inside            the same as `in 2+ straights` and `in 1 straight`
    2 high, 1+ high            so many cards, or so many at least, of high faces: of which a pair is sure of a win
    2 high cards               so many cards beside the wild ones, all of high faces
    lowest, highest            of several holds that fit, that of the lowest or highest faces; else the best of them

Before the lines there may be ``wild: 2`` (faces, or cards like `Jh`, that are always held and that the other clauses do
not look at; `joker` is one), and between them ``[2 wild]``: the lines below are for hands with so many of these. `#`
begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluator.cards import JOKER, CardError, Deck, parse_cards

NUMBERS = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5"}
OUTSIDE, INSIDE = (2, True), (1, False)
"""numbers of straights: how many, and whether more will do"""


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
    """numbers of the cards that are wild"""


def read_chart(text: str, deck: Deck, wins: Sequence[str]) -> Chart:
    """A chart for a deck and the names of its wins; raises `ChartError`.

    >>> chart = read_chart("4 to a flush  # nine ways\\npair\\n2 cards, J-A, suited", Deck(), ["flush"])
    >>> chart.lines[2].clauses
    (('size', 2), ('faces', (9, 10, 11, 12)), ('suited', True))
    """
    lines, wild, section = [], frozenset[int](), None
    for number, said in enumerate(text.splitlines(), start=1):
        line = said.partition("#")[0].strip()
        if not line:
            continue
        try:
            if found := re.fullmatch(r"wild:(.*)", line, re.IGNORECASE):
                wild = frozenset(card for part in found[1].split(",") for card in _wild(part.strip(), deck))
            elif found := re.fullmatch(r"\[(\d) wild\]", line, re.IGNORECASE):
                section = int(found[1])
            else:
                lines.append(Line(number, line, read_line(line, deck, wins), section))
        except ChartError as problem:
            raise ChartError(f"line {number}: {problem}") from None
    if not lines:
        raise ChartError("has no lines")
    return Chart(tuple(lines), wild)


def read_line(line: str, deck: Deck, wins: Sequence[str]) -> tuple[tuple[str, Any], ...]:
    """The clauses of one line; raises `ChartError`."""
    names = [name.casefold() for name in wins]
    return tuple(_clause(" ".join(part.casefold().split()), deck, names) for part in line.split(","))


def _wild(said: str, deck: Deck) -> list[int]:
    """Numbers of the cards of a face or a range of faces, or of one card."""
    try:
        faces = _faces(said, deck)
    except ChartError:
        try:
            return list(parse_cards(deck, said))
        except CardError as problem:
            raise ChartError(f"{said!r} is no face and no card: {problem}") from None
    return [card for card in range(deck.kinds) if deck.face_of[card] in faces]


def _clause(said: str, deck: Deck, wins: Sequence[str]) -> tuple[str, Any]:
    """One clause, in small letters."""
    if said in wins:
        return "win", wins.index(said)
    if said in ("suited", "unsuited"):
        return "suited", said == "suited"
    if said in ("nothing", "consecutive", "lowest", "highest"):
        return said, True
    if said in ("outside", "inside"):
        return "straights", OUTSIDE if said == "outside" else INSIDE
    if said == "pair":
        return "alike", 2
    if found := re.fullmatch(rf"([0-5]|{'|'.join(NUMBERS)}) to an? (.+)", said):
        number, name = found.groups()  # there may be numbers in the name, too, which stay as they are
        if name not in wins:
            raise ChartError(f"{name!r} is no win; the wins are {', '.join(wins)}")
        return "to", (int(NUMBERS.get(number, number)), wins.index(name))
    words = " ".join(NUMBERS.get(word, word) for word in said.split())
    if found := re.fullmatch(r"([0-5]) high cards?", words):
        return "high cards", int(found[1])
    if found := re.fullmatch(r"([0-5]) (cards?|alike)", words):
        return ("alike" if found[2] == "alike" else "size"), int(found[1])
    if found := re.fullmatch(r"in (\d)(\+?) straights?|([0-5])(\+?) high", words):
        straights, more, high, more_high = found.groups()
        return ("high", (int(high), bool(more_high))) if high else ("straights", (int(straights), bool(more)))
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


# --- writing ----------------------------------------------------------------------------------------------------------


def line_text(clauses: Sequence[tuple[str, Any]], deck: Deck, wins: Sequence[str]) -> str:
    """A line of these clauses, as `read_chart` reads it.

    >>> line_text([("to", (3, 0)), ("straights", (2, True)), ("high", (1, False))], Deck(), ["straight flush"])
    '3 to a straight flush, outside, 1 high'
    """
    return ", ".join(_clause_text(kind, value, deck, wins) for kind, value in clauses)


def _clause_text(kind: str, value: Any, deck: Deck, wins: Sequence[str]) -> str:
    match kind:
        case "win":
            return str(wins[value])
        case "to":
            return f"{value[0]} to {'an' if wins[value[1]][0] in 'aeiou' else 'a'} {wins[value[1]]}"
        case "size" | "high cards":
            return f"{value}{' high' * (kind != 'size')} card{'s' * (value != 1)}"
        case "alike":
            return "pair" if value == 2 else f"{value} alike"
        case "suited":
            return "suited" if value else "unsuited"
        case "straights":
            number, more = value
            if value in (OUTSIDE, INSIDE):
                return "outside" if value == OUTSIDE else "inside"
            return f"in {number}{'+' * more} straight{'s' * (value != (1, False))}"
        case "high":
            return f"{value[0]}{'+' * value[1]} high"
        case "faces" | "with":
            names = [*deck.faces, JOKER]
            ends = names[value[0]] if len(value) == 1 else f"{names[value[0]]}-{names[value[-1]]}"
            return f"with {ends}" if kind == "with" else ends
    return kind  # nothing, consecutive, lowest, highest


def chart_text(chart: Chart, deck: Deck, notes: Sequence[str] = ()) -> str:
    """A chart as text that `read_chart` reads, the lines as they stand in it, each with its note as a comment.

    >>> text = chart_text(read_chart("wild: 2, Jh\\n[1 wild]\\npair", Deck(), []), Deck(), ["many"])
    >>> print(text.rstrip())
    wild: 2, Jh
    <BLANKLINE>
    [1 wild]
    pair  # many
    """
    said = ["wild: " + ", ".join(_wild_names(chart.wild, deck))] if chart.wild else []
    width = max(len(line.text) for line in chart.lines)
    section = None
    for number, line in enumerate(chart.lines):
        if line.wild != section:
            section = line.wild
            said += ["", f"[{section} wild]"]
        said.append(f"{line.text:<{width}}  # {notes[number]}" if notes else line.text)
    return "\n".join(said) + "\n"


def _wild_names(wild: frozenset[int], deck: Deck) -> list[str]:
    """Faces where all cards of them are wild, else cards."""
    names = [*deck.faces, JOKER]
    by_face = {face: {card for card in range(deck.kinds) if deck.face_of[card] == face} for face in range(len(names))}
    whole = [face for face, cards in by_face.items() if cards and cards <= wild]
    single = [deck.names[card] for card in sorted(wild) if deck.face_of[card] not in whole]
    return [names[face] for face in whole] + single
