"""Rows of tables of hand strength as Arrow columns, and the exact sums over them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evaluator.holdem.tables import Rows, Street, mean_square, potential, share_now
from evaluator.symmetry import ProofError
from pipeline.strategy import Column, arrow_array, arrow_schema

STANDINGS = ("ahead", "tied", "behind")
RESULTS = ("won", "tied", "lost")
"""the same before the flop, when all cards are dealt"""
CELLS = tuple(f"{now[0]}{later[0]}" for now in STANDINGS for later in STANDINGS)
"""aa, at, ab, ta, … bb: now first, later second"""


# --- columns ----------------------------------------------------------------------------------------------------------


def columns(street: Street) -> tuple[Column, ...]:
    """The columns of a table, in order.

    >>> [column.name for column in columns(Street.RIVER)]
    ['b0', 'b1', 'b2', 'b3', 'b4', 'h0', 'h1', 'weight', 'ahead', 'tied', 'behind', 'hs']
    """
    card, count, real = pa.uint8(), pa.int32(), pa.float64()
    wanted = [Column(f"b{i}", card, "card number", f"card {i + 1} of the board") for i in range(street.value)]
    wanted += [Column(f"h{i}", card, "card number", f"card {i + 1} of the hole") for i in range(2)]
    wanted.append(Column("weight", count, "deals", "how many (board, hole) pairs the row stands for"))
    for look in street.looks:
        ahead = f"{look} card{'s' if look > 1 else ''} ahead"
        wanted += [
            Column(
                f"hp{look}_{now[0]}{later[0]}", count, "pairs", f"opponents and run-outs: now {now}, {later} {ahead}"
            )
            for now in STANDINGS
            for later in STANDINGS
        ]
    if street is Street.PREFLOP:
        pairs = "pairs of board and opponent that the hole"
        wanted += [Column(name, pa.int64(), "pairs", f"{pairs} has {name}") for name in RESULTS]
        return (*wanted, Column("equity", real, "share", "(won + tied / 2) / all"), *_SQUARES)
    if street is Street.RIVER:
        wanted += [Column(name, count, "opponents", f"opponents whom the hole is {name}") for name in STANDINGS]
        return (*wanted, Column("hs", real, "share", "HS: (ahead + tied / 2) / all"))
    wanted.append(Column("hs", real, "share", "HS: (ahead + tied / 2) / all opponents now"))
    for look in street.looks:
        wanted += [
            Column(f"ppot{look}", real, "probability", f"PPOT, {look} ahead: behind now, ahead later"),
            Column(f"npot{look}", real, "probability", f"NPOT, {look} ahead: ahead now, behind later"),
            Column(f"ehs{look}", real, "share", f"EHS, {look} ahead: HS (1 - NPOT) + (1 - HS) PPOT"),
        ]
    return (*wanted, *_SQUARES)


_SQUARES = (
    Column("ehs_squared", pa.float64(), "share squared", "E[HS^2] at the river"),
    Column("sum_sq", pa.int64(), "squared half opponents", "sum over the rivers of (2 ahead of + tied)^2, exact"),
)


def arrow_table(street: Street, rows: Rows) -> pa.Table:
    """The Arrow table of some rows."""
    values: list[NDArray[Any]] = [*rows.boards.T, *rows.holes.T, rows.weights]
    for look in street.looks:
        values += list(rows.pairs[look].reshape(-1, 9).T)
    if not street.looks:
        values += list(rows.now.T)
    values.append(share_now(rows.now))
    for look in street.looks:
        values += potential(rows.now, rows.pairs[look])
    if street is not Street.RIVER:
        values += [mean_square(street, rows.squares), rows.squares]
    wanted = columns(street)
    arrays = [arrow_array(value, column.type) for value, column in zip(values, wanted, strict=True)]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(wanted))


def sums_of(street: Street, rows: Rows) -> Sums:
    """The weighted sums over some rows; over a whole table none reaches 2^57, what the squares on the flop could."""
    weight = rows.weights.astype(np.int64)
    pairs = [
        total for look in street.looks for total in (weight @ rows.pairs[look].reshape(-1, 9).astype(np.int64)).tolist()
    ]
    squares = int(weight @ rows.squares)
    return Sums(
        len(weight), int(weight.sum()), tuple((weight @ rows.now.astype(np.int64)).tolist()), tuple(pairs), squares
    )


# --- sums -------------------------------------------------------------------------------------------------------------


class Sums(NamedTuple):
    """Sums over rows, each row counted as often as its weight says; they add up over parts."""

    rows: int
    deals: int
    """(board, hole) pairs: the weights"""
    now: tuple[int, ...]
    """3: opponents ahead of, tied with, behind"""
    pairs: tuple[int, ...]
    """9 for each number of cards ahead, the most first"""
    squares: int
    """(2 * behind + tied)^2 over the rivers"""

    def plus(self, other: Sums) -> Sums:
        """The sums over the rows of both."""
        now, pairs = (
            tuple(map(sum, zip(a, b, strict=True))) for a, b in ((self.now, other.now), (self.pairs, other.pairs))
        )
        return Sums(self.rows + other.rows, self.deals + other.deals, now, pairs, self.squares + other.squares)


def plain_sums(sums: Sums) -> dict[str, Any]:
    """Sums as text, for their integers are too big for many readers of JSON."""
    return {
        key: list(map(str, value)) if isinstance(value, tuple) else str(value) for key, value in sums._asdict().items()
    }


def read_sums(said: Mapping[str, Any]) -> Sums:
    """Sums from the text of `plain_sums`; raises `KeyError`, `ValueError` or `TypeError` for anything else."""
    values: dict[str, Any] = {
        key: tuple(map(int, said[key])) if isinstance(said[key], list) else int(said[key]) for key in Sums._fields
    }
    return Sums(**values)


def summary(street: Street, sums: Sums) -> dict[str, Any]:
    """The sums of a table as plain values: integers and fractions are text."""
    ahead, tied, behind = sums.now
    content: dict[str, Any] = {
        "rows": str(sums.rows),
        "deals": str(sums.deals),
        "mean_hs": str(Fraction(2 * ahead + tied, 2 * (ahead + tied + behind))),
        "now": dict(zip(STANDINGS, map(str, sums.now), strict=True)),
    }
    for number, look in enumerate(street.looks):
        totals = sums.pairs[9 * number : 9 * number + 9]
        won, split = sum(totals[::3]), sum(totals[1::3])
        content[f"mean_ehs{look}"] = str(Fraction(2 * won + split, 2 * sum(totals)))
        content[f"hp{look}"] = dict(zip(CELLS, map(str, totals), strict=True))
    return content


def check_sums(street: Street, sums: Sums, whole: bool) -> None:
    """What must hold over the rows of a table; raises `ProofError` with both sides.

    Every pair of holes is counted from both sides, on every board: so as many are ahead as behind, now and later. Of a
    whole table the rows and the deals are known.
    """
    expected = [("opponents whom a hole is behind", sums.now[2], sums.now[0])]
    if whole:
        expected += [("rows", sums.rows, street.rows), ("deals", sums.deals, street.deals)]
    for number, look in enumerate(street.looks):
        totals = sums.pairs[9 * number : 9 * number + 9]
        expected += [
            (f"hp{look}_{cell}", total, mirror)
            for cell, total, mirror in zip(CELLS, totals, reversed(totals), strict=True)
        ]
    for what, found, wanted in expected:
        if found != wanted:
            raise ProofError(f"{street.name.lower()}, {what}: expected {wanted}, found {found}")
