"""`autohold audit`: decisions against the optimum."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.console import DONE, NO, RUN
from pipeline.output import json_option, print_json

if TYPE_CHECKING:
    from pipeline.location import Location


@click.command()
@click.argument("run", type=RUN)
@click.option("--table", metavar="GAME/PAYTABLE", help="Needed where RUN has several paytables.")
@click.option("--holds", type=click.Path(path_type=Path), metavar="FILE", help="Decisions to audit, CSV or Parquet.")
@click.option("--paytable", metavar="OTHER", help="Play on this paytable of the game instead.")
@click.option("--strategy", type=click.Path(path_type=Path), metavar="CHART", help="Audit an ordered list of holds.")
@json_option
def audit(
    run: Location, table: str | None, holds: Path | None, paytable: str | None, strategy: Path | None, as_json: bool
) -> int:
    """Compare decisions with the optimum, exactly.

    A file of decisions has a column hand or deal (As Kd 3h 4c 5s, any order
    and suits) or five columns c1 to c5, and a column held (As Kd; empty for
    nothing), or hold with a mask. A chart has one hold a line, best first; see
    configs/charts. With --paytable alone, the strategy of --table is played
    on that paytable. Exit code 1 where anything costs something, or rows are
    missing, double or impossible.
    """
    from pipeline.audit import audit_holds, audit_other, choose_other, describe_audit
    from pipeline.charts import audit_chart, describe_chart
    from pipeline.open_run import choose_place, open_run

    if (holds and (strategy or paytable)) or not (holds or strategy or paytable):
        raise click.UsageError("give --holds FILE, --strategy CHART, --paytable OTHER, or the last two")
    place = choose_place(open_run(run)[2], table)
    other = choose_other(place, paytable) if paytable else place.paytable
    if strategy:
        found = audit_chart(place, other, strategy)
    else:
        found = audit_holds(place, holds) if holds else audit_other(place, other)
    if as_json:
        print_json(found)
    else:
        for line in describe_chart(found) if strategy else describe_audit(found):
            click.echo(line)
    whole = strategy or (found["complete"] and not found["problems"])
    return DONE if whole and found["cost"] == "0" else NO
