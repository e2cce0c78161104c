"""The holds that can be best somewhere in a box of pays, and exact sums over the best of them.

What a hold wins is linear in the pays. With t the pays that vary, within a box low <= t <= high, hold g beats hold h of
the same hand everywhere in the box if

    min over the box of (g - h)(t) = sum over j of min((g_j - h_j) low_j, (g_j - h_j) high_j) > 0

and then h can be forgotten. So it can where the minimum is 0 and g has the lower mask: h may tie with g, but the tie
rule lowest-mask never takes it. In doubled numbers, which keeps the middle of the box whole, the minimum is

    (g - h)(low + high) - sum over j of |g_j - h_j| (high_j - low_j)

and g is the hold that is best in the middle. A hand with one hold left is decided: its sums are the same in all of the
box. Float64 is used for integers where a bound proves that every sum on the way stays below 2^53, so that matrix
products are exact in whatever order they add; then int64, then Python's integers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.holds import HELD, Block, Tables, exact_type, hold_values

_CELLS = 1 << 19  # values worked on at once
_Range = tuple[NDArray[Any], NDArray[Any]]


def number_type(bound: int) -> type[Any]:
    """The fastest type in which sums of magnitude up to `bound` are exact in any order.

    >>> number_type(2**53 - 1), number_type(2**53), number_type(2**63)
    (<class 'numpy.float64'>, <class 'numpy.int64'>, <class 'object'>)
    """
    return np.float64 if bound < 2**53 else np.int64 if bound < 2**63 else object


@dataclass(frozen=True)
class Layout:
    """Which lines of the paytable are the same number in all paytables, so that they can be counted together.

    The lines are the outcomes on the draw, then, if `on_deal`, the outcomes of hands held as dealt.
    """

    groups: tuple[tuple[int, ...], ...]
    """the lines of each group; those that vary first"""
    varied: int
    """how many of the groups vary"""
    units: NDArray[Any]
    """(P, groups) int64 or object: what each group pays under each paytable"""
    on_deal: bool
    """whether hands held as dealt have lines of their own"""
    bonuses: int = 1
    """bonuses of the deal, and none: each has cells of its own"""

    @property
    def points(self) -> NDArray[Any]:
        """(P, 1 + varied): 1, then the pays that vary."""
        ones = np.ones((len(self.units), 1), self.units.dtype)
        return np.hstack([ones, self.units[:, : self.varied]])

    @property
    def cells(self) -> int:
        """What is counted: each group under each bonus."""
        return self.bonuses * len(self.groups)


def make_layout(units: NDArray[Any], outcomes: int, bonuses: int = 1) -> Layout:
    """The layout of (P, lines) integer `units`, where lines is `outcomes` or twice as many.

    >>> layout = make_layout(np.array([[800, 25, 9, 9, 0], [800, 25, 8, 8, 0]]), 5)
    >>> layout.groups, layout.varied, layout.points.tolist()
    (((2, 3), (0,), (1,), (4,)), 1, [[1, 9], [1, 8]])
    """
    alike: dict[tuple[int, ...], list[int]] = {}
    for line in range(units.shape[1]):
        alike.setdefault(tuple(units[:, line].tolist()), []).append(line)
    order = sorted(alike, key=lambda column: min(column) == max(column))
    return Layout(
        tuple(tuple(alike[column]) for column in order),
        sum(min(column) < max(column) for column in order),
        units[:, [alike[column][0] for column in order]],
        units.shape[1] > outcomes,
        bonuses,
    )


@dataclass(frozen=True)
class Candidates:
    """Holds of some hands, by hand and then by mask; every hand has at least one."""

    hand: NDArray[np.intp]
    """(S,): which hand, ascending from 0"""
    starts: NDArray[np.intp]
    """(H,): the first candidate of each hand"""
    worth: NDArray[Any]
    """(S, 1 + varied): what fixed pays give in a choice among L draws, then draws that each varied pay is paid for"""
    counts: NDArray[Any]
    """(S, cells): combinations of the cycle"""

    def __len__(self) -> int:
        return len(self.hand)


@dataclass(frozen=True)
class Narrowed:
    """What a smaller box leaves."""

    candidates: Candidates
    """of the hands that are not decided"""
    decided: NDArray[np.object_]
    """(cells): combinations of the hands that are, Python integers"""
    hands: int
    """how many are decided"""
    spread: NDArray[Any]
    """(varied): how much holds of undecided hands differ in each pay over the box; for choosing where to cut it"""


def find_candidates(tables: Tables, block: Block, layout: Layout) -> Candidates:
    """The holds of a block that can be best within the box around all paytables of the layout.

    A hold can not if the most that it wins anywhere is less than the least that another one does.
    """
    box = layout.units.min(axis=0), layout.units.max(axis=0)
    low, high = (hold_values(tables, block, *_by_line(tables, layout, side)) for side in box)
    alive = high >= low.max(axis=0)
    for mask in range(32):
        alive[mask] &= (block.repeats >> np.uint32(mask) & np.uint32(1)) == 0
    rows, masks = np.nonzero(alive.T)
    weights = block.weights[rows]
    draws = _group_draws(tables, block, layout, rows, masks)
    # Every row of `draws` adds up to L, so a hold is worth at most L times the greatest pay.
    kind = number_type(4 * tables.cycle_factor * max(1, int(layout.units.max())))
    fixed = draws[:, layout.varied :].astype(kind) @ layout.units[0, layout.varied :].astype(kind)
    worth = np.column_stack([fixed, draws[:, : layout.varied].astype(kind)])
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    kind = number_type(int(weights[starts].sum()) * tables.cycle_factor)
    counts = np.zeros((len(rows), layout.cells), kind)
    per_deal = draws.astype(kind) * weights[:, None].astype(kind)
    for bonus in range(layout.bonuses):
        there = block.bonuses[rows] == bonus
        counts[there, bonus * len(layout.groups) : (bonus + 1) * len(layout.groups)] = per_deal[there]
    return Candidates(rows, starts, worth, counts)


def _by_line(tables: Tables, layout: Layout, units: NDArray[Any]) -> tuple[list[int], list[int] | None]:
    """Units of the groups as units of the outcomes on the draw, and on the deal."""
    outcomes = tables.counts[0].shape[1]
    lines = [0] * (2 * outcomes if layout.on_deal else outcomes)
    for group, unit in zip(layout.groups, units.tolist(), strict=True):
        for line in group:
            lines[line] = unit
    return lines[:outcomes], lines[outcomes:] if layout.on_deal else None


def _group_draws(tables: Tables, block: Block, layout: Layout, rows: NDArray[Any], masks: NDArray[Any]) -> NDArray[Any]:
    """(S, groups) int64 or object: of a choice among L draws, how many end in each group."""
    kind = exact_type(tables.cycle_factor)
    multipliers = np.array(tables.multipliers, kind)[np.array(HELD)[masks]]
    chosen = block.counts[masks, rows].astype(kind) * multipliers[:, None]
    outcomes = chosen.shape[1]
    if layout.on_deal:
        pat = (masks == 31)[:, None]
        chosen = np.hstack([np.where(pat, 0, chosen), np.where(pat, chosen, 0)])
    elif chosen.shape[1] != sum(map(len, layout.groups)):
        raise ValueError(f"expected pays for {outcomes} outcomes, found {sum(map(len, layout.groups))}")
    grouped: NDArray[Any] = np.column_stack([chosen[:, list(group)].sum(axis=1) for group in layout.groups])
    return grouped


def join(parts: list[Candidates]) -> Candidates:
    """Candidates of different hands, one after the other, in a type that holds the sums over all of them."""
    # Every hold of a hand has the same number of combinations in all.
    kind = number_type(sum(int(_object(part.counts[part.starts]).sum()) for part in parts))
    hands = np.cumsum([0] + [len(part.starts) for part in parts])
    sizes = np.cumsum([0] + [len(part) for part in parts])
    return Candidates(
        np.concatenate([part.hand + at for part, at in zip(parts, hands[:-1], strict=True)]),
        np.concatenate([part.starts + at for part, at in zip(parts, sizes[:-1], strict=True)]),
        np.concatenate([part.worth for part in parts]),
        np.concatenate([part.counts.astype(kind) for part in parts]),
    )


def narrow(candidates: Candidates, box: _Range) -> Narrowed:
    """Forget the holds that are never taken within a box, (1 + varied,) each side, and add up the decided hands."""
    low, high = (side.astype(candidates.worth.dtype) for side in box)
    hand, starts, worth, counts = candidates.hand, candidates.starts, candidates.worth, candidates.counts
    if not len(candidates):
        return Narrowed(candidates, np.zeros(counts.shape[1], object), 0, np.zeros(len(low) - 1))
    middle = worth @ (low + high)
    best = np.maximum.reduceat(middle, starts)[hand]
    at = np.flatnonzero(middle == best)
    champion = at[np.flatnonzero(np.diff(hand[at], prepend=-1))][hand]  # the first, which has the lowest mask
    apart = np.abs(worth[champion, 1:] - worth[:, 1:])
    least = best - middle - apart @ (high - low)[1:]
    kept = (least < 0) | ((least == 0) & (champion >= np.arange(len(hand))))
    left = np.add.reduceat(kept, starts, dtype=np.intp)
    alone = (left == 1)[hand]
    decided = _object(counts[kept & alone].sum(axis=0))
    stay = kept & ~alone
    left = left[left > 1]
    remaining = Candidates(np.repeat(np.arange(len(left)), left), np.cumsum(left) - left, worth[stay], counts[stay])
    spread = apart[stay].sum(axis=0) * (high - low)[1:]
    return Narrowed(remaining, decided, len(starts) - len(left), spread)


def best_sums(candidates: Candidates, points: NDArray[Any]) -> NDArray[np.object_]:
    """(P, cells): combinations under the best holds of all hands, for (P, 1 + varied) points.

    Of equally good holds the lowest mask is taken, which is the first.
    """
    total = np.zeros((len(points), candidates.counts.shape[1]), candidates.counts.dtype)
    if len(candidates):
        ranked, edges = _by_rank(candidates)
        step = max(1, _CELLS // len(candidates))
        for at in range(0, len(points), step):
            _add_best(ranked, edges, points[at : at + step], total[at : at + step])
    return _object(total)


def _object(numbers: NDArray[Any]) -> NDArray[np.object_]:
    """Whole numbers as Python's integers."""
    whole = numbers.astype(np.int64) if numbers.dtype == np.float64 else numbers
    return whole.astype(object)


def _by_rank(candidates: Candidates) -> tuple[Candidates, list[tuple[int, int]]]:
    """First the first candidate of every hand, then the second ones, and so on; hands with many come first.

    hands  a a a | b | c c      first a c b, second a c, third a:  edges (0, 3), (3, 5), (5, 6)
    """
    starts, hand = candidates.starts, candidates.hand
    size = np.diff(starts, append=len(hand))
    order = np.argsort(-size, kind="stable")
    sizes = size[order]
    indices, edges, begin = [], [], 0
    for rank in range(int(sizes[0])):
        number = int(np.searchsorted(-sizes, -rank))  # hands with more than `rank` candidates
        indices.append(starts[order[:number]] + rank)
        edges.append((begin, begin + number))
        begin += number
    chosen = np.concatenate(indices)
    return replace(candidates, worth=candidates.worth[chosen], counts=candidates.counts[chosen]), edges


def _add_best(ranked: Candidates, edges: list[tuple[int, int]], points: NDArray[Any], total: NDArray[Any]) -> None:
    values = ranked.worth @ points.astype(ranked.worth.dtype).T
    best = values[: edges[0][1]].copy()
    for begin, end in edges[1:]:
        np.maximum(best[: end - begin], values[begin:end], out=best[: end - begin])
    taken = np.zeros(values.shape, ranked.counts.dtype)
    free = np.ones(best.shape, bool)
    for begin, end in edges:
        chosen = (values[begin:end] == best[: end - begin]) & free[: end - begin]
        free[: end - begin] ^= chosen
        taken[begin:end] = chosen
    total += taken.T @ ranked.counts
