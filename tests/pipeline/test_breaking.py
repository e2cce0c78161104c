"""What broke in the hands of somebody who tried to break the command."""

import json

import pytest

from tests.pipeline.games import SMALL

LEVELS = SMALL.replace('source = "made up"', "coins = [1, 3]")
"""the small game with two coin levels of "plain\""""


@pytest.fixture
def levels(tmp_path):
    path = tmp_path / "levels.toml"
    path.write_text(LEVELS, encoding="utf-8")
    return path


def test_hold_takes_one_coin_level_of_a_paytable(levels, command):
    done = command("hold", levels, "9c 9d 9h Ac Kd", "--paytable", "plain, 3 coins")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Six by Four, plain, 3 coins: 9c 9d 9h Ac Kd, as dealt: three of a kind")
    told = json.loads(command("hold", levels, "9c 9d 9h Ac Kd", "--paytable", "plain, 3 coins", "--json").stdout)
    assert told["paytable"] == "plain, 3 coins"


@pytest.mark.parametrize("bounds", ["1e999999999:", ":1E999999999"])
def test_a_bound_with_a_huge_exponent_is_refused_and_not_computed(levels, command, bounds):
    done = command("certify", levels, "--out", levels.parent / "run", "--serial", "--require", bounds)
    assert done.returncode == 2
    assert "expected two numbers or fractions" in done.stderr
