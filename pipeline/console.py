"""What the commands share: exit codes, and the options that say where tasks run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.output import output

if TYPE_CHECKING:
    from pipeline.events import Report
    from pipeline.execute import Connection, Tls

DONE, NO, WRONG, INTERNAL, IO, LATER = 0, 1, 2, 70, 74, 75
"""exit codes"""
GAME = click.Path(dir_okay=False, path_type=Path)
"""a game file as an argument; whether it is there is the reader's to say"""


class RunLocation(click.ParamType[Any]):
    """A run directory: a path, or a place in an object store like ``s3://bucket/run``."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Its location; raises `ConfigError` where the object store cannot be used."""
        from pipeline.faults import ConfigError
        from pipeline.location import location

        try:
            return location(value)
        except ConfigError:
            if ctx is not None and ctx.resilient_parsing:
                return value.rstrip("/")  # its name is enough
            raise


RUN = RunLocation()


PEM = click.Path(exists=True, dir_okay=False)
"""a file of keys or certificates"""


def executor_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say where tasks run; the command gets them as one argument, `connection`."""

    @wraps(function)
    def gathered(**values: Any) -> Any:
        said = {name: values.pop(name) for name in CONNECTING}
        return function(connection=_connection(**said), **values)

    for option in reversed(
        (
            click.option(
                "--workers",
                type=click.IntRange(1),
                metavar="N",
                help="Local worker processes; default: one per core. With --slurm: workers at most.",
            ),
            click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler that is running."),
            click.option("--scheduler-file", type=click.Path(), metavar="F", help="The scheduler's connection file."),
            click.option(
                "--slurm", metavar="PROFILE", help="SLURM jobs, as jobqueue.PROFILE of Dask's configuration says."
            ),
            click.option("--serial", is_flag=True, help="No Dask: one part after the other in this process."),
            click.option(
                "--wait-workers",
                type=click.IntRange(1),
                default=1,
                metavar="N",
                help="Begin with so many workers; default: 1.",
            ),
            click.option(
                "--wait-timeout",
                type=click.FloatRange(0, min_open=True),
                default=60,
                show_default=True,
                metavar="S",
                help="Seconds without a scheduler or workers until exit 75.",
            ),
            click.option("--dashboard", is_flag=True, help="Local workers: serve Dask's dashboard on loopback."),
            click.option("--tls-ca", type=PEM, metavar="PEM", help="Certificate authority of the cluster."),
            click.option("--tls-cert", type=PEM, metavar="PEM", help="Certificate of this client."),
            click.option("--tls-key", type=PEM, metavar="PEM", help="Its private key."),
        )
    ):
        gathered = option(gathered)
    return gathered


CONNECTING = (
    "workers",
    "scheduler",
    "scheduler_file",
    "slurm",
    "serial",
    "wait_workers",
    "wait_timeout",
    "dashboard",
    "tls_ca",
    "tls_cert",
    "tls_key",
)
"""what `executor_options` reads"""
PLACES = ("workers", "scheduler", "scheduler_file", "slurm", "serial")
"""those of them that say where; they exclude each other, but --slurm takes a number of workers"""
ELSEWHERE = ("wait_workers", "tls_ca", "tls_cert", "tls_key")
"""those of them that local workers have no use for"""


def replaced_places(line: set[str], file: set[str]) -> set[str]:
    """What a command line replaces of where a file says that tasks run: all of it, but the profile by a number.

    >>> sorted(replaced_places({"serial"}, {"workers", "slurm", "wait_workers", "out"}))
    ['slurm', 'wait_workers', 'workers']
    >>> replaced_places({"workers"}, {"slurm", "wait_workers"})
    set()
    """
    given = line & {*PLACES}
    kept = {"slurm"} if given == {"workers"} else {"workers"} if given == {"slurm"} else set()
    local = given & {"workers", "serial"} and not file & kept
    return file & {*PLACES, *(ELSEWHERE if local else ())} - kept if given else set()


def _connection(
    tls_ca: str | None, tls_cert: str | None, tls_key: str | None, **values: Any
) -> Connection:  # the other values are fields
    """The options as a value; flags beat DASK_SCHEDULER_ADDRESS. Raises `click.UsageError` for what does not fit."""
    from pipeline.execute import Connection, Tls, cores
    from pipeline.faults import count

    given = [f"--{name.replace('_', '-')}" for name in PLACES if values[name]]
    if len(given) > 1 and given != ["--workers", "--slurm"]:
        raise click.UsageError(f"{' and '.join(given)} exclude each other; give one of them")
    if not given:
        values["scheduler"] = os.environ.get("DASK_SCHEDULER_ADDRESS") or None
    files = (tls_ca, tls_cert, tls_key)
    if any(files) and not all(files):
        raise click.UsageError("--tls-ca, --tls-cert and --tls-key go together; give all three or none")
    connection = Connection(**values, tls=Tls(*files) if all(files) else None)  # type: ignore[arg-type]
    if connection.tls and not (connection.remote or connection.slurm):
        raise click.UsageError("--tls-ca, --tls-cert and --tls-key need --scheduler, --scheduler-file or --slurm")
    if connection.dashboard and (connection.remote or connection.slurm or connection.serial):
        raise click.UsageError("--dashboard is for local workers; other schedulers have their own")
    most = 1 if connection.serial else connection.workers or (None if connection.slurm else cores())
    if not connection.remote and most is not None and connection.wait_workers > most:
        raise click.UsageError(f"--wait-workers is more than {count(most, 'worker')}, and would wait in vain")
    if connection.tls:
        _check_tls(connection.tls)
    return connection


def _check_tls(tls: Tls) -> None:
    """Raise `ConfigError` for files that are no certificates, or a key that is not the certificate's."""
    import ssl

    from pipeline.faults import ConfigError, Fault

    faults = []
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(tls.ca)
    except OSError as problem:
        faults.append(Fault("--tls-ca", tls.ca, f"is no certificate authority in PEM: {problem}"))
    try:
        context.load_cert_chain(tls.cert, tls.key, password="")  # which nobody is asked for
    except OSError as problem:
        files = f"{tls.cert} and {tls.key}"
        what = f"are no certificate in PEM with its key, without a passphrase: {problem}"
        faults.append(Fault("--tls-cert and --tls-key", files, what))
    if faults:
        raise ConfigError(faults)


def choose_executor(connection: Connection, report: Report | None = None) -> Callable[[], AbstractContextManager[Any]]:
    """What makes the context in which tasks run; it says what it connects to and connected to, if not to `report`."""
    if connection.serial:
        from pipeline.execute import Serial

        return lambda: nullcontext(Serial())
    return lambda: _announced(connection, report or output().listener())


@contextmanager
def _announced(connection: Connection, report: Report) -> Iterator[Any]:
    from pipeline.cluster import connect
    from pipeline.events import event

    with connect(connection, report) as executor:
        report(event("connected", message=executor.greeting))
        yield executor


def one_thread() -> None:
    """Keep NumPy's matrix products in one thread, unless the environment says otherwise; before NumPy is imported.

    Products of a few thousand rows are no faster in several threads, which wait for each other at twice the CPU time.
    """
    for library in ("OPENBLAS", "MKL", "OMP"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
