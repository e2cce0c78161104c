"""Omaha: four hole cards, of which exactly two count, with exactly three of the board.

The rank of two cards with a board is the best over its choices of three; the rank of four cards is the best of their
six pairs. So one table of 1,326 ranks for each board is enough, and every opponent takes six entries of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from evaluator.holdem.lookahead import run_outs
from evaluator.holdem.ranks import CARDS, HOLES, board_ranks, hole_index
from evaluator.holdem.strength import Strength, check_cards

HOLE = 4
MOST_PAIRS = 200_000_000
"""(opponent, run-out) pairs that are counted at most"""
_BLOCK = 2048  # boards whose pairs are ranked at once


class TooManyPairs(ValueError):
    """A look ahead of more than `MOST_PAIRS` pairs; the message has their number."""


def pair_ranks(boards: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """(m, 1326): the rank of every two cards with exactly three of each of (m, 3 … 5) boards; 0 if they share a card.

    >>> from evaluator.holdem.ranks import categories
    >>> four_hearts = np.array([[2, 10, 22, 34, 1]], np.uint8)  # 2h 4h 7h Th 2d
    >>> categories(pair_ranks(four_hearts)[0, hole_index()[50, [51, 46]]]).tolist()  # Ah As: one heart is not enough
    [2, 5]
    """
    boards = np.sort(np.asarray(boards), axis=1).astype(np.int64)
    choices = np.concatenate([boards[:, list(three)] for three in combinations(range(boards.shape[1]), 3)])
    code = choices @ np.array([CARDS * CARDS, CARDS, 1])
    _, first, which = np.unique(code, return_index=True, return_inverse=True)
    different = choices[first]
    table = np.concatenate(
        [board_ranks(different[start : start + _BLOCK]) for start in range(0, len(different), _BLOCK)]
    )
    which = which.reshape(-1, len(boards))
    ranks: NDArray[np.uint16] = table[which[0]]
    possible = ranks > 0
    for row in which[1:]:
        more = table[row]
        np.maximum(ranks, more, out=ranks)
        possible &= more > 0
    ranks[~possible] = 0
    return ranks


def omaha_strength(hole: Sequence[int], board: Sequence[int], look: int = 0) -> Strength:
    """The counts of four hole cards against every opponent with four others, `look` cards ahead; exact.

    Raises `CardError`, `ValueError`, and `TooManyPairs` before anything is counted.

    >>> omaha_strength((51, 50, 47, 46), (43, 39, 35, 0, 5)).now  # As Ah Ks Kh on Qs Js Ts 2c 3d: the royal flush
    (123410, 0, 0)
    """
    check_cards(hole, board, HOLE, look)
    left = [card for card in range(CARDS) if card not in hole and card not in board]
    pairs = comb(len(left), HOLE) * comb(len(left) - HOLE, look)
    if pairs > MOST_PAIRS:
        raise TooManyPairs(f"{pairs:,} pairs of opponent and run-out are more than the {MOST_PAIRS:,} that are counted")
    opponents = _pairs_of(np.array(list(combinations(left, HOLE)), np.int64))
    own = _pairs_of(np.array([hole], np.int64))
    now = _standing(pair_ranks(np.array([board], np.uint8))[0], own, opponents)
    known = np.bincount(now, minlength=4)[:3]
    counts = np.zeros(16, np.int64)
    if look:
        boards = run_outs(board, look)
        boards = boards[~np.isin(boards, hole).any(axis=1)]
        for ranks in pair_ranks(boards):
            counts += np.bincount(4 * now + _standing(ranks, own, opponents), minlength=16)
    ahead, tied, behind = (tuple(row[:3]) for row in counts.reshape(4, 4)[:3].tolist())
    return Strength(tuple(known.tolist()), (ahead, tied, behind) if look else None)


def _pairs_of(hands: NDArray[np.int64]) -> NDArray[np.int16]:
    """(6, n): the holes that are in (n, 4) cards."""
    index = hole_index()
    return np.stack([index[hands[:, i], hands[:, j]] for i, j in combinations(range(HOLE), 2)])


def _standing(ranks: NDArray[np.uint16], own: NDArray[np.int16], others: NDArray[np.int16]) -> NDArray[np.intp]:
    """(n,): 0 ahead of an opponent, 1 tied, 2 behind; 3 where the opponent shares a card with the board."""
    assert ranks.shape == (HOLES,)
    taken = ranks == 0
    mine = int(ranks[own].max())
    code = (ranks >= mine).astype(np.uint8) + (ranks > mine)
    code[taken] = 3
    best = np.zeros(others.shape[1], np.uint8)
    for row in others:
        np.maximum(best, code[row], out=best)
    return best.astype(np.intp)
