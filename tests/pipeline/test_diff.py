"""Differences of runs: inputs, figures, holds, and the exact cost of the holds that differ."""

import json
from fractions import Fraction

import pytest

from pipeline import certify, load_game
from pipeline.diff import compare_runs
from tests.pipeline.games import SMALL


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """The small game with three of a kind at 3 for 1 instead of 2."""
    folder = tmp_path_factory.mktemp("changed")
    (folder / "game.toml").write_text(SMALL.replace('"three of a kind" = 2', '"three of a kind" = 3'))
    certify([load_game(folder / "game.toml")], folder / "run", rows_per_part=50)
    return folder / "run"


def test_a_run_does_not_differ_from_itself(whole, command):
    found = compare_runs(whole, whole)
    assert found["same"]
    assert all(not t["inputs"] and not t["figures"] and not t["holds"]["rows"] for t in found["paytables"])
    assert command("diff", whole, whole).returncode == 0


def test_another_tie_rule_changes_tied_holds_only(whole, other):
    found = compare_runs(whole, other)
    assert [one["key"] for one in found["settings"]] == ["tie_break"]
    for table in found["paytables"]:
        assert "payback" not in table["figures"]
        assert table["holds"]["tied_rows"] == table["holds"]["rows"]
        assert table["holds"]["cost_old_holds_on_new"] == table["holds"]["cost_new_holds_on_old"] == "0"


def test_another_pay(whole, changed, command):
    found = compare_runs(whole, changed)
    plain, broken = found["paytables"]
    assert plain["inputs"] == [{"key": "pays.three of a kind", "before": "2", "after": "3"}]
    assert broken["inputs"] == []
    assert broken["figures"] == {}
    before, after = (
        Fraction(json.loads((run / "six-by-four/plain/certificate.json").read_text())["payback"])
        for run in (whole, changed)
    )
    assert Fraction(plain["figures"]["payback"]["change"]) == after - before
    assert plain["holds"]["rows"] > 0
    assert Fraction(plain["holds"]["cost_old_holds_on_new"]) > 0
    # Each strategy is worse on the other paytable, and never by more than the paybacks are apart.
    assert 0 < Fraction(plain["holds"]["cost_new_holds_on_old"]) < after - before
    done = command("diff", whole, changed)
    assert done.returncode == 1
    assert "  pays.three of a kind: 2 -> 3" in done.stdout
    assert json.loads(command("diff", whole, changed, "--json").stdout)["paytables"] == json.loads(
        json.dumps(found["paytables"])
    )


def test_paytables_of_other_names_are_a_pair_where_there_is_one(game, whole, tmp_path):
    certify([game], tmp_path / "a", paytables=["plain"])
    certify([game], tmp_path / "b", paytables=["broken pays"])
    found = compare_runs(tmp_path / "a", tmp_path / "b")
    assert [(t["before"], t["after"]) for t in found["paytables"]] == [
        ("six-by-four/plain", "six-by-four/broken-pays")
    ]  # fmt: skip
    assert compare_runs(tmp_path / "a", whole)["only_after"] == ["six-by-four/broken-pays"]


def test_what_is_no_run(whole, tmp_path, command):
    assert command("diff", whole, tmp_path).returncode == 2
