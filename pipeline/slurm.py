"""SLURM: what a profile of dask-jobqueue asks for, and what SLURM says to it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from pipeline.faults import ConfigError, Fault

WHERE = "~/.config/dask/jobqueue.yaml"
EXAMPLE = "configs/cluster/jobqueue.yaml"
MOST_WORKERS = 8
"""workers at most, where neither the command nor Dask's configuration limits them"""

STEADY_CLOCK = "pipeline.steady_clock"
"""what keeps a process going when its clock is put back, as a preload of Dask"""

PATIENCE = 60
"""seconds in which SLURM has to answer"""


def worker_job(profile: str, jobqueue: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The settings of one worker job: what the profile leaves out is as in ``slurm``, and a worker has one thread.

    Parameters
    ----------
    profile
        Name of a profile.
    jobqueue
        Profiles by name, as Dask's configuration has them under ``jobqueue``; dask-jobqueue adds ``slurm``.

    Raises
    ------
    ConfigError
        There is no such profile, it lacks what has no default, or this host cannot submit jobs.

    """
    faults = []
    if profile not in jobqueue:
        usable = [name for name, job in jobqueue.items() if job.get("cores") and job.get("memory")]
        there = f"there are {', '.join(usable)}" if usable else "there is none"
        faults.append(f"Dask's configuration has no jobqueue.{profile}, {there}; {EXAMPLE} is one, for {WHERE}")
    job = {**jobqueue.get("slurm", {}), **{key.replace("_", "-"): v for key, v in jobqueue.get(profile, {}).items()}}
    if profile in jobqueue:
        faults += [
            f"jobqueue.{profile}.{key} is not set; set it in {WHERE}, as in {EXAMPLE}"
            for key in ("cores", "memory")
            if not job.get(key)
        ]
    if shutil.which("sbatch") is None:
        faults.append("this host has no sbatch; give the command where jobs can be submitted")
    if faults:
        raise ConfigError(Fault("--slurm", profile, message) for message in faults)
    own = {
        "processes": job.get("processes") or job["cores"],
        "python": job.get("python") or sys.executable,
        "worker-extra-args": [
            *(job.get("worker-extra-args") or job.get("extra") or ()),
            *("--preload", STEADY_CLOCK, "--preload-nanny", STEADY_CLOCK),
        ],
        # A port that is free, for several commands can run on this host.
        "scheduler-options": {"dashboard_address": ":0", **(job.get("scheduler-options") or {})},
    }
    return {**job, **own}


def says(script: str) -> tuple[bool, str]:
    """Whether SLURM would take a job, and its words: when the job could start, or what is wrong with it."""
    ask = ("sbatch", "--test-only")
    try:
        done = subprocess.run(ask, input=script, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return False, f"no answer within {PATIENCE} s"
    return done.returncode == 0, " ".join((done.stdout + done.stderr).split()).removeprefix("sbatch: ")
