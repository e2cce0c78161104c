"""What a worker does: compute whole parts, write them, and return their receipts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock

from evaluator.classify import DealCount
from evaluator.holds import hold_block
from evaluator.language import DefinitionError
from evaluator.payback import certify_rows
from evaluator.rules import Faults, Rules
from evaluator.solve import Solved, order_warnings, solve
from evaluator.symmetry import TooManyClasses
from pipeline.config import ConfigError, Fault
from pipeline.plan import Entry, Plan, Task, part_path, read_plan
from pipeline.store import PLAN, Receipt, read_part, write_part
from pipeline.strategy import hand_texts, strategy_table

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
    refusal: str = ""
    """why the deck cannot be handled at all"""


def survey(entry: Entry) -> Survey:
    """Solve the rules of an entry and say what is wrong with them."""
    try:
        result = solved(entry.rules)
    except Faults as problem:
        return Survey(problem.errors, (), ())
    except TooManyClasses as problem:
        return Survey((), (), (), str(problem))
    return Survey((), result.deals, tuple(tuple(order_warnings(result, table)) for table in entry.paytables))


@lru_cache(maxsize=4)
def _plan(run: Path, identity: str) -> Plan:
    """The plan of a run directory, read once per process; raises `ConfigError` where it is another one's."""
    plan = read_plan((run / PLAN).read_text(encoding="utf-8"))
    if plan.identity != identity:
        raise ConfigError(
            [Fault(str(run), "", f"expected the plan {identity}, found {plan.identity}: other software or another run")]
        )
    return plan


def run_task(run: Path, identity: str, task: Task) -> list[Receipt]:
    """Make the parts of a task that are not on disk, sound and of this run; the others are left as they are."""
    plan = _plan(run, identity)
    return [
        receipt for part in range(task.start, task.stop) for receipt in _run_part(run, identity, plan, task.entry, part)
    ]


def _run_part(run: Path, identity: str, plan: Plan, number: int, part: int) -> list[Receipt]:
    """One part for all paytables; the counts of its holds are computed once."""
    entry = plan.entries[number]
    receipts = [read_part(run, identity, part_path(folder, part)) for folder in entry.folders]
    if all(receipt.found == "sound" for receipt in receipts):
        return receipts
    tables = solved(entry.rules).tables
    start, stop = plan.rows(number, part)
    block, texts = hold_block(tables, start, stop), hand_texts(tables, start, stop)
    for i, (paytable, before) in enumerate(zip(entry.paytables, receipts, strict=True)):
        if before.found != "sound":
            outcome, strategy = certify_rows(tables, block, paytable, plan.tie_break, plan.all_holds)
            table = strategy_table(tables, entry.rules, paytable, strategy, texts)
            receipts[i] = write_part(run, identity, before.path, table, outcome, before.found)
    return receipts
