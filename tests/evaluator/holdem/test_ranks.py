"""Ranks of five to seven cards against a slow evaluator, and how many hands of each kind there are."""

from itertools import combinations
from math import comb

import numpy as np
import pytest

from evaluator.cards import Deck
from evaluator.holdem.omaha import pair_ranks
from evaluator.holdem.ranks import HOLE_CARDS, board_ranks, categories, hand_ranks, hole_index, holes_with
from evaluator.symmetry import canonical_classes
from tests.evaluator.holdem.slow_poker import omaha_value, value

FIVE = [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40]
SEVEN = [23294460, 58627800, 31433400, 6461620, 6180020, 4047644, 3473184, 224848, 41584]


def hands(number, size, seed=7):
    rng = np.random.default_rng(seed)
    return np.array([rng.permutation(52)[:size] for _ in range(number)])


def test_five_card_classes():
    classes = canonical_classes(Deck(), ((0, 1, 2, 3),))
    ranks = hand_ranks(classes.hands[5])
    assert np.unique(ranks).tolist() == list(range(1, 7463))
    assert np.bincount(categories(ranks), weights=classes.weights).astype(int).tolist() == FIVE


@pytest.mark.parametrize("size", [5, 6, 7])
def test_same_order_as_the_slow_evaluator(size):
    some = hands(1500, size)
    some = np.concatenate([some, some[:, ::-1]])
    values = [value(tuple(map(int, hand))) for hand in some]
    ranks = hand_ranks(some)
    place = {v: i for i, v in enumerate(sorted(set(values)))}
    assert np.unique(ranks, return_inverse=True)[1].tolist() == [place[v] for v in values]
    assert categories(ranks).tolist() == [v[0] for v in values]


@pytest.mark.parametrize("number", [1, 5, 60])  # few boards have no faces in common
@pytest.mark.parametrize("size", [3, 4, 5])
def test_boards_rank_all_holes_at_once(size, number):
    boards = hands(number, size)
    ranks = board_ranks(boards)
    for board, row in zip(boards, ranks, strict=True):
        shares = np.isin(HOLE_CARDS, board).any(axis=1)
        assert (row == 0).tolist() == shares.tolist()
        full = np.concatenate([HOLE_CARDS[~shares], np.tile(board, (comb(52 - size, 2), 1))], axis=1)
        assert (row[~shares] == hand_ranks(full)).all()


def test_holes():
    assert [tuple(hole) for hole in HOLE_CARDS.tolist()] == list(combinations(range(52), 2))
    low, high = HOLE_CARDS.T
    assert hole_index()[low, high].tolist() == hole_index()[high, low].tolist() == list(range(1326))
    for card in range(52):
        assert holes_with()[card].tolist() == [i for i, hole in enumerate(HOLE_CARDS.tolist()) if card in hole]


@pytest.mark.parametrize("size", [3, 4, 5])
def test_exactly_two_in_omaha(size):
    for cards in hands(12, size + 4, seed=11).tolist():
        hole, board = cards[:4], cards[4:]
        ranks = pair_ranks(np.array([board]))[0]
        best = max(ranks[hole_index()[pair]] for pair in combinations(hole, 2))
        category, _ = expected = omaha_value(tuple(hole), tuple(board))
        assert categories(np.array([best]))[0] == category
        other = tuple(c for c in range(52) if c not in cards)[:4]
        rival = max(ranks[hole_index()[pair]] for pair in combinations(other, 2))
        assert (best > rival, best == rival) == (
            expected > omaha_value(other, tuple(board)),
            expected == omaha_value(other, tuple(board)),
        )


@pytest.mark.parametrize(("function", "shape"), [(hand_ranks, (2, 4)), (hand_ranks, (7,)), (board_ranks, (1, 6))])
def test_wrong_shapes(function, shape):
    with pytest.raises(ValueError, match="found shape"):
        function(np.zeros(shape, int))


@pytest.mark.slow
def test_all_seven_card_hands():
    """133,784,560 hands: every one is counted C(7, 5) = 21 times, as a board and a hole."""
    classes = canonical_classes(Deck(), ((0, 1, 2, 3),))
    found = np.zeros(7463)
    for start in range(0, len(classes.weights), 256):
        block = slice(start, start + 256)
        ranks = board_ranks(classes.hands[5][block])
        found += np.bincount(ranks.ravel(), weights=np.repeat(classes.weights[block], ranks.shape[1]), minlength=7463)
    totals, rest = np.divmod(found[1:].astype(np.int64), 21)
    assert not rest.any()
    assert totals.sum() == comb(52, 7)
    assert (totals > 0).sum() == 4824
    kinds = categories(np.arange(1, 7463))
    assert [int(totals[kinds == kind].sum()) for kind in range(9)] == SEVEN
    assert totals[-1] == 4324
