"""Strength of every hole with every board, one row for each class under the permutations of the suits.

A board is canonical when no permutation makes its sorted card numbers smaller. The permutations that leave a canonical
board as it is, its stabiliser, make classes of the holes; of each the least sorted pair is the row:

    board 2c 7d Kd      h and s can trade places
    holes 3h 9s, 3s 9h  one class, row 3h 9s, weight 2 * 12 boards = 24

Rows ascend by board, then hole. The weight is the number of (board, hole) pairs in the class.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from itertools import permutations
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck
from evaluator.holdem.lookahead import beaten, dense, look_ahead
from evaluator.holdem.ranks import CARDS, HOLE_CARDS, SUITS, board_ranks, hole_index
from evaluator.holdem.starting import PAIRS, hole_classes, starting_sums
from evaluator.symmetry import canonical_classes, count_classes

_ALL_SUITS = (tuple(range(SUITS)),)
_BLOCK = 64  # boards of the river that are worked on at once, so that what is made of them stays in the cache


class Street(Enum):
    """When hands are looked at; the value is the number of cards on the board."""

    PREFLOP = 0
    FLOP = 3
    TURN = 4
    RIVER = 5

    @property
    def boards(self) -> int:
        """How many canonical boards there are.

        >>> [street.boards for street in Street]
        [1, 1755, 16432, 134459]
        """
        return count_classes(Deck(), _ALL_SUITS, self.value)

    @property
    def rows(self) -> int:
        """How many classes of board and hole there are."""
        return {Street.PREFLOP: 169, Street.FLOP: 1_286_792, Street.TURN: 13_960_050, Street.RIVER: 123_156_254}[self]

    @property
    def deals(self) -> int:
        """What the weights add up to: boards times holes."""
        return comb(CARDS, self.value) * comb(CARDS - self.value, 2)

    @property
    def looks(self) -> tuple[int, ...]:
        """How many cards ahead a row looks, the most first; before the flop all are dealt."""
        return tuple(range(5 - self.value, 0, -1)) if self is not Street.PREFLOP else ()

    @property
    def opponents(self) -> int:
        """How many opponents a hole has; before the flop pairs of board and opponent."""
        return comb(CARDS - self.value - 2, 2) if self is not Street.PREFLOP else PAIRS


class Rows(NamedTuple):
    """The classes of some boards, as columns."""

    boards: NDArray[np.uint8]
    """(n, 3 … 5), ascending in a row"""
    holes: NDArray[np.uint8]
    """(n, 2), ascending in a row"""
    weights: NDArray[np.int32]
    """(n,): (board, hole) pairs in the class"""
    now: NDArray[Any]
    """(n, 3) int32: opponents whom the hole is ahead of, tied with, behind; before the flop int64: pairs of board and
    opponent that it wins, ties, loses"""
    pairs: dict[int, NDArray[np.int32]]
    """for each number of cards ahead, (n, 3, 3) pairs of opponent and run-out by now and by later"""
    squares: NDArray[np.int64]
    """(n,): the sum over the rivers of (2 * behind + tied)^2, where behind and tied count opponents; 0 on the river"""


@lru_cache(maxsize=1)
def _permuted() -> tuple[NDArray[np.uint8], NDArray[np.int16]]:
    """(24, 52) and (24, 1326): where each permutation of the suits puts each card and each hole."""
    cards = np.arange(CARDS)
    moved = np.array([cards - cards % SUITS + np.array(order)[cards % SUITS] for order in permutations(range(SUITS))])
    holes = hole_index()[moved[:, HOLE_CARDS[:, 0]], moved[:, HOLE_CARDS[:, 1]]]
    return moved.astype(np.uint8), holes


def canonical_boards(street: Street) -> NDArray[np.uint8]:
    """(boards, 3 … 5): the canonical boards, ascending."""
    boards: NDArray[np.uint8] = canonical_classes(Deck(), _ALL_SUITS).hands[street.value]
    return boards


def board_classes(boards: NDArray[np.uint8]) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.int32]]:
    """Which board, which hole, and the weight of every class of some canonical boards.

    >>> board, hole, weight = board_classes(np.array([[0, 1, 2]], np.uint8))  # 2c 2d 2h
    >>> len(hole), HOLE_CARDS[hole[0]].tolist(), weight[:3].tolist(), int(weight.sum()) == 4 * 1176
    (378, [3, 4], [12, 4, 12], True)
    """
    moved, holes = _permuted()
    images = np.sort(moved[:, boards], axis=2)  # (24, boards, cards)
    fixes = (images == boards).all(axis=2)
    possible = ~(HOLE_CARDS[:, :, None] == boards[:, None, None, :]).any(axis=(2, 3))
    found = []
    for number, (fixing, open_holes) in enumerate(zip(fixes.T, possible, strict=True)):
        least = holes[fixing].min(axis=0)[open_holes]
        size = np.bincount(least, minlength=holes.shape[1])
        rows = np.flatnonzero(size)
        found.append((np.full(len(rows), number), rows, size[rows] * (len(moved) // int(fixing.sum()))))
    board, hole, weight = (np.concatenate(column) for column in zip(*found, strict=True))
    return board, hole, weight.astype(np.int32)


def rows_of(street: Street, boards: NDArray[np.uint8]) -> Rows:
    """The rows of some canonical boards of a street, (m, cards), in their order."""
    board, hole, weight = board_classes(boards)
    if street is Street.PREFLOP:
        sums = starting_sums()[hole_classes()[hole]] // weight[:, None]
        lost = PAIRS - sums[:, 0] - sums[:, 1]
        return Rows(boards[board], HOLE_CARDS[hole], weight, np.column_stack([sums[:, :2], lost]), {}, sums[:, 2])
    now = np.zeros((len(hole), 3), np.int32)
    pairs = {look: np.zeros((len(hole), 3, 3), np.int32) for look in street.looks}
    squares = np.zeros(len(hole), np.int64)
    if street is Street.RIVER:
        for start in range(0, len(boards), _BLOCK):
            behind, tied = beaten(dense(board_ranks(boards[start : start + _BLOCK])))
            here = slice(*np.searchsorted(board, [start, start + _BLOCK]))
            at = board[here] - start, hole[here]
            now[here, 0], now[here, 1] = behind[at], tied[at]
        now[:, 2] = comb(CARDS - 7, 2) - now[:, 0] - now[:, 1]
    for number, cards in enumerate(boards.tolist() if street.looks else []):
        here = slice(*np.searchsorted(board, [number, number + 1]))
        for look in street.looks:
            counts = look_ahead(cards, look, hole[here])
            pairs[look][here] = counts.pairs
            if look == street.looks[0]:
                now[here], squares[here] = counts.now, counts.squares
    return Rows(boards[board], HOLE_CARDS[hole], weight, now, pairs, squares)


# --- what people read -------------------------------------------------------------------------------------------------


def potential(now: NDArray[Any], pairs: NDArray[Any]) -> tuple[NDArray[np.float64], ...]:
    """PPOT, NPOT and EHS as floats, (n,) each, from the counts of `Rows`; as in `evaluator.holdem.strength`."""
    ahead, tied, behind = np.moveaxis(pairs.astype(np.float64), 1, 0)
    half = tied.sum(axis=1) / 2
    up = behind[:, 0] + behind[:, 1] / 2 + tied[:, 0] / 2
    down = ahead[:, 2] + ahead[:, 1] / 2 + tied[:, 2] / 2
    ppot = _shares(up, behind.sum(axis=1) + half)
    npot = _shares(down, ahead.sum(axis=1) + half)
    hs = share_now(now)
    return ppot, npot, hs * (1 - npot) + (1 - hs) * ppot


def share_now(now: NDArray[Any]) -> NDArray[np.float64]:
    """HS as floats, (n,), from (n, 3) opponents ahead of, tied with, behind."""
    share: NDArray[np.float64] = (now[:, 0] + now[:, 1] / 2) / now.sum(axis=1)
    return share


def _shares(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def mean_square(street: Street, squares: NDArray[Any]) -> NDArray[np.float64]:
    """E[HS^2] at the river as floats, (n,), from the sums of `Rows`."""
    rivers = comb(CARDS - 2 - street.value, 5 - street.value)
    most = 2 * comb(CARDS - 7, 2)
    mean: NDArray[np.float64] = squares / (rivers * most * most)
    return mean
