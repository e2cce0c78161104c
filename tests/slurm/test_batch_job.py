"""The sbatch script that we ship, on a real SLURM: what ends a job early costs time and nothing else."""

import pytest

from pipeline import certify, load_game
from pipeline.lock import claim
from tests.pipeline.games import SMALL, contents, parts
from tests.slurm.conftest import PARTS, TWELVE, until

pytestmark = pytest.mark.programs


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "six-by-four.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_its_workers_are_cancelled_and_its_time_ends(slurm, local, tmp_path):
    run = tmp_path / "run"
    job = slurm.submit(tmp_path, *TWELVE, "--out", run)
    log = tmp_path / f"autohold-{job}.log"
    until(lambda: len(parts(run)) >= 20, "20 parts")
    slurm("scancel", slurm.step(job, "workers"))
    slurm.start_again(job)
    until(lambda: "start 1" in log.read_text(), "a second start")
    done = len(parts(run))
    assert 20 <= done < PARTS
    until(lambda: len(parts(run)) >= done + 20, "20 more parts")
    slurm("scancel", "--batch", "--signal=TERM", job)  # what SLURM sends a minute before the time limit
    slurm.start_again(job)
    ended = slurm.wait(job, "COMPLETED", "FAILED")
    said = log.read_text()
    assert (ended["JobState"], ended["Restarts"]) == ("COMPLETED", "2"), said
    assert said.count("exit code 143, job RUNNING") == 2
    assert "exit code 0" in said
    assert contents(run) == contents(local)


def test_its_run_directory_is_in_use(slurm, small, tmp_path):
    run = tmp_path / "run"
    with claim(run):
        job = slurm.submit(tmp_path, small, "--out", run)
        slurm.wait(job, "PENDING")
        until(lambda: slurm.job(job)["Restarts"] == "1", "requeued")
    slurm.start_again(job)
    ended = slurm.wait(job, "COMPLETED", "FAILED")
    assert (ended["JobState"], ended["Restarts"]) == ("COMPLETED", "1")
    said = (tmp_path / f"autohold-{job}.log").read_text()
    assert "exit code 75, job RUNNING" in said
    certify([load_game(small)], tmp_path / "here")
    assert contents(run) == contents(tmp_path / "here")


def test_starts_are_limited(slurm, small, tmp_path):
    with claim(tmp_path / "run"):
        job = slurm.submit(tmp_path, small, "--out", tmp_path / "run", RESTARTS=0)
        ended = slurm.wait(job, "FAILED")
    assert (ended["ExitCode"], ended["Restarts"]) == ("75:0", "0")


def test_wrong_use_is_final(slurm, small, tmp_path):
    job = slurm.submit(tmp_path, small, "--out", tmp_path / "run", "--paytable", "none")
    ended = slurm.wait(job, "FAILED")
    assert (ended["ExitCode"], ended["Restarts"]) == ("2:0", "0")


def test_cancelled_is_final(slurm, tmp_path):
    job = slurm.submit(tmp_path, *TWELVE, "--out", tmp_path / "run")
    until(lambda: parts(tmp_path / "run"), "a part")
    slurm("scancel", job)
    log = tmp_path / f"autohold-{job}.log"
    until(lambda: "exit code 143" in log.read_text(), "the client stopped")
    until(lambda: not slurm("squeue", "--noheader", f"--jobs={job}"), "the job ended")
    assert slurm.job(job)["JobState"] == "CANCELLED"
