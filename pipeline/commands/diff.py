"""`autohold diff`: what changed between two runs."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.console import DONE, NO, json_option, print_json


@click.command()
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@json_option
def diff(before: Path, after: Path, as_json: bool) -> int:
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
