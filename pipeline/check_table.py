"""Checks of a strategy table: schema, footers, order, every row by itself, and the sums that its columns give.

Nothing here solves a game: all is integer arithmetic on the columns. A row says how its hold's draws end, so the
columns give the combinations of the cycle again, and with them what the certificate must say.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from evaluator.holds import HELD, cycle_factor, deal_count, draw_counts, exact_type
from evaluator.payback import Outcome, line_units
from evaluator.rules import Paytable
from pipeline.faults import slug
from pipeline.findings import Findings
from pipeline.location import Location, each
from pipeline.manifest import content_digest, number_bytes
from pipeline.plan import Entry, Plan, part_path
from pipeline.store import RECEIPT, read_outcome
from pipeline.strategy import NOTHING, arrow_schema, card_letters, card_texts, columns

UNREADABLE = (pa.ArrowException, OSError, KeyError, ValueError, TypeError, AttributeError, MemoryError)
"""what reading a damaged file may raise"""


@dataclass(frozen=True)
class Part:
    """A part of a strategy table as it was found."""

    path: str
    """from the run directory"""
    content: str
    """content digest of the values; empty where it could not be read"""
    rows: int
    """rows in the file"""
    outcome: Outcome | None
    """the sums over its rows: from the columns, and from the receipt what the columns do not tell"""


def numbers(table: pa.Table, name: str) -> NDArray[Any]:
    """(rows,): a column of integers or floats; text of integers as Python integers."""
    column = table.column(name).combine_chunks()
    if pa.types.is_string(column.type):
        return np.array([int(text) for text in column.to_pylist()], dtype=object)
    return np.frombuffer(number_bytes(column), np.dtype(column.type.to_pandas_dtype()))


def read_table(path: Location, place: str, findings: Findings) -> pa.Table | None:
    """A Parquet file, whole; None with a finding where it cannot be read."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None  # found with the files
    try:
        table = pq.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
        table.validate(full=True)
    except UNREADABLE as problem:
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        kind = "unreadable" if content[-4:] == b"PAR1" else "truncated"
        findings.add(kind, place, f"is not Parquet: {reason}")
        return None
    return table


def check_table(run: Location, identity: str, plan: Plan, number: int, table: int, findings: Findings) -> list[Part]:
    """All parts of a strategy table; findings are added as they come."""
    entry, paytable = plan.entries[number], plan.entries[number].paytables[table]
    folder = entry.folders[table]
    checker = _Rows(entry, paytable, plan.all_holds, findings)
    parts = []
    for part in range(plan.parts(number)):
        path = part_path(folder, part)
        found = read_table(run / path, path, findings)
        if found is None:
            parts.append(Part(path, "", 0, None))
            continue
        start, stop = plan.rows(number, part)
        if not entry.ordered:
            findings.differ("rows", path, "rows of the part", stop - start, found.num_rows)
        wanted = arrow_schema(columns(entry.rules, paytable, plan.all_holds, bool(entry.ordered)))
        fits = _check_schema(path, wanted, found.schema, findings)
        derived = checker.check(path, found) if fits else None
        parts.append(_check_receipt(identity, path, found, derived, findings))
    checker.end(f"{folder}/strategy", all(part.content for part in parts))
    return parts


def _check_schema(path: str, wanted: pa.Schema, found: pa.Schema, findings: Findings) -> bool:
    """Whether the columns are those wanted, so that their values can be looked at."""
    names = findings.differ("schema", path, "columns", ", ".join(wanted.names), ", ".join(found.names))
    if names:
        return False
    kinds = False
    for mine, theirs in zip(wanted, found, strict=True):
        kinds |= findings.differ("schema", path, f"type of {mine.name}", str(mine.type), str(theirs.type))
        findings.differ("schema", path, f"nulls in {mine.name}", mine.nullable, theirs.nullable)
        findings.differ("schema", path, f"unit and meaning of {mine.name}", mine.metadata, theirs.metadata)
    return not kinds


def _check_receipt(identity: str, path: str, table: pa.Table, derived: Outcome | None, findings: Findings) -> Part:
    """What the footer of a part says, against the part; the sums of the part."""
    receipt = _read_receipt(identity, path, table.schema.metadata, table.num_rows, findings)
    content = content_digest(table)
    if receipt is None:
        return Part(path, content if derived else "", table.num_rows, None)
    said, outcome = receipt
    findings.differ("digest", path, "content digest in the footer", content, said)
    if derived is None:
        return Part(path, content, table.num_rows, None)
    known = {"rows", "deals", "tied_deals"} | ({"combinations", "hits", "squares", "squared_means"} if len(
        derived.combinations) == len(outcome.combinations) else set())  # fmt: skip
    for name in sorted(known):
        findings.differ("totals", path, f"{name} of the part, by its columns and in its footer",
                        getattr(derived, name), getattr(outcome, name))  # fmt: skip
    if "combinations" not in known:
        findings.differ("totals", path, "combinations of the part, by its columns and in its footer",
                        derived.combinations, outcome.by_line)  # fmt: skip
    return Part(path, content, table.num_rows, replace(outcome, **{name: getattr(derived, name) for name in known}))


def _read_receipt(
    identity: str, path: str, metadata: Mapping[bytes, bytes] | None, rows: int, findings: Findings
) -> tuple[str, Outcome] | None:
    """The content digest and the sums that a footer states, for that run, place and number of rows."""
    try:
        said = json.loads((metadata or {})[RECEIPT])
        outcome = read_outcome(said["outcome"])
        findings.differ("receipt", path, "identity of the run in the footer", identity, said["identity"])
        findings.differ("receipt", path, "place in the footer", path, said["path"])
        findings.differ("receipt", path, "rows in the footer", rows, said["rows"])
        return str(said["content"]), outcome
    except UNREADABLE as problem:
        findings.add("receipt", path, f"its footer has no receipt of autohold: {problem}")
        return None


def check_receipts(
    run: Location, identity: str, plan: Plan, number: int, table: int, sums: Mapping[str, str],
    digests: dict[str, str], findings: Findings,
) -> list[Part] | None:  # fmt: skip
    """All parts of a strategy table by their footers alone: columns, rows, and the sums that the receipts state.

    The digests of the parts are added to `digests`, for they are read once only; None, without findings, where one is
    not that of `sums`.
    """
    entry, paytable = plan.entries[number], plan.entries[number].paytables[table]
    wanted = arrow_schema(columns(entry.rules, paytable, plan.all_holds, bool(entry.ordered)))
    paths = [part_path(entry.folders[table], part) for part in range(plan.parts(number))]
    parts, found = [], Findings()
    for part, (path, (digest, footer)) in enumerate(zip(paths, each(run, _digest_and_footer, paths), strict=True)):
        if digest:
            digests[path] = digest
        if not isinstance(footer, pq.FileMetaData):
            found.add("unreadable", path, f"is not Parquet: {footer}")
            parts.append(Part(path, "", 0, None))
            continue
        schema, rows = footer.schema.to_arrow_schema(), footer.num_rows
        if not entry.ordered:
            start, stop = plan.rows(number, part)
            found.differ("rows", path, "rows of the part", stop - start, rows)
        fits = schema.equals(wanted) or _check_schema(path, wanted, schema, found)
        receipt = _read_receipt(identity, path, schema.metadata, rows, found)
        content, outcome = receipt or ("", None)
        parts.append(Part(path, content, rows, outcome if fits else None))
    if any(digests.get(path, "") != sums.get(path) for path in paths):
        return None
    findings.join(found)
    return parts


def _digest_and_footer(path: Location) -> tuple[str, pq.FileMetaData | str]:
    """SHA-256 of a Parquet file, and its footer or why that cannot be read; no digest where there is no file."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as problem:
        return "", str(problem)
    digest = hashlib.sha256(content).hexdigest()
    try:
        with pq.ParquetFile(pa.BufferReader(content)) as file:
            return digest, file.metadata
    except UNREADABLE as problem:
        return digest, str(problem).splitlines()[0] if str(problem) else type(problem).__name__


class _Rows:
    """The rows of a table, part after part."""

    def __init__(self, entry: Entry, paytable: Paytable, all_holds: bool, findings: Findings) -> None:
        self.entry, self.paytable, self.all_holds, self.findings = entry, paytable, all_holds, findings
        deck, ordered = entry.rules.deck, bool(entry.ordered)
        self.deals, self.factor = deal_count(deck, ordered), cycle_factor(deck, ordered)
        self.draws = np.array(draw_counts(deck, ordered))[list(HELD)]
        self.names = [f"n_{slug(name)}" for name in (*(win.name for win in entry.rules.wins), NOTHING)]
        self.rows, self.weight, self.last = 0, 0, -1
        self.canonical, self.places = -1, 120

    def check(self, path: str, table: pa.Table) -> Outcome | None:
        """Look at the rows of a part; returns their sums, or None where there are none, or values out of all bounds."""
        if not table.num_rows:
            return None
        cards = np.column_stack([numbers(table, f"c{i}") for i in range(1, 6)]).astype(np.int64)
        weight, hold, draws = (numbers(table, name) for name in ("weight", "hold", "draws"))
        won, counts = numbers(table, "ev_numerator"), np.column_stack([numbers(table, name) for name in self.names])
        self.rows += len(cards)
        self.weight += int(weight.astype(np.int64).sum())
        for what, bad in (
            ("card numbers", (cards >= self.entry.rules.deck.kinds).any(axis=1)),
            ("weight", weight <= 0),
            ("hold", hold > 31),
            ("counts of draws", (counts < 0).any(axis=1)),
        ):
            if bad.any():
                row = int(np.argmax(bad))
                self.findings.add(
                    "row", path, f"row {row}: {what} out of bounds", found=table.slice(row, 1).to_pylist()
                )
                return None
        self._check_order(path, table, cards)
        self._check_values(path, table, cards, hold, draws, counts, won)
        return self._sums(weight, hold, counts, won, numbers(table, "optimal_holds"))

    def _first(self, path: str, kind: str, table: pa.Table, what: str, wrong: NDArray[np.bool_], expected: Any,
               found: Any) -> None:  # fmt: skip
        """A finding for the first wrong row, with how many there are."""
        if wrong.any():
            row = int(np.argmax(wrong))
            many = f" (and {int(wrong.sum()) - 1} more rows)" if wrong.sum() > 1 else ""
            hand = table.column("hand")[row].as_py()
            self.findings.add(kind, path, f"row {row}, {hand}: {what}{many}", expected[row], found[row])

    def _check_order(self, path: str, table: pa.Table, cards: NDArray[np.int64]) -> None:
        """Canonical hands ascend, each once; where order matters, the arrangements of each are 120 in all."""
        if self.entry.ordered:
            key = numbers(table, "canonical").astype(np.int64)
            self._check_arrangements(path, table, key)
        else:
            key = cards @ np.array([self.entry.rules.deck.kinds**i for i in range(4, -1, -1)])
            ascending = np.sort(cards, axis=1)
            down = np.not_equal(cards, ascending).max(axis=1)
            self._first(path, "order", table, "cards of the hand do not ascend", down, ascending, cards)
        before = np.concatenate([[self.last], key[:-1]])
        hands = table.column("hand").to_pylist() if (key <= before).any() else []
        if not self.entry.ordered:
            self._first(path, "order", table, "the hand is there twice", np.equal(key, before), [""] * len(key), hands)
        self._first(
            path, "order", table, "the hand is not above the one before", np.less(key, before), [""] * len(key), hands
        )
        self.last = int(key[-1]) if len(key) else self.last

    def _check_arrangements(self, path: str, table: pa.Table, canonical: NDArray[np.int64]) -> None:
        texts = table.column("arrangements").to_pylist()
        for row, (hand, text) in enumerate(zip(canonical.tolist(), texts, strict=True)):
            places = int(text, 16).bit_count()
            if hand != self.canonical:
                if self.places != 120 or hand != self.canonical + 1:
                    what = f"row {row}: arrangements of hand {self.canonical}, and the next hand"
                    expected = f"120, {self.canonical + 1}"
                    self.findings.add("rows", path, what, expected, f"{self.places}, {hand}")
                self.canonical, self.places = hand, 0
            self.places += places

    def _check_values(
        self, path: str, table: pa.Table, cards: NDArray[Any], hold: NDArray[Any], draws: NDArray[Any],
        counts: NDArray[Any], won: NDArray[Any],
    ) -> None:  # fmt: skip
        """Texts, draws, counts and expected values of each row agree."""
        deck, paytable = self.entry.rules.deck, self.paytable
        letters = card_letters(deck, cards)
        kept = (hold[:, None] >> np.arange(5, dtype=np.uint8) & 1).astype(bool)
        for name, shown in (("hand", np.ones_like(kept)), ("held", kept)):
            expected, found = card_texts(letters, shown), table.column(name).combine_chunks()
            if not expected.equals(found):
                mine, theirs = np.array(expected.to_pylist()), np.array(found.to_pylist())
                self._first(path, "row", table, f"text of {name}", mine != theirs, mine, theirs)
        expected = self.draws[hold]
        self._first(path, "row", table, "draws", draws != expected, expected, draws)
        sums = counts.sum(axis=1, dtype=np.int64)
        self._first(path, "totals", table, "draws of all outcomes", sums != draws, draws, sums)
        units = self._won(hold, counts)
        self._first(path, "row", table, "ev_numerator, by the counts and the pays", units != won, units, won)
        stake = paytable.scale * paytable.coins
        ev = (won / (draws.astype(exact_type(int(self.draws[0]) * stake)) * stake)).astype(np.float64)
        self._first(path, "row", table, "ev", ev != numbers(table, "ev"), ev, numbers(table, "ev"))
        optimal = numbers(table, "optimal_holds")
        chosen = (optimal >> hold & 1).astype(bool)
        self._first(path, "row", table, "the hold is none of optimal_holds", ~chosen, hold, optimal)
        if self.all_holds:
            values = np.array([numbers(table, f"ev_numerator_{mask:02d}") for mask in range(32)])
            mine = values[hold, np.arange(len(hold))]
            self._first(path, "row", table, "ev_numerator of the hold", mine != won, mine, won)

    def _won(self, hold: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any]:
        kind = exact_type(int(self.draws[0]) * max(1, *line_units(self.paytable)))
        units: NDArray[Any] = counts.astype(kind) @ np.array(self.paytable.units, kind)
        if self.paytable.deal_units:
            units = np.where(hold == 31, counts.astype(kind) @ np.array(self.paytable.deal_units, kind), units)
        return units

    def _sums(
        self, weight: NDArray[Any], hold: NDArray[Any], counts: NDArray[Any], won: NDArray[Any], optimal: NDArray[Any]
    ) -> Outcome:
        """The sums of a part as far as its columns tell them; without bonuses, all but ranges and dealt outcomes."""
        kind = exact_type(self.deals * self.factor)
        multiplier = self.factor // self.draws[hold]
        per_row = weight.astype(kind) * multiplier.astype(kind)
        chosen = counts.astype(kind)
        if self.paytable.deal_units:
            pat = (hold == 31)[:, None]
            chosen = np.hstack([np.where(pat, 0, chosen), np.where(pat, chosen, 0)])
        combinations = tuple(int(number) for number in per_row @ chosen)
        units = line_units(self.paytable)
        means = won.astype(exact_type(self.factor * max(1, *units))) * multiplier
        different, which = np.unique(means, return_inverse=True)
        deals = np.zeros(len(different), np.int64)
        np.add.at(deals, which, weight.astype(np.int64))
        squares = sum(n * unit * unit for n, unit in zip(combinations, units, strict=True))
        tied = (optimal & (optimal - np.uint32(1))) != 0
        return replace(
            Outcome.zero(len(self.names), len(units), len(units)),
            rows=len(hold),
            deals=int(weight.astype(np.int64).sum()),
            tied_deals=int(weight[tied].astype(np.int64).sum()),
            combinations=combinations,
            hits=sum(n for n, unit in zip(combinations, units, strict=True) if unit > 0),
            squares=squares,
            squared_means=sum(n * m * m for n, m in zip(deals.tolist(), different.tolist(), strict=True)),
        )

    def end(self, path: str, whole: bool) -> None:
        """After the last part: all hands were there, once."""
        if not whole:
            return
        if self.entry.ordered:
            self.findings.differ("rows", path, "canonical hands", self.entry.rows, self.canonical + 1)
            self.findings.differ("rows", path, "arrangements of the last hand", 120, self.places)
        else:
            self.findings.differ("rows", path, "rows of the table", self.entry.rows, self.rows)
        self.findings.differ("totals", path, "sum of the weights: all deals", self.deals, self.weight)


def total(parts: Sequence[Part], paytable: Paytable) -> Outcome | None:
    """The sums over all parts; None where a part is missing or unreadable."""
    outcome = Outcome.none_of(paytable)
    for part in parts:
        if part.outcome is None:
            return None
        outcome += part.outcome
    return outcome
