"""The 169 starting hands against a random hand, all five cards of the board to come; exact.

Two holes that a permutation of the suits carries into each other stand alike over all boards. So it is enough to go
through the 134,459 canonical boards of the river, each with its weight, and to add up over the holes of a class.

    13 x 13 classes, number 13 * row + column:    row > column  suited, as AKs (12, 11)
                                                  row < column  of two suits, as AKo (11, 12)
                                                  row = column  pairs
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import STANDARD_FACES, Deck
from evaluator.holdem.lookahead import beaten, dense
from evaluator.holdem.ranks import CARDS, FACES, HOLE_CARDS, SUITS, board_ranks
from evaluator.symmetry import canonical_classes

CLASSES = FACES * FACES
BOARDS = comb(CARDS - 2, 5)
"""of a hole: 2,118,760"""
PAIRS = BOARDS * comb(CARDS - 7, 2)
"""(board, opponent) pairs of a hole: 2,097,572,400"""
_BLOCK = 64


class StartingHand(NamedTuple):
    """How a starting hand stands against a random one."""

    name: str
    """like AKs, AKo, AA"""
    holes: int
    """4, 12 or 6"""
    won: int
    """of `PAIRS`"""
    tied: int
    squares: int
    """the sum over the boards of (2 * behind + tied)^2, where behind and tied count opponents"""

    @property
    def equity(self) -> Fraction:
        """The share of the pot that is won when all cards are dealt."""
        return Fraction(2 * self.won + self.tied, 2 * PAIRS)

    @property
    def hs_squared(self) -> Fraction:
        """E[HS^2] at the river."""
        return Fraction(self.squares, BOARDS * (2 * comb(CARDS - 7, 2)) ** 2)


@lru_cache(maxsize=1)
def hole_classes() -> NDArray[np.intp]:
    """(1326,): the class of each hole.

    >>> [class_name(int(hole_classes()[number])) for number in (0, 1324, 1325)]  # 2c 2d, Ad As, Ah As
    ['22', 'AA', 'AA']
    """
    low, high = HOLE_CARDS.astype(np.intp).T // SUITS
    suited = HOLE_CARDS[:, 0] % SUITS == HOLE_CARDS[:, 1] % SUITS
    number: NDArray[np.intp] = np.where(suited, FACES * high + low, FACES * low + high)
    return number


def class_name(number: int) -> str:
    """What a class is called.

    >>> class_name(13 * 12 + 11), class_name(13 * 11 + 12), class_name(0)
    ('AKs', 'AKo', '22')
    """
    row, column = divmod(number, FACES)
    high, low = STANDARD_FACES[max(row, column)], STANDARD_FACES[min(row, column)]
    return high + low + ("s" if row > column else "o" if row < column else "")


def starting_sums(start: int = 0, stop: int | None = None) -> NDArray[np.int64]:
    """(169, 3): won, tied and squares of the holes of each class, with some canonical boards and all they stand for.

    They add up over the boards; `starting_hands` makes values of the sums over all of them.
    """
    classes = canonical_classes(Deck(), (tuple(range(SUITS)),))
    chosen, weights = classes.hands[5][start:stop], classes.weights[start:stop]
    by_hole = np.zeros((3, len(HOLE_CARDS)), np.int64)
    for at in range(0, len(chosen), _BLOCK):
        behind, tied = (part.astype(np.int64) for part in beaten(dense(board_ranks(chosen[at : at + _BLOCK]))))
        weight = weights[at : at + _BLOCK]
        by_hole += np.stack([weight @ behind, weight @ tied, weight @ (2 * behind + tied) ** 2])
    sums = np.zeros((CLASSES, 3), np.int64)
    np.add.at(sums, hole_classes(), by_hole.T)
    return sums


def starting_hands(sums: NDArray[np.int64]) -> list[StartingHand]:
    """The 169 classes, from `starting_sums` over all boards."""
    holes = np.bincount(hole_classes(), minlength=CLASSES)
    return [
        StartingHand(class_name(number), int(count), *(total // int(count) for total in totals))
        for number, (count, totals) in enumerate(zip(holes, sums.tolist(), strict=True))
    ]
