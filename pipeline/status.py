"""What a run directory is, without computing: complete, or how far it got, who writes it, what its log says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.events import Event
from pipeline.faults import ConfigError, Fault
from pipeline.location import Location, children, lines
from pipeline.lock import holder
from pipeline.manifest import canonical_text, identity, software
from pipeline.plan import part_path, read_plan, run_files
from pipeline.store import LOG, MANIFEST, PLAN, SUCCESS, SUMS, read_head, read_part, read_sums, wrong_files

COMPLETE, INCOMPLETE, DAMAGED = "complete", "incomplete", "damaged"
SINCE_START = {
    "failed": {"game", "parts", "reason"},
    "damaged": {"path", "found"},
    "worker lost": {"worker"},
    "jobs lost": {"jobs", "reason"},
}
"""events that are shown when they are of the last time the command was started -> what each says at least"""


@dataclass(frozen=True)
class GameStatus:
    """One game of a run, or the table of a street."""

    name: str
    """of the game or the street"""
    paytables: int
    """how many; 0 for a table of a street"""
    parts: int
    """part files in all"""
    done: int
    """part files that are there"""


@dataclass(frozen=True)
class Status:
    """A run directory as it is now."""

    run: str
    """where it is"""
    state: str
    """complete, incomplete, or damaged where it was complete; what is damaged of an incomplete run is made again"""
    identity: str
    """of its plan"""
    software: Mapping[str, str]
    """that decides its bytes"""
    resumable: bool
    """whether it is incomplete and the software here is the same"""
    games: tuple[GameStatus, ...]
    """in the order of the plan"""
    in_use: Mapping[str, Any] | None
    """who writes it: host, pid, and job if it is one of a batch system"""
    started: Event | None
    """the last start in its log"""
    ended: Event | None
    """how that ended; None where it goes on, or was killed"""
    happened: tuple[Event, ...]
    """parts that failed or were damaged, and workers that were lost, since that start"""
    findings: tuple[str, ...]
    """what is wrong with its files"""
    digests: bool
    """whether files were read and compared with their digests, not only looked for"""

    @property
    def parts(self) -> int:
        """Part files in all."""
        return sum(game.parts for game in self.games)

    @property
    def done(self) -> int:
        """Part files that are there."""
        return sum(game.done for game in self.games)

    def values(self) -> dict[str, Any]:
        """The status as plain values for JSON."""
        return {**asdict(self), "parts": self.parts, "parts_done": self.done}


def status(run: Location, digests: bool = False) -> Status:
    """Look at a run directory; raises `ConfigError` where it is none.

    Files are looked for by name; with `digests` they are read too, and compared with what is said of them.
    """
    complete, described, said = _described(run)
    games, findings = [], []
    try:
        tables_of = list(_tables(described))
    except (KeyError, ValueError, TypeError, AttributeError) as problem:
        made = ", ".join(f"{name} {value}" for name, value in described.get("software", {}).items())
        message = f"is of another version of autohold, or damaged: {type(problem).__name__}: {problem}; it says {made}"
        raise ConfigError([Fault(str(run), MANIFEST, message)]) from None
    for name, tables, folders, parts in tables_of:
        there = [_parts_there(run, folder, parts) for folder in folders]
        games.append(GameStatus(name, tables, parts * len(folders), sum(map(len, there))))
        if digests and tables and not complete:
            paths = [part_path(f.removesuffix("/strategy"), p) for f, found in zip(folders, there, strict=True)
                     for p in sorted(found)]  # fmt: skip
            receipts = (read_part(run, said, path) for path in paths)
            findings += [f"{receipt.path}: {receipt.found}" for receipt in receipts if receipt.found != "sound"]
    if identity(described) != said:
        findings.append(f"{MANIFEST}: its identity is not that of what it describes")
    if complete:
        findings += _complete_findings(run, described, digests)
    started, ended, happened = _last(run)
    state = INCOMPLETE if not complete else DAMAGED if findings else COMPLETE
    who = holder(run)
    same = described.get("software") == software()
    kept = ("host", "pid", "job", "since")
    in_use = None if who is None else {key: who[key] for key in kept if who.get(key)}
    return Status(
        str(run), state, said, described.get("software", {}), not complete and same, tuple(games), in_use,
        started, ended, happened, tuple(findings), digests,
    )  # fmt: skip


def _described(run: Location) -> tuple[bool, dict[str, Any], str]:
    """Whether a run is complete, what it is about, and its identity."""
    names = children(run)
    complete = SUCCESS in names
    name = PLAN if PLAN in names and not complete else MANIFEST
    try:
        data = json.loads((run / PLAN).read_text(encoding="utf-8")) if name == PLAN else read_head(run)
        said = identity(data) if name == PLAN else data["identity"]
        described = {key: value for key, value in data.items() if key not in ("identity", "parts")}
        if "games" not in described and "street" not in described:
            raise KeyError("games")
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        what = "is empty" if not names else f"is not a run of autohold: {name} cannot be read"
        raise ConfigError([Fault(str(run), "", what if run.exists() else "is not there")]) from None
    return complete, described, said


def _tables(described: dict[str, Any]) -> Iterable[tuple[str, int, list[str], int]]:
    """Name, paytables, folders with parts, and parts in each folder, for every game, or for a street."""
    if "street" in described:
        first, last = described["boards"]
        parts = -(-(last - first) // described["boards_per_part"])
        yield described["street"], 0, [f"{described['street']}/ehs"], parts
        return
    plan = read_plan(canonical_text(described))
    for number, entry in enumerate(plan.entries):
        folders = [f"{folder}/strategy" for folder in entry.folders]
        yield entry.name, len(folders), folders, plan.parts(number)


def _parts_there(run: Location, folder: str, parts: int) -> set[int]:
    """Numbers of the part files of a folder."""
    matches = (re.fullmatch(r"part-(\d{5})\.parquet", name) for name in children(run / folder))
    return {int(match[1]) for match in matches if match and int(match[1]) < parts}


def _complete_findings(run: Location, described: dict[str, Any], digests: bool) -> list[str]:
    """What is wrong with the files of a complete run."""
    ours = run_files(read_plan(canonical_text(described))) if "games" in described else ()
    if digests:
        return wrong_files(run, ours)
    try:
        sums = read_sums(run)
    except FileNotFoundError:
        return [f"{SUMS}: is missing"]
    folders: dict[str, set[str]] = {}
    findings = [f"{SUMS}: {path} is not listed" for path in ours if path not in sums]
    for path in sums:
        folder, _, name = path.rpartition("/")
        if folder not in folders:
            folders[folder] = set(children(run / folder if folder else run))
        if name not in folders[folder]:
            findings.append(f"{path}: is missing")
    return findings


def _last(run: Location) -> tuple[Event | None, Event | None, tuple[Event, ...]]:
    """The last start in the log, how it ended, and what is to be known of between."""
    started: Event | None = None
    ended: Event | None = None
    happened: list[Event] = []
    try:
        for line in lines(run / LOG):
            try:
                said = json.loads(line)
            except ValueError:
                continue  # a client was killed while it wrote
            kind = str(said.get("event")) if isinstance(said, dict) else ""
            if kind == "start":
                started, ended, happened = said, None, []
            elif kind in ("done", "stopped"):
                ended = said
            elif kind in SINCE_START and SINCE_START[kind] <= said.keys():
                happened.append(said)
    except FileNotFoundError:
        pass
    return started, ended, tuple(happened)
