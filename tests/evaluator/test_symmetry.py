"""Classes against every permutation of every hand, Burnside against enumeration, and maps against renaming."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator import symmetry
from evaluator.cards import Deck
from evaluator.symmetry import (
    ProofError,
    TooManyClasses,
    canonical_classes,
    copies_left,
    count_classes,
    locate,
    subset_rows,
)
from tests.evaluator.small_games import ALL_FOUR, SmallGame, small_games

few = settings(max_examples=25, deadline=None)
EVERY_SUIT_FOR_ITSELF = ((0,), (1,), (2,), (3,))


@pytest.mark.parametrize(
    ("deck", "components", "counts"),
    [
        (Deck(), ALL_FOUR, [1, 13, 169, 1755, 16432, 134459]),
        (Deck(jokers=1), ALL_FOUR, [1, 14, 182, 1924, 18187, 150891]),
        (Deck(jokers=2), ALL_FOUR, [1, 14, 183, 1937, 18356, 152646]),
        (Deck(), EVERY_SUIT_FOR_ITSELF, [comb(52, k) for k in range(6)]),
    ],
)
def test_published_numbers_of_classes(deck, components, counts):
    assert [count_classes(deck, components, k) for k in range(6)] == counts


@pytest.mark.parametrize(
    "game",
    [
        SmallGame(Deck(), ALL_FOUR),
        SmallGame(Deck(jokers=2), ((0, 1), (2, 3))),
        SmallGame(Deck(decks=2, jokers=2, extra=("A*", "A*", "2*")), ALL_FOUR),
        SmallGame(Deck(decks=6), ALL_FOUR),
        SmallGame(Deck(faces=tuple("23456789TJQKA"), suits=tuple("cdhsvwxy")), (tuple(range(8)),)),
    ],
    ids=["52 cards", "two pairs of suits", "two decks and odd cards", "six decks", "eight suits"],
)
def test_rows_ascend_and_weights_count_every_deal(game):
    classes = canonical_classes(game.deck, game.components)
    for k, hands in enumerate(classes.hands):
        assert hands.shape == (count_classes(game.deck, game.components, k), k)
        assert (np.diff(hands.astype(int), axis=1) >= 0).all()
        key = hands.astype(np.int64) @ (game.deck.kinds ** np.arange(k, dtype=np.int64)[::-1])
        assert (np.diff(key) > 0).all()
    assert int(classes.weights.sum()) == comb(game.deck.size, 5)
    assert classes.weights.min() > 0


@few
@given(small_games())
def test_classes_are_the_least_of_all_renamings(game):
    classes = canonical_classes(game.deck, game.components)
    for k in range(6):
        expected = game.classes_of(k)
        assert list(map(tuple, classes.hands[k].tolist())) == sorted(expected)
        assert count_classes(game.deck, game.components, k) == len(expected)
    assert classes.weights.tolist() == [expected[hand] for hand in sorted(expected)]


@few
@given(small_games())
def test_a_card_more_leads_to_the_renamed_hand(game):
    classes = canonical_classes(game.deck, game.components)
    for k in range(5):
        left = copies_left(game.deck, classes.hands[k])
        assert ((classes.child[k] < 0) == (left == 0)).all()
        row, card = np.nonzero(left)
        hands = np.column_stack([classes.hands[k][row], card])
        renamed = np.take_along_axis(classes.relabel[classes.turn[k][row, card]], hands.astype(int), axis=1)
        assert (np.sort(renamed, axis=1) == classes.hands[k + 1][classes.child[k][row, card]]).all()
    assert sorted(classes.relabel[0]) == list(range(game.deck.kinds))
    group = game.renamings()
    assert all(renaming in group for renaming in classes.relabel.tolist())


@few
@given(small_games(), st.randoms(use_true_random=False))
def test_deals_and_their_subsets_are_found(game, rng):
    classes = canonical_classes(game.deck, game.components)
    deals = np.array([rng.sample(game.cards, 5) for _ in range(50)])
    rows, places = locate(classes, deals)
    assert (classes.hands[5][rows] == game.canonical(deals)).all()
    assert (np.sort(places, axis=1) == np.arange(5)).all()
    goals = np.take_along_axis(classes.hands[5][rows].astype(int), places.astype(int), axis=1).tolist()
    group = np.array(game.renamings())
    for deal, goal in zip(deals, goals, strict=True):  # one renaming takes the whole deal to its places
        assert (group[:, deal] == goal).all(axis=1).any()
    hands = np.sort(deals, axis=1)
    found = subset_rows(classes, hands)
    for mask in range(32):
        cards = hands[:, [i for i in range(5) if mask >> i & 1]]
        assert (classes.hands[cards.shape[1]][found[mask]] == game.canonical(cards)).all()


def test_canonical_hands_are_found_at_their_own_places():
    classes = canonical_classes(Deck(), ALL_FOUR)
    rows, places = locate(classes, classes.hands[5])
    assert (rows == np.arange(len(rows))).all()
    assert (places == np.arange(5)).all()
    assert (subset_rows(classes, classes.hands[5])[31] == rows).all()


def test_a_deal_with_a_card_too_often_is_named():
    classes = canonical_classes(Deck(), ALL_FOUR)
    with pytest.raises(ValueError, match="2c 3c 2c 4c 5c: more of a card than the deck has"):
        locate(classes, np.array([[0, 1, 2, 3, 4], [0, 4, 0, 8, 12]]))
    with pytest.raises(ValueError, match="from 0 to 51, found 0 to 52"):
        locate(classes, np.array([[0, 1, 2, 3, 52]]))


def test_too_many_classes_are_refused_with_the_number():
    deck = Deck(faces=tuple("23456789TJQKA"), suits=tuple("cdhsvwxy"))
    with pytest.raises(TooManyClasses, match="91,962,520 canonical hands are more than the 20,000,000"):
        canonical_classes(deck, tuple((suit,) for suit in range(8)))


@pytest.mark.parametrize("components", [((0, 1, 2),), ((0, 1), (1, 2, 3)), ((1, 0), (2, 3)), ((0, 1, 2, 3, 4),)])
def test_components_are_a_partition_of_the_suits(components):
    with pytest.raises(ValueError, match="is not a partition of the suits 0 … 3"):
        canonical_classes(Deck(), components)


def test_numbers_that_disagree_are_shown(monkeypatch):
    monkeypatch.setattr(symmetry, "_weights", lambda deck, components, hands: np.ones(len(hands), np.int64))
    with pytest.raises(ProofError, match=r"the weights sum to 134459; C\(52,5\) is 2598960"):
        canonical_classes.__wrapped__(Deck(), ALL_FOUR)  # not what was kept of it
    monkeypatch.setattr(symmetry, "_fixed_hands", lambda cycles, cards: 24)
    with pytest.raises(ProofError, match="13 canonical hands of 1 cards; Burnside: 24"):
        canonical_classes.__wrapped__(Deck(), ALL_FOUR)  # not what was kept of it
