"""`autohold chart`: the strategy of a paytable as people read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.console import RUN, one_thread
from pipeline.output import json_option, print_json

if TYPE_CHECKING:
    from pipeline.location import Location


@click.command()
@click.argument("run", type=RUN)
@click.option("--table", metavar="GAME/PAYTABLE", help="Needed where RUN has several paytables.")
@click.option("--lines", type=click.IntRange(2), metavar="N", help="At most; default: 40, or 50 with wild cards.")
@json_option
def chart(run: Location, table: str | None, lines: int | None, as_json: bool) -> None:
    """Derive a ranked list of holds from the exact strategy.

    A hand is played by the first line that fits it. The result is a chart file
    for autohold audit --strategy, with how often each line decides and what it
    wins as comments.
    """
    one_thread()
    from pipeline.derived import heading, ranked_list
    from pipeline.open_run import choose_place, open_run

    place = choose_place(open_run(run)[2], table)
    found = ranked_list(place, lines)
    if as_json:
        print_json({"run": str(run), **found})
        return
    for line in heading(found):
        click.echo(line)
    click.echo(found["chart"], nl=False)
