"""Calls on the workers of a scheduler: sent many at a time, heard of one by one, watched over meanwhile."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from math import inf
from queue import Empty, SimpleQueue
from secrets import token_hex
from time import monotonic
from typing import Any, Generic, NamedTuple

from distributed import Future, KilledWorker, get_worker
from distributed.client import ClosedClientError

from pipeline.cluster.client import Patient, Unreachable, asking, watched_at
from pipeline.events import Event, Report, event, ignore
from pipeline.execute import Argument, Failure, Result
from pipeline.faults import count, named
from pipeline.same import Checked, OtherSoftware, installed, installed_digest, other_software

WINDOW = 8
"""calls in flight for each thread of a worker, sent by the half, so that nobody waits and the scheduler stays small"""
LOOK_AFTER = 1.0
"""seconds after which workers are counted again, and in which the scheduler may say nothing to that"""
HEARD = ("add-worker", "remove-worker", "lose-jobs")
"""what is heard of what a scheduler, or who submits jobs, says to all"""
RESULTS = "autohold-results"
"""the topic of a scheduler's events that results come by"""


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


class Cluster:
    """Calls on the workers of a Dask scheduler; whatever asks it raises `Unreachable` when it is gone."""

    def __init__(self, client: Patient, name: str, what: str, dashboard: bool = False, to_come: int = 1) -> None:
        """Listen to the scheduler, which may have no workers as long as the client is patient.

        `name` is for logs, `what` begins sentences about it; `dashboard` is whether people asked for one, `to_come` how
        many threads there will be at least.
        """
        self._client = client
        self.name = name
        self._what = what
        self._dashboard = dashboard
        self._to_come = to_come
        self._missed = inf
        """since when there have been no workers, or no answers"""
        self._heard: SimpleQueue[_Told | Future[None] | dict[str, Any]] = SimpleQueue()
        with asking(client, what):
            client.subscribe_topic("all", self._hear)
            client.subscribe_topic(RESULTS, lambda said: self._heard.put(_Told(*said[1])))

    def _hear(self, said: tuple[float, Any]) -> None:
        """Keep that a worker has come or gone, or jobs are lost; the scheduler says much else to all."""
        if isinstance(said[1], dict) and said[1].get("action") in HEARD:
            self._heard.put(said[1])

    def close(self) -> None:
        """Hear no more."""
        with suppress(ClosedClientError):  # it hears no more already
            self._client.unsubscribe_topic("all")
            self._client.unsubscribe_topic(RESULTS)

    @property
    def greeting(self) -> str:
        """What it is connected to, and where to watch it, for people."""
        with asking(self._client, self._what):
            threads = self._client.nthreads()
            watched = watched_at(self._client, self._dashboard)
        said = f"{self._what}: {count(len(threads), 'worker')}, {count(sum(threads.values()), 'thread')}"
        return f"{said}; {watched}" if watched else said

    @property
    def workers(self) -> int:
        """Threads of all workers, those to come included."""
        with asking(self._client, self._what):
            return max(self._to_come, sum(int(threads) for threads in self._client.nthreads().values()))

    @property
    def memory(self) -> int | None:
        """Bytes for each thread of the worker that has least; None where no worker has a limit."""
        with asking(self._client, self._what):
            workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        return min((int(w["memory_limit"]) // int(w["nthreads"]) for w in workers if w["memory_limit"]), default=None)

    def check_software(self, report: Report = ignore) -> None:
        """Compare what is installed here, on the scheduler and on all workers; raises `OtherSoftware`.

        Each call compares it again, so whoever is silent is only named, to `report`.
        """
        with asking(self._client, self._what):
            others = {"the scheduler": self._on_scheduler()}
            workers = list(self._client.nthreads())
            others |= self._client.sync(self._on_workers, workers, callback_timeout=2 * self._client.patience)
        there = {who: found for who, found in others.items() if not isinstance(found, OSError)}  # others have just gone
        if lines := other_software(installed(), there):
            raise OtherSoftware(f"{self._what}: the software is not the same everywhere\n    " + "\n    ".join(lines))
        if silent := [who for who, found in others.items() if isinstance(found, TimeoutError)]:
            words = f"no answer from {named(silent)} for {self._client.patience:g} s; going on without"
            report(event("warning", message=f"{self._what}: {words}"))

    def _on_scheduler(self) -> Any:
        """What is installed there, or why it does not say."""
        try:
            return self._client.run_on_scheduler(installed)
        except Exception as problem:  # whatever its code has become there
            return problem

    async def _on_workers(self, workers: Sequence[str]) -> dict[str, Any]:
        """What is installed on each, or why it does not say; asked one by one, they do not wait for each other."""
        asked = (self._client.run(installed, workers=[who], on_error="return", asynchronous=True) for who in workers)
        said = await asyncio.gather(*asked, return_exceptions=True)
        return {who: found[who] if isinstance(found, dict) else found for who, found in zip(workers, said, strict=True)}

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
        self._missed, looked, threads = inf, -inf, self._to_come
        while True:
            if monotonic() - looked > LOOK_AFTER:
                threads, looked = self._threads(threads), monotonic()
            most = WINDOW * threads
            if len(running) <= most // 2:  # sent one by one, calls cost twice as much
                running |= self._send(call, list(islice(waiting, most - len(running))))
            if not running:
                return
            try:
                heard = self._heard.get(timeout=LOOK_AFTER)
            except Empty:
                continue
            if isinstance(heard, dict):
                report(_happened(heard, running.keys()))
            elif heard.key in running:  # else of calls that nobody waits for any more
                self._missed = inf
                result = pickle.loads(heard.result) if isinstance(heard, _Told) else self._failure(heard)
                argument, future = running.pop(str(heard.key))
                future.release()
                yield argument, result

    def _threads(self, before: int) -> int:
        """Threads of all workers, those to come included, for there has to be something to do for them.

        As many as before, where nobody says otherwise. Raises `Unreachable` when there have been no workers for too
        long, or no answers.
        """
        asked, found, what = monotonic(), 0, "has had no workers"
        with asking(self._client, self._what):
            try:
                found = sum(self._client.sync(self._client.nthreads, callback_timeout=LOOK_AFTER).values())
            except TimeoutError:
                if self._client.status != "running":
                    raise
                # It may only have much to do.
                what = "has not answered"
        self._missed = inf if found else min(self._missed, asked)
        if monotonic() - self._missed > self._client.patience:
            raise Unreachable(f"{self._what} {what} for {self._client.patience:g} s")
        return max(self._to_come, found or before)

    def _send(
        self, call: Callable[[Argument], None], wanted: Sequence[tuple[Argument, str]]
    ) -> dict[str, tuple[Argument, Future[None]]]:
        """Send calls to the scheduler; they are heard of when they are done."""
        if not wanted:
            return {}
        arguments, keys = zip(*wanted, strict=True)
        with asking(self._client, self._what):
            futures = self._client.map(call, arguments, key=list(keys), pure=False)
        for future in futures:
            future.add_done_callback(self._heard.put)
        return {key: (argument, future) for (argument, key), future in zip(wanted, futures, strict=True)}

    def _failure(self, future: Future[None]) -> Failure:
        """Why a call could not be done, though others can; raises what concerns all of them."""
        if future.status == "cancelled":
            raise Unreachable(f"{self._what} is gone")
        problem = future.exception()
        if isinstance(problem, KilledWorker):
            limit = problem.last_worker.memory_limit
            memory = f", each with {limit / 2**30:.1f} GiB of memory" if limit else ""
            return Failure(f"its worker died {problem.allowed_failures + 1} times{memory}")
        self.check_software()  # says more than what other code came to
        raise problem or RuntimeError(f"{future.key} is done, and its result did not come")


def _happened(said: Mapping[str, Any], running: Set[str]) -> Event:
    """Who has come or gone; of the calls that a worker had, those of others are theirs to repeat."""
    if said["action"] == "add-worker":
        return event("worker joined", worker=said["worker"])
    if said["action"] == "lose-jobs":
        return event("jobs lost", jobs=said["jobs"], reason=said["reason"])
    what = "worker left" if said["expected"] else "worker lost"
    return event(what, worker=said["worker"], calls=sorted(running & {*said["processing-tasks"]}))
