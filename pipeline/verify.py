"""Verification of a run directory: everything that is wrong with it, without Dask and without trusting it.

Levels, each with those before it: `default` compares every file with SHA256SUMS and derives the certificates from the
sums in the footers of the parts; `tables` reads every row, and the sums from the rows; `sample` has hands judged by the
second engine; `recompute` computes everything again. Where a file is not as listed, its whole table is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluator.rules import Faults
from pipeline.attest import check_attestations, public_key
from pipeline.check_certificate import check_certificate, check_wins
from pipeline.check_table import UNREADABLE, check_receipts, check_table
from pipeline.faults import ConfigError, Fault
from pipeline.findings import Findings, Verification
from pipeline.location import Location, children, each, irregular, location, tree
from pipeline.lock import LOCK
from pipeline.manifest import FORMAT, canonical_text, identity, pretty_text, software
from pipeline.plan import Plan, part_path, read_plan
from pipeline.store import MANIFEST, PLAN, SUCCESS, SUMS, file_digest, is_listed, sums_text

REPORT = "report"
Progress = Callable[[str], None]
OF_A_RUN = re.compile(
    rf"{re.escape(MANIFEST)}|{SUMS}|{SUCCESS}|{re.escape(PLAN)}|[^/]+/([^/]+/strategy|ehs)/part-\d{{5}}\.parquet"
)
"""files that only a run has; one of them is enough to look for the others"""
UNUSABLE = (*UNREADABLE, ConfigError, Faults, ArithmeticError, LookupError, RecursionError)
"""what rules and pays may raise that are not those of a run"""


def verify(
    run: str | Location,
    *,
    tables: bool = False,
    sample: int = 0,
    seed: int = 0,
    recompute: bool = False,
    keys: Sequence[Path] = (),
    progress: Progress = lambda text: None,
) -> Verification:
    """Everything that is wrong with a run directory; it is only read.

    `sample` hands of every game, drawn with `seed`, are judged by the second engine. `keys` are files with public keys,
    by each of which the run must be signed. Raises `ConfigError` where there is nothing of a run, `OSError` where that
    cannot be read at all.
    """
    run, findings, notes = location(run), Findings(), list[str]()
    checked = {"files": 0, "bytes": 0, "tables": 0, "rows": 0, "sampled_hands": 0, "recomputed_parts": 0}
    public = [public_key(path) for path in keys]
    there = tree(run)
    if not any(map(OF_A_RUN.fullmatch, there)):
        raise ConfigError([Fault(str(run), "", _no_run(run))])
    check_marks(run, there, findings)
    manifest, plan = _read_manifest(run, findings, notes)
    said = "" if manifest is None else str(manifest.get("identity", ""))
    deep = tables or bool(sample) or recompute or MANIFEST in {finding.path for finding in findings.found}
    digests, of_tables = dict[str, str](), Findings()
    if plan is not None and manifest is not None:
        sums = {} if deep else _listed_digests(run / SUMS)
        _check_tables(run, said, plan, manifest, sums, digests, of_tables, checked, progress)
    digests = check_files(run, there, plan, digests, findings, checked)
    check_attestations(run, digests, public, findings, notes)
    findings.join(of_tables)
    if plan is not None:
        for number, entry in enumerate(plan.entries):
            try:
                _check_deeper(run, said, plan, number, sample, seed, recompute, findings, checked, progress)
            except UNUSABLE as problem:
                what = f"{entry.name}: cannot be solved: {type(problem).__name__}: {problem}"
                findings.add("manifest", MANIFEST, what)
    level = "recompute" if recompute else "sample" if sample else "tables" if tables else "default"
    return Verification(said, level, findings.found, tuple(notes), checked)


def is_table(run: Location) -> bool:
    """Whether a run directory says that it has a table of hand strength."""
    try:
        manifest = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(manifest, dict) and manifest.get("table") == "ehs"


def _no_run(place: Location) -> str:
    """What is wrong with a place where there is nothing of a run; raises `OSError` where it cannot be read."""
    if not place.is_dir():
        return "is no run directory" if place.exists() else "is not there"
    children(place)
    return f"is not a run of autohold: expected {MANIFEST}, {SUMS}, {SUCCESS} and tables, found none of them"


def _check_deeper(
    run: Location, said: str, plan: Plan, number: int, sample: int, seed: int, recompute: bool, findings: Findings,
    checked: dict[str, int], progress: Progress,
) -> None:  # fmt: skip
    """The second engine, and everything again, for one game."""
    if sample:
        from pipeline.sample import check_sample

        progress(f"{plan.entries[number].name}: second engine")
        checked["sampled_hands"] += check_sample(run, plan, number, sample, seed, findings)
    if recompute:
        from pipeline.recompute import check_again

        progress(f"{plan.entries[number].name}: computing again")
        checked["recomputed_parts"] += check_again(run, said, plan, number, findings)


# --- files ------------------------------------------------------------------------------------------------------------


def check_marks(run: Location, there: Mapping[str, int], findings: Findings) -> None:
    """The mark of a finished run, and what only an unfinished one has; of all files of the run, with their sizes."""
    if SUCCESS not in there:
        findings.add("incomplete", SUCCESS, "is missing: the run did not finish, or has lost it")
    elif size := there[SUCCESS]:
        findings.add("altered", SUCCESS, "is not empty", "0 bytes", f"{size} bytes")
    if isinstance(run, Path):
        for name in irregular(run):
            findings.add("unexpected", name, "is neither a plain file nor a directory")
    for name in there:
        if name.rpartition("/")[2].startswith("."):
            findings.add("unexpected", name, "of a run in progress" if name == LOCK else "a hidden file")


def check_files(
    run: Location, there: Mapping[str, int], plan: Plan | None, made: Mapping[str, str], findings: Findings,
    checked: dict[str, int],
) -> dict[str, str]:  # fmt: skip
    """Every file against SHA256SUMS, SHA256SUMS against the text it must have, and all files that a plan asks for.

    Returns the digests of the files that SHA256SUMS lists; those that are made already are not made again.
    """
    listed = list(filter(is_listed, there))
    others = [name for name in listed if name not in made]
    digests = {**made, **dict(zip(others, each(run, file_digest, others), strict=True))}
    checked["files"] += len(listed)
    checked["bytes"] += sum(map(there.__getitem__, listed))
    _compare_sums(run / SUMS, SUMS, digests, findings)
    if plan is not None:
        wanted = {MANIFEST} | {name for number in range(len(plan.entries)) for name in _files_of(plan, number)}
        known = {(finding.kind, finding.path) for finding in findings.found}
        for name in sorted(wanted - set(listed)):
            if ("missing", name) not in known:
                findings.add("missing", name, "is missing")
        for name in sorted(set(listed) - wanted):
            if ("unexpected", name) not in known:
                findings.add("unexpected", name, "belongs to no game of the manifest")
    reported = [name.removeprefix(f"{REPORT}/") for name in there if name.startswith(f"{REPORT}/")]
    if reported:
        inner = {name: file_digest(run / REPORT / name) for name in reported if name != SUMS}
        checked["files"] += len(inner)
        _compare_sums(run / REPORT / SUMS, f"{REPORT}/{SUMS}", inner, findings, f"{REPORT}/")
    return digests


def _listed_digests(sums: Location) -> dict[str, str]:
    """Path -> SHA-256 of whatever the lines of SHA256SUMS say."""
    try:
        text = sums.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return {}
    return {path: digest for digest, _, path in (line.partition("  ") for line in text.splitlines())}


def _compare_sums(sums: Location, name: str, digests: dict[str, str], findings: Findings, folder: str = "") -> None:
    try:
        content = sums.read_bytes()
    except FileNotFoundError:
        findings.add("missing", name, "is missing")
        return
    before = len(findings.found)
    said: dict[str, str] = {}
    for line in content.decode("utf-8", "replace").splitlines():
        digest, _, path = line.partition("  ")
        if path in said:
            findings.add("altered", name, f"lists {path} twice")
        said[path] = digest
    for path in sorted(said.keys() | digests.keys()):
        if path not in digests:
            findings.add("missing", folder + path, f"is listed in {name} and not there")
        elif path not in said:
            findings.add("unexpected", folder + path, f"is not listed in {name}")
        else:
            findings.differ(
                "altered", folder + path, f"SHA-256 listed in {name}, and of the file", said[path], digests[path]
            )
    if len(findings.found) == before and content != sums_text(digests).encode():
        findings.add("altered", name, "is not the text that the digests make: lines, order or spaces differ")


def _files_of(plan: Plan, number: int) -> list[str]:
    return [
        name
        for folder in plan.entries[number].folders
        for name in (
            f"{folder}/certificate.json",
            f"{folder}/wins.parquet",
            *(part_path(folder, part) for part in range(plan.parts(number))),
        )
    ]


# --- manifest ---------------------------------------------------------------------------------------------------------


def read_json(path: Location, name: str, findings: Findings) -> dict[str, Any] | None:
    """A JSON object in the very text that autohold writes; None with a finding where it is something else."""
    try:
        text = path.read_bytes().decode("utf-8")
        value = json.loads(text)
    except FileNotFoundError:
        findings.add("missing", name, "is missing")
        return None
    except (ValueError, RecursionError) as problem:
        findings.add("unreadable", name, f"is not JSON: {problem}")
        return None
    if not isinstance(value, dict):
        findings.add("unreadable", name, "is no JSON object", "an object", type(value).__name__)
        return None
    if pretty_text(value) != text:
        findings.add("altered", name, "is not the text that its values make: spaces, escapes or keys that repeat")
    return value


def _read_manifest(run: Location, findings: Findings, notes: list[str]) -> tuple[dict[str, Any] | None, Plan | None]:
    """The manifest and its plan; the plan is None where the manifest describes none."""
    manifest = read_json(run / MANIFEST, MANIFEST, findings)
    if manifest is None:
        return None, None
    if manifest.get("format") != FORMAT:
        findings.add("manifest", MANIFEST, "format number", FORMAT, manifest.get("format"))
        return manifest, None
    described = {key: value for key, value in manifest.items() if key not in ("identity", "parts")}
    findings.differ("manifest", MANIFEST, "identity: SHA-256 of what it describes", identity(described),
                    manifest.get("identity"))  # fmt: skip
    if described.get("software") != software():
        notes.append(f"made by {_versions(described.get('software'))}; this is {_versions(software())}")
    try:
        plan = read_plan(canonical_text(described))
        for number, entry in enumerate(plan.entries):  # what is wrong with the values shows where they are used
            range(plan.parts(number)), entry.folders
    except UNUSABLE as problem:
        findings.add("manifest", MANIFEST, f"describes no plan: {type(problem).__name__}: {problem}")
        return manifest, None
    tables = sum(len(entry.paytables) * (1 + plan.parts(number)) for number, entry in enumerate(plan.entries))
    listed = len(manifest["parts"]) if isinstance(manifest.get("parts"), list) else 0
    different = findings.differ("manifest", MANIFEST, "tables and parts of its games, and listed", tables, listed)
    return manifest, None if different and tables > listed + 1000 else plan  # no long list of what never was


def _versions(said: Any) -> str:
    pairs = said.items() if isinstance(said, dict) else ()
    return ", ".join(f"{name} {str(value)[:12]}" for name, value in pairs) or "an unknown version"


# --- tables and certificates ------------------------------------------------------------------------------------------


def _check_tables(
    run: Location, said: str, plan: Plan, manifest: dict[str, Any], sums: Mapping[str, str], digests: dict[str, str],
    findings: Findings, checked: dict[str, int], progress: Progress,
) -> None:  # fmt: skip
    """Tables, certificates and the list of the manifest.

    Of tables all whose files have the digest in `sums` only footers are read, others whole, to say what is wrong.
    Digests that are made are added to `digests`.
    """
    listed: list[dict[str, Any]] = []
    others: list[str] = []
    for number, entry in enumerate(plan.entries):
        for table, folder in enumerate(entry.folders):
            progress(folder)
            try:
                parts = check_receipts(run, said, plan, number, table, sums, digests, findings) if sums else None
                if whole := parts is None:
                    parts = check_table(run, said, plan, number, table, findings)
            except UNUSABLE as problem:
                findings.add("manifest", MANIFEST, f"{folder}: cannot be used: {type(problem).__name__}: {problem}")
                continue
            content = read_json(run / folder / "certificate.json", f"{folder}/certificate.json", findings)
            checked["tables"] += 1
            checked["rows"] += sum(part.rows for part in parts) if whole else 0
            listed += [{"path": part.path, "rows": part.rows, "content": part.content} for part in parts]
            if content is None:
                continue
            others.append(str(content.get("identity")))
            check_certificate(manifest, plan, number, table, parts, content, findings)
            wins = check_wins(run, f"{folder}/wins.parquet", content, findings)
            listed.append({"path": f"{folder}/wins.parquet", "rows": len(content.get("wins", [])), "content": wins})
    if others and len(set(others)) == 1 and others[0] != said:
        findings.add("manifest", MANIFEST, "is of another run or another version of autohold than all certificates",
                     f"identity {others[0]}", f"{said}, by {_versions(manifest.get('software'))}")  # fmt: skip
    check_listed(listed, manifest.get("parts"), findings)


def check_listed(listed: Sequence[dict[str, Any]], said: Any, findings: Findings) -> None:
    """The manifest's list of parts; what could not be read was found before."""
    if not isinstance(said, list) or not all(isinstance(part, dict) for part in said):
        findings.add("manifest", MANIFEST, "has no list of parts")
        return
    known = {str(part.get("path")): part for part in said}
    for part in listed:
        path = part["path"]
        if path not in known:
            findings.add("manifest", MANIFEST, f"does not list {path}")
        elif part["content"] and known[path] != part:
            for key in ("rows", "content"):
                findings.differ("digest", path, f"{key} that the manifest lists, and of the table",
                                known[path].get(key), part[key])  # fmt: skip
    paths = [part["path"] for part in listed]
    for path in sorted(known.keys() - {*paths}):
        findings.add("manifest", MANIFEST, f"lists {path}, which its games do not have")
    order = [str(part.get("path")) for part in said]
    if sorted(order) == sorted(paths) and order != paths:
        findings.add("manifest", MANIFEST, "lists the parts in another order")
