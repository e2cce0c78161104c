"""`autohold report`: the pages of a finished run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pipeline.console import RUN, choose_executor, executor_options, one_thread
from pipeline.output import json_option, print_json
from pipeline.progress import Progress

if TYPE_CHECKING:
    from pipeline.execute import Connection
    from pipeline.location import Location


@click.command()
@click.argument("run", type=RUN)
@click.option("--no-lists", is_flag=True, help="No ranked lists of holds, a few seconds each.")
@executor_options
@json_option
def report(run: Location, no_lists: bool, connection: Connection, as_json: bool) -> None:
    """Write the pages of the finished run RUN into RUN/report.

    A PAR sheet for each paytable, an explorer for each game, and a catalogue
    of all, index.html. They need no server and no network. The report that is
    there is replaced as a whole; SHA256SUMS in it comes last.
    """
    one_thread()
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise click.UsageError("report needs matplotlib for its plots: pip install 'autohold[plots]'") from None
    from pipeline.report.build import FOLDER, build

    progress = Progress("pages")
    done = build(run, choose_executor(connection), progress, lists=not no_lists)
    progress.end()
    if as_json:
        index = f"{FOLDER}/index.html"
        print_json(
            {"run": str(run), "identity": done.identity, "index": index, "files": list(done.files), "bytes": done.size}
        )
        return
    click.echo(f"{run / FOLDER / 'index.html'}: {len(done.files)} files, {done.size:,} bytes")
