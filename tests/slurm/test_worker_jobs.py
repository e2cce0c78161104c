"""Workers as SLURM jobs, by --slurm and the profile that we ship."""

import signal

import pytest

from tests.pipeline.games import autohold, contents, parts, start
from tests.slurm.conftest import CATALOGUE, TWELVE, until

pytestmark = pytest.mark.programs

NAME = "autohold-worker"


def certify(out, *more):
    return ("certify", *TWELVE, "--out", out, "--slurm", "autohold", *more)


@pytest.fixture
def environment(slurm, tmp_path):
    """Of a command: the profile that we ship, with small jobs."""
    return slurm.profile(cores=1, memory="1GiB", interface="lo", log_directory=tmp_path / "logs")


@pytest.mark.parametrize("workers", [1, 3])
def test_a_worker_job_is_cancelled(slurm, local, environment, tmp_path, workers):
    """With three jobs the others go on; the only one must be replaced, or the run would never end."""
    run = tmp_path / "run"
    more = ("--workers", workers, "--wait-timeout", 200)
    process = start(*certify(run, *more), **environment, DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT="1s")
    jobs = until(lambda: parts(run) and len(jobs := slurm.jobs(NAME)) == workers and jobs, "jobs at work")
    slurm("scancel", jobs[0])
    assert process.poll() is None
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert contents(run) == local(*TWELVE, "--serial")
    assert slurm.jobs(NAME) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_job_stays_when_the_command_is_stopped(slurm, environment, tmp_path, number):
    process = start(*certify(tmp_path / "run", "--workers", 1), **environment)
    until(lambda: parts(tmp_path / "run"), "a part")
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    if number == signal.SIGTERM:
        assert process.returncode == 143, said
        assert slurm.jobs(NAME) == []
    until(lambda: not slurm("squeue", "--noheader"), "no jobs")  # workers leave a scheduler that is gone


def test_jobs_that_do_not_start(slurm, tmp_path):
    held = slurm.profile(cores=1, memory="1GiB", job_extra_directives=["--hold"])
    done = autohold(*certify(tmp_path / "run", "--wait-timeout", 1), **held)
    assert done.returncode == 75, done.stderr
    assert "has no workers after 1 s; SLURM says: Job" in done.stderr
    assert slurm("squeue", "--noheader") == ""
    assert not (tmp_path / "run").exists()


def test_jobs_that_slurm_does_not_take(slurm, tmp_path):
    wrong = slurm.profile(cores=1, memory="1GiB", queue="nowhere")
    done = autohold(*certify(tmp_path / "run"), **wrong)
    assert done.returncode == 75, done.stderr
    assert "SLURM takes no such job: error: invalid partition specified: nowhere" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_the_catalogue(slurm, local, environment, tmp_path):
    run = tmp_path / "run"
    process = start("certify", *CATALOGUE, "--out", run, "--slurm", "autohold", "--workers", 3, **environment)
    jobs = until(lambda: len(parts(run)) >= 1000 and slurm.jobs(NAME), "1,000 parts", 3600)
    slurm("scancel", jobs[0])
    _, said = process.communicate(timeout=3600)
    assert process.returncode == 0, said
    assert contents(run) == local(*CATALOGUE, "--workers", 2)
