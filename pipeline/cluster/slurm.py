"""SLURM: what a profile of dask-jobqueue asks for, and what SLURM says to it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pipeline.cluster.client import preloads
from pipeline.faults import ConfigError, Fault, suggestion

PROGRAMS = ("sbatch", "squeue", "scancel")
WHERE = "~/.config/dask/jobqueue.yaml"
EXAMPLE = "configs/cluster/jobqueue.yaml"
NEEDED = ("cores", "memory")
NUMBERS = ("cores", "processes", "job-cpu")
LISTS = (
    *("worker-extra-args", "job-script-prologue", "job-extra-directives", "job-directives-skip"),
    *("extra", "env-extra", "job-extra"),  # which are the older names of the first three
)
FOLDERS = ("local-directory", "log-directory")
OLD = ("project", "header-skip")
"""keys that dask-jobqueue still knows, though it has no defaults for them"""

PATIENCE = 60
"""seconds in which SLURM has to answer"""
MISS_AFTER = 10.0
"""seconds after which SLURM is asked again which worker jobs it has"""
LONGEST = 300.0
"""seconds after which a job that ended at once is replaced at the latest"""


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
        There is no such profile, it has unknown keys or values of another kind, it lacks what has no default, or this
        host cannot submit jobs.

    """
    faults = []
    usual, said = _settings(jobqueue.get("slurm")), _settings(jobqueue.get(profile))
    if profile not in jobqueue:
        usable = [name for name, job in jobqueue.items() if all(map(_settings(job).get, NEEDED))]
        there = f"there are {', '.join(usable)}" if usable else "there is none"
        faults.append(f"Dask's configuration has no jobqueue.{profile}, {there}; {EXAMPLE} is one, for {WHERE}")
    else:
        faults += [f"jobqueue.{profile}{fault}" for fault in _wrong(said, {**usual, **said}, {*usual, *OLD})]
    job = {**usual, **said}
    if missing := [program for program in PROGRAMS if shutil.which(program) is None]:
        faults.append(f"this host has no {', '.join(missing)}; give the command where jobs can be submitted")
    if faults:
        raise ConfigError(Fault("--slurm", profile, message) for message in faults)
    own = {
        "processes": job.get("processes") or job["cores"],
        "python": job.get("python") or shlex.quote(sys.executable),
        # What is lost is replaced; SLURM itself would wait for minutes, or hold the job.
        "job-extra-directives": ["--no-requeue", *(job.get("job-extra-directives") or job.get("job-extra") or ())],
        "worker-extra-args": [
            *(job.get("worker-extra-args") or job.get("extra") or ()),
            *(f"--preload={shlex.quote(name)}" for name in preloads("worker")),
            *(f"--preload-nanny={shlex.quote(name)}" for name in preloads("nanny")),
        ],
        # A port that is free, for several commands can run on this host.
        "scheduler-options": {"dashboard_address": ":0", **(job.get("scheduler-options") or {})},
    }
    return {**job, **own}


def _settings(section: Any) -> dict[str, Any]:
    """The settings of a section of Dask's configuration, in which keys may have underscores for hyphens."""
    return {key.replace("_", "-"): value for key, value in section.items()} if isinstance(section, Mapping) else {}


def _wrong(said: Mapping[str, Any], job: Mapping[str, Any], known: set[str]) -> Iterator[str]:
    """What is wrong with the settings of a profile, and with all of the job."""
    for key in sorted(said.keys() - known):
        yield f".{key} is unknown; {suggestion(key, sorted(known))}"
    for key in NEEDED:
        if job.get(key) is None:
            yield f".{key} is not set; set it in {WHERE}, as in {EXAMPLE}"
    for key, value in job.items():
        if value is not None and (wanted := _wanted(key, value, job)):
            yield f".{key}: expected {wanted}, found {value!r}"


def _wanted(key: str, value: Any, job: Mapping[str, Any]) -> str:
    """What a setting has to be; empty if it is that."""
    if key in NUMBERS and (type(value) is not int or value < 1):
        return "a whole number above 0"
    if key == "processes" and type(job.get("cores")) is int and value > job["cores"]:
        return f"at most one for each of {job['cores']} cores"
    if key in LISTS and not isinstance(value, list | tuple):
        return f'a list like ["{value}"]'
    if key == "scheduler-options" and not isinstance(value, Mapping):
        return "options by name"
    if key in FOLDERS and len(str(value).split()) > 1:  # dask-jobqueue writes them into scripts as they are
        return "a path without spaces"
    if key == "walltime" and not isinstance(value, str):  # YAML takes 12:00:00 for a number
        return "hours:minutes:seconds in quotes"
    return ""


def says(script: str) -> tuple[bool, str]:
    """Whether SLURM would take a job, and its words: when the job could start, or what is wrong with it."""
    return _asked("sbatch", "--test-only", script=script)


def fate(jobs: Sequence[str], script: str) -> str:
    """What has become of jobs, by their numbers; of one that was not taken, why, by its script."""
    if not jobs:
        return says(script)[1]
    known, words = _asked("squeue", "--noheader", "--states=all", f"--jobs={','.join(jobs)}", "--format=%i|%T (%r)|")
    if not known:
        return words
    states: dict[str, list[str]] = {}
    fields = [field.strip() for field in words.split("|")]
    for number, state in zip(fields[0::2], fields[1::2], strict=False):  # nothing is after the last
        states.setdefault(state, []).append(number)
    return "; ".join(f"{state}: job {', '.join(numbers)}" for state, numbers in states.items())


def present() -> set[str] | None:
    """Numbers of this user's jobs that wait or run; None where SLURM does not say."""
    known, words = _asked("squeue", "--noheader", "--me", "--format=%i")
    return set(words.split()) if known else None


def pause(last: float, age: float) -> float:
    """How old a job has to be to be replaced, by how old the last lost one became: longer where they end at once.

    >>> pause(10, 12), pause(160, 161), pause(300, 310), pause(300, 3600)
    (20, 300.0, 300.0, 10.0)
    """
    return min(2 * last, LONGEST) if age < 2 * LONGEST else MISS_AFTER


def _asked(*command: str, script: str = "") -> tuple[bool, str]:
    """Whether a command of SLURM succeeds, and its words."""
    try:
        done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return False, f"no answer within {PATIENCE} s"
    except OSError as problem:
        return False, f"{command[0]}: {problem.strerror}"
    return done.returncode == 0, " ".join((done.stdout + done.stderr).split()).removeprefix(f"{command[0]}: ")
