"""Carrying out tasks: one function, many small arguments, results as they come."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from pipeline.events import Report, event, ignore

Argument = TypeVar("Argument")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Tls:
    """The files that encrypt a connection and say who is at its ends."""

    ca: str
    """certificates of the authority that both sides trust, PEM"""
    cert: str
    """this side's certificate, PEM"""
    key: str
    """its private key, PEM"""


@dataclass(frozen=True)
class Connection:
    """Where tasks are to run; without any of the first five fields, on local workers, one for each core."""

    workers: int | None = None
    """local worker processes; with `slurm`, workers at most"""
    scheduler: str | None = None
    """address of a Dask scheduler that runs already"""
    scheduler_file: str | None = None
    """the connection file of one"""
    slurm: str | None = None
    """the profile of dask-jobqueue that says what to ask SLURM for"""
    serial: bool = False
    """one task after the other in this process"""
    wait_workers: int = 1
    """workers to wait for before the first task"""
    wait_timeout: float = 60
    """seconds to wait for a scheduler and for workers, at the start and whenever all of them are gone"""
    dashboard: bool = False
    """whether local workers have a dashboard"""
    tls: Tls | None = None
    """how to encrypt; None for what Dask's own configuration says"""

    @property
    def remote(self) -> bool:
        """Whether a scheduler that runs already is named."""
        return bool(self.scheduler or self.scheduler_file)


def cores() -> int:
    """As many as this process may use, which is as many local workers as there are unless somebody says otherwise."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Failure:
    """A task that could not be done, though others could."""

    reason: str
    """what happened, for people"""


class Executor(Protocol):
    """A way to call a function for many arguments."""

    @property
    def workers(self) -> int:
        """How many calls can run at the same time."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def memory(self) -> int | None:
        """Bytes that each call can take on any worker; None where there is no limit, or none is known yet."""

    def map(
        self,
        function: Callable[[Argument], Result],
        arguments: Sequence[Argument],
        keys: Sequence[str],
        report: Report = ignore,
    ) -> Iterator[tuple[Argument, Result | Failure]]:
        """Call the function for every argument; pairs come in any order. Keys name the calls on dashboards.

        An exception of the function is raised; a call whose process dies again and again is a `Failure`. `report` is
        told in this thread of what happens to workers and calls.
        """


class Serial:
    """The reference: a loop in this process."""

    workers = 1
    name = "this process"
    memory = None

    def map(
        self,
        function: Callable[[Argument], Result],
        arguments: Iterable[Argument],
        keys: Sequence[str],
        report: Report = ignore,
    ) -> Iterator[tuple[Argument, Result | Failure]]:
        """Call the function for one argument after the other."""
        for argument in arguments:
            yield argument, function(argument)


ENOUGH = 10
"""calls one after the other that die alone, after which the others are not tried alone"""


def call_all(
    executor: Executor,
    function: Callable[[Argument], Result],
    arguments: Sequence[Argument],
    key: Callable[[Argument], str],
    report: Report = ignore,
    pieces: Callable[[Argument], Sequence[Argument]] = lambda argument: [argument],
) -> Iterator[tuple[Argument, Result | Failure]]:
    """Call the function for every argument; what dies in company is tried again in pieces, one at a time.

    A process that dies takes all its calls with it, so only what dies alone is to blame; it is a `Failure`.
    """
    suspects: list[Argument] = []
    for argument, result in executor.map(function, arguments, list(map(key, arguments)), report):
        if isinstance(result, Failure):
            suspects += pieces(argument)
        else:
            yield argument, result
    died = 0
    for argument in suspects:
        if died == ENOUGH:
            yield argument, Failure(f"not tried again after {ENOUGH} others had died")
            continue
        report(event("retry", call=key(argument)))
        for _, result in executor.map(function, [argument], [f"alone-{key(argument)}"], report):
            died = died + 1 if isinstance(result, Failure) else 0
            yield argument, result
