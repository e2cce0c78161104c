"""Workers as jobs of SLURM, by dask-jobqueue: submitted until they are taken, replaced when they are lost."""

from __future__ import annotations

import asyncio
import errno
import logging
import shlex
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from math import inf
from time import monotonic
from types import SimpleNamespace
from typing import Any

import dask
from dask_jobqueue.slurm import SLURMCluster, SLURMJob
from distributed import Adaptive, Security, Status

from pipeline.cluster.calls import Cluster
from pipeline.cluster.client import (
    Patient,
    Unreachable,
    configured_security,
    security,
    wait_for_workers,
)
from pipeline.cluster.slurm import MISS_AFTER, fate, pause, present, says, worker_job
from pipeline.events import Report, event
from pipeline.execute import Connection, Tls
from pipeline.faults import ConfigError, Fault, count

MOST_WORKERS = 8
"""workers at most, where neither the command nor Dask's configuration limits them"""
SUBMIT_AFTER = 1.0
"""seconds after which a job that SLURM did not take is submitted again"""


class _Job(SLURMJob):
    """A job that is submitted until SLURM takes it; dask-jobqueue submits it once, and forgets it."""

    def __init__(self, *where: Any, security: Security | None = None, **settings: Any) -> None:
        """Quote the names of the worker's files, for they become words of a script."""
        files = security.get_tls_config_for_role("worker") if security else {}
        quoted = {what: shlex.quote(file) for what, file in files.items() if file}
        names = SimpleNamespace(get_tls_config_for_role=lambda _: quoted) if security else None
        super().__init__(*where, security=names, **settings)  # type: ignore[no-untyped-call]

    async def start(self) -> None:
        """Begin to submit it."""
        self._wanted = True
        self._submission = asyncio.create_task(self._submit())
        self.status = Status.running

    async def _submit(self) -> None:
        while self._wanted and not self.job_id:
            try:
                await super().start()  # type: ignore[no-untyped-call]
                self.submitted = monotonic()
            except (RuntimeError, OSError):  # as long as SLURM's controller starts again, for example
                await asyncio.sleep(SUBMIT_AFTER)

    async def close(self) -> None:
        """Cancel it, or submit it no more."""
        self._wanted = False
        await self._submission
        with suppress(OSError):  # it ends by itself, without a scheduler
            await super().close()  # type: ignore[no-untyped-call]
        self.status = Status.closed


class _Replacing(Adaptive):
    """Replaces jobs that SLURM has no more; by itself Dask misses only those that had begun, with one worker."""

    cluster: Any
    _asked = -inf
    _pause = MISS_AFTER

    async def target(self) -> int:
        """Workers that there should be."""
        if monotonic() - self._asked > MISS_AFTER:
            self._asked = monotonic()
            await self._give_up_lost_jobs()
        return int(await super().target())  # type: ignore[no-untyped-call]

    async def _give_up_lost_jobs(self) -> None:
        """Others are submitted where workers are wanted still."""
        submitted = {name: job for name, job in self.cluster.workers.items() if job.job_id}
        there = await asyncio.to_thread(present)
        ages = {
            name: monotonic() - job.submitted
            for name, job in submitted.items()
            if there is not None and job.job_id not in there and self.cluster.workers.get(name) is job
        }
        if lost := [name for name, age in ages.items() if age > self._pause]:
            self._pause = pause(self._pause, min(map(ages.__getitem__, lost)))
            self.cluster._i += 1  # no name twice: Dask closes by its name what a worker left behind, some time after
            await self.cluster.scale_down(lost)
            jobs = [submitted[name].job_id for name in lost]
            reason = await asyncio.to_thread(fate, jobs, "")
            self.cluster.scheduler.log_event("all", {"action": "lose-jobs", "jobs": jobs, "reason": reason})


def _job_of(worker: Any) -> str:
    """The job of a worker of many, for Dask closes all of a job; the workers' names end with their number in it."""
    return str(worker.name).rpartition("-")[0]


def _worker_jobs(profile: str, processes: int, tls: Tls | None) -> Any:
    """A cluster of dask-jobqueue without jobs yet.

    Raises `ConfigError` for what Dask says of a profile, `Unreachable` while the port that it names is taken.
    """
    try:
        return SLURMCluster(
            config_name=profile,
            processes=processes,  # else it takes a job for one worker, and closes jobs that work
            job_cls=_Job,  # type: ignore[arg-type]
            security=security(tls) or configured_security(),
            silence_logs=logging.CRITICAL,
        )
    except (TypeError, ValueError, RuntimeError) as problem:  # a unit of memory or a network, for example
        said: BaseException | None = problem
        while said and not isinstance(said, OSError):  # which Dask hides behind others
            said = said.__cause__ or said.__context__
        if isinstance(said, OSError) and said.errno == errno.EADDRINUSE:
            port = dask.config.get(f"jobqueue.{profile}.scheduler-options").get("port")
            raise Unreachable(f"jobqueue.{profile}.scheduler-options: port {port} is in use on this host") from None
        message = f"jobqueue.{profile} cannot be used: {said or problem}"
        raise ConfigError([Fault("--slurm", profile, message)]) from None


def wanted_workers(profile: str, connection: Connection) -> tuple[dict[str, Any], int, int]:
    """The settings of a worker job, how many workers there may be, and their threads.

    Raises `ConfigError` for a profile that cannot be used.
    """
    job = worker_job(profile, dask.config.get("jobqueue"))
    limit = dask.config.get("distributed.adaptive.maximum")
    most = connection.workers or max(connection.wait_workers, MOST_WORKERS if limit == inf else int(limit))
    return job, most, most * (job["cores"] // job["processes"])


@contextmanager
def slurm_cluster(profile: str, connection: Connection, report: Report) -> Iterator[Cluster]:
    """Workers as SLURM jobs: as many as there is work for, replaced when they are lost, cancelled at the end.

    Raises `ConfigError` for a profile that cannot be used, `Unreachable` without workers.
    """
    job, most, threads = wanted_workers(profile, connection)
    least = max(connection.wait_workers, min(most, dask.config.get("distributed.adaptive.minimum")))
    what, timeout = f"SLURM by jobqueue.{profile}", connection.wait_timeout
    with (
        dask.config.set({f"jobqueue.{profile}": job}),
        _worker_jobs(profile, job["processes"], connection.tls) as cluster,
        Patient(cluster, timeout) as client,
    ):
        taken, words = says(cluster.job_script())
        if not taken:  # perhaps only for now
            words = f"SLURM takes no such job: {words}; trying for {timeout:g} s"
            report(event("warning", message=f"{what}: {words}"))
        # Jobs may wait long: ask for all that there is work for at once, and keep those without work for a minute.
        group = _job_of if job["processes"] > 1 else None
        many = {"minimum": least, "maximum": most, "worker_key": group}
        cluster.adapt(_Replacing, target_duration="10ms", wait_count=60, **many)
        name = f"{what}, {count(most, 'worker')} at most"
        try:
            wait_for_workers(client, connection.wait_workers, what, report)
            with closing(Cluster(client, name, what, to_come=threads)) as found:
                found.check_software(report)
                yield found
        except Unreachable as problem:
            numbers = [each.job_id for each in list(cluster.workers.values()) if each.job_id]
            raise Unreachable(f"{problem}; SLURM says: {fate(numbers, cluster.job_script())}") from None
