"""`autohold audit`: decisions against the optimum."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.console import DONE, NO, json_option, print_json


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@click.option("--table", metavar="GAME/PAYTABLE", help="Needed where RUN has several paytables.")
@click.option("--holds", type=click.Path(path_type=Path), metavar="FILE", help="Decisions to audit, CSV or Parquet.")
@click.option("--paytable", metavar="OTHER", help="Play the strategy of --table on this paytable of its game.")
@json_option
def audit(run: Path, table: str | None, holds: Path | None, paytable: str | None, as_json: bool) -> int:
    """Compare decisions with the optimum, exactly.

    A file of decisions has a column hand or deal (As Kd 3h 4c 5s, any order
    and suits) or five columns c1 to c5, and a column held (As Kd; empty for
    nothing), or hold with a mask. Exit code 1 where any decision costs
    something, is missing, double or impossible.
    """
    from pipeline.audit import audit_holds, audit_other, choose_other, describe_audit
    from pipeline.open_run import choose_place, open_run

    if (holds is None) == (paytable is None):
        raise click.UsageError("give either --holds FILE or --paytable OTHER")
    place = choose_place(open_run(run)[2], table)
    found = audit_holds(place, holds) if holds else audit_other(place, choose_other(place, str(paytable)))
    if as_json:
        print_json(found)
    else:
        for line in describe_audit(found):
            click.echo(line)
    return DONE if found["complete"] and not found["problems"] and not found["costly_decisions"] else NO
