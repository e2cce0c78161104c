"""What a chart sees of a hold, and playing by a chart: every hold of every hand at once.

Many holds look alike to a chart: 4 to a flush is 4 to a flush. What can be seen of a hold is packed into one integer,
its key, and clauses are decided once for each different key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.binding import windows
from evaluator.cards import Deck
from evaluator.chart import Chart, ChartError
from evaluator.holds import HELD, Block, Tables

_HOLDS = np.array([[mask >> i & 1 for i in range(5)] for mask in range(32)], bool)
_FIELDS = (("faces", 21), ("natural", 3), ("held", 3), ("high", 3), ("suited", 1), ("win", 8), ("reach", 14))
"""what a key is made of, from the lowest bit, with the bits of each"""


@dataclass(frozen=True)
class View:
    """A game as charts with these wild cards see it."""

    deck: Deck
    """its cards"""
    wild: NDArray[np.bool_]
    """(kinds,): the cards that are always held"""
    high: frozenset[int]
    """the faces of which a pair is sure of a win; none of wild ones"""
    straights: tuple[int, ...]
    """bit sets of the faces of each straight of the deck"""
    reach: NDArray[np.bool_]
    """(patterns, wins): which wins a draw can turn a hold into; the last for all five cards"""
    reach_of: tuple[NDArray[np.int64], ...]
    """for 0 to 4 cards, (rows,): the pattern of each class of cards"""
    sure: tuple[NDArray[np.bool_], ...]
    """for 0 to 4 cards, (rows, wins + 1): whether all hands with them are in that win or a higher one"""


@dataclass(frozen=True)
class Kinds:
    """Different holds, as charts see them; (k,) each."""

    faces: NDArray[np.int64]
    """bit set of the faces held, without wild cards"""
    natural: NDArray[np.int64]
    """cards held that are not wild"""
    held: NDArray[np.int64]
    """cards held"""
    high: NDArray[np.int64]
    """cards held of high faces"""
    suited: NDArray[np.bool_]
    """whether those that are not wild are of one suit"""
    win: NDArray[np.int64]
    """the win as dealt where these are the fewest cards that are sure of it, else -1"""
    reach: NDArray[np.bool_]
    """(k, wins): which wins a draw can turn them into"""
    straights: NDArray[np.int64]
    """how many straights of the deck their faces, all different, are part of"""
    real: NDArray[np.bool_]
    """False for the one key of what charts never hold: a wild card is dropped"""


def make_view(tables: Tables, wild: frozenset[int] = frozenset()) -> View:
    """The view of a game; raises `ChartError` where order matters, or where only one of like cards is wild."""
    if tables.ordered is not None:
        raise ChartError("the order of the cards matters in this game, of which charts say nothing")
    kind = tables.classes.child[0][0]
    for card in range(len(kind)):
        if card not in wild and kind[card] in kind[sorted(wild)]:
            raise ChartError(f"wild: {tables.classes.deck.names[card]} is not, but the rules cannot tell it apart")
    deck, reach_of, sure = tables.classes.deck, [], []
    patterns: list[NDArray[np.bool_]] = []
    known: dict[bytes, int] = {}
    for cards, counts in enumerate(tables.counts):
        packed = np.packbits(counts[:, :-1] > 0, axis=1)
        rows, number = np.unique(packed, axis=0, return_inverse=True)
        for row in rows:
            if row.tobytes() not in known:
                known[row.tobytes()] = len(patterns)
                patterns.append(np.unpackbits(row, count=counts.shape[1] - 1).astype(bool))
        reach_of.append(np.array([known[row.tobytes()] for row in rows])[number.ravel()])
        sure.append(counts.cumsum(axis=1, dtype=np.int64) == comb(deck.size - cards, 5 - cards))
    patterns.append(np.zeros(tables.counts[0].shape[1] - 1, bool))
    is_wild = np.isin(np.arange(deck.kinds), sorted(wild))
    faces = [set(deck.face_of[~is_wild].tolist()) >= {face} for face in range(len(deck.faces))]
    runs = windows(deck, 5) if len(deck.faces) >= 5 else []
    straights = tuple(run for run in runs if all(faces[f] for f in range(len(faces)) if run >> f & 1))
    return View(
        deck, is_wild, _high_faces(tables, is_wild), straights, np.array(patterns), tuple(reach_of), tuple(sure)
    )


def alike(tables: Tables, wild: NDArray[np.bool_], cards: int) -> dict[int, list[int]]:
    """For each face, the rows of so many cards of it, none of them wild."""
    hands, face_of = tables.classes.hands[cards], tables.classes.deck.face_of
    faces = face_of[hands]
    same = (faces == faces[:, :1]).all(axis=1) & ~wild[hands].any(axis=1)
    found: dict[int, list[int]] = {}
    for row in np.flatnonzero(same).tolist():
        found.setdefault(int(faces[row, 0]), []).append(row)
    return found


def _high_faces(tables: Tables, wild: NDArray[np.bool_]) -> frozenset[int]:
    nothing = tables.counts[2][:, -1]
    return frozenset(face for face, rows in alike(tables, wild, 2).items() if not nothing[rows].any())


def hold_keys(view: View, block: Block) -> NDArray[np.int64]:
    """(32, n): the key of each hold; -1 for what charts never hold."""
    deck, cards, n = view.deck, block.hands.T.astype(np.intp), len(block.hands)
    natural = ~view.wild[cards]
    high = natural & np.isin(deck.face_of, sorted(view.high))[cards]
    faces = np.where(natural, 1 << deck.face_of.astype(np.int64)[cards], 0)
    suits = np.where(natural, 1 << deck.suit_of.astype(np.int64)[cards], 0)
    wins = view.reach.shape[1]
    some_win, outcome = block.outcomes < wins, block.outcomes.astype(np.intp)
    keys, fewest = np.full((32, n), -1, np.int64), np.full(n, 6)
    for mask in sorted(range(32), key=lambda mask: -HELD[mask]):  # so that the fewest cards come last
        if mask == 31:
            sure, reach = some_win, np.full(n, len(view.reach) - 1)
        else:
            sure = view.sure[HELD[mask]][block.rows[mask], outcome] & some_win
            reach = view.reach_of[HELD[mask]][block.rows[mask]]
        fewest[sure] = HELD[mask]
        keys[mask] = _pack(mask, faces, suits, natural, high, sure, outcome, reach, len(deck.suits))
    win_shift, _ = _place("win")
    win = (1 << _width("win")) - 1 << win_shift
    dropped = block.repeats >> np.arange(32, dtype=np.uint32)[:, None] & 1 == 1
    for mask in range(32):
        keys[mask] &= np.where(fewest == HELD[mask], -1, ~win)
        dropped[mask] |= (~natural[~_HOLDS[mask]]).any(axis=0)
    return np.where(dropped, -1, keys)


def _pack(
    mask: int, faces: NDArray[Any], suits: NDArray[Any], natural: NDArray[Any], high: NDArray[Any],
    sure: NDArray[Any], outcome: NDArray[Any], reach: NDArray[Any], no_suit: int,
) -> NDArray[np.int64]:  # fmt: skip
    held = _HOLDS[mask]
    of_suits = np.bitwise_or.reduce(suits[held], axis=0, initial=0)
    values = {
        "faces": np.bitwise_or.reduce(faces[held], axis=0, initial=0),
        "natural": natural[held].sum(axis=0),
        "held": HELD[mask],
        "high": high[held].sum(axis=0),
        "suited": (of_suits & of_suits - 1 == 0) & (of_suits < 1 << no_suit),
        "win": np.where(sure, outcome + 1, 0),
        "reach": reach,
    }
    key = np.zeros(faces.shape[1], np.int64)
    for name, value in values.items():
        key |= np.asarray(value, np.int64) << _place(name)[0]
    return key


def _place(name: str) -> tuple[int, int]:
    """Lowest bit and mask of a field of a key."""
    shift = 0
    for field, bits in _FIELDS:
        if field == name:
            return shift, (1 << bits) - 1
        shift += bits
    raise KeyError(name)


def _width(name: str) -> int:
    return dict(_FIELDS)[name]


def see(view: View, keys: NDArray[np.int64]) -> Kinds:
    """What (k,) keys say."""
    real = keys >= 0
    said = {name: np.where(real, keys >> _place(name)[0] & _place(name)[1], 0) for name, _ in _FIELDS}
    faces, natural = said["faces"], said["natural"]
    parts = sum((np.equal(faces & ~run, 0).astype(np.int64) for run in view.straights), np.zeros(len(keys), np.int64))
    parts[(np.bitwise_count(faces) != natural) | (natural == 0)] = 0
    reach = view.reach[said["reach"]]
    return Kinds(faces, natural, said["held"], said["high"], said["suited"] == 1, said["win"] - 1, reach, parts, real)


def clauses_fit(clauses: Sequence[tuple[str, Any]], kinds: Kinds) -> NDArray[np.bool_]:
    """(k,): which holds all clauses fit; `lowest` and `highest` choose among holds, and fit all."""
    fits = kinds.real.copy()
    for kind, value in clauses:
        fits &= _fits(kind, value, kinds)
    return fits


def _fits(kind: str, value: Any, kinds: Kinds) -> NDArray[np.bool_]:
    some = kinds.natural > 0
    match kind:
        case "win":
            fits: Any = kinds.win == value
        case "size":
            fits = kinds.held == value
        case "to":
            fits = (kinds.held == value[0]) & kinds.reach[:, value[1]]
        case "faces":
            fits = (kinds.faces & ~_bits(value) == 0) & some
        case "with":
            fits = kinds.faces & _bits(value) != 0
        case "nothing":
            fits = ~some
        case "alike":
            fits = (kinds.natural == value) & (kinds.held == value) & (np.bitwise_count(kinds.faces) == 1)
        case "suited":
            fits = (kinds.suited == value) & some
        case "consecutive":
            low = np.maximum(kinds.faces & -kinds.faces, 1)
            run = kinds.faces // low + 1
            fits = (run & run - 1 == 0) & (np.bitwise_count(kinds.faces) == kinds.natural) & some
        case "high cards":
            fits = (kinds.high == value) & (kinds.natural == value)
        case "straights" | "high":
            number, more = value
            found = getattr(kinds, kind)
            fits = (found >= number) if more else (found == number)
        case "lowest" | "highest":
            fits = True
        case _:
            raise ChartError(f"{kind!r} is no clause")
    return np.asarray(fits, bool)


def _bits(faces: Sequence[int]) -> int:
    return sum(1 << face for face in faces)


# --- playing by a chart -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Played:
    """Hands played by a chart; (n,) each."""

    masks: NDArray[np.intp]
    """what is held"""
    worst: NDArray[np.intp]
    """the least valuable hold that the deciding line fits as well"""
    lines: NDArray[np.intp]
    """the line that decides; -1 for none"""
    better: NDArray[np.intp]
    """the first line that fits a best hold; -1 for none"""


def apply_chart(chart: Chart, view: View, block: Block, values: NDArray[Any]) -> Played:
    """The hands of a block, played by a chart; `values` is (32, n), the worth of every hold.

    A hand that no line fits is held as nothing but its wild cards.
    """
    keys, kind_of = np.unique(hold_keys(view, block), return_inverse=True)
    first_of = _first_lines(chart, see(view, keys))[kind_of.reshape(values.shape)]
    # Whatever fits the line that decides fits no line before it, or that would decide.
    deciding = first_of.min(axis=0)
    fits = first_of == deciding
    best_first = np.where(values == values.max(axis=0), first_of, len(chart.lines)).min(axis=0)
    cards = block.hands.T.astype(np.intp)
    masks, worst = _choose(fits, values)
    faces = view.deck.face_of.astype(np.intp)[cards]
    for number, line in enumerate(chart.lines):
        kinds = [kind for kind, _ in line.clauses if kind in ("lowest", "highest")]
        if kinds and (mine := np.flatnonzero(deciding == number)).size:
            masks[mine] = worst[mine] = _choose_by_faces(fits[:, mine], faces[:, mine], kinds[0] == "highest")
    none = deciding == len(chart.lines)
    bare = (view.wild[cards] * (1 << np.arange(5))[:, None]).sum(axis=0)
    masks[none] = worst[none] = bare[none]
    lines, better = (np.where(at == len(chart.lines), -1, at) for at in (deciding, best_first))
    return Played(masks, worst, lines, better)


def _first_lines(chart: Chart, kinds: Kinds) -> NDArray[np.intp]:
    """(k,): the first line that fits each kind of hold; the number of lines for none.

    A hold has the wild cards of its hand, since charts keep them all.
    """
    first = np.full(len(kinds.real), len(chart.lines))
    for number in reversed(range(len(chart.lines))):
        line = chart.lines[number]
        fits = clauses_fit(line.clauses, kinds)
        if line.wild is not None:
            fits &= kinds.held - kinds.natural == line.wild
        first[fits] = number
    return first


def _choose(fits: NDArray[np.bool_], values: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """(n,) each: of the holds that fit, the best and the worst."""
    least, most = values.min(initial=0) - 1, values.max(initial=0) + 1
    return np.where(fits, values, least).argmax(axis=0), np.where(fits, values, most).argmin(axis=0)


def _choose_by_faces(fits: NDArray[np.bool_], faces: NDArray[np.intp], highest: bool) -> NDArray[np.intp]:
    """(n,): of the holds that fit, that of the highest faces, or of the lowest."""
    sums = np.array([faces[_HOLDS[mask]].sum(axis=0) for mask in range(32)]).reshape(fits.shape)
    chosen: NDArray[np.intp] = np.where(fits, sums if highest else -sums, -1000).argmax(axis=0)
    return chosen
