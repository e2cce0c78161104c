"""`status` and `plan`: what is there and what would be, without computing anything."""

import json
import os
import shutil
import signal
from contextlib import nullcontext

import pytest

from pipeline import certify, load_game
from pipeline.events import event
from pipeline.execute import Failure
from pipeline.location import location
from pipeline.lock import claim
from pipeline.plan import tasks
from pipeline.run import Incomplete, make_plan
from pipeline.status import status
from pipeline.store import append_log
from tests.pipeline.games import PARTS, ROWS, log, start

PLAIN = "six-by-four/plain"
PART = f"{PLAIN}/strategy/part-00003.parquet"


def said(command, *arguments):
    """Exit code and JSON of `status`."""
    done = command("status", *arguments, "--json")
    return done.returncode, json.loads(done.stdout)


@pytest.fixture
def run(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "run")


def test_a_complete_run(command, whole):
    for flags in ((), ("--digests",)):
        code, found = said(command, whole, *flags)
        assert (code, found["state"], found["findings"]) == (0, "complete", [])
        assert found["games"] == [{"name": "Six by Four", "paytables": 2, "parts": PARTS, "done": PARTS}]
        assert (found["parts"], found["parts_done"]) == (PARTS, PARTS)
        assert found["identity"] == json.loads((whole / "manifest.json").read_text())["identity"]
        assert [found["started"], found["ended"]] == log(whole)
        assert (found["in_use"], found["resumable"], found["happened"]) == (None, False, [])
    lines = command("status", whole).stdout.splitlines()
    assert lines[0] == f"{whole}: complete"
    assert [line.split()[0] for line in lines[1:]] == ["identity", "software", "started", "ended"]


class SomeFail:
    """An executor that cannot make parts 10 to 12, however often they are tried, and loses many workers over it."""

    workers = 12
    name = "a test"
    memory = None

    def map(self, function, arguments, keys, report=None):
        certifying = "certify-" in keys[0]
        for number in range(25 * certifying):
            report(event("worker lost", worker=f"tcp://10.0.0.7:{number}", calls=list(keys)))
        for argument in arguments:
            failed = certifying and any(9 < part < 13 for part in range(argument.start, argument.stop))
            yield argument, Failure("its worker died 4 times") if failed else function(argument)


@pytest.fixture
def part_way(game, tmp_path):
    with pytest.raises(Incomplete):
        certify([game], tmp_path / "half", rows_per_part=ROWS, executor=lambda: nullcontext(SomeFail()))
    return tmp_path / "half"


def test_an_incomplete_run(command, part_way):
    code, found = said(command, part_way)
    assert (code, found["state"], found["resumable"]) == (75, "incomplete", True)
    there = len(list(part_way.glob("*/*/strategy/part-*.parquet")))
    assert 0 < there < PARTS
    assert (found["parts_done"], found["parts"], found["games"][0]["done"]) == (there, PARTS, there)
    assert found["ended"]["event"] == "stopped"
    failed = [one for one in found["happened"] if one["event"] == "failed"]
    assert failed
    assert {one["reason"] for one in failed} == {"its worker died 4 times"}
    reason = f"{there} of {PARTS} parts are done; the others could not be made"
    assert found["ended"]["reason"] == reason
    first, *lines = command("status", part_way).stdout.splitlines()
    assert first == f"{part_way}: incomplete, {there} of {PARTS} parts"
    assert [line for line in lines if len(line) > 80] == []
    assert [line.split()[0] for line in lines[:4]] == ["identity", "software", "started", "ended"]
    assert " ".join(" ".join(lines[3:5]).split()).endswith(f" s: {reason}")
    lost = sum(one["event"] == "worker lost" for one in found["happened"])
    assert lines[5:] == [
        "resume    repeat its command with --resume",
        "failed    Six by Four, parts 10 to 12: its worker died 4 times",
        f"lost      {lost} workers",
        f"  {'Six by Four':<36} {there:>8} of {PARTS} parts",
    ]
    assert lost >= 25


def test_digests_find_a_damaged_part_of_an_incomplete_run(command, part_way):
    path = sorted(part_way.glob("*/*/strategy/part-*.parquet"))[0]
    path.write_bytes(path.read_bytes()[:-1])
    assert said(command, part_way)[1]["findings"] == []
    code, found = said(command, part_way, "--digests")
    assert (code, found["state"]) == (75, "incomplete")
    (finding,) = found["findings"]
    assert finding.startswith(f"{path.relative_to(part_way)}: damaged")


def test_a_run_that_was_killed_then_is_in_use(command, game_file, tmp_path):
    path = tmp_path / "run"
    process = start("certify", game_file, "--out", path, "--rows-per-part", 1, "--serial", "--log-format", "json")
    assert json.loads(process.stderr.readline())["event"] == "start"
    _, found = said(command, path)
    assert found["state"] == "incomplete"
    assert found["in_use"].items() >= {"pid": process.pid, "host": os.uname().nodename}.items()
    assert f"by process {process.pid}" in command("status", path).stdout
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    code, found = said(command, path)
    assert (code, found["in_use"], found["ended"]) == (75, None, None)
    assert "ended     without a word: its process is gone" in command("status", path).stdout


def test_a_claim_of_this_process(command, part_way):
    with claim(location(part_way)):
        assert said(command, part_way)[1]["in_use"]["pid"] == os.getpid()
    assert said(command, part_way)[1]["in_use"] is None


DAMAGES = {
    "a part is missing": (lambda run: (run / PART).unlink(), f"{PART}: is missing", True),
    "a certificate is missing": (
        lambda run: (run / PLAIN / "certificate.json").unlink(), f"{PLAIN}/certificate.json: is missing", True,
    ),
    "the sums are missing": (lambda run: (run / "SHA256SUMS").unlink(), "SHA256SUMS: is missing", True),
    "a part is altered": (lambda run: (run / PART).write_bytes(b"PAR1"), f"{PART}: expected SHA-256 ", False),
    "a part is not listed": (
        lambda run: (run / "SHA256SUMS").write_text(
            "".join(line for line in (run / "SHA256SUMS").read_text().splitlines(True) if PART not in line)
        ),
        f"SHA256SUMS: {PART} is not listed",
        True,
    ),
    "the identity is another": (
        lambda run: (run / "manifest.json").write_text(
            (run / "manifest.json").read_text().replace('"tie_break": "lowest-mask"', '"tie_break": "most-variance"')
        ),
        "manifest.json: its identity is not that of what it describes",
        True,
    ),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_to_a_complete_run(command, run, damage):
    harm, finding, at_once = DAMAGES[damage]
    harm(run)
    code, found = said(command, run)
    assert (code, found["state"]) == ((1, "damaged") if at_once else (0, "complete"))
    assert any(line.startswith(finding) for line in found["findings"]) == at_once
    code, found = said(command, run, "--digests")
    assert (code, found["state"]) == (1, "damaged")
    assert any(line.startswith(finding) for line in found["findings"])
    _, *lines = command("status", run, "--digests").stdout.splitlines()
    assert finding in " ".join(" ".join(lines).split())
    assert [line for line in lines if len(line) > 80] == []


def test_another_version_cannot_go_on(command, part_way):
    plan = part_way / ".plan.json"
    plan.write_text(plan.read_text().replace('"autohold":"', '"autohold":"9.'))
    code, found = said(command, part_way)
    assert (code, found["resumable"]) == (75, False)
    assert "here is other software" in command("status", part_way).stdout


@pytest.mark.parametrize("content", [None, {}, {"thesis.txt": "mine"}, {"manifest.json": "{"}, {"manifest.json": "[]"},
                                     {"manifest.json": '{"identity": "1", "games": [3]}'}])  # fmt: skip
def test_what_is_no_run(command, tmp_path, content):
    path = tmp_path / "run"
    if content is not None:
        path.mkdir()
        for name, text in content.items():
            (path / name).write_text(text)
    done = command("status", path)
    assert done.returncode == 2
    assert str(path) in done.stderr
    assert done.stdout == ""


def test_a_log_with_half_a_line(run):
    with (run / "log.jsonl").open("a") as file:
        file.write('{"event":"failed"}\n{"event":["failed"]}\n{"event":"sta')
    assert (status(run).ended["event"], status(run).happened) == ("done", ())
    (run / "log.jsonl").unlink()
    assert (status(run).started, status(run).state) == (None, "complete")


def test_what_happened_is_said_in_sentences(command, run):
    path = f"{PLAIN}/strategy/part-00004.parquet"
    happened = [
        *(event("worker lost", worker=f"tcp://10.0.0.{number}:4000", calls=["certify-0"]) for number in (1, 2)),
        event("jobs lost", jobs=["7", "8"], reason="NODE_FAIL (None): job 7, 8"),
        event("jobs lost", jobs=["9"], reason="TIMEOUT (None): job 9"),
        *(event("damaged", path=path, found=f"damaged: {'its values are wrong, ' * 99}") for _ in range(25)),
    ]
    append_log(run, happened)
    lines = command("status", run).stdout.splitlines()[5:]
    assert [line for line in lines if len(line) > 80] == []
    assert lines[0] == f"made anew {path}: damaged: its values are"
    assert [line for line in lines if not line.startswith(" ")][-3:] == [
        "made anew 5 more, all with --json",
        "lost      2 workers: tcp://10.0.0.1:4000, tcp://10.0.0.2:4000",
        "lost      3 worker jobs, the last: TIMEOUT (None): job 9",
    ]
    assert said(command, run)[1]["happened"] == happened


def test_tables_of_hold_em_too(command, tmp_path):
    made = command("ehs-table", "--street", "flop", "--boards", "0:2", "--boards-per-part", 1, "--serial",
                   "--out", tmp_path / "run")  # fmt: skip
    assert made.returncode == 0, made.stderr
    code, found = said(command, tmp_path / "run", "--digests")
    assert (code, found["state"]) == (0, "complete")
    assert found["games"] == [{"name": "flop", "paytables": 0, "parts": 2, "done": 2}]


# --- plan -------------------------------------------------------------------------------------------------------------


def planned(command, *arguments):
    done = command("plan", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_plan_is_what_certify_does(command, game_file, whole, monkeypatch):
    monkeypatch.setattr("pipeline.tasks.solve", None)  # nothing is computed
    options = (game_file, "--rows-per-part", ROWS, "--workers", 2)
    found = planned(command, *options, "--out", whole)
    assert found["identity"] == json.loads((whole / "manifest.json").read_text())["identity"]
    assert (found["parts"], found["state"]) == (PARTS, "complete")
    plan = make_plan([load_game(game_file)], "lowest-mask", ROWS, False)
    assert found["tasks"] == len(tasks(plan, 4)) == found["games"][0]["tasks"]
    expected = {"game": "Six by Four", "paytables": 2, "canonical_hands": 2376, "parts": PARTS}
    assert found["games"][0].items() >= expected.items()
    assert all(found["estimate"][key] > 0 for key in ("memory_bytes", "cpu_seconds", "disk_bytes"))
    lines = command("plan", *options).stdout.splitlines()
    assert lines[2].split() == ["Six", "by", "Four", "2", "2,376", str(PARTS), str(found["tasks"])]
    assert [line.split()[0] for line in lines[3:6]] == ["memory", "disk", "time"]
    assert [line for line in lines if len(line) > 80] == []
    lines = command("plan", game_file, "--rows-per-part", 10, "--workers", 99).stdout.splitlines()
    assert lines[5] == "time     about 2 s of one core, 1 s with 99 workers"


def test_the_estimate_of_the_disk_is_near(command, game_file, whole):
    found = planned(command, game_file, "--rows-per-part", ROWS)["estimate"]["disk_bytes"]
    size = sum(path.stat().st_size for path in whole.rglob("*.parquet"))
    assert size / 2 < found < size * 2


def test_a_plan_of_another_run(command, game_file, whole):
    done = command("plan", game_file, "--out", whole)
    assert done.returncode == 2
    assert "another identity" in done.stderr


def test_a_plan_reads_the_same_run_config(command, game_file, tmp_path):
    file = tmp_path / "night.toml"
    file.write_text(f'games = ["{game_file}"]\nout = "run"\nserial = true\nrequire = "2:"\nrows-per-part = {ROWS}\n')
    found = planned(command, "--run-config", file)
    assert (found["parts"], found["workers"], found["state"]) == (PARTS, 1, "new")
    assert found["out"] == str(tmp_path / "run")
    assert not (tmp_path / "run").exists()
