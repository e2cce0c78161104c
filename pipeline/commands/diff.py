"""`autohold diff`: what changed between two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.console import DONE, NO, RUN
from pipeline.output import json_option, print_json

if TYPE_CHECKING:
    from pipeline.location import Location


@click.command()
@click.argument("before", type=RUN)
@click.argument("after", type=RUN)
@json_option
def diff(before: Location, after: Location, as_json: bool) -> int:
    """Show what changed from the run BEFORE to the run AFTER.

    Inputs, paybacks, and the holds that differ with their exact cost on the
    other paytable. Exit code 1 where the identities differ.
    """
    from pipeline.diff import compare_runs, describe_runs

    found = compare_runs(before, after)
    if as_json:
        print_json(found)
    else:
        for line in describe_runs(found):
            click.echo(line)
    return DONE if found["same"] else NO
