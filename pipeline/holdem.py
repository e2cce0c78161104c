"""Tables of effective hand strength as run directories: the plan, its parts, and the columns.

    RUN/
      manifest.json, SHA256SUMS, _SUCCESS, log.jsonl    as for certificates
      flop/summary.json                                 sums over the whole table, exact
      flop/ehs/part-00000.parquet ...                   a row for each class of board and hole

A part is a fixed block of canonical boards, a task is a part, and what is computed depends on nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.holdem.tables import Street, canonical_boards, rows_of
from pipeline.events import Event, Stages, event, failed_parts
from pipeline.execute import Executor, Failure, call_all
from pipeline.faults import ConfigError, Fault
from pipeline.holdem_rows import Sums, arrow_table, check_sums, plain_sums, read_sums, summary, sums_of
from pipeline.location import Location, children, sweep, tree, write_whole
from pipeline.lock import Claim, claim, refuse_if_claimed
from pipeline.manifest import FORMAT, canonical_text, identity, pretty_text, software
from pipeline.run import Altered, Incomplete, Progress, Refused, circumstances, state
from pipeline.store import (
    MANIFEST,
    PLAN,
    SUCCESS,
    SUMS,
    There,
    append_log,
    file_digest,
    listed_files,
    read_table,
    sums_text,
    write_table,
    wrong_files,
)

BOARDS_PER_PART = {Street.PREFLOP: 1, Street.FLOP: 45, Street.TURN: 128, Street.RIVER: 512}
"""canonical boards in a part, unless the command says otherwise: 30,000 to 500,000 rows"""
SUMMARY = "summary.json"


@dataclass(frozen=True)
class TablePlan:
    """All that decides the bytes of a table.

    >>> plan = TablePlan(Street.FLOP, 0, 100, 45)
    >>> plan.parts, plan.block(2), plan.path(2)
    (3, (90, 100), 'flop/ehs/part-00002.parquet')
    """

    street: Street
    """flop, turn or river"""
    start: int
    """first canonical board"""
    stop: int
    """board after the last"""
    boards_per_part: int
    """canonical boards in a part"""

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop <= self.street.boards:
            most = self.street.boards
            raise ConfigError(
                [Fault("", "--boards", f"expected 0 <= FIRST < LAST <= {most}, found {self.start}:{self.stop}")]
            )
        if self.boards_per_part < 1:
            raise ConfigError([Fault("", "--boards-per-part", f"expected at least 1, found {self.boards_per_part}")])

    @cached_property
    def description(self) -> dict[str, Any]:
        """The plan with its format and the versions that decide bytes, as plain values; `identity` is its digest."""
        return {
            "format": FORMAT,
            "software": software(),
            "table": "ehs",
            "street": self.street.name.lower(),
            "boards": [self.start, self.stop],
            "boards_per_part": self.boards_per_part,
        }

    @cached_property
    def identity(self) -> str:
        """SHA-256 of the description: equal identities mean equal bytes."""
        return identity(self.description)

    @property
    def folder(self) -> str:
        """Of the table, in the run directory."""
        return self.street.name.lower()

    @property
    def whole(self) -> bool:
        """Whether all boards of the street are in the table."""
        return (self.start, self.stop) == (0, self.street.boards)

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return -(-(self.stop - self.start) // self.boards_per_part)

    def block(self, part: int) -> tuple[int, int]:
        """First board of a part, and the board after its last."""
        first = self.start + part * self.boards_per_part
        return first, min(first + self.boards_per_part, self.stop)

    def path(self, part: int) -> str:
        """The file of a part, from the run directory."""
        return f"{self.folder}/ehs/part-{part:05d}.parquet"


class Receipt(NamedTuple):
    """What a finished part says of itself."""

    path: str
    content: str
    """content digest of the table"""
    sums: Sums
    sha256: str
    """of the file"""
    found: str
    """what was there before: missing, sound (kept as it is), or why it was made again"""


@dataclass(frozen=True)
class Table:
    """A complete run directory with a table."""

    path: Location
    identity: str
    summary: dict[str, Any]
    computed: bool
    """whether this call computed anything; False where the run was complete already"""
    parts: Mapping[str, int]
    """how many parts were found missing, sound or damaged"""


# --- parts ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _boards(street: Street) -> NDArray[np.uint8]:
    return canonical_boards(street)


def make_part(run: Location, plan_identity: str, plan: TablePlan, part: int) -> Receipt:
    """Make a part that is not on disk, sound and of this run; another is left as it is. This is what a worker does."""
    if plan.identity != plan_identity:
        message = f"expected the plan {plan_identity}, found {plan.identity}: a worker has other software"
        raise ConfigError([Fault(str(run), "", message)])
    path = plan.path(part)
    there: There = read_table(run, plan_identity, path, read_sums)
    if there.found == "sound":
        return Receipt(path, there.content, there.sums, there.sha256, there.found)
    start, stop = plan.block(part)
    rows = rows_of(plan.street, _boards(plan.street)[start:stop])
    sums = sums_of(plan.street, rows)
    table = arrow_table(plan.street, rows)
    content, sha256 = write_table(run, plan_identity, path, table, plain_sums(sums), there.found)
    return Receipt(path, content, sums, sha256, there.found)


# --- runs -------------------------------------------------------------------------------------------------------------


def make_table(
    plan: TablePlan,
    out: Location,
    executor: Callable[[], AbstractContextManager[Executor]],
    resume: bool = False,
    progress: Progress = lambda done, total: None,
) -> Table:
    """Carry out a plan in the directory `out`, from scratch, resumed, or found complete; as `pipeline.run.certify`.

    Raises `Refused` where the directory holds something else, or an incomplete table without `resume`; `Incomplete`
    where parts could not be made; `Altered` where a complete table has changed.
    """
    found = state(out, plan)
    if found == "complete":
        return _open_complete(out, plan)
    refuse_if_claimed(out)
    if found == "incomplete" and not resume:
        done = len(tree(out).keys() & set(map(plan.path, range(plan.parts))))
        raise Refused(f"{out} holds an incomplete table, {done} of {plan.parts} parts; add --resume to go on")
    with executor() as workers, claim(out) as claimed:
        if state(out, plan) == "complete":  # by another process, since the first look
            return _open_complete(out, plan)
        return _carry_out(out, plan, workers, claimed, progress)


def _open_complete(out: Location, plan: TablePlan) -> Table:
    if findings := wrong_files(out):
        raise Altered(f"{out} was complete and has changed since:\n    " + "\n    ".join(findings))
    return Table(out, plan.identity, _read_summary(out, plan), False, {"sound": plan.parts})


def _read_summary(out: Location, plan: TablePlan) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads((out / plan.folder / SUMMARY).read_text(encoding="utf-8"))
    return summary


def _carry_out(out: Location, plan: TablePlan, workers: Executor, claimed: Claim, progress: Progress) -> Table:
    stages = Stages()
    sweep(out)
    if PLAN not in children(out):
        write_whole(out / PLAN, canonical_text(plan.description).encode())
    append_log(out, [event("start", identity=plan.identity, **circumstances(workers), parts=plan.parts)])
    receipts: dict[int, Receipt] = {}
    failures: list[Event] = []
    progress(0, plan.parts)
    work = partial(make_part, out.absolute(), plan.identity, plan)
    for part, result in call_all(
        workers, work, range(plan.parts), lambda part: f"ehs-{plan.folder}-{plan.identity[:12]}-{part}"
    ):
        if isinstance(result, Failure):
            failures.append(event("failed", game=plan.folder, parts=[part, part], reason=result.reason))
        else:
            receipts[part] = result
        progress(len(receipts), plan.parts)
    damaged = [receipt for receipt in receipts.values() if receipt.found not in ("missing", "sound")]
    append_log(out, [*(event("damaged", path=r.path, found=r.found) for r in damaged), *failures])
    kinds = ["damaged" if receipt in damaged else receipt.found for receipt in receipts.values()]
    parts: dict[str, int] = {kind: kinds.count(kind) for kind in ("missing", "sound", "damaged") if kind in kinds}
    if failures:
        done = f"{len(receipts)} of {plan.parts} parts are done; the others could not be made"
        append_log(out, [event("stopped", reason=done, parts=parts, seconds=stages.total)])
        raise Incomplete(f"{done}:\n    " + "\n    ".join(failed_parts(failures)))
    claimed.check()
    summary = _finish(out, plan, [receipts[part] for part in range(plan.parts)])
    append_log(out, [event("done", seconds=stages.total, parts=parts)])
    claimed.check()
    write_whole(out / SUCCESS, b"")
    return Table(out, plan.identity, summary, True, parts)


def _finish(out: Location, plan: TablePlan, receipts: list[Receipt]) -> dict[str, Any]:
    """Summary, manifest and sums from the receipts."""
    sums = receipts[0].sums
    for receipt in receipts[1:]:
        sums = sums.plus(receipt.sums)
    check_sums(plan.street, sums, plan.whole)
    content = table_summary(plan, sums)
    write_whole(out / plan.folder / SUMMARY, pretty_text(content).encode())
    listed = [{"path": r.path, "rows": r.sums.rows, "content": r.content} for r in receipts]
    manifest = {"identity": plan.identity, **plan.description, "parts": listed}
    write_whole(out / MANIFEST, pretty_text(manifest).encode())
    known = {receipt.path: receipt.sha256 for receipt in receipts}
    digests = {name: known.get(name) or file_digest(out / name) for name, _ in listed_files(out)}
    write_whole(out / SUMS, sums_text(digests).encode())
    (out / PLAN).unlink(missing_ok=True)
    sweep(out)
    return content


def table_summary(plan: TablePlan, sums: Sums) -> dict[str, Any]:
    """The content of summary.json."""
    said = plan.description
    about = {"format": FORMAT, "identity": plan.identity, "table": "ehs"}
    return {**about, "street": said["street"], "boards": said["boards"], **summary(plan.street, sums)}
