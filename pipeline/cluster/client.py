"""A client of a scheduler: how it connects, what it waits for, and how it says that the scheduler is gone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Any

import dask
from distributed import Client, Security

from pipeline.events import Report, event, ignore
from pipeline.execute import Tls
from pipeline.faults import count

STEADY_CLOCK = "pipeline.steady_clock"
"""what keeps a process going when its clock is put back, as a preload of Dask"""
ROLES = ("client", "scheduler", "worker")
"""who has a certificate"""


class Unreachable(ConnectionError):
    """There is no scheduler at that address, or it has no workers."""


class Patient(Client):
    """A client that waits for some time at most; Dask's own waits for ever for a process that is stopped."""

    def __init__(self, to: Any, patience: float, security: Security | None = None) -> None:
        """Connect to an address or a cluster; whatever takes longer than `patience` seconds raises `TimeoutError`."""
        self.patience = patience
        super().__init__(to, timeout=patience, security=security)  # type: ignore[no-untyped-call]

    def sync(self, func: Any, *args: Any, callback_timeout: Any = None, **kwargs: Any) -> Any:
        """Ask, for that long at most; all questions of a client go this way."""
        limit = callback_timeout or self.patience
        return super().sync(func, *args, callback_timeout=limit, **kwargs)  # type: ignore[no-untyped-call]


def preloads(role: str) -> list[str]:
    """What workers or nannies load before they begin: what Dask's configuration says for that role, and the clock."""
    said = dask.config.get(f"distributed.{role}.preload")
    return [*([said] if isinstance(said, str) else said), STEADY_CLOCK]


@contextmanager
def asking(client: Patient, what: str) -> Iterator[None]:
    """Where a scheduler is asked for something: raises `Unreachable` when it is gone, or does not answer."""
    try:
        yield
    except Unreachable:
        raise
    except Exception as problem:
        if client.status == "running" and isinstance(problem, TimeoutError):
            raise Unreachable(f"{what} has not answered for {client.patience:g} s") from None
        if client.status == "running" and not isinstance(problem, OSError):
            raise
        # A client that has lost its scheduler fails in many ways, and in others when it has given up.
        raise Unreachable(f"{what} is gone") from None


def watched_at(client: Patient, wanted: bool = False) -> str:
    """Where a cluster can be watched, if it can."""
    if client.run_on_scheduler(_has_dashboard):
        return f"dashboard {client.dashboard_link}"
    return "no dashboard, for bokeh is not installed: pip install 'autohold[dashboard]'" if wanted else ""


def _has_dashboard(dask_scheduler: Any) -> bool:
    """Whether a scheduler has pages of what it does; others it serves, at the same address, without them too."""
    return any("Bokeh" in type(served).__name__ for served in dask_scheduler.http_application.applications)


def security(tls: Tls | None) -> Security | None:
    """How to encrypt, whatever the role; None leaves a client to Dask's configuration."""
    if tls is None:
        return None
    files = {f"tls_{role}_{kind}": getattr(tls, kind) for role in ROLES for kind in ("cert", "key")}
    return Security(tls_ca_file=tls.ca, **files, require_encryption=True)


def configured_security() -> Security | None:
    """How to encrypt by Dask's configuration, which a scheduler does not for files alone; None where it names none."""
    security = Security()
    return security if security.get_tls_config_for_role("scheduler").get("cert") else None


def wait_for_workers(client: Patient, number: int, what: str, report: Report = ignore) -> None:
    """Until there are so many workers; raises `Unreachable` when time is up."""
    until = monotonic() + client.patience
    with asking(client, what):
        if (found := len(client.nthreads())) < number:
            wanted = count(number - found, "worker")
            report(event("waiting", message=f"waiting up to {client.patience:g} s for {wanted} of {what}"))
        while (found := len(client.nthreads())) < number:
            if monotonic() > until:
                there = count(found, "worker") if found else "no workers"
                wanted = f"; --wait-workers {number} are wanted" if number > 1 else ""
                raise Unreachable(f"{what} has {there} after {client.patience:g} s{wanted}")
            sleep(0.1)
