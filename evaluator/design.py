"""Inverse design: the paytables of a family whose payback is nearest to a target, without looking at all of them.

The payback is a maximum over strategies of functions that are linear in the pays with coefficients from 0, so it is
convex, piecewise linear, and grows with every pay. In a box of pays it lies between its values at the least and the
greatest corner. A box whose payback cannot come near enough is left out whole; any other is cut in two, and holds that
are never best in a half are forgotten there (`evaluator.candidates`). Nothing else is left out, so the answer is
complete: no other paytable of the family is as near.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.candidates import Candidates, Layout, best_sums, narrow
from evaluator.family import Family
from evaluator.holds import Tables
from evaluator.sweep import figures, open_candidates

PREFERENCES = ("closeness", "variance", "hit-frequency")

_LEAF = 32  # paytables that are looked at one by one
_Span = tuple[tuple[int, int], ...]
"""for each axis, the first place and the last"""


@dataclass(frozen=True)
class Goal:
    """What is searched for."""

    target: Fraction
    """units won in all combinations of the cycle"""
    within: Fraction | None
    """how far from the target it may be, both sides included; None: any distance"""
    prefer: str = PREFERENCES[0]
    """closeness, variance (the least) or hit-frequency (the highest); then closeness, then the order of the family"""
    limit: int = 10
    """how many are wanted"""

    def __post_init__(self) -> None:
        if self.prefer not in PREFERENCES or self.limit < 1:
            raise ValueError(f"expected one of {PREFERENCES} and a limit from 1, found {self.prefer} and {self.limit}")
        if self.within is None and self.prefer != PREFERENCES[0]:
            raise ValueError(f"{self.prefer} can only be preferred among paytables within some distance of the target")


@dataclass(frozen=True, order=True)
class Match:
    """A paytable that was found, the best first."""

    rank: tuple[Fraction | int, ...]
    """least for the best"""
    place: tuple[int, ...]
    """which value of each axis it has"""
    won: int = field(compare=False)
    """units won in all combinations of the cycle"""
    squares: int = field(compare=False)
    """sum over the combinations of the squared win"""
    hits: int = field(compare=False)
    """combinations that pay anything"""


@dataclass
class Found:
    """The answer, and how it was proven; grows during the search."""

    matches: list[Match]
    """the best ones, at most as many as wanted"""
    within: int = 0
    """paytables looked at that are within the distance"""
    looked_at: int = 0
    """paytables looked at one by one"""
    left_out: int = 0
    """paytables in boxes that were left out, because of their bounds or the relations"""
    boxes: int = 0
    """boxes whose bounds were computed"""


@dataclass(frozen=True)
class _Box:
    span: _Span
    candidates: Candidates
    sums: NDArray[np.object_]
    low: int
    high: int
    growth: tuple[int, ...]
    """for each axis, by how much the payback grows across the box, at least"""


def search(
    tables: Tables,
    family: Family,
    bonuses: tuple[int, ...],
    goal: Goal,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Found:
    """The best paytables of a family for a goal, complete; `bonuses` are the units for the deal beside the draw.

    `progress` is told how many paytables are looked at or left out, and how many there are. Raises `ValueError` for
    pays that do not fit the game.
    """
    return _Search(tables, family, bonuses, goal).run(progress)


class _Search:
    """Depth first, the nearer half first; boxes are narrowed as they are made."""

    def __init__(self, tables: Tables, family: Family, bonuses: tuple[int, ...], goal: Goal) -> None:
        self.family, self.goal = family, goal
        self.layout, self.order = family.layout(tables.counts[0].shape[1], len(bonuses))
        self.bonuses = np.array([bonuses], object)
        self.cycle = tables.cycle
        self.opened = open_candidates(tables, self.layout)
        self.found = Found([])

    def run(self, progress: Callable[[int, int], None]) -> Found:
        whole = tuple((0, len(axis.values) - 1) for axis in self.family.axes)
        boxes = [self.box(whole, self.opened.candidates, self.opened.sums)]
        while boxes:
            box = boxes.pop()
            if not self.possible(box):
                self.found.left_out += _size(box.span)
            elif _size(box.span) <= _LEAF:
                self.look_at(box)
            else:
                halves = [self.box(span, box.candidates, box.sums) for span in _halves(box)]
                boxes += sorted(halves, key=self.distance, reverse=True)
            progress(self.found.looked_at + self.found.left_out, self.family.size)
        return self.found

    def box(self, span: _Span, candidates: Candidates, sums: NDArray[np.object_]) -> _Box:
        """The box of a span, with the bounds of its payback."""
        corners = np.array(list(zip(*span, strict=True)), np.int64).reshape(2, -1)
        points = self.points(corners)
        left = narrow(candidates, (points[0], points[1]))
        sums = sums + left.decided
        cells = best_sums(left.candidates, points) + sums
        low, high = self.figures(points, cells)[0].tolist()
        groups = len(self.layout.groups)
        growth = [0] * len(span)
        for group, axis in enumerate(self.order):
            growth[axis] = int(sum(cells[0, group::groups])) * int(points[1, 1 + group] - points[0, 1 + group])
        self.found.boxes += 1
        return _Box(span, left.candidates, sums, low, high, tuple(growth))

    def points(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """(n, 1 + varied) points of the layout at (n, axes) places."""
        values = self.family.values(places)
        return np.hstack([np.ones((len(places), 1), values.dtype), values[:, list(self.order)]])

    def figures(self, points: NDArray[Any], cells: NDArray[np.object_]) -> tuple[NDArray[np.object_], ...]:
        fixed = np.tile(self.layout.units[0, self.layout.varied :], (len(points), 1))
        here: Layout = replace(self.layout, units=np.hstack([points[:, 1:], fixed]))
        return figures(here, cells, np.tile(self.bonuses, (len(points), 1)))

    def distance(self, box: _Box) -> Fraction:
        """How near the payback of the box can come to the target."""
        return max(Fraction(0), box.low - self.goal.target, self.goal.target - box.high)

    def possible(self, box: _Box) -> bool:
        """Whether the box may have a paytable that is wanted; equally good ones are, for the order of the family."""
        low, high = ([axis.values[at[i]] for axis, at in zip(self.family.axes, box.span, strict=True)] for i in (0, 1))
        if not all(relation.can_hold(low, high) for relation in self.family.relations):
            return False
        distance = self.distance(box)
        if self.goal.within is not None and distance > self.goal.within:
            return False
        full = len(self.found.matches) == self.goal.limit and self.goal.prefer == PREFERENCES[0]
        return not full or (distance,) <= self.found.matches[-1].rank

    def look_at(self, box: _Box) -> None:
        """Compute every paytable of a box."""
        places = np.indices([last - first + 1 for first, last in box.span], np.int64).reshape(len(box.span), -1).T
        places = places + np.array([first for first, _ in box.span], np.int64)
        self.found.looked_at += len(places)
        kept = places[self.family.keeps(places)]
        if not len(kept):
            return
        points = self.points(kept)
        sums = self.figures(points, best_sums(box.candidates, points) + box.sums)
        for place, won, squares, hits in zip(map(tuple, kept.tolist()), *(s.tolist() for s in sums), strict=True):
            distance = abs(won - self.goal.target)
            if self.goal.within is not None and distance > self.goal.within:
                continue
            self.found.within += 1
            figure = {"variance": squares * self.cycle - won * won, "hit-frequency": -hits}.get(self.goal.prefer)
            rank = (distance,) if figure is None else (figure, distance)
            insort(self.found.matches, Match(rank, place, won, squares, hits))
            del self.found.matches[self.goal.limit :]


def _size(span: _Span) -> int:
    return prod(last - first + 1 for first, last in span)


def _halves(box: _Box) -> tuple[_Span, _Span]:
    """The box cut across the axis along which its payback grows most, or else its longest one."""
    lengths = [last - first for first, last in box.span]
    axis = max(range(len(lengths)), key=lambda i: (lengths[i] > 0, box.growth[i], lengths[i]))
    first, last = box.span[axis]
    middle = (first + last) // 2
    before, after = box.span[:axis], box.span[axis + 1 :]
    return (*before, (first, middle), *after), (*before, (middle + 1, last), *after)
