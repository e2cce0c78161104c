"""What goes wrong with processes and disks: nothing half-written is taken up, and a resume makes the same bytes."""

import json
import multiprocessing
import os
import resource
import signal
import struct
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from pipeline.cluster import connect
from pipeline.execute import Connection
from pipeline.location import append_lines
from pipeline.lock import LOCK, InUse, claim
from pipeline.store import read_part
from tests.pipeline.games import (
    AUTOHOLD,
    PARTS,
    ROOT,
    SLOW,
    arguments,
    autohold,
    contents,
    end,
    environment,
    log,
    parts,
    start,
    wait_for_parts,
)

JUMPING_CLOCK = ROOT / "tests" / "pipeline" / "jumping_clock"
WAYS = {"serial": ("--serial",), "workers": ("--workers", 2)}


@pytest.fixture(params=WAYS)
def how(request):
    """In one process, and on two workers."""
    return WAYS[request.param]


def all_sound(run):
    """Every part that is there under its own name is whole, and every line of the log too; returns how many parts."""
    identity = log(run)[0]["identity"]
    there = parts(run)
    assert {read_part(run, identity, path).found for path in there} <= {"sound"}
    return len(there)


def resume(game_file, run, whole):
    """Go on, to the same bytes; returns what was found of the parts."""
    done = autohold(*arguments(game_file, run, "--serial", "--resume"))
    assert done.returncode == 0, done.stderr
    assert contents(run) == contents(whole)
    return log(run)[-1]["parts"]


# --- signals ----------------------------------------------------------------------------------------------------------


def test_workers_of_a_client_that_is_killed_go_away(game_file, whole, tmp_path):
    run = tmp_path / "run"
    process = start(*arguments(game_file, run, "--workers", 2), fault=SLOW)
    wait_for_parts(process, run, 10)
    family = psutil.Process(process.pid).children(recursive=True)
    os.kill(process.pid, signal.SIGKILL)
    assert end(process)[0] == -9
    # While they may still be at their last parts: their bytes are the same, and the lock is that of a dead process.
    found = resume(game_file, run, whole)
    assert found.keys() <= {"missing", "sound"}
    _, alive = psutil.wait_procs(family, timeout=300)
    assert not alive
    assert contents(run) == contents(whole)


def test_a_batch_system_stops_all_processes(game_file, whole, tmp_path):
    run = tmp_path / "run"
    process = start(*arguments(game_file, run, "--workers", 2), fault=SLOW)
    wait_for_parts(process, run, 10)
    os.killpg(process.pid, signal.SIGTERM)
    code, _, said = end(process)
    assert code == 143, said
    assert "stopped by SIGTERM; what is done is on disk; repeat the command with --resume to go on" in said
    assert "Traceback" not in said
    assert not (run / LOCK).exists()
    done = all_sound(run)
    assert resume(game_file, run, whole) == {"missing": PARTS - done, "sound": done}


# --- disks ------------------------------------------------------------------------------------------------------------


@contextmanager
def little_room(folder):
    """A folder that holds 400 kB: a disk of its own where this process may mount one.

    In a container that may not, files of more than 9,500 bytes are refused instead, as some of the parts are.
    """
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", folder], stderr=subprocess.DEVNULL)
    if mounted.returncode == 0:
        try:
            yield "No space left on device", None
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)
    else:
        yield "File too large", lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (9500, resource.RLIM_INFINITY))


def make_room(folder):
    if os.path.ismount(folder):
        subprocess.run(["mount", "-o", "remount,size=8m", folder], check=True)


def test_a_full_disk(how, game_file, whole, tmp_path):
    folder = tmp_path / "disk"
    run = folder / "run"
    with little_room(folder) as (reason, limit):
        done = subprocess.run(
            [*AUTOHOLD, *map(str, arguments(game_file, run, *how))],
            cwd=ROOT, env=environment(), capture_output=True, text=True, preexec_fn=limit, timeout=120,
        )  # fmt: skip
        assert done.returncode == 74, done.stderr
        assert f"{reason}: {run}/" in done.stderr
        assert ".writing-" not in done.stderr
        assert "repeat the command with --resume" in done.stderr
        assert "Traceback" not in done.stderr
        assert not (run / LOCK).exists()
        assert 0 < all_sound(run) < PARTS
        make_room(folder)
        found = resume(game_file, run, whole)
        assert found["sound"] > 0
        assert found.keys() == {"missing", "sound"}


@contextmanager
def read_only(folder):
    """Nobody may write there; for root, who may, it takes `unprivileged` as well."""
    folders = [folder, *(path for path in folder.rglob("*") if path.is_dir())]
    modes = {path: path.stat().st_mode for path in folders}
    try:
        for path in folders:
            path.chmod(0o555)
        yield
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def unprivileged(*words):
    """Run the command without what lets root ignore permissions."""
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    return subprocess.run(
        [*drop, *AUTOHOLD, *map(str, words)], cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=120
    )


def test_a_read_only_target(game_file, tmp_path):
    with read_only(tmp_path):
        done = unprivileged(*arguments(game_file, tmp_path / "run", "--serial"))
    assert done.returncode == 74, done.stderr
    assert f"Permission denied: {tmp_path}/run" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_became_read_only(game_file, whole, tmp_path):
    run = tmp_path / "run"
    process = start(*arguments(game_file, run, "--serial"), fault=SLOW)
    wait_for_parts(process, run, 10)
    process.terminate()
    assert end(process)[0] == 143
    before = contents(run)
    with read_only(run):
        done = unprivileged(*arguments(game_file, run, "--serial", "--resume"))
    assert done.returncode == 74, done.stderr
    assert f"Permission denied: {run}/{LOCK}" in done.stderr
    assert contents(run) == before
    resume(game_file, run, whole)
    with read_only(run):
        assert unprivileged(*arguments(game_file, run, "--serial")).returncode == 0
        assert unprivileged("verify", run).returncode == 0


def test_lines_are_added_whole_or_not_at_all(tmp_path):
    path = tmp_path / "log.jsonl"
    append_lines(path, b"one\n")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6, before[1]))
    try:
        with pytest.raises(OSError, match=f"too large|No space left.*{path}"):
            append_lines(path, b"two\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_bytes() == b"one\n"
    path.write_bytes(b"one\ntw")  # as a machine leaves it that stopped meanwhile
    append_lines(path, b"three\n")
    assert path.read_bytes() == b"one\ntw\nthree\n"


# --- two clients ------------------------------------------------------------------------------------------------------


def test_a_second_client_is_refused_while_the_first_one_works(game_file, whole, tmp_path):
    run = tmp_path / "run"
    first = start(*arguments(game_file, run, "--serial"), fault=SLOW)
    wait_for_parts(first, run, 5)
    os.kill(first.pid, signal.SIGSTOP)  # so that it is there for as long as the second one takes
    try:
        for more in ((), ("--resume",)):
            second = autohold(*arguments(game_file, run, "--serial", *more))
            assert second.returncode == 75, second.stderr
            assert f"{run} is in use by process {first.pid} on {os.uname().nodename} since " in second.stderr
            assert f"remove {run}/{LOCK} and repeat the command" in second.stderr
    finally:
        os.kill(first.pid, signal.SIGCONT)
    code, _, said = end(first)
    assert code == 0, said
    assert contents(run) == contents(whole)
    assert [event["event"] for event in log(run)] == ["start", "done"]


def test_clients_that_start_together(game_file, whole, tmp_path):
    """One makes the run. Another is refused, or comes when it is complete."""
    run = tmp_path / "run"
    ends = [end(process) for process in [start(*arguments(game_file, run, "--serial", "--resume")) for _ in range(3)]]
    codes = sorted(code for code, _, _ in ends)
    assert codes[0] == 0
    assert {*codes} <= {0, 75}
    assert all(f"{run} is in use by process" in said for code, _, said in ends if code == 75)
    assert sum(f"{run}: certified" in said for _, _, said in ends) == 1
    assert contents(run) == contents(whole)
    assert [event["event"] for event in log(run)] == ["start", "done"]


def test_a_lock_does_not_get_old(tmp_path):
    with claim(tmp_path):
        written = json.loads((tmp_path / LOCK).read_text())
        (tmp_path / LOCK).write_text(json.dumps({**written, "since": "1970-01-01T00:00:00+00:00"}))
        os.utime(tmp_path / LOCK, (0, 0))
        with pytest.raises(InUse, match="since 1970"), claim(tmp_path):
            pass


def try_to_claim(run, together, results):
    """What each of several processes does at the same time; who has the lock holds it until all have tried."""
    together.wait()
    try:
        with claim(run):
            results.put(os.getpid())
            together.wait()
    except InUse:
        together.wait()


@pytest.mark.parametrize("left", [None, "", json.dumps({"host": os.uname().nodename, "boot": "an earlier one"})])
def test_one_of_many_gets_the_lock_or_takes_it_over(tmp_path, left):
    if left is not None:
        (tmp_path / LOCK).write_text(left)
    spawn = multiprocessing.get_context("spawn")
    together, results = spawn.Barrier(6), spawn.Queue()
    processes = [spawn.Process(target=try_to_claim, args=(tmp_path, together, results)) for _ in range(6)]
    for process in processes:
        process.start()
    assert results.get(timeout=300) in {process.pid for process in processes}
    for process in processes:
        process.join(300)
        assert process.exitcode == 0
    assert results.empty()
    assert not (tmp_path / LOCK).exists()


# --- clocks -----------------------------------------------------------------------------------------------------------


YEAR = 365.25 * 86400


def put(clock, seconds):
    """Have a clock be wrong by so much; in place, for processes have its file in their memory."""
    with clock.open("r+b") as file:
        file.write(struct.pack("d", seconds))


def test_a_clock_that_jumps(how, game_file, whole, tmp_path):
    """Ten years on, then twenty back: nothing waits for it, and nothing is given up."""
    clock, run = tmp_path / "clock", tmp_path / "run"
    clock.write_bytes(struct.pack("d", 0))
    stub = {"PYTHONPATH": f"{JUMPING_CLOCK}:{ROOT}", "JUMPING_CLOCK": str(clock)}
    process = start(*arguments(game_file, run, *how), fault=SLOW, **stub)
    for number, years in ((10, 10), (25, -10)):
        wait_for_parts(process, run, number)
        put(clock, years * YEAR)
    code, _, said = end(process)
    assert code == 0, said
    assert contents(run) == contents(whole)
    first, last = log(run)
    assert int(first["time"][:4]) - int(last["time"][:4]) in (9, 10)  # so the clock did jump
    assert 0 <= last["seconds"] < YEAR


def calls_while_the_clock_goes_back():
    """Calls on local workers, more than can be on their way at once, and an hour less after some of them."""
    with connect(Connection(workers=2)) as cluster:
        for done, _ in enumerate(cluster.map(abs, range(600), [f"call-{number}" for number in range(600)])):
            if done == 200:
                put(Path(os.environ["JUMPING_CLOCK"]), -3600)


def test_a_clock_that_goes_back_while_messages_fly(tmp_path):
    clock = tmp_path / "clock"
    clock.write_bytes(struct.pack("d", 0))
    stub = {"PYTHONPATH": f"{JUMPING_CLOCK}:{ROOT}", "JUMPING_CLOCK": str(clock)}
    code = "from tests.pipeline.test_disk import calls_while_the_clock_goes_back as run; run()"
    done = subprocess.run([sys.executable, "-c", code], env=environment(**stub), timeout=300, check=False)
    assert done.returncode == 0
