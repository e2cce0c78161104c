"""The door to Dask, and the only module that imports it: the same calls as `execute.Serial`, on many processes."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from math import inf
from pathlib import Path
from time import monotonic, sleep

import dask
from distributed import Client, KilledWorker, LocalCluster, Security, as_completed
from distributed.client import FutureCancelledError

from pipeline.events import Report, ignore
from pipeline.execute import Argument, Connection, Failure, Result, Tls
from pipeline.faults import ConfigError, Fault
from pipeline.slurm import MOST_WORKERS, says, worker_job

WINDOW = 3
"""calls in flight for each thread of a worker, so that nobody waits and the scheduler stays small"""
LEAVE_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""run by every local worker: a terminal interrupts all processes of a command, and only the command is to answer"""


class Unreachable(ConnectionError):
    """There is no scheduler at that address, or it has no workers."""


class Cluster:
    """Calls on the workers of a Dask scheduler."""

    def __init__(self, client: Client, name: str, what: str, note: str = "", to_come: int = 1) -> None:
        self._client = client
        self.name = name
        self._what = what
        self._note = note
        self._to_come = to_come

    @property
    def greeting(self) -> str:
        """What it is connected to, and where to watch it, for people."""
        threads = self._client.nthreads()
        said = f"{self._what}: {_count(len(threads), 'worker')}, {_count(sum(threads.values()), 'thread')}"
        return f"{said}; {self._note}" if self._note else said

    @property
    def workers(self) -> int:
        """Threads of all workers, those to come included."""
        return max(self._to_come, sum(int(threads) for threads in self._client.nthreads().values()))

    def map(
        self,
        function: Callable[[Argument], Result],
        arguments: Sequence[Argument],
        keys: Sequence[str],
        report: Report = ignore,
    ) -> Iterator[tuple[Argument, Result | Failure]]:
        """Call the function on the workers; a sliding window keeps few calls in flight."""
        waiting = iter(zip(arguments, keys, strict=True))
        running: dict[str, Argument] = {}

        def submit() -> list[object]:
            for argument, key in waiting:
                running[key] = argument
                return [self._client.submit(function, argument, key=key, pure=False)]
            return []

        first = [future for _ in range(WINDOW * self.workers) for future in submit()]
        pool = as_completed(first)
        for future in pool:
            argument = running.pop(future.key)
            try:
                result: Result | Failure = future.result()
            except KilledWorker as problem:
                result = Failure(f"its worker died {problem.allowed_failures + 1} times")
            except FutureCancelledError:
                reason = "the Dask scheduler is gone; what is done is on disk, --resume goes on"
                raise Unreachable(f"{self.name}: {reason}") from None
            future.release()
            for more in submit():
                pool.add(more)
            yield argument, result


@contextmanager
def connect(connection: Connection) -> Iterator[Cluster]:
    """The workers that a connection names; raises `Unreachable` without a scheduler or without workers."""
    if connection.remote:
        with remote_cluster(connection) as cluster:
            yield cluster
    elif connection.slurm:
        with slurm_cluster(connection.slurm, connection) as cluster:
            yield cluster
    else:
        with local_cluster(connection.workers or default_workers(), connection.dashboard) as cluster:
            yield cluster


@contextmanager
def local_cluster(workers: int, dashboard: bool = False) -> Iterator[Cluster]:
    """Worker processes on this machine, reachable from this machine only, as is their dashboard."""
    # Dask tells workers to give freed memory back at once, which makes all that allocates arrays a fifth slower.
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0" if dashboard else None,
            silence_logs=logging.CRITICAL,
            preload=[LEAVE_INTERRUPTS],
        ) as cluster,
        Client(cluster) as client,
    ):
        yield Cluster(
            client, _count(workers, "local worker"), "on this machine", _dashboard(client) if dashboard else ""
        )


@contextmanager
def remote_cluster(connection: Connection) -> Iterator[Cluster]:
    """The workers of a scheduler that runs already, as soon as there are enough of them."""
    where = connection.scheduler or connection.scheduler_file
    timeout = connection.wait_timeout
    try:
        address = connection.scheduler or _address(Path(connection.scheduler_file or ""), timeout)
        client = Client(address, timeout=timeout, security=_security(connection.tls))
    except (OSError, TimeoutError, ValueError) as problem:
        raise Unreachable(f"no Dask scheduler answers at {where}: {problem}") from None
    with client:
        _wait_for_workers(client, connection.wait_workers, timeout, f"the Dask scheduler at {where}")
        watch = _dashboard(client) if "dashboard" in client.scheduler_info(n_workers=0)["services"] else ""
        yield Cluster(client, f"scheduler {where}", f"Dask scheduler at {where}", watch)


@contextmanager
def slurm_cluster(profile: str, connection: Connection) -> Iterator[Cluster]:
    """Workers as SLURM jobs: as many as there is work for, replaced when they are lost, cancelled at the end.

    Raises `ConfigError` for a profile that cannot be used, `Unreachable` without workers.
    """
    try:
        from dask_jobqueue.slurm import SLURMCluster  # its import adds its defaults to Dask's configuration
    except ImportError:
        fault = Fault("--slurm", profile, "needs dask-jobqueue: pip install 'autohold[slurm]'")
        raise ConfigError([fault]) from None
    job = worker_job(profile, dask.config.get("jobqueue"))
    limit = dask.config.get("distributed.adaptive.maximum")
    most = connection.workers or (MOST_WORKERS if limit == inf else int(limit))
    least = max(connection.wait_workers, min(most, dask.config.get("distributed.adaptive.minimum")))
    what, timeout = f"SLURM by jobqueue.{profile}", connection.wait_timeout
    with (
        dask.config.set({f"jobqueue.{profile}": job}),
        SLURMCluster(config_name=profile, security=_security(connection.tls), silence_logs=logging.CRITICAL) as cluster,
        Client(cluster) as client,
    ):
        taken, words = says(cluster.job_script())
        if not taken:
            raise Unreachable(f"{what}: SLURM takes no such job: {words}")
        # Jobs may wait long: ask for all that there is work for at once, and keep those without work for a minute.
        cluster.adapt(minimum=least, maximum=max(least, most), target_duration="10ms", wait_count=60)
        try:
            _wait_for_workers(client, connection.wait_workers, timeout, what)
        except Unreachable as problem:
            raise Unreachable(f"{problem}; SLURM says: {says(cluster.job_script())[1]}") from None
        threads = most * job["cores"] // job["processes"]
        yield Cluster(client, f"{what}, {_count(most, 'worker')} at most", what, _dashboard(client), threads)


def _dashboard(client: Client) -> str:
    """Where a cluster can be watched; without bokeh Dask serves no dashboard."""
    if client.run_on_scheduler(find_spec, "bokeh") is None:
        return "no dashboard: its scheduler has no bokeh (pip install 'autohold[dashboard]')"
    return f"dashboard {client.dashboard_link}"


def _security(tls: Tls | None) -> Security | None:
    """What a client needs to talk to an encrypted scheduler; None leaves it to Dask's configuration."""
    if tls is None:
        return None
    return Security(tls_ca_file=tls.ca, tls_client_cert=tls.cert, tls_client_key=tls.key, require_encryption=True)


def _wait_for_workers(client: Client, number: int, timeout: float, what: str) -> None:
    """Until there are so many workers; raises `Unreachable` when time is up."""
    try:
        client.wait_for_workers(number, timeout=timeout)
    except TimeoutError:
        found = _count(len(client.nthreads()), "worker") if client.nthreads() else "no workers"
        wanted = f"; --wait-workers {number} are wanted" if number > 1 else ""
        raise Unreachable(f"{what} has {found} after {timeout:g} s{wanted}") from None


def _count(number: int, what: str) -> str:
    """A number of things.

    >>> _count(1, "worker"), _count(2, "worker")
    ('1 worker', '2 workers')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _address(file: Path, timeout: float) -> str:
    """The address in a scheduler's connection file; waits for a scheduler that is only starting. Raises `OSError`."""
    until = monotonic() + timeout
    while True:
        try:
            return str(json.loads(file.read_text(encoding="utf-8"))["address"])
        except (OSError, ValueError, KeyError, TypeError):
            if monotonic() > until:
                raise TimeoutError(f"there is no address in that file after {timeout:g} s") from None
        sleep(0.05)


def default_workers() -> int:
    """As many processes as this process may use cores."""
    return len(os.sched_getaffinity(0))
