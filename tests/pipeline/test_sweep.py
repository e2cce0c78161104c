"""The commands sweep, design and sensitivity: equal to certifying, equal bytes with any workers, published families."""

import json
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import pipeline
from evaluator.sweep import collect_pays
from evaluator.sweep import sweep as sweep_rows
from pipeline import certify, load_game
from pipeline.api import choose_paytables, solve_game
from pipeline.cluster import local_cluster
from pipeline.execute import Failure
from pipeline.faults import ConfigError
from pipeline.paytables import with_pays
from pipeline.sweeps import Unfinished, cut
from pipeline.vary import parse_values, read_variation
from tests.pipeline.games import SMALL as SMALL_GAME

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"
RECORDS = json.loads((GOLDEN / "published.json").read_text(encoding="utf-8"))
HOMES = json.loads((GOLDEN / "paytables.json").read_text(encoding="utf-8"))
JACKS = ROOT / "configs" / "jacks-or-better.toml"

FAMILIES = defaultdict(list)
for published in RECORDS:
    if published["id"] in HOMES:
        FAMILIES[HOMES[published["id"]]["game"]].append(published)

SMALL = ("--vary", "flush=18..21", "--vary", "pair of aces=1/2,1,3/2", "--base", "plain", "--serial")


@pytest.fixture(scope="module")
def jacks():
    return load_game(JACKS)


# --- against certify, print and other people's exact values -----------------------------------------------------------


def test_swept_figures_are_those_of_certificates(game, tmp_path):
    found = pipeline.sweep(
        game,
        {"flush": "0..40:20", "three of a kind": "2,5/2"},
        "plain",
        link={"four of a kind": "flush"},
    )
    assert len(found.places) == 6
    figures = found.fractions(np.arange(6))
    frame = pipeline.sweep_frame(found)
    assert frame["paytable"].tolist() == [found.variation.name(place) for place in found.places.tolist()]
    assert frame["payback"].tolist() == list(map(float, figures["payback"]))
    tables = [
        with_pays(game.file, game.rules.wins, found.variation.base, found.variation.pays(place))
        for place in found.places.tolist()
    ]
    assert [table.name for table in tables] == [found.variation.name(place) for place in found.places.tolist()]
    run = certify([replace(game, paytables=tuple(tables))], tmp_path / "run")
    for name, values in figures.items():
        assert [Fraction(content[name]) for content in run.certificates] == values


RICH = (
    SMALL_GAME
    + """
[[bonus]]
name = "four aces"
when = "some(a,b,c,d: same(aF,bF,cF,dF){A})"

[paytable."rich"]
coins = [1, 2]
no_win = "1/10"
[paytable."rich".pays]
"flush" = 20
"four of a kind" = 8
"three of a kind" = 2
"pair of aces" = 1
[paytable."rich".on_deal]
"flush" = 35
"three of a kind" = "3/2"
[paytable."rich".deal_bonus]
"four aces" = 7
"""
)
"""pays on the deal, a bonus beside the draw, a pay for nothing, coin levels"""

ORDERED = SMALL_GAME.replace('when = "flush"', 'when = "flush & same(C1F){A}"')
"""a flush counts only with an ace in the first place"""


@pytest.mark.parametrize(("text", "base"), [(RICH, "rich, 2 coins"), (ORDERED, "plain")])
def test_richer_games_are_as_certified(text, base, tmp_path):
    file = tmp_path / "game.toml"
    without = (
        text if base == "plain" else text.replace(text[text.index('[paytable."plain"]') : text.index("[[bonus]]")], "")
    )
    file.write_text(without, encoding="utf-8")
    game = load_game(file)
    found = pipeline.sweep(game, {"flush": "10,40", "pair of aces": "1..2:1/2"}, base)
    tables = [
        with_pays(game.file, game.rules.wins, replace(found.variation.base, levels=False), found.variation.pays(place))
        for place in found.places.tolist()
    ]
    run = certify([replace(game, paytables=tuple(tables))], tmp_path / "run")
    for name, values in found.fractions(np.arange(len(tables))).items():
        assert [Fraction(content[name]) for content in run.certificates] == values
    certificate = certify([choose_paytables(game, [base])], tmp_path / "base").certificates[0]
    known = {(win["name"], win["on"]): win for win in certificate["wins"]}
    for pay in pipeline.sensitivity(game, base):
        parts = [known[pay.win, on] for on in pay.on.split(" and ") if (pay.win, on) in known]
        assert pay.frequency == sum(Fraction(part["probability"]) for part in parts)
        assert {part["pays"] for part in parts} == {str(pay.pay)}


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_published_paytables_of_a_family_in_one_sweep(name):
    records = FAMILIES[name]
    game = load_game(ROOT / "configs" / f"{name}.toml")
    tables = [choose_paytables(game, [HOMES[record["id"]]["paytable"]]).paytables[0] for record in records]
    pays = collect_pays(tables)
    solved = solve_game(game).tables
    swept = sweep_rows(solved, pays)
    for record, table, won, squares in zip(records, tables, swept.won, swept.squares, strict=True):
        stake = solved.cycle * pays.scale * table.coins
        assert Fraction(won, stake) == Fraction(record["payback"])
        variance = Fraction(squares * solved.cycle - won * won, stake * stake)
        if "variance" in record:
            expected = Fraction(str(record["variance"]["a_lowmask"]))
            assert abs(variance - expected) < Fraction(1, 10**5)


# --- equal bytes ------------------------------------------------------------------------------------------------------


@pytest.fixture
def swept(command, game_file, tmp_path):
    """Run `sweep` on the small game; JSON, and the bytes of its file."""

    def run(*arguments):
        out = tmp_path / "sweep.parquet"
        done = command("sweep", game_file, *arguments, "--out", out, "--json")
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout), out.read_bytes()

    return run


def test_any_workers_give_equal_bytes(swept, jacks):
    ways = (("--serial",), ("--workers", "1"), ("--workers", "2"))
    results = [swept(*SMALL[:-1], *way) for way in ways]
    assert results[0] == results[1] == results[2]


def test_any_pieces_add_up_to_the_same(jacks, monkeypatch):
    asked = {"full house": "8..9", "flush": "5..7"}
    whole = pipeline.sweep(jacks, asked, "9/6")
    monkeypatch.setattr("pipeline.sweeps.PAYTABLES_PER_PIECE", 4)
    monkeypatch.setattr("pipeline.sweeps.ROWS_PER_PIECE", 40_000)
    parts = pipeline.sweep(jacks, asked, "9/6", executor=partial(local_cluster, 2))
    for name in ("won", "squares", "hits"):
        assert (getattr(whole.swept, name) == getattr(parts.swept, name)).all()


@pytest.mark.parametrize(
    ("paytables", "workers", "blocks", "partitions"),
    [(100, 1, 1, 1), (30_000, 1, 4, 1), (100, 2, 1, 4), (100, 50, 1, 16), (10_000, 2, 2, 2), (100_000, 2, 13, 1)],
)
def test_pieces_cover_everything_once(jacks, paytables, workers, blocks, partitions):
    asked = read_variation(jacks, jacks.paytables[0], {"royal flush": "1..2"})
    pieces = cut(asked, paytables, 134_459, workers)
    cells = sum((p.paytables[1] - p.paytables[0]) * (p.rows[1] - p.rows[0]) for p in pieces)
    assert cells == paytables * 134_459
    assert (len({p.paytables for p in pieces}), len({p.rows for p in pieces})) == (blocks, partitions)


def test_workers_that_die_leave_nothing(game):
    class Dying:
        workers = 1

        def map(self, function, arguments, keys):
            yield arguments[0], Failure("its worker died 4 times")

        def __enter__(self):
            return self

        def __exit__(self, *problem):
            pass

    with pytest.raises(Unfinished, match=r"hands 0 to .*: its worker died 4 times"):
        pipeline.sweep(game, {"flush": "1..2"}, "plain", executor=Dying)


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_file_has_a_row_for_each_paytable(swept, tmp_path):
    said, _ = swept(*SMALL)
    frame = pd.read_parquet(tmp_path / "sweep.parquet")
    assert (said["paytables"], said["within"], len(frame)) == (12, 12, 12)
    first = frame.iloc[0]
    assert first["paytable"] == "plain, flush=18, pair of aces=1/2"
    assert (first["pay_flush"], first["pay_pair-of-aces_exact"]) == (18.0, "1/2")
    for name in ("payback", "variance", "hit_frequency"):
        exactly = frame[f"{name}_numerator"].map(int) / frame[f"{name}_denominator"].map(int)
        assert (exactly == frame[name]).all()
    schema = pq.read_schema(tmp_path / "sweep.parquet")
    assert all({b"unit", b"meaning"} <= set(field.metadata) for field in schema)
    footer = json.loads(schema.metadata[b"autohold"])
    assert footer["vary"][0] == {"win": "flush", "links": [], "values": ["18", "19", "20", "21"]}


def test_filters(swept):
    everything, _ = swept(*SMALL)
    best = sorted((Fraction(row["payback"]) for row in everything["best"]), reverse=True)
    assert best == [Fraction(row["payback"]) for row in everything["best"]]
    edge = everything["best"][4]
    for option, key in (("--target", "payback"), ("--variance", "variance"), ("--hit-frequency", "hit_frequency")):
        said, content = swept(*SMALL, option, f"{edge[key]}:{edge[key]}")
        assert edge["paytable"] in [row["paytable"] for row in said["best"]]
        assert all(row[key] == edge[key] for row in said["best"])
        assert said["within"] < 12
        assert content
    nothing, _ = swept(*SMALL, "--target", "2:3")
    assert (nothing["within"], nothing["best"]) == (0, [])


def test_output_for_people(command, game_file):
    done = command("sweep", game_file, *SMALL, "--target", "1.1:1.2", "--top", "2")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert lines[0].startswith("Six by Four, plain: 12 paytables, ")
    assert "of 32 holds per hand can be best in the grid" in lines[1]
    assert len(lines) == 5
    assert command("sweep", game_file, *SMALL, "--target", "2:").returncode == 1


def test_the_page_has_both_plots_and_the_same_bytes_each_time(command, game_file, tmp_path):
    pytest.importorskip("matplotlib")
    pages = [tmp_path / "first.html", tmp_path / "second.html"]
    for page in pages:
        assert command("sweep", game_file, *SMALL, "--html", page).returncode == 0
    text = pages[0].read_text(encoding="utf-8")
    assert text == pages[1].read_text(encoding="utf-8")
    assert text.count("<svg") == 2
    assert "Payback over flush and pair of aces." in text
    assert "flush: 18, 19, 20, 21; pair of aces: 1/2, 1, 3/2" in text
    none = command("sweep", game_file, *SMALL, "--target", "2:", "--html", tmp_path / "none.html")
    assert (none.returncode, (tmp_path / "none.html").exists()) == (2, False)


def test_design_finds_what_a_sweep_has(command, game_file, swept):
    everything, _ = swept(*SMALL, "--top", "12")
    target = Fraction(11, 10)
    rows = sorted(everything["best"], key=lambda row: abs(Fraction(row["payback"]) - target))
    options = ("design", game_file, *SMALL[:-1], "--target", "1.1", "--json")
    said = json.loads(command(*options, "--top", "3").stdout)
    assert [row["payback"] for row in said["matches"]] == [row["payback"] for row in rows[:3]]
    assert int(said["looked_at"]) + int(said["left_out"]) == int(said["paytables"]) == 12
    within = [row for row in rows if abs(Fraction(row["payback"]) - target) <= Fraction(1, 20)]
    said = json.loads(command(*options, "--within", "0.05", "--prefer", "variance").stdout)
    assert [Fraction(m["variance"]) for m in said["matches"]] == sorted(Fraction(row["variance"]) for row in within)
    assert said["number_within"] == str(len(within))


def test_design_says_which_is_nearest_where_none_is_within(command, game_file):
    options = ("design", game_file, *SMALL[:-1], "--target", "3", "--within", "0.001")
    for more in ((), ("--prefer", "hit-frequency")):
        done = command(*options, *more)
        assert done.returncode == 1
        assert "none is within; the nearest is" in done.stdout
        assert "flush=21, pair of aces=3/2" in done.stdout
    assert command(*options[:-2], "--prefer", "variance").returncode == 2


def test_sensitivity_of_jacks_or_better(command):
    done = command("sensitivity", JACKS, "--paytable", "9/6", "--json")
    royal, *_, pair = json.loads(done.stdout)["pays"]
    assert royal["frequency"] == str(Fraction(493512264, 19933230517200))
    assert (royal["optimal_from"], royal["pays"], royal["optimal_to"]) == ("789", "800", "801")
    assert royal["next_above"]["hand"] == "2c Tc Td Jc Ac"
    assert (royal["next_above"]["before"], royal["next_above"]["after"]) == ("2c Tc Jc Ac", "Tc Jc Ac")
    assert (pair["win"], pair["optimal_to"]) == ("jacks or better", "199/198")
    shown = command("sensitivity", JACKS, "--paytable", "9/6").stdout
    assert "royal flush                 800   0.0000247583  789 to 801" in shown


def test_the_grids_of_the_readme(command):
    vary = ("full house=5..10", "flush=4..8", "straight=4,5", "four of a kind=20..40:10", "straight flush=50,100")
    options = [word for text in (*vary, "royal flush=250,500,1000") for word in ("--vary", text)]
    done = command("sweep", JACKS, "--base", "9/6", *options, "--target", "0.94:0.96", "--serial", "--top", "1")
    assert done.stdout.splitlines()[:2] == [
        "Jacks or Better, 9/6: 1,080 paytables, 99 within",
        "1.31 of 32 holds per hand can be best in the grid; 75.7% of hands are decided",
    ]
    best = "full house=6, flush=5, straight=5, four of a kind=20, straight flush=100, royal flush=500"
    assert done.stdout.splitlines()[3] == f"0.949977941547   44.766%     9.159  {best}"
    some = [word for text in (*vary[:2], "royal flush=250..1000:25") for word in ("--vary", text)]
    wanted = ("--target", "0.955", "--within", "0.0005", "--prefer", "variance", "--top", "1")
    lines = command("design", JACKS, "--base", "9/6", *some, *wanted).stdout.splitlines()
    assert lines[0] == "Jacks or Better, 9/6: 930 paytables"
    assert lines[2] == "0.954520935325   44.091%     6.487  full house=5, flush=7, royal flush=400"
    assert lines[-1] == "12 paytables are within; none of the others is better"


# --- what varies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("9..5", "a range upwards"),
        ("1..2:0", "a step above 0"),
        ("5:1", "only a range has a step"),
        ("x", "expected a number"),
        ("1..1000000", "1000000 values; expected at most 100000"),
        ("-1", "expected a pay from 0"),
    ],
)
def test_values_that_are_none(text, problem):
    with pytest.raises(ValueError, match=problem):
        parse_values(text)


def test_all_faults_at_once(jacks):
    with pytest.raises(ConfigError) as caught:
        read_variation(
            jacks,
            jacks.paytables[0],
            {"flash": "1..2", "flush": "3..1"},
            {"straight": "two pair", "flush": "flush"},
        )
    text = str(caught.value)
    for part in ("did you mean 'flush'?", "a range upwards", "straight=two pair", "flush=flush"):
        assert part in text


def test_links_may_lead_to_links(jacks):
    base = jacks.paytables[0]
    links = {"flush": "straight", "straight": "full house"}
    variation = read_variation(jacks, base, {"full house": "5..6"}, links)
    assert variation.wins == (("full house", "flush", "straight"),)
    assert variation.name([1]) == "9/6, full house=6, flush=6, straight=6"
    with pytest.raises(ConfigError, match="only the pay of OTHER varies"):
        read_variation(jacks, base, {"full house": "5..6"}, {"flush": "straight", "straight": "flush"})


def pays_of(variation):
    return [tuple(map(int, variation.pays(place).values())) for place in variation.family.places().tolist()]


def test_relations(jacks):
    base = next(table for table in jacks.paytables if table.name == "9/6")
    read = partial(read_variation, jacks, base)
    both = {"full house": "4..10", "flush": "4..10"}
    assert all(house >= flush for house, flush in pays_of(read(both, keep=["full house>=flush"])))
    assert len(pays_of(read(both, keep=["full house>=flush"]))) == 28
    assert len(pays_of(read(both, keep=["full house>flush"]))) == 21
    assert len(pays_of(read(both, keep=["flush<full house", "full house<=7"]))) == 6
    assert pays_of(read(both, keep=["ratios"])) == [(6, 4), (9, 6)]
    assert pays_of(read(both, keep=["6/5 ratios"])) == [(6, 5)]
    assert pays_of(read(both, keep=["2*full house=4*flush"])) == [(8, 4), (10, 5)]
    # flush is above straight, which pays 4, and below full house, which is below four of a kind, which pays 25
    ladder = pays_of(read({"full house": "3..30", "flush": "3..5"}, keep=["ladder"]))
    assert ladder == [(house, flush) for house in range(4, 26) for flush in (4, 5) if house >= flush]
    for wrong in ("full hose>=flush", "upwards", "9/7 ratios"):
        with pytest.raises(ConfigError):
            read(both, keep=[wrong])
    with pytest.raises(ConfigError, match="none of the 49 paytables keeps"):
        pipeline.sweep(jacks, both, "9/6", keep=["full house>full house"])


def test_multiples_of_the_bet(game):
    base = next(table for table in game.paytables if table.coins == 5)
    variation = read_variation(game, base, {"flush": "98..107"}, keep=["coins"])
    assert [str(value) for value in variation.values[0]] == ["100", "105"]
    with pytest.raises(ConfigError, match="no value of 'flush' is a multiple of 5"):
        read_variation(game, base, {"flush": "1..4"}, keep=["coins"])


def test_grids_that_are_too_large(jacks):
    with pytest.raises(ConfigError, match="10,000,000 paytables; expected at most 2,000,000"):
        pipeline.sweep(jacks, {"royal flush": "1..10000", "flush": "1..1000"}, "9/6")
