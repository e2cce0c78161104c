"""The lock of a run directory: who writes it, and how a lock that nobody holds any more is recognised.

Nothing here depends on clocks: a process is told by its number, when it started since boot, and the boot.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.location import Location, write_new, write_whole
from pipeline.manifest import canonical_text

LOCK = ".lock"


class InUse(RuntimeError):
    """Another process is writing this run directory."""


class Claim:
    """A run directory that this process may write."""

    def __init__(self, run: Location, mine: str) -> None:
        self._run, self._mine = run, mine

    def take(self) -> None:
        """Write the lock; raises `InUse`."""
        with _alone(self._run):
            refuse_if_claimed(self._run)
            try:
                if _read(self._run) is None:
                    write_new(self._run / LOCK, self._mine.encode())
                else:
                    write_whole(self._run / LOCK, self._mine.encode())
            except FileExistsError:
                pass  # by another one, or by this one where the answer of an object store was lost on its way
        self.check()

    def check(self) -> None:
        """Raise `InUse` where the lock is not ours any more.

        Somebody removed it while this process was thought dead; or the object store does not know exclusive creation,
        and two claimed at the same time: the last one has it.
        """
        found = _read(self._run)
        if found != self._mine:
            raise InUse(_describe(self._run, _holder(found)) if found else f"{self._run}: its lock was removed")

    def release(self) -> None:
        """Remove the lock, if it is ours."""
        if _read(self._run) == self._mine:
            (self._run / LOCK).unlink(missing_ok=True)


@contextmanager
def claim(run: Location) -> Iterator[Claim]:
    """Hold the run directory's lock; raises `InUse` where another process does.

    A lock is taken over where its process is gone: on this host there is no such process any more, the host was booted
    since, the batch job that wrote it was requeued and is this one, or it names nobody.
    """
    if isinstance(run, Path):
        run.mkdir(parents=True, exist_ok=True)
    claimed = Claim(run, canonical_text(_myself()))
    try:
        claimed.take()
        yield claimed
    except BaseException:
        with suppress(OSError):
            claimed.release()
        raise
    claimed.release()


def refuse_if_claimed(run: Location) -> None:
    """Raise `InUse` where another process holds the lock; nothing is written."""
    found = _read(run)
    if found and not _gone(_holder(found)):
        raise InUse(_describe(run, _holder(found)))


def holder(run: Location) -> dict[str, Any] | None:
    """Who holds the lock; None where nobody does, or its process is known to be gone."""
    found = _holder(_read(run))
    return None if _gone(found) else found


@contextmanager
def _alone(run: Location) -> Iterator[None]:
    """One process of this host at a time: between looking at a lock and taking it over nobody else does."""
    if not isinstance(run, Path):
        yield
        return
    folder = os.open(run, os.O_RDONLY)
    try:
        with suppress(OSError):  # some file systems have no such thing; creating a lock is exclusive on all
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _myself() -> dict[str, Any]:
    return {
        "host": os.uname().nodename,
        "boot": _first_line("/proc/sys/kernel/random/boot_id"),
        "space": _process_space(),
        "pid": os.getpid(),
        "started": _started(os.getpid()),
        "job": os.environ.get("SLURM_JOB_ID", ""),
        "restart": os.environ.get("SLURM_RESTART_COUNT", ""),
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
        "token": secrets.token_hex(8),
    }


def _gone(holder: dict[str, Any]) -> bool:
    """Whether the process that wrote a lock is known to be gone."""
    mine = _myself()
    if not holder:
        return True
    if mine["job"] and (mine["job"] == holder.get("job")) and mine["restart"] != holder.get("restart"):
        return True
    if holder.get("host") != mine["host"]:
        return False
    if holder.get("boot") != mine["boot"]:
        return True
    return bool(holder.get("space") == mine["space"] and _started(holder.get("pid")) != holder.get("started"))


def _describe(run: Location, holder: dict[str, Any]) -> str:
    job = f", batch job {holder['job']}," if holder.get("job") else ""
    since = f" since {holder['since']} by its clock" if holder.get("since") else ""
    return (
        f"{run} is in use by process {holder.get('pid')} on {holder.get('host')}{job}{since}; "
        f"if that process is gone, remove {run / LOCK} and repeat the command"
    )


def _read(run: Location) -> str | None:
    """The text of the lock; None where there is none."""
    try:
        return (run / LOCK).read_bytes().decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None


def _holder(text: str | None) -> dict[str, Any]:
    """Who a lock names; empty where it names nobody."""
    try:
        holder = json.loads(text or "")
    except ValueError:
        return {}
    return holder if isinstance(holder, dict) else {}


def _started(pid: Any) -> str | None:
    """When a process of this host started, in clock ticks since boot; None if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except OSError:
        return None


def _process_space() -> str:
    """Which numbering of processes this one is in; containers of one host may have their own."""
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return ""


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return ""
