"""Now and later: for every hole of a board, how its opponents stand before and after the cards to come.

A run-out is a choice of the cards to come. All holes are compared with all others in all run-outs without looking at
the pairs. The holes are taken in ascending order of their rank now, and a table counts, for each run-out, how many of
those seen so far have each rank later:

    now      r1 r1 | r2 r2 r2 | r3 …       holes of rank r2:  the table before them: opponents who are behind now
    before ------->|          |                               the table after them, less that: who are tied now
    after ------------------->|                               the whole table, less that: who are ahead now

Summed up to the hole's own rank later, a table says how many are behind or tied later. This counts opponents who share
a card with the hole; there are few of them, and they are subtracted one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.holdem.ranks import CARDS, HOLE_CARDS, HOLES, RANKS, board_ranks, holes_with

TAKEN = 255
"""stands for a later rank where the hole is not possible, when it must not count as low"""


class Counts(NamedTuple):
    """What the holes asked for have against all opponents."""

    now: NDArray[np.int64]
    """(n, 3): opponents whom the hole is ahead of, tied with, behind"""
    pairs: NDArray[np.int64]
    """(n, 3, 3): (opponent, run-out) pairs, by now and by later: ahead, tied, behind"""
    squares: NDArray[np.int64]
    """(n,): the sum over the run-outs of (2 * behind + tied)^2, where behind and tied count opponents"""


def dense(ranks: NDArray[Any]) -> NDArray[np.uint8]:
    """Ranks in smaller numbers, in the same order within a row, 0 for 0.

    255 are enough for the holes of a board: there are 91 pairs of faces, and only one suit can be on it three times or
    more; then at most 45 sets of faces of that suit make other ranks.

    >>> dense(np.array([[7000, 0, 12, 7000, 13], [5, 5, 5, 0, 0]], np.uint16)).tolist()
    [[3, 0, 1, 3, 2], [1, 1, 1, 0, 0]]
    """
    used = np.zeros(RANKS + 1, np.intp)
    used[ranks.ravel()] = 1
    used[0] = 0
    width = int(used.sum()) + 1
    cells = np.cumsum(used).take(ranks)
    cells += np.arange(len(ranks))[:, None] * width
    seen = np.zeros(len(ranks) * width, np.uint8)
    seen[cells.ravel()] = 1
    seen[::width] = 0
    return np.cumsum(seen.reshape(-1, width), axis=1, dtype=np.uint8).ravel().take(cells)


def beaten(ranks: NDArray[np.uint8]) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """(m, 1326) twice, from `dense` ranks of m boards: opponents without a common card who are behind, and tied."""
    rows = np.arange(len(ranks))[:, None]
    levels = int(ranks.max()) + 1
    found = np.bincount((rows * levels + ranks).ravel(), minlength=len(ranks) * levels).reshape(len(ranks), levels)
    found[:, 0] = 0
    below = np.cumsum(found, axis=1)
    behind = (below - found)[rows, ranks].astype(np.int16)
    tied = found[rows, ranks].astype(np.int16)
    of_card = ranks[:, holes_with()]  # (m, 52, 51)
    fewer, same = np.zeros(of_card.shape, np.uint8), np.zeros(of_card.shape, np.uint8)
    shown = np.where(of_card > 0, of_card, TAKEN)
    for one in range(of_card.shape[2]):
        fewer += shown[..., one : one + 1] < of_card
        same += shown[..., one : one + 1] == of_card
    for card in range(CARDS):
        behind[:, holes_with()[card]] -= fewer[:, card]
        tied[:, holes_with()[card]] -= same[:, card]
    tied += ranks > 0  # the hole itself was counted once and subtracted for both of its cards
    return behind, tied


def run_outs(board: Sequence[int], cards: int) -> NDArray[np.uint8]:
    """(C(52 - b, cards), b + cards): the board with every choice of so many further cards."""
    left = [card for card in range(CARDS) if card not in board]
    more = np.array(list(combinations(left, cards)), np.uint8).reshape(-1, cards)
    return np.concatenate([np.tile(np.array(board, np.uint8), (len(more), 1)), more], axis=1)


def look_ahead(board: Sequence[int], cards: int, holes: NDArray[np.intp]) -> Counts:
    """The counts of some `holes`, each possible with the board, when so many cards are to come.

    >>> from evaluator.holdem.ranks import hole_index
    >>> counts = look_ahead((6, 8, 38), 2, np.array([hole_index()[40, 49]]))  # Qc Ad with 3h 4c Jh
    >>> counts.now.tolist(), counts.pairs[0].tolist()
    ([[628, 9, 444]], [[449005, 3211, 169504], [0, 8370, 540], [91981, 1036, 346543]])
    """
    left = CARDS - len(board)
    now = board_ranks(np.array([board]))[0]
    order = np.argsort(now, kind="stable")[HOLES - comb(left, 2) :]
    ranks = np.ascontiguousarray(dense(board_ranks(run_outs(board, cards))).T[order])
    place = np.full(HOLES, -1)
    place[order] = np.arange(len(order))
    at, own, sorted_now = place[holes], now[holes], now[order]
    starts, ends = np.searchsorted(sorted_now, own), np.searchsorted(sorted_now, own, side="right")
    shared = _shared(place, holes, len(order))
    cuts = np.stack([(shared < edge[:, None]).sum(axis=1) for edge in (starts, ends)], axis=1).tolist()

    lowest = np.maximum(ranks, 1) - np.uint8(1)
    shown = ranks - np.uint8(1)  # what is not possible becomes 255 and is below nothing
    sums, scores = _sums(ranks, at, starts, ends)
    squares = np.zeros(len(holes), np.int64)
    for i, hole in enumerate(at):
        minus, score = _shared_sums(lowest[hole], ranks[hole], shown.take(shared[i], axis=0), *cuts[i])
        sums[i] -= minus
        squares[i] = _square(scores[i] - score + (ranks[hole] > 0))
    # The hole against itself was counted once and subtracted twice: for each of its cards.
    sums[:, 1, 1] += comb(left - 2, cards)
    first, second = np.array(cuts).T
    ahead, tied = starts - first, ends - starts - (second - first) + 1
    known = np.stack([ahead, tied, comb(left - 2, 2) - ahead - tied], axis=1)
    all_pairs = known * comb(left - 4, cards)
    return Counts(
        known, np.stack([sums[..., 0], sums[..., 1] - sums[..., 0], all_pairs - sums[..., 1]], axis=2), squares
    )


def _square(score: NDArray[Any]) -> int:
    wide = score.astype(np.int64)
    return int(wide @ wide)


def _shared(place: NDArray[np.intp], holes: NDArray[np.intp], none: int) -> NDArray[np.intp]:
    """(n, 2 * possible holes of a card): the places of holes that share a card with each, ascending; itself twice."""
    with_card = np.sort(np.where(place >= 0, place, none)[holes_with()], axis=1)
    possible = with_card[:, : int((with_card < none).sum(axis=1).max())]
    return np.sort(possible[HOLE_CARDS[holes]].reshape(len(holes), -1), axis=1)


def _sums(
    ranks: NDArray[np.uint8], at: NDArray[np.intp], starts: NDArray[np.intp], ends: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int16]]:
    """Of all holes, also those that share a card: (n, 3, 2) pairs behind, and behind or tied, later, by now.

    Also (n, run-outs): behind later, and behind or tied, added up. `ranks` are (holes ascending by now, run-outs).
    """
    runs = ranks.shape[1]
    cells = ranks.astype(np.intp) * runs + np.arange(runs)
    upto = cells[at]
    below = upto - runs * (ranks[at] > 0)
    table = np.zeros((int(ranks.max()) + 1, runs), np.uint16)
    sums = np.zeros((len(at), 3, 2), np.int64)
    done, after = 0, np.zeros(table.size, np.uint16)
    for start, end in sorted(set(zip(starts.tolist(), ends.tolist(), strict=True))):
        before = after if start == done else _add(table, cells[done:start])
        after = _add(table, cells[start:end])
        done = end
        here = np.flatnonzero(starts == start)
        for column, cell in enumerate((below[here], upto[here])):
            sums[here, 0, column] = before.take(cell).sum(axis=1, dtype=np.int64)
            sums[here, 1, column] = after.take(cell).sum(axis=1, dtype=np.int64)
    whole = _add(table, cells[done:])
    lower, upper = whole.take(below).astype(np.int16), whole.take(upto).astype(np.int16)
    sums[:, 2, 0], sums[:, 2, 1] = lower.sum(axis=1, dtype=np.int64), upper.sum(axis=1, dtype=np.int64)
    sums[:, 2] -= sums[:, 1]
    sums[:, 1] -= sums[:, 0]
    return sums, lower + upper


def _add(table: NDArray[np.uint16], cells: NDArray[np.intp]) -> NDArray[np.uint16]:
    """Count some holes into the (levels, run-outs) table; returns it added up over the levels, without level 0."""
    if len(cells):
        table += np.bincount(cells.ravel(), minlength=table.size).astype(np.uint16).reshape(table.shape)
        table[0] = 0
    if table.shape[1] < 256:
        return np.cumsum(table, axis=0, dtype=np.uint16).ravel()
    added = table.copy()
    for lower, level in pairwise(added):  # much faster than cumsum over the first axis, where rows are long
        level += lower
    return added.ravel()


def _shared_sums(
    lowest: NDArray[np.uint8], own: NDArray[np.uint8], others: NDArray[np.uint8], start: int, end: int
) -> tuple[Any, NDArray[Any]]:
    """The same for one hole against (k, run-outs) ranks of others, less 1, of which start … end are tied now."""
    both = others < lowest, others < own
    edges = (0, start, end, len(others))
    sums = [[np.count_nonzero(one[low:high]) for one in both] for low, high in pairwise(edges)]
    score = np.add.reduce(both[0].view(np.uint8) + both[1].view(np.uint8), axis=0, dtype=np.uint8)
    return sums, score
