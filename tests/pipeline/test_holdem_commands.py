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


# --- ehs --------------------------------------------------------------------------------------------------------------


def test_ehs(command):
    done = command("ehs", "Ad Qc", "3h 4c Jh", "--opponents", 5)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "Ad Qc on 3h 4c Jh: nothing"
    assert lines[1] == "now: ahead 628, tied 9, behind 444 of 1,081 opponents"
    assert lines[2] == "HS   0.585106, HS_5 0.068576"
    assert [line.split() for line in lines[5:8]] == [
        ["ahead", "449,005", "3,211", "169,504", "621,720"],
        ["tied", "0", "8,370", "540", "8,910"],
        ["behind", "91,981", "1,036", "346,543", "439,560"],
    ]
    assert lines[8:] == ["PPOT 0.208324", "NPOT 0.273693", "EHS  0.511399", "EHS' 0.262614 against 5"]


def test_ehs_json(command):
    said = json.loads(command("ehs", "AdQc", "3h4cJh", "--look", 1, "--json").stdout)
    assert (said["format"], said["game"], said["hand"], said["look"]) == (1, "holdem", "nothing", 1)
    assert (said["ahead"], said["tied"], said["behind"]) == (628, 9, 444)
    assert said["hp"] == [[24126, 0, 4134], [0, 396, 9], [2186, 0, 17794]]
    assert (said["hs"], said["ehs_decimal"]) == ("55/94", "0.544968650427")
    assert set(said) >= {"ppot", "npot", "ppot_decimal", "npot_decimal", "hs_n", "ehs_prime"}


def test_ehs_on_the_river_has_no_potential(command):
    said = json.loads(command("ehs", "AdQc", "3h4cJh2dQs", "--json").stdout)
    assert (said["look"], said["hp"], said["hs"], said["ehs"]) == (0, None, "859/990", "859/990")
    assert "ppot" not in said


def test_ehs_with_a_range(command):
    said = json.loads(command("ehs", "AdQc", "3h4cJh", "--look", 0, "--range", "JJ,KK:1/2", "--json").stdout)
    assert (said["ahead"], said["tied"], said["behind"], said["range"]) == (0, 0, 6, "JJ,KK:1/2")


def test_ehs_in_omaha(command):
    done = command("ehs", "Ah Ad Ks Kh", "3h 4c Jh", "--game", "omaha", "--look", 0)
    assert done.stdout.splitlines() == [
        "Ah Ad Ks Kh on 3h 4c Jh",
        "now: ahead 122,298, tied 867, behind 25,830 of 148,995 opponents",
        "HS   0.823729",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Ad Qc", "3h 4c Jh 2d", "--look", 2), "cannot look 2 cards ahead"),
        (("Ad Qc", "3h 4c Ad"), "Ad: named twice"),
        (("Ad", "3h 4c Jh"), "expected 2 hole cards, found 1"),
        (("Ad Qx", "3h 4c Jh"), "'Qx' is not a card"),
        (("Ad Qc", "3h 4c"), "three, four or five cards, found 2"),
        (("Ad Qc", "3h 4c Jh 2d 5d 6d"), "three, four or five cards, found 6"),
        (("Ad Qc", ""), "three, four or five cards, found 0"),
        (("Ad Qc", "3h 4c Jh", "--range", "XX"), "'XX' is not a starting hand"),
        (("Ad Qc", "3h 4c Jh", "--range", ""), "no hole has a weight"),
        (("Ad Qc", "3h 4c Jh", "--range", "AdQc"), "no hole of the range is possible"),
        (("Ad Qc", "3h 4c Jh", "--opponents", 0), "0 is not in the range"),
        (("Ad Qc", "3h 4c Jh", "--look", 3), "3 is not in the range"),
        (("Ad Qc", "3h 4c Jh", "--game", "omaha"), "expected 4 hole cards, found 2"),
        (("Ad Qc 2c 2d", "3h 4c Jh", "--game", "omaha", "--range", "AA"), "not with --game omaha"),
        (("Ad Qc",), "Missing argument 'BOARD'"),
    ],
)
def test_ehs_bad_input(command, arguments, message):
    done = command("ehs", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_ehs_errors_are_json_where_json_is_asked_for(command):
    done = command("ehs", "Ad", "3h 4c Jh", "--json")
    assert json.loads(done.stdout)["error"]["code"] == done.returncode == 2
