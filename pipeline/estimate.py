"""What a plan will take, before anything is computed: bytes of memory and disk, and seconds, from what was measured.

Memory is reckoned from the arrays that a task makes. Seconds and bytes on disk are averages over the games of
`configs/`, measured by `make bench` on one core of a server of 2023; another machine may take half or twice as long.
"""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.plan import Entry, Plan, Task

PROCESS = 170 * 2**20
"""bytes of a worker before its first task: Python, NumPy, pyarrow and Dask"""
PER_HAND = 64
"""bytes for each canonical hand in the tables of a game"""
PER_COUNT = 12
"""bytes for each row of a part, hold and outcome: the counts, and what is made of them"""
PER_ROW, PER_ROW_OUTCOME, PER_ROW_HOLDS = 60, 8, 280
"""bytes for each row of the strategy tables of a part, which are all made before the first is written: for each
paytable, for each of its outcomes more, with all holds more"""
ORDERED_ROWS = 3
"""rows for each canonical hand where the order of cards matters"""
ORDERED_BLOCK = 100 * 2**20
"""bytes more where the order of cards matters"""
START, TABLES, PER_CELL, PER_PART = 1.0, 5e-6, 0.8e-6, 3e-3
"""seconds: of the command; tables per hand; per hand and paytable; per part file"""
ORDER, PER_ORDERED_CELL = 14e-6, 5e-6
"""seconds for each win that depends on the order of cards: per hand; per hand and paytable"""
CELL_BYTES, HOLDS_BYTES, PART_BYTES = 8, 27, 15_000
"""on disk: per hand and paytable, with all holds more, per part file"""


@dataclass(frozen=True)
class Estimate:
    """About what a plan, or one game of it, takes."""

    memory: int
    """bytes of a worker at most, with one thread"""
    seconds: float
    """of one core, for everything"""
    disk: int
    """bytes of the finished run"""


def estimate_entry(plan: Plan, number: int) -> Estimate:
    """For one game of a plan."""
    entry, tables = plan.entries[number], len(plan.entries[number].paytables)
    cells, files = entry.rows * tables, plan.parts(number) * tables
    order = len(entry.ordered) * (ORDER * entry.rows + PER_ORDERED_CELL * cells)
    seconds = TABLES * entry.rows + (order or PER_CELL * cells) + PER_PART * files
    disk = (CELL_BYTES + HOLDS_BYTES * plan.all_holds) * cells + PART_BYTES * files
    return Estimate(memory(plan, entry), seconds, disk)


def task_seconds(plan: Plan, task: Task) -> float:
    """For a task, of one core: its share of its game's, for the tables are built again for it."""
    return estimate_entry(plan, task.entry).seconds * (task.stop - task.start) / plan.parts(task.entry)


def memory(plan: Plan, entry: Entry) -> int:
    """Bytes that a worker needs for a task of a game."""
    outcomes, hands = len(entry.rules.wins) + 1, min(plan.rows_per_part, entry.rows)
    rows = hands * len(entry.paytables) * (ORDERED_ROWS if entry.ordered else 1)
    tables = rows * (PER_ROW + PER_ROW_OUTCOME * outcomes + PER_ROW_HOLDS * plan.all_holds)
    block = hands * 32 * outcomes * PER_COUNT + ORDERED_BLOCK * bool(entry.ordered)
    return PROCESS + PER_HAND * entry.rows + block + tables


def estimate(plan: Plan) -> Estimate:
    """For a whole plan."""
    each = [estimate_entry(plan, number) for number in range(len(plan.entries))]
    return Estimate(
        max(found.memory for found in each),
        START + sum(found.seconds for found in each),
        sum(found.disk for found in each),
    )
