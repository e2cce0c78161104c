"""Order-dependent wins: what the places of the held cards change.

Held cards stay in their places and the draw fills the open places in random order, so a draw of k cards has k! times as
many outcomes. The unordered kernel counts them by each hand's *base*, its highest win among those that ignore order.
What remains is a correction: hands that are something else in some of their 120 arrangements.

Such a hand F is described by its *pattern*: for each arrangement, which change (base, true outcome) it makes, if any.
Holding the cards M of a hand h in given places, the final hands that matter are those with F ∩ h = M whose arrangement
keeps M where it is. Both conditions separate:

    corrections(h, M, places) = sum over patterns p and index sets j of
        N[h, M][p, j]     how many F of pattern p meet h exactly in M, the cards M being number j of F, ascending
      * G[p][j, places]   how many arrangements of such an F keep cards j in those places, by change

N follows from counts of the F that contain given cards by inclusion and exclusion over the rest of h, as in the kernel;
G is a small table. Arrangements of h with equal corrections under every hold are one class, one row of the strategy.

For example, of the royal flushes only the four from ten to ace, left to right, change: one pattern, one change in one
of the 120 arrangements. Holding the ten and the king of a hand, N is 1 and G is 1 if they stand first and fourth.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, permutations, product
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck
from evaluator.symmetry import Classes

ARRANGEMENTS = np.array(list(permutations(range(5))))
"""(120, 5): for each arrangement and place, which card of the ascending hand stands there; ascending"""
_PLACE_OF = np.argsort(ARRANGEMENTS, axis=1)
_SUBSETS = [list(combinations(range(5), size)) for size in range(6)]
_PLACEMENTS = [{places: i for i, places in enumerate(permutations(range(5), size))} for size in range(6)]
_MEMBERS = [[i for i in range(5) if mask >> i & 1] for mask in range(32)]
_PLACED = [
    np.array([_PLACEMENTS[len(members)][tuple(places[members])] for places in _PLACE_OF]) for members in _MEMBERS
]
"""for each mask, (120,): the placement of its cards under each arrangement"""
_START = np.cumsum([0] + [len(_PLACEMENTS[len(members)]) for members in _MEMBERS])
"""for each mask, where its placements start among the 1546 of all masks"""
_AT = np.array([_START[mask] + _PLACED[mask] for mask in range(32)])
"""(32, 120): that number of what each mask of cards and each arrangement show"""
_CARDS = np.array([sum(1 << ARRANGEMENTS[:, place] for place in members) for members in _MEMBERS[1:]])
_CARDS = np.vstack([np.zeros((1, 120), _CARDS.dtype), _CARDS])
"""(32, 120): the cards that each mask of places holds under each arrangement"""

_ORDERS: NDArray[np.int64] = np.array([factorial(5 - mask.bit_count()) for mask in range(32)])
"""(32,): in how many orders the draw can come to each mask"""

MOST_TERMS = 50_000_000
"""entries of the tables of N; more patterns are refused"""


MOST_KINDS = 2048
"""kinds of hands whose corrections are kept, 12 KB for each change"""


class TooManyPatterns(ValueError):
    """Wins that depend on order in too many different ways."""


@dataclass(frozen=True)
class Ordered:
    """What the order of cards changes in a game."""

    changes: tuple[tuple[int, int], ...]
    """(base, true outcome) of each change"""
    containing: tuple[NDArray[np.int32], ...]
    """for k = 0..5, (C(kinds, k), patterns, C(5, k)): hands of a pattern that contain k cards as their cards j"""
    keeping: tuple[NDArray[np.int64], ...]
    """for k = 0..5, (patterns * C(5, k), placements * changes): G"""
    kinds: dict[bytes, tuple[NDArray[np.int64], NDArray[np.intp]]] = field(
        init=False, default_factory=dict, compare=False
    )
    """corrections and classes of the kinds of hands met so far, at most `MOST_KINDS`: most hands are of a few kinds"""

    @property
    def patterns(self) -> int:
        """How many patterns there are."""
        return int(self.containing[0].shape[1])


def prepare_ordered(classes: Classes, base: NDArray[np.uint8], outcomes: NDArray[np.uint8]) -> Ordered:
    """The tables of a game whose canonical hands have (rows,) `base` and (rows, 120) `outcomes` by arrangement.

    Raises `TooManyPatterns` where they would not fit, `ValueError` for a deck with alike cards.
    """
    deck = classes.deck
    if deck.copies.max() > 1:
        raise ValueError("wins that depend on order need a deck without alike cards")
    special = np.flatnonzero((outcomes != base[:, None]).any(axis=1))
    pairs = base[special, None] * np.uint16(256) + outcomes[special]
    changed = np.flatnonzero(np.bincount(pairs[outcomes[special] != base[special, None]], minlength=1))
    changes = tuple(divmod(pair, 256) for pair in changed.tolist())
    code_of = np.zeros(1 << 16, np.uint16)
    code_of[changed] = np.arange(1, len(changed) + 1)
    hands, patterns, pattern_of = _all_images(classes, classes.hands[5][special], code_of[pairs])
    if sum(comb(deck.kinds, k) * comb(5, k) for k in range(6)) * len(patterns) > MOST_TERMS:
        raise TooManyPatterns(
            f"the wins depend on order in {len(patterns)} ways, which is too many for a deck of {deck.kinds} cards"
        )
    keeping = tuple(_keeping(patterns, size, len(changes)) for size in range(6))
    return Ordered(changes, _containing(deck, hands, pattern_of, len(patterns)), keeping)


def _all_images(
    classes: Classes, hands: NDArray[Any], codes: NDArray[np.uint16]
) -> tuple[NDArray[Any], NDArray[np.uint16], NDArray[np.intp]]:
    """The hands under every exchange of suits, each once; the different codes by arrangement; which of these each has.

    An exchange of suits is for each hand one of 120 orders of its cards, and hands of equal codes and equal order have
    images of equal codes: only one of each such kind is made.
    """
    deck = classes.deck
    own, own_of = _distinct_rows(codes)
    images, ranks, kinds = [], [], []
    for choice in product(*(permutations(suits) for suits in classes.components)):
        suits = np.arange(len(deck.suits) + 1)
        for component, permuted in zip(classes.components, choice, strict=True):
            suits[list(component)] = permuted
        ordinary = deck.suit_of < len(deck.suits)
        names = np.arange(deck.kinds)
        names[ordinary] += suits[deck.suit_of[ordinary]] - deck.suit_of[ordinary].astype(int)
        renamed = names.astype(deck.card_type)[hands]
        order = np.argsort(renamed, axis=1)
        images.append(np.take_along_axis(renamed, order, axis=1))
        ranks.append(_rank(deck, images[-1]))
        kinds.append(own_of * 120 + arrangement_number(order))
    _, first = np.unique(np.concatenate(ranks), return_index=True)
    kinds_used, kind = np.unique(np.concatenate(kinds)[first], return_inverse=True)
    # Arrangement q of the image puts card q[place] of it there, which is card order[q[place]] of the hand.
    source = arrangement_number(ARRANGEMENTS[kinds_used % 120][:, ARRANGEMENTS])
    patterns, pattern_of = _distinct_rows(np.take_along_axis(own[kinds_used // 120], source, axis=1))
    return np.concatenate(images)[first], patterns, pattern_of[kind]


def _distinct_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The different rows, as they first come, and (n,) which of them each row is; much faster than sorting rows."""
    known: dict[bytes, int] = {}
    which = np.array([known.setdefault(row.tobytes(), len(known)) for row in rows], np.intp)
    return np.frombuffer(b"".join(known), rows.dtype).reshape(len(known), rows.shape[1]), which


def arrangement_number(arrangements: NDArray[Any]) -> NDArray[np.intp]:
    """The number in `ARRANGEMENTS` of (…, 5) arrangements."""
    place_value = 5 ** np.arange(4, -1, -1)
    numbers = np.zeros(5**5, np.intp)
    numbers[ARRANGEMENTS @ place_value] = np.arange(120)
    return numbers[arrangements @ place_value]


def _keeping(patterns: NDArray[np.uint16], size: int, changes: int) -> NDArray[np.int64]:
    table = np.zeros((len(patterns), len(_SUBSETS[size]), len(_PLACEMENTS[size]), changes), np.int64)
    for pattern, arrangement in np.argwhere(patterns):
        change = patterns[pattern, arrangement] - 1
        for number, members in enumerate(_SUBSETS[size]):
            placed = _PLACED[sum(1 << i for i in members)][arrangement]
            table[pattern, number, placed, change] += 1
    return table.reshape(len(patterns) * len(_SUBSETS[size]), -1)


def _containing(
    deck: Deck, hands: NDArray[Any], pattern_of: NDArray[np.intp], patterns: int
) -> tuple[NDArray[np.int32], ...]:
    tables = []
    for size in range(6):
        rows = comb(deck.kinds, size)
        table = np.zeros((rows * patterns, len(_SUBSETS[size])), np.int32)
        for number, members in enumerate(_SUBSETS[size]):
            cell = _rank(deck, hands[:, list(members)]) * patterns + pattern_of
            table[:, number] = np.bincount(cell, minlength=len(table))
        tables.append(table.reshape(rows, patterns, -1))
    return tuple(tables)


def _rank(deck: Deck, cards: NDArray[Any]) -> NDArray[np.intp]:
    """The number of each ascending row among all sets of that many cards."""
    rank = np.zeros(len(cards), np.intp)
    for place in range(cards.shape[1]):
        rank += _binomials(deck.kinds, place + 1)[cards[:, place]]
    return rank


@lru_cache(maxsize=64)
def _binomials(kinds: int, size: int) -> NDArray[np.intp]:
    return np.array([comb(card, size) for card in range(kinds)], np.intp)


def _restrictions() -> dict[tuple[int, int], NDArray[np.int64]]:
    """For masks S and the cards i in it, the matrix that takes index sets of S to those of S without i.

    An index set of S says which cards of F the cards S are.
    """
    matrices = {}
    for whole, members in enumerate(_MEMBERS):
        for rank, card in enumerate(members):
            matrix = np.zeros((len(_SUBSETS[len(members)]), len(_SUBSETS[len(members) - 1])), np.int64)
            for row, indices in enumerate(_SUBSETS[len(members)]):
                matrix[row, _SUBSETS[len(members) - 1].index(indices[:rank] + indices[rank + 1 :])] = 1
            matrices[whole, card] = matrix
    return matrices


_RESTRICT = _restrictions()


@dataclass(frozen=True)
class Corrections:
    """What the places of held cards change for some hands. Many hands are alike in it: they are of one kind."""

    kind: NDArray[np.intp]
    """(n,): which of the kinds each hand is"""
    tables: NDArray[np.int64]
    """(kinds, 1546, changes): final hands that make each change, for each mask of cards and each placement of them"""
    leader: NDArray[np.intp]
    """(kinds, 120): for each arrangement, the least one with equal corrections under every hold"""


def corrections(ordered: Ordered, deck: Deck, hands: NDArray[Any]) -> Corrections:
    """The corrections of (n, 5) hands, ascending card numbers."""
    # Equal numbers of F that contain the same of their cards make equal corrections.
    found = np.concatenate(
        [
            ordered.containing[len(members)][_rank(deck, hands[:, members])].reshape(len(hands), -1)
            for members in _MEMBERS
        ],
        axis=1,
    )
    different, kind = _distinct_rows(found)
    keys = [row.tobytes() for row in different]
    made = {key: known for key in keys if (known := ordered.kinds.get(key))}
    if new := [number for number, key in enumerate(keys) if key not in made]:
        tables = _corrections_of(ordered, different[new])
        made |= zip((keys[number] for number in new), zip(tables, _leaders(tables), strict=True), strict=True)
    if len(ordered.kinds) + len(new) > MOST_KINDS:
        ordered.kinds.clear()
    ordered.kinds.update(made)
    every = [made[key] for key in keys]
    shape = (len(keys), _START[-1], len(ordered.changes))
    return Corrections(
        kind,
        np.array([table for table, _ in every], np.int64).reshape(shape),
        np.array([leader for _, leader in every], np.intp).reshape(len(keys), 120),
    )


def _corrections_of(ordered: Ordered, found: NDArray[np.int32]) -> NDArray[np.int64]:
    """(kinds, 1546, changes), from how many hands of each pattern contain which cards of a hand, mask by mask."""
    kinds = len(found)
    widths = [ordered.patterns * len(_SUBSETS[len(members)]) for members in _MEMBERS]
    parts = np.split(found.astype(np.int64), np.cumsum(widths)[:-1], axis=1)
    meeting = [part.reshape(kinds, ordered.patterns, -1) for part in parts]
    for card in range(5):
        for mask in range(32):
            if not mask >> card & 1:
                whole = mask | 1 << card
                meeting[mask] = meeting[mask] - meeting[whole] @ _RESTRICT[whole, card]
    tables = [
        (met.reshape(kinds, -1) @ ordered.keeping[len(members)]).reshape(kinds, -1, len(ordered.changes))
        for met, members in zip(meeting, _MEMBERS, strict=True)
    ]
    return np.concatenate(tables, axis=1)


@dataclass(frozen=True)
class Arrangements:
    """The classes of arrangements of some hands: r rows, those of a hand together, the hands in their order."""

    hand: NDArray[np.intp]
    """(r,): which of the hands"""
    first: NDArray[np.intp]
    """(r,): the least arrangement of the class, by its number"""
    size: NDArray[np.int64]
    """(r,): how many arrangements are in the class"""
    sets: NDArray[np.uint8]
    """(r, 15): the class as a bit set, arrangement 119 first"""
    member: NDArray[np.intp]
    """(n, 120): the row of each arrangement of each hand"""


def _odd_numbers(count: int) -> NDArray[np.uint64]:
    """Odd numbers without a pattern: a generator of Marsaglia's (xorshift64), seeded with the golden ratio."""
    numbers, state = [], 0x9E3779B97F4A7C15
    for _ in range(count):
        state ^= state << 13 & 0xFFFFFFFFFFFFFFFF
        state ^= state >> 7
        state ^= state << 17 & 0xFFFFFFFFFFFFFFFF
        numbers.append(state | 1)
    return np.array(numbers, np.uint64)


def _leaders(tables: NDArray[np.int64]) -> NDArray[np.intp]:
    """(kinds, 120): for each arrangement, the least one with equal corrections under every hold."""
    kinds, _, changes = tables.shape
    # A sum of products is a first guess; what it takes for equal is compared in full below.
    mix = _odd_numbers(32 * changes).reshape(32, changes)
    signature = np.zeros((kinds, 120), np.uint64)
    for mask in range(1, 32):
        values = tables[:, _START[mask] : _START[mask + 1]].astype(np.uint64)
        signature += (values * mix[mask]).sum(axis=2, dtype=np.uint64)[:, _PLACED[mask]]
    order = np.argsort(signature, axis=1, kind="stable")
    ranked = np.take_along_axis(signature, order, axis=1)
    starts = np.ones((kinds, 120), bool)
    starts[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    # The first of each run, by number, stands for it; rows ascend by it within a hand.
    leader = np.maximum.accumulate(np.where(starts, np.arange(120), 0), axis=1)
    representative = np.empty((kinds, 120), np.intp)
    np.put_along_axis(representative, order, np.take_along_axis(order, leader, axis=1), axis=1)
    every = np.arange(kinds)[:, None]
    for mask in range(1, 32):
        at = _AT[mask]
        if (tables[:, at] != tables[every, at[representative]]).any():
            raise ArithmeticError("two arrangements with different corrections have the same signature")
    return representative


def arrange(corrected: Corrections) -> Arrangements:
    """Group the arrangements of hands into classes with equal corrections under every hold."""
    kind, representative = corrected.kind, corrected.leader
    of, first = np.nonzero(representative == np.arange(120))
    classes = np.bincount(of, minlength=len(representative))
    start = np.cumsum(classes) - classes
    number = np.zeros((len(representative), 120), np.intp)  # of each arrangement's class, within the kind
    number[of, first] = np.arange(len(of)) - start[of]
    number = np.take_along_axis(number, representative, axis=1)
    within = np.zeros((len(of), 120), bool)
    within[start[:, None] + number, np.arange(120)] = True
    rows = classes[kind]
    row = np.cumsum(rows) - rows
    hand = np.repeat(np.arange(len(kind)), rows)
    one = start[kind][hand] + np.arange(len(hand)) - row[hand]
    sets = np.packbits(within[:, ::-1], axis=1)
    return Arrangements(hand, first[one], within.sum(axis=1)[one], sets[one], row[:, None] + number[kind])


@dataclass(frozen=True)
class Placed:
    """How the holds of rows in their order are made of the holds of hands without order, for each mask of places."""

    tables: NDArray[np.int64]
    """(kinds, 1546, changes): the corrections"""
    hold: NDArray[np.intp]
    """(32, r): which mask of which hand, mask * n + hand, the held cards are"""
    entry: NDArray[np.intp]
    """(32, r): which correction, kind * 1546 + placement"""


def place(corrected: Corrections, rows: Arrangements) -> Placed:
    """Every mask of places of some rows, once for all that is placed."""
    cards = _CARDS[:, rows.first]
    entry = _AT[cards, rows.first] + corrected.kind[rows.hand] * corrected.tables.shape[1]
    return Placed(corrected.tables, cards * len(corrected.kind) + rows.hand, entry)


def place_counts(ordered: Ordered, placed: Placed, base: NDArray[Any], most: int) -> NDArray[Any]:
    """(32, r, outcomes): draws in order that end in each outcome, masks by place on the screen; none above `most`.

    base: (32, n, outcomes) draws without order under each mask of cards, by base outcome.
    """
    kind = np.int32 if most < 2**31 else np.int64
    outcomes = base.shape[2]
    unplaced = np.multiply(base, _ORDERS[:, None, None], dtype=kind, casting="same_kind").reshape(-1, outcomes)
    tables = placed.tables.astype(kind).reshape(-1, len(ordered.changes))
    result = np.empty((*placed.hold.shape, outcomes), kind)
    for screen in range(32):
        np.take(unplaced, placed.hold[screen], axis=0, out=result[screen], mode="clip")
        moved = tables[placed.entry[screen]]
        for change, (before, after) in enumerate(ordered.changes):
            some = np.flatnonzero(moved[:, change])
            result[screen, some, before] -= moved[some, change]
            result[screen, some, after] += moved[some, change]
    return result


def place_values(ordered: Ordered, placed: Placed, base: NDArray[Any], paid: NDArray[Any]) -> NDArray[Any]:
    """(32, r): what the draws in order win together, masks by place on the screen; of the type of `paid`.

    base: (32, n) what the draws without order win under each mask of cards; paid: (outcomes,) what each outcome pays.
    """
    before, after = np.array(ordered.changes).T
    gains = placed.tables.astype(paid.dtype, copy=False) @ (paid[after] - paid[before])
    values: NDArray[Any] = (base * _ORDERS[:, None]).ravel()[placed.hold]  # several times faster than np.take
    values += gains.ravel()[placed.entry]
    return values
