"""The same command again: found finished without compiling, and never where anything differs."""

import json
import shutil

import pytest

from pipeline import certify, load_game
from pipeline.again import finished_plan
from pipeline.config import read_game
from pipeline.manifest import pretty_text
from pipeline.run import make_plan
from tests.pipeline.games import ROOT, ROWS, SMALL

OPTIONS = {"tie_break": "lowest-mask", "rows_per_part": ROWS, "all_holds": False, "sensitivity": False}


@pytest.fixture(scope="module")
def plan(game):
    return make_plan([game], **OPTIONS)


def test_a_finished_run_is_found(game_file, whole, plan):
    assert finished_plan(whole, [read_game(game_file)], **OPTIONS) == plan


def test_formulas_are_not_compiled_again(command, game_file, whole, monkeypatch):
    def fail(*arguments):
        raise AssertionError("compiled")

    for place in ("pipeline.config.compile_rules", "pipeline.run.compile_rules"):
        monkeypatch.setattr(place, fail)
    done = command("certify", game_file, "--out", whole, "--rows-per-part", ROWS)
    assert done.returncode == 0, done.stderr
    assert "already certified, digests verified" in done.stderr


@pytest.mark.parametrize("path", sorted((ROOT / "configs").glob("*.toml"))[::7], ids=lambda path: path.stem)
def test_a_game_that_is_read_is_the_game_that_is_loaded_but_for_definitions(path):
    read, loaded = read_game(path), load_game(path)
    assert read.rules.wins == loaded.rules.wins
    assert read.paytables == loaded.paytables
    assert [pair for pair in read.rules.definitions if pair in loaded.rules.definitions] == [*loaded.rules.definitions]


CHANGES = {
    "a pay": ("= 20\n", "= 21\n"),
    "a definition in use": ("aS,bS,cS,dS,eS", "aS,bS,cS,eS,dS"),
    "a win": ("pair of aces", "two aces"),
    "the deck": ('"9", "T"', '"8", "T"'),
    "the source": ("made up", "invented"),
    "the name": ("Six by Four", "Six"),
    "a paytable less": SMALL[SMALL.index('[paytable."broken') :],
    "a definition that is missing": ('quads = "some(a,b,c,d: same(aF,bF,cF,dF))"\n', ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_other_games_are_not_found(whole, tmp_path, change):
    path = tmp_path / "game.toml"
    old, new = (CHANGES[change], "") if isinstance(CHANGES[change], str) else CHANGES[change]
    assert old in SMALL
    path.write_text(SMALL.replace(old, new), encoding="utf-8")
    assert finished_plan(whole, [read_game(path)], **OPTIONS) is None


def test_a_definition_that_is_not_in_use_changes_nothing(whole, tmp_path, plan):
    path = tmp_path / "game.toml"
    path.write_text(SMALL.replace("[define]\n", '[define]\nunused = "1"\n'), encoding="utf-8")
    assert finished_plan(whole, [read_game(path)], **OPTIONS) == plan == make_plan([load_game(path)], **OPTIONS)


@pytest.mark.parametrize(
    "option", [{"tie_break": "most-variance"}, {"rows_per_part": 51}, {"all_holds": True}, {"sensitivity": True}]
)
def test_other_options_are_not_found(game_file, whole, option):
    assert finished_plan(whole, [read_game(game_file)], **{**OPTIONS, **option}) is None


def test_more_or_fewer_games_are_not_found(game_file, whole):
    game = read_game(game_file)
    assert finished_plan(whole, [], **OPTIONS) is None
    assert finished_plan(whole, [game, game], **OPTIONS) is None


def test_unfinished_other_and_broken_runs_are_not_found(game_file, whole, other, tmp_path):
    games = [read_game(game_file)]
    assert finished_plan(tmp_path / "none", games, **OPTIONS) is None
    assert finished_plan(other, games, **OPTIONS) is None
    run = shutil.copytree(whole, tmp_path / "run")
    (run / "_SUCCESS").unlink()
    assert finished_plan(run, games, **OPTIONS) is None
    (run / "_SUCCESS").touch()
    manifest = json.loads((run / "manifest.json").read_text())
    for content in ("", "[]", '{"games": 3}', pretty_text({**manifest, "software": {}})):
        (run / "manifest.json").write_text(content)
        # A manifest that says other software still describes this plan by its identity; its digest is checked next.
        expected = content.startswith("{\n")
        assert (finished_plan(run, games, **OPTIONS) is not None) == expected


def test_from_python_too(game, whole):
    assert not certify([game], whole, rows_per_part=ROWS).computed
