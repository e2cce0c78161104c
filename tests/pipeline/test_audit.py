"""Audits against brute force: exact paybacks of random decisions, and every row that cannot be played."""

import csv
import json
from fractions import Fraction
from itertools import combinations, permutations
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline import certify, load_game
from pipeline.audit import audit_holds, audit_other, choose_other
from pipeline.open_run import choose_place, open_run
from tests import reference

DECK = [(face, suit) for face in "234" for suit in "cdhs"]
GAME = """\
name = "Tiny"
[deck]
faces = ["2", "3", "4"]
[[win]]
name = "four"
when = "some(a,b,c,d: same(aF,bF,cF,dF))"
[[win]]
name = "clubs"
when = "some(x,y,z: same(xS,yS,zS){c})"
[paytable.a]
coins = 2
[paytable.a.pays]
four = 7
clubs = 3
[paytable.b.pays]
four = 1
clubs = 9
"""
PAYS = {"four": Fraction(7, 2), "clubs": Fraction(3, 2)}


def win(hand):
    faces = [face for face, _ in hand]
    if any(faces.count(face) == 4 for face in faces):
        return "four"
    return "clubs" if sum(suit == "c" for _, suit in hand) >= 3 else ""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "game.toml").write_text(GAME)
    certify([load_game(folder / "game.toml")], folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def place(run):
    return choose_place(open_run(run)[2], "a")


@pytest.fixture(scope="module")
def values():
    """Deal -> expected credits of each mask per credit bet."""
    return {
        deal: [reference.expected_value(counts, PAYS) for counts in reference.hold_counts(DECK, win, deal)]
        for deal in combinations(DECK, 5)
    }


def text(cards):
    return " ".join(face + suit for face, suit in cards)


def write(path, rows, heading=("deal", "held")):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([heading, *rows])
    return path


def test_random_decisions_for_every_deal(place, values, tmp_path):
    """In any order of the cards; the payback is the mean over the deals, with no word of classes."""
    rng = Random(5)
    rows, total, best, costly = [], Fraction(0), Fraction(0), 0
    for deal, of in values.items():
        mask = rng.randrange(32)
        total, best, costly = total + of[mask], best + max(of), costly + (of[mask] < max(of))
        shown = rng.sample(deal, 5)
        rows.append((text(shown), text(rng.sample(reference.held(deal, mask), mask.bit_count()))))
    found = audit_holds(place, write(tmp_path / "x.csv", rows))
    assert found["complete"]
    assert found["problems"] == []
    assert (found["decisions"], found["deals"]) == (792, "792")
    assert Fraction(found["payback"]) == total / 792
    assert Fraction(found["optimal_payback"]) == best / 792
    assert Fraction(found["cost"]) == (best - total) / 792
    assert (found["costly_decisions"], Fraction(found["costly_deals"])) == (costly, costly)
    worst = max(max(of) - of[mask] for of in values.values() for mask in range(32))
    assert 0 < found["worst"][0]["cost"] <= worst
    assert [one["cost"] for one in found["worst"]] == sorted((one["cost"] for one in found["worst"]), reverse=True)


@pytest.mark.parametrize("form", ["names", "numbers", "mask"])
def test_the_optimum_costs_nothing_in_any_form(place, run, values, form, tmp_path):
    rows = []
    for deal, of in values.items():
        mask = max(range(32), key=of.__getitem__)
        numbers = [DECK.index(card) for card in deal]
        names = [text([card]) for card in deal]
        held = text(reference.held(deal, mask))
        rows.append({"names": (*names, held), "numbers": (*numbers, held), "mask": (*numbers, mask)}[form])
    columns = ["c1", "c2", "c3", "c4", "c5", "hold" if form == "mask" else "held"]
    if form == "names":
        path = write(tmp_path / "x.csv", rows, columns)
    else:
        path = tmp_path / "x.parquet"
        pq.write_table(pa.table(dict(zip(columns, map(list, zip(*rows, strict=True)), strict=True))), path)
    found = audit_holds(place, path)
    assert (found["cost"], found["costly_decisions"], found["complete"], found["problems"]) == ("0", 0, True, [])
    assert audit_holds(place, run / "tiny/a/strategy")["cost"] == "0"


def test_rows_that_cannot_be_played(place, command, run, tmp_path):
    rows = [
        ("2c 3c 4c 2d 3d", "2c 3c 4c"), ("3d 2d 4c 3c 2c", "4c 3c 2c"), ("2d 3d 2c 3c 4c", ""),
        ("2c 2c 3c 4c 2d", ""), ("2c 3c 4c 2d", ""), ("Ac 3c 4c 2d 3d", ""), ("2c 3c 4c 2d 4d", "3d"),
        ("2c 3c 4c 2d 2h", "2c 2c"),
    ]  # fmt: skip
    path = write(tmp_path / "x.csv", rows)
    found = audit_holds(place, path)
    assert [(p["row"], p["kind"]) for p in found["problems"]] == [
        (2, "duplicate"), (3, "conflict"), (4, "impossible"), (5, "impossible"), (6, "impossible"), (7, "impossible"),
        (8, "impossible"),
    ]  # fmt: skip
    assert found["decisions"] == 1
    assert not found["complete"]
    assert int(found["missing"]["deals"]) + int(found["deals"]) == 792
    done = command("audit", run, "--table", "tiny/a", "--holds", path)
    assert done.returncode == 1
    assert "MISSING" in done.stdout
    assert "row 3: conflict: 2d 3d 2c 3c 4c is in row 1 already" in done.stdout


def test_another_paytable(place, run, values, command):
    found = audit_other(place, choose_other(place, "b"))
    assert Fraction(found["cost"]) > 0
    assert found["decisions"] == len(place.holds())
    other = audit_other(choose_place(open_run(run)[2], "b"), choose_other(place, "b"))
    assert other["cost"] == "0"
    assert other["payback"] == found["optimal_payback"]
    assert command("audit", run, "--table", "b", "--paytable", "b").returncode == 0
    output = json.loads(command("audit", run, "--table", "a", "--paytable", "b", "--json").stdout)
    assert output["payback"] == found["payback"]


@pytest.mark.parametrize(
    "arguments", [[], ["--holds", "x", "--paytable", "b"], ["--paytable", "c"], ["--table", "c", "--paytable", "b"]]
)
def test_wrong_use(run, command, arguments):
    arguments = arguments if "--table" in arguments else [*arguments, "--table", "a"]
    assert command("audit", run, *arguments).returncode == 2


def test_a_run_with_several_paytables_needs_one(run, command):
    assert "--table" in command("audit", run, "--paytable", "b").stderr


@pytest.mark.parametrize("content", ["", "a,b\n", "deal,held\n", "deal\n2c 3c 4c 2d 3d\n", "\xff"])
def test_files_that_say_nothing(place, run, command, content, tmp_path):
    (tmp_path / "x.csv").write_bytes(content.encode("latin-1"))
    assert command("audit", run, "--table", "a", "--holds", tmp_path / "x.csv").returncode == 2


def test_where_order_matters(tmp_path):
    """Every order of one hand; only where 2c stands first and 3c second does the order matter."""
    text_of = GAME.replace("some(x,y,z: same(xS,yS,zS){c})", "same(C1F,C2F,C3F){2} & same(C4F,C5F)")
    (tmp_path / "game.toml").write_text(text_of)
    certify([load_game(tmp_path / "game.toml")], tmp_path / "run")
    place = choose_place(open_run(tmp_path / "run")[2], "a")
    rows = [(text(cards), text(cards)) for cards in permutations([("2", s) for s in "cdh"] + [("3", "c"), ("3", "d")])]
    found = audit_holds(place, write(tmp_path / "x.csv", rows))
    assert (found["decisions"], found["problems"]) == (120, [])
    standing = 12  # orders with the three twos first
    assert Fraction(found["payback"]) == Fraction(3, 2) * standing / 120
    assert audit_holds(place, tmp_path / "run" / "tiny/a/strategy")["cost"] == "0"
