"""Wins that depend on order, against every draw in order."""

from dataclasses import replace
from functools import reduce
from itertools import pairwise, permutations
from math import comb
from operator import add
from random import Random

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from evaluator.cards import Deck
from evaluator.holds import TIE_BREAKS, hold_block
from evaluator.ordered import ARRANGEMENTS, TooManyPatterns, arrangement_number, corrections, prepare_ordered
from evaluator.payback import Outcome, certify_rows
from evaluator.rules import Faults, Rules, Win
from evaluator.solve import solve
from evaluator.symmetry import canonical_classes, locate
from tests.evaluator import plain_play
from tests.evaluator.plain_classifier import jacks_or_better
from tests.evaluator.random_rules import DECKS, LARGER, random_game

# Shrinking would repeat whole enumerations for minutes.
many = settings(max_examples=30, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
seeds = st.integers(0, 2**32)


class Played:
    """A solved game, its rows, and where its deals are among them."""

    def __init__(self, tables, parts=2):
        self.tables = tables
        rows = len(tables.classes.weights)
        edges = [rows * part // parts for part in range(parts + 1)]
        self.blocks = [hold_block(tables, start, stop) for start, stop in pairwise(edges)]
        self.counts = np.concatenate([block.counts for block in self.blocks], axis=1)
        self.hands = np.concatenate([block.hands for block in self.blocks])

    def find(self, deals):
        """(n,) rows, and (32, n) what each mask of the deal is in the row's hand."""
        canonical, places = locate(self.tables.classes, deals)
        rows, before, masks = np.zeros(len(deals), int), 0, np.zeros((32, len(deals)), int)
        for block in self.blocks:
            here = np.flatnonzero((block.start <= canonical) & (canonical < block.stop))
            member = block.arrangements.member[canonical[here] - block.start, arrangement_number(places[here])]
            rows[here] = before + member
            # Where each card of the canonical hand stands in the row's hand.
            where = np.argsort(ARRANGEMENTS[block.arrangements.first[member]], axis=1)
            moved = np.take_along_axis(where, places[here].astype(int), axis=1)
            for mask in range(32):
                masks[mask, here] = sum(1 << moved[:, i] for i in plain_play.PLACES[mask])
            before += len(block.weights)
        return rows, masks


@pytest.mark.parametrize(("deck", "seed"), [*zip(DECKS, (1, 2, 3), strict=True)])
def test_random_games_by_trying_every_draw_of_every_deal(deck, seed):
    check_every_draw_of_every_deal(deck, seed)


@pytest.mark.slow
@many
@given(st.sampled_from(DECKS), seeds)
def test_more_random_games_by_trying_every_draw_of_every_deal(deck, seed):
    check_every_draw_of_every_deal(deck, seed)


def check_every_draw_of_every_deal(deck, seed):
    rng = Random(seed)
    game = random_game(deck, rng)
    solution = solve(game.rules)
    assert solution.ordered == game.ordered
    played = Played(solution.tables)
    deals = plain_play.deals_in_order(deck.kinds)
    width = len(game.rules.wins) + 1
    outcomes = plain_play.outcomes_in_order(deck.kinds, game.outcomes)
    counts = plain_play.counts_in_order(deck.kinds, deals, outcomes, width)

    # Every hold of every deal has the counts of its row, and no two rows of a hand could be one.
    rows, masks = played.find(deals)
    assert (played.counts[masks, rows] == counts).all()
    weights = np.concatenate([block.weights for block in played.blocks])
    canonical = np.concatenate([block.start + block.arrangements.hand for block in played.blocks])
    by_hand = np.bincount(canonical, weights=weights)
    assert (by_hand == 120 * solution.tables.classes.weights).all()
    assert (np.bincount(canonical[rows], minlength=len(by_hand)) == by_hand).all()
    assert weights.sum() == 120 * comb(deck.size, 5) == solution.tables.deals
    check_that_classes_are_largest(played)

    # Counts of deals.
    found = game.outcomes(deals)
    assert [count.excluding for count in solution.deals] == np.bincount(found, minlength=width)[:-1].tolist()
    flags = [formula.holds(deck.face_of[deals], deck.suit_of[deals]) for formula in game.formulas]
    assert [count.including for count in solution.deals] == [int(flag.sum()) for flag in flags]
    bonus = game.bonus(deals)
    paid = np.bincount(bonus, minlength=len(game.bonuses) + 1)[:-1].tolist()
    assert [count.excluding for count in solution.bonus_deals] == paid

    # Optimal play under random pays and every rule for ties.
    for rule in TIE_BREAKS:
        paytable = plain_play.random_paytable(rng, width - 1, len(game.bonuses))
        results = [certify_rows(solution.tables, block, paytable, rule) for block in played.blocks]
        got = reduce(add, (outcome for outcome, _ in results), Outcome.none_of(paytable))
        hold = np.concatenate([strategy.hold for _, strategy in results])
        optimal = np.concatenate([strategy.optimal_holds for _, strategy in results])
        at = np.arange(len(deals))
        by_deal = np.argmax(masks == hold[rows], axis=0)  # the mask of the deal that is the row's hold
        expected = plain_play.Table(counts, np.ones(len(deals), int), found, bonus, paytable)
        expected.check(got, by_deal, deck, ordered=True)
        assert ((optimal[rows] >> masks.astype(np.uint32) & 1).astype(bool) == expected.optimal).all()
        squares = np.where(expected.optimal, expected.squares, {"most-variance": -1}.get(rule, 2**62))
        if rule == "least-variance":
            assert (expected.squares[by_deal, at] == squares.min(axis=0)).all()
        elif rule == "most-variance":
            assert (expected.squares[by_deal, at] == squares.max(axis=0)).all()


def check_that_classes_are_largest(played):
    """Two rows of one hand differ under some hold of the same cards."""
    for block in played.blocks:
        rows = block.arrangements
        for hand in np.unique(rows.hand):
            some = np.flatnonzero(rows.hand == hand)
            by_cards = set()
            for row in some:
                arrangement = ARRANGEMENTS[rows.first[row]]
                masks = [sum(1 << int(arrangement[i]) for i in plain_play.PLACES[mask]) for mask in range(32)]
                by_cards.add(block.counts[np.argsort(masks), row].tobytes())
            assert len(by_cards) == len(some)
            kept = [int(rows.sets[row].tobytes().hex(), 16) for row in some]
            assert sum(kept) == 2**120 - 1
            for row, bits in zip(some, kept, strict=True):
                assert bits.bit_count() == rows.size[row]
                assert (bits & -bits).bit_length() - 1 == rows.first[row]
                assert all(rows.member[hand, a] == row for a in range(120) if bits >> a & 1)


@pytest.mark.parametrize(("deck", "seed"), [*zip(LARGER, (1, 2, 3), strict=True)])
def test_some_deals_of_larger_decks(deck, seed):
    check_some_deals(deck, seed)


@pytest.mark.slow
@many
@given(st.sampled_from(LARGER), seeds)
def test_more_deals_of_larger_decks(deck, seed):
    check_some_deals(deck, seed)


def check_some_deals(deck, seed):
    rng = Random(seed)
    game = random_game(deck, rng)
    played = Played(solve(game.rules).tables, parts=3)
    deals = np.array([rng.sample(range(deck.kinds), 5) for _ in range(150)])
    outcomes = plain_play.outcomes_in_order(deck.kinds, game.outcomes)
    rows, masks = played.find(deals)
    width = len(game.rules.wins) + 1
    assert (played.counts[masks, rows] == plain_play.counts_in_order(deck.kinds, deals, outcomes, width)).all()


# --- what does not depend on order ------------------------------------------------------------------------------------

PAIRS = [(i, j) for i in range(1, 6) for j in range(i + 1, 6)]
LONG_HAND = {
    "pair": " | ".join(f"same(C{i}F,C{j}F)" for i, j in PAIRS),
    "pair, by products": "1 - " + "*".join(f"(1-same(C{i}F,C{j}F))" for i, j in PAIRS),
    "flush": "same(C1S,C2S,C3S,C4S,C5S)",
    "an ace, counted": "total(a: same(aF){A}) * !some(a,b: same(aF,bF){A})",
    "five aces or kings": "*".join(f"same(C{i}F){{K,A}}" for i in (3, 1, 5, 2, 4)),
}


@pytest.mark.parametrize("formula", LONG_HAND.values(), ids=LONG_HAND)
def test_symmetric_formulas_in_long_hand_need_no_order(formula):
    deck = Deck(("9", "T", "J", "Q", "K", "A"), ("c", "d", "h"))
    solution = solve(Rules(deck, (), (Win("win", formula),)))
    assert solution.tables.ordered is None
    assert solution.ordered == ()
    assert solution.tables.deals == comb(18, 5)


@pytest.mark.parametrize(
    "formula",
    [
        " | ".join(f"same(C{i}F,C{j}F)" for i, j in PAIRS[:-1]),
        "same(C1F){A}",
        "some(a: same(aS,C1S) & same(aF){A})",
    ],
)
def test_formulas_that_name_places_need_the_order(formula):
    deck = Deck(("9", "T", "J", "Q", "K", "A"), ("c", "d", "h"))
    solution = solve(Rules(deck, (), (Win("win", formula),)))
    assert solution.tables.ordered is not None
    assert solution.ordered == (0,)
    assert solution.tables.deals == 120 * comb(18, 5)


# --- games of 52 cards ------------------------------------------------------------------------------------------------

T, J, Q, K, A = range(8, 13)
STRAIGHTS = np.array([[12, 0, 1, 2, 3]] + [list(range(low, low + 5)) for low in range(9)])
TEXTS = ["".join("23456789TJQKA"[face] for face in straight) for straight in STRAIGHTS]


def in_places(text):
    return "(" + " & ".join(f"same(C{i}F){{{face}}}" for i, face in enumerate(text, start=1)) + ")"


PAIR = "some(a,b: same(aF,bF))"
FLUSH = "some(a,b,c,d,e: same(aS,bS,cS,dS,eS))"
BASE = (
    Win("straight flush", f"!{PAIR} & some(W in runs(5): every(a: same(aF){{W}})) & {FLUSH}"),
    Win("four of a kind", "some(a,b,c,d: same(aF,bF,cF,dF))"),
    Win("flush", FLUSH),
    Win("straight", f"!{PAIR} & some(W in runs(5): every(a: same(aF){{W}}))"),
    Win("pair", PAIR),
)
BASE_OF = np.array([0, 0, 1, 4, 2, 3, 4, 4, 4, 5])
"""what the wins of jacks or better are among these, but that low pairs are told apart below"""


def sequential(faces, suits):
    return (faces == [T, J, Q, K, A]).all(axis=1) & (suits == suits[:, :1]).all(axis=1)


def reversible(faces, suits):
    return sequential(faces, suits) | sequential(faces[:, ::-1], suits[:, ::-1])


def straight_in_order(faces, suits):
    return (faces[:, None] == STRAIGHTS).all(axis=2).any(axis=1)


def adjacent_quads(faces, suits):
    return (np.diff(faces[:, :4], axis=1) == 0).all(axis=1) | (np.diff(faces[:, 1:], axis=1) == 0).all(axis=1)


GAMES = {
    "sequential royal": (f"{in_places('TJQKA')} & {FLUSH}", sequential),
    "reversible royal": (f"({in_places('TJQKA')} | {in_places('AKQJT')}) & {FLUSH}", reversible),
    "straight in order": (" | ".join(map(in_places, TEXTS)), straight_in_order),
    "adjacent quads": ("same(C1F,C2F,C3F,C4F) | same(C2F,C3F,C4F,C5F)", adjacent_quads),
}


def outcomes_of_52(holds, hands):
    faces = hands // 4
    base = BASE_OF[jacks_or_better(np.sort(hands, axis=1))]
    paired = (np.diff(np.sort(faces, axis=1), axis=1) == 0).any(axis=1)
    base = np.where((base == 5) & paired, 4, base)
    return np.where(holds(faces, hands % 4), 0, base + 1)


def near_deals(rng, holds):
    """Deals like those that count, with up to two of their cards exchanged, and some others."""
    deals = [rng.sample(range(52), 5) for _ in range(3)]
    while len(deals) < 11:
        straight = STRAIGHTS[9] if rng.random() < 0.6 else rng.choice(STRAIGHTS)
        suit = rng.randrange(4)
        deal = [int(4 * face + suit) for face in straight]
        if holds is adjacent_quads:
            face = rng.randrange(13)
            deal = [4 * face + suit for suit in range(4)]
            deal.insert(rng.choice([0, 1, 4]), rng.choice([card for card in range(52) if card // 4 != face]))
        if rng.random() < 0.3:
            deal.reverse()
        for place in rng.sample(range(5), rng.randint(0, 2)):
            deal[place] = rng.choice([card for card in range(52) if card not in deal])
        deals.append(deal)
    return np.array(deals)


@pytest.mark.parametrize("name", GAMES)
def test_deals_of_52_cards_with_three_or_more_held(name):
    formula, holds = GAMES[name]
    solution = solve(Rules(Deck(), (), (Win(name, formula), *BASE)))
    assert solution.ordered == (0,)
    tables = solution.tables
    deals = near_deals(Random(name), holds)
    corrected = 0
    for deal in deals:
        canonical, places = locate(tables.classes, deal[None])
        block = hold_block(tables, int(canonical[0]), int(canonical[0]) + 1)
        row = block.arrangements.member[0, arrangement_number(places)[0]]
        corrected += block.counts[:, row, 0].sum()
        where = np.argsort(ARRANGEMENTS[block.arrangements.first[row]])[places[0]]
        for mask in range(32):
            if mask.bit_count() < 3:
                continue
            final = plain_play.final_hands(52, deal, mask)
            expected = np.bincount(outcomes_of_52(holds, final), minlength=len(BASE) + 2)
            image = sum(1 << int(where[i]) for i in plain_play.PLACES[mask])
            assert block.counts[image, row].tolist() == expected.tolist()
    assert corrected


def test_deals_in_order_of_52_cards():
    formula, _ = GAMES["straight in order"]
    solution = solve(Rules(Deck(), (), (Win("win", formula), *BASE)))
    # Ten windows, any suits.
    assert (solution.deals[0].including, solution.deals[0].excluding) == (10 * 4**5, 10 * 4**5)
    assert solution.deals[1].excluding == 120 * 40 - 40
    assert solution.deals[4].excluding == 120 * (10 * 4**5 - 40) - (10 * 4**5 - 40)


# --- faults -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deck", [Deck(decks=2), Deck(jokers=2), Deck(extra=("A*", "A*"))])
def test_alike_cards_cannot_be_told_apart(deck):
    rules = Rules(deck, (), (Win("first", "same(C1F){A}"), Win("pair", PAIR)))
    with pytest.raises(Faults, match=r"'first' depends on the order of the cards; .* must not have alike cards"):
        solve(rules)
    classes = canonical_classes(deck, ((0, 1, 2, 3),))
    base = np.zeros(len(classes.weights), np.uint8)
    with pytest.raises(ValueError, match="need a deck without alike cards"):
        prepare_ordered(classes, base, np.zeros((len(base), 120), np.uint8))


def test_a_bonus_must_not_depend_on_order():
    rules = Rules(Deck(), (), (Win("pair", PAIR),), (Win("ace first", "same(C1F){A}"),))
    with pytest.raises(
        Faults, match=r"'ace first' depends on the order of the cards; a bonus of the deal must not"
    ) as caught:
        solve(rules)
    assert caught.value.errors[0].where == "bonus[1].when"


def test_too_many_ways_to_depend_on_order():
    classes = canonical_classes(Deck(), ((0, 1, 2, 3),))
    base = np.zeros(len(classes.weights), np.uint8)
    rng = np.random.default_rng(7)
    outcomes = rng.integers(0, 3, (len(base), 120)).astype(np.uint8)
    outcomes[300:] = 0
    with pytest.raises(TooManyPatterns, match=r"the wins depend on order in \d+ ways, which is too many .* 52 cards"):
        prepare_ordered(classes, base, outcomes)


def test_arrangements_have_their_numbers():
    assert arrangement_number(ARRANGEMENTS).tolist() == list(range(120))
    assert [tuple(row) for row in ARRANGEMENTS.tolist()] == list(permutations(range(5)))


def test_equal_signatures_of_different_corrections_are_noticed(monkeypatch):
    from evaluator import ordered

    solution = solve(Rules(DECKS[0], (), (Win("win", "same(C1F){2}"),)))
    monkeypatch.setattr(ordered, "_odd_numbers", lambda count: np.zeros(count, np.uint64))
    with pytest.raises(ArithmeticError, match="different corrections have the same signature"):
        corrections(solution.tables.ordered, DECKS[0], solution.tables.classes.hands[5])


def test_counts_that_do_not_add_up_are_noticed():
    solution = solve(Rules(DECKS[0], (), (Win("win", "same(C1F){2}"), Win("pair", PAIR))))
    changed = solution.tables.ordered
    broken = replace(changed, keeping=tuple(table * 1000 for table in changed.keeping))
    with pytest.raises(ArithmeticError, match="holding"):
        hold_block(replace(solution.tables, ordered=broken), 0, 50)
