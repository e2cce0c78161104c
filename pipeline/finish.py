"""How a run ends: certificates and wins from the receipts of all parts, then the manifest and the sums."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import indent

from pipeline.certificate import Certificate, certificate, wins_table
from pipeline.gather import Gathered
from pipeline.location import Location, sweep, write_whole
from pipeline.manifest import content_digest, pretty_text
from pipeline.plan import Plan, part_number, part_path, run_files
from pipeline.store import MANIFEST, PLAN, SUMS, file_digest, parquet_bytes, sums_line
from pipeline.tasks import Survey


def finish(out: Location, plan: Plan, gathered: Gathered, surveys: Sequence[Survey]) -> tuple[Certificate, ...]:
    """Write certificates and wins from the receipts of all parts, then the manifest and the sums."""
    contents: list[Certificate] = []
    wins_of: dict[str, tuple[int, str]] = {}
    for number, (entry, shown) in enumerate(zip(plan.entries, surveys, strict=True)):
        for table, folder in enumerate(entry.folders):
            outcome = gathered.outcome(number, table)
            said = (gathered.digests(number, table, part) for part in range(plan.parts(number)))
            parts = ((digests.rows, digests.content) for digests in said)
            content = certificate(
                plan, number, table, outcome, shown.warnings[table], shown.meters[table], parts,
                shown.sensitivities[table],
            )  # fmt: skip
            wins = wins_table(content)
            write_whole(out / folder / "wins.parquet", parquet_bytes(wins, {}))
            write_whole(out / folder / "certificate.json", pretty_text(content).encode())
            wins_of[folder] = wins.num_rows, content_digest(wins)
            contents.append(content)
    write_whole(out / MANIFEST, map(str.encode, _manifest(plan, gathered, wins_of)))
    write_whole(out / SUMS, map(str.encode, _sums(out, plan, gathered)))
    (out / PLAN).unlink(missing_ok=True)
    sweep(out)
    return tuple(contents)


def _manifest(plan: Plan, gathered: Gathered, wins_of: Mapping[str, tuple[int, str]]) -> Iterator[str]:
    """The text of manifest.json, piece by piece; its list of parts may be long."""
    head = pretty_text({"identity": plan.identity, **plan.description, "parts": []})
    yield head.removesuffix("[]\n}\n")
    separator = "[\n"
    for path, rows, content in _listed(plan, gathered, wins_of):
        yield separator + indent(pretty_text({"path": path, "rows": rows, "content": content}).rstrip(), "    ")
        separator = ",\n"
    yield "\n  ]\n}\n"


def _listed(plan: Plan, gathered: Gathered, wins_of: Mapping[str, tuple[int, str]]) -> Iterator[tuple[str, int, str]]:
    """Path, rows and content digest of every table that the manifest lists."""
    for number, entry in enumerate(plan.entries):
        for table, folder in enumerate(entry.folders):
            for part in range(plan.parts(number)):
                said = gathered.digests(number, table, part)
                yield part_path(folder, part), said.rows, said.content
            yield f"{folder}/wins.parquet", *wins_of[folder]


def _sums(out: Location, plan: Plan, gathered: Gathered) -> Iterator[str]:
    """The text of SHA256SUMS, line by line; the digests of parts are those of their receipts."""
    places = {
        folder: (number, table)
        for number, entry in enumerate(plan.entries)
        for table, folder in enumerate(entry.folders)
    }
    for path in run_files(plan):
        if "/strategy/" in path:
            folder, part = part_number(path)
            digest = gathered.digests(*places[folder], part).sha256
        else:
            digest = file_digest(out / path)
        yield sums_line(path, digest)
