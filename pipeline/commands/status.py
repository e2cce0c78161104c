"""`autohold status`: what a run directory is, and how far it got."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import shorten, wrap
from typing import TYPE_CHECKING

import click

from pipeline.console import DONE, LATER, NO, RUN
from pipeline.events import failed_parts
from pipeline.faults import MOST_NAMED, count
from pipeline.output import json_option, print_json

if TYPE_CHECKING:
    from pipeline.location import Location
    from pipeline.status import Status

SHOWN = 20
"""failures and findings that are shown to people"""
MOST = 400
"""characters that are shown of each"""


@click.command()
@click.argument("run", type=RUN)
@click.option("--digests", is_flag=True, help="Read all files and compare their digests.")
@json_option
def status(run: Location, digests: bool, as_json: bool) -> int:
    """Say what the run directory RUN is and how far it got.

    Nothing is computed. Exit codes: 0 complete, 1 damaged, 2 no run directory,
    75 incomplete.
    """
    from pipeline.status import COMPLETE, DAMAGED
    from pipeline.status import status as look

    found = look(run, digests)
    if as_json:
        print_json(found.values())
    else:
        for line in _lines(found):
            click.echo(line)
    return {COMPLETE: DONE, DAMAGED: NO}.get(found.state, LATER)


def _lines(found: Status) -> list[str]:
    """The status for people; only a path may be longer than a line of a terminal."""
    far = "" if found.done == found.parts else f", {found.done:,} of {found.parts:,} parts"
    lines = [f"{found.run}: {found.state}{far}"]
    for label, text in _said(found):
        said = shorten(text, MOST, placeholder=" …")
        lines += wrap(said, 80, initial_indent=f"{label:<10}", subsequent_indent=" " * 10,
                      break_long_words=False, break_on_hyphens=False)  # fmt: skip
    if found.state != "complete":
        lines += [f"  {game.name[:36]:<36} {game.done:>8,} of {game.parts:,} parts" for game in found.games]
    return lines


def _said(found: Status) -> Iterator[tuple[str, str]]:
    """What there is to say, and a word for it."""
    yield "identity", found.identity
    yield "software", ", ".join(f"{name} {value[:12]}" for name, value in found.software.items())
    if found.started:
        where = " on ".join(str(found.started.get(key, "?")) for key in ("pid", "host"))
        yield "started", f"{_time(found.started)} by process {where}, {found.started.get('executor', '')}"
    if found.ended:
        after = f" after {found.ended['seconds']:,.0f} s" if "seconds" in found.ended else ""
        yield "ended", f"{_time(found.ended)}{after}: {found.ended.get('reason', found.ended['event'])}"
    elif found.started and not found.in_use:
        yield "ended", "without a word: its process is gone"
    if found.in_use:
        job = f", batch job {found.in_use['job']}" if "job" in found.in_use else ""
        yield "in use", f"by process {found.in_use.get('pid')} on {found.in_use.get('host')}{job}"
    yield from _remedy(found)
    failed, damaged, workers, jobs = (
        [one for one in found.happened if one["event"] == kind]
        for kind in ("failed", "damaged", "worker lost", "jobs lost")
    )
    for label, texts in (
        ("failed", failed_parts(failed)),
        ("wrong", found.findings),
        ("made anew", [f"{one['path']}: {one['found']}" for one in damaged]),
    ):
        for text in texts[:SHOWN]:
            yield label, text
        if len(texts) > SHOWN:
            yield label, f"{len(texts) - SHOWN:,} more, all with --json"
    if workers:
        names = ", ".join(str(one["worker"]) for one in workers)
        yield "lost", count(len(workers), "worker") + f": {names}" * (len(workers) <= MOST_NAMED)
    if jobs:
        yield "lost", f"{count(sum(len(one['jobs']) for one in jobs), 'worker job')}, the last: {jobs[-1]['reason']}"


def _remedy(found: Status) -> Iterator[tuple[str, str]]:
    if found.state == "damaged":
        yield "repair", "autohold verify says more; certify again into another directory"
    elif found.state == "incomplete" and not found.resumable:
        yield "resume", "only with the software that began it; here is other software"
    elif found.state == "incomplete" and not found.in_use:
        yield "resume", "repeat its command with --resume"


def _time(event: dict[str, str]) -> str:
    """The time of an event for people: ``2026-11-30 01:54:48 UTC``."""
    return f"{event.get('time', '?')[:19].replace('T', ' ')} UTC"
