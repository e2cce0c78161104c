"""Sweeps: the exact payback of every paytable of a grid, by blocks of paytables and partitions of hands."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.family import Family
from evaluator.rules import Rules
from evaluator.sweep import Pays, Swept
from evaluator.sweep import sweep as sweep_rows
from pipeline.api import one_paytable, solve_game
from pipeline.config import Game
from pipeline.execute import Executor, Failure, Serial
from pipeline.faults import ConfigError, Fault
from pipeline.manifest import identity
from pipeline.plan import describe_rules
from pipeline.tasks import solved
from pipeline.vary import Values, Variation, read_variation

MOST_PAYTABLES = 2_000_000
"""of a sweep; `design` searches more"""
PAYTABLES_PER_PIECE = 8_192
"""at most"""
ROWS_PER_PIECE = 8_192
"""canonical hands that a piece has at least, where there are so many"""
FIGURES = ("payback", "variance", "hit_frequency")

Bound = tuple[Fraction | None, Fraction | None]
"""the least and the greatest that is wanted, both included; None: any"""


class Unfinished(ConnectionError):
    """Workers died again and again; nothing was written, and the command can be repeated."""


@dataclass(frozen=True)
class Piece:
    """Some paytables over some hands: what a worker is asked to compute."""

    rules: Rules
    """of the game"""
    family: Family
    """the paytables, those that keep the relations numbered in order"""
    bonuses: tuple[int, ...]
    """units for the deal beside the draw"""
    paytables: tuple[int, int]
    """the first paytable and the one after the last"""
    rows: tuple[int, int]
    """the first canonical hand and the one after the last"""


@dataclass(frozen=True)
class Sweep:
    """The exact figures of all paytables of a variation, ties resolved by lowest-mask."""

    variation: Variation
    """the base and what varies"""
    places: NDArray[np.int64]
    """(P, axes): which value of each varied pay every paytable has"""
    swept: Swept
    """exact sums over all deals"""
    cycle: int
    """equally likely combinations of deal and draw"""

    @property
    def stake(self) -> int:
        """Units bet in all combinations of the cycle."""
        return self.cycle * self.variation.scale * self.variation.base.coins

    def fractions(self, some: NDArray[np.intp]) -> dict[str, list[Fraction]]:
        """Payback, variance and hit frequency of some paytables, by their numbers."""
        return {name: self.figure(name, some) for name in FIGURES}

    def figure(self, name: str, some: NDArray[np.intp]) -> list[Fraction]:
        """One of the `FIGURES` of some paytables."""
        stake, cycle = self.stake, self.cycle
        won, squares, hits = (figure[some].tolist() for figure in (self.swept.won, self.swept.squares, self.swept.hits))
        if name == "payback":
            return [Fraction(number, stake) for number in won]
        if name == "hit_frequency":
            return [Fraction(number, cycle) for number in hits]
        return [
            Fraction(square * cycle - number * number, stake * stake)
            for number, square in zip(won, squares, strict=True)
        ]

    def within(self, bounds: dict[str, Bound]) -> NDArray[np.intp]:
        """The numbers of the paytables within bounds of payback, variance and hit frequency; exact, both included."""
        won, stake = self.swept.won, self.stake
        scaled = {
            "payback": (won, stake),
            "variance": (self.swept.squares * self.cycle - won * won, stake * stake),
            "hit_frequency": (self.swept.hits, self.cycle),
        }
        kept = np.ones(len(self.places), bool)
        for name, (low, high) in bounds.items():
            numbers, one = scaled[name]
            if low is not None:
                kept &= np.asarray(numbers * low.denominator >= low.numerator * one, bool)
            if high is not None:
                kept &= np.asarray(numbers * high.denominator <= high.numerator * one, bool)
        return np.flatnonzero(kept)

    def best(self, some: NDArray[np.intp], target: Fraction | None) -> NDArray[np.intp]:
        """Some paytables, the nearest to a target payback first, or without one the greatest payback first."""
        won = self.swept.won[some]
        if target is None:
            keys: Any = -won
        else:
            keys = abs(won * target.denominator - target.numerator * self.stake)
        return some[np.array(sorted(range(len(some)), key=lambda i: keys[i]), np.intp)]


def sweep(
    game: Game,
    vary: Mapping[str, Values],
    base: str | None = None,
    *,
    link: Mapping[str, str] | None = None,
    keep: Iterable[str] = (),
    executor: Callable[[], AbstractContextManager[Executor]] = lambda: nullcontext(Serial()),
) -> Sweep:
    """The exact payback, variance and hit frequency of every paytable of a grid.

    `vary` is win -> values, as text like ``6..10`` or as a list; the other pays are those of the paytable `base`, which
    can be left out where the game has one. For `link` and `keep` see `pipeline.vary.read_variation`. Raises
    `ConfigError`.

    >>> from pipeline import load_game
    >>> game = load_game("configs/jacks-or-better.toml")
    >>> found = sweep(game, {"full house": "8..9", "flush": [5, 6]}, "9/6")
    >>> found.variation.name(found.places[-1]), found.fractions(np.array([3]))["payback"]
    ('9/6, full house=9, flush=6', [Fraction(1653526326983, 1661102543100)])
    """
    return carry_out(read_variation(game, one_paytable(game, base), vary, link, keep), executor)


def carry_out(
    variation: Variation,
    executor: Callable[[], AbstractContextManager[Executor]],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Sweep:
    """Compute all paytables; the result does not depend on the executor.

    Raises `ConfigError` for games with faults and grids that are too large, `Unfinished` where workers die.
    """
    size = variation.family.size
    if size > MOST_PAYTABLES:
        message = f"{size:,} paytables; expected at most {MOST_PAYTABLES:,}: vary less, or search them with design"
        raise ConfigError([Fault("--vary", "", message)])
    tables = solve_game(variation.game).tables
    places = _places(variation.family)
    if not len(places):
        raise ConfigError([Fault("--keep", "", f"none of the {size:,} paytables keeps all that is asked for")])
    with executor() as workers:
        pieces = cut(variation, len(places), len(tables.classes.weights), workers.workers)
        name = identity([repr(variation.family), describe_rules(variation.game.rules)])[:12]
        keys = [f"sweep-{name}-{number}" for number in range(len(pieces))]
        results: dict[tuple[int, int], Swept] = {}
        for done, (piece, result) in enumerate(workers.map(run_piece, pieces, keys), 1):
            if isinstance(result, Failure):
                raise Unfinished(f"hands {piece.rows[0]} to {piece.rows[1]} could not be computed: {result.reason}")
            before = results.get(piece.paytables)
            results[piece.paytables] = result if before is None else before + result
            progress(done, len(pieces))
    swept = _joined([results[block] for block in sorted(results)])
    return Sweep(variation, places, swept, tables.cycle)


def cut(variation: Variation, paytables: int, rows: int, workers: int) -> list[Piece]:
    """The pieces of a sweep, about twice as many as workers; one worker has no use for partitions of the hands.

    The blocks of paytables do not depend on the workers, so that the share of holds left in them does not. Partitions
    of the hands repeat the same search in smaller numbers, and are made only where there are few blocks.
    """
    blocks = -(-paytables // PAYTABLES_PER_PIECE)
    size = -(-paytables // blocks)
    partitions = max(1, min(-(-2 * workers // blocks), rows // ROWS_PER_PIECE)) if workers > 1 else 1
    edges = [rows * i // partitions for i in range(partitions + 1)]
    return [
        Piece(
            variation.game.rules,
            variation.family,
            variation.bonus_units,
            (first, min(first + size, paytables)),
            (start, stop),
        )
        for first in range(0, paytables, size)
        for start, stop in pairwise(edges)
    ]


@lru_cache(maxsize=2)
def _places(family: Family) -> NDArray[np.int64]:
    return family.places()


def run_piece(piece: Piece) -> Swept:
    """Compute a piece, on whatever machine."""
    places = _places(piece.family)[slice(*piece.paytables)]
    bonuses = np.tile(np.array(piece.bonuses, object), (len(places), 1))
    return sweep_rows(solved(piece.rules).tables, Pays(1, piece.family.units(places), bonuses), *piece.rows)


def _joined(blocks: Sequence[Swept]) -> Swept:
    """Blocks of paytables one after the other; how many holds were left is a mean over the blocks."""
    if len(blocks) == 1:
        return blocks[0]
    won, squares, hits = (np.concatenate([getattr(b, name) for b in blocks]) for name in ("won", "squares", "hits"))
    rows, holds, decided = (sum(getattr(b, name) for b in blocks) for name in ("rows", "holds", "decided"))
    return Swept(won, squares, hits, rows, holds, decided)
