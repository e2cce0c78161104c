"""The second engine against brute force, against the kernel, and against itself under exchanged suits."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.cards import Deck
from evaluator.classify import all_hands, classify, suit_components
from evaluator.holds import hold_block, hold_values, optimal_holds
from evaluator.independent import TooManyHands, build_engine, class_weight, confirm, hold_counts, images, judge
from evaluator.rules import Rules, Win, compile_rules
from evaluator.solve import solve
from pipeline import load_game
from tests import reference
from tests.evaluator.small_games import small_games
from tests.pipeline.games import ROOT

WINS = (
    Win("four", "some(a,b,c,d: same(aF,bF,cF,dF))"),
    Win("suited", "some(a,b,c,d,e: same(aS,bS,cS,dS,eS))"),
    Win("three", "some(a,b,c: same(aF,bF,cF))"),
    Win("first face", "some(a,b: same(aF,bF){2})"),
    Win("clubs", "some(x,y,z: same(xS,yS,zS){c})"),
)
IN_ORDER = (
    Win("placed", "same(C1F){2} & same(C2F){3} & same(C3F,C4F)"),
    Win("three", "some(a,b,c: same(aF,bF,cF))"),
    Win("last", "same(C5F){4} & same(C5S){c}"),
)


@given(small_games(most_cards=18), st.data())
@settings(max_examples=25, deadline=None)
def test_counts_are_those_of_brute_force(small, data):
    """Several copies, jokers, odd cards and single suits; wins that the deck may never have."""
    program = compile_rules(Rules(small.deck, (), WINS))
    engine = build_engine(program)
    deal = data.draw(st.permutations(small.cards))[:5]
    hands = np.concatenate(list(all_hands(small.deck)))
    known = dict(zip(map(tuple, hands.tolist()), classify(program, hands).tolist(), strict=True))
    expected = reference.hold_counts(small.cards, known.__getitem__, tuple(deal))
    counts = hold_counts(engine, deal)
    assert counts.sum(axis=1).tolist() == [comb(small.deck.size - 5, 5 - mask.bit_count()) for mask in range(32)]
    for mask in range(32):
        assert counts[mask].tolist() == [expected[mask][i] for i in range(len(WINS) + 1)]


def test_counts_in_order_are_those_of_brute_force():
    deck = Deck(("2", "3", "4"), ("c", "d", "h", "s"))
    program = compile_rules(Rules(deck, (), IN_ORDER))
    engine = build_engine(program)
    assert engine.ordered
    deal = [8, 0, 5, 4, 2]
    stock = [card for card in range(12) if card not in deal]
    counts = hold_counts(engine, deal)
    for mask in range(32):
        hands = []
        for drawn in permutations(stock, 5 - mask.bit_count()):
            new = iter(drawn)
            hands.append([card if mask >> i & 1 else next(new) for i, card in enumerate(deal)])
        expected = Counter(classify(program, np.array(hands)).tolist())
        assert counts[mask].tolist() == [expected[i] for i in range(4)]


@pytest.mark.parametrize("name", ["jacks-or-better", "deuces-wild", "one-eyed-jacks-wild"])
def test_agrees_with_the_kernel(name):
    game = load_game(ROOT / "configs" / f"{name}.toml")
    solved, engine = solve(game.rules), build_engine(compile_rules(game.rules))
    table = game.paytables[0]
    rows = np.random.default_rng(7).choice(len(solved.tables.classes.weights), 8, replace=False)
    for row in sorted(rows.tolist()):
        block = hold_block(solved.tables, row, row + 1)
        deal = block.hands[0].tolist()
        counts = hold_counts(engine, deal)
        assert (counts == block.counts[:, 0]).all()
        found = judge(engine, deal, counts, table.units, table.deal_units)
        values = hold_values(solved.tables, block, table.units, table.deal_units)
        assert found.optimal == optimal_holds(values, block.repeats)[0]
        assert class_weight(engine.deck, suit_components(solved.program), deal) == block.weights[0]


def test_exchanged_suits_keep_the_counts_and_shuffled_cards_move_the_masks():
    program = compile_rules(Rules(Deck(("2", "3", "4", "5", "6", "7")), (), WINS))
    engine, components = build_engine(program), suit_components(program)
    assert components == ((0,), (1, 2, 3))
    deal = [0, 5, 10, 15, 21]
    counts = hold_counts(engine, deal)
    for image in images(engine.deck, components, deal):
        assert (hold_counts(engine, image) == counts).all()
    moved = hold_counts(engine, deal[::-1])
    assert (moved == counts[[int(f"{mask:05b}"[::-1], 2) for mask in range(32)]]).all()


def test_polynomials_confirm_the_counts():
    program = compile_rules(Rules(Deck(("2", "3", "4", "5"), jokers=1), (), WINS))
    rows = confirm(program, build_engine(program), [([0, 5, 10, 15, 16], 0b00111), ([0, 1, 2, 3, 4], 0b01111)])
    assert len(rows) == 2 * len(WINS)
    assert [row for row in rows if row[2] != row[3]] == []
    assert any(row[2] for row in rows)


def test_ties_and_repeated_cards():
    """Two decks of ten cards: holds of equal cards are one, of the lowest mask; equal values are all optimal."""
    deck = Deck(("2", "3", "4", "5", "6"), ("c", "d"), decks=2)
    engine = build_engine(compile_rules(Rules(deck, (), (Win("pair", "some(a,b: same(aF,bF) & same(aS,bS))"),))))
    deal = [0, 0, 3, 5, 7]
    counts = hold_counts(engine, deal)
    assert (counts[0b00101] == counts[0b00110]).all()
    found = judge(engine, deal, counts, [1, 0])
    assert found.optimal == sum(1 << mask for mask in (3, 7, 11, 15, 19, 23, 27, 31))
    assert found.hold == 3
    assert judge(engine, deal, counts, [0, 0]).optimal & 1 << 0b00110 == 0
    best = max(Fraction(won, draws) for won, draws in zip(found.won, found.draws, strict=True))
    assert best == 1
    spread = judge(engine, deal, counts, [1, 0], [1, 2], "most-variance")
    assert spread.hold == 3


def test_pays_of_a_hand_held_as_dealt_decide():
    engine = build_engine(compile_rules(Rules(Deck(("2", "3", "4", "5")), (), WINS)))
    deal = [0, 1, 2, 3, 4]
    counts = hold_counts(engine, deal)
    assert judge(engine, deal, counts, [9, 5, 3, 1, 1, 0]).optimal >> 15 & 1
    assert judge(engine, deal, counts, [9, 5, 3, 1, 1, 0], [10, 5, 3, 1, 1, 0]).optimal == 1 << 31


def test_draws_in_order():
    engine = build_engine(compile_rules(Rules(Deck(("2", "3", "4")), (), IN_ORDER)))
    deal = [8, 0, 5, 4, 2]
    found = judge(engine, deal, hold_counts(engine, deal), [9, 2, 1, 0])
    assert found.draws == tuple(
        comb(7, 5 - mask.bit_count()) * factorial(5 - mask.bit_count()) for mask in range(32)
    )  # fmt: skip
    assert found.counts.sum(axis=1).tolist() == list(found.draws)


def test_weights_are_all_deals():
    deck = Deck(("2", "3", "4"), jokers=1)
    hands = list(combinations(range(deck.kinds), 5))
    representatives = {min(tuple(sorted(i)) for i in images(deck, [[0, 1, 2, 3]], hand)) for hand in hands}
    assert sum(class_weight(deck, [[0, 1, 2, 3]], hand) for hand in representatives) == deck.hands


def test_impossible_deals_and_large_decks_are_refused():
    engine = build_engine(compile_rules(Rules(Deck(("2", "3", "4")), (), WINS)))
    with pytest.raises(ValueError, match="2c 2c 2d 2h 2s: not five cards"):
        hold_counts(engine, [0, 0, 1, 2, 3])
    many = Deck(tuple("23456789TJQKA"), tuple("cdhsuvwx"))
    with pytest.raises(TooManyHands, match="91962520 different hands"):
        build_engine(compile_rules(Rules(many, (), WINS[:1])))
