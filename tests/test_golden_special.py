"""Published values of games in which order counts, and of bonuses of the deal; see golden/README.md."""

import json
from fractions import Fraction
from math import comb
from pathlib import Path

import pytest

from pipeline import certify
from tests.test_catalogue import certificates_of

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "golden"
HOMES = json.loads((GOLDEN / "special.json").read_text(encoding="utf-8"))
RECORDS = {
    record["id"]: record
    for record in json.loads((GOLDEN / "published.json").read_text(encoding="utf-8"))
    if record["id"] in HOMES
}
DEALS = comb(52, 5)
SIX = json.loads((GOLDEN / "quick-quads.json").read_text(encoding="utf-8"))
CYCLE = 120 * DEALS * 184_072_680
"""of a game in which order counts"""

SEQUENTIAL = RECORDS["t038"]
QUICK = ("JoB 9-6", "JoB 8-5")
"""rows that are tested every time"""


def config(name):
    return ROOT / "configs" / f"{name}.toml"


def certificate_of(home):
    found = [content for content in certificates_of(config(home["game"])) if content["paytable"] == home["paytable"]]
    assert len(found) == 1
    return found[0]


def named(certificate, on="draw"):
    return {win["name"]: win for win in certificate["wins"] if win["on"] == on}


def test_every_record_is_here():
    assert set(RECORDS) == set(HOMES) == {"t004", "t010", "t011", "t038"}
    assert {row["name"] for row in SEQUENTIAL["rows"]} == set(HOMES["t038"])


# --- sequential royal flush -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Row of the record -> certificate, of one run with files."""
    homes = [HOMES["t038"][name] for name in QUICK]
    run = certify(
        [config(homes[0]["game"])],
        tmp_path_factory.mktemp("sequential") / "run",
        paytables=[home["paytable"] for home in homes],
    )
    return dict(zip(QUICK, run.certificates, strict=True))


def rows_of(names, **marks):
    rows = [row for row in SEQUENTIAL["rows"] if (row["name"] in QUICK) == names]
    return pytest.mark.parametrize("row", [pytest.param(row, id=row["name"], **marks) for row in rows])


def check_sequential(row, certificate):
    payback = Fraction(certificate["payback"])
    assert certificate["depend_on_order"] == ["sequential royal flush"]
    assert int(certificate["deals"]) == 120 * DEALS
    assert int(certificate["cycle"]) == CYCLE
    assert abs(payback - Fraction(str(row["printed_return"]))) <= Fraction(1, 2 * 10**4)
    if "payback" in row:
        assert payback == Fraction(row["payback"])
    wins = named(certificate)
    assert wins["sequential royal flush"]["deal_combinations"] == "4"
    assert wins["royal flush"]["deal_combinations"] == str(4 * 119)
    assert sum(int(win["combinations"]) for win in certificate["wins"]) == CYCLE


@rows_of(True)
def test_sequential_royals(quick, row):
    check_sequential(row, quick[row["name"]])


@pytest.mark.slow
@rows_of(False)
def test_more_sequential_royals(row):
    check_sequential(row, certificate_of(HOMES["t038"][row["name"]]))


def test_nine_six_with_a_sequential_royal_number_by_number(quick):
    content = quick["JoB 9-6"]
    assert content["payback_decimal"] == "0.997793816304"
    assert content["tied_deals"] == "105120"
    assert quick["JoB 8-5"]["payback_decimal"] == "0.975336271084"


@pytest.mark.slow
def test_either_direction_is_worth_more_than_one():
    one = certificate_of({"game": "sequential-royal-bonus-poker", "paytable": "6/5"})
    both = certificate_of({"game": "reversible-royals", "paytable": "6/5"})
    assert named(both)["reversible royal flush"]["deal_combinations"] == "8"
    assert Fraction(one["payback"]) < Fraction(both["payback"]) < Fraction(one["payback"]) + Fraction(3, 1000)


# --- Double Bonus Plus ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_double_bonus_plus():
    record = RECORDS["t004"]
    content = certificate_of(HOMES["t004"])
    wins = named(content)
    assert [Fraction(win["pays"]) for win in wins.values()][:-1] == [row["pays"] for row in record["rows"]]
    assert Fraction(content["payback"]) == Fraction(record["payback"])
    assert abs(Fraction(content["payback"]) - Fraction(str(record["payback_decimal"]))) < Fraction(1, 10**9)
    assert abs(Fraction(content["variance"]) - Fraction(record["variance"]["optimum"])) <= Fraction(1, 2 * 10**8)
    assert CYCLE % record["cycle"] == 0
    # Four alike and one other card: in two of its five places it leaves them adjacent.
    adjacent, others = wins["four adjacent aces"], wins["four aces"]
    assert int(adjacent["deal_combinations"]) == 48 * 120 * 2 // 5
    assert int(others["deal_combinations"]) == 48 * 120 * 3 // 5
    assert int(wins["four adjacent 2s to 4s"]["deal_combinations"]) == 3 * 48 * 120 * 2 // 5


@pytest.mark.slow
def test_the_printed_combinations_of_double_bonus_plus_are_not_those_of_optimal_play():
    """They average over the place of a fifth card that is held; the return rounds to the same."""
    record = RECORDS["t004"]
    content = certificate_of(HOMES["t004"])
    printed = sum(Fraction(row["combinations"] * row["pays"], record["cycle"]) for row in record["rows"])
    assert round(float(printed), 6) == 1.000812
    assert round(float(Fraction(content["payback"])), 6) == 1.000824
    assert abs(printed - Fraction(record["printed_return"])) < Fraction(1, 2 * 10**4)
    parts = CYCLE // record["cycle"]
    differ = [
        row["name"]
        for row, win in zip(record["rows"], content["wins"], strict=False)
        if not int(win["combinations_range"][0]) <= parts * row["combinations"] <= int(win["combinations_range"][1])
    ]
    assert differ


# --- Pay the Aces -----------------------------------------------------------------------------------------------------

BONUS_OF = {
    "Four aces no faces dealt": "four aces",
    "Royal flush dealt": "royal flush",
    "Three aces no faces dealt": "three aces",
    "Two aces no faces dealt": "two aces",
    "One ace no faces dealt": "one ace",
}


@pytest.mark.parametrize("name", ["t010", "t011"])
def test_bonuses_of_the_deal(name):
    record = RECORDS[name]
    content = certificate_of(HOMES[name])
    bonuses = named(content, "bonus")
    rows = {BONUS_OF[row["name"]]: row for row in record["rows"] if row["name"] != "Other"}
    for bonus, row in rows.items():
        assert Fraction(bonuses[bonus]["pays"]) == row["pays"]
        assert int(bonuses[bonus]["deal_combinations"]) == row["combinations"]
        assert int(bonuses[bonus]["combinations"]) * DEALS == row["combinations"] * int(content["cycle"])
        assert abs(Fraction(bonuses[bonus]["deal_probability"]) - Fraction(str(row["probability"]))) <= Fraction(
            1, 2 * 10**6
        )
    worth = sum(Fraction(win["contribution"]) for win in bonuses.values())
    assert worth == Fraction(record["payback"])
    assert abs(worth - Fraction(record["printed_return"])) <= Fraction(1, 2 * 10**6)
    square = sum(Fraction(row["combinations"] * row["pays"] ** 2, DEALS) for row in rows.values())
    assert abs(square - worth**2 - Fraction(record["variance"]["deal"])) <= Fraction(1, 2 * 10**8)
    # One page counts the royal flushes among "other" and by themselves.
    paid = sum(row["combinations"] for row in rows.values())
    (other,) = (row["combinations"] for row in record["rows"] if row["name"] == "Other")
    assert DEALS - paid == {"t010": 2_317_944, "t011": 2_317_940}[name]
    assert other - (DEALS - paid) == record["cycle"] - DEALS == {"t010": 0, "t011": 4}[name]


def test_pay_the_aces_with_and_without_bonuses():
    base = certificate_of({"game": "pay-the-aces", "paytable": "base game"})
    for name, total in (("t010", "0.968945"), ("t011", None)):
        content = certificate_of(HOMES[name])
        assert Fraction(content["payback"]) == Fraction(base["payback"]) + Fraction(RECORDS[name]["payback"])
        assert total is None or f"{float(Fraction(content['payback'])):.6f}" == total
        assert [win["combinations"] for win in named(content).values()] == [win["combinations"] for win in base["wins"]]
        assert content["tied_deals"] == base["tied_deals"]
        assert content["variance_within_deals"] == base["variance_within_deals"]
        assert [win["name"] for win in content["wins"] if win["on"] == "bonus"] == list(BONUS_OF.values())


# --- pays on the deal, coin levels ------------------------------------------------------------------------------------


def test_royal_deal():
    content = certificate_of({"game": "royal-deal", "paytable": "8/5"})
    plain = certificate_of({"game": "jacks-or-better", "paytable": "8/5"})
    assert Fraction(content["payback"]) == Fraction(plain["payback"]) + Fraction(4 * 1200, DEALS)
    draw, deal = named(content), named(content, "deal")
    assert int(deal["royal flush"]["combinations"]) == 4 * int(content["cycle"]) // DEALS
    for win in plain["wins"]:
        both = int(draw[win["name"]]["combinations"]) + int(deal[win["name"]]["combinations"])
        assert both == int(win["combinations"])
    assert [win["pays"] for win in deal.values()][:2] == ["2000", "50"]


def test_coin_levels_of_nine_six():
    """At one coin the royal flush pays 250, as in a paytable for one coin; at five it pays 4000."""
    levels = [c for c in certificates_of(config("jacks-or-better")) if c["paytable"] == "9/6 by coins"]
    assert [(content["coins"], content["label"]) for content in levels] == [
        (coins, f"9/6 by coins, {coins} coin{'s' if coins > 1 else ''}") for coins in range(1, 6)
    ]
    one = certificate_of({"game": "jacks-or-better", "paytable": "9/6 one coin"})
    five = certificate_of({"game": "jacks-or-better", "paytable": "9/6"})
    for content in levels:
        same = one if content["coins"] < 5 else five
        for key in ("payback", "variance", "variance_range", "hit_frequency", "tied_deals", "bands"):
            assert content[key] == same[key]
        assert [win["combinations"] for win in content["wins"]] == [win["combinations"] for win in same["wins"]]
    assert [content["wins"][0]["pays"] for content in levels] == ["250", "500", "750", "1000", "4000"]
    assert [content["wins"][1]["pays"] for content in levels] == ["50", "100", "150", "200", "250"]


# --- six credits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("record", SIX, ids=[record["game"] for record in SIX])
def test_bets_of_six_credits(record):
    """Pays are printed for five of the six credits; the sixth lets faces that add up make four of a kind."""
    content = certificate_of(record)
    assert content["coins"] == record["coins"] == 6
    assert round(Fraction(content["payback"]), 6) == Fraction(record["printed_return"])
    found = [(win["name"], win["pays"], win["combinations"]) for win in content["wins"]]
    assert found == [(row["name"], str(5 * row["pays"]), str(row["combinations"])) for row in record["rows"]]
