"""The main job: from game files to a certified run directory, from scratch, resumed, or found complete."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from evaluator.classify import depends_on_order
from evaluator.payback import Outcome
from evaluator.rules import compile_rules
from evaluator.solve import plan_rows
from pipeline.certificate import Certificate, certificate, wins_table
from pipeline.config import Game, formula_faults
from pipeline.execute import Executor, Failure
from pipeline.faults import ConfigError, Fault
from pipeline.manifest import content_digest, identity, pretty_text, software
from pipeline.plan import Entry, Plan, Task, all_parts, count_parts, part_path, tasks
from pipeline.store import (
    LOCK,
    MANIFEST,
    PLAN,
    SUCCESS,
    SUMS,
    TEMPORARY,
    Receipt,
    append_log,
    claim,
    file_digest,
    listed_files,
    parquet_bytes,
    sums_text,
    sweep,
    write_whole,
    wrong_files,
)
from pipeline.tasks import Survey, run_task, survey

Progress = Callable[[int, int], None]
"""called with the parts that are done and the parts in all"""


class Identified(Protocol):
    """A plan, whatever it is about."""

    @property
    def identity(self) -> str:
        """Equal identities mean equal bytes."""


class Refused(RuntimeError):
    """The run directory cannot be used for this; nothing was changed."""


class Incomplete(RuntimeError):
    """The run could not finish; what is done is on disk, and `--resume` goes on from there."""


class Altered(RuntimeError):
    """A complete run does not have the digests that it was finished with."""


@dataclass(frozen=True)
class Run:
    """A complete run directory."""

    path: Path
    """where it is"""
    identity: str
    """equal identities mean equal bytes"""
    certificates: tuple[Certificate, ...]
    """in the order of the plan"""
    computed: bool
    """whether this call computed anything; False where the run was complete already"""
    parts: Mapping[str, int]
    """how many part files were found missing, sound, or damaged"""


def make_plan(games: Sequence[Game], tie_break: str, rows_per_part: int, all_holds: bool) -> Plan:
    """The plan for some games, each with the paytables that are to be certified."""
    if rows_per_part < 1:
        raise ConfigError([Fault("", "--rows-per-part", f"expected at least 1, found {rows_per_part}")])
    return Plan(tuple(map(_entry, games)), tie_break, rows_per_part, all_holds)


def _entry(game: Game) -> Entry:
    sources = tuple(game.source(table.name) for table in game.paytables)
    program = compile_rules(game.rules)
    ordered = tuple(number for number in range(len(program.wins)) if depends_on_order(program, number))
    return Entry(game.name, game.rules, game.paytables, sources, plan_rows(program), ordered)


def state(run: Path, plan: Identified) -> str:
    """What a run directory is to a plan: new, incomplete or complete. Raises `Refused` where it is something else."""
    if not run.exists() or (run.is_dir() and all(_leftover(path) for path in run.iterdir())):
        return "new"
    if not run.is_dir():
        raise Refused(f"{run} is a file; expected a directory, or a path where one can be made")
    complete = (run / SUCCESS).exists()
    # A run that is stopped just before it is marked complete has its manifest already, and its plan no longer.
    planned = not complete and (run / PLAN).exists()
    described = run / PLAN if planned else run / MANIFEST
    try:
        data = json.loads(described.read_text(encoding="utf-8"))
        found = identity(data) if planned else data["identity"]
    except (OSError, ValueError, KeyError, TypeError):
        raise Refused(f"{run} is not empty and not a run of autohold: {described.name} cannot be read") from None
    if found != plan.identity:
        raise Refused(
            f"{run} is a run of another identity: other games, options or software; take another directory\n"
            f"    expected {plan.identity}\n    found    {found}"
        )
    return "complete" if complete else "incomplete"


def _leftover(path: Path) -> bool:
    """Whether a file is what a run leaves behind that was stopped before it wrote its plan."""
    return path.name == LOCK or path.name.startswith(TEMPORARY)


def certify(
    games: Sequence[Game],
    out: Path,
    executor: Callable[[], Any],
    plan: Plan,
    resume: bool = False,
    progress: Progress = lambda done, total: None,
) -> Run:
    """Carry out a plan in the directory `out`; `executor` makes a context manager of an `Executor`.

    Nothing is written when the games have faults that only the cards show (`ConfigError`), when the directory holds
    something else, or an incomplete run without `resume` (`Refused`). Raises `Incomplete` where parts could not be
    made, `Altered` where a complete run has changed.
    """
    found = state(out, plan)
    if found == "complete":
        return _open_complete(out, plan)
    if found == "incomplete" and not resume:
        done = sum((out / path).exists() for _, _, path in all_parts(plan))
        raise Refused(
            f"{out} holds an incomplete run of this plan, {done} of {count_parts(plan)} parts; add --resume to go on"
        )
    with executor() as workers:
        surveys = _survey(games, plan, workers)
        with claim(out):
            return _carry_out(out, plan, workers, surveys, progress)


def _open_complete(out: Path, plan: Plan) -> Run:
    folders = [folder for entry in plan.entries for folder in entry.folders]
    findings = wrong_files(out, _files(plan)) + [f"{path}: is no part of this run" for path in _strays(out, plan)]
    if findings:
        raise Altered(f"{out} was complete and has changed since:\n    " + "\n    ".join(findings))
    contents = tuple(json.loads((out / folder / "certificate.json").read_text(encoding="utf-8")) for folder in folders)
    return Run(out, plan.identity, contents, False, {"sound": count_parts(plan)})


def _files(plan: Plan) -> list[str]:
    """Every file of the complete run that SHA256SUMS lists, from the run directory."""
    folders = [folder for entry in plan.entries for folder in entry.folders]
    made = [f"{folder}/{name}" for folder in folders for name in ("certificate.json", "wins.parquet")]
    return [MANIFEST, *made, *(path for _, _, path in all_parts(plan))]


def _strays(out: Path, plan: Plan) -> list[str]:
    """Parquet files that the plan does not make; who reads a strategy folder would read them too."""
    return sorted({path for path in listed_files(out) if path.endswith(".parquet")} - {*_files(plan)})


def _survey(games: Sequence[Game], plan: Plan, workers: Executor) -> list[Survey]:
    """Solve all rules before anything is written; raises `ConfigError` with the faults of all of them."""
    keys = [f"survey-{plan.identity[:12]}-{i}" for i in range(len(plan.entries))]
    results = dict(workers.map(_survey_entry, list(enumerate(plan.entries)), keys))
    faults: list[Fault] = []
    surveys: list[Survey] = []
    by_number = {number: result for (number, _), result in results.items()}
    for number, game in enumerate(games):
        result = by_number[number]
        if isinstance(result, Failure):
            raise Incomplete(f"{game.file}: its tables could not be built: {result.reason}")
        if result.refusal:
            faults.append(Fault(game.file, "deck", result.refusal))
        faults += formula_faults(game, result.errors)
        surveys.append(result)
    if faults:
        raise ConfigError(faults)
    return surveys


def _survey_entry(numbered: tuple[int, Entry]) -> Survey:
    return survey(numbered[1])


def _carry_out(out: Path, plan: Plan, workers: Executor, surveys: Sequence[Survey], progress: Progress) -> Run:
    began, clock = datetime.now(UTC), time.monotonic()
    sweep(out)
    if strays := _strays(out, plan):
        raise Refused(f"{out} has tables that are no part of this run; remove them:\n    " + "\n    ".join(strays))
    if not (out / PLAN).exists():
        write_whole(out / PLAN, plan.text.encode())
    append_log(
        out, [{"event": "start", "time": began.isoformat(), "identity": plan.identity, **circumstances(workers)}]
    )
    chosen = tasks(plan, 2 * workers.workers if workers.workers > 1 else 1)
    keys = [f"certify-{plan.identity[:12]}-{task.entry}-{task.start}" for task in chosen]
    receipts: dict[str, Receipt] = {}
    failures: list[str] = []
    total = count_parts(plan)
    for task, result in workers.map(partial(run_task, out.absolute(), plan.identity), chosen, keys):
        if isinstance(result, Failure):
            failures.append(f"{_task_name(plan, task)}: {result.reason}")
        else:
            receipts |= {receipt.path: receipt for receipt in result}
        progress(len(receipts), total)
    parts = _tally(receipts)
    append_log(out, [{"event": "damaged", "path": r.path, "found": r.found} for r in receipts.values() if _damaged(r)])
    if failures:
        append_log(out, [{"event": "stopped", "failures": failures}])
        raise Incomplete(
            f"{len(receipts)} of {total} parts are done; the others could not be made:\n    " + "\n    ".join(failures)
        )
    contents = _finish(out, plan, receipts, surveys)
    seconds = round(time.monotonic() - clock, 3)
    append_log(out, [{"event": "done", "time": datetime.now(UTC).isoformat(), "seconds": seconds, "parts": parts}])
    write_whole(out / SUCCESS, b"")
    return Run(out, plan.identity, contents, True, parts)


def circumstances(workers: Executor) -> dict[str, Any]:
    """Who, where and with what: everything that may differ between two equal runs."""
    return {
        "host": platform.node(),
        "pid": os.getpid(),
        "user": os.environ.get("USER", str(os.getuid())),
        "executor": workers.name,
        "versions": {**software(), "python": platform.python_version(), "numpy": np.__version__},
    }


def _task_name(plan: Plan, task: Task) -> str:
    return f"{plan.entries[task.entry].name}, parts {task.start} to {task.stop - 1}"


def _damaged(receipt: Receipt) -> bool:
    return receipt.found not in ("missing", "sound")


def _tally(receipts: Mapping[str, Receipt]) -> dict[str, int]:
    kinds = ["damaged" if _damaged(receipt) else receipt.found for receipt in receipts.values()]
    return {kind: kinds.count(kind) for kind in ("missing", "sound", "damaged") if kind in kinds}


def _finish(
    out: Path, plan: Plan, receipts: Mapping[str, Receipt], surveys: Sequence[Survey]
) -> tuple[Certificate, ...]:
    """Certificates and wins from the receipts, then the manifest and the sums."""
    contents: list[Certificate] = []
    listed: list[dict[str, Any]] = []
    for number, (entry, shown) in enumerate(zip(plan.entries, surveys, strict=True)):
        for table, folder in enumerate(entry.folders):
            paths = [part_path(folder, part) for part in range(plan.parts(number))]
            outcome = sum((receipts[path].outcome for path in paths), Outcome.none_of(entry.paytables[table]))
            content = certificate(plan, number, table, outcome, shown.warnings[table], shown.meters[table])
            wins = wins_table(content)
            write_whole(out / folder / "wins.parquet", parquet_bytes(wins, {}))
            write_whole(out / folder / "certificate.json", pretty_text(content).encode())
            listed += [{"path": path, "rows": receipts[path].rows, "content": receipts[path].content} for path in paths]
            listed.append({"path": f"{folder}/wins.parquet", "rows": wins.num_rows, "content": content_digest(wins)})
            contents.append(content)
    manifest = {"identity": plan.identity, **plan.description, "parts": listed}
    write_whole(out / MANIFEST, pretty_text(manifest).encode())
    known = {path: receipt.sha256 for path, receipt in receipts.items()}
    sums = {name: known.get(name) or file_digest(out / name) for name in _files(plan)}
    write_whole(out / SUMS, sums_text(sums).encode())
    (out / PLAN).unlink(missing_ok=True)
    sweep(out)
    return tuple(contents)
