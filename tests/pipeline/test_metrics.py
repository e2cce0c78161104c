"""Metrics as Prometheus' own parser reads them: at the start, while a run goes on, at the end, and after failures."""

import json
import os
import signal
import sys

import pytest
from prometheus_client.parser import text_string_to_metric_families

from pipeline import events, metrics
from pipeline.events import Ticking, event
from pipeline.metrics import HELP, Metrics, metrics_text
from tests.pipeline import games
from tests.pipeline.clusters import calculating, wait_until
from tests.pipeline.games import PARTS, ROWS, SLOW, arguments, end, start, wait_for_parts

TLS = ("ca", "cert", "key")
SUCCESS = "autohold_last_success_timestamp_seconds"


def read(path):
    """Metric and labels -> value; fails where anything is said twice or is no gauge."""
    values = {}
    for family in text_string_to_metric_families(path.read_text(encoding="utf-8")):
        assert family.type == "gauge"
        assert family.documentation == HELP[family.name]
        for sample in family.samples:
            key = sample.name, tuple(sorted(sample.labels.items()))
            assert key not in values
            values[key] = sample.value
    return values


def figures(path, run):
    """Of the series that only have the label `run`."""
    return {name: value for (name, labels), value in read(path).items() if labels == (("run", str(run)),)}


def certify(command, game_file, folder, *more):
    arguments = (
        game_file,
        "--out",
        folder / "run",
        "--rows-per-part",
        ROWS,
        "--serial",
        "--metrics",
        folder / "m.prom",
    )
    return command("certify", *arguments, *more)


def test_a_run_that_succeeds(command, game_file, tmp_path):
    assert certify(command, game_file, tmp_path).returncode == 0
    found = figures(tmp_path / "m.prom", tmp_path / "run")
    expected = {"running": 0, "exit_code": 0, "games": 1, "games_done": 1, "paytables": 2, "parts": PARTS}
    expected |= {"parts_done": PARTS, "worker_deaths": 0, "retries": 0}
    assert {name: found[f"autohold_{name}"] for name in expected} == expected
    started, succeeded = found["autohold_started_timestamp_seconds"], found[SUCCESS]
    assert started < succeeded <= found["autohold_updated_timestamp_seconds"]
    assert 0 < found["autohold_duration_seconds"] <= succeeded - started + 1
    paybacks = {
        dict(labels)["paytable"]: value
        for (name, labels), value in read(tmp_path / "m.prom").items()
        if name == "autohold_payback_ratio"
    }
    stored = (tmp_path / "run").glob("*/*/certificate.json")
    contents = [json.loads(path.read_text()) for path in stored]
    assert paybacks == {content["label"]: float(content["payback_decimal"]) for content in contents}


@pytest.mark.parametrize(("more", "code"), [(("--require", "2:"), 1), (("--paytable", "none"), 2), (("--pay", "x"), 2)])
def test_a_failure_keeps_the_last_success(command, game_file, tmp_path, more, code):
    assert certify(command, game_file, tmp_path).returncode == 0
    before = figures(tmp_path / "m.prom", tmp_path / "run")
    assert certify(command, game_file, tmp_path, *more).returncode == code
    after = figures(tmp_path / "m.prom", tmp_path / "run")
    assert after["autohold_exit_code"] == code
    assert after["autohold_running"] == 0
    assert after[SUCCESS] == before[SUCCESS]
    assert certify(command, game_file, tmp_path).returncode == 0
    assert figures(tmp_path / "m.prom", tmp_path / "run")[SUCCESS] > before[SUCCESS]


WRONG_USE = {
    "an unknown key": ("rows-per-parts = 5\n", ()),
    "a pattern that fits no file": ('games = ["none*.toml"]\n', ()),
    "a protocol that nobody knows": ("", ("--out", "s4://bucket/run")),
    "a file that is not there": ("", ("--tls-ca", "none.pem")),
    "an unknown option": ("", ("--workerz", 2)),
    "options that exclude each other": ("", ("--serial", "--workers", 2)),
    "files that are no certificates": ("", ("--scheduler", "tls://a:1", *(f"--tls-{k}={__file__}" for k in TLS))),
}


@pytest.mark.parametrize("wrong", WRONG_USE)
@pytest.mark.parametrize("where", ["in the file", "on the command line"])
def test_wrong_use_is_an_end_too(command, tmp_path, where, wrong):
    more, options = WRONG_USE[wrong]
    path, file = tmp_path / "m.prom", tmp_path / "night.toml"
    metrics = 'metrics = "m.prom"\n' if where == "in the file" else ""
    file.write_text(more + ('games = ["a.toml"]\n' if "games" not in more else "") + 'out = "run"\n' + metrics)
    said = () if metrics else ("--metrics", path)
    run = options[1] if "--out" in options else tmp_path / "run"
    Metrics(path, str(run)).end(0)
    before = figures(path, run)
    assert command("certify", *said, "--run-config", file, *options).returncode == 2
    after = figures(path, run)
    assert (after["autohold_exit_code"], after["autohold_running"], after[SUCCESS]) == (2, 0, before[SUCCESS])
    assert {*os.listdir(tmp_path)} == {"m.prom", "night.toml"}


def test_help_is_no_end(command, tmp_path):
    path = tmp_path / "m.prom"
    assert command("certify", "--out", tmp_path / "run", "--metrics", path, "--help").returncode == 0
    assert not path.exists()


def test_what_killed_commands_left_is_removed(tmp_path):
    names = (".m.prom-12", ".m.prom-13", ".m.prom-x", ".m.prom", ".n.prom-12", ".m.prom-2.prom-12", "12")
    for name in names:
        (tmp_path / name).touch()
        if name != ".m.prom-13":  # which another command may be writing
            os.utime(tmp_path / name, (0, 0))
    Metrics(tmp_path / "m.prom", "night").end(0)
    assert {*os.listdir(tmp_path)} == {"m.prom", *names} - {".m.prom-12"}


def test_the_file_does_not_get_old_while_nothing_happens(tmp_path, monkeypatch):
    monkeypatch.setattr(events, "TICK", 0.01)
    monkeypatch.setattr(metrics, "EVERY", 0)
    path = tmp_path / "m.prom"
    told = Ticking(Metrics(path, "night"))
    before = figures(path, "night")
    wait_until(lambda: figures(path, "night")["autohold_duration_seconds"] > before["autohold_duration_seconds"])
    told.end()
    assert figures(path, "night")["autohold_running"] == 1


def test_a_failure_without_a_success_says_none(command, game_file, tmp_path):
    assert certify(command, game_file, tmp_path, "--require", "2:").returncode == 1
    assert SUCCESS not in figures(tmp_path / "m.prom", tmp_path / "run")


def test_stopped_by_a_signal(game_file, tmp_path):
    path = tmp_path / "m.prom"
    process = start("certify", game_file, "--out", tmp_path / "run", "--rows-per-part", 1, "--serial",
                    "--metrics", path, "--log-format", "json")  # fmt: skip
    for line in process.stderr:
        if json.loads(line)["event"] == "start":
            break
    assert figures(path, tmp_path / "run")["autohold_running"] == 1
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    found = figures(path, tmp_path / "run")
    assert (found["autohold_running"], found["autohold_exit_code"]) == (0, 143)


def test_a_second_signal_while_local_workers_are_closed(game_file, tmp_path, monkeypatch):
    """They are stopped, so that it takes seconds; nothing is said but that the command was stopped."""
    path, run = tmp_path / "m.prom", tmp_path / "run"
    code = "from pipeline import cli; cli.SAME_SIGNAL = -1; cli.main()"
    monkeypatch.setattr(games, "AUTOHOLD", (sys.executable, "-c", code))
    process = start(*arguments(game_file, run, "--workers", 2, "--metrics", path), fault=SLOW)
    wait_for_parts(process, run, 4)
    workers = calculating(process)
    for worker in workers:
        worker.suspend()
    process.send_signal(signal.SIGINT)  # answered first, though both may be there
    process.send_signal(signal.SIGTERM)
    code = process.wait(60)
    for worker in workers:
        worker.resume()
    said = end(process)[2]
    found = figures(path, run)
    assert (code, found["autohold_running"], found["autohold_exit_code"]) == (143, 0, 143)
    stopped = "stopped by SIGTERM; what is done is on disk; repeat the command with --resume to go on"
    assert said.splitlines()[-2:] == ["autohold: this machine: 2 workers, 2 threads", f"autohold: {stopped}"]


def test_a_folder_that_is_not_there(command, game_file, tmp_path):
    done = command("certify", game_file, "--out", tmp_path / "run", "--metrics", tmp_path / "none" / "m.prom")
    assert done.returncode == 74
    assert "none" in done.stderr
    assert not (tmp_path / "run").exists()


def test_progress_is_written_now_and_then(tmp_path, monkeypatch):
    path = tmp_path / "m.prom"
    kept = Metrics(path, "night")
    kept(event("start", games=3, paytables=9, parts=200))
    kept(event("worker lost", worker="tcp://127.0.0.1:1", calls=["certify-six-0-0", "certify-six-0-1"]))
    kept(event("retry", call="certify-six-0-0"))
    kept(event("progress", parts_done=7, parts=200, games_done=1, games=3))
    assert "autohold_parts_done" not in figures(path, "night")  # it is too soon
    monkeypatch.setattr(metrics, "EVERY", 0)
    kept(event("progress", parts_done=8, parts=200, games_done=1, games=3))
    expected = {
        "parts_done": 8,
        "parts": 200,
        "games": 3,
        "games_done": 1,
        "worker_deaths": 1,
        "retries": 3,
        "running": 1,
    }
    found = figures(path, "night")
    assert {name: found[f"autohold_{name}"] for name in expected} == expected
    assert os.listdir(tmp_path) == ["m.prom"]


@pytest.mark.parametrize("before", [b"", b"\xff\xfe", b'autohold_exit_code{run="night"} many\n', b"# HELP\nx 1 2 3\n"])
def test_whatever_was_in_the_file(tmp_path, before):
    path = tmp_path / "m.prom"
    path.write_bytes(before)
    Metrics(path, "night").end(75)
    assert figures(path, "night")["autohold_exit_code"] == 75


def test_labels_are_escaped(tmp_path):
    awkward = 'a"b\\c\nd{}, e'
    path = tmp_path / "m.prom"
    path.write_text(metrics_text({("autohold_parts", (("run", awkward),)): 12}), encoding="utf-8")
    assert figures(path, awkward) == {"autohold_parts": 12}
    kept = Metrics(path, awkward)
    kept.end(0)
    succeeded = figures(path, awkward)[SUCCESS]
    Metrics(path, awkward).end(75)
    assert figures(path, awkward)[SUCCESS] == succeeded
    other = Metrics(path, "another run")
    other.end(75)
    assert SUCCESS not in figures(path, "another run")
