"""Changes to a run directory that leave every digest right: what only looking at the values can find."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.certificate import certificate, wins_table
from pipeline.check_table import check_table, total
from pipeline.findings import Findings
from pipeline.manifest import canonical_text, content_digest, identity, pretty_text
from pipeline.plan import read_plan
from pipeline.store import RECEIPT, file_digest, listed_files, parquet_bytes, read_outcome, sums_text, write_part


def copy(run, tmp_path):
    """A copy of a run that may be changed."""
    return Path(shutil.copytree(run, tmp_path / "copy"))


def sums(run):
    """Write SHA256SUMS anew."""
    (run / "SHA256SUMS").write_text(sums_text({name: file_digest(run / name) for name, _ in listed_files(run)}))


def read_manifest(run):
    return json.loads((run / "manifest.json").read_text())


def write_manifest(run, manifest):
    """A manifest with the identity and the parts that it must have."""
    described = {key: value for key, value in manifest.items() if key not in ("identity", "parts")}
    parts = [
        {**part, "rows": table.num_rows, "content": content_digest(table)}
        for part in manifest["parts"]
        for table in [pq.ParquetFile(run / part["path"]).read()]
    ]
    manifest = {**manifest, "identity": identity(described), "parts": parts}
    (run / "manifest.json").write_text(pretty_text(manifest))
    sums(run)


def read(run, path):
    return pq.ParquetFile(run / path).read()


def write(run, path, table):
    """A part with a footer that fits it, but for the sums; then the manifest and SHA256SUMS."""
    manifest = read_manifest(run)
    outcome = read_outcome(json.loads(read(run, path).schema.metadata[RECEIPT])["outcome"])
    write_part(run, manifest["identity"], path, table, outcome, "")
    write_manifest(run, manifest)


def put(table, row, **values):
    """The table with some values of a row changed."""
    for name, value in values.items():
        at = table.schema.get_field_index(name)
        field = table.schema.field(at)
        column = table.column(name).to_pylist()
        column[row] = value
        table = table.set_column(at, field, pa.array(column, field.type))
    return table


def rewrite(run, number, table):
    """Footers, certificate and wins as the columns of a strategy table make them; then all digests."""
    manifest = read_manifest(run)
    described = {key: value for key, value in manifest.items() if key not in ("identity", "parts")}
    plan = read_plan(canonical_text(described))
    folder = plan.entries[number].folders[table]
    path = run / folder / "certificate.json"
    old = json.loads(path.read_text())
    parts = check_table(run, manifest["identity"], plan, number, table, Findings())
    for part in parts:
        content = read(run, part.path)
        old_sums = read_outcome(json.loads(content.schema.metadata[RECEIPT])["outcome"])
        write_part(run, manifest["identity"], part.path, content, shifted(old_sums, part.outcome), "")
    parts = check_table(run, manifest["identity"], plan, number, table, Findings())
    rows = [(part.rows, part.content) for part in parts]
    outcome = total(parts, plan.entries[number].paytables[table])
    content = certificate(plan, number, table, outcome, old["warnings"], parts=rows)
    content |= {"identity": manifest["identity"], "software": manifest["software"]}
    path.write_text(pretty_text(content))
    (run / folder / "wins.parquet").write_bytes(parquet_bytes(wins_table(content), {}))
    write_manifest(run, manifest)


def shifted(old, new):
    """New sums with the ranges of the old ones, moved as far as the sums have moved."""

    def moved(name, by):
        if isinstance(by, tuple):
            return tuple(a + b for a, b in zip(getattr(old, name), by, strict=True))
        return getattr(old, name) + by

    lines = tuple(a - b for a, b in zip(new.by_line, old.by_line, strict=True))
    by = {"combinations": lines, "hits": new.hits - old.hits, "squares": new.squares - old.squares}
    return replace(new, **{f"{name}_{end}": moved(f"{name}_{end}", by[name]) for name in by for end in ("min", "max")})


def worse_hold(table, counts, units, stake):
    """The table with the hold of one untied row changed to a worse one that pays something; and that row.

    counts: for a row, (32, outcomes) draws of every hold.
    """
    optimal = np.array(table.column("optimal_holds").to_pylist())
    for row in range(table.num_rows):
        if int(optimal[row]).bit_count() > 1:
            continue
        of = counts(row)
        draws, won = of.sum(axis=1), of @ np.array(units)
        best = table.column("hold")[row].as_py()
        mask = max((m for m in range(32) if m != best and won[m]), key=lambda m: won[m] / draws[m], default=None)
        if mask is None:
            continue
        names = [name for name in table.column_names if name.startswith("n_")]
        cards = table.column("hand")[row].as_py().split()
        return row, put(
            table,
            row,
            hold=mask,
            held=" ".join(card for i, card in enumerate(cards) if mask >> i & 1),
            optimal_holds=1 << mask,
            draws=int(draws[mask]),
            ev_numerator=int(won[mask]),
            ev=float(int(won[mask]) / (int(draws[mask]) * stake)),
            **dict(zip(names, of[mask].tolist(), strict=True)),
        )
    raise AssertionError("no row with a worse hold")
