"""`autohold status`: what a run directory is, and how far it got."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.console import DONE, LATER, NO, RUN
from pipeline.output import json_option, print_json

if TYPE_CHECKING:
    from pipeline.location import Location
    from pipeline.status import Status

SHOWN = 20
"""events and findings that are shown to people"""


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
    """The status for people."""
    far = "" if found.done == found.parts else f", {found.done:,} of {found.parts:,} parts"
    said = [f"{found.run}: {found.state}{far}", f"identity  {found.identity}"]
    said.append("software  " + ", ".join(f"{name} {value[:12]}" for name, value in found.software.items()))
    if found.started:
        where = " on ".join(str(found.started.get(key, "?")) for key in ("pid", "host"))
        said.append(f"started   {_time(found.started)} by process {where}, {found.started.get('executor', '')}")
    if found.ended:
        how = found.ended.get("reason", found.ended["event"])
        said.append(f"ended     {_time(found.ended)} after {found.ended.get('seconds', 0):,.0f} s: {how}")
    elif found.started and not found.in_use:
        said.append("ended     without a word: its process is gone")
    if found.in_use:
        job = f", batch job {found.in_use['job']}" if "job" in found.in_use else ""
        said.append(f"in use    by process {found.in_use.get('pid')} on {found.in_use.get('host')}{job}")
    if found.state != "complete":
        said += _remedy(found)
        said += [f"  {game.name:<36} {game.done:>8,} of {game.parts:,} parts" for game in found.games]
    more = [*found.findings, *(", ".join(f"{key} {value}" for key, value in said.items()) for said in found.happened)]
    said += [f"  {line}" for line in more[:SHOWN]]
    if len(more) > SHOWN:
        said.append(f"  and {len(more) - SHOWN:,} more, all with --json")
    return said


def _remedy(found: Status) -> list[str]:
    if found.state == "damaged":
        return ["repair    autohold verify says more; certify again into another directory"]
    if not found.resumable:
        return ["resume    only with the software that began it; here is other software"]
    return [] if found.in_use else ["resume    repeat its command with --resume"]


def _time(event: dict[str, str]) -> str:
    """The time of an event for people: ``2026-11-30 01:54:48 UTC``."""
    return f"{event.get('time', '?')[:19].replace('T', ' ')} UTC"
