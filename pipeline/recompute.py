"""Everything computed again and compared: tables by content digest, then certificates and the manifest's list."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evaluator.payback import Outcome
from pipeline.certificate import certificate
from pipeline.check_certificate import compare_certificates
from pipeline.check_table import UNREADABLE
from pipeline.findings import Findings
from pipeline.location import Location
from pipeline.manifest import content_digest
from pipeline.plan import Plan, part_path
from pipeline.tasks import compute_part, survey


def check_again(run: Location, identity: str, plan: Plan, number: int, findings: Findings) -> int:
    """Compute all parts and certificates of an entry again; returns how many parts that were."""
    entry = plan.entries[number]
    shown = survey(entry, plan.sensitivity)
    if shown.refusal or shown.errors:
        reasons = [shown.refusal] * bool(shown.refusal) + list(map(str, shown.errors))
        findings.add("recompute", entry.folders[0], f"the rules of the manifest cannot be solved: {'; '.join(reasons)}")
        return 0
    outcomes = [Outcome.none_of(paytable) for paytable in entry.paytables]
    rows: list[list[tuple[int, str]]] = [[] for _ in entry.paytables]
    for part in range(plan.parts(number)):
        made = compute_part(plan, number, part, range(len(entry.paytables)))
        for i, table, outcome in made:
            outcomes[i] += outcome
            rows[i].append((table.num_rows, content_digest(table)))
            _compare(run, part_path(entry.folders[i], part), table, rows[i][-1][1], findings)
    for i, folder in enumerate(entry.folders):
        path = f"{folder}/certificate.json"
        try:
            found = json.loads((run / path).read_text(encoding="utf-8"))
            content = certificate(plan, number, i, outcomes[i], shown.warnings[i], shown.meters[i], rows[i],
                                  shown.sensitivities[i])  # fmt: skip
            content = json.loads(json.dumps({**content, "identity": identity, "software": found.get("software")}))
            compare_certificates(path, content, found, findings, kind="recompute")
        except UNREADABLE:
            continue  # found with the files
    return plan.parts(number) * len(entry.paytables)


def _compare(run: Location, path: str, made: pa.Table, expected: str, findings: Findings) -> None:
    """Content digests; where they differ, the columns, and the first row of each."""
    try:
        found = pq.ParquetFile(pa.BufferReader((run / path).read_bytes())).read()
        digest = content_digest(found)
    except UNREADABLE:
        return  # found with the files
    floats = [field.name for field in made.schema if pa.types.is_floating(field.type)]
    same = digest == expected and all(made.column(n).equals(found.column(n)) for n in floats)
    if same:
        return
    findings.differ("recompute", path, "content digest", expected, digest)
    if made.schema.names != found.schema.names or made.num_rows != found.num_rows:
        findings.add("recompute", path, "rows and columns", made.shape, found.shape)
        return
    for name in made.schema.names:
        mine, theirs = (np.array(table.column(name).to_pylist(), object) for table in (made, found))
        wrong = np.flatnonzero(mine != theirs)
        if len(wrong):
            row = int(wrong[0])
            many = f" (and {len(wrong) - 1} more rows)" if len(wrong) > 1 else ""
            where = f"row {row}, {made.column('hand')[row].as_py()}: {name}{many}"
            findings.add("recompute", path, where, mine[row], theirs[row])
