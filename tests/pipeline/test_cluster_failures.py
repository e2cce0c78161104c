"""What goes wrong on a cluster at night, with real processes: nothing half made, nothing lost, the same bytes."""

import re
import shutil
import signal

import psutil
import pytest

from pipeline.cluster import Unreachable, connect
from pipeline.cluster.client import wait_for_workers
from pipeline.execute import Connection
from pipeline.same import installed
from tests.pipeline.clusters import calculating, dask_processes, wait_until
from tests.pipeline.games import (
    PARTS,
    ROOT,
    SLOW,
    arguments,
    autohold,
    contents,
    end,
    log,
    parts,
    start,
    wait_for_parts,
)


def events(run, kind):
    return [event for event in log(run) if event["event"] == kind]


def sockets(process):
    """The ports of this side of a command's connections."""
    return {each.laddr.port for each in psutil.Process(process.pid).net_connections() if each.raddr}


def resumed(game_file, run, *how):
    """Go on with a run; its parts that are there already."""
    before = parts(run)
    done = autohold(*arguments(game_file, run, "--resume", *how))
    assert done.returncode == 0, done.stderr
    assert log(run)[-1]["parts"] == {"missing": PARTS - len(before), "sound": len(before)}
    return before


def test_workers_that_are_killed_again_and_again(game_file, whole, tmp_path):
    run = tmp_path / "run"
    with dask_processes(tmp_path) as dask:
        workers = [dask.worker(fault=SLOW) for _ in range(2)]
        process = start(*arguments(game_file, run, "--scheduler", dask.address, "--wait-workers", 2))
        for number, worker in ((2, 0), (20, 1), (40, 0)):
            wait_for_parts(process, run, number)
            (victim,) = wait_until(lambda at=worker: calculating(workers[at]))
            victim.send_signal(signal.SIGKILL)
        code, _, said = end(process)
    assert code == 0, said
    assert contents(run) == contents(whole)
    lost = events(run, "worker lost")
    assert len(lost) in (2, 3)  # what the third signal hits may be only starting
    assert all(event["worker"].startswith("tcp://127.0.0.1:") for event in lost)
    assert any(event["calls"] for event in lost)
    assert events(run, "worker joined")


@pytest.mark.parametrize("fault", ["die 7", "eat 7"])
def test_a_part_that_always_kills_its_worker_is_named_and_the_others_are_made(game_file, whole, tmp_path, fault):
    run = tmp_path / "run"
    once = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "1"}  # for the test to be quick; Dask allows 3
    with dask_processes(tmp_path, **once) as dask:
        for _ in range(2):
            dask.worker("--memory-limit", "500MB", fault=fault)
        done = autohold(*arguments(game_file, run, "--scheduler", dask.address, "--wait-workers", 2))
    assert done.returncode == 75, done.stderr
    assert "Traceback" not in done.stderr
    assert f"{PARTS - 2} of {PARTS} parts are done" in done.stderr
    assert "Six by Four, part 7: its worker died 2 times, each with 0.5 GiB of memory" in done.stderr
    made = parts(run)
    assert {*contents(run)} == {".plan.json", *made}  # nothing half written
    assert sorted(set(parts(whole)) - set(made)) == [
        f"six-by-four/{name}/strategy/part-00007.parquet" for name in ("broken-pays", "plain")
    ]
    (failed,) = events(run, "failed")
    assert (failed["game"], failed["parts"]) == ("Six by Four", [7, 7])
    assert len(events(run, "worker lost")) >= 4

    resumed(game_file, run, "--workers", 1)
    assert contents(run) == contents(whole)
    assert {path: stat for path, stat in parts(run).items() if path in made} == made


def test_a_scheduler_that_dies(game_file, whole, tmp_path):
    run = tmp_path / "run"
    with dask_processes(tmp_path / "first") as dask:
        dask.worker(fault=SLOW)
        process = start(*arguments(game_file, run, "--scheduler", dask.address))
        wait_for_parts(process, run, 10)
        dask.kill(dask.scheduler)
        code, _, said = end(process)
    assert code == 75, said
    assert f"the Dask scheduler at {dask.address} is gone" in said
    assert "--resume" in said
    assert "Traceback" not in said
    with dask_processes(tmp_path / "second", 1) as dask:
        resumed(game_file, run, "--scheduler", dask.address)
    assert contents(run) == contents(whole)


@pytest.mark.parametrize(
    ("status", "said"),
    [("connecting", "is gone"), ("closed", "is gone"), ("running", "has not answered for 1 s")],
    ids=["died just now", "died long ago", "is stopped"],
)
def test_a_scheduler_without_an_answer_whatever_it_is_asked_for(tmp_path, status, said):
    with dask_processes(tmp_path, 1) as dask:
        dask.wait_for_workers(1)
        with connect(Connection(scheduler=dask.address, wait_timeout=10)) as cluster:
            cluster._client.patience = 1
            if status == "running":
                dask.scheduler.send_signal(signal.SIGSTOP)
            else:
                dask.kill(dask.scheduler)
            wait_until(lambda: cluster._client.status == status)
            for ask in (
                lambda: wait_for_workers(cluster._client, 2, cluster._what),
                lambda: cluster.greeting,
                lambda: cluster.workers,
                lambda: cluster.memory,
                cluster.check_software,
                lambda: next(cluster.map(abs, [1], ["one"])),
            ):
                with pytest.raises(Unreachable, match=f" {said}$"):
                    ask()


def test_a_worker_that_is_stopped_before_the_start(game_file, whole, tmp_path):
    run = tmp_path / "run"
    with dask_processes(tmp_path, 2) as dask:
        dask.wait_for_workers(2)
        (stopped,) = calculating(dask.processes[-1])
        stopped.suspend()
        process = start(*arguments(game_file, run, "--scheduler", dask.address, "--wait-timeout", 10))
        warned = next(line for line in process.stderr if line.startswith("autohold: "))
        stopped.resume()
        code, _, said = end(process)
    assert warned.startswith(f"autohold: the Dask scheduler at {dask.address}: no answer from tcp://127.0.0.1:")
    assert warned.endswith(" for 10 s; going on without\n")
    assert warned.count("tcp://") == 2
    assert code == 0, said
    assert contents(run) == contents(whole)


@pytest.mark.parametrize("more", [0, 1], ids=["for good", "for a while"])
def test_a_scheduler_that_is_stopped(game_file, whole, tmp_path, more):
    run = tmp_path / "run"
    with dask_processes(tmp_path) as dask:
        dask.worker(fault=SLOW)
        dask.wait_for_workers(1)
        patience = 60 if more else 10
        process = start(*arguments(game_file, run, "--scheduler", dask.address, "--wait-timeout", patience))
        wait_for_parts(process, run, 10)
        before = sockets(process)
        dask.scheduler.send_signal(signal.SIGSTOP)
        if more:
            # What it asks in vain it asks again, by a new connection.
            wait_until(lambda: sockets(process) - before)
            dask.scheduler.send_signal(signal.SIGCONT)
        code, _, said = end(process)
    if more:
        assert code == 0, said
    else:
        assert code == 75, said
        assert f"the Dask scheduler at {dask.address} has not answered for 10 s" in said
        done = autohold(*arguments(game_file, run, "--resume", "--serial"))
        assert done.returncode == 0, done.stderr
    assert contents(run) == contents(whole)


@pytest.mark.parametrize("more", [0, 1], ids=["for good", "for a while"])
def test_all_workers_are_lost(game_file, whole, tmp_path, more):
    run = tmp_path / "run"
    with dask_processes(tmp_path) as dask:
        worker = dask.worker(fault=SLOW)
        dask.wait_for_workers(1)
        patience = 60 if more else 10
        process = start(
            *arguments(game_file, run, "--scheduler", dask.address, "--wait-timeout", patience),
        )
        wait_for_parts(process, run, 10)
        dask.kill(worker)
        wait_until(lambda: events(run, "worker lost"))
        for _ in range(more):
            dask.worker()
        code, _, said = end(process)
        if more:
            assert code == 0, said
            assert [event["event"] for event in log(run)] == ["start", "worker lost", "worker joined", "done"]
        else:
            assert code == 75, said
            assert f"the Dask scheduler at {dask.address} has had no workers for 10 s" in said
            assert "--resume" in said
            dask.worker()
            resumed(game_file, run, "--scheduler", dask.address)
    assert contents(run) == contents(whole)


def test_two_runs_of_one_plan_on_one_scheduler(game_file, whole, tmp_path):
    """Each makes its own files, for a scheduler could take the calls of both for the same."""
    runs = [tmp_path / name for name in ("one", "two")]
    with dask_processes(tmp_path) as dask:
        for _ in range(2):
            dask.worker(fault="slow 0.02")
        both = [start(*arguments(game_file, run, "--scheduler", dask.address)) for run in runs]
        for process in both:
            code, _, said = end(process)
            assert code == 0, said
    assert [contents(run) == contents(whole) for run in runs] == [True, True]


# --- other code -------------------------------------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path):
    """A copy of the source tree."""
    for name in ("evaluator", "pipeline"):
        shutil.copytree(ROOT / name, tmp_path / "tree" / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "tree"


def change(tree):
    """A copy of the source tree whose results differ; receipts cannot tell."""
    path = tree / "pipeline" / "tasks.py"
    text = path.read_text()
    assert "start, stop = plan.rows(number, part)" in text
    path.write_text(text.replace("start, stop = plan.rows(number, part)", "start, stop = plan.rows(number, 0)"))


@pytest.fixture
def none(tmp_path):
    """A source tree without the package."""
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "pipeline.py").write_text("")
    return tmp_path / "none"


WORKER = r"tcp://127\.0\.0\.1:\d+"
OTHER_VERSIONS = """
import importlib.metadata, platform, numpy, pyarrow
numpy.__version__ = pyarrow.__version__ = "0.1.2"
importlib.metadata.version = lambda name: "0.1.2"
platform.python_version = lambda: "0.1.2"
"""
"""run in a scheduler or worker before it imports this package"""


def refused_for_software(game_file, run, dask, workers):
    """What is said of the software of a scheduler and its workers, of which nothing is taken."""
    done = autohold(*arguments(game_file, run, "--scheduler", dask.address, "--wait-workers", workers))
    assert done.returncode == 75, done.stderr
    assert not run.exists()
    said = f"autohold: the Dask scheduler at {dask.address}: the software is not the same everywhere\n"
    return done.stderr.partition(said)[2].splitlines()[:-1]


def test_a_scheduler_and_a_worker_with_other_code_and_a_worker_without(game_file, tmp_path, tree, none):
    change(tree)
    with dask_processes(tmp_path, 1, code=tree) as dask:
        dask.worker(code=tree)
        dask.worker(code=none)
        code, unknown = refused_for_software(game_file, tmp_path / "run", dask, 3)
    assert re.fullmatch(rf"    code: {installed()['code']} here, [0-9a-f]{{64}} on the scheduler, {WORKER}", code)
    assert re.fullmatch(rf"    not to be seen on {WORKER}: .*No module named 'pipeline.same'.*", unknown)


def test_a_scheduler_without_code_and_a_worker_with_other_versions(game_file, tmp_path, none):
    with dask_processes(tmp_path, 1, code=none) as dask:
        dask.worker("--preload", OTHER_VERSIONS)
        *versions, unknown = refused_for_software(game_file, tmp_path / "run", dask, 2)
    here = {name: version for name, version in installed().items() if name != "code"}
    for line, (name, version) in zip(versions, here.items(), strict=True):
        assert re.fullmatch(rf"    {name}: {re.escape(version)} here, 0\.1\.2 on {WORKER}", line)
    assert unknown.startswith("    not to be seen on the scheduler: No module named 'pipeline.same'")


def test_a_worker_that_joins_with_other_code(game_file, whole, tmp_path, tree):
    run = tmp_path / "run"
    change(tree)
    with dask_processes(tmp_path) as dask:
        worker = dask.worker(fault="slow 1")
        process = start(*arguments(game_file, run, "--scheduler", dask.address))
        wait_for_parts(process, run, 2)
        stranger = dask.worker(code=tree)
        wait_until(lambda: events(run, "worker joined"))
        dask.kill(worker)  # so that its calls go to the stranger
        code, _, said = end(process)
        assert code == 75, said
        assert "the software is not the same everywhere" in said
        assert " on tcp://127.0.0.1:" in said
        dask.kill(stranger)
        dask.worker()
        resumed(game_file, run, "--scheduler", dask.address)
    assert contents(run) == contents(whole)


def test_a_worker_that_comes_back_with_other_code(game_file, whole, tmp_path, tree):
    run = tmp_path / "run"
    with dask_processes(tmp_path) as dask:
        worker = dask.worker(fault=SLOW, code=tree)
        process = start(*arguments(game_file, run, "--scheduler", dask.address))
        wait_for_parts(process, run, 2)
        change(tree)
        (victim,) = calculating(worker)
        victim.send_signal(signal.SIGKILL)
        code, _, said = end(process)
    assert code == 75, said
    assert "the software is not the same everywhere" in said
    resumed(game_file, run, "--serial")
    assert contents(run) == contents(whole)
