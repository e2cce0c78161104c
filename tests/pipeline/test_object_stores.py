"""Runs in object stores: the same bytes as in a folder, each object written once, whatever happens meanwhile."""

import asyncio
import gc
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from contextlib import nullcontext
from threading import Barrier, Thread

import pandas as pd
import pytest
from s3fs import S3FileSystem

from pipeline import certify, load_game, look_up, read_strategy
from pipeline.diff import compare_runs
from pipeline.execute import Serial
from pipeline.location import Remote, children, location, write_new, write_whole
from pipeline.lock import LOCK, InUse, claim
from pipeline.run import Altered, Refused
from pipeline.store import write_table
from pipeline.verify import verify
from tests.pipeline import games, stores
from tests.pipeline.games import PARTS, ROOT, SLOW, arguments, autohold, end, start
from tests.pipeline.stores import contents

COARSE = 400
"""rows in a part where few parts will do"""
FEW = 12
"""part files of both paytables"""
PART = "six-by-four/plain/strategy/part-00003.parquet"


@pytest.fixture(scope="module")
def moto():
    with stores.moto() as found:
        yield found


@pytest.fixture(scope="module")
def s3rver(tmp_path_factory):
    with stores.s3rver(tmp_path_factory.mktemp("s3rver")) as found:
        yield found


@pytest.fixture(params=["moto", pytest.param("s3rver", marks=pytest.mark.programs)])
def either(request):
    """Each of the stores."""
    return request.getfixturevalue(request.param)


@pytest.fixture
def use(monkeypatch):
    """Have this process use a store, and a place in it that no other test has."""

    def reach(store, tmp_path):
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        S3FileSystem.clear_instance_cache()
        store.requests.clear()
        return Remote(f"s3://bucket/{tmp_path.name}")

    yield reach
    S3FileSystem.clear_instance_cache()


def events(run):
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


def asked(store, *methods):
    """How often each key was asked for."""
    return Counter(key for method, key, _ in store.requests if method in methods)


@pytest.fixture(scope="module")
def coarse(game, tmp_path_factory):
    """A complete run in few parts, in a folder; not to be changed."""
    out = tmp_path_factory.mktemp("coarse") / "run"
    certify([game], out, rows_per_part=COARSE)
    return out


# --- equal bytes ------------------------------------------------------------------------------------------------------


def test_the_same_bytes_as_in_a_folder_by_workers(either, use, command, game_file, coarse, tmp_path):
    run = use(either, tmp_path)
    asked_for = ("certify", game_file, "--out", run, "--rows-per-part", COARSE)
    done = autohold(*asked_for, "--workers", 2, **either.environment)
    assert done.returncode == 0, done.stderr
    assert contents(run) == games.contents(coarse)
    assert [event["event"] for event in events(run)] == ["start", "done"]
    assert f"{run}: certified" in done.stderr

    again = command(*asked_for, "--serial")
    assert again.returncode == 0, again.stderr
    assert f"{run}: already certified, digests verified" in again.stderr
    for level in ((), ("--tables",), ("--sample", 5)):
        verified = command("verify", run, *level)
        assert verified.returncode == 0, verified.stdout
        assert f"{run}: no findings" in verified.stdout


def test_killed_and_resumed(moto, use, game_file, whole, tmp_path):
    run = use(moto, tmp_path)
    process = start(*arguments(game_file, run, "--workers", 2), fault=SLOW, **moto.environment)
    while len(children(run / "six-by-four/plain/strategy")) < 8:
        assert process.poll() is None, process.communicate()
    os.killpg(process.pid, signal.SIGKILL)
    assert end(process)[0] == -9
    kept = contents(run)
    assert ".plan.json" in kept
    resumed = autohold(*arguments(game_file, run, "--resume", "--serial"), **moto.environment)
    assert resumed.returncode == 0, resumed.stderr
    assert contents(run) == games.contents(whole)
    found = events(run)[-1]["parts"]
    assert found == {"missing": PARTS - found["sound"], "sound": found["sound"]}
    assert found["sound"] >= sum("/strategy/" in name for name in kept) >= 8


# --- requests ---------------------------------------------------------------------------------------------------------


def test_everything_is_written_once_to_its_final_key_and_the_mark_comes_last(moto, use, game, coarse, tmp_path):
    run = use(moto, tmp_path)
    certify([game], run, rows_per_part=COARSE)
    written = [key.removeprefix(f"{tmp_path.name}/") for method, key, _ in moto.requests if method == "PUT"]
    made = [key for key in written if key not in ("log.jsonl", LOCK, ".plan.json")]
    assert sorted(made) == sorted(games.contents(coarse))
    kinds = ["part" if "/strategy/" in key else key.rpartition("/")[2] for key in made]
    of_tables = ["wins.parquet", "certificate.json"] * 2
    assert kinds == ["part"] * FEW + [*of_tables, "manifest.json", "SHA256SUMS", "_SUCCESS"]
    assert written[0] == LOCK
    assert written[-1] == "_SUCCESS"
    deleted = [key for method, key, _ in moto.requests if method == "DELETE"]
    assert deleted == [f"{tmp_path.name}/.plan.json", f"{tmp_path.name}/{LOCK}"]
    assert not asked(moto, "POST")


def test_requests_grow_by_two_with_each_part_and_listings_not_at_all(moto, use, game, coarse, tmp_path):
    run = use(moto, tmp_path)
    listings = []
    for rows, parts in ((COARSE, FEW), (2 * COARSE, FEW // 2)):
        moto.requests.clear()
        certify([game], run / str(rows), rows_per_part=rows)
        each = {key: n for key, n in asked(moto, "GET", "HEAD", "PUT").items() if "/strategy/part" in key}
        assert (len(each), set(each.values())) == (parts, {2})  # looked for, and written
        listings.append(sum(n for key, n in asked(moto, "GET").items() if key.startswith("?list")))
    assert listings[0] == listings[1] <= 6


def test_a_resume_asks_once_for_each_part_and_lists_none(moto, use, game, coarse, tmp_path):
    run = use(moto, tmp_path)
    certify([game], run, rows_per_part=COARSE)
    (run / "_SUCCESS").unlink()
    moto.requests.clear()
    assert certify([game], run, rows_per_part=COARSE, resume=True).parts == {"sound": FEW}
    each = {key: n for key, n in asked(moto, "GET", "HEAD").items() if "/strategy/part" in key}
    assert (len(each), set(each.values())) == (FEW, {1})
    assert not [key for key in asked(moto, "PUT") if "/strategy/" in key]
    assert sum(n for key, n in asked(moto, "GET").items() if key.startswith("?list")) <= 5
    assert contents(run) == games.contents(coarse)


# --- what else goes wrong ---------------------------------------------------------------------------------------------


def test_a_damaged_part_is_reported_and_made_again(moto, use, game, coarse, tmp_path):
    run = use(moto, tmp_path)
    certify([game], run, rows_per_part=COARSE)
    content = (run / PART).read_bytes()
    (run / PART).call("pipe_file", content[:999] + bytes([content[999] ^ 1]) + content[1000:])
    with pytest.raises(Altered, match=f"{PART}: expected SHA-256"):
        certify([game], run, rows_per_part=COARSE)
    (run / "_SUCCESS").unlink()
    (run / PART.replace("3", "4")).unlink()
    with pytest.raises(Refused, match=f"{FEW - 1} of {FEW} parts; add --resume to go on"):
        certify([game], run, rows_per_part=COARSE)
    moto.requests.clear()
    done = certify([game], run, rows_per_part=COARSE, resume=True)
    assert done.parts == {"damaged": 1, "missing": 1, "sound": FEW - 2}
    assert [event["path"] for event in events(run) if event["event"] == "damaged"] == [PART]
    written = {key.removeprefix(f"{tmp_path.name}/") for key in asked(moto, "PUT")}
    assert {key for key in written if "/strategy/" in key} == {PART, PART.replace("3", "4")}
    assert contents(run) == games.contents(coarse)


def test_a_part_that_another_worker_makes_at_the_same_time(moto, use, game, coarse, tmp_path):
    run = use(moto, tmp_path)
    table = pd.DataFrame({"n": [1, 2]})
    import pyarrow as pa

    made = write_table(run, "i", "t.parquet", pa.Table.from_pandas(table), {})
    assert write_table(run, "i", "t.parquet", pa.Table.from_pandas(table), {}) == made
    with pytest.raises(FileExistsError, match="somebody else wrote another file meanwhile") as caught:
        write_table(run, "i", "t.parquet", pa.Table.from_pandas(table * 2), {})
    assert caught.value.filename == f"{run}/t.parquet"
    other = write_table(run, "i", "t.parquet", pa.Table.from_pandas(table * 2), {}, found="damaged")
    assert other != made
    assert hashlib.sha256((run / "t.parquet").read_bytes()).hexdigest() == other[1]


@pytest.mark.parametrize("where", ["no such bucket", "nobody answers", "refused"])
def test_a_store_out_of_reach_is_an_io_error(moto, use, game_file, tmp_path, monkeypatch, where):
    run = str(use(moto, tmp_path))
    changes = moto.environment
    said = "The specified bucket does not exist"
    if where == "no such bucket":
        run = run.replace("bucket", "other")
    elif where == "nobody answers":
        changes = changes | {"AWS_ENDPOINT_URL": "http://127.0.0.1:9", "AWS_MAX_ATTEMPTS": "1"}
        said = "Could not connect to the endpoint URL"
    else:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            changes = {key: value for key, value in changes.items() if key != name}
            monkeypatch.delenv(name)
        changes |= {"AWS_EC2_METADATA_DISABLED": "true"}
        said = "Unable to locate credentials"
    done = autohold(*arguments(game_file, run, "--serial"), **changes)
    assert done.returncode == 74, done.stderr
    assert said in done.stderr
    assert run in done.stderr
    assert "Traceback" not in done.stderr


def test_a_store_that_is_cut_off_and_comes_back(either, use, game_file, whole, tmp_path):
    """It may keep a part of an object that was under way; that is not taken for a whole one."""
    run = use(either, tmp_path)
    with stores.through(either) as reached:
        once = {**reached.environment, "AWS_MAX_ATTEMPTS": "1"}
        process = start(*arguments(game_file, run, "--serial"), fault=SLOW, **once)
        while len(children(run / "six-by-four/plain/strategy")) < 5:
            assert process.poll() is None, process.communicate()
    code, _, said = end(process)
    assert code == 74, said
    assert str(run) in said
    assert "repeat the command with --resume" in said
    assert "Traceback" not in said
    done = autohold(*arguments(game_file, run, "--serial", "--resume"), **either.environment)
    assert done.returncode == 0, done.stderr
    assert contents(run) == games.contents(whole)


def test_what_failed_requests_leave_behind_is_not_logged(moto, use, tmp_path, caplog):
    system, _ = use(moto, tmp_path).filesystem()

    async def left():
        asyncio.get_running_loop().create_task(fail())
        await asyncio.sleep(0)
        gc.collect()

    async def fail():
        raise ConnectionResetError

    asyncio.run_coroutine_threadsafe(left(), system.loop).result()
    assert [record for record in caplog.records if record.name == "asyncio"] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("s4://bucket/run", "no object store is known by that protocol: s4"),
        ("s3://", "names no bucket; expected s3://bucket/run"),
        ("s3://bucket/run", "needs another package: pip install 'autohold[s3]'"),
    ],
)
def test_a_store_that_cannot_be_used_is_wrong_use(command, game_file, monkeypatch, text, said):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
    for words in (("certify", game_file, "--serial", "--out", text), ("verify", text), ("diff", text, text)):
        done = command(*words)
        assert done.returncode == 2
        assert said in done.stderr


def test_an_address_of_a_file_is_a_path(tmp_path):
    assert location(f"file://{tmp_path}/run") == tmp_path / "run"


def test_verification_reads_each_part_once(moto, use, game, tmp_path):
    run = use(moto, tmp_path)
    certify([game], run, rows_per_part=COARSE)
    moto.requests.clear()
    assert verify(run).sound
    parts = {key: times for key, times in asked(moto, "GET").items() if "/strategy/" in key}
    assert len(parts) == sum("/strategy/" in name for name in contents(run))
    assert set(parts.values()) == {1}


def test_what_is_no_run_in_a_store_is_wrong_use(either, use, command, coarse, tmp_path):
    """What is left of a run is one, with findings."""
    run = use(either, tmp_path)
    for place in (run, Remote("s3://no-such-bucket/run")):
        done = command("verify", place)
        assert (done.returncode, done.stderr) == (2, f"autohold: {place}: is not there\n")
    write_whole(run / "notes.txt", b"nothing")
    done = command("verify", run)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"autohold: {run}: is not a run of autohold: expected manifest.json, SHA256SUMS, ")
    write_whole(run / "SHA256SUMS", (coarse / "SHA256SUMS").read_bytes())
    done = command("verify", run)
    assert (done.returncode, done.stderr) == (1, "")
    assert "missing: manifest.json: is missing" in done.stdout


# --- two clients ------------------------------------------------------------------------------------------------------


def test_two_clients_at_the_same_time(either, use, game_file, whole, tmp_path):
    """Exactly one makes the run, at the latest it finds out before it marks it; the other may come back with 75."""
    run = use(either, tmp_path)
    both = [start(*arguments(game_file, run, "--serial", "--resume"), **either.environment) for _ in range(2)]
    ends = [end(process) for process in both]
    assert sorted(code for code, _, _ in ends) == [0, 75], ends
    (said,) = (err for code, _, err in ends if code == 75)
    assert f"{run} is in use by process " in said
    assert f"remove {run}/.lock" in said
    assert contents(run) == games.contents(whole)


def test_only_one_of_many_creates_an_object(moto, use, tmp_path):
    run, barrier, made = use(moto, tmp_path), Barrier(8), []

    def create(number):
        barrier.wait()
        try:
            write_new(run / "one", b"%d" % number)
        except FileExistsError:
            return
        made.append(b"%d" % number)

    threads = [Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert (run / "one").read_bytes() == made[0]


@pytest.mark.programs
def test_s3rver_writes_over_what_is_there(s3rver, use, tmp_path):
    run = use(s3rver, tmp_path)
    write_new(run / "one", b"1")
    write_new(run / "one", b"2")
    assert (run / "one").read_bytes() == b"2"


class Overwritten(Serial):
    """Another client claims the run meanwhile, as it can where creation is not exclusive."""

    def __init__(self, run):
        self.run = run

    def map(self, function, arguments, keys, report):
        for argument in arguments:
            if keys[0].startswith("certify"):
                (self.run / LOCK).call("pipe_file", b'{"host": "elsewhere", "pid": 7, "job": "99"}')
            yield argument, function(argument)


def test_who_lost_the_lock_does_not_finish(moto, use, game, tmp_path):
    run = use(moto, tmp_path)
    with pytest.raises(InUse, match="process 7 on elsewhere, batch job 99"):
        certify([game], run, rows_per_part=COARSE, executor=lambda: nullcontext(Overwritten(run)))
    there = contents(run)
    assert not there.keys() & {"_SUCCESS", "manifest.json", "SHA256SUMS"}
    assert b"elsewhere" in there[LOCK]
    assert [event["event"] for event in events(run)] == ["start"]


LOCKS = {
    "a process that is gone": ({"pid": 4194304, "started": "1"}, None),
    "a number taken again": ({"started": "1"}, None),
    "before the machine was started again": ({"boot": "another"}, None),
    "requeued batch job": ({"host": "elsewhere", "job": "7", "restart": ""}, None),
    "names nobody": (b"", None),
    "this very process": ({}, f"in use by process {os.getpid()} on {os.uname().nodename}"),
    "another host": ({"host": "elsewhere"}, "on elsewhere"),
    "another batch job": ({"host": "elsewhere", "job": "8"}, "on elsewhere, batch job 8,"),
    "another job step": ({"host": "elsewhere", "job": "7", "restart": "1"}, "on elsewhere, batch job 7,"),
    "another container": ({"space": "pid:[1]", "pid": 1, "started": "1"}, "in use by process 1"),
}


@pytest.mark.parametrize("kind", LOCKS)
@pytest.mark.parametrize("where", ["store", "folder"])
def test_locks_of_others(moto, use, tmp_path, monkeypatch, kind, where):
    changes, said = LOCKS[kind]
    run = use(moto, tmp_path) if where == "store" else tmp_path
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    with claim(run):
        mine = json.loads((run / LOCK).read_bytes())
    theirs = changes if isinstance(changes, bytes) else json.dumps({**mine, "token": "", "job": "", **changes}).encode()
    (run / LOCK).call("pipe_file", theirs) if where == "store" else (run / LOCK).write_bytes(theirs)
    if said is None:
        with claim(run) as claimed:
            claimed.check()
        assert LOCK not in children(run)
    else:
        with pytest.raises(InUse) as caught, claim(run):
            pass
        assert said in str(caught.value)
        assert f" since {mine['since']} by its clock; if that process is gone, remove {run}/.lock" in str(caught.value)
        assert (run / LOCK).read_bytes() == theirs


# --- reading ----------------------------------------------------------------------------------------------------------


def test_strategy_tables_are_read_by_pandas_and_by_name(moto, use, game, coarse, tmp_path):
    run = use(moto, tmp_path)
    certify([game], run, rows_per_part=COARSE, paytables=["plain"])
    options = {"endpoint_url": moto.endpoint, "key": "key", "secret": "key"}
    table = pd.read_parquet(f"{run}/six-by-four/plain/strategy", storage_options=options)
    expected = pd.read_parquet(coarse / "six-by-four/plain/strategy")
    pd.testing.assert_frame_equal(table, expected)
    pd.testing.assert_frame_equal(read_strategy(str(run), "Six by Four", "plain"), expected)
    rows = look_up(game, table, ["9c 9d 9h Ac Kd"])
    assert rows["held"].tolist() == ["9c 9d 9h"]


def test_sums_are_those_of_sha256sum(moto, use, game, tmp_path):
    run = use(moto, tmp_path)
    certify([game], run, rows_per_part=COARSE)
    there = contents(run)
    lines = [line.split("  ") for line in there.pop("SHA256SUMS").decode().splitlines()]
    del there["_SUCCESS"]
    assert {name: digest for digest, name in lines} == {
        name: hashlib.sha256(content).hexdigest() for name, content in there.items()
    }


def test_a_run_in_a_store_and_one_in_a_folder_are_compared(moto, use, game, coarse, tmp_path):
    run = use(moto, tmp_path)
    certify([game], run, rows_per_part=COARSE)
    found = compare_runs(run, coarse)
    assert found["same"]
    assert found["before"]["run"] == str(run)
    assert [table["holds"]["rows"] for table in found["paytables"]] == [0, 0]


def test_tables_of_strength_and_sweeps(moto, use, command, tmp_path):
    run = use(moto, tmp_path)
    asked_for = ("ehs-table", "--street", "flop", "--boards", "0:2", "--boards-per-part", 1, "--serial", "--out")
    for place in (run, tmp_path / "run"):
        done = command(*asked_for, place)
        assert done.returncode == 0, done.stderr
    assert contents(run) == games.contents(tmp_path / "run")
    assert "already made, digests verified" in command(*asked_for, run).stderr
    assert command("verify", run).returncode == 0
    game = load_game(ROOT / "configs" / "jacks-or-better.toml")
    sweep = ("sweep", game.file, "--base", "9/6", "--vary", "full house=8,9", "--serial", "--out")
    for place in (run / "sweep.parquet", tmp_path / "sweep.parquet"):
        done = command(*sweep, place)
        assert done.returncode == 0, done.stderr
    assert (run / "sweep.parquet").read_bytes() == (tmp_path / "sweep.parquet").read_bytes()


def test_what_reads_and_signs_runs(moto, use, command, game, coarse, tmp_path):
    run, folder = use(moto, tmp_path), shutil.copytree(coarse, tmp_path / "run")
    certify([game], run, rows_per_part=COARSE)
    words = ["openssl", "genpkey", "-algorithm", "ed25519", "-out", tmp_path / "key.pem"]
    subprocess.run(words, check=True, capture_output=True)
    table = ("--table", "plain")
    for asked_for in (
        ("audit", ..., *table, "--paytable", "broken pays"),
        ("simulate", ..., *table, "--hands", 1000, "--seed", 1, "--serial"),
        ("chart", ..., *table),
        ("sign", ..., "--private-key", tmp_path / "key.pem"),
        ("report", ...),
        ("verify", ...),
    ):
        there, here = (command(*(place if word is ... else word for word in asked_for)) for place in (run, folder))
        assert (there.returncode, there.stdout) == (here.returncode, here.stdout.replace(str(folder), str(run)))
    assert contents(run) == games.contents(folder)
    assert f"{run}: complete" in command("status", run).stdout
