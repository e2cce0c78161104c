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

from collections.abc import Sequence
from dataclasses import dataclass
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

MOST_TERMS = 50_000_000
"""entries of the tables of N; more patterns are refused"""


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
    pairs = np.stack([np.broadcast_to(base[special, None], outcomes[special].shape), outcomes[special]], axis=-1)
    changed = pairs[pairs[..., 0] != pairs[..., 1]]
    changes = tuple((int(a), int(b)) for a, b in np.unique(changed.reshape(-1, 2), axis=0))
    codes = np.zeros(pairs.shape[:2], np.uint8)
    for code, pair in enumerate(changes, start=1):
        codes[(pairs == pair).all(axis=-1)] = code
    hands, codes = _all_images(classes, classes.hands[5][special], codes)
    patterns, pattern_of = np.unique(codes, axis=0, return_inverse=True)
    if sum(comb(deck.kinds, k) * comb(5, k) for k in range(6)) * len(patterns) > MOST_TERMS:
        raise TooManyPatterns(
            f"the wins depend on order in {len(patterns)} ways, which is too many for a deck of {deck.kinds} cards"
        )
    keeping = tuple(_keeping(patterns, size, len(changes)) for size in range(6))
    return Ordered(changes, _containing(deck, hands, pattern_of.reshape(-1), len(patterns)), keeping)


def _all_images(classes: Classes, hands: NDArray[Any], codes: NDArray[np.uint8]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The hands under every exchange of suits, each once, with their codes by arrangement of the ascending image."""
    deck = classes.deck
    images, image_codes = [], []
    for choice in product(*(permutations(suits) for suits in classes.components)):
        suits = np.arange(len(deck.suits) + 1)
        for component, permuted in zip(classes.components, choice, strict=True):
            suits[list(component)] = permuted
        ordinary = deck.suit_of < len(deck.suits)
        names = np.arange(deck.kinds)
        names[ordinary] += suits[deck.suit_of[ordinary]] - deck.suit_of[ordinary].astype(int)
        renamed = names[hands]
        order = np.argsort(renamed, axis=1)
        images.append(np.take_along_axis(renamed, order, axis=1))
        # Arrangement q of the image puts card q[place] of it there, which is card order[q[place]] of the hand.
        source = order[:, ARRANGEMENTS]
        image_codes.append(np.take_along_axis(codes, arrangement_number(source), axis=1))
    every = np.concatenate(images)
    _, first = np.unique(every, axis=0, return_index=True)
    return every[first], np.concatenate(image_codes)[first]


def arrangement_number(arrangements: NDArray[Any]) -> NDArray[np.intp]:
    """The number in `ARRANGEMENTS` of (…, 5) arrangements."""
    place_value = 5 ** np.arange(4, -1, -1)
    numbers = np.zeros(5**5, np.intp)
    numbers[ARRANGEMENTS @ place_value] = np.arange(120)
    return numbers[arrangements @ place_value]


def _keeping(patterns: NDArray[np.uint8], size: int, changes: int) -> NDArray[np.int64]:
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
        width = len(_SUBSETS[size])
        table = np.zeros(comb(deck.kinds, size) * patterns * width, np.int32)
        for number, members in enumerate(_SUBSETS[size]):
            cell = (_rank(deck, hands[:, list(members)]) * patterns + pattern_of) * width + number
            table += np.bincount(cell, minlength=len(table)).astype(np.int32)
        tables.append(table.reshape(-1, patterns, width))
    return tuple(tables)


def _rank(deck: Deck, cards: NDArray[Any]) -> NDArray[np.intp]:
    """The number of each ascending row among all sets of that many cards."""
    rank = np.zeros(len(cards), np.intp)
    for place in range(cards.shape[1]):
        binomials = np.array([comb(card, place + 1) for card in range(deck.kinds)], np.intp)
        rank += binomials[cards[:, place]]
    return rank


def _restrictions() -> dict[tuple[int, int], NDArray[np.int64]]:
    """For masks M within S, the matrix that takes index sets of S to those of M: which cards of F the cards M are."""
    matrices = {}
    for whole in range(32):
        for part in range(32):
            if part & ~whole:
                continue
            ranks = [_MEMBERS[whole].index(i) for i in _MEMBERS[part]]
            matrix = np.zeros((len(_SUBSETS[len(_MEMBERS[whole])]), len(_SUBSETS[len(ranks)])), np.int64)
            for row, indices in enumerate(_SUBSETS[len(_MEMBERS[whole])]):
                matrix[row, _SUBSETS[len(ranks)].index(tuple(indices[rank] for rank in ranks))] = 1
            matrices[whole, part] = matrix
    return matrices


_RESTRICT = _restrictions()


def corrections(ordered: Ordered, deck: Deck, hands: NDArray[Any]) -> list[NDArray[np.int64]]:
    """For each mask of cards, (n, placements, changes): final hands that make each change, with the cards kept so.

    hands: (n, 5) ascending card numbers.
    """
    size = [mask.bit_count() for mask in range(32)]
    meeting = [np.zeros((len(hands), ordered.patterns, len(_SUBSETS[k])), np.int64) for k in size]
    for whole in range(32):
        found = ordered.containing[size[whole]][_rank(deck, hands[:, _MEMBERS[whole]])]
        some = np.flatnonzero(found.any(axis=(1, 2)))
        for part in range(32):
            if some.size and not part & ~whole:
                sign = -1 if size[whole] - size[part] & 1 else 1
                meeting[part][some] += sign * (found[some].astype(np.int64) @ _RESTRICT[whole, part])
    tables = []
    for mask in range(32):
        places = len(_PLACEMENTS[size[mask]])
        table = np.zeros((len(hands), places * len(ordered.changes)), np.int64)
        some = np.flatnonzero(meeting[mask].any(axis=(1, 2)))
        keeping = ordered.keeping[size[mask]]
        table[some] = meeting[mask][some].reshape(len(some), len(keeping)) @ keeping
        tables.append(table.reshape(len(hands), places, len(ordered.changes)))
    return tables


@dataclass(frozen=True)
class Arrangements:
    """The classes of arrangements of some hands: r rows, those of a hand together, the hands in their order."""

    hand: NDArray[np.intp]
    """(r,): which of the hands"""
    first: NDArray[np.intp]
    """(r,): the least arrangement of the class, by its number"""
    size: NDArray[np.int64]
    """(r,): how many arrangements are in the class"""
    member: NDArray[np.intp]
    """(n, 120): the row of each arrangement of each hand"""


#: Odd multipliers of a signature that is only a first guess: equal corrections are compared in full afterwards.
_MIX = np.uint64(0x9E3779B97F4A7C15) * (np.uint64(2) * np.arange(1, 32 * 255 + 1, dtype=np.uint64) + np.uint64(1))


def arrange(tables: Sequence[NDArray[np.int64]]) -> Arrangements:
    """Group the arrangements of hands that have these `corrections` into classes with equal ones under every hold."""
    n, changes = len(tables[0]), tables[0].shape[2]
    signature = np.zeros((n, 120), np.uint64)
    telling = [mask for mask in range(1, 32) if (tables[mask] != tables[mask][:, :1]).any()]
    for mask in telling:
        for change in range(changes):
            value = tables[mask][:, _PLACED[mask], change].astype(np.uint64)
            signature += (value + np.uint64(1)) * _MIX[mask * 255 + change]
            signature ^= signature >> np.uint64(29)
    order = np.argsort(signature, axis=1, kind="stable")
    ranked = np.take_along_axis(signature, order, axis=1)
    starts = np.ones((n, 120), bool)
    starts[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    # The first of each run, by number, stands for it; rows ascend by it within a hand.
    leader = np.maximum.accumulate(np.where(starts, np.arange(120), 0), axis=1)
    representative = np.empty((n, 120), np.intp)
    np.put_along_axis(representative, order, np.take_along_axis(order, leader, axis=1), axis=1)
    leads = representative == np.arange(120)
    hand, first = np.nonzero(leads)
    row_of = np.zeros((n, 120), np.intp)
    row_of[hand, first] = np.arange(len(hand))
    member = np.take_along_axis(row_of, representative, axis=1)
    for mask in telling:
        for change in range(changes):
            seen = tables[mask][:, _PLACED[mask], change]
            if (seen != np.take_along_axis(seen, representative, axis=1)).any():
                raise ArithmeticError("two arrangements with different corrections have the same signature")
    return Arrangements(hand, first, np.bincount(member.ravel(), minlength=len(hand)), member)


def place_counts(
    ordered: Ordered, tables: Sequence[NDArray[np.int64]], rows: Arrangements, base: NDArray[Any]
) -> NDArray[np.int64]:
    """(32, r, outcomes): draws in order that end in each outcome, masks by place on the screen.

    base: (32, n, outcomes) draws without order under each mask of cards, by base outcome.
    """
    result = np.empty((32, len(rows.hand), base.shape[2]), np.int64)
    arrangement = ARRANGEMENTS[rows.first]
    for screen in range(32):
        cards = np.zeros(len(rows.hand), np.intp)
        for place in _MEMBERS[screen]:
            cards |= 1 << arrangement[:, place]
        result[screen] = base[cards, rows.hand]
        result[screen] *= factorial(5 - screen.bit_count())
        for mask in np.unique(cards).tolist():
            some = np.flatnonzero(cards == mask)
            moved = tables[mask][rows.hand[some], _PLACED[mask][rows.first[some]]]
            for change, (before, after) in enumerate(ordered.changes):
                result[screen, some, before] -= moved[:, change]
                result[screen, some, after] += moved[:, change]
    return result
