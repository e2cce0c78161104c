"""Derived charts: played card by card, written and read; and the account that the search keeps."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.cards import Deck
from evaluator.chart import Chart, ChartError, Line, chart_text, line_text, read_chart
from evaluator.chart_derive import derive_chart
from evaluator.chart_search import Groups, _grow, _List, _prune, _replace, search
from evaluator.chart_view import make_view
from evaluator.rules import Paytable, Rules, Win
from evaluator.solve import solve
from tests.evaluator.chart_reader import Reader

# --- two small games, in the language and by hand ---------------------------------------------------------------------

PAIRS = "some(a,b,c,d: same(aF,bF) & same(cF,dF) & !same(aF,cF))"
PLAIN = Rules(
    Deck(("8", "9", "T", "J", "Q", "A"), ("c", "d")),
    (
        ("straight", "some(W in runs(5): every(a: same(aF){W}) & !some(a,b: same(aF,bF)))"),
        ("flush", "same(C1S,C2S,C3S,C4S,C5S)"),
    ),
    (
        Win("straight flush", "straight & flush"),
        Win("flush", "flush"),
        Win("straight", "straight"),
        Win("two pair", PAIRS),
        Win("queens or better", "some(a,b: same(aF,bF){Q,A})"),
    ),
)
PLAIN_PAYS = {"straight flush": 40, "flush": 9, "straight": 4, "two pair": 2, "queens or better": 1}

WILD = Rules(
    Deck(("5", "6", "7", "8", "9"), ("c", "d"), jokers=1),
    (
        ("flush", "some(s in suits: every(a: same(aS){s,*}))"),
        ("trips", "some(a,b,c: same(aF,bF) & same(cF){joker})"),
        ("pairs", PAIRS),
    ),
    (
        Win("flush", "flush"),
        Win("full house", "trips & pairs"),
        Win("three of a kind", "trips"),
        Win("two pair", "pairs"),
        Win("nines", "some(a,b: same(aF){9} & same(bF){9,joker})"),
    ),
)
WILD_PAYS = {"flush": 11, "full house": 15, "three of a kind": 4, "two pair": 3, "nines": 1}


def plain_win(hand):
    faces = [face for face, _ in hand]
    pairs = {face for face in faces if faces.count(face) == 2}
    flush = len({suit for _, suit in hand}) == 1
    straight = not pairs and {*faces} in ({*"89TJQ"}, {*"9TJQA"}, {*"A89TJ"})
    if straight or flush:
        return "straight flush" if straight and flush else "flush" if flush else "straight"
    return "two pair" if len(pairs) == 2 else "queens or better" if pairs & {"Q", "A"} else None


def wild_win(hand):
    faces = [face for face, _ in hand if face != "joker"]
    pairs = {face for face in faces if faces.count(face) == 2}
    joker = len(faces) == 4
    flush = len({suit for face, suit in hand if face != "joker"}) == 1
    if flush:
        return "flush"
    if joker and len(pairs) == 2:
        return "full house"
    if joker and pairs:
        return "three of a kind"
    if len(pairs) == 2:
        return "two pair"
    return "nines" if "9" in pairs or (joker and "9" in faces) else None


def reader(rules, win_of, pays):
    deck = [*product(rules.deck.faces, rules.deck.suits), *[("joker", "*")] * rules.deck.jokers]
    return Reader(deck, "".join(rules.deck.faces), win_of, [win.name for win in rules.wins], pays)


def derive(rules, pays, lines=40):
    names = [win.name for win in rules.wins]
    table = Paytable("", 1, (*(Fraction(pays[name]) for name in names), Fraction(0)))
    found = derive_chart(solve(rules).tables, table, names, (lines, lines))
    return found, chart_text(found.chart, rules.deck)


GAMES = {"plain": (PLAIN, plain_win, PLAIN_PAYS), "wild": (WILD, wild_win, WILD_PAYS)}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("lines", [40, 5])
def test_a_derived_chart_loses_what_it_says(game, lines):
    """Every deal and every draw, by somebody who only reads the text."""
    rules, win_of, pays = GAMES[game]
    found, text = derive(rules, pays, lines)
    plain = reader(rules, win_of, pays)
    best, worst, optimal = plain.paybacks(text)
    assert optimal - worst == found.cost
    assert best >= worst
    assert len(found.chart.lines) <= lines
    assert ("wild: joker" in text) == (game == "wild")
    assert found.cost < optimal / (10 if lines == 40 else 4)


@pytest.mark.parametrize("game", GAMES)
def test_more_lines_lose_no_more(game):
    rules, _, pays = GAMES[game]
    costs = [derive(rules, pays, lines)[0].cost for lines in (3, 6, 12, 40)]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[-1]


def test_games_in_which_order_matters():
    rules = Rules(Deck(("2", "3", "4")), (), (Win("first", "same(C1F,C2F)"),))
    with pytest.raises(ChartError, match="the order of the cards matters"):
        derive(rules, {"first": 3})


def test_high_faces_and_straights_follow_from_the_rules():
    view = make_view(solve(PLAIN).tables)
    assert view.high == {4, 5}
    assert len(view.straights) == 3
    wild = make_view(solve(WILD).tables, frozenset({10}))
    assert wild.high == {4}


# --- the text ---------------------------------------------------------------------------------------------------------

WINS = ["royal flush", "ace high", "four 2s to 4s"]
NUMBER = st.integers(0, 5)
COUNTED = st.tuples(NUMBER, st.booleans())
FACES = st.tuples(st.integers(0, 12), st.integers(0, 12)).map(lambda ends: tuple(range(min(ends), max(ends) + 1)))
CLAUSES = st.one_of(
    st.tuples(st.just("win"), st.integers(0, 2)),
    st.tuples(st.just("to"), st.tuples(NUMBER, st.integers(0, 2))),
    st.tuples(st.sampled_from(["size", "high cards", "alike"]), NUMBER),
    st.tuples(st.just("suited"), st.booleans()),
    st.tuples(st.sampled_from(["straights", "high"]), COUNTED),
    st.tuples(st.sampled_from(["faces", "with"]), FACES),
    st.tuples(st.sampled_from(["nothing", "consecutive", "lowest", "highest"]), st.just(True)),
)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.lists(CLAUSES, min_size=1, max_size=4)), min_size=1, max_size=6),
    st.frozensets(st.integers(0, 52), max_size=6),
)
def test_what_is_written_is_read(lines, wild):
    deck = Deck(jokers=1)
    made = tuple(
        Line(i, line_text(clauses, deck, WINS), tuple(clauses), section if wild else None)
        for i, (section, clauses) in enumerate(lines)
    )
    read = read_chart(chart_text(Chart(made, wild), deck, [f"note {i}" for i in range(len(made))]), deck, WINS)
    assert read.wild == wild
    assert [(line.clauses, line.wild) for line in read.lines] == [(line.clauses, line.wild) for line in made]


def test_lines_that_a_name_would_change():
    """A win that is called like a clause, or has a comma: no line says `pair` or `two, pair` and means another."""
    wins = tuple(
        Win(name, win.when) for name, win in zip(("nothing", "a", "2 alike", "x, y", "b"), PLAIN.wins, strict=True)
    )
    rules = Rules(PLAIN.deck, PLAIN.definitions, wins)
    found, text = derive(rules, dict(zip([win.name for win in wins], PLAIN_PAYS.values(), strict=True)))
    read = read_chart(text, rules.deck, [win.name for win in wins])
    assert [line.clauses for line in read.lines] == [line.clauses for line in found.chart.lines]


# --- the search -------------------------------------------------------------------------------------------------------


@st.composite
def groups(draw):
    lines, number = draw(st.integers(1, 7)), draw(st.integers(1, 8))
    fits = draw(st.lists(st.lists(st.booleans(), min_size=lines, max_size=lines), min_size=number, max_size=number))
    fits = np.array(fits)
    losses = np.array(draw(st.lists(st.integers(0, 9), min_size=lines * number, max_size=lines * number)))
    bare = np.array(draw(st.lists(st.integers(0, 9), min_size=number, max_size=number)))
    deals = np.array(draw(st.lists(st.integers(1, 4), min_size=number, max_size=number)))
    group, line = np.nonzero(fits)
    start = np.searchsorted(group, np.arange(number + 1))
    return Groups(deals, 20 * deals, bare, start, line.astype(np.int32), losses.reshape(number, lines)[fits], lines)


def loss(groups, lines):
    """What a list of lines loses, group by group."""
    total = 0
    for number in range(len(groups.deals)):
        some = slice(groups.start[number], groups.start[number + 1])
        by_line = dict(zip(groups.line[some].tolist(), groups.loss[some].tolist(), strict=True))
        total += next((by_line[line] for line in lines if line in by_line), int(groups.bare[number]))
    return total


@settings(max_examples=200, deadline=None)
@given(groups(), st.integers(1, 6), st.integers(0, 3))
def test_the_search_keeps_its_account(groups, most, tolerance):
    lines, lost = search(groups, most, tolerance)
    assert len(lines) <= most
    assert lost == loss(groups, lines)
    for place in range(len(lines)):
        assert loss(groups, lines[:place] + lines[place + 1 :]) - lost > tolerance
    first, _ = search(groups, 1, tolerance)
    alone = min([int(groups.bare.sum()), *(loss(groups, [line]) for line in range(groups.lines))])
    assert loss(groups, first) - alone <= 2 * tolerance


@settings(max_examples=100, deadline=None)
@given(groups(), st.sampled_from([0, 3]))
def test_the_tables_say_what_every_line_would_save(groups, multiple):
    made = _List(groups, 12)
    _grow(made, 5, multiple, 0)
    _replace(made, 0)
    _prune(made, 4, 0)
    lines = made.lines()
    assert made.total() == loss(groups, lines)
    saved, line, place = made.best(0, 0)
    changes = [
        made.total() - loss(groups, [*lines[:at], more, *lines[at:]])
        for more in range(groups.lines)
        for at in range(len(lines) + 1)
    ]
    assert saved == max(changes)
    assert made.total() - loss(groups, [*lines[:place], line, *lines[place:]]) == saved
