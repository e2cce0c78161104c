"""The commands about hold'em: what they print, their JSON, and bad input."""

import json

import pytest


def test_strategies_of_all_positions(command):
    done = command("strategies", "--players", 3)
    assert done.returncode == 0
    assert [line.split()[-1] for line in done.stdout.splitlines()[1::2]] == ["60805", "211960", "492912000"]


def test_strategies_json(command):
    said = json.loads(command("strategies", "--players", 6, "--position", 5, "--json").stdout)
    row = said["positions"][0]
    assert (said["format"], said["players"], said["cap"], said["hands"]) == (1, 6, 4, 1)
    assert (row["name"], row["digits"], len(row["value"]), row["sequences"]) == ("big blind", 1804, 1804, 15259)
    assert row["value"].startswith(row["first_digits"])
    assert row["value"].endswith(row["last_digits"])
    assert row["unreduced"] == "3^1136 * 2^5925"


def test_strategies_longer_than_python_prints(command):
    done = command("strategies", "--players", 8, "--position", 0, "--full")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()[1].split()[-1]) == 36235


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--players", 1), "players: expected 2 to 23, found 1"),
        (("--players", -3), "players: expected 2 to 23, found -3"),
        (("--players", 3, "--cap", 0), "cap: expected 1 to 20, found 0"),
        (("--players", 3, "--position", 3), "position: expected 0 to 2, found 3"),
        (("--players", 3, "--hands", 0), "0 is not in the range"),
        (("--players", "many"), "'many' is not a valid integer"),
        ((), "Missing option '--players'"),
    ],
)
def test_strategies_bad_input(command, arguments, message):
    done = command("strategies", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
