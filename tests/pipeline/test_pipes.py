"""Where nobody reads what a command prints: it stops in silence with 141, as if SIGPIPE had ended it."""

import json
import os
import signal
import subprocess

import pytest

from pipeline import cli
from tests.pipeline.games import AUTOHOLD, ROOT, ROWS, autohold, contents, environment, log

UNREAD = 141


def unread(*arguments, stream):
    """The exit code with nobody at the other end of a stream, and what went to the other one."""
    read, write = os.pipe()
    os.close(read)
    other = "stderr" if stream == "stdout" else "stdout"
    done = subprocess.run(
        [*AUTOHOLD, *map(str, arguments)],
        cwd=ROOT,
        env=environment(),
        **{stream: write, other: subprocess.PIPE},
        timeout=120,
        check=False,
    )
    os.close(write)
    return done.returncode, getattr(done, other).decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("certify", "--help"),
        ("--version",),
        ("hold", "GAME", "9c Tc Jc Qc Kc", "--paytable", "plain"),
        ("count", "GAME", "--json"),
        ("plan", "GAME", "--serial"),
        ("status", "WHOLE"),
        ("diff", "WHOLE", "WHOLE"),
        ("strategies", "--players", "3"),
        ("hold", "nothing.toml", "9c Tc Jc Qc Kc", "--json"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_result_that_nobody_reads(game_file, whole, arguments):
    places = {"GAME": game_file, "WHOLE": whole}
    assert unread(*(places.get(word, word) for word in arguments), stream="stdout") == (UNREAD, "")


@pytest.mark.parametrize("arguments", [("nonsense",), ("count", "nothing.toml"), ("count", "GAME", "--nonsense")])
def test_an_error_that_nobody_reads(game_file, arguments):
    arguments = (game_file if word == "GAME" else word for word in arguments)
    assert unread(*arguments, stream="stderr") == (UNREAD, "")


@pytest.mark.parametrize("how", [("--serial",), ("--workers", "1")], ids=" ".join)
def test_a_run_that_lost_its_reader_is_resumed(game_file, whole, tmp_path, how):
    run, metrics = tmp_path / "run", tmp_path / "run.prom"
    line = ("certify", game_file, "--out", run, "--rows-per-part", ROWS, "--resume", "--metrics", metrics, *how)
    assert unread(*line, "--log-format", "json", stream="stderr") == (UNREAD, "")
    assert not (run / "_SUCCESS").exists()
    assert f'autohold_exit_code{{run="{run}"}} 141' in metrics.read_text()
    done = autohold(*line)
    assert done.returncode == 0, done.stderr
    assert contents(run) == contents(whole)
    assert log(run)[-1]["event"] == "done"


def test_a_complete_run_whose_result_nobody_reads_stays_complete(game_file, tmp_path):
    line = ("certify", game_file, "--out", tmp_path / "run", "--serial", "--require", "2:")
    code, said = unread(*line, stream="stdout")
    assert code == UNREAD
    assert said.startswith(f"{tmp_path / 'run'}: certified, 2 paytables")
    done = autohold(*line, "--json")
    assert (done.returncode, json.loads(done.stdout)["computed"]) == (1, False)


def test_a_broken_connection_is_no_lost_reader(monkeypatch, capfd):
    def broken(*_):
        raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("sys.argv", ["autohold", "count", "x.toml"])
    monkeypatch.setattr(cli.cli, "invoke", broken)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit) as left:
        cli.main()
    assert left.value.code == 75
    assert "Broken pipe" in capfd.readouterr().err
