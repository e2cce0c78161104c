"""All game files of `configs/` on a real SLURM, while a worker job is lost: the bytes of a run on one machine."""

import hashlib

import pytest

from tests.pipeline.clusters import wait_until
from tests.pipeline.games import contents, parts, start
from tests.slurm.conftest import CATALOGUE, NAME

pytestmark = pytest.mark.programs


def digests(files):
    return {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}


def test_the_catalogue(slurm, local, tmp_path):
    run = tmp_path / "run"
    environment = slurm.profile(cores=1, memory="1GiB", interface="lo", log_directory=tmp_path / "logs")
    process = start("certify", *CATALOGUE, "--out", run, "--slurm", "autohold", "--workers", 3, **environment)
    jobs = wait_until(lambda: len(parts(run)) >= 1000 and slurm.jobs(NAME), "1,000 parts", 3600)
    slurm("scancel", jobs[0])
    _, said = process.communicate(timeout=3600)
    assert process.returncode == 0, said
    assert digests(contents(run)) == digests(local(*CATALOGUE, "--workers", 2))
