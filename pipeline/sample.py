"""Sampled rows of strategy tables, judged by the second engine; nothing of the kernel takes part.

A row is not judged as it stands: its hand is put into another of the row's orders and suits first, and the masks are
carried back. So one sample also tests the order of the masks, the exchange of suits, and what a row stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from evaluator.cards import format_cards
from evaluator.classify import suit_components
from evaluator.independent import (
    Engine,
    TooManyHands,
    build_engine,
    class_weight,
    confirm,
    hold_counts,
    images,
    judge,
)
from evaluator.rules import Paytable, Program, compile_rules
from pipeline.check_table import UNREADABLE
from pipeline.faults import slug
from pipeline.findings import Findings
from pipeline.location import Location
from pipeline.plan import Plan, part_path
from pipeline.strategy import NOTHING

CONFIRMED = 3
"""deals of a sample whose counts are made by polynomials as well"""
ARRANGED = tuple(permutations(range(5)))


@dataclass(frozen=True)
class _Row:
    """A sampled row."""

    path: str
    """of its part"""
    number: int
    """in its part"""
    values: dict[str, Any]
    """column -> value"""


def check_sample(run: Location, plan: Plan, number: int, size: int, seed: int, findings: Findings) -> int:
    """Judge `size` rows of an entry under all its paytables, at most all of them; returns how many there were.

    The rows depend on nothing but `seed` and the number of rows; all paytables of a game get the same ones.
    """
    entry = plan.entries[number]
    program = compile_rules(entry.rules)
    try:
        engine = build_engine(program)
    except TooManyHands as problem:
        findings.add("sample", entry.folders[0], str(problem))
        return 0
    judged = _Judge(program, engine, plan, number, seed, findings)
    done = 0
    for table, folder in enumerate(entry.folders):
        paths = [part_path(folder, part) for part in range(plan.parts(number))]
        rows = _draw(run, paths, size, np.random.default_rng([seed, number]))
        for row in rows:
            judged.row(row, entry.paytables[table])
        done = max(done, len(rows))
    judged.confirm()
    return done


def _draw(run: Location, paths: Sequence[str], size: int, rng: np.random.Generator) -> list[_Row]:
    """Some rows of a table, ascending; parts that cannot be read are left out, for they were found before."""
    tables: dict[str, pa.Table] = {}
    for path in paths:
        try:
            tables[path] = pq.ParquetFile(pa.BufferReader((run / path).read_bytes())).read()
        except UNREADABLE:
            continue
    ends = np.cumsum([table.num_rows for table in tables.values()])
    if not len(ends) or not ends[-1]:
        return []
    chosen = np.sort(rng.choice(ends[-1], min(size, int(ends[-1])), replace=False))
    rows = []
    for (path, table), end in zip(tables.items(), ends.tolist(), strict=True):
        start = end - table.num_rows
        mine = chosen[(chosen >= start) & (chosen < end)] - start
        values = table.take(pa.array(mine)).to_pylist()
        rows += [_Row(path, at, value) for at, value in zip(mine.tolist(), values, strict=True)]
    return rows


class _Judge:
    """The second engine at the rows of one game; the counts of a hand serve all paytables."""

    def __init__(
        self, program: Program, engine: Engine, plan: Plan, number: int, seed: int, findings: Findings
    ) -> None:
        self.program, self.engine, self.findings = program, engine, findings
        self.deck, self.components = program.rules.deck, suit_components(program)
        self.tie_break, self.all_holds = plan.tie_break, plan.all_holds
        self.entry = plan.entries[number]
        self.rng = np.random.default_rng([seed, number, 1])
        self.known: dict[tuple[tuple[int, ...], str], NDArray[np.int64]] = {}
        self.confirmed: list[tuple[tuple[int, ...], int]] = []

    def row(self, row: _Row, paytable: Paytable) -> None:
        """Compare one row with what the second engine says."""
        try:
            deal = tuple(int(row.values[f"c{i}"]) for i in range(1, 6))
            orders = str(row.values.get("arrangements", ""))
            counts = self._counts(deal, orders)
            differences = list(self._differences(row, deal, orders, counts, paytable))
        except UNREADABLE as problem:
            self.findings.add("sample", row.path, f"row {row.number} is no hand of the game: {problem}")
            return
        for what, expected, found in differences:
            where = f"row {row.number}, {format_cards(self.deck, deal)}: {what}"
            self.findings.add("sample", row.path, where, expected, found)

    def _counts(self, deal: tuple[int, ...], orders: str) -> NDArray[np.int64]:
        """(32, outcomes) of the row, from another deal that it stands for."""
        if (deal, orders) not in self.known:
            suits = images(self.deck, self.components, deal)
            image = suits[self.rng.integers(len(suits))]
            place = list(self.rng.permutation(5)) if not orders else self._other_order(deal, orders)
            counts = hold_counts(self.engine, [image[card] for card in place])
            masks = [sum(1 << at for at, card in enumerate(place) if mask >> int(card) & 1) for mask in range(32)]
            self.known[deal, orders] = counts[masks]
        return self.known[deal, orders]

    def _other_order(self, deal: tuple[int, ...], orders: str) -> list[int]:
        """One of the row's arrangements: for each place, which card of the row's hand stands there."""
        members = [number for number in range(120) if int(orders, 16) >> number & 1]
        ascending = sorted(deal)
        if [ascending[card] for card in ARRANGED[members[0]]] != list(deal):
            raise ValueError("the hand is not in the first of its arrangements")
        chosen = ARRANGED[members[self.rng.integers(len(members))]]
        return [deal.index(ascending[card]) for card in chosen]

    def _differences(
        self, row: _Row, deal: tuple[int, ...], orders: str, counts: NDArray[np.int64], paytable: Paytable
    ) -> list[tuple[str, Any, Any]]:
        found = judge(self.engine, deal, counts, paytable.units, paytable.deal_units, self.tie_break)
        if len(self.confirmed) < CONFIRMED and found.hold.bit_count() >= 2:
            self.confirmed.append((deal, found.hold))
        values, names = row.values, [*(win.name for win in self.entry.rules.wins), NOTHING]
        said = int(values["hold"])
        least = min(tuple(sorted(image)) for image in images(self.deck, self.components, deal))
        weight = class_weight(self.deck, self.components, deal) * (int(orders, 16).bit_count() if orders else 1)
        pairs = [
            ("representative of its class", format_cards(self.deck, least), format_cards(self.deck, sorted(deal))),
            ("weight", weight, values["weight"]),
            ("best hold", self._hold(deal, found.hold, found), self._hold(deal, said, found)),
            ("optimal_holds", f"{found.optimal:#x}", f"{int(values['optimal_holds']):#x}"),
            ("draws of the hold", found.draws[said], values["draws"]),
            ("won in all draws", found.won[said], int(values["ev_numerator"])),
            *((f"draws that end in {name}", int(counts[said, i]), values[f"n_{slug(name)}"])
              for i, name in enumerate(names)),
        ]  # fmt: skip
        if self.all_holds:
            pairs += [
                (f"won with mask {mask}", found.won[mask], int(values[f"ev_numerator_{mask:02d}"]))
                for mask in range(32)
            ]
        return [(what, expected, is_there) for what, expected, is_there in pairs if expected != is_there]

    def _hold(self, deal: tuple[int, ...], mask: int, found: Any) -> str:
        """A hold and what it wins per draw, in units."""
        held = format_cards(self.deck, [card for i, card in enumerate(deal) if mask >> i & 1]) or "nothing"
        return f"{held} (mask {mask}, {Fraction(found.won[mask], found.draws[mask])} a draw)"

    def confirm(self) -> None:
        """The second engine's own counts of a few deals against completed polynomials."""
        for deal, win, counted, seen in confirm(self.program, self.engine, self.confirmed):
            where = f"{format_cards(self.deck, deal)}: {win}, by polynomial and by looking at all hands"
            self.findings.differ("sample", self.entry.folders[0], where, counted, seen)
