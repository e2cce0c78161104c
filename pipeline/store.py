"""What a run directory has: Parquet with a receipt in the footer, sums that `sha256sum -c` checks, a log."""

from __future__ import annotations

import errno
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import tee
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from evaluator.payback import Outcome
from pipeline.location import Location, Remote, append_lines, each, lines, walk, write_new, write_whole
from pipeline.manifest import canonical_text, content_digest, number_bytes

RECEIPT = b"autohold"
"""key of the receipt in the footer metadata of a part"""
PLAN = ".plan.json"
SUMS = "SHA256SUMS"
MANIFEST = "manifest.json"
SUCCESS = "_SUCCESS"
LOG = "log.jsonl"


@dataclass(frozen=True)
class Receipt:
    """What a finished part says of itself; small, for it travels to the client."""

    path: str
    """from the run directory"""
    rows: int
    """rows in the part"""
    content: str
    """content digest of the table"""
    outcome: Outcome
    """the sums over the part's rows"""
    sha256: str = ""
    """of the file"""
    found: str = "missing"
    """what was there before: missing, sound (kept as it is), or why it was made again"""
    seconds: float = field(default=0.0, compare=False)
    """processor time that the part took; stands in no file but the log"""

    @property
    def damaged(self) -> bool:
        """Whether there was something before that could not be kept."""
        return self.found not in ("missing", "sound")


# --- parts ------------------------------------------------------------------------------------------------------------


def parquet_bytes(table: pa.Table, metadata: Mapping[bytes, bytes]) -> bytes:
    """A table as the bytes of a Parquet file of one row group, with `metadata` in the footer.

    Plain values under zstd are smaller and faster here than dictionaries or deltas, and every reader knows them.
    """
    sink = pa.BufferOutputStream()
    pq.write_table(
        table.replace_schema_metadata(metadata),
        sink,
        row_group_size=max(1, table.num_rows),
        compression="zstd",
        compression_level=1,
        use_dictionary=False,
    )
    return bytes(sink.getvalue())


def write_part(run: Location, identity: str, path: str, table: pa.Table, outcome: Outcome, found: str) -> Receipt:
    """Write one part of a strategy table with its receipt; returns the receipt."""
    content, sha256 = write_table(run, identity, path, table, _outcome_values(outcome), found)
    return Receipt(path, table.num_rows, content, outcome, sha256, found)


def read_part(run: Location, identity: str, path: str) -> Receipt:
    """The receipt of a part that is there, of this run and undamaged; else one whose `found` says what is wrong."""
    there = read_table(run, identity, path, read_outcome)
    outcome = Outcome.zero(0) if there.sums is None else there.sums
    return Receipt(path, there.rows, there.content, outcome, there.sha256, there.found)


def write_table(
    run: Location, identity: str, path: str, table: pa.Table, sums: Mapping[str, Any], found: str = "missing"
) -> tuple[str, str]:
    """Write a table with a receipt that has these sums over its rows; returns its content digest and its SHA-256.

    `found` is what was there before, as `read_table` says. Raises `FileExistsError` where in an object store something
    else came between; the same table, made by another worker at the same time, is fine.
    """
    digest = content_digest(table)
    said = {"identity": identity, "path": path, "rows": table.num_rows, "content": digest, "outcome": dict(sums)}
    said["check"] = _check(table, said)
    content = parquet_bytes(table, {RECEIPT: canonical_text(said).encode()})
    if isinstance(run, Remote) and found == "missing":
        _write_once(run / path, content)
    else:
        write_whole(run / path, content)
    return digest, hashlib.sha256(content).hexdigest()


def _write_once(path: Location, content: bytes) -> None:
    try:
        write_new(path, content)
    except FileExistsError:
        if path.read_bytes() != content:
            message = "somebody else wrote another file meanwhile; repeat the command with --resume"
            raise FileExistsError(errno.EEXIST, message, str(path)) from None


class There(NamedTuple):
    """What there is where a table of a run is expected."""

    found: str
    """missing, sound, or what is wrong; unless it is sound the rest says nothing"""
    rows: int = 0
    content: str = ""
    """content digest"""
    sums: Any = None
    """of the receipt, as they were read"""
    sha256: str = ""
    """of the file"""


def read_table(run: Location, identity: str, path: str, read_sums: Callable[[Mapping[str, Any]], Any]) -> There:
    """Read a table of this run; `read_sums` makes values of what `write_table` was given, or raises `ValueError`."""
    try:
        content = (run / path).read_bytes()
    except FileNotFoundError:
        return There("missing")
    try:
        table = pq.read_table(pa.BufferReader(content))
        receipt = table.schema.metadata[RECEIPT]
        said = json.loads(receipt)
        if (said["identity"], said["path"]) != (identity, path):
            return There("of another run or place")
        if (said["rows"], said["content"]) != (table.num_rows, content_digest(table)):
            return There("damaged: its values do not have the digest in its footer")
        if said.pop("check") != _check(table, said) or parquet_bytes(table, {RECEIPT: receipt}) != content:
            return There("damaged: its footer or its rounded values are not those that were written")
        sums = read_sums(said["outcome"])
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError, AttributeError) as problem:
        return There(f"damaged: {str(problem).splitlines()[0] if str(problem) else type(problem).__name__}")
    return There("sound", table.num_rows, said["content"], sums, hashlib.sha256(content).hexdigest())


def _check(table: pa.Table, said: Mapping[str, Any]) -> str:
    """SHA-256 over what the content digest leaves out: the rest of the receipt, units and meanings, and the floats."""
    digest = hashlib.sha256(canonical_text(said).encode())
    for kept in table.schema:
        digest.update(repr((kept.name, str(kept.type), kept.nullable, kept.metadata)).encode())
        if pa.types.is_floating(kept.type):
            digest.update(number_bytes(table.column(kept.name).combine_chunks()))
    return digest.hexdigest()


def _outcome_values(outcome: Outcome) -> dict[str, Any]:
    """An outcome as text, for its integers are too big for many readers of JSON."""
    values = ((one.name, getattr(outcome, one.name)) for one in fields(Outcome))
    return {name: list(map(str, value)) if isinstance(value, tuple) else str(value) for name, value in values}


def read_outcome(said: Mapping[str, Any]) -> Outcome:
    """An outcome from the text of a receipt; raises `KeyError`, `ValueError` or `TypeError` for anything else."""
    values: dict[str, Any] = {
        one.name: tuple(map(int, value)) if isinstance(value := said[one.name], list) else int(value)
        for one in fields(Outcome)
    }
    return Outcome(**values)


# --- sums -------------------------------------------------------------------------------------------------------------


def sums_text(sums: Mapping[str, str]) -> str:
    """Path -> SHA-256 as the text that `sha256sum -c` reads, ascending by path."""
    return "".join(sums_line(path, digest) for path, digest in sorted(sums.items()))


def sums_line(path: str, digest: str) -> str:
    """A line of such a text."""
    return f"{digest}  {path}\n"


def read_sums(run: Location) -> dict[str, str]:
    """Path -> SHA-256 of a run's SHA256SUMS; lines that say nothing are left out."""
    return dict(_sums(run))


def _sums(run: Location) -> Iterator[tuple[str, str]]:
    for line in lines(run / SUMS):
        digest, _, path = line.partition("  ")
        if path:
            yield path, digest


def file_digest(path: Location) -> str:
    """SHA-256 of a file."""
    if isinstance(path, Remote):
        return hashlib.sha256(path.read_bytes()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def wrong_files(run: Location, ours: Iterable[str] = ()) -> list[str]:
    """What is wrong with a finished run: files that are missing, altered, or of `ours` but not listed; a line each.

    Paths of `ours` ascend, as those of SHA256SUMS do; nothing is kept of either, for there may be a million.
    """
    if not (run / SUMS).is_file():
        return [f"{SUMS}: is missing"]
    findings, missing = [], iter(ours)
    ours_next = next(missing, None)
    listed, paths = tee(_sums(run))
    for (path, expected), found in zip(listed, each(run, _digest_if_there, (path for path, _ in paths)), strict=True):
        while ours_next is not None and ours_next < path:
            findings.append(f"{SUMS}: {ours_next} is not listed")
            ours_next = next(missing, None)
        if ours_next == path:
            ours_next = next(missing, None)
        if found is None:
            findings.append(f"{path}: is missing")
        elif found != expected:
            findings.append(f"{path}: expected SHA-256 {expected}, found {found}")
    if ours_next is not None:
        findings += [f"{SUMS}: {path} is not listed" for path in (ours_next, *missing)]
    return findings


def _digest_if_there(path: Location) -> str | None:
    try:
        return file_digest(path)
    except FileNotFoundError:
        return None


def listed_files(run: Location) -> Iterator[tuple[str, int]]:
    """Every file of a run that SHA256SUMS lists, from the run directory, and its size in bytes; in no order."""
    return ((name, size) for name, size in walk(run) if is_listed(name))


def is_listed(name: str) -> bool:
    """Whether SHA256SUMS lists a file of that name, from the run directory."""
    hidden = name.rpartition("/")[2].startswith(".")
    return name not in (SUMS, LOG, SUCCESS) and not hidden and not name.startswith(("report/", "attestations/"))


def read_head(run: Location) -> dict[str, Any]:
    """The manifest without its list of parts, which may be long and is not read; raises `OSError` or `ValueError`.

    Of a manifest that `pretty_text` did not write, all is read.
    """
    head = []
    for line in lines(run / MANIFEST):
        if line == '  "parts": [':
            head.append('  "parts": []}')
            break
        head.append(line)
    found: dict[str, Any] = json.loads("\n".join(head))
    return found


# --- the log ----------------------------------------------------------------------------------------------------------


def append_log(run: Location, events: Iterable[Mapping[str, Any]]) -> None:
    """Add lines to log.jsonl; only who holds the run's lock does. In an object store it is written anew each time."""
    if content := "".join(canonical_text(event) + "\n" for event in events):
        append_lines(run / LOG, content.encode())
