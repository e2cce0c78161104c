"""What a command says beside its result: JSON lines that all parse, progress that fits its line, silence elsewhere."""

import json
import os
import pty
import re
import subprocess
from contextlib import nullcontext
from datetime import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline import events, load_game, progress, run
from pipeline.events import Ticking, event
from pipeline.execute import Serial
from pipeline.output import Output
from pipeline.progress import ENOUGH, JsonLines, Screen, Speed, duration, progress_text
from tests.pipeline.clusters import wait_until
from tests.pipeline.games import AUTOHOLD, PARTS, ROOT, ROWS, autohold, environment, log


def certify(game_file, folder, *more):
    return ("certify", game_file, "--out", folder / "run", "--rows-per-part", ROWS, *more)


# --- JSON lines -------------------------------------------------------------------------------------------------------


def read(text):
    """The events of JSON lines; every line has what every event has."""
    found = [json.loads(line) for line in text.splitlines()]
    assert all(isinstance(happened["event"], str) for happened in found)
    assert all(datetime.fromisoformat(happened["time"]).utcoffset().seconds == 0 for happened in found)
    return found


@pytest.mark.parametrize("how", [("--serial",), ("--workers", "1")], ids=" ".join)
def test_stderr_is_json_lines_and_nothing_else(game_file, tmp_path, how):
    done = autohold(*certify(game_file, tmp_path, *how, "--log-format", "json"))
    assert done.returncode == 0, done.stderr
    found = read(done.stderr)
    kinds = [happened["event"] for happened in found if happened["event"] not in ("log", "step", "progress")]
    assert kinds == ["connected"] * (how[0] == "--workers") + ["start", "done", "certified"]
    assert [happened for happened in found if happened["event"] in ("start", "done")] == log(tmp_path / "run")
    last = [happened for happened in found if happened["event"] == "progress"][-1]
    assert (last["parts_done"], last["parts"], last["games_done"], last["games"]) == (PARTS, PARTS, 1, 1)
    assert last["parts_per_second"] > 0
    assert "payback" in done.stdout


def going(done, parts, **more):
    return event("progress", **{"parts_done": done, "parts": parts, "games_done": 0, "games": 1, "work_done": 0} | more)


def test_errors_are_events_too(command, tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("name = 3", encoding="utf-8")
    done = command(*certify(wrong, tmp_path, "--log-format", "json", "--json"))
    assert done.returncode == 2
    (said,) = read(done.stderr)
    assert (said["event"], said["code"]) == ("error", 2)
    assert said["message"] == json.loads(done.stdout)["error"]["message"]
    usage = command(*certify(wrong, tmp_path, "--log-format", "json", "--workers", 2, "--serial"))
    assert [said["code"] for said in read(usage.stderr)] == [2]


def test_rarely(monkeypatch, capsys):
    listener = JsonLines()
    for done in range(1, 100):
        listener(going(done, 100))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "RARELY", 0)
    listener(going(99, 100))
    listener(going(100, 100))
    assert [said["parts_done"] for said in read(capsys.readouterr().err)] == [99, 100]


# --- for people -------------------------------------------------------------------------------------------------------


def certified(folder, paytables):
    """The last line of a run."""
    return re.escape(f"{folder / 'run'}: certified, {paytables} paytables in ") + r"\d+\.\d s, \d+\.\d\d s each\n"


def test_no_progress_where_nobody_looks(game_file, tmp_path):
    done = autohold(*certify(game_file, tmp_path, "--serial"))
    assert re.fullmatch(certified(tmp_path, 2), done.stderr)


def on_a_terminal(*words):
    """What the command writes to a terminal of 80 columns, as stderr."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*AUTOHOLD, *map(str, words)],
        cwd=ROOT,
        env=environment(COLUMNS="80"),
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            written += piece
        assert process.wait() == 0
    os.close(ours)
    return written.decode().replace("\r\n", "\n")


GOES_ON = r"""reading 2 game files
starting 1 local worker
surveying games, [012] of 2
[01] of 2 games, [\d,]+ of 952 parts(, [\d,.]+ parts/s)?(, \d+ (s|min) left)?
writing certificates"""


@pytest.mark.parametrize("how", [("--serial",), ("--workers", "1")], ids=" ".join)
def test_what_goes_on_is_shown_on_a_terminal(game_file, tmp_path, how):
    twice = tmp_path / "again.toml"
    twice.write_text(game_file.read_text().replace("Six by Four", "Again"), encoding="utf-8")
    written = on_a_terminal("certify", game_file, twice, "--out", tmp_path / "run", "--rows-per-part", 10, *how)
    if how != ("--serial",):
        written, said = re.subn(r"\rautohold: this machine: 1 worker, 1 thread.*\n", r"\r", written)
        assert said == 1
    shown = written.rsplit("\r", 1)[0].split("\r")
    assert all(len(text) < 80 for text in shown)
    kinds = [[bool(re.fullmatch(f"{each} *", text)) for each in GOES_ON.splitlines()] for text in shown if text.strip()]
    assert [sum(kind) for kind in kinds] == [1] * len(kinds)
    order = [kind.index(True) for kind in kinds]
    assert order == sorted(order)
    assert {3, 1 if "--workers" in how else 3} <= {*order}
    assert re.fullmatch(certified(tmp_path, 4), written.rsplit("\r", 1)[1])


@pytest.mark.parametrize("listener", [Screen, JsonLines])
def test_what_goes_on_is_said_as_time_goes_by_and_nothing_after_the_end(monkeypatch, capsys, listener):
    monkeypatch.setattr(events, "TICK", 0.001)
    monkeypatch.setattr(progress, "RARELY", 0)
    said, heard, output = [], [], Output()
    output.json_lines = listener is JsonLines
    told = output.listener(heard.append)
    told(event("step", message="surveying games, 12 of 53"))
    wait_until(lambda: said.append(capsys.readouterr().err) or "".join(said).count("12 of 53") > 2)
    assert output.fail(75, "no workers") == 75
    number, later = len(heard), []
    assert "no workers" in capsys.readouterr().err.splitlines()[-1]
    other = Ticking(later.append)
    wait_until(lambda: len(later) > 2)
    other.end()
    assert (len(heard), capsys.readouterr().err) == (number, "")
    assert [one["event"] for one in heard if one["event"] != "tick"] == ["step", "over"]


def test_waiting_is_said_at_once_on_any_stream(capsys):
    for listener in (Screen(), JsonLines()):
        listener(event("step", message="connecting"))
        listener(event("waiting", message="waiting up to 60 s for 1 worker"))
    people, programs = capsys.readouterr().err.splitlines()
    assert (people, json.loads(programs)["event"]) == ("waiting up to 60 s for 1 worker", "waiting")


def test_events_are_said_in_lines_of_their_own(capsys):
    screen = Screen()
    screen(event("damaged", path="a/b/strategy/part-00000.parquet", found="damaged: it is short"))
    screen(event("failed", game="Six", parts=[2, 3], reason="its worker died 4 times"))
    screen(event("worker lost", worker="tcp://127.0.0.1:1"))
    screen(event("jobs lost", jobs=["7"], reason="FAILED (NonZeroExitCode): job 7"))
    screen(event("note", message="said as it is"))
    screen(event("done"))
    assert capsys.readouterr().err.splitlines() == [
        "autohold: a/b/strategy/part-00000.parquet: damaged: it is short; it was made again",
        "autohold: a worker was lost, tcp://127.0.0.1:1; its calls are made again",
        "autohold: worker jobs were lost, FAILED (NonZeroExitCode): job 7; others are submitted",
        "autohold: said as it is",
    ]


@example(10**6, 10**6, 10**4, 40200.0)
@given(st.integers(0, 10**6), st.integers(1, 10**6), st.floats(0, 10**5), st.floats(0, 10**7))
def test_progress_of_a_million_parts_fits_80_columns(done, total, rate, left):
    text = progress_text([(min(done, 999), 999, "games"), (done, total, "parts")], rate, left)
    assert len(text) < 80


def test_speed_forgets_what_a_resumed_run_found():
    now = [0.0]
    speed = Speed(lambda: now[0])
    assert speed(0, 2000) == (0.0, None)
    for second in range(1, 202):
        now[0] = float(second)
        rate, left = speed(1000 + second, 2000)
        assert (left is None) == (second < 1 + ENOUGH)
    assert rate == pytest.approx(1, abs=0.1)
    assert left == pytest.approx(799, rel=0.1)
    assert duration(left) == "13 min left"


@given(st.lists(st.tuples(st.integers(1, 64), st.floats(0.1, 10)), min_size=2, max_size=50), st.integers(1, 8))
def test_the_time_left_goes_by_the_work_and_not_by_the_number_of_parts(tasks, workers):
    """Exactly, where the work is known exactly, however dear the parts are that come first."""
    now, parts, work = [0.0], sum(number for number, _ in tasks), sum(seconds for _, seconds in tasks)
    speed, done, worked = Speed(lambda: now[0]), 0, 0.0
    for number, seconds in tasks:
        done, worked, now[0] = done + number, worked + seconds, now[0] + seconds / workers
        _, left = speed(done, parts, worked / work)
        if left is not None:
            assert left == pytest.approx((work - worked) / workers, abs=1e-3)


def test_the_work_of_a_run_is_that_of_its_games(game_file, tmp_path):
    """Of two games with as many parts, one has ten times as many paytables, and comes first."""
    text = game_file.read_text(encoding="utf-8")
    plain = text[text.index('[paytable."plain"]') : text.index('[paytable."broken pays"]')]
    dear = tmp_path / "dear.toml"
    dear.write_text(
        text.replace("Six by Four", "Dear") + "".join(plain.replace("plain", f"plain {n}") for n in range(18)),
        encoding="utf-8",
    )
    happened = []
    games = [load_game(game_file), load_game(dear)]
    plan = run.make_plan(games, "lowest-mask", ROWS, False)
    run.certify(games, tmp_path / "run", lambda: nullcontext(Serial()), plan, report=happened.append)
    shares = [one["work_done"] for one in happened if one["event"] == "progress"]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    half = next(one for one in happened if one["event"] == "progress" and one["games_done"] == 1)
    assert 0.7 < half["work_done"] < 0.95
