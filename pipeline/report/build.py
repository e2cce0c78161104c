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
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pipeline.execute import Failure, Serial, call_all
from pipeline.location import Location, tree, write_whole
from pipeline.lock import claim
from pipeline.manifest import pretty_text
from pipeline.open_run import Place, open_run
from pipeline.report import catalogue, explorer, sheet, strategy_list
from pipeline.run import Altered, Refused
from pipeline.store import SUCCESS, SUMS, read_sums, sums_text, wrong_files
from pipeline.sweeps import Unfinished

FOLDER = "report"
Progress = Callable[[int, int], None]
"""called with the pages that are made and the pages in all, without the catalogue"""
Piece = tuple[str, int]
"""what a worker makes: ``sheet`` of the paytable with this number in the run, or ``explorer`` of its game"""
Files = list[tuple[str, bytes]]
"""path from the report's folder, and content"""


@dataclass(frozen=True)
class Report:
    """A report that was written."""

    identity: str
    """of the run"""
    files: tuple[str, ...]
    """from the run directory, ascending; without the sums"""
    size: int
    """bytes of these files"""


def build(
    run: Location,
    executor: Callable[[], Any] = lambda: nullcontext(Serial()),
    progress: Progress = lambda done, total: None,
    lists: bool = True,
) -> Report:
    """Write the report of a finished run into it, in place of any other; nothing of an older report is left.

    `executor` makes a context manager of an `Executor`. All pages are made before the first is written, so an error in
    between leaves the report that was there. Without `lists` there are no ranked lists of holds, which take a few
    seconds each. Raises `Refused` for an incomplete run, `Altered` for one that has changed, `ConfigError` where there
    is none, `Unfinished` where a page could not be made.
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
        for path, content in _pages(run, manifest, places, executor, progress, lists):
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
    for path in sorted(sums):
        write_whole(report / path, (made / path).read_bytes())
    for old in tree(report):
        if old not in sums:
            (report / old).unlink()
    write_whole(report / SUMS, sums_text(sums).encode())


# --- pages ------------------------------------------------------------------------------------------------------------


def _pages(
    run: Location,
    manifest: dict[str, Any],
    places: Sequence[Place],
    executor: Callable[[], Any],
    progress: Progress,
    lists: bool,
) -> Iterator[tuple[str, bytes]]:
    """Every file of the report, in any order."""
    first = {_game(place): number for number, place in reversed(list(enumerate(places)))}
    pieces: list[Piece] = [("explorer", number) for number in first.values()]
    pieces += [("sheet", number) for number in range(len(places))]
    where = run.absolute(), manifest["identity"], lists
    name = f"report-{manifest['identity'][:12]}"
    with executor() as workers:
        results = call_all(workers, partial(make_piece, *where), pieces, lambda piece: f"{name}-{piece[0]}-{piece[1]}")
        for done, ((kind, number), result) in enumerate(results, 1):
            if isinstance(result, Failure):
                raise Unfinished(f"{places[number].folder}: the {kind} could not be made: {result.reason}")
            yield from result
            progress(done, len(pieces))
    shown = [catalogue.Certified(place, place.certificate()) for place in places]
    yield "index.html", catalogue.page(shown, manifest).encode()


def make_piece(run: Location, identity: str, lists: bool, piece: Piece) -> Files:
    """The files of one piece of the report of the run with this identity."""
    kind, number = piece
    places, listings = _opened(run, identity)
    place = places[number]
    family = [other for other in places if _game(other) == _game(place)]
    if kind == "explorer":
        return [(f"{_game(place)}/explorer.html", explorer.page(family).encode())]
    listed = strategy_list.strategy_list(place) if lists else None
    files = [(f"{place.folder}/par-sheet.html", sheet.sheet(place, family, listings, listed).encode())]
    if listed is not None:
        files.append((f"{place.folder}/strategy-list.json", pretty_text(listed.content).encode()))
    return files


def _game(place: Place) -> str:
    """The folder of its game."""
    return place.folder.split("/")[0]


@lru_cache(maxsize=1)
def _opened(run: Location, identity: str) -> tuple[tuple[Place, ...], dict[str, sheet.Listing]]:
    """The paytables of a run and its files by path, read once per process; `identity` tells runs of one place apart."""
    manifest, _, places = open_run(run)
    if manifest["identity"] != identity:
        raise Refused(f"{run}: expected the run {identity}, found {manifest['identity']}; it was replaced meanwhile")
    return places, run_files(run, manifest)


def run_files(run: Location, manifest: dict[str, Any]) -> dict[str, sheet.Listing]:
    """Every file that the sums of the run list, by its path."""
    tables = {part["path"]: (part["rows"], part["content"]) for part in manifest["parts"]}
    return {path: sheet.Listing(path, sha256, *tables.get(path, ())) for path, sha256 in read_sums(run).items()}
