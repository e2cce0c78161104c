"""What happens in a run, as plain values: for its log, for people and for programs.

An event is a dictionary: `event` says what happened, `time` when (UTC, RFC 3339), the other keys depend on `event`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from pipeline.faults import named

Event = dict[str, Any]
Report = Callable[[Event], None]
"""told of every event as it happens; it must be quick and must not raise"""
TICK = 1.0
"""seconds between two events that only say that time goes by"""
HANGS = 5.0
"""seconds after which one of them that is not at its end yet is no longer waited for"""


def event(kind: str, **values: Any) -> Event:
    """An event that happens now.

    >>> sorted(event("worker lost", worker="tcp://127.0.0.1:40123"))
    ['event', 'time', 'worker']
    """
    return {"event": kind, "time": datetime.now(UTC).isoformat(timespec="milliseconds"), **values}


def json_line(happened: Event) -> str:
    """An event as a line of JSON, its keys in their order."""
    return json.dumps(happened, ensure_ascii=False)


def failed_parts(failed: Iterable[Event]) -> list[str]:
    """What `failed` events say, for people: a line for each game and reason.

    >>> failed_parts([event("failed", game="Joker", parts=[part, part], reason="died") for part in (7, 3, 4)])
    ['Joker, parts 3 to 4, 7: died']
    """
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for one in sorted(failed, key=lambda one: one["parts"]):
        (first, last), blocks = one["parts"], found.setdefault((one["game"], one["reason"]), [])
        before = blocks.pop() if blocks and blocks[-1][1] == first - 1 else (first, first)
        blocks.append((before[0], last))
    lines = []
    for (game, reason), blocks in found.items():
        parts = named([f"{first}" if first == last else f"{first} to {last}" for first, last in blocks])
        lines.append(f"{game}, part{'s' * (blocks[0][0] < blocks[-1][1])} {parts}: {reason}")
    return lines


def ignore(happened: Event) -> None:
    """Tell nobody."""


def tell(*listeners: Report) -> Report:
    """Tell all of them, in this order.

    >>> heard = []
    >>> tell(heard.append, ignore)(event("start"))
    >>> heard[0]["event"]
    'start'
    """

    def report(happened: Event) -> None:
        for listener in listeners:
            listener(happened)

    return report


class Ticking:
    """Tells of one event at a time, and of a `tick` every second, whatever the command waits for, until it ends."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._lock = threading.RLock()  # a signal is answered in the middle of anything
        self._over = threading.Event()
        threading.Thread(target=self._tick, daemon=True).start()

    def __call__(self, happened: Event) -> None:
        """Tell of an event."""
        with self._lock:
            self._report(happened)

    def _tick(self) -> None:
        while not self._over.wait(TICK):
            with self._lock, suppress(OSError):  # who works says what is wrong
                if not self._over.is_set():
                    self._report(event("tick"))

    def end(self) -> None:
        """Tell that all is `over`, and nothing more by itself."""
        self._over.set()
        if self._lock.acquire(timeout=HANGS):  # a tick is at its end then; one that hangs keeps nobody
            self._lock.release()
        self._report(event("over"))


class Stages:
    """How long the stages of something take, one after the other."""

    def __init__(self) -> None:
        self._began = self._at = monotonic()
        self.seconds: dict[str, float] = {}
        """of the stages that have ended, by name"""

    def end(self, stage: str) -> None:
        """The stage that runs ends here, and the next begins."""
        now = monotonic()
        self.seconds[stage] = round(now - self._at, 3)
        self._at = now

    @property
    def total(self) -> float:
        """Seconds since the first stage began."""
        return round(monotonic() - self._began, 3)
