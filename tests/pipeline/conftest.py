"""Runs of the small game that many tests compare with; each is made once."""

import signal
import subprocess
import sys

import pytest

from pipeline import certify, load_game
from pipeline.api import choose_paytables
from pipeline.cli import main
from pipeline.report.build import build
from tests.pipeline.games import ROOT, ROWS, SMALL
from tests.pipeline.pages import ODD


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


@pytest.fixture(scope="session")
def reported_games(game, tmp_path_factory):
    """Games that show all that a report can show: a bonus, a meter, coin levels, markup in names, a full deck."""
    odd = tmp_path_factory.mktemp("odd") / "odd.toml"
    odd.write_text(ODD, encoding="utf-8")
    jacks = choose_paytables(load_game(ROOT / "configs" / "jacks-or-better.toml"), ["9/6"])
    return [game, load_game(odd), load_game(ROOT / "tests" / "pipeline" / "progressive.toml"), jacks]


@pytest.fixture(scope="session")
def reported(reported_games, tmp_path_factory):
    """A run with its report; not to be changed."""
    out = tmp_path_factory.mktemp("reported") / "run"
    certify(reported_games, out)
    build(out)
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
