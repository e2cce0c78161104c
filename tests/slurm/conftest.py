"""A SLURM cluster of three virtual nodes, games to certify there, and what this machine makes of them without it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pipeline.clusters import wait_until
from tests.pipeline.games import ROOT, autohold, contents, environment

NAME = "autohold-worker"
"""of worker jobs, by the profile that we ship"""
CATALOGUE = sorted((ROOT / "configs").glob("*.toml"))
TWELVE = (*(path for path in CATALOGUE if not path.name.startswith(("black", "seq"))), "--paytable", "9/6")
"""games that have a 9/6 paytable"""
FOUR = (*(path for path in CATALOGUE if path.name.startswith("triple")), "--paytable", "9/6")
"""four of them"""
PARTS = 36
"""parts of the strategy tables of the four"""


def pytest_collection_modifyitems(items):
    """These tests take longest: where files are shared out, the others fill the time beside them."""
    items.sort(key=lambda item: not item.path.is_relative_to(Path(__file__).parent))


class Slurm:
    """SLURM's commands on the cluster of the tests."""

    def __init__(self, conf, programs):
        # The commands `autohold` and `dask` of this environment and this source tree come first on the PATH.
        self.environment = environment(
            SLURM_CONF=conf,
            PATH=f"{programs}:{os.environ['PATH']}",
            INTERFACE="lo",
            DASK_LOGGING__DISTRIBUTED="warning",
        )

    def __call__(self, *words, **changes):
        environment = {**self.environment, **changes}
        done = subprocess.run([*map(str, words)], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout.strip()

    def submit(self, folder, workers, *arguments, **changes):
        """Submit the sbatch script that we ship, with a node for each worker; returns the job's number."""
        size = (f"--nodes={workers}", f"--ntasks={workers}", "--mem-per-cpu=1G")
        script = ROOT / "configs" / "cluster" / "certify.sbatch"
        return self("sbatch", "--parsable", f"--chdir={folder}", *size, script, *arguments, **changes)

    def job(self, number):
        """What SLURM says of a job: JobState, Restarts, ExitCode, …"""
        return dict(re.findall(r"(\w+)=(\S+)", self("scontrol", "show", "job", number)))

    def wait(self, number, *states):
        """Wait until a job has one of these states; returns what SLURM says of it then."""
        return wait_until(lambda: (job := self.job(number))["JobState"] in states and job, f"job {number} {states}")

    def start_again(self, number, restarts):
        """Let a job that was requeued so often start in two seconds, not in two minutes; SLURM needs one of them."""
        requeued = {"JobState": "PENDING", "Restarts": str(restarts)}
        wait_until(lambda: requeued.items() <= self.job(number).items(), f"job {number} is requeued")
        self("scontrol", "update", f"JobId={number}", "StartTime=now+2")

    def profile(self, **settings):
        """The environment of a command that uses the profile that we ship, with some other settings."""
        said = {f"DASK_JOBQUEUE__AUTOHOLD__{key.upper()}": str(value) for key, value in settings.items()}
        return {**self.environment, **said, "DASK_CONFIG": str(ROOT / "configs" / "cluster")}

    def step(self, number, name):
        """The number of the step of a job that has this name."""
        steps = self("squeue", "--noheader", "--steps", f"--jobs={number}", "--format=%j %i").splitlines()
        return dict(line.split() for line in steps)[name]

    def jobs(self, name):
        """Numbers of the jobs of this name that run."""
        return self("squeue", "--noheader", f"--name={name}", "--states=RUNNING", "--format=%i").split()


def steady_clocks(client):
    """Whether the scheduler, all workers and their nannies wait by a clock that nobody sets."""

    def loaded():
        import sys

        return "pipeline.steady_clock" in sys.modules

    workers = client.run(loaded), client.run(loaded, nanny=True)
    return {client.run_on_scheduler(loaded), *(there for found in workers for there in found.values())}


@pytest.fixture(scope="session")
def slurm(tmp_path_factory):
    programs = tmp_path_factory.mktemp("programs")
    for name, call in {"autohold": '-c "from pipeline.cli import main; main()"', "dask": "-m dask"}.items():
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} {call} "$@"\n')
        (programs / name).chmod(0o755)
    command = (Path(__file__).parent / "one_host", "3", "sh", "-c", 'echo "$SLURM_CONF"; cat > /dev/null')
    host = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    conf = host.stdout.readline().strip()
    if not conf:
        pytest.fail(f"no SLURM on this machine: {host.communicate()[1]}")
    yield Slurm(conf, programs)
    _, said = host.communicate(timeout=300)  # the end of its input ends it
    assert host.returncode == 0, said
    assert not Path(conf).parent.exists()


@pytest.fixture(scope="session")
def local(tmp_path_factory):
    """What this machine makes of games, as bytes of files."""

    def certified(*arguments):
        out = tmp_path_factory.mktemp("local") / "run"
        done = autohold("certify", *arguments, "--out", out, timeout=3600)
        assert done.returncode == 0, done.stderr
        return contents(out)

    return certified
