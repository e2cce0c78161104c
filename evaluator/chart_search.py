"""The search for a short ordered list that loses little: which lines, and in which order.

Hands are played by the first line that fits them. So hands that the same lines fit can be added up: they are a group,
and for each line the group has a loss, what it costs against the best holds to play all its hands by that line. If
several holds of a hand fit, the worst counts: what is found is what a reader loses at most.

A list grows by the line, at the place, that saves most. Let group g be decided by line d(g) at a loss of l(g). Line c,
set before line p, takes over the groups it fits whose d(g) is p or later, and saves

    sum of l(g) - loss(c, g)   =   a sum over the lines from p on of  now[c, d] - then[c, d]

where now[c, d] and then[c, d] are the sums of l(g) and of loss(c, g) over the groups that c fits and d decides. These
two tables say what every line would save at every place, and change only where groups change hands.

A line that saves much may lose much as well: it stands where two better ones should. So lines are chosen at first by
what they save less a multiple of what they lose, and the multiple falls to zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

SCHEDULES = ((4, 1, 0), (16, 4, 1, 0))
"""multiples of what a line loses; the best of the lists that they lead to is taken"""
_ROUNDS = 6
_END = 0  # the slot of playing nothing, which fits every group and stays last


@dataclass(frozen=True)
class Groups:
    """Groups of hands, and what each line loses on each that it fits."""

    deals: NDArray[np.int64]
    """(g,): how many deals each is"""
    worth: NDArray[Any]
    """(g,): what the best holds of its deals are worth, added up"""
    bare: NDArray[Any]
    """(g,): loss of holding nothing but the wild cards"""
    start: NDArray[np.int64]
    """(g + 1,): where each group's entries begin; they follow each other by group, then line"""
    line: NDArray[np.int32]
    """(entries,): the number of a line that fits the group"""
    loss: NDArray[Any]
    """(entries,): the loss of playing the group by it"""
    lines: int
    """how many lines there are"""


class _List:
    """A list under way: lines in slots, and the order of the slots."""

    def __init__(self, groups: Groups, size: int) -> None:
        self.groups, kind = groups, groups.loss.dtype
        self.order: list[int] = [_END]
        self.line = np.full(size, -1)
        self.slot_of = np.zeros(len(groups.deals), np.intp)
        self.loss = groups.bare.copy()
        self.now = np.zeros((groups.lines, size), kind)
        self.then = np.zeros((groups.lines, size), kind)
        self.group = np.repeat(np.arange(len(groups.deals)), np.diff(groups.start))
        by_line = np.argsort(groups.line, kind="stable")
        self.entries = np.split(by_line, np.searchsorted(groups.line[by_line], np.arange(1, groups.lines)))
        self._tell(np.arange(len(groups.deals)), 1)

    def _tell(self, changed: NDArray[np.intp], sign: int) -> None:
        """Add groups to the tables, or take them away."""
        groups = self.groups
        number = groups.start[changed + 1] - groups.start[changed]
        first = np.repeat(groups.start[changed] - np.cumsum(number) + number, number)
        entries = first + np.arange(len(first))
        group = self.group[entries]
        at = (groups.line[entries], self.slot_of[group])
        np.add.at(self.now, at, sign * self.loss[group])
        np.add.at(self.then, at, sign * groups.loss[entries])

    def _decide(self, changed: NDArray[np.intp], slots: Any, losses: NDArray[Any]) -> None:
        self._tell(changed, -1)
        self.slot_of[changed], self.loss[changed] = slots, losses
        self._tell(changed, 1)

    def best(self, multiple: int, tolerance: int) -> tuple[int, int, int]:
        """What the best new line saves by this measure, the line, and the place; the simplest of nearly equal ones."""
        order = self.order[::-1]
        saved = (self.now - (1 + multiple) * self.then)[:, order].cumsum(axis=1)[:, ::-1]
        most = saved.max(axis=1)
        line = int(np.flatnonzero(most >= most.max() - tolerance)[0])
        return int(most[line]), line, int(np.flatnonzero(saved[line] == most[line])[0])

    def insert(self, line: int, place: int) -> None:
        """A line before the one at that place."""
        slot = int(np.flatnonzero(self.line[1:] < 0)[0]) + 1
        self.line[slot] = line
        self.order.insert(place, slot)
        entries = self.entries[line]
        later = np.isin(self.slot_of[self.group[entries]], self.order[place:])
        entries = entries[later]
        self._decide(self.group[entries], slot, self.groups.loss[entries])

    def _successors(self, place: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[Any]]:
        """The groups that a line decides, and by which slot and at which loss they would be decided without it."""
        mine = self.slot_of == self.order[place]
        slots, losses = np.full(len(mine), _END), self.groups.bare.copy()
        for slot in self.order[:place:-1]:
            if slot != _END:
                entries = self.entries[self.line[slot]]
                entries = entries[mine[self.group[entries]]]
                slots[self.group[entries]], losses[self.group[entries]] = slot, self.groups.loss[entries]
        some = np.flatnonzero(mine)
        return some, slots[some], losses[some]

    def needed(self, place: int) -> int:
        """What the list would lose more without a line."""
        some, _, losses = self._successors(place)
        return int(losses.sum()) - int(self.loss[some].sum())

    def remove(self, place: int) -> int:
        """Take a line away, and return it."""
        some, slots, losses = self._successors(place)
        slot = self.order.pop(place)
        self._decide(some, slots, losses)
        line = int(self.line[slot])
        self.line[slot] = -1
        self.now[:, slot] = self.then[:, slot] = 0
        return line

    def settle(self) -> None:
        """Exchange neighbours where that loses less, or nothing and brings the line of more worth up."""
        for _ in self.order:
            worth = self.worth()
            still = True
            for place in range(len(self.order) - 2):
                slot, below = self.order[place : place + 2]
                line = self.line[below]
                loses = int(self.then[line, slot]) - int(self.now[line, slot])
                (upper, many), (lower, few) = worth[slot], worth[below]
                if loses < 0 or (loses == 0 and lower * many > upper * few):
                    self.order[place : place + 2] = below, slot
                    entries = self.entries[line]
                    entries = entries[self.slot_of[self.group[entries]] == slot]
                    self._decide(self.group[entries], below, self.groups.loss[entries])
                    worth, still = self.worth(), False
            if still:
                return

    def worth(self) -> dict[int, tuple[int, int]]:
        """For each slot, what the deals that it decides win in all, and how many deals they are."""
        won, deals = np.zeros(len(self.line), self.loss.dtype), np.zeros(len(self.line), np.int64)
        np.add.at(won, self.slot_of, self.groups.worth - self.loss)
        np.add.at(deals, self.slot_of, self.groups.deals)
        return {slot: (int(won[slot]), int(deals[slot])) for slot in self.order}

    def total(self) -> int:
        """What the list loses."""
        return int(self.loss.sum())

    def lines(self) -> list[int]:
        """The lines in order."""
        return [int(self.line[slot]) for slot in self.order[:-1]]


def search(groups: Groups, most: int, tolerance: int) -> tuple[list[int], int]:
    """The lines of a short list in order, at most so many, and what it loses.

    A line that saves no more than `tolerance` is left out. The end of the list, nothing, does not count.

    >>> ten = np.array([10, 10])
    >>> groups = Groups(ten, 9 * ten, 5 * ten, np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([30, 0, 0]), 2)
    >>> search(groups, 2, 0), search(groups, 1, 0)  # line 1 is right for the first group, line 0 for the second
    (([1, 0], 0), ([0], 30))
    """
    found = [_search(groups, most, tolerance, schedule) for schedule in SCHEDULES]
    return min(found, key=lambda result: (result[1] // max(tolerance, 1), len(result[0]), result[1]))


def _search(groups: Groups, most: int, tolerance: int, schedule: Sequence[int]) -> tuple[list[int], int]:
    size = 2 * most + 2
    made = _List(groups, size)
    for multiple in schedule:
        _grow(made, size - 2, multiple, tolerance)
    for _ in range(_ROUNDS):
        before = made.total(), len(made.order)
        _replace(made, tolerance)
        _prune(made, most, tolerance)
        _grow(made, most, 0, tolerance)
        if (made.total(), len(made.order)) == before:
            break
    return made.lines(), made.total()


def _grow(made: _List, most: int, multiple: int, tolerance: int) -> None:
    while len(made.order) <= most:
        saved, line, place = made.best(multiple, tolerance)
        if saved <= tolerance:
            return
        made.insert(line, place)
        made.settle()


def _replace(made: _List, tolerance: int) -> None:
    """Take each line away, and put the best line at the best place instead."""
    for slot in list(made.order[:-1]):
        if slot not in made.order:
            continue
        place, before = made.order.index(slot), made.total()
        old = made.remove(place)
        saved, line, better = made.best(0, tolerance)
        if made.total() - before <= tolerance:
            continue
        if made.total() - saved <= before:
            made.insert(line, better)
            made.settle()
        else:
            made.insert(old, place)


def _prune(made: _List, most: int, tolerance: int) -> None:
    """Take away the line that is needed least, until there are few enough and each is needed."""
    while len(made.order) > 1:
        needed = [made.needed(place) for place in range(len(made.order) - 1)]
        least = min(needed)
        if len(made.order) <= most + 1 and least > tolerance:
            return
        made.remove(needed.index(least))
        made.settle()
