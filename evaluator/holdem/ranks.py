"""Ranks of poker hands of five to seven cards, for many hands or for all holes of a board at once.

A rank is 1 … 7462, higher is better: one number for each class of five-card hands that tie. Of six or seven cards the
best five count. Two tables decide everything:

- by faces: how many cards of each face there are. At most the five highest matter, so faces are sets of bits,
  and `_face_keys` reads pairs, threes and rows off them;
- by suit: where five cards share a suit, the set of their faces.

    key    4 bits category | 13 bits the faces that are repeated | 13 bits the other faces that count
    KK882  2               | .K....8......                       | ............2

Keys of equal categories compare as hands do, and the rank of a hand is the place of its key among all 7,462.

A hole is an unordered pair of cards; the 1,326 of them ascend: (0, 1), (0, 2), …, (50, 51). A board leaves some of
them; a hole that shares a card with the board has rank 0.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

FACES, SUITS, CARDS = 13, 4, 52
HOLES = 1326
RANKS = 7462
"""classes of five-card hands that tie"""
CATEGORIES = 9
"""kinds of hands, from no pair to a row in one suit"""
_HIGH, _ONE, _PAIRS, _THREE, _ROW, _SUITED, _THREE_TWO, _FOUR, _SUITED_ROW = range(CATEGORIES)
_SETS = 1 << FACES

HOLE_CARDS: NDArray[np.uint8] = np.array(list(combinations(range(CARDS), 2)), np.uint8)
"""(1326, 2): the cards of each hole, ascending"""
FACE_PAIRS: NDArray[np.uint8] = np.array(list(combinations_with_replacement(range(FACES), 2)), np.uint8)
"""(91, 2): the faces of two cards, ascending"""


@lru_cache(maxsize=1)
def _hole_pairs() -> NDArray[np.intp]:
    """(1326,): row of `FACE_PAIRS` for each hole."""
    low, high = HOLE_CARDS.astype(np.intp).T // SUITS
    pairs: NDArray[np.intp] = low * (2 * FACES - 1 - low) // 2 + high
    return pairs


@lru_cache(maxsize=1)
def _hole_sets() -> NDArray[np.intp]:
    """(4, 1326): for each suit, the set of the hole's faces in it."""
    cards = HOLE_CARDS.astype(np.intp)
    return np.array([((1 << cards // SUITS) * (cards % SUITS == suit)).sum(axis=1) for suit in range(SUITS)])


@lru_cache(maxsize=1)
def hole_index() -> NDArray[np.int16]:
    """(52, 52): the number of the hole of two cards, in either order; -1 for a card with itself."""
    index = np.full((CARDS, CARDS), -1, np.int16)
    low, high = HOLE_CARDS.T
    index[low, high] = index[high, low] = np.arange(HOLES)
    return index


@lru_cache(maxsize=1)
def holes_with() -> NDArray[np.int16]:
    """(52, 51): the holes that have a card, ascending."""
    index = hole_index()
    return np.array([np.sort(np.delete(row, card)) for card, row in enumerate(index)], np.int16)


# --- keys -------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _highest() -> NDArray[np.int32]:
    """(6, 8192): the set of the k highest faces of a set; all of them where there are fewer."""
    sets = np.arange(_SETS, dtype=np.int32)
    top = np.zeros((6, _SETS), np.int32)
    for k in range(1, 6):
        rest = sets & ~top[k - 1]
        for face in range(FACES):  # the last bit that is found is the highest
            top[k] = np.where(rest >> face & 1, 1 << face, top[k])
        top[k] |= top[k - 1]
    return top


@lru_cache(maxsize=1)
def _rows() -> NDArray[np.int32]:
    """(8192,): the highest face of five in a row, as a set of one; 0 where there is no row. The ace is also below 2."""
    sets = np.arange(_SETS, dtype=np.int32)
    wheel = sets << 1 | sets >> (FACES - 1)
    found = wheel & wheel << 1 & wheel << 2 & wheel << 3 & wheel << 4
    rows: NDArray[np.int32] = _highest()[1][(found >> 1) & (_SETS - 1)]
    return rows


def _key(category: int, repeated: Any, others: Any) -> Any:  # of numbers, or of arrays
    return category << 2 * FACES | repeated << FACES | others


def _face_keys(counts: NDArray[Any]) -> NDArray[np.int32]:
    """(n,): the key of the best five of (n, 13) counts of each face, whatever the suits."""
    bits = np.int32(1) << np.arange(FACES, dtype=np.int32)
    one, two, three, four = ((counts >= times) @ bits for times in (1, 2, 3, 4))
    top = _highest()
    best_three, best_two = top[1][three], top[2][two]
    second = top[1][two & ~best_three]
    row = _rows()[one]
    keys = _key(_HIGH, 0, top[5][one])
    keys = np.where(two > 0, _key(_ONE, two, top[3][one & ~two]), keys)
    keys = np.where(two & (two - 1), _key(_PAIRS, best_two, top[1][one & ~best_two]), keys)
    keys = np.where(three > 0, _key(_THREE, best_three, top[2][one & ~best_three]), keys)
    keys = np.where(row > 0, _key(_ROW, 0, row), keys)
    keys = np.where((three > 0) & (second > 0), _key(_THREE_TWO, best_three, second), keys)
    keys = np.where(four > 0, _key(_FOUR, four, top[1][one & ~four]), keys)
    found: NDArray[np.int32] = keys.astype(np.int32)
    return found


def _suit_keys(sets: NDArray[np.int32]) -> NDArray[np.int32]:
    """(n,): the key of the best five of one suit from (n,) sets of faces; 0 where there are not five."""
    row = _rows()[sets]
    keys = np.where(row > 0, _key(_SUITED_ROW, 0, row), _key(_SUITED, 0, _highest()[5][sets]))
    return np.where(np.bitwise_count(sets) >= 5, keys, 0).astype(np.int32)


def _counts(faces: NDArray[Any]) -> NDArray[np.uint8]:
    """(n, 13): how many cards of each face there are in (n, k) faces."""
    counts = np.zeros((len(faces), FACES), np.uint8)
    for column in faces.T:
        counts[np.arange(len(faces)), column] += 1
    return counts


@lru_cache(maxsize=1)
def _all_keys() -> NDArray[np.int32]:
    """(7462,): the keys of all classes, ascending."""
    counts = _counts(np.array(list(combinations_with_replacement(range(FACES), 5))))
    by_face = _face_keys(counts[counts.max(axis=1) <= SUITS])
    sets = np.arange(_SETS, dtype=np.int32)
    return np.unique(np.concatenate([by_face, _suit_keys(sets[np.bitwise_count(sets) == 5])]))


def face_ranks(counts: NDArray[Any]) -> NDArray[np.uint16]:
    """(n,): ranks from (n, 13) counts of each face, five to seven cards, whatever the suits."""
    return (np.searchsorted(_all_keys(), _face_keys(counts)) + 1).astype(np.uint16)


@lru_cache(maxsize=1)
def suit_ranks() -> NDArray[np.uint16]:
    """(8192,): ranks of the best five of one suit by the set of faces; 0 where there are not five."""
    keys = _suit_keys(np.arange(_SETS, dtype=np.int32))
    return np.where(keys > 0, np.searchsorted(_all_keys(), keys) + 1, 0).astype(np.uint16)


def categories(ranks: NDArray[Any]) -> NDArray[np.uint8]:
    """The category of each rank: 0 nothing, 1 one pair, 2 two pairs, 3 three alike, … 8 a row in one suit."""
    return (_all_keys()[np.asarray(ranks).astype(np.intp) - 1] >> 2 * FACES).astype(np.uint8)


# --- ranks ------------------------------------------------------------------------------------------------------------


def hand_ranks(hands: NDArray[Any]) -> NDArray[np.uint16]:
    """(n,): ranks of (n, 5), (n, 6) or (n, 7) card numbers, in any order.

    >>> hand_ranks(np.array([[51, 47, 43, 39, 35], [0, 1, 2, 3, 4], [0, 5, 10, 15, 20]])).tolist()
    [7462, 7297, 1]
    >>> hand_ranks(np.array([[0, 1, 10, 15, 20, 29, 34], [0, 1, 15, 20, 29, 34, 38]])).tolist()  # the best five count
    [1332, 1361]
    """
    hands = np.asarray(hands).astype(np.intp)
    if hands.ndim != 2 or not 5 <= hands.shape[1] <= 7:
        raise ValueError(f"expected an array of five to seven cards in a row, found shape {hands.shape}")
    ranks = face_ranks(_counts(hands // SUITS))
    bits = 1 << (hands // SUITS)
    for suit in range(SUITS):
        np.maximum(ranks, suit_ranks()[(bits * (hands % SUITS == suit)).sum(axis=1)], out=ranks)
    return ranks


def board_ranks(boards: NDArray[Any]) -> NDArray[np.uint16]:
    """(m, 1326): the rank of every hole with every board; 0 where they share a card.

    `boards` is (m, 3), (m, 4) or (m, 5) card numbers in any order.

    >>> ranks = board_ranks(np.array([[4, 8, 38]]))  # 3c 4c Jh
    >>> int((ranks == 0).sum()), categories(ranks[0, hole_index()[[5, 5], [6, 9]]]).tolist()  # 3d 3h, 3d 4d
    (150, [3, 2])
    """
    boards = np.asarray(boards).astype(np.intp)
    if boards.ndim != 2 or not 3 <= boards.shape[1] <= 5:
        raise ValueError(f"expected an array of three to five cards in a row, found shape {boards.shape}")
    ranks = _ranks_by_face(boards // SUITS)
    rows = np.arange(len(boards))
    for suit in range(SUITS):
        sets = (1 << boards // SUITS) * (boards % SUITS == suit)
        suited = rows[np.count_nonzero(sets, axis=1) >= 3]
        if len(suited):
            together = sets.sum(axis=1)[suited, None] | _hole_sets()[suit]
            ranks[suited] = np.maximum(ranks[suited], suit_ranks()[together])
    taken = np.zeros((len(boards), CARDS), bool)
    taken[rows[:, None], boards] = True
    ranks[taken[:, HOLE_CARDS[:, 0]] | taken[:, HOLE_CARDS[:, 1]]] = 0
    return ranks


def _ranks_by_face(faces: NDArray[np.intp]) -> NDArray[np.uint16]:
    """(m, 1326): ranks of every hole with (m, k) faces, whatever the suits; each set of faces is ranked once."""
    code = _counts(faces) @ (SUITS + 1) ** np.arange(FACES)
    _, different, which = np.unique(code, return_index=True, return_inverse=True)
    counts = _counts(faces[different])[:, None, :] + _counts(FACE_PAIRS)
    table = face_ranks(counts.reshape(-1, FACES)).reshape(len(different), -1)  # nobody asks for five of a face
    ranks: NDArray[np.uint16] = table[:, _hole_pairs()][which]
    return ranks
