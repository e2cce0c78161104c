"""Effective hand strength: how a hand stands against a random opponent, now and after the cards to come.

Everything follows from exact counts. Now: opponents whom the hand is ahead of, tied with and behind. With cards to
come: HP[now][later], how many (opponent, run-out) pairs go from one to the other; a run-out uses none of the cards of
the hand, the board and the opponent. With T the sums of the rows:

    HS   = (ahead + tied / 2) / all
    PPOT = (HP[behind][ahead] + HP[behind][tied] / 2 + HP[tied][ahead] / 2) / (T[behind] + T[tied] / 2)
    NPOT = (HP[ahead][behind] + HP[tied][behind] / 2 + HP[ahead][tied] / 2) / (T[ahead] + T[tied] / 2)
    EHS  = HS (1 - NPOT) + (1 - HS) PPOT            EHS' = HS_n + (1 - HS_n) PPOT

Where nothing can become better or worse, 0/0 is 0. EHS is exactly the share of the pot that the hand wins all-in:
(column ahead + column tied / 2) / all. Pseudo-code in circulation counts T per opponent, or the tied row in full; then
neither this nor the published figures come out.

Billings, Papp, Schaeffer, Szafron: Opponent Modeling in Poker, AAAI-98; D. Papp, MSc thesis, University of Alberta
1998, chapter 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import STANDARD_FACES, STANDARD_SUITS, CardError
from evaluator.holdem.lookahead import run_outs
from evaluator.holdem.ranks import CARDS, HOLE_CARDS, HOLES, board_ranks, hole_index

Count = int | Fraction
"""opponents or pairs; a fraction where opponents have weights that are not whole"""
Table = tuple[tuple[Count, Count, Count], ...]
"""three rows, now; three columns, later: ahead, tied, behind"""


@dataclass(frozen=True)
class Strength:
    """The exact counts of one hand, and what follows from them."""

    now: tuple[Count, Count, Count]
    """opponents whom the hand is ahead of, tied with, behind"""
    pairs: Table | None = None
    """HP: (opponent, run-out) pairs by now and by later; None on the river"""

    @property
    def hs(self) -> Fraction:
        """HS: the share of opponents that the hand beats now, ties counting half."""
        ahead, tied, behind = self.now
        return _share(2 * ahead + tied, 2 * (ahead + tied + behind))

    def hs_n(self, opponents: int) -> Fraction:
        """HS to the power of the number of opponents: the published approximation, as if they were independent."""
        return self.hs**opponents

    @property
    def ppot(self) -> Fraction:
        """PPOT: the chance that a hand that is behind comes out ahead."""
        _, tied, behind = self._pairs
        return _share(2 * behind[0] + behind[1] + tied[0], 2 * sum(behind) + sum(tied))

    @property
    def npot(self) -> Fraction:
        """NPOT: the chance that a hand that is ahead falls behind."""
        ahead, tied, _ = self._pairs
        return _share(2 * ahead[2] + tied[2] + ahead[1], 2 * sum(ahead) + sum(tied))

    @property
    def ehs(self) -> Fraction:
        """EHS against one opponent: equity when all cards are dealt and nobody folds; on the river HS."""
        return self.hs * (1 - self.npot) + (1 - self.hs) * self.ppot if self.pairs else self.hs

    def ehs_prime(self, opponents: int = 1) -> Fraction:
        """EHS': HS_n and what it can still become; leaves out that a hand can fall behind."""
        hs = self.hs_n(opponents)
        return hs + (1 - hs) * self.ppot if self.pairs else hs

    @property
    def equity(self) -> Fraction:
        """(column ahead + column tied / 2) / all pairs: the same as `ehs`, counted without looking at now."""
        ahead, tied, behind = map(sum, zip(*(self.pairs or (self.now,)), strict=True))
        return _share(2 * ahead + tied, 2 * (ahead + tied + behind))

    @property
    def _pairs(self) -> Table:
        if self.pairs is None:
            raise ValueError("a hand without cards to come has no potential")
        return self.pairs


def _share(part: Count, whole: Count) -> Fraction:
    """part / whole; 0 where the whole is 0."""
    return Fraction(part) / whole if whole else Fraction(0)


def strength(
    hole: Sequence[int], board: Sequence[int], look: int = 0, weights: Sequence[Count] | None = None
) -> Strength:
    """The counts of a hole on a flop, turn or river, `look` cards ahead; exact.

    `weights` are 1,326, one for each hole an opponent may have, in the order of `HOLE_CARDS`: how likely it is, not
    below 0, of any sum. Those of holes that cannot be are left out. Raises `CardError` and `ValueError`.

    >>> ad_qc = strength((49, 40), (6, 8, 38), look=2)  # on 3h 4c Jh
    >>> ad_qc.now, [round(float(x), 3) for x in (ad_qc.hs, ad_qc.hs_n(5), ad_qc.ppot, ad_qc.npot)]
    ((628, 9, 444), [0.585, 0.069, 0.208, 0.274])
    >>> ad_qc.ehs == ad_qc.equity, float(ad_qc.ehs)
    (True, 0.5113993776805987)
    """
    check_cards(hole, board, 2, look)
    own = int(hole_index()[tuple(hole)])
    apart: NDArray[np.bool_] = np.logical_not(np.isin(HOLE_CARDS, np.array([*hole, *board])).any(axis=1))
    now = _compared(board_ranks(np.array([board])), own, apart)
    codes = (now * np.arange(3)[:, None]).sum(axis=0)
    weight = _weights(weights)
    known = _three(now, weight)
    if not any(known):
        raise ValueError("no hole of the range is possible beside these cards")
    if not look:
        return Strength(known)
    later = _compared(board_ranks(run_outs(board, look)), own, apart)
    rows = tuple(_three(later * (apart & (codes == row)), weight) for row in range(3))
    return Strength(known, rows)


def check_cards(hole: Sequence[int], board: Sequence[int], hole_cards: int, look: int) -> None:
    """Raise `CardError` where there are not so many hole cards, or no flop, turn or river; `ValueError` for `look`."""
    cards = [*hole, *board]
    if len(hole) != hole_cards:
        raise CardError(f"expected {hole_cards} hole cards, found {len(hole)}")
    if not 3 <= len(board) <= 5:
        raise CardError(f"expected a board of three, four or five cards, found {len(board)}")
    if not all(0 <= card < CARDS for card in cards):
        raise CardError(f"card numbers run from 0 to {CARDS - 1}, found {min(cards)} to {max(cards)}")
    twice = sorted({card for card in cards if cards.count(card) > 1})
    if twice:
        names = " ".join(STANDARD_FACES[card // 4] + STANDARD_SUITS[card % 4] for card in twice)
        raise CardError(f"{names}: named twice among the hole and the board")
    if not 0 <= look <= 5 - len(board):
        raise ValueError(f"cannot look {look} cards ahead: after {len(board)} cards of the board {5 - len(board)} come")


def _compared(ranks: NDArray[np.uint16], own: int, apart: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(3, 1326): in how many rows of (boards, 1326) ranks the own hole is ahead of, tied with, behind each other."""
    ranks = ranks[ranks[:, own] > 0]
    mine = ranks[:, own, None]
    at_most = np.count_nonzero(ranks <= mine, axis=0)
    ahead, tied = np.count_nonzero(ranks < mine, axis=0), np.count_nonzero(ranks == mine, axis=0)
    ahead = ahead - np.count_nonzero(ranks == 0, axis=0)
    return np.stack([ahead, tied, len(ranks) - at_most]) * apart


def _three(counts: NDArray[np.int64], weight: NDArray[np.object_] | None) -> tuple[Count, Count, Count]:
    ahead, tied, behind = counts.sum(axis=1).tolist() if weight is None else (counts * weight).sum(axis=1).tolist()
    return ahead, tied, behind


def _weights(weights: Sequence[Count] | None) -> NDArray[np.object_] | None:
    if weights is None:
        return None
    if len(weights) != HOLES or any(weight < 0 for weight in weights):
        raise ValueError(f"expected {HOLES} weights that are not below 0, found {len(weights)} from {min(weights)}")
    return np.array(list(weights), dtype=object)
