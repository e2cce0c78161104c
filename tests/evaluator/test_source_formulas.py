"""The formulas of poker wins, long-hand with C1F … C5S and with quantifiers, and the deals that each one counts."""

import tomllib
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from evaluator.cards import Deck
from evaluator.classify import DealCount, all_hands, deal_counts, depends_on_order, indicators, polynomial_count
from evaluator.expression import expand
from evaluator.polynomial import Polynomial, count, deals, hand, same
from evaluator.rules import Program, Rules, Win, compile_rules

CONFIGS = Path(__file__).parents[2] / "configs"
CARDS = range(1, 6)
PAIRS = list(combinations(CARDS, 2))
WINDOWS = ["Ace,2-5", "2-6", "3-7", "4-8", "5-9", "6-10", "7-Jack", "8-Queen", "9-King", "10-Ace"]


def alike(*cards: int) -> str:
    """``δC1F,C2F``"""
    return "δ" + ",".join(f"C{card}F" for card in cards)


def within(faces: str) -> str:
    """Every card in the set: ``δC1F{10-Ace}δC2F{10-Ace}…``"""
    return "".join(f"δC{card}F{{{faces}}}" for card in CARDS)


def either(conditions: list[str]) -> str:
    """De Morgan: ``1 - (1 - x)(1 - y)…``"""
    return "1 - " + "".join(f"(1 - {condition})" for condition in conditions)


DIFFERENT = "".join(f"(1 - {alike(*pair)})" for pair in PAIRS)
FLUSH = "δC1S,C2S,C3S,C4S,C5S"
WINDOW = "(" + either([within(window) for window in WINDOWS]) + ")"

LONG_HAND = {
    "royal flush": FLUSH + within("10-Ace") + DIFFERENT,
    "straight flush": FLUSH + WINDOW + DIFFERENT,
    "four of a kind": " + ".join(alike(*cards) for cards in combinations(CARDS, 4)),
    "full house": either([
        alike(*cards) + alike(*set(CARDS).difference(cards)) for cards in combinations(CARDS, 3)
    ]),
    "flush": FLUSH,
    "straight": WINDOW + DIFFERENT,
    "three of a kind": either([alike(*cards) for cards in combinations(CARDS, 3)]),
    "two pair": either([alike(*x) + alike(*y) for x, y in combinations(PAIRS, 2) if not set(x) & set(y)]),
    "jacks or better": either([alike(*pair) + "{Jack-King,Ace}" for pair in PAIRS]),
}  # fmt: skip
#: A straight is in one window only, since its five faces are different: here + says what | says.
WINDOWS_ADDED = {
    **LONG_HAND,
    "straight flush": FLUSH + "(" + " + ".join(map(within, WINDOWS)) + ")" + DIFFERENT,
    "straight": "(" + " + ".join(map(within, WINDOWS)) + ")" + DIFFERENT,
}
QUANTIFIED = {
    "royal flush": "every(a,b: !same(aF,bF)) & every(a: same(aF){T-A}) & some(a,b,c,d,e: same(aS,bS,cS,dS,eS))",
    "straight flush": "straight & some(a,b,c,d,e: same(aS,bS,cS,dS,eS))",
    "four of a kind": "total(a,b,c,d: same(aF,bF,cF,dF))",
    "full house": "some(a,b,c,d,e: same(aF,bF,cF) & same(dF,eF))",
    "flush": "every(a,b: same(aS,bS))",
    "straight": "straight",
    "three of a kind": "some(a,b,c: same(aF,bF,cF))",
    "two pair": "some(a,b,c,d: same(aF,bF) & same(cF,dF))",
    "jacks or better": "some(a,b: same(aF,bF){J-A})",
}
SHIPPED = {
    "royal flush": "royal & flush",
    "straight flush": "straight & flush",
    "four of a kind": "quads",
    "full house": "full_house",
    "flush": "flush",
    "straight": "straight",
    "three of a kind": "trips",
    "two pair": "two_pair",
    "jacks or better": "pair_of({J-A})",
}
#: Deals including and excluding those of higher wins, and the higher wins that must be excluded by name.
DEALS = {
    "royal flush": (4, 4, []),
    "straight flush": (40, 36, ["royal flush"]),
    "four of a kind": (624, 624, []),
    "full house": (3_744, 3_744, []),
    "flush": (5_148, 5_108, ["straight flush"]),
    "straight": (10_240, 10_200, ["flush"]),
    "three of a kind": (59_280, 54_912, ["full house", "four of a kind"]),
    "two pair": (127_920, 123_552, ["three of a kind"]),
    "jacks or better": (423_552, 337_920, ["two pair", "three of a kind"]),
}
WINS = list(DEALS)


class Solved(NamedTuple):
    program: Program
    polynomials: list[Polynomial]
    found: np.ndarray
    counts: tuple[DealCount, ...]


@pytest.fixture(scope="module")
def every_hand():
    return np.concatenate(list(all_hands(Deck()))).astype(np.uint8)


@pytest.fixture(scope="module")
def solved(every_hand):
    """Each way to write the wins, classified on every hand of 52 cards."""
    definitions = tuple(tomllib.loads((CONFIGS / "hands" / "standard.toml").read_text())["define"].items())
    ways = {}
    for way, formulas in (
        ("long-hand", LONG_HAND),
        ("windows added", WINDOWS_ADDED),
        ("quantified", QUANTIFIED),
        ("shipped", SHIPPED),
    ):
        program = compile_rules(Rules(Deck(), definitions, tuple(Win(name, formulas[name]) for name in WINS)))
        found = indicators(program, every_hand)
        counts = deal_counts(found, np.ones(len(every_hand), dtype=np.int64))
        ways[way] = Solved(program, [expand(program.pool, win) for win in program.wins], found, counts)
    return ways


ways_to_write = pytest.mark.parametrize("way", ["long-hand", "windows added", "quantified", "shipped"])


def test_there_are_2_598_960_hands(every_hand):
    assert len(every_hand) == 2_598_960
    assert count(hand(Deck()), Deck()) == 2_598_960 * 120


@ways_to_write
def test_deals_by_classifying_every_hand(solved, way):
    for name, counted in zip(WINS, solved[way].counts, strict=True):
        exclusions = [WINS[number] for number in counted.exclusions]
        assert (counted.including, counted.excluding, exclusions) == DEALS[name], name


@ways_to_write
@pytest.mark.parametrize("number", range(len(WINS)), ids=WINS)
def test_deals_by_polynomial(solved, way, number):
    program, _, _, counts = solved[way]
    including, excluding, _ = DEALS[WINS[number]]
    assert polynomial_count(program, number) == including
    assert polynomial_count(program, number, counts[number].exclusions) == excluding


@pytest.mark.parametrize("number", range(len(WINS)), ids=WINS)
def test_both_notations_are_the_same_polynomial(solved, number):
    assert same(solved["quantified"].polynomials[number], solved["long-hand"].polynomials[number], Deck())


@ways_to_write
def test_all_notations_agree_on_every_hand(solved, way):
    assert (solved[way].found == solved["long-hand"].found).all()


@ways_to_write
def test_no_win_depends_on_the_order_of_the_cards(solved, way):
    assert not any(depends_on_order(solved[way].program, number) for number in range(len(WINS)))


def test_quads_added_up_have_a_term_for_each_kicker(solved):
    quads = solved["quantified"].polynomials[WINS.index("four of a kind")]
    assert len(quads.terms) == 5
    assert set(quads.terms.values()) == {1}


def test_two_pair_without_full_houses_still_holds_the_quads(solved):
    """Excluding by hand goes wrong: four of a kind is two pair as well."""
    program = solved["quantified"].program
    two_pair, full_house, quads = (WINS.index(name) for name in ("two pair", "full house", "four of a kind"))
    assert polynomial_count(program, two_pair, [full_house]) == 123_552 + 624
    assert polynomial_count(program, two_pair, [full_house, quads]) == 123_552


def test_hands_that_are_nothing(solved):
    assert 2_598_960 - sum(counted.excluding for counted in solved["shipped"].counts) == 2_062_860


@pytest.mark.parametrize(
    ("deck", "quads"),
    [
        (Deck(decks=2), 13 * (70 * 96 + 56)),
        (Deck(jokers=1), 13 * 49),
        (Deck(extra=("A*",)), 12 * 49 + 5 * 48 + 1),
    ],
    ids=["two decks", "joker", "fifth ace"],
)
def test_quads_of_other_decks(deck, quads):
    """Two decks: any four of eight cards of a face and another, or five of them."""
    win = Win("quads", "some(a,b,c,d: same(aF,bF,cF,dF))")
    program = compile_rules(Rules(deck, (), (win,)))
    assert deals(expand(program.pool, program.wins[0]), deck) == quads
