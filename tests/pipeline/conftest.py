"""Runs of the small game that many tests compare with; each is made once."""

import signal
import subprocess
import sys

import pytest

from pipeline import certify, load_game
from pipeline.cli import main
from tests.pipeline.games import ROWS, SMALL


@pytest.fixture(scope="session")
def game_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("game") / "six-by-four.toml"
    path.write_text(SMALL, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def game(game_file):
    return load_game(game_file)


@pytest.fixture(scope="session")
def whole(game, tmp_path_factory):
    """A complete run in parts of `ROWS` rows, made in this process; not to be changed."""
    out = tmp_path_factory.mktemp("whole") / "run"
    assert certify([game], out, rows_per_part=ROWS).computed
    return out


@pytest.fixture(scope="session")
def other(game, tmp_path_factory):
    """The same game in the same parts with another tie rule: a run of another identity."""
    out = tmp_path_factory.mktemp("other") / "run"
    certify([game], out, rows_per_part=ROWS, tie_break="most-variance")
    return out


@pytest.fixture
def command(capsys, monkeypatch):
    """Run the command in this process, with the same result as `autohold`."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["autohold", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        return subprocess.CompletedProcess(sys.argv, left.value.code, *capsys.readouterr())

    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS", raising=False)
    yield run
    for number, handler in before.items():
        signal.signal(number, handler)
