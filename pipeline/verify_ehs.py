"""Verification of a table of hand strength: every finding, as `pipeline.verify` does for certificates.

Levels: `tables`, the default as well, compares every file with SHA256SUMS and reads every part: its rows must be the
classes of its boards, its counts must add up, its rounded columns and its receipt must follow from its counts. `sample`
counts some rows again, one hand at a time; `recompute` makes every part again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa

from evaluator.holdem.ranks import HOLE_CARDS
from evaluator.holdem.strength import strength
from evaluator.holdem.tables import Rows, Street, board_classes, canonical_boards, rows_of
from evaluator.symmetry import ProofError
from pipeline.check_table import UNREADABLE, numbers, read_table
from pipeline.faults import ConfigError
from pipeline.findings import Findings, Verification
from pipeline.holdem import SUMMARY, TablePlan, table_summary
from pipeline.holdem_rows import CELLS, RESULTS, STANDINGS, Sums, arrow_table, check_sums, plain_sums, sums_of
from pipeline.location import Location, tree
from pipeline.manifest import FORMAT, content_digest, identity, software
from pipeline.store import MANIFEST, RECEIPT
from pipeline.verify import Progress, check_files, check_listed, check_marks, read_json


def verify_table(
    run: Location,
    *,
    sample: int = 0,
    seed: int = 0,
    recompute: bool = False,
    progress: Progress = lambda text: None,
) -> Verification:
    """Everything that is wrong with a run directory that `pipeline.verify.is_table`; it is only read."""
    findings, notes = Findings(), list[str]()
    checked = {"files": 0, "bytes": 0, "tables": 0, "rows": 0, "sampled_hands": 0, "recomputed_parts": 0}
    there = tree(run)
    check_marks(run, there, findings)
    manifest = read_json(run / MANIFEST, MANIFEST, findings) or {}
    plan = _read_plan(manifest, findings, notes)
    check_files(run, there, None, {}, findings, checked)
    said = str(manifest.get("identity", ""))
    if plan is not None:
        _check_names(there, plan, findings)
    if plan is not None:
        checked["tables"] = 1
        checker = _Checker(run, said, plan, findings, sample, seed, recompute)
        for part in range(plan.parts):
            if recompute:
                progress(plan.path(part))
            checker.check(part)
        checker.end(manifest.get("parts"))
        checked |= {"rows": checker.rows, "sampled_hands": checker.sampled, "recomputed_parts": checker.recomputed}
    level = "recompute" if recompute else "sample" if sample else "tables"
    return Verification(said, level, findings.found, tuple(notes), checked)


def _read_plan(manifest: dict[str, Any], findings: Findings, notes: list[str]) -> TablePlan | None:
    if findings.differ("manifest", MANIFEST, "format number", FORMAT, manifest.get("format")):
        return None
    described = {key: value for key, value in manifest.items() if key not in ("identity", "parts")}
    message = "identity: SHA-256 of what it describes"
    findings.differ("manifest", MANIFEST, message, identity(described), manifest.get("identity"))
    if described.get("software") != software():
        notes.append("made by another version of autohold or pyarrow")
    try:
        start, stop = map(int, described["boards"])
        return TablePlan(Street[described["street"].upper()], start, stop, int(described["boards_per_part"]))
    except (*UNREADABLE, ConfigError) as problem:
        findings.add("manifest", MANIFEST, f"describes no plan: {type(problem).__name__}: {problem}")
        return None


def _check_names(there: Mapping[str, int], plan: TablePlan, findings: Findings) -> None:
    wanted = {f"{plan.folder}/{SUMMARY}", *map(plan.path, range(plan.parts))}
    for name in sorted(wanted - there.keys()):
        findings.add("missing", name, "is missing")
    for name in sorted({name for name in there if name.startswith(f"{plan.folder}/")} - wanted):
        findings.add("unexpected", name, "belongs to no part of the manifest")


class _Checker:
    """Checks part after part and adds up."""

    def __init__(
        self, run: Location, said: str, plan: TablePlan, findings: Findings, sample: int, seed: int, recompute: bool
    ) -> None:
        self._run, self._said, self._plan, self._findings = run, said, plan, findings
        self._recompute, self._boards = recompute, canonical_boards(plan.street)
        self._draws = np.bincount(
            np.random.default_rng(seed).integers(plan.parts, size=sample), minlength=plan.parts
        ).tolist()
        self._random = np.random.default_rng(seed)
        self._sums: Sums | None = None
        self._whole = True
        self._listed: list[dict[str, Any]] = []
        self.rows = self.sampled = self.recomputed = 0

    def check(self, part: int) -> None:
        """Everything about one part."""
        path, street = self._plan.path(part), self._plan.street
        table = read_table(self._run / path, path, self._findings)
        rows = None if table is None else self._rows(part, table)
        if table is None or rows is None:
            self._whole = False
            return
        self.rows += table.num_rows
        content = content_digest(table)
        self._listed.append({"path": path, "rows": table.num_rows, "content": content})
        sums = sums_of(street, rows)
        self._sums = sums if self._sums is None else self._sums.plus(sums)
        said = {"identity": self._said, "path": path, "rows": table.num_rows, "content": content}
        self._check_receipt(path, table, {**said, "outcome": plain_sums(sums)})
        for row in self._random.integers(table.num_rows, size=self._draws[part]).tolist():
            self._check_hand(path, rows, row)
        if self._recompute:
            again = rows_of(street, self._boards[slice(*self._plan.block(part))])
            self.recomputed += 1
            if not arrow_table(street, again).equals(table):
                self._findings.add("recompute", path, "its values are not those that come out again")

    def _rows(self, part: int, table: pa.Table) -> Rows | None:
        """The rows of a part, if they are the classes of its boards and their counts and shares fit."""
        path, street, findings = self._plan.path(part), self._plan.street, self._findings
        boards = self._boards[slice(*self._plan.block(part))]
        board, hole, weight = board_classes(boards)
        if findings.differ("rows", path, "rows of the part", len(hole), table.num_rows):
            return None
        try:
            pairs = {
                look: np.stack([numbers(table, f"hp{look}_{cell}") for cell in CELLS], axis=1).reshape(-1, 3, 3)
                for look in street.looks
            }
            squares = np.zeros(len(hole), np.int64) if street is Street.RIVER else numbers(table, "sum_sq")
            if street.looks:
                runs = comb(52 - street.value - 4, street.looks[0])
                now = (pairs[street.looks[0]].sum(axis=2) // runs).astype(np.int32)
            else:
                names = RESULTS if street is Street.PREFLOP else STANDINGS
                now = np.stack([numbers(table, name) for name in names], axis=1)
        except UNREADABLE as problem:
            findings.add("schema", path, f"its columns are others: {problem}")
            return None
        wrong = (now.sum(axis=1) != street.opponents) | (now < 0).any(axis=1)
        for look, counts in pairs.items():
            sums = counts.sum(axis=2) != comb(52 - street.value - 4, look) * now
            wrong |= (counts < 0).any(axis=(1, 2)) | sums.any(axis=1)
        for row in np.flatnonzero(wrong)[:1].tolist():
            findings.add("row", path, f"row {row}: its counts do not add up to all opponents and run-outs")
        rows = Rows(boards[board], HOLE_CARDS[hole], weight, now, pairs, squares)
        derived = arrow_table(street, rows)
        for name in derived.column_names:
            if name not in table.column_names or not derived.column(name).equals(table.column(name)):
                findings.add("row", path, f"column {name} is not what the boards and the counts make it")
        if not derived.schema.equals(table.schema.remove_metadata(), check_metadata=True):
            findings.add("schema", path, "columns, types, units or meanings are others")
        return rows

    def _check_receipt(self, path: str, table: pa.Table, expected: dict[str, Any]) -> None:
        try:
            said = json.loads(table.schema.metadata[RECEIPT])
            said.pop("check")
        except UNREADABLE as problem:
            self._findings.add("receipt", path, f"is none: {type(problem).__name__}")
            return
        for key, value in expected.items():
            self._findings.differ("receipt", path, key, value, said.get(key))

    def _check_hand(self, path: str, rows: Rows, row: int) -> None:
        """A row against the direct count of its hand, which before the flop would take too long."""
        if self._plan.street is Street.PREFLOP:
            return
        hole, board = rows.holes[row].tolist(), rows.boards[row].tolist()
        self.sampled += 1
        for look in self._plan.street.looks or (0,):
            found = strength(hole, board, look)
            counts = found.pairs if look else found.now
            mine = (rows.pairs[look] if look else rows.now)[row].tolist()
            message = f"row {row}, {look} cards ahead"
            self._findings.differ("sample", path, message, json.dumps(counts), json.dumps(mine))

    def end(self, parts: Any) -> None:
        """What must hold for all parts together, and the summary."""
        check_listed(self._listed, parts, self._findings)
        path = f"{self._plan.folder}/{SUMMARY}"
        summary = read_json(self._run / path, path, self._findings)
        if self._sums is None or not self._whole:
            return
        try:
            check_sums(self._plan.street, self._sums, self._plan.whole)
        except ProofError as problem:
            self._findings.add("totals", self._plan.folder, str(problem))
        if summary is not None:
            wanted = {**table_summary(self._plan, self._sums), "identity": self._said}
            for key in sorted(wanted.keys() | summary.keys()):
                self._findings.differ("totals", path, key, wanted.get(key, ""), summary.get(key, ""))
