"""A run as Prometheus metrics, in a file for the textfile collector of a node exporter."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.events import Event

if TYPE_CHECKING:
    from pipeline.run import Run

EVERY = 15.0
"""seconds between two states of the file while a run goes on"""
LEFT = 60.0
"""seconds after which a file that is not finished has nobody who writes it"""
HELP = {
    "autohold_running": "Whether the run is being carried out.",
    "autohold_started_timestamp_seconds": "When the command was last started.",
    "autohold_updated_timestamp_seconds": "When this file was written.",
    "autohold_last_success_timestamp_seconds": "When the command last ended with exit code 0.",
    "autohold_exit_code": "Exit code of the command that ended last.",
    "autohold_duration_seconds": "How long the command has taken, or takes so far.",
    "autohold_games": "Games of the run.",
    "autohold_games_done": "Games all of whose parts are done.",
    "autohold_paytables": "Paytables of the run.",
    "autohold_parts": "Parts of the run.",
    "autohold_parts_done": "Parts that are done.",
    "autohold_worker_deaths": "Worker processes that were lost since the command was started.",
    "autohold_retries": "Calls repeated for a lost worker since the command was started.",
    "autohold_payback_ratio": "Expected credits won per credit bet, rounded; the exact value is in certificate.json.",
}
"""metric -> its description; all are gauges"""
KEPT = ("autohold_last_success_timestamp_seconds", "autohold_exit_code")
"""what stays from the file before until there is something newer"""
Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]
"""(metric, labels) -> value"""


def metrics_text(samples: Samples) -> str:
    """Samples in Prometheus' text format, metrics in the order of `HELP`.

    >>> print(metrics_text({("autohold_parts", (("run", "night"),)): 12}), end="")
    # HELP autohold_parts Parts of the run.
    # TYPE autohold_parts gauge
    autohold_parts{run="night"} 12
    """
    lines = []
    for name, meaning in HELP.items():
        found = [(labels, value) for (metric, labels), value in samples.items() if metric == name]
        if found:
            lines += [f"# HELP {name} {meaning}", f"# TYPE {name} gauge"]
            lines += [f"{_series(name, labels)} {value!r}" for labels, value in found]
    return "".join(line + "\n" for line in lines)


def _series(name: str, labels: Iterable[tuple[str, str]]) -> str:
    escapes = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    return name + "{" + ",".join(f'{key}="{value.translate(escapes)}"' for key, value in labels) + "}"


class Metrics:
    """Keeps the file up to date; raises `OSError` only where it cannot be written at the start.

    Every series has the label `run`, so that the files of several runs can be in one folder.
    """

    def __init__(self, path: Path, run: str) -> None:
        self._path = path
        self._run = ("run", run)
        self._clock = time.monotonic()
        self._written = 0.0
        self._values: dict[str, float] = {**self._kept(), "autohold_running": 1}
        self._values |= {"autohold_started_timestamp_seconds": round(time.time(), 3)}
        self._values |= {"autohold_worker_deaths": 0, "autohold_retries": 0}
        self._paybacks: Samples = {}
        self._sweep()
        self._write()

    def __call__(self, happened: Event) -> None:
        """Take an event in."""
        sizes = {f"autohold_{key}": happened[key] for key in ("games", "games_done", "paytables", "parts_done")
                 if key in happened}  # fmt: skip
        if happened["event"] in ("start", "progress"):
            self._values |= {**sizes, "autohold_parts": happened["parts"]}
        self._values["autohold_worker_deaths"] += happened["event"] == "worker lost"
        self._values["autohold_retries"] += len(happened.get("calls", ())) + (happened["event"] == "retry")
        if time.monotonic() - self._written > EVERY:
            with suppress(OSError):
                self._write()

    def certified(self, run: Run) -> None:
        """Take a complete run in, whether it was computed or only found."""
        games = len({content["game"] for content in run.certificates})
        parts = sum(run.parts.values())
        self._values |= {"autohold_games": games, "autohold_games_done": games, "autohold_parts": parts}
        self._values |= {"autohold_parts_done": parts, "autohold_paytables": len(run.certificates)}
        for content in run.certificates:
            labels = (self._run, ("game", content["game"]), ("paytable", content["label"]))
            self._paybacks["autohold_payback_ratio", labels] = float(content["payback_decimal"])

    def end(self, code: int) -> None:
        """Say how the command ended."""
        self._values |= {"autohold_running": 0, "autohold_exit_code": code}
        if code == 0:
            self._values["autohold_last_success_timestamp_seconds"] = round(time.time(), 3)
        with suppress(OSError):
            self._write()

    def _write(self) -> None:
        """A new file in place of the old one; collectors read whatever ends in .prom, so the new one does not yet."""
        self._values["autohold_updated_timestamp_seconds"] = round(time.time(), 3)
        self._values["autohold_duration_seconds"] = round(time.monotonic() - self._clock, 3)
        self._written = time.monotonic()
        samples: Samples = {(name, (self._run,)): value for name, value in self._values.items()}
        temporary = self._path.with_name(f".{self._path.name}-{os.getpid()}")
        try:
            temporary.write_text(metrics_text(samples | self._paybacks), encoding="utf-8")
            temporary.replace(self._path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise

    def _sweep(self) -> None:
        """Remove what commands left that were killed while they wrote this file, which takes no time."""
        beginning, before = f".{self._path.name}-", time.time() - LEFT
        with suppress(OSError):  # another command may do the same
            for found in self._path.parent.iterdir():
                number = found.name.removeprefix(beginning)
                if number.isdigit() and number != found.name and found.stat().st_mtime < before:
                    found.unlink()

    def _kept(self) -> dict[str, float]:
        """What the file before says of this run and no run has changed since."""
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return {}
        series = {_series(name, (self._run,)): name for name in KEPT}
        kept = {}
        for line in lines:
            found, _, value = line.rpartition(" ")
            if found in series:
                with suppress(ValueError):
                    kept[series[found]] = float(value)
        return kept
