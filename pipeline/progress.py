"""Progress and events on stderr: a line that changes on a terminal, else a line now and then; or JSON lines."""

from __future__ import annotations

import shutil
import sys
from collections import deque
from collections.abc import Callable
from time import monotonic

import click

from pipeline.events import Event, json_line

OFTEN, RARELY = 0.1, 15.0
"""seconds between two progress lines, on a terminal and elsewhere"""
WINDOW = 60.0
"""seconds over which speed is measured; parts that a resumed run finds done go by fast and say nothing of the rest"""
ENOUGH = 5.0
"""seconds after the first result before which nothing is said of the time left"""
SAID = {
    "damaged": "{path}: {found}; it was made again",
    "worker lost": "a worker was lost, {worker}; its calls are made again",
    "jobs lost": "worker jobs were lost, {reason}; others are submitted",
}
"""event -> what people read; others are said with all that they have"""
SILENT = {"start", "done", "stopped", "failed", "worker joined", "worker left", "retry", "over"}
"""events that the end of the command says better, or that are nothing to worry about"""
GOING = {"step", "waiting", "progress"}
"""events that say what goes on, until the next of them"""
ENDS = {"connected", "done", "stopped", "over"}
"""events after which nothing goes on"""


class Speed:
    """How fast something goes, and how long it still takes, by the last minute since its first result.

    Before that workers start, and build what is not there yet; and at any time as much as they are at is half done.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int, float]] = deque()

    def __call__(self, done: int, total: int, work: float | None = None) -> tuple[float, float | None]:
        """Done in a second, and seconds left, None where nothing can be said yet; `work` is the share that is done.

        >>> seconds = iter([0.0, 10.0])
        >>> speed = Speed(lambda: next(seconds))
        >>> speed(10, 100, 0.5), speed(30, 100, 0.75)
        ((0.0, None), (2.0, 10.0))
        """
        now, share = self._clock(), done / total if work is None else work
        if done and (not self._seen or now - self._seen[-1][0] > OFTEN):
            self._seen.append((now, done, share))
        while len(self._seen) > 2 and self._seen[1][0] < now - WINDOW:
            self._seen.popleft()
        then, before, at = self._seen[0] if self._seen else (now, done, share)
        rate = (done - before) / (now - then) if now > then else 0.0
        known = now - then >= ENOUGH and share > at
        return rate, (1 - share) / (share - at) * (now - then) if known else None


def duration(seconds: float | None) -> str:
    """Time left, for people.

    >>> duration(59.6), duration(61), duration(7300), duration(40200), duration(None)
    ('60 s left', '1 min left', '2 h 1 min left', '11 h left', '')
    """
    if seconds is None:
        return ""
    if seconds < 61:
        return f"{seconds:.0f} s left"
    hours, minutes = divmod(int(seconds) // 60, 60)
    if hours >= 10:
        return f"{hours} h left"
    return f"{hours} h {minutes} min left" if hours else f"{minutes} min left"


class Line:
    """One line that changes on a terminal; elsewhere a plain line now and then."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._said = monotonic()
        self._shown = 0

    def due(self) -> bool:
        """Whether it is time to say something."""
        return monotonic() - self._said >= (OFTEN if self._terminal else RARELY)

    def show(self, text: str) -> None:
        """Show a text in place of the one before; on a terminal it is cut where the line ends."""
        self._said = monotonic()
        if not self._terminal:
            click.echo(text, err=True)
            return
        text = text[: shutil.get_terminal_size().columns - 1]
        click.echo(f"\r{text.ljust(self._shown)}", err=True, nl=False)
        self._shown = len(text)

    def clear(self) -> None:
        """Remove the line that changes."""
        if self._shown:
            click.echo("\r" + " " * self._shown + "\r", err=True, nl=False)
            self._shown = 0


class Progress:
    """How many of some things are done."""

    def __init__(self, what: str = "parts") -> None:
        self._what = what
        self._line = Line()
        self._speed = Speed()

    def __call__(self, done: int, total: int) -> None:
        """Say how much is done, if it is time to."""
        if self._line.due() and done < total:
            self._line.show(progress_text([(done, total, self._what)], *self._speed(done, total)))

    def end(self) -> None:
        """Remove the line that changes."""
        self._line.clear()


def progress_text(counts: list[tuple[int, int, str]], rate: float, left: float | None) -> str:
    """Progress for people; what there is one of is left out.

    >>> progress_text([(3, 51, "games"), (1234, 20000, "parts")], 45.08, 416)
    '3 of 51 games, 1,234 of 20,000 parts, 45.1 parts/s, 6 min left'
    >>> progress_text([(0, 1, "games"), (5, 10, "parts")], 0.5, 10)
    '5 of 10 parts, 0.5 parts/s, 10 s left'
    """
    shown = [f"{done:,} of {total:,} {what}" for done, total, what in counts if total > 1]
    speed = f"{rate:,.{1 if rate < 100 else 0}f} {counts[-1][2]}/s" if rate >= 0.05 else ""
    return ", ".join(text for text in (*shown, speed, duration(left)) if text)


class Listener:
    """Says what happens, and now and then what goes on, with its speed; a `tick` says that time goes by."""

    def __init__(self) -> None:
        self._going: Event | None = None
        self._speed = Speed()

    def __call__(self, happened: Event) -> None:
        """Say an event, or nothing."""
        kind = happened["event"]
        if kind in GOING:
            self._going = happened
        elif kind != "tick":
            self._going = None if kind in ENDS else self._going
            self._speed = Speed() if kind == "start" else self._speed
            self._say(happened)
            return
        if self._going is not None:
            going, rate, left = {**self._going, "time": happened["time"]}, 0.0, None
            if going["event"] == "progress":
                rate, left = self._speed(going["parts_done"], going["parts"], going["work_done"])
            self._show(going, rate, left, at_once=kind == "waiting")

    def _say(self, happened: Event) -> None:
        """Say what happens."""
        raise NotImplementedError

    def _show(self, going: Event, rate: float, left: float | None, at_once: bool) -> None:
        """Show what goes on, if it is time to."""
        raise NotImplementedError


class Screen(Listener):
    """Shows the events of a run to people."""

    def __init__(self) -> None:
        super().__init__()
        self._line = Line()

    def _say(self, happened: Event) -> None:
        self._line.clear()
        if happened["event"] not in SILENT:
            click.echo(f"autohold: {_text(happened)}", err=True)

    def _show(self, going: Event, rate: float, left: float | None, at_once: bool) -> None:
        if not at_once and not self._line.due():
            return
        if "message" in going:
            self._line.show(going["message"])
        elif going["parts_done"] < going["parts"]:
            counts = [(going[f"{what}_done"], going[what], what) for what in ("games", "parts")]
            self._line.show(progress_text(counts, rate, left))


def _text(happened: Event) -> str:
    if "message" in happened:
        return str(happened["message"])
    if happened["event"] in SAID:
        return SAID[happened["event"]].format(**happened)
    details = ", ".join(f"{key} {value}" for key, value in happened.items() if key not in ("event", "time"))
    return f"{happened['event']}: {details}"


class JsonLines(Listener):
    """Writes every event as a line of JSON."""

    def __init__(self) -> None:
        super().__init__()
        self._said = monotonic()

    def _say(self, happened: Event) -> None:
        if happened["event"] != "over":
            click.echo(json_line(happened), err=True)

    def _show(self, going: Event, rate: float, left: float | None, at_once: bool) -> None:
        counted = going["event"] == "progress"
        whole = counted and going["parts_done"] == going["parts"]
        if at_once or whole or monotonic() - self._said >= RARELY:
            self._said = monotonic()
            going |= {"parts_per_second": round(rate, 3)} if counted else {}
            going |= {} if left is None else {"seconds_left": round(left, 1)}
            self._say(going)
