"""Certifying: the same bytes whatever happens on the way, and an exit code for everything that can."""

import json
import os
import shutil
import signal
import subprocess
from contextlib import nullcontext
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import islice

import pytest

from pipeline import certify, load_game
from pipeline.execute import Failure
from pipeline.lock import InUse, claim
from pipeline.manifest import differences
from pipeline.run import Altered, Incomplete, Refused, make_plan
from pipeline.store import read_part
from tests.pipeline.clusters import calculating, wait_until
from tests.pipeline.games import (
    PARTS,
    ROOT,
    ROWS,
    SLOW,
    SMALL,
    arguments,
    autohold,
    contents,
    end,
    log,
    parts,
    start,
    wait_for_parts,
)

PLAIN = "six-by-four/plain"
HINT = "add --resume to go on"


# --- equal bytes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [("--serial",), ("--workers", "1"), ("--workers", "2")], ids=" ".join)
def test_equal_bytes_however_it_is_run(game_file, whole, tmp_path, how):
    done = autohold(*arguments(game_file, tmp_path / "run", *how))
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "run") == contents(whole)
    assert len(parts(whole)) == PARTS
    events = log(tmp_path / "run")
    assert [event["event"] for event in events] == ["start", "done"]
    expected = {"--serial": "this process"}.get(how[0], f"{how[-1]} local worker{'s' if how[-1] == '2' else ''}")
    assert events[0]["executor"] == expected
    assert events[1]["parts"] == {"missing": PARTS}


STOPS = {
    # what is sent, to whom, the exit code, and a word of the message
    "kill": (signal.SIGKILL, "group", -9, ""),
    "term": (signal.SIGTERM, "client", 143, "stopped by SIGTERM"),
    "interrupt": (signal.SIGINT, "group", 130, "stopped by SIGINT"),
}


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("how", [("--serial",), ("--workers", "2")], ids=" ".join)
def test_stopped_half_way_damaged_and_resumed(game_file, whole, tmp_path, how, stop):
    number, target, code, message = STOPS[stop]
    run = tmp_path / "run"
    process = start(*arguments(game_file, run, *how), fault=SLOW)
    wait_for_parts(process, run, 15)
    (os.killpg if target == "group" else os.kill)(process.pid, number)
    returned, _, said = end(process)
    assert returned == code, said
    assert message in said
    if message:
        assert "--resume" in said
        assert "Traceback" not in said
        stopped = log(run)[-1]
        assert (stopped["event"], stopped["reason"]) == ("stopped", signal.Signals(number).name)
        assert stopped["seconds"] > 0
    before = parts(run)
    assert 15 <= len(before) < PARTS
    assert not (run / "_SUCCESS").exists()

    refused = autohold(*arguments(game_file, run, "--serial"))
    assert refused.returncode == 2
    assert HINT in refused.stderr
    assert f"{len(before)} of {PARTS} parts" in refused.stderr
    assert parts(run) == before

    harmed = max(before)
    flip(run / harmed, (run / harmed).stat().st_size // 4)
    resumed = autohold(*arguments(game_file, run, "--resume", *how))
    assert resumed.returncode == 0, resumed.stderr
    assert f"autohold: {harmed}: damaged: " in resumed.stderr
    assert "; it was made again\n" in resumed.stderr
    assert contents(run) == contents(whole)
    sound = {path: stat for path, stat in before.items() if path != harmed}
    after = parts(run)
    assert {path: after[path] for path in sound} == sound
    assert log(run)[-1]["parts"] == {"missing": PARTS - len(before), "sound": len(sound), "damaged": 1}


def test_a_terminal_that_interrupts_all_processes_while_workers_start(game_file, tmp_path):
    """Only the command answers, in one line."""
    process = start(*arguments(game_file, tmp_path / "run", "--workers", 2))
    wait_until(lambda: any("numpy" in library.path for one in calculating(process) for library in one.memory_maps()))
    os.killpg(process.pid, signal.SIGINT)
    code, _, said = end(process)
    assert code == 130
    assert said.splitlines()[-1].startswith("autohold: stopped by SIGINT")
    assert "Traceback" not in said


def test_a_worker_that_is_killed_does_not_matter(game_file, whole, tmp_path):
    run = tmp_path / "run"
    process = start(*arguments(game_file, run, "--workers", 2), fault=SLOW)
    wait_for_parts(process, run, 10)
    workers = calculating(process)
    assert len(workers) == 2
    workers[0].send_signal(signal.SIGKILL)
    code, _, said = end(process)
    assert code == 0, said
    assert contents(run) == contents(whole)


def test_a_part_that_is_removed_while_others_are_made_is_missed(game_file, whole, tmp_path):
    run = tmp_path / "run"
    process = start(*arguments(game_file, run, "--serial"), fault=SLOW)
    wait_for_parts(process, run, 10)
    process.send_signal(signal.SIGSTOP)
    (run / next(iter(parts(run)))).unlink()
    process.send_signal(signal.SIGCONT)
    code, _, said = end(process)
    assert code == 75, said
    assert f"1 of {PARTS} parts were made and are not in {run}" in said
    assert not (run / "manifest.json").exists()
    done = autohold(*arguments(game_file, run, "--serial", "--resume"))
    assert done.returncode == 0, done.stderr
    assert contents(run) == contents(whole)


# --- interrupted in this process --------------------------------------------------------------------------------------


class Stop(Exception):
    """What an executor of a test raises when it has done enough."""


class FirstTasks:
    """Surveys, and the first of many small tasks; then stops."""

    workers = 12
    name = "a test"
    memory = None

    def __init__(self, number):
        self.number = number

    def map(self, function, arguments, keys, report=None):
        most = self.number if keys[0].startswith("certify") else None
        for argument in islice(arguments, most):
            yield argument, function(argument)
        if most is not None:
            raise Stop


@pytest.fixture(scope="session")
def halted(game, tmp_path_factory):
    """A run that stopped half way; not to be changed."""
    out = tmp_path_factory.mktemp("halted") / "run"
    with pytest.raises(Stop):
        certify([game], out, rows_per_part=ROWS, executor=lambda: nullcontext(FirstTasks(8)))
    assert 20 < len(parts(out)) < PARTS
    return out


@pytest.fixture
def half(halted, tmp_path):
    """A copy of a run that stopped half way."""
    return shutil.copytree(halted, tmp_path / "half")


PART = f"{PLAIN}/strategy/part-00003.parquet"
DAMAGES = {
    "a byte of the footer": lambda path, other, half: flip(path, path.stat().st_size - 200),
    "the last byte": lambda path, other, half: flip(path, -1),
    "truncated": lambda path, other, half: os.truncate(path, path.stat().st_size // 2),
    "empty": lambda path, other, half: path.write_bytes(b""),
    "text": lambda path, other, half: path.write_text("not Parquet at all\n" * 99),
    "of another run": lambda path, other, half: shutil.copy(other / PART, path),
    "of another place": lambda path, other, half: shutil.copy(half / PART.replace("00003", "00004"), path),
    "of another paytable": lambda path, other, half: shutil.copy(half / PART.replace("plain", "broken-pays"), path),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_part_is_made_again(game, whole, other, half, damage):
    DAMAGES[damage](half / PART, other, half)
    before = parts(half)
    run = certify([game], half, rows_per_part=ROWS, resume=True)
    assert run.computed
    assert contents(half) == contents(whole)
    assert run.parts == {"missing": PARTS - len(before), "sound": len(before) - 1, "damaged": 1}
    (event,) = [event for event in log(half) if event["event"] == "damaged"]
    assert event["path"] == PART
    assert event["found"].startswith("of another run or place" if damage.startswith("of") else "damaged: ")
    kept = {path: stat for path, stat in parts(half).items() if path in before and path != PART}
    assert kept == {path: stat for path, stat in before.items() if path != PART}


def test_a_deleted_part_is_made_again(game, whole, half):
    (half / PART).unlink()
    before = parts(half)
    run = certify([game], half, rows_per_part=ROWS, resume=True)
    assert run.parts == {"missing": PARTS - len(before), "sound": len(before)}
    assert contents(half) == contents(whole)


def test_no_flipped_bit_of_a_part_goes_unnoticed(game, whole, tmp_path):
    """Floats and footers are checked too, though the content digest leaves them out."""
    shutil.copytree((whole / PART).parent, (tmp_path / PART).parent)
    identity = json.loads((whole / "manifest.json").read_text())["identity"]
    path = tmp_path / PART
    content = path.read_bytes()
    assert read_part(tmp_path, identity, PART).found == "sound"
    for place in range(0, len(content), 11):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1 :])
        assert read_part(tmp_path, identity, PART).found != "sound", place


def test_what_interrupted_writers_left_is_swept_and_never_listed(game, whole, half):
    (half / PLAIN / "strategy" / ".writing-1-part-00000.parquet").write_bytes(b"half")
    (half / ".writing-1-manifest.json").write_bytes(b"half")
    certify([game], half, rows_per_part=ROWS, resume=True)
    assert contents(half) == contents(whole)


class OrphansOfWorkers(FirstTasks):
    """A worker dies while it writes, and another one does its task."""

    def __init__(self, run):
        self.run = run

    def map(self, function, arguments, keys, report=None):
        for argument in arguments:
            yield argument, function(argument)
            if keys[0].startswith("certify"):
                (self.run / PLAIN / "strategy" / ".writing-7-part-00001.parquet").write_bytes(b"half")


def test_orphans_of_this_very_run_are_not_in_its_sums(game, whole, tmp_path):
    run = tmp_path / "run"
    certify([game], run, rows_per_part=ROWS, executor=lambda: nullcontext(OrphansOfWorkers(run)))
    assert contents(run) == contents(whole)


@pytest.mark.parametrize("left", [[], ["SHA256SUMS"], ["SHA256SUMS", "manifest.json", f"{PLAIN}/certificate.json"]])
def test_stopped_at_the_very_end(game, whole, halted, tmp_path, left):
    """Everything but _SUCCESS, then less and less of what is written before it."""
    run = shutil.copytree(whole, tmp_path / "run")
    (run / "_SUCCESS").unlink()
    for name in left:
        (run / name).unlink()
    if "manifest.json" in left:
        shutil.copy(halted / ".plan.json", run / ".plan.json")
    with pytest.raises(Refused, match=HINT):
        certify([game], run, rows_per_part=ROWS)
    before = parts(run)
    assert certify([game], run, rows_per_part=ROWS, resume=True).parts == {"sound": PARTS}
    assert parts(run) == before
    assert contents(run) == contents(whole)


def test_stopped_before_the_plan_was_written(game, whole, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / ".writing-1-.plan.json").write_bytes(b"{")
    (run / ".lock").write_text(json.dumps({"host": os.uname().nodename, "pid": 4194304, "started": "1"}))
    certify([game], run, rows_per_part=ROWS, resume=True)
    assert contents(run) == contents(whole)


class OneFails(FirstTasks):
    """Part 5 cannot be made, all others can."""

    def map(self, function, arguments, keys, report=None):
        for argument in arguments:
            fails = "certify" in keys[0] and argument.start <= 5 < argument.stop
            yield argument, Failure("its worker died 4 times") if fails else function(argument)


def test_a_part_that_cannot_be_made_does_not_stop_the_others(game, whole, tmp_path):
    run = tmp_path / "run"
    with pytest.raises(Incomplete, match="Six by Four, part 5: its worker died 4 times") as caught:
        certify([game], run, rows_per_part=ROWS, executor=lambda: nullcontext(OneFails(0)))
    assert f"{PARTS - 2} of {PARTS} parts are done" in str(caught.value)
    assert len(parts(run)) == PARTS - 2
    assert log(run)[-1]["event"] == "stopped"
    certify([game], run, rows_per_part=ROWS, resume=True)
    assert contents(run) == contents(whole)


# --- complete runs ----------------------------------------------------------------------------------------------------


def stamps(run):
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in run.rglob("*")}


@pytest.mark.parametrize("flags", [(), ("--resume",)], ids=["plain", "resume"])
def test_a_complete_run_again_computes_nothing(command, game_file, whole, flags):
    before = stamps(whole)
    done = command(*arguments(game_file, whole, "--serial", "--json", *flags))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["computed"] is False
    assert stamps(whole) == before


@pytest.mark.parametrize(
    "name", ["manifest.json", PART, f"{PLAIN}/certificate.json", f"{PLAIN}/wins.parquet", "SHA256SUMS"]
)
@pytest.mark.parametrize("how", ["altered", "missing"])
def test_a_complete_run_with_a_file_altered_or_missing(game, whole, tmp_path, name, how):
    run = shutil.copytree(whole, tmp_path / "run")
    if how == "missing":
        (run / name).unlink()
    else:
        text = (run / name).read_bytes()
        (run / name).write_bytes(text[:-20] + bytes([text[-20] ^ 1]) + text[-19:])
    # Without its manifest, nobody can tell what the run was; an altered list names what it no longer finds.
    kind = Refused if (name, how) == ("manifest.json", "missing") else Altered
    with pytest.raises(kind, match="wins.parquet" if (name, how) == ("SHA256SUMS", "altered") else name):
        certify([game], run, rows_per_part=ROWS, resume=True)
    assert (run / name).exists() == (how == "altered")


def test_an_altered_run_is_exit_code_1(command, game_file, whole, tmp_path):
    run = shutil.copytree(whole, tmp_path / "run")
    flip(run / PART, 50)
    done = command(*arguments(game_file, run, "--resume", "--json"))
    assert done.returncode == 1
    assert PART in done.stderr
    assert json.loads(done.stdout)["error"]["code"] == 1


# --- refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [(), ("--resume",)], ids=["plain", "resume"])
def test_other_identity_is_refused(command, game_file, whole, halted, flags):
    for run in (whole, halted):
        before = stamps(run)
        for change, said in (
            (("--all-holds",), "all_holds: expected True, found False"),
            (("--tie-break", "least-variance"), "tie_break: expected least-variance, found lowest-mask"),
            (("--paytable", "plain"), "games found and not expected: Six by Four, broken pays"),
            (("--pay", "flush=9"), "games expected and not found: Six by Four, plain, flush=9; Six by Four, broken "),
        ):
            done = command(*arguments(game_file, run, "--serial", *change, *flags))
            assert done.returncode == 2
            assert "another identity" in done.stderr
            assert f"\n    {said}" in done.stderr
        assert stamps(run) == before


def test_a_changed_pay_of_the_file_is_named_as_what_differs(command, whole, tmp_path):
    (tmp_path / "game.toml").write_text(SMALL.replace('"flush" = 20', '"flush" = 21'), encoding="utf-8")
    done = command(*arguments(tmp_path / "game.toml", whole, "--serial"))
    assert done.returncode == 2
    assert done.stderr.splitlines()[2:] == ["    games with other rules, pays or sources: Six by Four, plain"]


def test_the_coin_level_that_differs_is_named(tmp_path):
    file, said = tmp_path / "game.toml", []
    levels = SMALL.replace("coins = 5", "coins = [1, 5]")
    for pay in (20, 21):
        file.write_text(levels.replace('"flush" = 101.5', f'"flush" = [{pay}, 101.5]'), encoding="utf-8")
        said.append(make_plan([load_game(file)], "lowest-mask", ROWS, False).description)
    assert differences(*said) == ["games with other rules, pays or sources: Six by Four, broken pays, 1 coin"]


def test_a_foreign_folder_is_refused(command, game_file, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    done = command(*arguments(game_file, tmp_path, "--serial", "--resume"))
    assert done.returncode == 2
    assert "is not empty and not a run of autohold" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
    for text in ("", "[]", '{"games": [{}]}', '{"games": 5}'):
        (tmp_path / ".plan.json").write_text(text)
        done = command(*arguments(game_file, tmp_path, "--serial", "--resume"))
        assert done.returncode == 2, done.stderr
        assert "is not empty and not a run of autohold: .plan.json cannot be read" in done.stderr


def test_an_empty_folder_is_used(game_file, whole, tmp_path):
    assert autohold(*arguments(game_file, tmp_path, "--serial", "--resume")).returncode == 0
    assert contents(tmp_path) == contents(whole)


def test_a_file_is_refused(command, game_file, tmp_path):
    (tmp_path / "run").write_text("mine")
    done = command(*arguments(game_file, tmp_path / "run", "--serial"))
    assert done.returncode == 2
    assert "is a file; expected a directory" in done.stderr
    assert (tmp_path / "run").read_text() == "mine"


@pytest.mark.parametrize("parent", ["file", "/proc/self"])
def test_a_folder_that_cannot_be_made_is_an_io_error(command, game_file, tmp_path, parent):
    (tmp_path / "file").write_text("mine")
    done = command(*arguments(game_file, tmp_path / parent / "run", "--serial"))
    assert done.returncode == 74
    assert "Traceback" not in done.stderr
    assert f"{parent}/run" in done.stderr


def test_a_lock_of_a_living_process(game_file, half):
    before = contents(half)
    with claim(half):
        done = autohold(*arguments(game_file, half, "--serial", "--resume"))
    assert done.returncode == 75
    assert f"is in use by process {os.getpid()} on {os.uname().nodename}" in done.stderr
    assert contents(half) == before


@pytest.mark.parametrize("pid", [os.getpid(), 4194304], ids=["a number taken again", "gone"])
def test_a_stale_lock_is_taken_over(game, whole, half, pid):
    (half / ".lock").write_text(json.dumps({"host": os.uname().nodename, "pid": pid, "started": "1"}))
    certify([game], half, rows_per_part=ROWS, resume=True)
    assert contents(half) == contents(whole)


def test_a_lock_of_another_host_is_respected(game, half):
    (half / ".lock").write_text('{"host": "elsewhere", "pid": 1, "started": "1"}')
    with pytest.raises(InUse, match="process 1 on elsewhere"):
        certify([game], half, rows_per_part=ROWS, resume=True)
    assert (half / ".lock").exists()


class SmallWorkers(FirstTasks):
    """Workers with hardly any memory."""

    memory = 100 * 2**20

    def map(self, function, arguments, keys, report=None):
        raise AssertionError("submitted")


def test_workers_with_too_little_memory_are_refused_before_anything_is_done(game, tmp_path):
    with pytest.raises(
        Refused, match=r"a task needs about \d+ MiB, and a worker of a test has 100 MiB for each thread"
    ):
        certify([game], tmp_path / "run", rows_per_part=ROWS, executor=lambda: nullcontext(SmallWorkers(0)))
    assert not (tmp_path / "run").exists()


# --- options ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def paybacks(whole):
    folders = ("plain", "broken-pays")
    return [Fraction(json.loads((whole / f"six-by-four/{f}/certificate.json").read_text())["payback"]) for f in folders]


def test_require(command, game_file, whole, paybacks):
    high, low = paybacks
    hair = Fraction(1, 10**30)
    cases = {
        f"{low}:{high}": 0,
        f"{low}:": 0,
        f":{high}": 0,
        "0.5:2": 0,
        "1/2:": 0,
        f"{low + hair}:{high}": 1,
        f"{low}:{high - hair}": 1,
        ":1": 1,
        "1:": 1,
        "0.1:0.2": 1,
        "2:1": 2,
        ":": 2,
        "0.9": 2,
        "a:b": 2,
        "1/0:": 2,
    }
    for text, expected in cases.items():
        done = command(*arguments(game_file, whole, "--serial", "--require", text))
        assert done.returncode == expected, (text, done.stderr)
        if done.returncode == 1:
            assert f" is not within {':'.join(str(Fraction(s)) if s else '' for s in text.split(':'))}\n" in done.stdout
        if done.returncode == 2:
            assert "--require" in done.stderr


def test_require_on_a_fresh_run_certifies_and_says_no(command, game_file, whole, tmp_path):
    done = command(*arguments(game_file, tmp_path / "run", "--serial", "--require", "1:", "--json"))
    assert done.returncode == 1
    result = json.loads(done.stdout)
    assert [content["within_required"] for content in result["certificates"]] == [True, False]
    assert result["within_required"] is False
    assert contents(tmp_path / "run") == contents(whole)


def test_changed_pays_name_the_result(command, game_file, tmp_path):
    run = tmp_path / "run"
    more = ("--serial", "--paytable", "plain", "--pay", "flush=25", "--pay", "four of a kind=17/2")
    done = command("certify", game_file, "--out", run, *more)
    assert done.returncode == 0, done.stderr
    content = json.loads((run / "six-by-four/plain-flush-25-four-of-a-kind-17-2/certificate.json").read_text())
    assert content["paytable"] == "plain, flush=25, four of a kind=17/2"
    assert content["source"] == "made up"
    assert [win["pays"] for win in content["wins"]] == ["25", "17/2", "2", "1", "0"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--paytable", "9/6"), "--paytable: 9/6: there is none; there are plain; broken pays"),
        (("--pay", "royal flush=1"), "--pay: royal flush: there is no such win in "),
        (("--pay", "flush"), "expected WIN=VALUE"),
        (("--pay", "flush=-1"), "expected a pay from 0"),
        (("--pay", "flush=1e9"), "expected a number or a fraction"),
        (("--serial", "--workers", 2), "--workers and --serial exclude each other"),
        (("--scheduler", "tcp://a:1", "--scheduler-file", "f"), "exclude each other"),
        (("--workers", 0), "--workers"),
        (("--tie-break", "random"), "--tie-break"),
        (("--frobnicate",), "--frobnicate"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_wrong_use(command, game_file, tmp_path, more, said):
    done = command("certify", game_file, "--out", tmp_path / "run", *more)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("command_name", ["certify", "plan"])
def test_every_fault_of_changed_pays_is_named_also_of_one_win_twice(command, game_file, tmp_path, command_name):
    pays = ["flush=2", "flush = 3", "x", "four of a kind=z", "three of a kind=1"]
    file = tmp_path / "run.toml"
    file.write_text(f"games = ['{game_file}']\nout = 'run'\npay = {pays}\n", encoding="utf-8")
    line = [word for pay in pays for word in ("--pay", pay)]
    for more in ((game_file, "--out", tmp_path / "run", *line), ("--run-config", file)):
        done = command(command_name, *more)
        assert done.returncode == 2
        assert done.stderr.splitlines() == [
            "autohold: --pay: 'x': expected WIN=VALUE",
            "--pay: 'four of a kind=z': expected a number or a fraction like '6/5', found 'z'",
            "--pay: flush: expected one pay, found 'flush=2' and 'flush = 3'",
        ]
    assert not (tmp_path / "run").exists()


def test_wrong_rows_per_part(command, game_file, tmp_path):
    done = command("certify", game_file, "--out", tmp_path / "run", "--rows-per-part", 0)
    assert done.returncode == 2
    assert "--rows-per-part" in done.stderr


# --- what programs read -----------------------------------------------------------------------------------------------


def test_json_of_certify(command, game_file, whole):
    done = command(*arguments(game_file, whole, "--serial", "--json"))
    result = json.loads(done.stdout)
    assert {"format", "run", "identity", "computed", "parts", "within_required", "certificates"} <= set(result)
    assert result["format"] == 1
    assert set(result["certificates"][0]) >= {
        "game", "paytable", "coins", "payback", "payback_decimal", "variance", "hit_frequency", "tied_deals",
        "warnings", "within_required",
    }  # fmt: skip


def test_json_of_hold_and_count(command, game_file):
    done = command("hold", game_file, "9c 9d 9h Kc As", "--paytable", "plain", "--json")
    result = json.loads(done.stdout)
    assert {"format", "game", "paytable", "hand", "win", "holds"} <= set(result)
    assert (result["hand"], result["win"], len(result["holds"])) == ("9c 9d 9h Kc As", "three of a kind", 32)
    keys = {"mask", "held", "draws", "won", "ev", "ev_decimal", "optimal", "chosen", "counts"}
    assert all(keys <= set(hold) for hold in result["holds"])
    result = json.loads(command("count", game_file, "--json").stdout)
    assert {"format", "game", "deals", "wins"} <= set(result)
    assert result["deals"] == "42504"
    keys = {"win", "including", "excluding", "polynomial_terms", "exclusions"}
    assert all(keys <= set(win) for win in result["wins"])


def test_json_of_an_error(command, tmp_path):
    done = command("certify", tmp_path / "none.toml", "--out", tmp_path / "run", "--json")
    result = json.loads(done.stdout)
    assert done.returncode == result["error"]["code"] == 2
    assert set(result) == {"format", "error"}
    assert "none.toml" in result["error"]["message"]


def test_a_certificate_has_the_keys_that_programs_rely_on(whole):
    content = json.loads((whole / PLAIN / "certificate.json").read_text())
    assert content["format"] == 1
    assert (content["game"], content["paytable"], content["coins"]) == ("Six by Four", "plain", 1)
    for key in (
        "identity", "tie_break", "tied_deals", "deals", "cycle", "payback", "payback_decimal", "hit_frequency",
        "hit_frequency_decimal", "variance", "variance_decimal",
    ):  # fmt: skip
        assert isinstance(content[key], str), key
    for key in ("hit_frequency_range", "variance_range"):
        low, high = map(Fraction, content[key])
        assert low <= Fraction(content[key.removesuffix("_range")]) <= high
    win_keys = {
        "name", "on", "pays", "combinations", "combinations_range", "deal_combinations", "probability",
        "probability_decimal", "contribution",
    }  # fmt: skip
    assert all(win_keys <= set(win) for win in content["wins"])
    assert [win["name"] for win in content["wins"]][-1] == "nothing"
    assert {win["on"] for win in content["wins"]} == {"draw"}
    assert len(content["payback_decimal"].partition(".")[2]) == 12


def test_sums_are_those_of_sha256sum(whole):
    done = subprocess.run(
        ["sha256sum", "-c", "--strict", "SHA256SUMS"], cwd=whole, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    listed = {line.partition(": ")[0] for line in done.stdout.splitlines()}
    assert listed == set(contents(whole)) - {"SHA256SUMS", "_SUCCESS"}


def test_the_manifest_says_what_the_run_is_and_nothing_else(whole):
    text = (whole / "manifest.json").read_text()
    manifest = json.loads(text)
    assert set(manifest) == {
        "identity", "format", "software", "tie_break", "rows_per_part", "all_holds", "sensitivity", "games", "parts",
    }  # fmt: skip
    assert set(manifest["software"]) == {"autohold", "code", "pyarrow"}
    assert [table["pays"] for table in manifest["games"][0]["paytables"]][1] == ["203/2", "125/3", "10", "0", "0"]
    paths = [part["path"] for part in manifest["parts"]]
    assert [path for path in paths if "strategy" in path] == sorted(
        parts(whole), key=lambda path: ("broken" in path, path)
    )
    for part in manifest["parts"]:
        assert len(part["content"]) == 64
    for word in (os.uname().nodename, str(whole), "time", "pid"):
        assert word not in text.replace('"times"', "")
    assert (
        sum(part["rows"] for part in manifest["parts"] if "plain/strategy" in part["path"])
        == manifest["games"][0]["canonical_hands"]
    )


def test_the_log_says_who_when_where(whole):
    first, last = log(whole)
    assert {
        "event",
        "time",
        "identity",
        "host",
        "pid",
        "user",
        "executor",
        "versions",
        "games",
        "paytables",
        "parts",
    } == {*first}
    assert {"python", "numpy", "pyarrow", "autohold"} <= set(first["versions"])
    assert (first["games"], first["paytables"], first["parts"]) == (1, 2, PARTS)
    assert last["event"] == "done"
    assert list(last["stages"]) == ["certificates", "connect", "parts", "survey"]
    assert last["seconds"] >= max(last["stages"].values()) >= 0
    (game,) = last["processor_seconds"]
    assert game == json.loads((whole / "manifest.json").read_text(encoding="utf-8"))["games"][0]["name"]
    assert last["processor_seconds"][game] > 0
    assert datetime.fromisoformat(first["time"]) <= datetime.fromisoformat(last["time"])
    assert datetime.fromisoformat(first["time"]).utcoffset() == timedelta(0)


def test_the_log_names_the_job(game, tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "4711")
    monkeypatch.setenv("SLURM_RESTART_COUNT", "2")
    certify([game], tmp_path / "run")
    assert log(tmp_path / "run")[0]["slurm"] == {"job": "4711", "restarts": "2"}


# --- the command ------------------------------------------------------------------------------------------------------


def test_version_and_help():
    assert autohold("--version").stdout.startswith("autohold ")
    assert "Exit codes: 0 done" in autohold("--help").stdout
    assert autohold("certify").returncode == 2


@pytest.mark.slow
def test_nine_six_by_workers_and_serial_is_equal(tmp_path):
    game = ROOT / "configs" / "jacks-or-better.toml"
    for folder, how in (("one", ("--serial",)), ("two", ("--workers", 2))):
        done = autohold("certify", game, "--out", tmp_path / folder, "--paytable", "9/6", *how)
        assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
