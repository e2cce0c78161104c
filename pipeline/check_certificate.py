"""Checks of certificates against what they must follow from: the sums of their strategy tables, and the pays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.symmetry import ProofError
from pipeline.certificate import certificate, wins_table
from pipeline.check_table import UNREADABLE, Part, read_table, total
from pipeline.findings import Findings
from pipeline.location import Location
from pipeline.manifest import content_digest
from pipeline.plan import Plan
from pipeline.store import MANIFEST

FROM_SURVEY = ("warnings", "progressive", "sensitivity")
"""keys of a certificate that follow from the rules, not from the strategy table"""


def check_certificate(
    manifest: Mapping[str, Any], plan: Plan, number: int, table: int, parts: Sequence[Part], found: dict[str, Any],
    findings: Findings,
) -> None:  # fmt: skip
    """The certificate against the one that the parts of its strategy table make, key by key."""
    entry = plan.entries[number]
    path, said = f"{entry.folders[table]}/certificate.json", str(manifest.get("identity", ""))
    outcome = total(parts, entry.paytables[table])
    findings.differ("certificate", path, "identity of the run", said, found.get("identity"))
    if outcome is None:
        findings.add(
            "certificate", path, "cannot be derived: its strategy table is missing, damaged or of another kind"
        )
        return
    try:
        rows = [(part.rows, part.content) for part in parts]
        made = certificate(plan, number, table, outcome, (), parts=rows) | {"software": manifest.get("software")}
    except (TypeError, LookupError) as problem:  # values of the manifest that are not of their kind
        what = f"{entry.folders[table]}: cannot be used: {type(problem).__name__}: {problem}"
        findings.add("manifest", MANIFEST, what)
        return
    except (ProofError, ArithmeticError, ValueError) as problem:
        findings.add("totals", path, f"the sums of its strategy table: {problem}")
        return
    compare_certificates(path, made, found, findings, ("identity", *FROM_SURVEY))


def compare_certificates(
    path: str, made: dict[str, Any], found: dict[str, Any], findings: Findings, leave: Sequence[str] = (),
    kind: str = "certificate",
) -> None:  # fmt: skip
    """Findings for the keys in which two certificates differ; rows of wins one by one."""
    for key in [*made, *(key for key in found if key not in made)]:
        if key in leave or made.get(key) == found.get(key):
            continue
        mine, theirs = made.get(key), found.get(key)
        if isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
            for row, (a, b) in enumerate(zip(mine, theirs, strict=True)):
                inner = [k for k in a if a[k] != b.get(k)] if isinstance(a, dict) and isinstance(b, dict) else []
                for k in inner:
                    findings.add(kind, path, f"{key}[{row + 1}] ({a.get('name', row + 1)}), {k}", a[k], b.get(k))
                if not inner:
                    findings.differ(kind, path, f"{key}[{row + 1}]", a, b)
        else:
            findings.add(kind, path, key, mine, theirs)


def check_wins(run: Location, path: str, content: dict[str, Any], findings: Findings) -> str:
    """wins.parquet against its certificate; returns the content digest that it has."""
    found = read_table(run / path, path, findings)
    if found is None:
        return ""
    digest = ""
    try:
        digest = content_digest(found)
        wanted = wins_table(content)
        if not findings.differ("schema", path, "columns", str(wanted.schema), str(found.schema)):
            for name in wanted.column_names:
                if not wanted.column(name).equals(found.column(name)):
                    findings.add("certificate", path, f"column {name}, by the certificate",
                                 wanted.column(name).to_pylist(), found.column(name).to_pylist())  # fmt: skip
    except UNREADABLE as problem:
        findings.add("certificate", path, f"the certificate does not make this table: {problem}")
    return digest
