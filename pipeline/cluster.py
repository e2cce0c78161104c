"""The door to Dask, and the only module that imports it: the same calls as `execute.Serial`, on many processes."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from secrets import token_hex
from time import monotonic, sleep
from typing import Any, Generic, NamedTuple

import dask
from distributed import Adaptive, Client, Future, KilledWorker, LocalCluster, Security, Status, get_worker
from distributed.client import ClosedClientError

from pipeline.events import Report, event, ignore
from pipeline.execute import Argument, Connection, Failure, Result, Tls
from pipeline.faults import ConfigError, Fault
from pipeline.same import Checked, OtherSoftware, differences, installed, installed_digest
from pipeline.slurm import MOST_WORKERS, STEADY_CLOCK, fate, present, says, worker_job

WINDOW = 8
"""calls in flight for each thread of a worker, sent by the half, so that nobody waits and the scheduler stays small"""
RESULTS = "autohold-results"
"""the topic of a scheduler's events that results come by"""
LOOK_AFTER = 1.0
"""seconds without news after which workers are counted"""
MISS_AFTER = 10.0
"""seconds after which SLURM is asked again which worker jobs it has"""
ROLES = ("client", "scheduler", "worker")
"""who has a certificate"""
LEAVE_INTERRUPTS = """
import signal
from multiprocessing.resource_tracker import ensure_running
ensure_running()  # who starts it has its interrupts let through afterwards
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
"""
"""run where local workers are started, which inherit it: a terminal interrupts all processes, the command answers"""


class Unreachable(ConnectionError):
    """There is no scheduler at that address, or it has no workers."""


class _OfWorker(NamedTuple):
    """That a worker has come or gone."""

    said: Mapping[str, Any]


class _Told(NamedTuple):
    """What a call came to."""

    key: str
    result: bytes
    """pickled"""


@dataclass(frozen=True)
class _Telling(Generic[Argument]):
    """A call that tells its result on the way that the news of its end takes, just before.

    So results need not be fetched, which takes longer than all else together, and are not lost with a worker.
    """

    call: Callable[[Argument], Any]

    def __call__(self, argument: Argument) -> None:
        """On a worker."""
        result = self.call(argument)
        worker = get_worker()
        worker.log_event(RESULTS, _Told(str(worker.get_current_task()), pickle.dumps(result)))


@contextmanager
def _asking(client: Client, what: str) -> Iterator[None]:
    """Where a scheduler is asked for something: raises `Unreachable` when it is gone."""
    try:
        yield
    except Unreachable:
        raise
    except Exception as problem:
        if client.status == "running" and not isinstance(problem, OSError):
            raise
        # A client that has lost its scheduler fails in many ways, and in others when it has given up.
        raise Unreachable(f"{what} is gone; what is done is on disk, --resume goes on") from None


class Cluster:
    """Calls on the workers of a Dask scheduler; whatever asks it raises `Unreachable` when it is gone."""

    def __init__(
        self, client: Client, name: str, what: str, patience: float = 60, note: str = "", to_come: int = 1
    ) -> None:
        self._client = client
        self.name = name
        self._what = what
        self._patience = patience
        self._note = note
        self._to_come = to_come
        self._heard: SimpleQueue[_OfWorker | _Told | Future[None]] = SimpleQueue()
        with _asking(client, what):
            client.subscribe_topic("all", self._hear)
            client.subscribe_topic(RESULTS, lambda said: self._heard.put(_Told(*said[1])))

    def _hear(self, said: tuple[float, Any]) -> None:
        """Keep what the scheduler says of workers; it says much else to all."""
        if isinstance(said[1], dict) and said[1].get("action") in ("add-worker", "remove-worker"):
            self._heard.put(_OfWorker(said[1]))

    def close(self) -> None:
        """Hear no more."""
        with suppress(ClosedClientError):  # it hears no more already
            self._client.unsubscribe_topic("all")
            self._client.unsubscribe_topic(RESULTS)

    @property
    def greeting(self) -> str:
        """What it is connected to, and where to watch it, for people."""
        with _asking(self._client, self._what):
            threads = self._client.nthreads()
        said = f"{self._what}: {_count(len(threads), 'worker')}, {_count(sum(threads.values()), 'thread')}"
        return f"{said}; {self._note}" if self._note else said

    @property
    def workers(self) -> int:
        """Threads of all workers, those to come included."""
        with _asking(self._client, self._what):
            return max(self._to_come, sum(int(threads) for threads in self._client.nthreads().values()))

    @property
    def memory(self) -> int | None:
        """Bytes for each thread of the worker that has least; None where no worker has a limit."""
        with _asking(self._client, self._what):
            workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return min((int(w["memory_limit"]) // int(w["nthreads"]) for w in workers if w["memory_limit"]), default=None)

    def check_software(self) -> None:
        """Compare what is installed here, on the scheduler and on all workers; raises `OtherSoftware`."""
        with _asking(self._client, self._what):
            others = {"the scheduler": self._on_scheduler(installed), **self._client.run(installed, on_error="return")}
        there = {who: found for who, found in others.items() if not isinstance(found, OSError)}  # others have just gone
        if lines := differences(installed(), there):
            raise OtherSoftware(f"{self._what}: the software is not the same everywhere\n    " + "\n    ".join(lines))

    def _on_scheduler(self, function: Callable[[], Result]) -> Result | Exception:
        try:
            result: Result = self._client.run_on_scheduler(function)
        except Exception as problem:  # whatever its code has become there
            return problem
        return result

    def map(
        self,
        function: Callable[[Argument], Result],
        arguments: Sequence[Argument],
        keys: Sequence[str],
        report: Report = ignore,
    ) -> Iterator[tuple[Argument, Result | Failure]]:
        """Call the function on the workers; a sliding window that follows the workers keeps few calls in flight.

        A scheduler takes calls of equal keys for one call, whoever sends them; so those of this map have a name of it.
        """
        call, name = _Telling(Checked(function, installed_digest())), token_hex(8)
        waiting = iter(zip(arguments, (f"{key}-{name}" for key in keys), strict=True))
        running: dict[str, tuple[Argument, Future[None]]] = {}
        watch = _Watch(self._client, self._what, self._patience, self._to_come)
        while True:
            most = WINDOW * watch.threads
            if len(running) <= most // 2:  # sent one by one, calls cost twice as much
                running |= self._send(call, list(islice(waiting, most - len(running))))
            if not running:
                return
            try:
                heard = self._heard.get(timeout=LOOK_AFTER)
            except Empty:
                watch.look()
                continue
            if isinstance(heard, _OfWorker):
                watch.hear(heard.said, running.keys(), report)
            elif heard.key in running:  # else of calls that nobody waits for any more
                result = pickle.loads(heard.result) if isinstance(heard, _Told) else self._failure(heard)
                argument, future = running.pop(str(heard.key))
                future.release()
                yield argument, result

    def _send(
        self, call: Callable[[Argument], None], wanted: Sequence[tuple[Argument, str]]
    ) -> dict[str, tuple[Argument, Future[None]]]:
        """Send calls to the scheduler; they are heard of when they are done."""
        if not wanted:
            return {}
        arguments, keys = zip(*wanted, strict=True)
        with _asking(self._client, self._what):
            futures = self._client.map(call, arguments, key=list(keys), pure=False)
        for future in futures:
            future.add_done_callback(self._heard.put)
        return {key: (argument, future) for (argument, key), future in zip(wanted, futures, strict=True)}

    def _failure(self, future: Future[None]) -> Failure:
        """Why a call could not be done, though others can; raises what concerns all of them."""
        if future.status == "cancelled":
            raise Unreachable(f"{self._what} is gone; what is done is on disk, --resume goes on")
        problem = future.exception()
        if isinstance(problem, KilledWorker):
            limit = problem.last_worker.memory_limit
            memory = f", each with {limit / 2**30:.1f} GiB of memory" if limit else ""
            return Failure(f"its worker died {problem.allowed_failures + 1} times{memory}")
        self.check_software()  # says more than what other code came to
        raise problem or RuntimeError(f"{future.key} is done, and its result did not come")


class _Watch:
    """How many threads there are; workers may come and go while calls run."""

    def __init__(self, client: Client, what: str, patience: float, to_come: int) -> None:
        self._client = client
        self._what = what
        self._patience = patience
        self._to_come = to_come
        self._seen = monotonic()
        self.threads = to_come
        """of all workers, those to come included, for there has to be something to do for them"""
        self.look()

    def look(self) -> None:
        """Count the threads; raises `Unreachable` when there have been none for too long, or nobody answers."""
        found, what = 0, "has had no workers"
        with _asking(self._client, self._what):
            try:
                found = sum(self._client.sync(self._client.nthreads, callback_timeout=LOOK_AFTER).values())
            except TimeoutError:
                what = "has not answered"
        self.threads = max(self._to_come, found)
        if found:
            self._seen = monotonic()
        elif monotonic() - self._seen > self._patience:
            reason = f"{what} for {self._patience:g} s; what is done is on disk, --resume goes on"
            raise Unreachable(f"{self._what} {reason}")

    def hear(self, said: Mapping[str, Any], running: Set[str], report: Report) -> None:
        """Take in that a worker has come or gone; of the calls that it had, those of others are theirs to repeat."""
        if said["action"] == "add-worker":
            report(event("worker joined", worker=said["worker"]))
        else:
            what = "worker left" if said["expected"] else "worker lost"
            report(event(what, worker=said["worker"], calls=sorted(running & {*said["processing-tasks"]})))
        self.look()


@contextmanager
def connect(connection: Connection, warn: Callable[[str], None] = lambda _: None) -> Iterator[Cluster]:
    """The workers that a connection names; `warn` is told what may end well yet.

    Raises `Unreachable` without a scheduler or without workers, `OtherSoftware` where they have other software.
    """
    import_module(STEADY_CLOCK)  # for a command; who calls `local_cluster` may have loops of other kinds
    if not dask.config.get("logging", None):  # what goes wrong is said by the command, once and without a traceback
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    if connection.remote:
        with remote_cluster(connection) as cluster:
            yield cluster
    elif connection.slurm:
        with slurm_cluster(connection.slurm, connection, warn) as cluster:
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
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": dashboard, "preload": [LEAVE_INTERRUPTS]},
            silence_logs=logging.CRITICAL,
            preload=[STEADY_CLOCK],
        ) as cluster,
        Client(cluster) as client,
    ):
        note = _dashboard(client, dashboard)
        with closing(Cluster(client, _count(workers, "local worker"), "this machine", note=note)) as found:
            yield found


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
    except TypeError:  # what Dask says of an encrypted address for which it has no files
        message = "needs certificates: give --tls-ca, --tls-cert and --tls-key, or set them in Dask's configuration"
        raise ConfigError([Fault("", str(where), message)]) from None
    with client:
        what = f"the Dask scheduler at {where}"
        with _asking(client, what):
            _wait_for_workers(client, connection.wait_workers, timeout, what)
            dashboard = _dashboard(client)
        with closing(Cluster(client, f"scheduler {where}", what, timeout, dashboard)) as found:
            found.check_software()
            yield found


class _Submitted:
    """A job of dask-jobqueue that is submitted until SLURM takes it; by itself it is submitted once, and forgotten."""

    status: Status
    job_id: str | None

    async def start(self) -> None:
        """Begin to submit it."""
        self._wanted = True
        self._submission = asyncio.create_task(self._submit())
        self.status = Status.running

    async def _submit(self) -> None:
        while self._wanted and not self.job_id:
            try:
                await super().start()  # type: ignore[misc]
            except (RuntimeError, OSError):  # as long as SLURM's controller starts again, for example
                await asyncio.sleep(LOOK_AFTER)

    async def close(self) -> None:
        """Cancel it, or submit it no more."""
        self._wanted = False
        await self._submission
        await super().close()  # type: ignore[misc]


class _Replaced(Adaptive):
    """Has jobs that SLURM has no more replaced; by itself Dask misses only those that had begun, with one worker."""

    cluster: Any
    _asked = -inf

    async def target(self) -> int:
        """Workers that there should be."""
        if monotonic() - self._asked > MISS_AFTER:
            self._asked = monotonic()
            submitted = {name: job for name, job in self.cluster.workers.items() if job.job_id}
            there = await asyncio.to_thread(present)
            for name, job in submitted.items():
                if there is not None and job.job_id not in there:
                    self.cluster.workers.pop(name, None)  # which is submitted anew, for it is wanted still
        return int(await super().target())  # type: ignore[no-untyped-call]


def _worker_jobs(profile: str, tls: Tls | None) -> Any:
    """A cluster of dask-jobqueue without jobs yet. Raises `ConfigError` for what Dask says of a profile."""
    from dask_jobqueue.slurm import SLURMCluster, SLURMJob

    try:
        return SLURMCluster(
            config_name=profile,
            job_cls=type("Job", (_Submitted, SLURMJob), {}),  # type: ignore[arg-type]
            security=_security(tls) or _configured_security(),
            silence_logs=logging.CRITICAL,
        )
    except (TypeError, ValueError, RuntimeError) as problem:  # a unit of memory or a network, for example
        raise ConfigError([Fault("--slurm", profile, f"jobqueue.{profile} cannot be used: {problem}")]) from None


@contextmanager
def slurm_cluster(profile: str, connection: Connection, warn: Callable[[str], None]) -> Iterator[Cluster]:
    """Workers as SLURM jobs: as many as there is work for, replaced when they are lost, cancelled at the end.

    Raises `ConfigError` for a profile that cannot be used, `Unreachable` without workers.
    """
    try:
        import_module("dask_jobqueue.slurm")  # which adds its defaults to Dask's configuration
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
        _worker_jobs(profile, connection.tls) as cluster,
        Client(cluster) as client,
    ):
        taken, words = says(cluster.job_script())
        if not taken:  # perhaps only for now
            warn(f"{what}: SLURM takes no such job: {words}; trying for {timeout:g} s")
        # Jobs may wait long: ask for all that there is work for at once, and keep those without work for a minute.
        bounds = {"minimum": least, "maximum": max(least, most)}
        cluster.adapt(_Replaced, **bounds, target_duration="10ms", wait_count=60)
        threads = most * job["cores"] // job["processes"]
        name = f"{what}, {_count(most, 'worker')} at most"
        try:
            _wait_for_workers(client, connection.wait_workers, timeout, what)
            with closing(Cluster(client, name, what, timeout, _dashboard(client), threads)) as found:
                found.check_software()
                yield found
        except Unreachable as problem:
            jobs = [job.job_id for job in list(cluster.workers.values()) if job.job_id]
            raise Unreachable(f"{problem}; SLURM says: {fate(jobs, cluster.job_script())}") from None


def _dashboard(client: Client, wanted: bool = False) -> str:
    """Where a cluster can be watched, if it can; Dask serves pages without bokeh too, but they are empty."""
    served = "dashboard" in client.scheduler_info(n_workers=0)["services"]
    if served and client.run_on_scheduler(find_spec, "bokeh") is not None:
        return f"dashboard {client.dashboard_link}"
    return "no dashboard, for bokeh is not installed: pip install 'autohold[dashboard]'" if wanted else ""


def _security(tls: Tls | None) -> Security | None:
    """How to encrypt, whatever the role; None leaves a client to Dask's configuration."""
    if tls is None:
        return None
    files = {f"tls_{role}_{kind}": getattr(tls, kind) for role in ROLES for kind in ("cert", "key")}
    return Security(tls_ca_file=tls.ca, **files, require_encryption=True)


def _configured_security() -> Security | None:
    """How to encrypt by Dask's configuration, which a scheduler does not for files alone; None where it names none."""
    security = Security()
    return security if security.get_tls_config_for_role("scheduler").get("cert") else None


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
