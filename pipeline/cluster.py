"""The door to Dask, and the only module that imports it: the same calls as `execute.Serial`, on many processes."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import dask
from dask.utils import parse_timedelta
from distributed import Client, KilledWorker, LocalCluster, as_completed
from distributed.client import FutureCancelledError

from pipeline.events import Report, ignore
from pipeline.execute import Argument, Failure, Result

WINDOW = 3
"""calls in flight for each thread of a worker, so that nobody waits and the scheduler stays small"""
LEAVE_INTERRUPTS = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""run by every local worker: a terminal interrupts all processes of a command, and only the command is to answer"""


class Unreachable(ConnectionError):
    """There is no scheduler at that address, or it has no workers."""


class Cluster:
    """Calls on the workers of a Dask scheduler."""

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self.name = name

    @property
    def workers(self) -> int:
        """Threads of all workers."""
        return max(1, sum(int(threads) for threads in self._client.nthreads().values()))

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
def local_cluster(workers: int) -> Iterator[Cluster]:
    """Worker processes on this machine, reachable from this machine only."""
    # Dask tells workers to give freed memory back at once, which makes all that allocates arrays a fifth slower.
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": None}),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
            preload=[LEAVE_INTERRUPTS],
        ) as cluster,
        Client(cluster) as client,
    ):
        yield Cluster(client, f"{workers} local worker{'s' if workers > 1 else ''}")


@contextmanager
def remote_cluster(address: str | None, scheduler_file: str | None) -> Iterator[Cluster]:
    """The workers of a scheduler that runs already; raises `Unreachable` without a scheduler or without workers.

    Waits as long for either as Dask's setting `distributed.comm.timeouts.connect` says, 30 s unless it is changed, by
    ``DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT=5s`` for example.
    """
    where = address or scheduler_file
    timeout = parse_timedelta(dask.config.get("distributed.comm.timeouts.connect"))
    try:
        client = Client(address or _address(Path(scheduler_file or ""), timeout), timeout=timeout)
    except (OSError, TimeoutError, ValueError) as problem:
        raise Unreachable(f"no Dask scheduler answers at {where}: {problem}") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=timeout)
        except TimeoutError:
            raise Unreachable(f"the Dask scheduler at {where} has no workers after {timeout:g} s") from None
        yield Cluster(client, f"scheduler {where}")


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
