"""Charts: every clause on hands, a plain reading of a printed chart on sampled hands, and exact returns."""

import json
from fractions import Fraction
from itertools import combinations
from random import Random

import numpy as np
import pytest

from evaluator.cards import Deck, parse_hand
from evaluator.chart import ChartError, read_chart
from evaluator.chart_view import apply_chart, make_view
from evaluator.holds import hold_block, hold_values
from evaluator.symmetry import locate
from pipeline import certify, derive_chart
from pipeline.charts import audit_chart
from pipeline.open_run import choose_place, open_run
from pipeline.report import strategy_list
from pipeline.tasks import solved
from tests import reference
from tests.pipeline.games import ROOT

CHARTS = ROOT / "configs" / "charts"
DERIVED = CHARTS / "jacks-or-better-9-6.txt"
JACKS = CHARTS / "jacks-or-better-9-6-simple.txt"
DEUCES = CHARTS / "deuces-wild-full-pay.txt"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("charts")
    certify([ROOT / "configs/jacks-or-better.toml"], folder / "jacks", paytables=["9/6", "8/5"])
    certify([ROOT / "configs/deuces-wild.toml"], folder / "deuces", paytables=["full pay"])
    return folder


@pytest.fixture(scope="module")
def play(runs):
    """The cards that a chart holds of a hand in text."""

    def held(chart, hand, run="jacks"):
        place = open_run(runs / run)[2][0]
        solution, deck = solved(place.entry.rules), place.entry.rules.deck
        row, places = locate(solution.tables.classes, np.array([parse_hand(deck, hand)]))
        block = hold_block(solution.tables, int(row[0]), int(row[0]) + 1)
        values = hold_values(solution.tables, block, place.paytable.units)
        read = read_chart(chart, deck, [win.name for win in place.entry.rules.wins])
        mask = int(apply_chart(read, make_view(solution.tables, read.wild), block, values).masks[0])
        return " ".join(card for i, card in enumerate(hand.split()) if mask >> int(places[0][i]) & 1)

    return held


@pytest.mark.parametrize(
    ("chart", "hand", "held"),
    [
        ("three of a kind", "9s 3h 9d Kc 9h", "9s 9d 9h"),
        ("two pair", "9s 3h 9d Kc 3s", "9s 3h 9d 3s"),
        ("full house", "9s 3h 9d 3c 3s", "9s 3h 9d 3c 3s"),
        ("jacks or better", "Js 3h 9d Jc 4s", "Js Jc"),
        ("three of a kind", "9s 3h 9d 3c 3s", ""),
        ("4 to a royal flush", "Ks Qs 2d Ts As", "Ks Qs Ts As"),
        ("four to a flush", "Ks Qs 2d 3s 7s", "Ks Qs 3s 7s"),
        ("3 to a straight flush", "4s 2h 7s 8s Kd", "4s 7s 8s"),
        ("4 to a straight, outside", "4s 5h 6d 7c Kd", "4s 5h 6d 7c"),
        ("4 to a straight, outside", "As 2h 3d 4c Kd", ""),
        ("4 to a straight, inside", "As 2h 3d 4c Kd", "As 2h 3d 4c"),
        ("4 to a straight, inside", "4s 5h 7d 8c Kd", "4s 5h 7d 8c"),
        ("2 cards, J-A, suited", "As 2h Js 8c Kd", "As Js"),
        ("2 cards, J-A, unsuited, lowest", "As 2h Jd 8c Kd", "As Jd"),
        ("2 cards, J-A, lowest", "As 2h Jd 8c Kd", "Jd Kd"),
        ("2 cards, J-A, highest", "As 2h Jd 8c Kd", "As Kd"),
        ("2 cards, with T, T-K, suited", "Ts 2h Js 8c Ks", "Ts Js"),
        ("pair", "3s 3h Js 8c Ks", "3s 3h"),
        ("3 alike", "3s 3h 3d 8c Ks", "3s 3h 3d"),
        ("3 cards, consecutive", "3s 9h 4s 8c 5s", "3s 4s 5s"),
        ("1 card, 8", "3s 9h 4s 8c 5s", "8c"),
        ("flush", "3s 9h 4s 8c 5s", ""),
        ("nothing", "3s 9h 4s 8c 5s", ""),
        ("3 cards, in 3 straights", "3s 9h 4s 8c 5s", "3s 4s 5s"),
        ("3 cards, in 3+ straights, suited", "9s 3h Js 8c Ts", "9s Js Ts"),
        ("3 cards, in 2 straights", "9s 3h Js 7c Ks", ""),
        ("3 cards, in one straight", "9s 3h Js 7c Ks", "9s Js Ks"),
        ("two high cards", "As 2h Js 8c Td", "As Js"),
        ("3 cards, 1 high, suited", "As 2s Js 8s Kd", "2s Js 8s"),
        ("4 cards, 3+ high, 8-A", "As Qh Js 8c 2d", "As Qh Js 8c"),
    ],
)  # fmt: skip
def test_clauses(play, chart, hand, held):
    assert play(chart, hand) == held


@pytest.mark.parametrize(
    ("chart", "hand", "held"),
    [
        ("wild: 2\nnothing", "2s 3h 2d 7c Ks", "2s 2d"),
        ("wild: 2\n[1 wild]\nthree of a kind\n[2 wild]\nnothing", "2s 3h 3d 7c Ks", "2s 3h 3d"),
        ("wild: 2\n[2 wild]\nnothing\n[1 wild]\n2 cards, K", "2s 3h 4d 7c Ks", "2s Ks"),
        ("wild: 2\n4 to a straight flush, consecutive, 6-K", "2s 2h 6d 7d Ks", "2s 2h 6d 7d"),
        ("wild: 2\n4 to a straight, outside", "As 3h 4d 5c Kd", ""),
        ("wild: 2\n4 to a straight, outside", "4s 5h 6d 7c Kd", "4s 5h 6d 7c"),
        ("wild: 2\n1 card, K", "2s 3h 4d 7c Ks", "2s"),
        ("wild: 2s, 2h, 2d, 2c\n3 cards, K", "2s 3h 2d 7c Ks", "2s 2d Ks"),
    ],
)
def test_wild_cards_are_always_held(play, chart, hand, held):
    assert play(chart, hand, "deuces") == held


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# nothing but words", "has no lines"),
        ("pair\n4 to a rainbow", "line 2: 'rainbow' is no win; the wins are flush"),
        ("K-J", "line 1: 'k-j' is no clause"),
        ("2 cards, shiny", "line 1: 'shiny' is no clause"),
        ("wild: 1\npair", "line 1: '1' is no face and no card"),
    ],
)
def test_lines_that_say_nothing(text, message):
    with pytest.raises(ChartError, match=message):
        read_chart(text, Deck(), ["flush"])


def test_only_one_of_like_cards_is_wild(play):
    with pytest.raises(ChartError, match="wild: 2d is not, but the rules cannot tell it apart"):
        play("wild: 2c\nnothing", "2s 3h 2d 7c Ks", "deuces")


# --- a printed chart, read plainly ------------------------------------------------------------------------------------

FACES = "23456789TJQKA"
RUNS = [{FACES[(start + i) % 13] for i in range(5)} for start in range(-1, 9)]


def suited(cards):
    return len({suit for _, suit in cards}) == 1


def near(cards, size, runs):
    faces = {face for face, _ in cards}
    return len(cards) == len(faces) == size and sum(faces <= run for run in runs)


def plain_candidates(hand):
    """The holds of the first line that fits, by rules of thumb and no counts."""
    win = reference.classify_plain(hand)
    counts = {face: sum(f == face for f, _ in hand) for face, _ in hand}
    holds = [c for k in range(6) for c in combinations(hand, k)]
    high = set("JQKA")

    def alike(times):
        return [tuple(card for card in hand if counts[card[0]] == times)]

    def some(rule):
        return [c for c in holds if rule(c)]

    if win in ("natural royal flush", "straight flush"):
        return [tuple(hand)]
    if win == "four of a kind":
        return alike(4)
    royal = some(lambda c: near(c, 4, RUNS[-1:]) and suited(c))
    if royal:
        return royal
    if win in ("full house", "flush", "straight"):
        return [tuple(hand)]
    if win == "three of a kind":
        return alike(3)
    lines = [lambda c: near(c, 4, RUNS) and suited(c)]
    if found := some(lines[0]):
        return found
    if win in ("two pair", "jacks or better"):
        return alike(2)
    for rule in (
        lambda c: near(c, 3, RUNS[-1:]) and suited(c),
        lambda c: len(c) == 4 and suited(c),
        lambda c: len(c) == 2 and c[0][0] == c[1][0],
        lambda c: near(c, 4, RUNS) == 2,
        lambda c: len(c) == 2 and suited(c) and {f for f, _ in c} <= high,
        lambda c: near(c, 3, RUNS) and suited(c),
    ):
        if found := some(rule):
            return found
    courts = sorted((card for card in hand if card[0] in high), key=lambda card: FACES.index(card[0]))
    if len(courts) >= 2:
        return [tuple(courts[:2])]
    ten = some(lambda c: len(c) == 2 and suited(c) and "T" in {f for f, _ in c} and {f for f, _ in c} <= set("TJQK"))
    return ten or [tuple(courts)]


def test_a_plain_reading_of_a_printed_chart(play):
    rng, deck = Random(3), reference.plain_deck()
    text = JACKS.read_text()
    for _ in range(150):
        hand = rng.sample(deck, 5)
        shown = " ".join(face + suit for face, suit in hand)
        expected = {frozenset(f + s for f, s in held) for held in plain_candidates(hand)}
        assert frozenset(play(text, shown).split()) in expected, shown


def test_the_return_of_the_simple_chart(runs):
    """The exact payback of the shipped chart: 0.085 % below the optimum."""
    place = choose_place(open_run(runs / "jacks")[2], "9/6")
    found = audit_chart(place, place.paytable, JACKS)
    assert found["payback_decimal"] == "0.994592609238"
    assert found["optimal_payback"] == "1653526326983/1661102543100"
    assert Fraction(found["payback"]) + Fraction(found["cost"]) == Fraction(found["optimal_payback"])
    assert sum(group["cost_millionths"] for group in found["wrong"]) == pytest.approx(found["cost_millionths"])
    assert sum(line["cost_millionths"] for line in found["lines"]) == pytest.approx(found["cost_millionths"])
    assert sum(int(line["deals"]) for line in found["lines"]) == 2_598_960
    assert found["wrong"][0]["example"] == "9c Jc Qd Kh As"


def test_the_chart_for_deuces(runs):
    place = open_run(runs / "deuces")[2][0]
    found = audit_chart(place, place.paytable, DEUCES)
    assert found["payback_decimal"] == "1.007568727004"
    assert found["cost_millionths"] == pytest.approx(50.885, abs=0.001)


# --- derived charts ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def nine_six(runs):
    return derive_chart(runs / "jacks", "Jacks or Better", "9/6")


def test_nine_six_in_forty_lines(runs, nine_six):
    """34 lines, 10 millionths below the optimum: twenty times better than 0.0002."""
    assert len(nine_six["lines"]) <= 40
    assert nine_six["payback"] == "1653509810339/1661102543100"
    assert nine_six["optimal_payback"] == "1653526326983/1661102543100"
    assert 0 < Fraction(nine_six["cost"]) < Fraction(1, 5000)
    assert nine_six["payback_at_least"] == nine_six["payback"]
    assert DERIVED.read_text().endswith(nine_six["chart"])
    assert "\n".join(DERIVED.read_text().splitlines()[:7]) in (ROOT / "README.md").read_text()


def test_deuces_in_fifty_lines(runs):
    found = derive_chart(runs / "deuces", "deuces-wild", "full-pay")
    assert len(found["lines"]) <= 50
    assert found["cost_millionths"] == pytest.approx(46.473, abs=0.001)
    assert found["chart"].startswith("wild: 2\n\n[4 wild]\n")


def test_the_figures_of_a_derived_chart_add_up(nine_six):
    lines, deals = nine_six["lines"], int(nine_six["deals"])
    assert sum(int(line["deals"]) for line in lines) == deals
    assert sum(int(line["deals"]) * Fraction(line["ev"]) for line in lines) / deals == Fraction(nine_six["payback"])
    for figures in (lines, nine_six["wrong"]):
        assert sum(one["cost_millionths"] for one in figures) == pytest.approx(nine_six["cost_millionths"])
    assert sum(int(group["deals"]) for group in nine_six["wrong"]) == int(nine_six["costly_deals"])
    # Every line decides something, and they stand by what they win wherever their order is free.
    assert all(int(line["deals"]) for line in lines)
    assert [line["text"] for line in lines[:4]] == [
        "royal flush",
        "straight flush",
        "four of a kind",
        "4 to a royal flush",
    ]


def test_a_derived_chart_is_a_chart(runs, nine_six, command, tmp_path):
    """What the command prints is the same every time, and is what `audit --strategy` reads."""
    arguments = ("chart", runs / "jacks", "--table", "9-6")
    printed = command(*arguments)
    assert printed.returncode == 0
    assert printed.stdout == DERIVED.read_text()
    (tmp_path / "chart.txt").write_text(printed.stdout)
    audited = command("audit", runs / "jacks", "--table", "9-6", "--strategy", tmp_path / "chart.txt", "--json")
    found = json.loads(audited.stdout)
    assert {key: found[key] for key in found if key in nine_six and key not in ("chart", "lines", "wrong")} == {
        key: nine_six[key] for key in nine_six if key not in ("chart", "lines", "wrong")
    }
    short = json.loads(command(*arguments, "--lines", "12", "--json").stdout)
    assert len(short["lines"]) <= 12
    assert nine_six["cost_millionths"] < short["cost_millionths"] < 20_000
    assert short["format"] == 1


def test_the_list_of_a_par_sheet(runs, nine_six, monkeypatch):
    place = choose_place(open_run(runs / "jacks")[2], "9/6")
    monkeypatch.setattr(strategy_list, "ranked_list", lambda place: nine_six)
    shown = strategy_list.strategy_list(place)
    assert shown.content["payback"] == nine_six["payback"]
    assert shown.html.count('<th scope="row" class="hold">') == len(nine_six["lines"])
    assert shown.html.count("<tr>") == 3 + len(nine_six["lines"]) + len(nine_six["wrong"])
    assert "1,653,509,810,339/<wbr>1,661,102,543,100" in shown.html
    assert "Wild cards" not in shown.html


def test_no_chart_where_order_matters(command, tmp_path):
    game = tmp_path / "order.toml"
    game.write_text(
        'name = "Order"\n[deck]\nfaces = ["2", "3", "4"]\n[[win]]\nname = "first"\nwhen = "same(C1F,C2F)"\n'
        "[paytable.one.pays]\nfirst = 3\n"
    )
    certify([game], tmp_path / "run")
    assert strategy_list.strategy_list(open_run(tmp_path / "run")[2][0]) is None
    refused = command("chart", tmp_path / "run")
    assert refused.returncode == 2
    assert "the order of the cards matters" in refused.stderr


def test_the_command(runs, command, tmp_path):
    arguments = ("audit", runs / "jacks", "--table", "9-6")
    done = command(*arguments, "--strategy", JACKS, "--paytable", "8/5")
    assert done.returncode == 1
    assert "on Jacks or Better, 8/5" in done.stdout
    output = json.loads(command(*arguments, "--strategy", JACKS, "--json").stdout)
    assert output["lines"][0] == {"line": 2, "text": "royal flush", "wild": None, "hands": 1, "deals": "4",
                                  "ev": "800", "ev_decimal": "800.000000000000", "cost_millionths": 0.0}  # fmt: skip
    (tmp_path / "x.txt").write_text("4 to a rainbow")
    assert command(*arguments, "--strategy", tmp_path / "x.txt").returncode == 2
    assert command(*arguments, "--strategy", JACKS, "--holds", JACKS).returncode == 2
