"""Hands worth a look: ties, closest calls and costliest mistakes of a paytable, from the exact values of all holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.holds import Tables, hold_values
from evaluator.play import blocks
from pipeline.check_table import numbers
from pipeline.open_run import Place

MOST = 8
"""hands of each sort"""

Hand = tuple[int, ...]
"""five card numbers, in their places"""


@dataclass(frozen=True)
class Notable:
    """The notable hands of one paytable. No two of a sort have the same value: one stands for all hands alike."""

    ties: tuple[tuple[Fraction, Hand], ...]
    """several holds are best: expected credits per credit bet, most first"""
    close: tuple[tuple[Fraction, Hand], ...]
    """what the next best hold costs, in expected credits per credit bet, least first"""
    costly: tuple[tuple[Fraction, Hand], ...]
    """the same, most first, of hands that are not best held as they are"""


@dataclass
class _Least:
    """The hands of the least keys seen so far, the first hand of each."""

    kept: dict[int, Hand] = field(default_factory=dict)
    """key -> hand, keys ascending"""

    def add(self, keys: NDArray[Any], hands: NDArray[Any]) -> None:
        """Look at (n,) keys of (n, 5) hands."""
        if len(self.kept) == MOST:
            some = np.flatnonzero(keys < max(self.kept))
            keys, hands = keys[some], hands[some]
        different, first = np.unique(keys, return_index=True)
        for key, at in zip(different[:MOST].tolist(), first[:MOST].tolist(), strict=True):
            self.kept.setdefault(key, tuple(hands[at].tolist()))
        self.kept = dict(sorted(self.kept.items())[:MOST])


def notable(tables: Tables, places: Sequence[Place]) -> list[Notable]:
    """The notable hands of each of the paytables `places`, which share `tables`; tied holds are those of the run."""
    optimal = [numbers(place.strategy("optimal_holds"), "optimal_holds") for place in places]
    found = [(_Least(), _Least(), _Least()) for _ in places]
    start = 0
    for block in blocks(tables):
        rows = slice(start, start + len(block.hands))
        start = rows.stop
        for place, best_holds, (ties, close, costly) in zip(places, optimal, found, strict=True):
            paytable, masks = place.paytable, best_holds[rows]
            values = hold_values(tables, block, paytable.units, paytable.deal_units)
            best = values.max(axis=0)
            second = np.where(values == best, -1, values).max(axis=0)  # -1 where all holds are equal
            lost, some = best - second, second >= 0
            tied = np.bitwise_count(masks) > 1
            ties.add(-best[tied], block.hands[tied])
            close.add(lost[some], block.hands[some])
            some &= masks < 1 << 31  # the highest bit: all five are held
            costly.add(-lost[some], block.hands[some])
    units = [tables.cycle_factor * place.paytable.scale * place.paytable.coins for place in places]
    return [
        Notable(*(tuple((Fraction(abs(key), unit), hand) for key, hand in least.kept.items()) for least in three))
        for three, unit in zip(found, units, strict=True)
    ]
