"""The option --slurm where it cannot work: what is missing is said, and what to do."""

import json
import os
import re
import shlex
import socket
import sys

import dask
import dask_jobqueue.slurm  # noqa: F401 - adds its defaults to Dask's configuration
import pytest
from distributed import Status

from pipeline.cluster import jobs
from pipeline.cluster.slurm import PROGRAMS, present, says, worker_job
from pipeline.execute import Tls
from pipeline.faults import ConfigError
from tests.pipeline.certificates import make_pem
from tests.pipeline.clusters import wait_until

STEADY = ["--preload=pipeline.steady_clock", "--preload-nanny=pipeline.steady_clock"]
SLURM = dask.config.get("jobqueue.slurm")


@pytest.fixture
def sbatch(tmp_path, monkeypatch):
    """A host that has SLURM's commands; they do nothing."""
    for program in PROGRAMS:
        (tmp_path / program).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("sbatch")
def test_what_a_profile_leaves_out_is_as_in_slurm():
    job = worker_job("night", {"slurm": SLURM, "night": {"cores": 4, "memory": "8GiB", "job_extra_directives": ["-v"]}})
    assert job == SLURM | {
        "cores": 4,
        "memory": "8GiB",
        "processes": 4,
        "python": sys.executable,
        "job-extra-directives": ["--no-requeue", "-v"],
        "worker-extra-args": STEADY,
        "scheduler-options": {"dashboard_address": ":0"},
    }
    own = {"cores": 4, "memory": "8GiB", "processes": 1, "python": "python3", "scheduler-options": {"port": 1}}
    own["worker_extra_args"] = ["--resources", "a=1"]
    preloads = ["""--preload='x = '"'"'a b'"'"''""", STEADY[0], "--preload-nanny=y", STEADY[1]]
    with dask.config.set({"distributed.worker.preload": "x = 'a b'", "distributed.nanny.preload": ["y"]}):
        job = worker_job("own", {"slurm": SLURM, "own": own})
    assert (job["processes"], job["python"]) == (1, "python3")
    assert job["worker-extra-args"] == ["--resources", "a=1", *preloads]
    assert job["scheduler-options"] == {"dashboard_address": ":0", "port": 1}


def test_all_that_is_missing_is_said(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ConfigError) as wrong:
        worker_job("nihgt", {"slurm": SLURM, "night": {"cores": 4, "memory": "8GiB"}, "half": {"cores": 1}})
    profile, sbatch = map(str, wrong.value.faults)
    assert profile.startswith("--slurm: nihgt: Dask's configuration has no jobqueue.nihgt, there are night; ")
    assert "this host has no sbatch, squeue, scancel; " in sbatch
    with pytest.raises(ConfigError) as wrong:
        worker_job("slurm", {"slurm": SLURM})
    assert [str(fault).split(" is not set")[0] for fault in wrong.value.faults][:2] == [
        "--slurm: slurm: jobqueue.slurm.cores",
        "--slurm: slurm: jobqueue.slurm.memory",
    ]


def test_commands_of_slurm_that_go_away(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert says("") == (False, "sbatch: No such file or directory")
    assert present() is None


def test_a_job_that_slurm_has_no_more(tmp_path, monkeypatch):
    """It is closed, and another is submitted by another name: Dask closes by its name what a lost worker leaves."""
    words = {
        "sbatch": f'cat "$1" >> {tmp_path}/scripts; echo $(grep -c -- --name {tmp_path}/scripts)',
        "squeue": "seq 2 9",  # but not 1
        "scancel": f"echo $1 >> {tmp_path}/cancelled",
    }
    for program in PROGRAMS:
        (tmp_path / program).write_text(f"#!/bin/sh\n{words[program]}\n")
        (tmp_path / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(jobs, "MISS_AFTER", 0)
    monkeypatch.setattr(jobs._Replacing, "_pause", 0)
    job = worker_job("night", {"slurm": SLURM, "night": {"cores": 1, "memory": "1GiB", "interface": "lo"}})
    with dask.config.set({"jobqueue.night": job}), jobs._worker_jobs("night", 1, None) as cluster:
        cluster.adapt(jobs._Replacing, minimum=1, maximum=1)
        first = wait_until(lambda: list(cluster.workers.values()))[0]
        wait_until(lambda: [job.job_id for job in cluster.workers.values()] == ["2"])
        assert first.status == Status.closed
        (lost,) = wait_until(lambda: [s for _, s in cluster.scheduler.get_events("all") if s["action"] == "lose-jobs"])
        assert lost["jobs"] == ["1"]
    names = re.findall(r"--name (\S+)", (tmp_path / "scripts").read_text())
    assert len({*names}) == 2
    assert (tmp_path / "cancelled").read_text().split() == ["1", "2"]


@pytest.mark.usefixtures("sbatch")
def test_paths_in_job_scripts_may_have_spaces(tmp_path, monkeypatch):
    python, pem = str(tmp_path / "a b" / "python"), make_pem(tmp_path / "c d")
    tls = Tls(*map(str, pem.values()))
    monkeypatch.setattr(sys, "executable", python)
    job = worker_job("night", {"slurm": SLURM, "night": {"cores": 1, "memory": "1GiB", "interface": "lo"}})
    with (
        dask.config.set({"jobqueue.night": job}),
        jobs._worker_jobs("night", 1, tls) as cluster,
    ):
        words = shlex.split(cluster.job_script().splitlines()[-1])
    assert words[:3] == [python, "-m", "distributed.cli.dask_worker"]
    for what, file in zip(("--tls-ca-file", "--tls-cert", "--tls-key"), pem.values(), strict=True):
        assert words[words.index(what) + 1] == str(file)


@pytest.mark.usefixtures("sbatch")
def test_a_port_that_is_in_use(command, game_file, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        night = {"cores": 1, "memory": "1GiB", "interface": "lo", "scheduler-options": {"port": port}}
        with dask.config.set({"jobqueue.night": night}):
            done = command("certify", game_file, "--out", tmp_path / "run", "--slurm", "night")
    assert done.returncode == 75, done.stderr
    assert f"jobqueue.night.scheduler-options: port {port} is in use on this host" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("sbatch")
def test_all_that_is_wrong_with_a_profile_is_said():
    night = {
        "cores": "four",
        "memory": "8GiB",
        "wall-time": "04:00:00",
        "walltime": 43200,  # 12:00:00, as YAML reads it
        "job-cpu": 0,
        "job-extra": "--qos=day",
        "job_extra_directives": "--qos=night",
        "scheduler-options": 5,
        "log_directory": "/a b",
    }
    with pytest.raises(ConfigError) as wrong:
        worker_job("night", {"slurm": SLURM, "night": night})
    assert [str(fault).removeprefix("--slurm: night: jobqueue.night.") for fault in wrong.value.faults] == [
        "wall-time is unknown; did you mean walltime?",
        "cores: expected a whole number above 0, found 'four'",
        "walltime: expected hours:minutes:seconds in quotes, found 43200",
        "job-cpu: expected a whole number above 0, found 0",
        """job-extra: expected a list like ["--qos=day"], found '--qos=day'""",
        """job-extra-directives: expected a list like ["--qos=night"], found '--qos=night'""",
        "log-directory: expected a path without spaces, found '/a b'",
        "scheduler-options: expected options by name, found 5",
    ]
    with pytest.raises(ConfigError, match=r"processes: expected at most one for each of 2 cores, found 3"):
        worker_job("many", {"slurm": SLURM, "many": {"cores": 2, "memory": "8GiB", "processes": 3}})


@pytest.mark.usefixtures("sbatch")
@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"memory": "lots"}, "jobqueue.night cannot be used: Could not interpret 'lots' as a byte unit"),
        ({"interface": "ib7"}, "jobqueue.night cannot be used: Cluster failed to start: 'ib7' is not a valid network"),
    ],
)
def test_what_dask_says_of_a_profile(command, game_file, tmp_path, setting, said):
    with dask.config.set({"jobqueue.night": {"cores": 1, "memory": "1GiB", "interface": "lo", **setting}}):
        done = command("certify", game_file, "--out", tmp_path / "run", "--slurm", "night")
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("sbatch")
@pytest.mark.parametrize(
    ("options", "threads"),
    [((), 16), (("--workers", 3), 6), (("--wait-workers", 9), 18)],
    ids=["8 workers at most", "--workers", "--wait-workers"],
)
def test_a_plan_is_for_the_workers_that_there_may_be(command, game_file, options, threads):
    """Each of these has two threads."""
    with dask.config.set({"jobqueue.night": {"cores": 4, "processes": 2, "memory": "8GiB"}}):
        done = command("plan", game_file, "--rows-per-part", 1, "--slurm", "night", *options, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["workers"] == threads


@pytest.mark.parametrize("name", ["certify", "plan"])
def test_the_command_says_what_is_missing(command, game_file, tmp_path, monkeypatch, name):
    with dask.config.set({"jobqueue": {}}):
        done = command(name, game_file, "--out", tmp_path / "run", "--slurm", "nowhere")
    assert done.returncode == 2
    assert "Dask's configuration has no jobqueue.nowhere" in done.stderr
    monkeypatch.delitem(sys.modules, "pipeline.cluster.jobs", raising=False)
    monkeypatch.setitem(sys.modules, "dask_jobqueue.slurm", None)
    done = command(name, game_file, "--out", tmp_path / "run", "--slurm", "nowhere")
    assert done.returncode == 2
    assert "pip install 'autohold[slurm]'" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "options", [("--scheduler", "tcp://127.0.0.1:1"), ("--serial",), ("--workers", 2, "--wait-workers", 3)]
)
def test_options_that_do_not_fit(command, game_file, tmp_path, options):
    done = command("certify", game_file, "--out", tmp_path / "run", "--slurm", "autohold", *options)
    assert done.returncode == 2, done.stderr
