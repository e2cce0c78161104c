"""`autohold plan`: what certifying would make and take; nothing is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.certify import certify_options, choose_games
from pipeline.console import DONE
from pipeline.output import print_json
from pipeline.progress import duration

if TYPE_CHECKING:
    from pathlib import Path

    from pipeline.execute import Connection
    from pipeline.location import Location

WIDTH = "{:<36} {:>9} {:>15} {:>9} {:>7}"
BASIS = "measured on one core of a server of 2023; may be half or twice as much"


@click.command()
@certify_options(out=False)
def plan(
    games: tuple[Path, ...],
    out: Location | None,
    paytables: tuple[str, ...],
    pays: tuple[str, ...],
    connection: Connection,
    tie_break: str,
    all_holds: bool,
    sensitivity: bool,
    rows_per_part: int | None,
    as_json: bool,
    **unused: Any,
) -> int:
    """Say what certifying GAMES would make and take.

    Nothing is computed. It has the options of certify, --run-config too.
    """
    from pipeline.estimate import estimate, estimate_entry
    from pipeline.plan import ROWS_PER_PART, count_parts, tasks
    from pipeline.run import make_plan, state

    chosen = choose_games(games, paytables, pays)
    made = make_plan(chosen, tie_break, rows_per_part or ROWS_PER_PART, all_holds, sensitivity)
    workers = _workers(connection)
    cut = tasks(made, 2 * workers if workers > 1 else 1)
    rows = []
    for number, entry in enumerate(made.entries):
        found, own = estimate_entry(made, number), [task for task in cut if task.entry == number]
        rows.append(
            {"game": entry.name, "paytables": len(entry.paytables), "canonical_hands": entry.rows,
             "depend_on_order": bool(entry.ordered), "parts": count_parts(made, own), "tasks": len(own),
             "memory_bytes": found.memory, "cpu_seconds": round(found.seconds, 1), "disk_bytes": found.disk}
        )  # fmt: skip
    total = estimate(made)
    about: dict[str, Any] = {
        "memory_bytes": total.memory,
        "cpu_seconds": round(total.seconds, 1),
        "disk_bytes": total.disk,
    }
    there = None if out is None else state(out, made)
    about["basis"] = BASIS
    place = {"out": None if out is None else str(out), "state": there}
    counts = {"games": rows, "parts": count_parts(made), "tasks": len(cut)}
    said = {"identity": made.identity, "workers": workers, **place, **counts, "estimate": about}
    if as_json:
        print_json(said)
    else:
        for line in _lines(said, rows):
            click.echo(line)
    return DONE


def _workers(connection: Connection) -> int:
    """How many there will be, as far as it is known without connecting."""
    from pipeline.execute import cores

    if connection.serial:
        return 1
    if connection.slurm:
        from pipeline.cluster import slurm_threads

        return slurm_threads(connection.slurm, connection)
    if connection.remote:
        return connection.wait_workers
    return connection.workers or cores()


def _lines(said: dict[str, Any], rows: Sequence[dict[str, Any]]) -> list[str]:
    """The plan for people."""
    from pipeline.estimate import START

    lines = [f"identity {said['identity']}", WIDTH.format("game", "paytables", "canonical hands", "parts", "tasks")]
    counts = ("paytables", "canonical_hands", "parts", "tasks")
    lines += [WIDTH.format(row["game"][:36], *(f"{row[key]:,}" for key in counts)) for row in rows]
    if len(rows) > 1:
        lines.append(WIDTH.format("together", *(f"{sum(row[key] for row in rows):,}" for key in counts)))
    about, workers = said["estimate"], said["workers"]
    wall = duration(START + (about["cpu_seconds"] - START) / min(workers, said["tasks"])).removesuffix(" left")
    lines += [
        f"memory   about {about['memory_bytes'] / 2**20:,.0f} MiB in each worker",
        f"disk     about {about['disk_bytes'] / 2**20:,.1f} MiB",
        f"time     about {about['cpu_seconds']:,.0f} s of one core, {wall} with {workers} workers"
        if workers > 1 else f"time     about {about['cpu_seconds']:,.0f} s",
        f"         {BASIS}",
    ]  # fmt: skip
    if said["out"] is not None:
        lines.append(f"out      {said['out']}: {said['state']}")
    return lines
