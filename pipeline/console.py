"""What the commands share: exit codes, options, JSON output and progress on the terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

DONE, NO, WRONG, INTERNAL, IO, LATER = 0, 1, 2, 70, 74, 75
"""exit codes"""
GAME = click.Path(dir_okay=False, path_type=Path)
"""a game file as an argument; whether it is there is the reader's to say"""
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


def print_json(content: dict[str, Any]) -> None:
    """Print the JSON output of a command, its format number first."""
    from pipeline.manifest import FORMAT

    click.echo(json.dumps({"format": FORMAT, **content}, indent=2, ensure_ascii=False))


def executor_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options --workers, --scheduler, --scheduler-file and --serial; `choose_executor` takes their values."""
    for option in (
        click.option("--serial", is_flag=True, help="No Dask: one part after the other in this process."),
        click.option("--scheduler-file", type=click.Path(), metavar="F", help="The scheduler's connection file."),
        click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler that is running."),
        click.option(
            "--workers", type=click.IntRange(1), metavar="N", help="Local worker processes; default: one per core."
        ),
    ):
        function = option(function)
    return function


def choose_executor(
    workers: int | None, scheduler: str | None, scheduler_file: str | None, serial: bool
) -> Callable[[], AbstractContextManager[Any]]:
    """How the tasks are to run; flags beat DASK_SCHEDULER_ADDRESS."""
    flags = {"--workers": workers, "--scheduler": scheduler, "--scheduler-file": scheduler_file, "--serial": serial}
    given = [flag for flag, value in flags.items() if value]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} exclude each other; give one of them")
    if serial:
        from pipeline.execute import Serial

        return lambda: nullcontext(Serial())
    address = scheduler or (None if given else os.environ.get("DASK_SCHEDULER_ADDRESS"))

    def connect() -> AbstractContextManager[Any]:
        from pipeline.cluster import default_workers, local_cluster, remote_cluster

        if address or scheduler_file:
            return remote_cluster(address, scheduler_file)
        return local_cluster(workers or default_workers())

    return connect


def one_thread() -> None:
    """Keep NumPy's matrix products in one thread, unless the environment says otherwise; before NumPy is imported.

    Products of a few thousand rows are no faster in several threads, which wait for each other at twice the CPU time.
    """
    for library in ("OPENBLAS", "MKL", "OMP"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")


class Progress:
    """Progress on stderr: a line that changes on a terminal, else a plain line now and then."""

    def __init__(self, what: str = "parts") -> None:
        from time import monotonic

        self._what = what
        self._clock = monotonic
        self._began = monotonic()
        self._said = self._began
        self._terminal = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Say how much is done."""
        now = self._clock()
        if now - self._said < (0.1 if self._terminal else 15) and done < total:
            return
        self._said = now
        left = (now - self._began) / max(done, 1) * (total - done)
        text = f"{done:,} of {total:,} {self._what}, {left:.0f} s left"
        if self._terminal:
            click.echo(f"\r{text:<60}", err=True, nl=False)
        elif done < total:
            click.echo(text, err=True)

    def end(self) -> None:
        """Remove the line that changes."""
        if self._terminal:
            click.echo("\r" + " " * 60 + "\r", err=True, nl=False)
