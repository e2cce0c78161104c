"""Families of paytables: a base, the pays that vary over listed values, and relations that pays must keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.candidates import Layout, make_layout
from evaluator.holds import exact_type


@dataclass(frozen=True)
class Axis:
    """A pay that varies."""

    lines: tuple[int, ...]
    """the lines of the paytable that pay it, as in `evaluator.candidates.Layout`"""
    values: tuple[int, ...]
    """units, ascending"""

    def __post_init__(self) -> None:
        if not self.lines or not self.values or list(self.values) != sorted({*self.values}) or self.values[0] < 0:
            raise ValueError(f"expected lines and ascending units from 0, found {self.lines} and {self.values}")


@dataclass(frozen=True)
class Relation:
    """What must be at least 0: a constant, and a multiple of the value of each axis."""

    constant: int
    """units times the least common denominator of the relation"""
    coefficients: tuple[int, ...]
    """one for each axis"""

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """(n,): whether it holds for (n, axes) values."""
        numbers = values.astype(object) @ np.array(self.coefficients, object) + self.constant
        return np.asarray(numbers >= 0, bool)

    def can_hold(self, low: Sequence[int], high: Sequence[int]) -> bool:
        """Whether it holds for any values, one for each axis, between these two."""
        most = (c * (b if c > 0 else a) for c, a, b in zip(self.coefficients, low, high, strict=True))
        return sum(most, self.constant) >= 0


@dataclass(frozen=True)
class Family:
    """All paytables of a grid that keep the relations.

    >>> family = Family((800, 9, 6, 0), (Axis((1,), (7, 8, 9)), Axis((2,), (6, 8))), (Relation(-1, (1, -1)),))
    >>> family.size, family.places().tolist()
    (6, [[0, 0], [1, 0], [2, 0], [2, 1]])
    >>> family.units(family.places()).tolist()[0]
    [800, 7, 6, 0]
    """

    base: tuple[int, ...]
    """units of each line"""
    axes: tuple[Axis, ...]
    """the last varies fastest"""
    relations: tuple[Relation, ...] = ()
    """all must hold"""

    def __post_init__(self) -> None:
        lines = [line for axis in self.axes for line in axis.lines]
        if len(lines) != len({*lines}) or not all(0 <= line < len(self.base) for line in lines):
            raise ValueError(f"expected different lines from 0 to {len(self.base) - 1}, found {lines}")
        wrong = [r for r in self.relations if len(r.coefficients) != len(self.axes)]
        if wrong:
            raise ValueError(f"expected {len(self.axes)} coefficients, found {wrong[0].coefficients}")

    @property
    def size(self) -> int:
        """Paytables of the grid, whether or not they keep the relations."""
        return prod(len(axis.values) for axis in self.axes)

    def places(self) -> NDArray[np.int64]:
        """(P, axes): which value of each axis every paytable has; those that keep the relations, in order."""
        grids = np.indices([len(axis.values) for axis in self.axes], np.int64)
        places = grids.reshape(len(self.axes), -1).T
        return places[self.keeps(places)]

    def keeps(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(P,): which of the (P, axes) places keep all relations."""
        kept = np.ones(len(places), bool)
        for relation in self.relations:
            kept &= relation.holds(self.values(places))
        return kept

    def values(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """(P, axes) int64 or object: the units at (P, axes) places."""
        kind = exact_type(max((axis.values[-1] for axis in self.axes), default=0))
        columns = [np.array(axis.values, kind)[places[:, i]] for i, axis in enumerate(self.axes)]
        return np.column_stack(columns) if columns else np.zeros((len(places), 0), np.int64)

    def units(self, places: NDArray[np.int64]) -> NDArray[Any]:
        """(P, lines) int64 or object: what the lines of the paytables at (P, axes) places pay."""
        values = self.values(places)
        units = np.tile(np.array(self.base, np.result_type(exact_type(max(self.base)), values)), (len(places), 1))
        for i, axis in enumerate(self.axes):
            units[:, list(axis.lines)] = values[:, i, None]
        return units

    def layout(self, outcomes: int, bonuses: int = 1) -> tuple[Layout, tuple[int, ...]]:
        """A layout whose box is that of the family, and the axes in the order of its varied groups.

        Axes of one value do not vary. The paytables of the layout are the least one, and those with one pay raised.
        """
        wide = [i for i, axis in enumerate(self.axes) if len(axis.values) > 1]
        places = np.zeros((1 + len(wide), len(self.axes)), np.int64)
        for row, i in enumerate(wide, 1):
            places[row, i] = len(self.axes[i].values) - 1
        layout = make_layout(self.units(places), outcomes, bonuses)
        home = {line: group for group, lines in enumerate(layout.groups) for line in lines}
        return layout, tuple(sorted(wide, key=lambda i: home[self.axes[i].lines[0]]))
