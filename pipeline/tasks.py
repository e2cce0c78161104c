"""What a worker does: compute whole parts, write them, and return their receipts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock
from time import thread_time
from typing import Any

import numpy as np
import pyarrow as pa

from evaluator.classify import DealCount
from evaluator.holds import hold_block
from evaluator.language import DefinitionError
from evaluator.meter import MeterSummary, summarise_meter
from evaluator.payback import Outcome, Strategy, certify_rows, joined
from evaluator.rules import Faults, Rules
from evaluator.solve import Solved, order_warnings, solve
from evaluator.symmetry import TooManyClasses
from pipeline.faults import ConfigError, Fault
from pipeline.location import Location
from pipeline.plan import ROWS_PER_PART, Entry, Plan, Task, part_path, read_plan
from pipeline.sensitivities import sensitivity_rows
from pipeline.store import PLAN, Receipt, read_part, write_part
from pipeline.strategy import card_letters, hand_table, strategy_table

ORDERED_HANDS = 1024
"""canonical hands that are worked on at once where each may have 120 rows"""

_solving = Lock()


@lru_cache(maxsize=2)
def _solve(rules: Rules) -> Solved:
    return solve(rules)


def solved(rules: Rules) -> Solved:
    """The tables of some rules, built once per process for the rules at hand."""
    with _solving:  # threads of one worker wait for one building
        return _solve(rules)


@dataclass(frozen=True)
class Survey:
    """What only the cards can show about a game, found before anything is written."""

    errors: tuple[DefinitionError, ...]
    """definitions that never hold, or take a value other than 0 or 1"""
    deals: tuple[DealCount, ...]
    """for each win, how many deals are in it"""
    warnings: tuple[tuple[str, ...], ...]
    """for each paytable"""
    meters: tuple[MeterSummary | None, ...] = ()
    """for each paytable, the figures of its progressive, if it has one"""
    sensitivities: tuple[list[dict[str, Any]] | None, ...] = ()
    """for each paytable, what each of its pays does, where that is asked for"""
    refusal: str = ""
    """why the deck cannot be handled at all"""


def survey(entry: Entry, sensitivity: bool = False) -> Survey:
    """Solve the rules of an entry and say what is wrong with them; where asked for, what each pay does."""
    try:
        result = solved(entry.rules)
    except Faults as problem:
        return Survey(problem.errors, (), ())
    except TooManyClasses as problem:
        return Survey((), (), (), refusal=str(problem))
    warnings = tuple(tuple(order_warnings(result, table)) for table in entry.paytables)
    rows = hands_at_once(result)
    meters = tuple(
        None if table.progressive is None else summarise_meter(result.tables, table, rows)[0]
        for table in entry.paytables
    )
    pays = tuple(sensitivity_rows(result, table) if sensitivity else None for table in entry.paytables)
    return Survey((), result.deals, warnings, meters, pays)


def hands_at_once(solution: Solved) -> int:
    """How many canonical hands to work on at once where nothing else says so."""
    return ORDERED_HANDS if solution.ordered else ROWS_PER_PART


@lru_cache(maxsize=4)
def _plan(run: Location, identity: str) -> Plan:
    """The plan of a run directory, read once per process; raises `ConfigError` where it is another one's."""
    plan = read_plan((run / PLAN).read_text(encoding="utf-8"))
    if plan.identity != identity:
        raise ConfigError(
            [Fault(str(run), "", f"expected the plan {identity}, found {plan.identity}: other software or another run")]
        )
    return plan


def run_task(run: Location, identity: str, task: Task) -> list[Receipt]:
    """Make the parts of a task that are not on disk, sound and of this run; the others are left as they are."""
    plan = _plan(run, identity)
    done: list[Receipt] = []
    for part in range(task.start, task.stop):
        began = thread_time()
        receipts = _run_part(run, identity, plan, task.entry, part)
        each = (thread_time() - began) / len(receipts)
        done += [replace(receipt, seconds=each) for receipt in receipts]
    return done


def _run_part(run: Location, identity: str, plan: Plan, number: int, part: int) -> list[Receipt]:
    """One part for all paytables; the counts of its holds are computed once."""
    entry = plan.entries[number]
    receipts = [read_part(run, identity, part_path(folder, part)) for folder in entry.folders]
    if all(receipt.found == "sound" for receipt in receipts):
        return receipts
    wanted = [i for i, receipt in enumerate(receipts) if receipt.found != "sound"]
    for i, table, outcome in compute_part(plan, number, part, wanted):
        receipts[i] = write_part(run, identity, receipts[i].path, table, outcome, receipts[i].found)
    return receipts


def compute_part(plan: Plan, number: int, part: int, wanted: Sequence[int]) -> Iterator[tuple[int, pa.Table, Outcome]]:
    """For each wanted paytable of an entry, the table of a part and the sums over its rows; nothing is written."""
    entry = plan.entries[number]
    tables = solved(entry.rules).tables
    outcomes = {i: Outcome.none_of(entry.paytables[i]) for i in wanted}
    pieces: dict[int, list[Strategy]] = {i: [] for i in wanted}
    hands, letters = [], []
    start, stop = plan.rows(number, part)
    step = ORDERED_HANDS if entry.ordered else stop - start
    for at in range(start, stop, step):
        block = hold_block(tables, at, min(at + step, stop))
        hands.append(hand_table(entry.rules, block))
        letters.append(card_letters(entry.rules.deck, block.hands))
        for i in wanted:
            outcome, strategy = certify_rows(tables, block, entry.paytables[i], plan.tie_break, plan.all_holds)
            outcomes[i] += outcome
            pieces[i].append(strategy)
    rows = pa.concat_tables(hands).combine_chunks(), np.concatenate(letters)
    for i in wanted:
        yield i, strategy_table(entry.rules, entry.paytables[i], *rows, joined(pieces.pop(i))), outcomes[i]
