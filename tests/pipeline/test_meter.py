"""Progressives through the pipeline: game files, certificates, the command, and figures in print."""

import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from evaluator.rules import Progressive
from pipeline import certify, holds, load_game, meter_curve
from pipeline.config import ConfigError
from pipeline.meter import MOST_SHOWN, meter_json, meter_text
from tests.pipeline.games import autohold, contents

FILE = Path(__file__).parent / "progressive.toml"
ROOT = Path(__file__).parent.parent.parent
PRINTED = json.loads((ROOT / "tests" / "golden" / "meters.json").read_text(encoding="utf-8"))
METER = ("meter", FILE, "--paytable", "meter")


@pytest.fixture(scope="module")
def game():
    return load_game(FILE)


@pytest.fixture(scope="module")
def run(game, tmp_path_factory):
    return certify([game], tmp_path_factory.mktemp("progressive") / "run", rows_per_part=400)


# --- certificates -----------------------------------------------------------------------------------------------------


def test_certificate_of_a_progressive(game, run):
    content = next(content for content in run.certificates if content["label"] == "meter")
    said = content["progressive"]
    assert list(said) == [
        "win", "reset", "rate", "payback", "payback_decimal", "payback_with_contribution",
        "payback_with_contribution_decimal", "break_even_meter", "break_even_meter_decimal", "slope", "slope_decimal",
    ]  # fmt: skip
    assert (said["win"], said["reset"], said["rate"]) == ("flush", "16", "3/200")
    assert said["payback"] == content["payback"]
    assert Fraction(said["payback_with_contribution"]) == Fraction(content["payback"]) + Fraction("0.015")
    assert (said["break_even_meter"], said["break_even_meter_decimal"]) == ("1696091/25683", "66.039442432738")
    curve = meter_curve(game, "meter")
    assert curve.payback(Fraction(said["break_even_meter"])) == 1
    assert Fraction(said["slope"]) == curve.segments[0].slope
    most = max(map(int, content["wins"][0]["combinations_range"]))
    assert curve.segments[0].combinations == most


def test_only_paytables_with_a_meter_have_it(run):
    found = {content["label"]: content.get("progressive") for content in run.certificates}
    assert [label for label, said in found.items() if said is None] == ["no meter", "levels, 1 coin"]
    assert found["above 1 without the meter"]["break_even_meter"] is None
    assert found["above 1 without the meter"]["break_even_meter_decimal"] is None
    assert Fraction(found["generous"]["break_even_meter"]) < Fraction(found["generous"]["reset"]) == Fraction("100.5")
    assert found["levels, 2 coins"]["reset"] == "60"


def test_equal_bytes_with_workers_and_after_a_resume(run, tmp_path):
    there = tmp_path / "run"
    options = ("certify", FILE, "--out", there, "--rows-per-part", 400)
    assert autohold(*options, "--workers", 2).returncode == 0
    assert contents(there) == contents(run.path)
    (there / "_SUCCESS").unlink()
    for path in [*there.rglob("certificate.json"), next(there.rglob("part-*.parquet"))]:
        path.unlink()
    done = autohold(*options, "--serial", "--resume")
    assert done.returncode == 0, done.stderr
    assert contents(there) == contents(run.path)


def test_a_changed_pay_is_no_meter(tmp_path):
    done = autohold(
        "certify", FILE, "--out", tmp_path / "run", "--paytable", "meter", "--pay", "flush=1696091/25683", "--serial"
    )
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "run").rglob("certificate.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["payback"] == "1"
    assert "progressive" not in content


# --- the command and Python -------------------------------------------------------------------------------------------


def test_command(command):
    done = command(*METER)
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr) == (0, "")
    assert lines[:7] == [
        "Six by Four, progressive, meter: a meter for flush, 2 credits bet",
        "reset, in credits                                  16",
        "payback at the reset                   0.876248689615",
        "with the 1.5 % that go to the meter    0.891248689615",
        "break-even meter, in credits                  66.0394  1696091/25683",
        "",
        "16 to 66.0394 credits: 15 break points",
    ]
    assert lines[8].split() == ["16", "0.876248689615", "314.7"]
    assert lines[-1].split() == ["66.0394", "1696091/25683", "1.000000000000"]
    assert len(lines) == 8 + 16 + 1
    assert max(map(len, lines)) <= 80


def test_command_without_a_break_even_meter_goes_to_twice_the_reset(command):
    lines = command("meter", FILE, "--paytable", "above 1 without the meter").stdout.splitlines()
    assert lines[4] == "break-even meter: none; the payback is above 1 even without the meter"
    assert lines[6] == "10 to 20 credits: 3 break points"
    assert "100.5 to 201 credits: 0 break points" in command("meter", FILE, "--paytable", "generous").stdout


def test_many_segments_are_summarised_for_people_only(command):
    lines = command(*METER, "--range", "0:200").stdout.splitlines()
    assert lines[6] == "0 to 200 credits: 35 break points, some shown; all with --json"
    assert len(lines) == 8 + MOST_SHOWN + 1
    assert (lines[8].split()[0], lines[-1].split()[0]) == ("0", "200")
    assert len(json.loads(command(*METER, "--range", "0:200", "--json").stdout)["segments"]) == 36


def test_the_shipped_progressive(command):
    file = ROOT / "configs" / "jacks-or-better.toml"
    lines = command("meter", file, "--paytable", "8/5 progressive").stdout.splitlines()
    assert lines[4] == "break-even meter, in credits               8,665.7101  441916043180/50995941"
    assert lines[6] == "4,000 to 8,665.7101 credits: 146 break points, some shown; all with --json"
    assert max(map(len, lines)) <= 80


def test_json(command, game):
    done = command(*METER, "--json", "--range", "20.5:200/3")
    said = json.loads(done.stdout)
    assert said == {"format": 1} | meter_json(meter_curve(game, "meter", Fraction("20.5"), Fraction(200, 3)))
    assert list(said) == [
        "format", "game", "paytable", "coins", "win", "reset", "rate", "payback", "payback_decimal",
        "payback_with_contribution", "payback_with_contribution_decimal", "break_even_meter",
        "break_even_meter_decimal", "slope", "slope_decimal", "range", "break_points", "segments",
    ]  # fmt: skip
    assert (said["range"], said["break_points"]) == (["41/2", "200/3"], len(said["segments"]) - 1)
    assert list(said["segments"][0]) == [
        "meter_from", "meter_from_decimal", "meter_to", "meter_to_decimal", "payback", "payback_decimal", "slope",
        "slope_decimal", "combinations",
    ]  # fmt: skip
    for before, after in pairwise(said["segments"]):
        step = Fraction(after["meter_from"]) - Fraction(before["meter_from"])
        assert Fraction(before["payback"]) + step * Fraction(before["slope"]) == Fraction(after["payback"])
        assert before["meter_to"] == after["meter_from"]


def test_half_open_ranges(command):
    whole = json.loads(command(*METER, "--json").stdout)["range"]
    assert whole == ["16", "1696091/25683"]
    assert json.loads(command(*METER, "--json", "--range", "20:").stdout)["range"] == ["20", whole[1]]
    assert json.loads(command(*METER, "--json", "--range", ":20").stdout)["range"] == ["16", "20"]


FAULTS = {
    ("--paytable", "no meter"): "no win is paid a meter; a meter is written as a pay like "
    '"flush" = {reset = 20, rate = "0.01"}; paytables with a meter: meter; generous; above 1 without the meter; '
    "levels, 2 coins",
    (): "there are several; name one with --paytable",
    ("--paytable", "none"): "there is no 'none'",
    ("--paytable", "meter", "--range", "9:8"): "expected 0 ≤ low ≤ high, found 9 to 8 credits",
    ("--paytable", "meter", "--range", ":8"): "found 16 to 8 credits",
    ("--paytable", "meter", "--range", "8"): "expected LOW:HIGH, like 4000:9000",
    ("--paytable", "meter", "--range", ":"): "expected LOW:HIGH",
    ("--paytable", "meter", "--range", "x:9"): "expected a number or a fraction",
    ("--paytable", "meter", "--range", "1/0:9"): "the denominator of '1/0' is zero",
}


@pytest.mark.parametrize("options", FAULTS, ids=" ".join)
def test_faults(command, options):
    done = command("meter", FILE, *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert FAULTS[options] in done.stderr
    said = json.loads(command("meter", FILE, *options, "--json").stdout)
    assert said["error"]["code"] == 2


def test_python(game):
    curve = meter_curve(game, "meter", high=30)
    assert (curve.low, curve.high, curve.summary.break_even) == (16, 30, Fraction(1696091, 25683))
    assert curve.payback(16) == curve.summary.payback
    with pytest.raises(ValueError, match="31 to 31 is not within 16 to 30"):
        curve.payback(31)
    with pytest.raises(ConfigError, match="found -1 to 4 credits"):
        meter_curve(game, "meter", -1, 4)
    assert len(meter_text(meter_curve(game, "meter", 17, 17))) == 8 + 2


def test_two_meters_in_one_paytable_are_a_fault(tmp_path):
    path = tmp_path / "game.toml"
    text = FILE.read_text(encoding="utf-8")
    path.write_text(text.replace('"four of a kind" = 16', '"four of a kind" = {reset = 16, rate = 0}'))
    with pytest.raises(ConfigError, match="only one win can be a meter, found 'flush', 'four of a kind'"):
        load_game(path)
    # At different coin levels each has its own.
    before, _, after = text.rpartition('"four of a kind" = 8\n')
    path.write_text(before + '"four of a kind" = [{reset = 9, rate = 0}, 16]\n' + after)
    levels = load_game(path).paytables[-2:]
    assert [table.progressive and table.progressive.win for table in levels] == [1, 0]


# --- in print ---------------------------------------------------------------------------------------------------------


def metered(record):
    """The game of a record with its one paytable as a progressive, at the record's bet."""
    game = load_game(ROOT / "configs" / f"{record['game']}.toml")
    (table,) = (table for table in game.paytables if table.name == record["paytable"])
    win = [win.name for win in game.rules.wins].index(record["win"])
    pays = tuple(pay * record["coins"] for pay in table.pays)
    return replace(
        game,
        paytables=(
            replace(table, coins=record["coins"], pays=pays, progressive=Progressive(win, pays[win], Fraction(0))),
        ),
    )


def of_kind(key):
    return pytest.mark.parametrize("record", [r for r in PRINTED if r.get(key)], ids=lambda record: record["id"])


@of_kind("returns")
def test_returns_in_print(record):
    meters = [meter for meter, _ in record["returns"]]
    curve = meter_curve(metered(record), None, min(meters), max(meters))
    for meter, printed in record["returns"]:
        digits = -int(Decimal(printed).as_tuple().exponent)
        assert round(curve.payback(meter), digits) == Fraction(printed), meter


@of_kind("turning_points")
def test_turning_points_in_print(record):
    """The holds are equal at the printed meter, worth what is printed, and it is a break point of the curve."""
    game = metered(record)
    (table,) = game.paytables
    breaks = {segment.low for segment in meter_curve(game, None, 4000, 6000).segments}
    for point in record["turning_points"]:
        meter = Fraction(point.get("exact", point["meter"]))
        assert meter in breaks
        for at, best in ((meter - 1, point["below"]), (meter + 1, point["above"])):
            pays = (at, *table.pays[1:])
            assert holds(replace(game, paytables=(replace(table, pays=pays),)), point["hand"]).holds[0].held == best
        even = holds(replace(game, paytables=(replace(table, pays=(meter, *table.pays[1:])),)), point["hand"]).holds
        equal = [hold for hold in even if hold.optimal]
        assert {hold.held for hold in equal} == {point["below"], point["above"]}
        assert round(equal[0].ev * table.coins, 4) == Fraction(point["ev"])
        assert ("exact" in point) == ("why" in point)


@of_kind("break_even_with_the_strategy_of_800")
def test_break_even_in_print_with_a_strategy_that_stays(record):
    curve = meter_curve(metered(record))
    tangent = curve.low + (1 - curve.summary.payback) / curve.summary.slope
    assert tangent // 1 == int(record["break_even_with_the_strategy_of_800"])
    assert f"{float(curve.summary.break_even):.2f}" == "8680.41"  # with the strategy that each meter asks for


@pytest.mark.parametrize(("paytable", "even"), [("9/6", "4879.97"), ("8/5", "8665.71")])
def test_break_even_of_jacks_or_better(paytable, even):
    record = {"game": "jacks-or-better", "paytable": paytable, "win": "royal flush", "coins": 5}
    summary = meter_curve(metered(record)).summary
    assert summary.break_even is not None
    assert f"{float(summary.break_even):.2f}" == even
