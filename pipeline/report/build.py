"""The report of a run: all its pages, written into the run directory whole or not at all, with their own sums.

    report/index.html                              all paytables of the run
    report/<game>/explorer.html                    every hand of a game, asked in the browser
    report/<game>/<paytable>/par-sheet.html        one paytable
    report/<game>/<paytable>/strategy-list.json    its strategy as people read it
    report/SHA256SUMS                              written last: without it the report is unfinished

The pages follow from the run alone: equal runs have equal pages, and a report that is written again is the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipeline.location import Location, tree, write_whole
from pipeline.lock import claim
from pipeline.manifest import pretty_text
from pipeline.open_run import Place, open_run
from pipeline.report import catalogue, explorer, sheet, strategy_list
from pipeline.run import Altered, Refused
from pipeline.store import SUCCESS, SUMS, read_sums, sums_text, wrong_files

FOLDER = "report"
Progress = Callable[[int, int], None]
"""called with the paytables that are done and the paytables in all"""


@dataclass(frozen=True)
class Report:
    """A report that was written."""

    identity: str
    """of the run"""
    files: tuple[str, ...]
    """from the run directory, ascending; without the sums"""
    size: int
    """bytes of these files"""


def build(run: Location, progress: Progress = lambda done, total: None, lists: bool = True) -> Report:
    """Write the report of a finished run into it, in place of any other; nothing of an older report is left.

    All pages are made before the first is written, so an error in between leaves the report that was there. Without
    `lists` there are no ranked lists of holds, which take a few seconds each. Raises `Refused` for an incomplete run,
    `Altered` for one that has changed, `ConfigError` where there is none.
    """
    manifest, _, places = open_run(run)
    if not (run / SUCCESS).exists():
        raise Refused(f"{run} holds an incomplete run; finish it first: autohold certify … --resume")
    if findings := wrong_files(run):
        raise Altered(f"{run} was complete and has changed since:\n    " + "\n    ".join(findings))
    sums: dict[str, str] = {}
    size = 0
    with TemporaryDirectory(prefix="autohold-report-") as name:
        made = Path(name)
        for path, content in _pages(manifest, run_files(run, manifest), places, progress, lists):
            (made / path).parent.mkdir(parents=True, exist_ok=True)
            (made / path).write_bytes(content)
            sums[path] = hashlib.sha256(content).hexdigest()
            size += len(content)
        with claim(run):
            _replace(run / FOLDER, made, sums)
    return Report(manifest["identity"], tuple(f"{FOLDER}/{path}" for path in sorted(sums)), size)


def _replace(report: Location, made: Path, sums: dict[str, str]) -> None:
    """The files of `made` in place of those of `report`; the sums go first and come back last."""
    (report / SUMS).unlink(missing_ok=True)
    for path in sums:
        write_whole(report / path, (made / path).read_bytes())
    for old in tree(report):
        if old not in sums:
            (report / old).unlink()
    write_whole(report / SUMS, sums_text(sums).encode())


def run_files(run: Location, manifest: dict[str, Any]) -> dict[str, sheet.Listing]:
    """Every file that the sums of the run list, by its path."""
    tables = {part["path"]: (part["rows"], part["content"]) for part in manifest["parts"]}
    return {path: sheet.Listing(path, sha256, *tables.get(path, ())) for path, sha256 in read_sums(run).items()}


def _pages(
    manifest: dict[str, Any], files: dict[str, sheet.Listing], places: tuple[Place, ...], progress: Progress,
    lists: bool,
) -> Iterator[tuple[str, bytes]]:  # fmt: skip
    """Every file of the report: its path from the report's folder, and its bytes."""
    done, explorers = 0, True
    shown: list[sheet.Sheet] = []
    for game, several in groupby(places, lambda place: place.folder.split("/")[0]):
        tables = list(several)
        asked = explorer.page(tables)
        if asked is not None:
            yield f"{game}/explorer.html", asked.encode()
        for place in tables:
            listed = strategy_list.strategy_list(place) if lists else None
            if listed is not None:
                yield f"{place.folder}/strategy-list.json", pretty_text(listed.content).encode()
            made = sheet.sheet(place, tables, files, listed, has_explorer=asked is not None)
            shown.append(made)
            yield f"{place.folder}/par-sheet.html", made.html.encode()
            done += 1
            progress(done, len(places))
        explorers &= asked is not None
    yield "index.html", catalogue.page(shown, manifest, explorers).encode()
