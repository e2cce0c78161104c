"""Coin levels, pays on the deal, bonuses and order in game files: what they mean, what is wrong, and what comes out."""

import re
from fractions import Fraction
from random import Random

import numpy as np
import pyarrow.parquet as pq
import pytest

from evaluator.cards import format_cards, parse_hand
from evaluator.rules import Progressive
from pipeline import certify, holds, load_game, look_up, read_strategy
from pipeline.api import solve_game
from pipeline.faults import ConfigError
from pipeline.plan import read_plan
from pipeline.run import make_plan
from tests.evaluator import plain_play

BASE = """\
name = "Small"
[deck]
faces = ["2", "3", "4", "5"]
[[win]]
name = "quads"
when = "some(a,b,c,d: same(aF,bF,cF,dF))"
[[win]]
name = "pair"
when = "some(a,b: same(aF,bF))"
"""
BONUS = """\
[[bonus]]
name = "four twos"
when = "some(a,b,c,d: same(aF,bF,cF,dF){2})"
[[bonus]]
name = "a two"
when = "some(a: same(aF){2})"
"""
PAYS = "[paytable.a.pays]\nquads = 5\npair = 1\n"
PAID = PAYS + '[paytable.a.deal_bonus]\n"four twos" = 20\n"a two" = 1\n'


def levels(text, coins="[1, 2, 3]"):
    return BASE + f"[paytable.a]\ncoins = {coins}\n{text}"


#: What is wrong: the game file, and the key and the message of each fault.
BROKEN = {
    "on_deal for an unknown win": (
        BASE + PAYS + "[paytable.a.on_deal]\nquad = 9\n",
        [("paytable.a.on_deal.quad", "there is no such win; did you mean 'quads'\\?")],
    ),
    "on_deal for nothing": (
        BASE + PAYS + "[paytable.a.on_deal]\nnothing = 9\n",
        [("paytable.a.on_deal.nothing", "there is no such win; the wins are quads, pair")],
    ),
    "negative pay on the deal": (
        BASE + PAYS + "[paytable.a.on_deal]\nquads = -9\n",
        [("paytable.a.on_deal.quads", "expected a pay from 0 to 1000000000000, found -9")],
    ),
    "no deal_bonus": (
        BASE + BONUS + PAYS,
        [
            ("paytable.a.deal_bonus", "the pay of 'four twos' is missing"),
            ("paytable.a.deal_bonus", "the pay of 'a two' is missing"),
        ],
    ),
    "half a deal_bonus": (
        BASE + BONUS + PAYS + '[paytable.a.deal_bonus]\n"a two" = 1\n',
        [("paytable.a.deal_bonus", "the pay of 'four twos' is missing")],
    ),
    "deal_bonus for an unknown bonus": (
        BASE + BONUS + PAID + '"two" = 1\n',
        [("paytable.a.deal_bonus.two", "there is no such bonus; did you mean 'a two'\\?")],
    ),
    "deal_bonus for a win": (
        BASE + BONUS + PAID + "quads = 1\n",
        [("paytable.a.deal_bonus.quads", "there is no such bonus; the bonuses are four twos, a two")],
    ),
    "deal_bonus without bonuses": (
        BASE + PAYS + "[paytable.a.deal_bonus]\nquads = 1\n",
        [("paytable.a.deal_bonus.quads", r"there is no such bonus; the file has no \[\[bonus\]\]")],
    ),
    "a list of pays of another length": (
        levels("[paytable.a.pays]\nquads = [5, 10]\npair = [1, 2, 3, 4]\n"),
        [
            ("paytable.a.pays.quads", "expected 3 pays, one for each number of coins; found a list of 2"),
            ("paytable.a.pays.pair", "expected 3 pays, one for each number of coins; found a list of 4"),
        ],
    ),
    "a list of pays for one bet": (
        BASE + "[paytable.a.pays]\nquads = [5]\npair = 1\n",
        [("paytable.a.pays.quads", "expected one pay, for coins is no list; found a list of 1")],
    ),
    "lists of another length beside the pays": (
        levels(PAYS + "[paytable.a.on_deal]\nquads = [1, 2]\n").replace(
            "[paytable.a]", "[paytable.a]\nno_win = [0, 0]"
        ),
        [
            ("paytable.a.on_deal.quads", "expected 3 pays, .* a list of 2"),
            ("paytable.a.no_win", "expected 3 pays, .* a list of 2"),
        ],
    ),
    "a list in a list": (
        levels("[paytable.a.pays]\nquads = [5, 10, [15]]\npair = 1\n"),
        [("paytable.a.pays.quads", "expected a number or a fraction like '6/5', found \\[15\\]")],
    ),
    "coins twice": (
        levels(PAYS, "[1, 5, 1]"),
        [("paytable.a.coins", r"expected different numbers of coins, found \[1, 5, 1\]")],
    ),
    "no coins": (
        levels(PAYS, "[]"),
        [("paytable.a.coins", r"expected an integer from 1 to 1,000,000, or a list of them, found \[\]")],
    ),
    "coins that are none": (
        levels(PAYS, '[1, "2"]'),
        [("paytable.a.coins", r"expected an integer from 1 to 1,000,000, or a list of them, found \[1, '2'\]")],
    ),
    "a meter on the deal": (
        BASE + PAYS + '[paytable.a.on_deal]\nquads = { reset = 9, rate = "0.01" }\n',
        [("paytable.a.on_deal.quads", r"only a win of \[pays\] can be a meter")],
    ),
    "a meter for a bonus, and for nothing": (
        BASE
        + BONUS
        + '[paytable.a]\nno_win = { reset = 1, rate = "0.1" }\n'
        + PAID.replace("= 20", '= { reset = 9, rate = "0.01" }'),
        [
            ('paytable.a.deal_bonus."four twos"', r"only a win of \[pays\] can be a meter"),
            ("paytable.a.no_win", r"only a win of \[pays\] can be a meter"),
        ],
    ),
    "two meters": (
        BASE + '[paytable.a.pays]\nquads = { reset = 9, rate = "0.01" }\npair = { reset = 9, rate = "0.01" }\n',
        [("paytable.a.pays", "only one win can be a meter, found 'quads', 'pair'")],
    ),
    "a meter without a rate": (
        BASE + "[paytable.a.pays]\nquads = { reset = 9 }\npair = 1\n",
        [("paytable.a.pays.quads", r"expected a meter like \{reset = 4000, rate = \"0.01\"\}, found the keys reset")],
    ),
    "a meter that shrinks": (
        BASE + '[paytable.a.pays]\nquads = { reset = 9, rate = "-0.01" }\npair = 1\n',
        [("paytable.a.pays.quads", "expected a pay from 0 to 1000000000000, found -0.01")],
    ),
    "a bonus that no hand is in": (
        BASE + BONUS.replace("{2})", "{2}) & !some(f,g: same(fF,gF))", 1) + PAID,
        [("bonus[1].when", "'four twos' can never occur: no hand of this deck meets its definition")],
    ),
    "a bonus that is in a higher one": (
        BASE + BONUS.replace("some(a,b,c,d: same(aF,bF,cF,dF){2})", "some(a: same(aF){2})", 1) + PAID,
        [("bonus[2].when", r"'a two' can never occur: each of its \d+ deals is in a higher win \('four twos'\)")],
    ),
    "a bonus that depends on order": (
        BASE + BONUS.replace("some(a: same(aF){2})", "same(C1F){2}") + PAID,
        [("bonus[2].when", "'a two' depends on the order of the cards; a bonus of the deal must not")],
    ),
    "a bonus that is twice true": (
        BASE + BONUS.replace("some(a: same(aF){2})", "total(a: same(aF){2})") + PAID,
        [("bonus[2].when", "'a two' takes the value 4 on 2c 2d 2h 2s 3c; a win is 0 or 1")],
    ),
    "bonuses of one name": (
        BASE + BONUS.replace('"a two"', '"Four Twos"') + PAID.replace('"a two"', '"Four Twos"'),
        [("bonus[2].name", "'Four Twos' and 'four twos' are the same name in file names")],
    ),
    "a bonus without a definition": (
        BASE + BONUS.replace('when = "some(a: same(aF){2})"\n', "") + PAID,
        [("bonus[2]", "expected one of when, code and core; found none")],
    ),
    "a wrong formula of a bonus": (
        BASE + BONUS.replace("same(aF){2})", "same(aF){9})") + PAID,
        [("bonus[2].when", "'9'")],
    ),
    "order with alike cards": (
        BASE.replace("[deck]", "[deck]\ndecks = 2").replace("some(a,b: same(aF,bF))", "same(C1F,C2F)") + PAYS,
        [("win[2].when", "'pair' depends on the order of the cards; so the deck must not have alike cards")],
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_every_fault_with_key_and_message(tmp_path, case):
    text, expected = BROKEN[case]
    (tmp_path / "game.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        solve_game(load_game(tmp_path / "game.toml"))
    unexplained = [(fault.key, fault.message) for fault in caught.value.faults]
    for key, message in expected:
        found = [fault for fault in unexplained if fault[0] == key and re.search(message, fault[1])]
        assert len(found) == 1, (key, message, unexplained)
        unexplained.remove(found[0])
    assert unexplained == []


def read(tmp_path, text):
    (tmp_path / "game.toml").write_text(text, encoding="utf-8")
    return load_game(tmp_path / "game.toml")


# --- what they mean ---------------------------------------------------------------------------------------------------


def test_a_number_is_per_coin_and_a_list_is_per_level(tmp_path):
    text = (
        BASE
        + BONUS
        + '[paytable.a]\ncoins = [1, 2, 5]\nno_win = "1/4"\n[paytable.a.pays]\nquads = [5, 11, 200]\npair = 1.5\n'
    )
    text += '[paytable.a.on_deal]\nquads = 9\n[paytable.a.deal_bonus]\n"four twos" = [20, 40, 1000]\n"a two" = "1/3"\n'
    game = read(tmp_path, text)
    assert [table.label for table in game.paytables] == ["a, 1 coin", "a, 2 coins", "a, 5 coins"]
    assert [table.name for table in game.paytables] == ["a"] * 3
    assert [table.coins for table in game.paytables] == [1, 2, 5]
    half, third, quarter = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)
    assert [table.pays for table in game.paytables] == [
        (5, 3 * half, quarter), (11, 3, half), (200, 15 * half, 5 * quarter)
    ]  # fmt: skip
    assert [table.on_deal for table in game.paytables] == [
        (9, 3 * half, quarter), (18, 3, half), (45, 15 * half, 5 * quarter)
    ]  # fmt: skip
    assert [table.bonuses for table in game.paytables] == [(20, third, 0), (40, 2 * third, 0), (1000, 5 * third, 0)]


def test_one_bet_is_for_that_bet(tmp_path):
    (table,) = read(tmp_path, levels(PAYS, "5")).paytables
    assert (table.label, table.pays, table.on_deal, table.bonuses) == ("a", (5, 1, 0), None, (0,))


def test_a_meter_may_start_at_one_level(tmp_path):
    pays = '[paytable.a.pays]\nquads = [5, 10, { reset = 40, rate = "0.01" }]\npair = 1\n'
    tables = read(tmp_path, levels(pays)).paytables
    assert [table.progressive for table in tables] == [None, None, Progressive(0, Fraction(40), Fraction(1, 100))]
    assert [table.pays[0] for table in tables] == [5, 10, 40]


# --- what comes out ---------------------------------------------------------------------------------------------------

ALL_AT_ONCE = """\
name = "All at Once"
[deck]
faces = ["2", "3", "4", "5", "6"]
suits = ["c", "d"]

[[win]]
name = "run"
when = "same(C1F){2} & same(C2F){3} & same(C3F){4}"
[[win]]
name = "four of a suit"
when = "some(a,b,c,d: same(aS,bS,cS,dS))"
[[win]]
name = "pair in front"
when = "same(C1F,C2F)"

[[bonus]]
name = "run"
when = "every(a: same(aF){2-5})"
[[bonus]]
name = "two sixes"
when = "some(a,b: same(aF,bF){6})"

[paytable.plain]
coins = [1, 4]
[paytable.plain.pays]
run = [20, 200]
"four of a suit" = "5/2"
"pair in front" = 1
[paytable.plain.deal_bonus]
run = 0
"two sixes" = 0

[paytable.special]
coins = 2
no_win = "1/2"
[paytable.special.pays]
run = 30
"four of a suit" = 2
"pair in front" = 2
[paytable.special.on_deal]
run = 100
"pair in front" = 1
[paytable.special.deal_bonus]
run = 1
"two sixes" = 4.5
"""


def run_of(hands):
    return (hands[:, :3] // 2 == [0, 1, 2]).all(axis=1)


def all_at_once(hands):
    """The wins of (n, 5) hands of the ten cards 2 * face + suit, without the language."""
    dealt = np.full(len(hands), 3)
    dealt[hands[:, 0] // 2 == hands[:, 1] // 2] = 2
    dealt[np.isin((hands % 2).sum(axis=1), (0, 1, 4, 5))] = 1
    dealt[run_of(hands)] = 0
    return dealt


def bonus_of(hands):
    sixes = (hands // 2 == 4).sum(axis=1)
    return np.select([sixes == 0, sixes == 2], [0, 1], 2)


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    return read(tmp_path_factory.mktemp("game"), ALL_AT_ONCE)


@pytest.fixture(scope="module")
def run(game, tmp_path_factory):
    out = tmp_path_factory.mktemp("all") / "run"
    return certify([game], out, rows_per_part=50, all_holds=True), out


@pytest.fixture(scope="module")
def every():
    """All deals in order, what they are, and the counts of their holds."""
    deals = plain_play.deals_in_order(10)
    outcomes = plain_play.outcomes_in_order(10, all_at_once)
    return deals, plain_play.counts_in_order(10, deals, outcomes, 4)


@pytest.mark.parametrize("number", range(3))
def test_certificates_by_trying_everything(game, run, every, number):
    content, out = run[0].certificates[number], run[1]
    paytable = game.paytables[number]
    deals, counts = every
    weights = np.ones(len(deals), int)
    table = plain_play.Table(counts, weights, all_at_once(deals), bonus_of(deals), paytable)
    names = [format_cards(game.rules.deck, deal) for deal in deals.tolist()]
    folder = {"plain, 1 coin": "plain-1-coin", "plain, 4 coins": "plain-4-coins"}.get(paytable.label, "special")
    strategy = read_strategy(out, "all-at-once", folder)
    found = look_up(game, strategy, names)
    hold = found["hold"].to_numpy().astype(int)
    at = np.arange(len(deals))
    assert table.optimal[hold, at].all()
    bet = table.scale * paytable.coins

    cycle, stated = int(content["cycle"]), content["wins"]
    assert cycle == len(deals) * table.factor
    assert strategy["weight"].sum() == len(deals) == int(content["deals"])
    assert content["label"] == paytable.label
    assert content["coins"] == paytable.coins
    assert content["depend_on_order"] == ["run", "pair in front"]
    assert Fraction(content["payback"]) == Fraction(int(table.chosen(table.values, hold)), cycle * bet)
    mean = Fraction(content["payback"])
    assert Fraction(content["variance"]) == Fraction(int(table.chosen(table.squares, hold)), cycle * bet**2) - mean**2
    assert Fraction(content["hit_frequency"]) == Fraction(int(table.chosen(table.hits, hold)), cycle)
    assert content["hit_frequency_range"] == [str(Fraction(int(n), cycle)) for n in table.range(table.hits)]
    played = table.lines[hold, at]
    for key, some in (("win_frequency", table.won > bet), ("push_frequency", table.won == bet)):
        assert Fraction(content[key]) == Fraction(int((played * some).sum()), cycle)
    names_of = ["run", "four of a suit", "pair in front", "nothing"]
    paid_rows = [win for win in stated if win["on"] != "bonus"]
    on = ["draw"] * 4 + ["deal"] * 4 * (paytable.on_deal is not None)
    assert [(win["name"], win["on"]) for win in paid_rows] == list(zip(names_of * 2, on, strict=False))
    assert [int(win["combinations"]) for win in paid_rows] == played.sum(axis=0).tolist()
    assert sum(int(win["combinations"]) for win in paid_rows) == cycle
    low, high = table.range(table.lines)
    assert [win["combinations_range"] for win in paid_rows] == [
        [str(a), str(b)] for a, b in zip(low, high, strict=True)
    ]
    assert sum(Fraction(win["contribution"]) for win in stated) == mean
    bonuses = [win for win in stated if win["on"] == "bonus"]
    assert [win["name"] for win in bonuses] == ["run", "two sixes"]
    for i, win in enumerate(bonuses):
        dealt = int((bonus_of(deals) == i).sum())
        assert int(win["deal_combinations"]) == dealt
        assert int(win["combinations"]) == dealt * table.factor
        assert win["combinations_range"] == [win["combinations"]] * 2
        assert Fraction(win["contribution"]) == Fraction(dealt, len(deals)) * Fraction(win["pays"]) / paytable.coins
    listed = pq.read_table(out / "all-at-once" / folder / "wins.parquet").to_pydict()
    assert listed["on"] == [win["on"] for win in stated]
    assert listed["combinations"] == [win["combinations"] for win in stated]


def test_what_special_pays_come_to(run):
    plain = {content["label"]: content for content in run[0].certificates}
    assert [win["pays"] for win in plain["special"]["wins"]] == [
        "30",
        "2",
        "2",
        "1/2",
        "100",
        "2",
        "1",
        "1/2",
        "1",
        "9/2",
    ]
    assert [win["pays"] for win in plain["plain, 4 coins"]["wins"]] == ["200", "10", "4", "0", "0", "0"]
    assert plain["special"]["hit_frequency"] == "1"


def random_deals(game, number, seed):
    rng = Random(seed)
    return [format_cards(game.rules.deck, rng.sample(range(game.rules.deck.kinds), 5)) for _ in range(number)]


def test_look_up_and_holds_say_the_same_as_trying_every_draw(game, run, every):
    deals, counts = every
    index = {tuple(deal): i for i, deal in enumerate(deals.tolist())}
    strategy = read_strategy(run[1], "all-at-once", "special")
    paytable = game.paytables[2]
    for text in random_deals(game, 60, 3):
        deal = parse_hand(game.rules.deck, text)
        shown = holds(game, text, "special")
        found = look_up(game, strategy, [text]).iloc[0]
        (chosen,) = (hold for hold in shown.holds if hold.chosen)
        assert shown.hand == text
        assert shown.win == ["run", "four of a suit", "pair in front", "nothing"][all_at_once(np.array([deal]))[0]]
        assert (chosen.mask, chosen.held) == (found["hold"], found["held"])
        assert float(chosen.ev) == pytest.approx(found["ev"], rel=1e-15)
        assert shown.holds[0] == chosen
        best = max(hold.ev for hold in shown.holds)
        for hold in shown.holds:
            expected = counts[hold.mask, index[deal]].tolist()
            assert list(hold.counts.values()) == expected
            assert hold.draws == sum(expected)
            pays = paytable.on_deal if hold.mask == 31 else paytable.pays
            assert hold.ev == Fraction(sum(n * p for n, p in zip(expected, pays, strict=True))) / hold.draws / 2
            assert hold.optimal == (hold.ev == best)
            cards = [card for i, card in enumerate(deal) if hold.mask >> i & 1]
            assert hold.held == format_cards(game.rules.deck, cards)


def test_rows_of_an_ordered_strategy(game, run):
    strategy = read_strategy(run[1], "all-at-once", "special")
    assert (np.diff(strategy["canonical"]) >= 0).all()
    for _, rows in strategy.groupby("canonical"):
        sets = [int(text, 16) for text in rows["arrangements"]]
        assert sum(sets) == 2**120 - 1
        assert all(len(text) == 30 for text in rows["arrangements"])
        sizes = [bits.bit_count() for bits in sets]
        assert (rows["weight"] * 120 == np.array(sizes) * rows["weight"].sum()).all()
        assert [bits & -bits for bits in sets] == sorted(bits & -bits for bits in sets)
    counts = strategy[["n_run", "n_four-of-a-suit", "n_pair-in-front", "n_nothing"]]
    assert (counts.sum(axis=1) == strategy["draws"]).all()


def test_the_plan_says_what_is_paid(game):
    plan = make_plan([game], "lowest-mask", 50, False)
    assert read_plan(plan.text) == plan
    (said,) = plan.description["games"]
    assert [table["coins"] for table in said["paytables"]] == [1, 4, 2]
    assert said["paytables"][2]["on_deal"] == ["100", "2", "1", "1/2"]
    assert said["paytables"][2]["deal_bonus"] == ["1", "9/2", "0"]
    assert [bonus["name"] for bonus in said["rules"]["bonus"]] == ["run", "two sixes"]
