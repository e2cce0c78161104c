"""Where workers come from: processes of this machine, a scheduler that runs already, or jobs."""

from __future__ import annotations

import json
import logging
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from multiprocessing import active_children
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import dask
from distributed import LocalCluster

from pipeline.cluster.calls import Cluster
from pipeline.cluster.client import (
    STEADY_CLOCK,
    Patient,
    Unreachable,
    preloads,
    security,
    wait_for_workers,
)
from pipeline.events import Report, event, ignore
from pipeline.execute import Connection, cores
from pipeline.faults import ConfigError, Fault, count

LEAVE_INTERRUPTS = """
import signal, sys
from multiprocessing.resource_tracker import ensure_running
sys.warnoptions.append("ignore:resource_tracker")  # it inherits that, and does not tell what it clears away
ensure_running()  # who starts it has its interrupts let through afterwards
sys.warnoptions.pop()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
"""
"""run where local workers are started, which inherit it: a terminal interrupts all processes, the command answers"""


@contextmanager
def connect(connection: Connection, report: Report = ignore) -> Iterator[Cluster]:
    """The workers that a connection names; `report` is told what is waited for, and what may end well yet.

    Raises `Unreachable` without a scheduler or without workers, `OtherSoftware` where they have other software.
    """
    import_module(STEADY_CLOCK)  # for a command; who calls `local_cluster` may have loops of other kinds
    if not dask.config.get("logging", None):  # what goes wrong is said by the command, once and without a traceback
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    if connection.remote:
        with _remote_cluster(connection, report) as cluster:
            yield cluster
    elif connection.slurm:
        with _jobs(connection.slurm).slurm_cluster(connection.slurm, connection, report) as cluster:
            yield cluster
    else:
        workers = connection.workers or cores()
        report(event("step", message=f"starting {count(workers, 'local worker')}"))
        with local_cluster(workers, connection.dashboard, connection.wait_timeout) as cluster:
            yield cluster


def slurm_threads(profile: str, connection: Connection) -> int:
    """How many calls can run at the same time on SLURM; raises `ConfigError` for a profile that cannot be used."""
    threads: int = _jobs(profile).wanted_workers(profile, connection)[-1]
    return threads


def _jobs(profile: str) -> Any:
    """What needs dask-jobqueue; raises `ConfigError` without it."""
    answer = signal.getsignal(signal.SIGINT)
    try:
        return import_module("pipeline.cluster.jobs")
    except ImportError:
        message = "needs dask-jobqueue: pip install 'autohold[slurm]'"
        raise ConfigError([Fault("--slurm", profile, message)]) from None
    finally:
        if signal.getsignal(signal.SIGINT) is not answer:  # dask-jobqueue has interrupts end all with exit code 0
            signal.signal(signal.SIGINT, answer)


@contextmanager
def local_cluster(workers: int, dashboard: bool = False, patience: float = 60) -> Iterator[Cluster]:
    """Worker processes on this machine, reachable from this machine only, as is their dashboard.

    Raises `Unreachable` where they do not start, or not in `patience` seconds; `ConfigError` where there is nothing of
    the name of a preload; `OSError` for files.
    """
    # Dask tells workers to give freed memory back at once, which makes all that allocates arrays a fifth slower.
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}),
        _started(workers, dashboard, patience) as cluster,
        Patient(cluster, patience) as client,
        closing(Cluster(client, count(workers, "local worker"), "this machine", dashboard)) as found,
    ):
        yield found


def _started(workers: int, dashboard: bool, patience: float) -> LocalCluster:
    """Local workers. Dask waits for ever for a process that is stopped, and so does Python at its end: it is killed."""
    others, late, over = {*active_children()}, Event(), Event()

    def kill() -> None:
        for child in {*active_children()} - others:
            child.kill()

    def watch() -> None:
        while not over.wait(patience):  # again, for Dask starts those anew that were there already
            late.set()
            kill()

    Thread(target=watch, daemon=True).start()
    try:
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": dashboard, "preload": [LEAVE_INTERRUPTS]},
            silence_logs=logging.CRITICAL,
            preload=preloads("worker"),
        )
    except Exception as problem:
        raise _why(problem, count(workers, "local worker"), f"not in {patience:g} s" if late.is_set() else "") from None
    except BaseException:
        kill()
        raise
    finally:
        over.set()


def _why(problem: BaseException, what: str, late: str) -> Exception:
    """What to raise for what Dask says of workers that do not start."""
    while problem.__cause__ is not None:
        problem = problem.__cause__
    said = f"{what} could not be started"
    if isinstance(problem, ImportError):
        preload = "distributed.worker.preload or distributed.nanny.preload"
        return ConfigError([Fault("Dask's configuration", preload, f"{said}: {problem}")])
    if isinstance(problem, OSError) and problem.errno and not isinstance(problem, ConnectionError):
        return OSError(problem.errno, f"{said}: {problem.strerror}", problem.filename)
    return Unreachable(f"{said}: {late or str(problem) or type(problem).__name__}")


@contextmanager
def _remote_cluster(connection: Connection, report: Report) -> Iterator[Cluster]:
    """The workers of a scheduler that runs already, as soon as there are enough of them."""
    where = connection.scheduler or connection.scheduler_file
    timeout = connection.wait_timeout
    report(event("step", message=f"connecting, for {timeout:g} s at most, to the Dask scheduler at {where}"))
    try:
        address = connection.scheduler or _address(Path(connection.scheduler_file or ""), timeout, report)
        client = Patient(address, timeout, security(connection.tls))
    except (OSError, TimeoutError, ValueError) as problem:
        raise Unreachable(f"no Dask scheduler answers at {where}: {problem}") from None
    except TypeError:  # what Dask says of an encrypted address for which it has no files
        message = "needs certificates: give --tls-ca, --tls-cert and --tls-key, or set them in Dask's configuration"
        raise ConfigError([Fault("", str(where), message)]) from None
    with client:
        what = f"the Dask scheduler at {where}"
        wait_for_workers(client, connection.wait_workers, what, report)
        with closing(Cluster(client, f"scheduler {where}", what)) as found:
            found.check_software(report)
            yield found


def _address(file: Path, timeout: float, report: Report) -> str:
    """The address in a scheduler's connection file; waits for a scheduler that is only starting. Raises `OSError`."""
    until = monotonic() + timeout
    if not file.exists():
        report(event("waiting", message=f"waiting up to {timeout:g} s for the address of a scheduler in {file}"))
    while True:
        try:
            return str(json.loads(file.read_text(encoding="utf-8"))["address"])
        except (OSError, ValueError, KeyError, TypeError):
            if monotonic() > until:
                raise TimeoutError(f"there is no address in that file after {timeout:g} s") from None
        sleep(0.05)
