"""Workers as SLURM jobs, by --slurm and the profile that we ship."""

import re
import shutil
import signal
import subprocess
import time
from subprocess import PIPE

import dask
import pytest
from distributed import Client, Security

from pipeline.cluster.jobs import slurm_cluster
from pipeline.execute import Connection
from tests.pipeline.certificates import make_pem, tls_options, tls_settings
from tests.pipeline.clusters import wait_until
from tests.pipeline.games import ROOT, SMALL, autohold, contents, log, parts, start
from tests.slurm.conftest import NAME, TWELVE, steady_clocks

pytestmark = pytest.mark.programs


def certify(out, *more):
    return ("certify", *TWELVE, "--out", out, "--slurm", "autohold", "--wait-timeout", 200, *more)


def scheduler(slurm, job):
    """The address to which the worker of a job connects."""
    return re.search(r" (t[cl][ps]://\S+) ", slurm("scontrol", "write", "batch_script", job, "-"))[1]


@pytest.fixture
def environment(slurm, tmp_path):
    """Of a command: the profile that we ship, with small jobs."""
    return slurm.profile(cores=1, memory="1GiB", interface="lo", log_directory=tmp_path / "logs")


@pytest.mark.parametrize(("workers", "cores"), [(1, 1), (2, 2), (3, 1)])
def test_a_worker_job_is_cancelled(slurm, local, environment, tmp_path, workers, cores):
    """With three jobs the others go on; the only one must be replaced, or the run would never end."""
    run = tmp_path / "run"
    environment |= {"DASK_JOBQUEUE__AUTOHOLD__CORES": str(cores), "DASK_JOBQUEUE__AUTOHOLD__MEMORY": f"{cores}GiB"}
    more = ("--workers", workers, "--wait-workers", workers)
    process = start(*certify(run, *more), **environment, DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT="1s")
    jobs = wait_until(lambda: parts(run) and len(jobs := slurm.jobs(NAME)) == workers // cores and jobs, "jobs at work")
    with Client(scheduler(slurm, jobs[0])) as client:
        assert steady_clocks(client) == {True}
    slurm("scancel", jobs[0])
    assert process.poll() is None
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert contents(run) == local(*TWELVE, "--serial")
    assert slurm.jobs(NAME) == []


def test_no_job_is_closed_while_it_works(slurm, tmp_path, monkeypatch):
    """At the end there is work for fewer workers than three jobs have, and for some of every job."""
    for name, value in slurm.environment.items():
        monkeypatch.setenv(name, value)
    job = {"cores": 2, "memory": "2GiB", "interface": "lo", "log_directory": str(tmp_path)}
    events, calls = [], [1] * 30 + [6] * 4
    connection = Connection(slurm="night", workers=6, wait_timeout=200)
    with dask.config.set({"jobqueue.night": job}), slurm_cluster("night", connection, print) as cluster:
        done = list(cluster.map(time.sleep, calls, [f"sleep-{n}" for n in range(len(calls))], events.append))
    assert sorted(seconds for seconds, _ in done) == calls
    assert {said["event"] for said in events} == {"worker joined"}


class Refusing:
    """An sbatch that fails while it is told to, as while SLURM's controller starts again."""

    def __init__(self, folder, path):
        folder.mkdir()
        self.path = f"{folder}:{path}"
        self._flag, self._refused = folder / "refuse", folder / "refused"
        real = shutil.which("sbatch", path=path)
        (folder / "sbatch").write_text(
            f'#!/bin/sh\n[ -e {self._flag} ] || exec {real} "$@"\necho >> {self._refused}\n'
            "echo 'sbatch: error: Unable to contact slurm controller (connect failure)' >&2\nexit 1\n"
        )
        (folder / "sbatch").chmod(0o755)

    def begin(self):
        """Refuse from now on."""
        self._flag.touch()

    def end(self):
        """Refuse no more."""
        self._flag.unlink()

    def times(self):
        """How often a call was refused."""
        return len(self._refused.read_text()) if self._refused.exists() else 0


@pytest.fixture
def refusing(slurm, tmp_path):
    return Refusing(tmp_path / "refusing", slurm.environment["PATH"])


def test_slurm_takes_no_jobs_at_the_start(slurm, local, environment, refusing, tmp_path):
    refusing.begin()
    process = start(*certify(tmp_path / "run", "--workers", 1), **{**environment, "PATH": refusing.path})
    wait_until(lambda: refusing.times() >= 3 or process.poll(), "it was asked again")
    assert process.poll() is None
    refusing.end()
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert contents(tmp_path / "run") == local(*TWELVE, "--serial")
    assert slurm.jobs(NAME) == []


def test_slurm_takes_no_jobs_when_one_is_lost(slurm, local, environment, refusing, tmp_path):
    run = tmp_path / "run"
    settings = {**environment, "PATH": refusing.path, "DASK_DISTRIBUTED__DEPLOY__LOST_WORKER_TIMEOUT": "1s"}
    process = start(*certify(run, "--workers", 1), **settings)
    (job,) = wait_until(lambda: parts(run) and slurm.jobs(NAME), "a job at work")
    refusing.begin()
    slurm("scancel", job)
    wait_until(lambda: refusing.times() >= 3 or process.poll(), "it was asked again")
    assert process.poll() is None
    refusing.end()
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert contents(run) == local(*TWELVE, "--serial")
    assert slurm.jobs(NAME) == []


@pytest.mark.parametrize("said_by", ["options", "configuration"])
def test_worker_jobs_that_talk_tls(slurm, local, environment, tmp_path, said_by):
    run, pem = tmp_path / "run", make_pem(tmp_path / "two words")
    by_options = said_by == "options"
    settings = {} if by_options else tls_settings(pem, "client", "scheduler", "worker")
    options = tls_options(pem) if by_options else ()
    process = start(*certify(run, "--workers", 2, *options), **environment, **settings)
    job, *_ = wait_until(lambda: parts(run) and slurm.jobs(NAME), "a job at work")
    address = scheduler(slurm, job)
    assert address.startswith("tls://")
    with pytest.raises(OSError, match="in <TCP"), Client(address.replace("tls", "tcp"), timeout=1):
        pass
    ca, cert, key = map(str, pem.values())
    with Client(address, security=Security(tls_ca_file=ca, tls_client_cert=cert, tls_client_key=key)) as client:
        assert {worker[:6] for worker in client.nthreads()} == {"tls://"}
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert contents(run) == local(*TWELVE, "--serial")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_job_stays_when_the_command_is_stopped(slurm, environment, tmp_path, number):
    process = start(*certify(tmp_path / "run", "--workers", 1), **environment)
    wait_until(lambda: parts(tmp_path / "run") or process.poll() is not None, "a part")
    process.send_signal(number)
    _, said = process.communicate(timeout=300)
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number, said
        assert slurm.jobs(NAME) == []
    wait_until(lambda: not slurm("squeue", "--noheader"), "no jobs")  # workers leave a scheduler that is gone


def test_two_runs_at_once(slurm, local, environment, tmp_path):
    runs = [tmp_path / "first", tmp_path / "second"]
    processes = [start(*certify(run, "--workers", 1), **environment) for run in runs]
    wait_until(lambda: parts(runs[0]), "a part")
    third = autohold(*certify(runs[0], "--resume"), **environment)
    assert third.returncode == 75, third.stderr
    assert "in use" in third.stderr
    for run, process in zip(runs, processes, strict=True):
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
        assert "already in use" not in said  # a port
        assert contents(run) == local(*TWELVE, "--serial")


def test_jobs_that_do_not_start(slurm, tmp_path):
    held = slurm.profile(cores=1, memory="1GiB", job_extra_directives=["--hold"])
    done = autohold(*certify(tmp_path / "run", "--wait-timeout", 10), **held)
    assert done.returncode == 75, done.stderr
    assert "has no workers after 10 s; SLURM says: PENDING (JobHeldUser): job " in done.stderr
    assert slurm("squeue", "--noheader") == ""
    assert not (tmp_path / "run").exists()


def test_a_job_that_is_cancelled_before_it_starts(slurm, tmp_path):
    held = slurm.profile(cores=1, memory="1GiB", job_extra_directives=["--hold"])
    process = start(*certify(tmp_path / "run", "--workers", 1), **held)
    queue = ("squeue", "--noheader", f"--name={NAME}", "--format=%i")
    job = wait_until(lambda: slurm(*queue), "a job")
    slurm("scancel", job)
    wait_until(lambda: slurm(*queue) not in ("", job), "another job")
    process.terminate()
    _, said = process.communicate(timeout=300)
    assert process.returncode == 143, said
    assert slurm(*queue) == ""


def test_jobs_that_fail_at_once(slurm, local, environment, tmp_path):
    """As on a node that is ill: all but the first one do."""
    run, first = tmp_path / "run", tmp_path / "first"
    environment["DASK_JOBQUEUE__AUTOHOLD__JOB_SCRIPT_PROLOGUE"] = str([f"mkdir {first} || exit 1"])
    process = start(*certify(run, "--workers", 2), **environment)
    job = min(wait_until(lambda: parts(run) and slurm.jobs(NAME), "a job at work"), key=int)
    slurm("scontrol", "suspend", job)
    lost = wait_until(lambda: [event for event in log(run) if event["event"] == "jobs lost"], "a job is missed")
    slurm("scontrol", "resume", job)
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0, said
    assert contents(run) == local(*TWELVE, "--serial")
    assert lost[0]["reason"] == f"FAILED (NonZeroExitCode): job {lost[0]['jobs'][0]}"
    assert f"autohold: worker jobs were lost, {lost[0]['reason']}; others are submitted" in said
    assert slurm.jobs(NAME) == []


def test_jobs_that_slurm_does_not_take(slurm, tmp_path):
    wrong = slurm.profile(cores=1, memory="1GiB", queue="nowhere")
    done = autohold(*certify(tmp_path / "run", "--wait-timeout", 10), **wrong)
    assert done.returncode == 75, done.stderr
    assert "SLURM takes no such job: error: invalid partition specified: nowhere" in done.stderr
    assert "has no workers after 10 s; SLURM says: error: invalid partition specified: nowhere" in done.stderr
    assert "waiting up to 10 s for 1 worker of SLURM by jobqueue.autohold\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_line_for_cron(slurm, tmp_path):
    """As cron gives it to a shell, with the environment and the home that it has there; at first no node is free."""
    (tmp_path / "home/.config/dask").mkdir(parents=True)
    shutil.copy(ROOT / "configs/cluster/jobqueue.yaml", tmp_path / "home/.config/dask")
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/six-by-four.toml").write_text(SMALL)
    others = [
        slurm("sbatch", "--parsable", "--exclusive", "--output=/dev/null", "--wrap", "sleep 300") for _ in range(3)
    ]
    for job in others:
        slurm.wait(job, "RUNNING")
    *settings, line = (ROOT / "configs/cluster/crontab").read_text().splitlines()
    said = dict(setting.split("=", 1) for setting in settings if not setting.startswith("#"))
    *when, line = line.split(maxsplit=5)
    assert when == ["30", "2", "*", "*", "*"]
    small = {"CORES": "1", "MEMORY": "1GiB", "INTERFACE": "lo"}
    environment = {
        **said,
        **{name: slurm.environment[name] for name in ("SLURM_CONF", "PYTHONPATH", "PATH")},
        **{f"DASK_JOBQUEUE__AUTOHOLD__{name}": value for name, value in small.items()},
        "FOLDER": str(tmp_path),
        "HOME": str(tmp_path / "home"),
        "LOGNAME": "games",
        "SHELL": "/bin/sh",
    }

    def begin(**changes):
        return subprocess.Popen(["/bin/sh", "-c", line], env={**environment, **changes}, stdout=PIPE, text=True)

    first = begin()
    wait_until(
        lambda: slurm("squeue", "--noheader", f"--name={NAME}", "--states=PENDING") or first.poll(), "a job waits"
    )
    slurm("scancel", *others)
    assert first.communicate(timeout=300)[0] == ""  # else cron would send mail
    night = (tmp_path / "night.log").read_text()
    assert "RUN: certified" in night
    assert begin().communicate(timeout=300)[0] == ""
    assert "already certified, digests verified" in (tmp_path / "night.log").read_text().removeprefix(night)
    (tmp_path / "configs/six-by-four.toml").unlink()
    assert begin().communicate(timeout=300)[0] == f"exit code 2: {tmp_path}/night.log\n"
