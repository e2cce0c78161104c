"""Connecting to clusters: local workers, schedulers that run already, and what is said where there are none."""

import json

import pytest

from tests.pipeline.clusters import dask_processes
from tests.pipeline.games import arguments, autohold, contents, log


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with dask_processes(tmp_path_factory.mktemp("cluster"), 1) as dask:
        yield dask


NOWHERE = "tcp://127.0.0.1:1"
SOON = ("--wait-timeout", 1)


@pytest.mark.parametrize("named_by", ["--scheduler", "--scheduler-file", "DASK_SCHEDULER_ADDRESS"])
def test_a_scheduler_that_runs_already(game_file, whole, tmp_path, cluster, named_by):
    file, address = cluster.file, cluster.address
    if named_by == "DASK_SCHEDULER_ADDRESS":
        done = autohold(*arguments(game_file, tmp_path / "run"), DASK_SCHEDULER_ADDRESS=address)
    else:
        # Flags beat the environment.
        said = address if named_by == "--scheduler" else file
        done = autohold(*arguments(game_file, tmp_path / "run", named_by, said), DASK_SCHEDULER_ADDRESS=NOWHERE)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "run") == contents(whole)
    expected = file if named_by == "--scheduler-file" else address
    assert log(tmp_path / "run")[0]["executor"] == f"scheduler {expected}"


@pytest.mark.parametrize("flags", [("--serial",), ("--workers", "1")], ids=" ".join)
def test_flags_beat_the_address_in_the_environment(game_file, whole, tmp_path, flags):
    done = autohold(*arguments(game_file, tmp_path / "run", *flags), DASK_SCHEDULER_ADDRESS=NOWHERE)
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "run") == contents(whole)


@pytest.mark.parametrize("named_by", ["--scheduler", "--scheduler-file", "DASK_SCHEDULER_ADDRESS"])
def test_a_scheduler_out_of_reach(game_file, tmp_path, named_by):
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": NOWHERE}))
    more = {"--scheduler": (named_by, NOWHERE), "--scheduler-file": (named_by, file)}.get(named_by, ())
    address = NOWHERE if named_by == "DASK_SCHEDULER_ADDRESS" else ""
    done = autohold(*arguments(game_file, tmp_path / "run", *more, *SOON), DASK_SCHEDULER_ADDRESS=address)
    assert done.returncode == 75, done.stderr
    assert f"no Dask scheduler answers at {file if named_by == '--scheduler-file' else NOWHERE}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("text", [None, "", "{}", "no JSON"], ids=["missing", "empty", "no address", "no JSON"])
def test_a_scheduler_file_that_is_wrong(game_file, tmp_path, text):
    if text is not None:
        (tmp_path / "scheduler.json").write_text(text)
    done = autohold(*arguments(game_file, tmp_path / "run", "--scheduler-file", tmp_path / "scheduler.json", *SOON))
    assert done.returncode == 75, done.stderr
    assert str(tmp_path / "scheduler.json") in done.stderr
    assert "Traceback" not in done.stderr


def test_a_scheduler_without_workers(game_file, tmp_path):
    with dask_processes(tmp_path) as dask:
        done = autohold(*arguments(game_file, tmp_path / "run", "--scheduler", dask.address, *SOON))
    assert done.returncode == 75, done.stderr
    assert f"the Dask scheduler at {dask.address} has no workers" in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_worker_with_too_little_memory_is_refused(game_file, tmp_path):
    with dask_processes(tmp_path / "dask", 0) as dask:
        dask.worker("--memory-limit", "170MiB")
        done = autohold(*arguments(game_file, tmp_path / "run", "--scheduler", dask.address))
    assert done.returncode == 2, done.stderr
    assert "has 170 MiB for each thread" in done.stderr
    assert not (tmp_path / "run").exists()
