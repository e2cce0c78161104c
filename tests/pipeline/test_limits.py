"""Limits: exact comparisons, the right wagers, files with faults, and the exit code."""

import json
from fractions import Fraction

import pytest

from pipeline.faults import ConfigError
from pipeline.limits import Limits, compare, load_limits
from tests.pipeline.games import ROOT

NAMES = sorted(path.stem for path in (ROOT / "configs" / "limits").glob("*.toml"))


def certificates(*paybacks):
    return [
        {"game": "G", "paytable": "p", "label": f"p, {i} coins", "coins": i, "payback": str(payback)}
        for i, payback in enumerate(paybacks, start=1)
    ]


def limits(**bounds):
    return Limits.model_validate(
        {"name": "L", "source": "s", "checked": "2026-01-31", "limit": [{"at": "each wager", **bounds}]}
    )


@pytest.mark.parametrize(
    ("bounds", "payback", "within"),
    [
        ({"minimum": "0.75"}, Fraction(3, 4), True),
        ({"minimum": "0.75"}, Fraction(3, 4) - Fraction(1, 10**30), False),
        ({"maximum": "1"}, Fraction(1), True),
        ({"below": "1"}, Fraction(1), False),
        ({"below": "1"}, 1 - Fraction(1, 10**30), True),
    ],
)
def test_comparisons_are_of_exact_fractions(bounds, payback, within):
    (found,) = compare(limits(**bounds), certificates(payback))
    assert found.within is within
    assert "compliant" not in str(found)


def test_two_decimals_are_rounded_down_and_say_so():
    (found,) = compare(limits(minimum="0.75"), certificates(Fraction(3, 4) - Fraction(1, 10**30)))
    assert "74.99% (rounded down): NO" in str(found)


def test_wagers():
    pennsylvania = load_limits("pennsylvania")
    found = compare(pennsylvania, certificates(Fraction(9, 10), Fraction(8, 10), Fraction(11, 10)))
    assert [(c.label, c.at, c.relation, c.within) for c in found] == [
        ("p, 1 coins", "lowest wager", "at least", True),
        ("p, 3 coins", "highest wager", "below", False),
    ]
    assert len(compare(pennsylvania, certificates(Fraction(1, 2)))) == 2
    assert len(compare(load_limits("mississippi"), certificates(1, 1, 1))) == 6


def test_the_files_have_the_values_of_the_regulations():
    assert NAMES == ["illinois", "mississippi", "new-jersey", "pennsylvania", "south-dakota"]
    found = {name: [(c.at, c.relation, c.bound) for c in compare(load_limits(name), certificates(1))] for name in NAMES}
    both = [("each wager", "at least", Fraction(4, 5)), ("each wager", "at most", 1)]
    assert found == {
        "illinois": both,
        "mississippi": both,
        "new-jersey": [("each wager", "at least", Fraction(83, 100))],
        "pennsylvania": [("lowest wager", "at least", Fraction(17, 20)), ("highest wager", "below", 1)],
        "south-dakota": both[:1],
    }


def test_faults_of_files(tmp_path, monkeypatch):
    path = tmp_path / "x.toml"
    path.write_text(
        'name = "x"\nchecked = 2026-01-31\n[[limit]]\nat = "some wager"\nminimum = "a"\n[[limit]]\nat = "each wager"'
    )
    with pytest.raises(ConfigError) as problem:
        load_limits(str(path))
    assert [fault.key for fault in problem.value.faults] == ["source", "limit[1].at", "limit[1].minimum", "limit[2]"]
    with pytest.raises(ConfigError, match="there are illinois, mississippi"):
        load_limits("atlantis")
    path.write_text("name")
    with pytest.raises(ConfigError, match="is not TOML"):
        load_limits(str(path))
    monkeypatch.setattr("pipeline.limits.FOLDER", tmp_path)
    path.unlink()
    with pytest.raises(ConfigError, match="No such file or directory; give the path of a file"):
        load_limits("new-jersey")


def test_the_command(game_file, whole, command):
    arguments = ("certify", game_file, "--out", whole, "--serial", "--rows-per-part", 50)
    done = command(*arguments, "--limits", "new-jersey", "--limits", "mississippi")
    assert done.returncode == 1
    assert "New Jersey, each wager: at least 83/100: Six by Four, plain: 0" not in done.stdout
    assert "Mississippi, each wager: at most 1: Six by Four, plain: " in done.stdout
    assert command(*arguments, "--limits", "new-jersey").returncode == 0
    output = json.loads(command(*arguments, "--limits", "mississippi", "--json").stdout)
    assert output["within_limits"] is False
    assert [c["within"] for c in output["comparisons"]] == [True, False, True, True]
    assert output["limits"] == [
        {"name": "Mississippi", "source": load_limits("mississippi").source, "checked": "2026-11-29"}
    ]
    assert command(*arguments, "--limits", "atlantis").returncode == 2
