"""Numeric hand codes: a win as one integer, after "Custom Video Poker Game" of Video Poker Genius.

A code is ``core << 26 | major << 13 | minor``. The core is the kind of hand, nothing (0) to straight flush (8, a royal
flush included); major and minor are sets of faces, bit 0 the deuce and bit 12 the ace. A dealt hand has a code too,
with at most one face in each set:

=================================================  =====================================  ==========
core                                               major                                  minor
=================================================  =====================================  ==========
one pair, three of a kind                          the face of the pair or the three
four of a kind                                     the face of the four                   the kicker
straight flush                                     the high card; of A 2 3 4 5 the five
nothing, two pair, straight, flush, full house
=================================================  =====================================  ==========

A hand matches a line of a paytable when the cores are equal and the hand's faces lie within the line's sets. Where a
hand has no face, the set of the line does not matter. The core is the highest that fits: a line for one pair matches
no full house, whatever other lines there are.

The scoring code that was published with the formula unpacks it otherwise: it takes the low bits for the face of the
pair, and masks of 14 bits. Here the formula holds. The original
has up to 15 numbered lines, tried from the last to the first (`win_order`).

With several decks, five of a kind is four of a kind with a kicker of the same face, and a flush may hold a pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evaluator.binding import windows
from evaluator.cards import ALIASES, STANDARD_FACES, Deck
from evaluator.polynomial import HAND_SIZE

T = TypeVar("T")

CORES = (
    "nothing", "one pair", "two pair", "three of a kind", "straight", "flush", "full house", "four of a kind",
    "straight flush",
)  # fmt: skip
NOTHING, ONE_PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(len(CORES))
WITH_MAJOR = (ONE_PAIR, TRIPS, QUADS, STRAIGHT_FLUSH)
WITH_MINOR = (QUADS,)
FACES = len(STANDARD_FACES)
ALL_FACES = (1 << FACES) - 1
FIVE = STANDARD_FACES.index("5")


class HandCodeError(ValueError):
    """A hand code that cannot be, or a deck that has none."""

    part: str
    """which is wrong: code, core, major, minor or deck"""
    message: str
    """what is wrong with it"""

    def __init__(self, part: str, message: str) -> None:
        self.part, self.message = part, message
        super().__init__(part, message)

    def __str__(self) -> str:
        return f"{self.part}: {self.message}"


@dataclass(frozen=True)
class HandCode:
    """A line of a paytable, or a dealt hand.

    >>> HandCode(QUADS, major=1 << 12, minor=0b111)  # four aces with a 2, 3 or 4
    HandCode(core=7, major=4096, minor=7)
    """

    core: int
    """index into `CORES`"""
    major: int = ALL_FACES
    """bit set of faces"""
    minor: int = ALL_FACES
    """bit set of faces"""

    def __post_init__(self) -> None:
        if not 0 <= self.core < len(CORES):
            raise HandCodeError("core", f"expected 0 to {len(CORES) - 1}, found {self.core}")
        for part, bits in (("major", self.major), ("minor", self.minor)):
            if not 0 <= bits <= ALL_FACES:
                raise HandCodeError(part, f"expected a set of 13 bits, 0 to {ALL_FACES}, found {bits}")


def pack(code: HandCode) -> int:
    """The code as one integer of 30 bits.

    >>> hex(pack(HandCode(QUADS)))
    '0x1fffffff'
    """
    return code.core << 2 * FACES | code.major << FACES | code.minor


def unpack(number: int) -> HandCode:
    """The code that an integer is; raises `HandCodeError`.

    >>> unpack(7 << 26 | 1 << 12 + 13 | 0b111)
    HandCode(core=7, major=4096, minor=7)
    """
    if number < 0 or number.bit_length() > 30:
        raise HandCodeError("code", f"expected core << 26 | major << 13 | minor, at most 30 bits, found {number}")
    core = number >> 2 * FACES
    if core >= len(CORES):
        raise HandCodeError("code", f"{number} has the core {core}; expected 0 to {len(CORES) - 1}")
    return HandCode(core, number >> FACES & ALL_FACES, number & ALL_FACES)


def win_order(lines: Sequence[T]) -> tuple[T, ...]:
    """Numbered lines, tried from the last to the first, as wins, tried from the first.

    >>> win_order(["jacks or better", "two pair", "royal flush"])
    ('royal flush', 'two pair', 'jacks or better')
    """
    return tuple(reversed(lines))


# --- in words ---------------------------------------------------------------------------------------------------------


def from_words(core: object, major: object = None, minor: object = None) -> HandCode:
    """The code of a core by name and of sets like ``"A,2-4"`` or ``["A", "2-4"]``, any face where none is given.

    Raises `HandCodeError`, also for a set that the core does not have.

    >>> from_words("four of a kind", "A", "2-4")
    HandCode(core=7, major=4096, minor=7)
    """
    if core not in CORES:
        raise HandCodeError("core", f"expected one of {', '.join(CORES)}, found {core!r}")
    number = CORES.index(str(core))
    for part, value, having in (("major", major, WITH_MAJOR), ("minor", minor, WITH_MINOR)):
        if value is not None and number not in having:
            names = ", ".join(CORES[i] for i in having)
            raise HandCodeError(part, f"{core} has no {part}; only {names} has, so leave it out")
    return HandCode(number, parse_faces("major", major), parse_faces("minor", minor))


def parse_faces(part: str, value: object) -> int:
    """The bit set of faces that a text or a list of texts and numbers names; all of them for None."""
    if value is None:
        return ALL_FACES
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list) or not items:
        raise HandCodeError(part, f'expected faces like "A,2-4" or ["A", "2-4"], found {value!r}')
    bits = 0
    for item in items:
        ends = [_face(part, name, value) for name in str(item).split("-")]
        if len(ends) > 2 or ends[0] > ends[-1]:
            raise HandCodeError(part, f"{item!r} is not a range from a lower to a higher face")
        bits |= (2 << ends[-1]) - (1 << ends[0])
    return bits


def _face(part: str, name: str, value: object) -> int:
    name = name.strip()
    face = ALIASES.get(name.casefold(), name)
    if face not in STANDARD_FACES:
        raise HandCodeError(part, f"{name!r} in {value!r} is no face; there are {' '.join(STANDARD_FACES)}")
    return STANDARD_FACES.index(face)


def format_faces(bits: int) -> str:
    """A bit set of faces, low to high.

    >>> format_faces(0b1000000001011)
    '2-3,5,A'
    """
    groups = groupby((i for i in range(FACES) if bits >> i & 1), key=lambda i: (~bits & (1 << i) - 1).bit_length())
    runs = [[STANDARD_FACES[i] for i in group] for _, group in groups]
    return ",".join(run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def describe(code: HandCode) -> str:
    """The code in words, as a game file has it; sets that allow every face or do not matter are left out.

    >>> print(describe(unpack(0x1E000007)))
    core = "four of a kind", major = "A", minor = "2-4"
    >>> print(describe(unpack(0x1FFFFFFF)))
    core = "four of a kind"
    """
    words = [f'core = "{CORES[code.core]}"']
    for part, bits, having in (("major", code.major, WITH_MAJOR), ("minor", code.minor, WITH_MINOR)):
        if code.core in having and bits != ALL_FACES:
            words.append(f'{part} = "{format_faces(bits)}"')
    return ", ".join(words)


# --- hands ------------------------------------------------------------------------------------------------------------


def check_deck(deck: Deck) -> None:
    """Raise `HandCodeError` for a deck that hand codes do not fit: other faces than the standard 13, or jokers."""
    if deck.faces != STANDARD_FACES or deck.jokers:
        found = " ".join(deck.faces) + f" and {deck.jokers} jokers" * (deck.jokers > 0)
        wanted = f"the faces {' '.join(STANDARD_FACES)} and no joker"
        raise HandCodeError("deck", f"hand codes need {wanted}; the deck has {found}")


def _by_neighbours() -> NDArray[np.int64]:
    """(16, 3): core, place of the major, place of the minor, for the equal neighbours of five sorted faces.

    Bit i of the row's number says that the faces at places i and i + 1 are equal.
    """
    cores = {(2, 2): TWO_PAIR, (3, 2): FULL_HOUSE, (2, 1): ONE_PAIR, (3, 1): TRIPS, (4, 1): QUADS, (1, 1): NOTHING}
    table = []
    for pattern in range(16):
        starts = [0] + [i + 1 for i in range(4) if not pattern >> i & 1]
        runs = sorted(((end - start, start) for start, end in zip(starts, [*starts[1:], 5], strict=True)), reverse=True)
        if len(runs) == 1:
            table.append([QUADS, 0, 0])
        else:
            table.append([cores[runs[0][0], runs[1][0]], runs[0][1], runs[-1][1]])
    return np.array(table)


NEIGHBOURS = _by_neighbours()


def score(hands: NDArray[Any], deck: Deck) -> NDArray[np.int64]:
    """The codes of dealt hands.

    hands: (n, 5) card numbers in any order. Returns (n,) packed codes. Raises `HandCodeError` for a deck without the
    standard faces.

    >>> from evaluator.cards import parse_hand
    >>> hands = np.array([parse_hand(Deck(), text) for text in ("As Ah Ad Ac 3s", "As 2s 3s 4s 5s", "9c 2s 9d 4h Ts")])
    >>> for number in score(hands, Deck()).tolist():
    ...     print(describe(unpack(number)))
    core = "four of a kind", major = "A", minor = "3"
    core = "straight flush", major = "5"
    core = "one pair", major = "9"
    """
    check_deck(deck)
    faces = np.sort(deck.face_of[hands].astype(np.int64), axis=1)
    suits = deck.suit_of[hands]
    equal = (faces[:, 1:] == faces[:, :-1]) @ np.array([1, 2, 4, 8])
    alike, major_place, minor_place = NEIGHBOURS[equal].T
    held = np.bitwise_or.reduce(1 << faces, axis=1)
    low_ace, *_ = runs = windows(deck, HAND_SIZE)
    straight = np.isin(held, runs)
    flush = (suits == suits[:, :1]).all(axis=1) & (suits[:, 0] < len(deck.suits))
    core = np.maximum(alike, np.where(straight, STRAIGHT, NOTHING))
    core = np.maximum(core, np.where(flush, np.where(straight, STRAIGHT_FLUSH, FLUSH), NOTHING))
    rows = np.arange(len(faces))
    high = np.where(held == low_ace, FIVE, faces[:, -1])
    major = np.where(core == STRAIGHT_FLUSH, high, faces[rows, major_place])
    major = np.where(np.isin(core, WITH_MAJOR), 1 << major, 0)
    minor = np.where(np.isin(core, WITH_MINOR), 1 << faces[rows, minor_place], 0)
    return np.asarray(core << 2 * FACES | major << FACES | minor)


def matches(line: HandCode, hands: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether a line matches each of (n,) packed codes of hands."""
    return np.asarray((hands >> 2 * FACES == line.core) & (hands & ~pack(line) == 0))


# --- the meaning as a formula -----------------------------------------------------------------------------------------

PAIR = "some(a,b: same(aF,bF))"
TWO_PAIRS = "some(a,b,c,d: same(aF,bF) & same(cF,dF))"
"""holds for a full house and four of a kind too"""
THREE = "some(a,b,c: same(aF,bF,cF))"
FOUR = "some(a,b,c,d: same(aF,bF,cF,dF))"
THREE_TWO = "some(a,b,c,d,e: same(aF,bF,cF) & same(dF,eF))"
RUN = "some(W in runs(5): every(a: same(aF){W}))"
ONE_SUIT = "some(a,b,c,d,e: same(aS,bS,cS,dS,eS){suits})"
NEVER = "0"


def formula(code: HandCode, deck: Deck) -> str:
    """What a line means, in the text language and without other definitions: 1 for the hands that it matches.

    It is `NEVER` where a set that matters is empty. Raises `HandCodeError` for a deck without the standard faces.

    >>> formula(from_words("four of a kind", "A", "2-4"), Deck())
    'some(a,b,c,d,e: same(aF,bF,cF,dF){A} & same(eF){2-4})'
    >>> formula(from_words("straight flush", "5"), Deck())
    'some(a,b,c,d,e: same(aS,bS,cS,dS,eS){suits}) & every(a: same(aF){2-5,A})'
    """
    check_deck(deck)
    usable = code.major >> FIVE if code.core == STRAIGHT_FLUSH else code.major
    if (code.core in WITH_MAJOR and not usable) or (code.core in WITH_MINOR and not code.minor):
        return NEVER
    faces = "" if code.major == ALL_FACES else f"{{{format_faces(code.major)}}}"
    no_flush = f" & !{ONE_SUIT}" if deck.decks > 1 else ""  # else cards of one suit have different faces
    no_pair = f" & !{PAIR}" if deck.decks > 1 else ""
    meaning = {
        NOTHING: f"!{PAIR} & !{RUN} & !{ONE_SUIT}",
        ONE_PAIR: f"{_with(PAIR, faces)} & !{TWO_PAIRS} & !{THREE}{no_flush}",
        TWO_PAIR: f"{TWO_PAIRS} & !{THREE}{no_flush}",
        TRIPS: f"{_with(THREE, faces)} & !{TWO_PAIRS}{no_flush}",
        STRAIGHT: f"!{PAIR} & {RUN} & !{ONE_SUIT}",
        FLUSH: f"{ONE_SUIT} & !{RUN}",
        FULL_HOUSE: THREE_TWO,
        QUADS: _with(FOUR, faces),
        STRAIGHT_FLUSH: f"{ONE_SUIT}{no_pair} & {_runs_up_to(code.major, deck)}",
    }
    if deck.decks > 1:
        meaning[FLUSH] = f"{ONE_SUIT} & !(!{PAIR} & {RUN}) & !{THREE_TWO} & !{FOUR}"
    if np.bincount(deck.face_of, deck.copies).max() >= HAND_SIZE:
        meaning[FULL_HOUSE] += f" & !{FOUR}"
    if code.minor != ALL_FACES:
        kicker = f"{{{format_faces(code.minor)}}}"
        meaning[QUADS] = f"some(a,b,c,d,e: same(aF,bF,cF,dF){faces} & same(eF){kicker})"
    return meaning[code.core]


def meaning(
    deck: Deck, code: int | None = None, core: object = None, major: object = None, minor: object = None
) -> str:
    """The formula of a line given as an integer or in words; raises `HandCodeError`, also where no hand can match.

    >>> meaning(Deck(), code=0x1FFFFFFF) == meaning(Deck(), core="four of a kind")
    True
    """
    line = from_words(core, major, minor) if code is None else unpack(code)
    text = formula(line, deck)
    if text == NEVER:
        raise HandCodeError("core" if code is None else "code", f"no hand can match {describe(line)}")
    return text


def _with(some: str, faces: str) -> str:
    """``some(…: same(…))`` with a set on its delta."""
    return some.removesuffix(")") + faces + ")"


def _runs_up_to(high: int, deck: Deck) -> str:
    """Straights by their high cards, of which there are five to ace; no face may come twice."""
    runs = windows(deck, HAND_SIZE)
    chosen = [bits for top, bits in enumerate(runs, start=FIVE) if high >> top & 1]
    if len(chosen) == len(runs):
        return RUN
    run = " | ".join(f"every(a: same(aF){{{format_faces(bits)}}})" for bits in chosen)
    return f"({run})" if len(chosen) > 1 else run
