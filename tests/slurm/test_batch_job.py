"""The sbatch script that we ship, on a real SLURM: what ends a job early costs time and nothing else."""

import pytest
from distributed import Client

from pipeline.lock import claim
from tests.pipeline.clusters import wait_until
from tests.pipeline.games import SMALL, contents, parts
from tests.slurm.conftest import FOUR, PARTS, steady_clocks

pytestmark = pytest.mark.programs


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "six-by-four.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


def test_its_workers_are_cancelled_and_its_time_ends(slurm, local, tmp_path):
    run = tmp_path / "run"
    job = slurm.submit(tmp_path, 2, *FOUR, "--out", run)
    log = tmp_path / f"autohold-{job}.log"
    wait_until(lambda: parts(run), "a part")
    with Client(scheduler_file=tmp_path / f".scheduler-{job}.json") as client:
        assert steady_clocks(client) == {True}
    slurm("scancel", slurm.step(job, "workers"))
    slurm.start_again(job, 1)
    wait_until(lambda: "start 1" in log.read_text(), "a second start")
    done = len(parts(run))
    assert 0 < done < PARTS
    wait_until(lambda: len(parts(run)) > done, "one more part")
    slurm("scancel", "--batch", "--signal=TERM", job)  # what SLURM sends a minute before the time limit
    slurm.start_again(job, 2)
    ended = slurm.wait(job, "COMPLETED", "FAILED")
    said = log.read_text()
    assert (ended["JobState"], ended["Restarts"]) == ("COMPLETED", "2"), said
    assert said.count("exit code 143, job RUNNING") == 2
    assert "exit code 0" in said
    assert contents(run) == local(*FOUR, "--serial")


def test_its_scheduler_cannot_start(slurm, small, tmp_path):
    job = slurm.submit(tmp_path, 1, small, "--out", tmp_path / "run", INTERFACE="none", RESTARTS="0")
    ended = slurm.wait(job, "FAILED", "COMPLETED")
    said = (tmp_path / f"autohold-{job}.log").read_text()
    assert "'none' is not a valid network interface" in said
    assert "no scheduler any more" in said
    assert "exit code 143, job RUNNING" in said
    assert (ended["JobState"], ended["ExitCode"]) == ("FAILED", "143:0")


def test_its_run_directory_stays_in_use(slurm, small, tmp_path):
    with claim(tmp_path / "run"):
        job = slurm.submit(tmp_path, 1, small, "--out", tmp_path / "run", RESTARTS="1")
        slurm.start_again(job, 1)
        ended = slurm.wait(job, "FAILED", "COMPLETED")
    said = (tmp_path / f"autohold-{job}.log").read_text()
    assert said.count("exit code 75, job RUNNING") == 2, said
    assert (ended["JobState"], ended["ExitCode"], ended["Restarts"]) == ("FAILED", "75:0", "1")


def test_wrong_use_is_final(slurm, small, tmp_path):
    job = slurm.submit(tmp_path, 1, small, "--out", tmp_path / "run", "--paytable", "none")
    ended = slurm.wait(job, "FAILED", "COMPLETED")
    assert (ended["JobState"], ended["ExitCode"], ended["Restarts"]) == ("FAILED", "2:0", "0")


def test_cancelled_is_final(slurm, tmp_path):
    job = slurm.submit(tmp_path, 1, *FOUR, "--out", tmp_path / "run")
    wait_until(lambda: parts(tmp_path / "run"), "a part")
    slurm("scancel", job)
    wait_until(lambda: not slurm("squeue", "--noheader", f"--jobs={job}"), "the job ended")
    assert "exit code 143, job COMPLETING" in (tmp_path / f"autohold-{job}.log").read_text()
    assert slurm.job(job)["JobState"] == "CANCELLED"
