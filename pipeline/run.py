"""The main job: from game files to a certified run directory, from scratch, resumed, or found complete."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from evaluator.classify import depends_on_order
from evaluator.rules import compile_rules
from evaluator.solve import plan_rows
from pipeline.certificate import Certificate
from pipeline.config import Game, formula_faults
from pipeline.estimate import estimate, task_seconds
from pipeline.events import Event, Report, Stages, event, failed_parts, ignore, tell
from pipeline.execute import Executor, Failure, call_all
from pipeline.faults import ConfigError, Fault, count, slug
from pipeline.finish import finish
from pipeline.gather import Gathered
from pipeline.location import TEMPORARY, Location, children, sweep, walk, write_whole
from pipeline.lock import LOCK, Claim, InUse, claim, refuse_if_claimed
from pipeline.manifest import differences, identity
from pipeline.plan import Entry, Plan, count_parts, part_number, part_path, run_files, single_parts, tasks
from pipeline.same import installed
from pipeline.store import (
    MANIFEST,
    PLAN,
    SUCCESS,
    append_log,
    listed_files,
    read_head,
    wrong_files,
)
from pipeline.tasks import Survey, run_task, survey

SLURM = {"job": "SLURM_JOB_ID", "restarts": "SLURM_RESTART_COUNT", "array_task": "SLURM_ARRAY_TASK_ID"}
"""what the log says of a job -> the environment variable that has it"""
Progress = Callable[[int, int], None]
"""called with the parts that are done and the parts in all"""


class Identified(Protocol):
    """A plan, whatever it is about."""

    @property
    def identity(self) -> str:
        """Equal identities mean equal bytes."""

    @property
    def description(self) -> dict[str, Any]:
        """What the identity is of."""


class Refused(RuntimeError):
    """The run directory cannot be used for this; nothing was changed."""


class Incomplete(RuntimeError):
    """The run could not finish; what is done is on disk, and `--resume` goes on from there."""


class Altered(RuntimeError):
    """A complete run does not have the digests that it was finished with."""


@dataclass(frozen=True, repr=False)
class Run:
    """A complete run directory; a notebook shows it as a table of its paytables."""

    path: Location
    """where it is"""
    identity: str
    """equal identities mean equal bytes"""
    certificates: tuple[Certificate, ...]
    """in the order of the plan"""
    computed: bool
    """whether this call computed anything; False where the run was complete already"""
    parts: Mapping[str, int]
    """how many part files were found missing, sound, or damaged"""
    seconds: float = 0.0
    """how long it took to compute"""

    def __repr__(self) -> str:
        return f"<run {self.path}: {count(len(self.certificates), 'paytable')}, identity {self.identity[:12]}>"

    def _repr_html_(self) -> str:
        from pipeline.notebook import run_html

        return run_html(str(self.path), self.certificates)


def make_plan(
    games: Sequence[Game], tie_break: str, rows_per_part: int, all_holds: bool, sensitivity: bool = False
) -> Plan:
    """The plan for some games, each with the paytables that are to be certified."""
    if rows_per_part < 1:
        raise ConfigError([Fault("", "--rows-per-part", f"expected at least 1, found {rows_per_part}")])
    return Plan(tuple(map(_entry, games)), tie_break, rows_per_part, all_holds, sensitivity)


def _entry(game: Game) -> Entry:
    sources = tuple(game.source(table.name) for table in game.paytables)
    program = compile_rules(game.rules)
    ordered = tuple(number for number in range(len(program.wins)) if depends_on_order(program, number))
    return Entry(game.name, game.rules, game.paytables, sources, plan_rows(program), ordered)


def state(run: Location, plan: Identified) -> str:
    """What a run directory is to a plan: new, incomplete or complete. Raises `Refused` where it is something else."""
    try:
        names = [name for name in children(run) if name != LOCK and not name.startswith(TEMPORARY)]
    except NotADirectoryError:
        if not run.exists():
            raise  # something above it is a file
        raise Refused(f"{run} is a file; expected a directory, or a path where one can be made") from None
    if not names:  # or what a run leaves behind that was stopped before it wrote its plan
        return "new"
    complete = SUCCESS in names
    # A run that is stopped just before it is marked complete has its manifest already, and its plan no longer.
    planned = not complete and PLAN in names
    try:
        there = json.loads((run / PLAN).read_text(encoding="utf-8")) if planned else read_head(run)
        found = identity(there) if planned else there["identity"]
        others = [] if found == plan.identity else differences(plan.description, there)
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        name = PLAN if planned else MANIFEST
        raise Refused(f"{run} is not empty and not a run of autohold: {name} cannot be read") from None
    if found != plan.identity:
        lines = [f"{run} is a run of another identity; take another directory, or what it was made with"]
        lines += [f"identity: expected {plan.identity}, found {found}", *others]
        raise Refused("\n    ".join(lines))
    return "complete" if complete else "incomplete"


def certify(
    games: Sequence[Game],
    out: Location,
    executor: Callable[[], Any],
    plan: Plan,
    resume: bool = False,
    report: Report = ignore,
) -> Run:
    """Carry out a plan in the directory `out`; `executor` makes a context manager of an `Executor`.

    `report` is told of every event of the log, and of `progress` when a task is done.

    Nothing is written when the games have faults that only the cards show (`ConfigError`), when the directory holds
    something else, or an incomplete run without `resume` (`Refused`). Raises `Incomplete` where parts could not be
    made, `Altered` where a complete run has changed.
    """
    found = state(out, plan)
    if found == "complete":
        return open_complete(out, plan)
    refuse_if_claimed(out)
    if found == "incomplete" and not resume:
        done = f"{_parts_there(out, plan)} of {count_parts(plan)} parts"
        raise Refused(f"{out} holds an incomplete run of this plan, {done}; add --resume to go on")
    stages = Stages()
    with executor() as workers:
        stages.end("connect")
        _check_memory(plan, workers)
        surveys = _survey(games, plan, workers, report)
        stages.end("survey")
        with claim(out) as claimed:
            if state(out, plan) == "complete":  # by another process, since the first look
                return open_complete(out, plan)
            return _carry_out(out, plan, workers, surveys, claimed, stages, report)


def _check_memory(plan: Plan, workers: Executor) -> None:
    """Raise `Refused` where a worker would be killed for the memory that a task takes."""
    most, needed = workers.memory, estimate(plan).memory
    if most is not None and needed > most:
        raise Refused(
            f"a task needs about {needed >> 20:,} MiB, and a worker of {workers.name} has {most >> 20:,} MiB for each "
            "thread; take workers with more memory or fewer threads, or fewer --rows-per-part"
        )


def open_complete(out: Location, plan: Plan) -> Run:
    """A complete run of a plan, all its files compared with their digests; raises `Altered`."""
    folders = [folder for entry in plan.entries for folder in entry.folders]
    findings = wrong_files(out, run_files(plan)) + [f"{path}: is no part of this run" for path in _strays(out, plan)]
    if findings:
        raise Altered(f"{out} was complete and has changed since:\n    " + "\n    ".join(findings))
    texts = ((out / folder / "certificate.json").read_text(encoding="utf-8") for folder in folders)
    contents = tuple(Certificate(json.loads(text)) for text in texts)
    return Run(out, plan.identity, contents, False, {"sound": count_parts(plan)})


def _strays(out: Location, plan: Plan) -> list[str]:
    """Parquet files that the plan does not make; who reads a strategy folder would read them too."""
    parts = _parts(plan)
    return sorted(path for path, _ in listed_files(out) if path.endswith(".parquet") and not _ours(path, parts))


def _parts_there(out: Location, plan: Plan) -> int:
    """How many parts of the plan are there, whatever is in them."""
    parts = _parts(plan)
    return sum("/strategy/" in path and _ours(path, parts) for path, _ in walk(out))


def _parts(plan: Plan) -> dict[str, int]:
    """Folder of a paytable -> parts of its strategy table."""
    return {folder: plan.parts(number) for number, entry in enumerate(plan.entries) for folder in entry.folders}


def _ours(path: str, parts: Mapping[str, int]) -> bool:
    """Whether a plan with these parts makes a Parquet file of that path."""
    folder, _, name = path.rpartition("/")
    if folder in parts:
        return name == "wins.parquet"
    with suppress(ValueError):
        folder, part = part_number(path)
        return folder in parts and part < parts[folder] and path == part_path(folder, part)
    return False


def _survey(games: Sequence[Game], plan: Plan, workers: Executor, report: Report) -> list[Survey]:
    """Solve all rules before anything is written; raises `ConfigError` with the faults of all of them."""
    work, entries = partial(_survey_entry, plan.sensitivity), list(enumerate(plan.entries))
    by_number: dict[int, Survey | Failure] = {}

    def step() -> None:
        report(event("step", message=f"surveying games, {len(by_number)} of {len(entries)}"))

    step()
    for (number, _), found in call_all(workers, work, entries, lambda each: _key("tables", plan, each[0]), report):
        by_number[number] = found
        step()
    faults: list[Fault] = []
    surveys: list[Survey] = []
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


def _survey_entry(sensitivity: bool, numbered: tuple[int, Entry]) -> Survey:
    return survey(numbered[1], sensitivity)


def _key(what: str, plan: Plan, number: int, part: int = 0) -> str:
    """Names a call; dashboards group calls by the words before the first number: ``certify-jacks-or-better``."""
    return f"{what}-{slug(plan.entries[number].name)}-{number}-{part}-{plan.identity[:12]}"


def _carry_out(
    out: Location, plan: Plan, workers: Executor, surveys: Sequence[Survey], claimed: Claim, stages: Stages,
    watch: Report,
) -> Run:  # fmt: skip
    report = tell(lambda happened: append_log(out, [happened]), watch)
    sweep(out)
    if strays := _strays(out, plan):
        raise Refused(f"{out} has tables that are no part of this run; remove them:\n    " + "\n    ".join(strays))
    if PLAN not in children(out):
        write_whole(out / PLAN, plan.text.encode())
    report(event("start", identity=plan.identity, **circumstances(workers), **_sizes(plan)))
    gathered = Gathered(plan)
    try:
        _make_parts(out, plan, workers, gathered, report, watch)
        stages.end("parts")
        watch(event("step", message="writing certificates"))
        claimed.check()
        contents = finish(out, plan, gathered, surveys)
        stages.end("certificates")
        claimed.check()
    except InUse:
        raise  # the log is another one's now
    except BaseException as problem:
        reason = str(problem).splitlines()[0].rstrip(":") if str(problem) else type(problem).__name__
        with suppress(OSError):
            report(event("stopped", reason=reason, parts=dict(gathered.found), seconds=stages.total))
        raise
    parts = dict(gathered.found)
    spent = {entry.name: round(seconds, 3) for entry, seconds in zip(plan.entries, gathered.seconds, strict=True)}
    report(event("done", parts=parts, seconds=stages.total, stages=stages.seconds, processor_seconds=spent))
    write_whole(out / SUCCESS, b"")
    return Run(out, plan.identity, contents, True, parts, stages.total)


def _make_parts(
    out: Location, plan: Plan, workers: Executor, gathered: Gathered, report: Report, watch: Report
) -> None:
    """Have all tasks done; raises `Incomplete` where some could not be."""
    chosen = tasks(plan, 2 * workers.workers if workers.workers > 1 else 1)
    work = partial(run_task, out.absolute(), plan.identity)
    failures: list[Event] = []
    worked, whole = 0.0, sum(task_seconds(plan, task) for task in chosen)

    def progress() -> None:
        parts = {"parts_done": gathered.done, "parts": gathered.total}
        games = {"games_done": gathered.games, "games": len(plan.entries)}
        watch(event("progress", **parts, **games, work_done=round(worked / whole, 6)))

    progress()
    for task, result in call_all(
        workers, work, chosen, lambda task: _key("certify", plan, task.entry, task.start), report, single_parts
    ):
        if isinstance(result, Failure):
            game, parts = plan.entries[task.entry].name, [task.start, task.stop - 1]
            failures.append(event("failed", game=game, parts=parts, reason=result.reason))
            report(failures[-1])
        else:
            gathered.add(result)
            for receipt in result:
                if receipt.damaged:
                    report(event("damaged", path=receipt.path, found=receipt.found))
        worked += task_seconds(plan, task)
        progress()
    if failures:
        sweep(out)
        raise Incomplete(
            f"{gathered.done} of {gathered.total} parts are done; the others could not be made:\n    "
            + "\n    ".join(failed_parts(failures))
        )
    if missing := gathered.total - _parts_there(out, plan):
        raise Incomplete(
            f"{missing} of {gathered.total} parts were made and are not in {out}: "
            "they were removed since, or it is not the same place on all workers"
        )


def _sizes(plan: Plan) -> dict[str, int]:
    tables = sum(len(entry.paytables) for entry in plan.entries)
    return {"games": len(plan.entries), "paytables": tables, "parts": count_parts(plan)}


def circumstances(workers: Executor) -> dict[str, Any]:
    """Who, where and with what: everything that may differ between two equal runs."""
    batch = {key: os.environ[name] for key, name in SLURM.items() if name in os.environ}
    return {
        "host": platform.node(),
        "pid": os.getpid(),
        "user": os.environ.get("USER", str(os.getuid())),
        "executor": workers.name,
        **({} if not batch else {"slurm": batch}),
        "versions": installed(),
    }
