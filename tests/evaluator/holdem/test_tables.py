"""Tables over all holes of a board: reference rows, the direct count of one hand, symmetry and invariants."""

import json
from itertools import permutations
from math import comb
from pathlib import Path

import numpy as np
import pytest

from evaluator.holdem.lookahead import beaten, dense, look_ahead
from evaluator.holdem.ranks import HOLE_CARDS, board_ranks, hole_index
from evaluator.holdem.starting import PAIRS, hole_classes, starting_hands, starting_sums
from evaluator.holdem.strength import strength
from evaluator.holdem.tables import (
    Street,
    board_classes,
    canonical_boards,
    mean_square,
    potential,
    rows_of,
    share_now,
)
from tests.evaluator.holdem.slow_poker import cards, counts

GOLDEN = Path(__file__).parents[2] / "golden/holdem"
SAMPLE = json.loads((GOLDEN / "flop_sample.json").read_text(encoding="utf-8"))
STARTING = json.loads((GOLDEN / "preflop169.json").read_text(encoding="utf-8"))
KINDS = {  # boards that differ in what the suits can do
    Street.FLOP: ("2c3d4h", "5c5d9c", "9c9d9h", "2cJcAc", "6cTcQd", "7cTdJh"),
    Street.TURN: ("2c3d4h5s", "2c3c4d5d", "TcJcQcKc", "8c8d8h8s", "7c7dQcQd", "4c9d9hAc"),
    Street.RIVER: ("2c3d4h5s6c", "TcJcQcKcAc", "8c8d8h8sAc", "2c5c9cJdKd", "3c3d7h7sTc"),
}


def some_boards(street, number, seed):
    boards = canonical_boards(street)
    return boards[np.sort(np.random.default_rng(seed).choice(len(boards), number, replace=False))]


# --- reference values -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [pytest.param(SAMPLE[i::10], marks=[pytest.mark.slow] if i > 2 else [], id=str(i)) for i in range(10)],
)
def test_flops_of_the_reference(rows):
    for row in rows:
        hole = hole_index()[cards(row["hole"])]
        flop = cards(row["flop"])
        two, one = (look_ahead(flop, look, np.array([hole])) for look in (2, 1))
        assert two.now[0].tolist() == one.now[0].tolist() == row["ahead_tied_behind"]
        assert two.pairs[0].tolist() == row["HP2"]
        assert one.pairs[0].tolist() == row["HP1"]
        assert two.squares[0] == row["sum_sq"]
        assert mean_square(Street.FLOP, two.squares)[0] == pytest.approx(row["E_HS2_river"], abs=1e-15)


def test_rows_of_the_reference():
    """Where the rows of the sample are in the table."""
    boards = canonical_boards(Street.FLOP)
    board, hole, weight = board_classes(boards)
    for row in SAMPLE:
        at = row["index"]
        assert boards[board[at]].tolist() == list(cards(row["flop"]))
        assert HOLE_CARDS[hole[at]].tolist() == list(cards(row["hole"]))
        assert weight[at] == row["weight"]


# --- the same as one hand at a time -----------------------------------------------------------------------------------


@pytest.mark.parametrize("street", KINDS)
@pytest.mark.parametrize("number", range(5))
def test_rows_as_the_direct_count(street, number):
    board = cards(KINDS[street][number])
    rows = rows_of(street, np.array([board], np.uint8))
    for i in np.random.default_rng(number).choice(len(rows.weights), 12, replace=False):
        hole = tuple(map(int, rows.holes[i]))
        for look in street.looks or (0,):
            found = strength(hole, board, look)
            assert rows.now[i].tolist() == list(found.now)
            if look:
                assert rows.pairs[look][i].tolist() == list(map(list, found.pairs))


def test_squares_as_the_sum_over_rivers():
    board = cards("2c3c4d5d")
    rows = rows_of(Street.TURN, np.array([board], np.uint8))
    for i in (0, 100, 200):
        hole = tuple(map(int, rows.holes[i]))
        rivers = [(*board, c) for c in range(52) if c not in (*board, *hole)]
        scores = [2 * found.now[0] + found.now[1] for found in (strength(hole, river) for river in rivers)]
        assert rows.squares[i] == sum(score**2 for score in scores)


def test_a_board_of_any_suits_gives_the_same():
    """Renaming the suits moves the counts and changes none."""
    board = cards("6cTcQd")
    holes = np.flatnonzero(board_ranks(np.array([board]))[0])
    first = look_ahead(board, 1, holes)
    for order in list(permutations(range(4)))[1::5]:
        moved = tuple(c - c % 4 + order[c % 4] for c in board)
        image = HOLE_CARDS[holes].astype(int)
        image = image - image % 4 + np.array(order)[image % 4]
        again = look_ahead(moved, 1, hole_index()[image[:, 0], image[:, 1]].astype(np.intp))
        assert (again.pairs == first.pairs).all()


def test_slow_count_of_a_river():
    board = cards("2c5c9cJdKd")
    rows = rows_of(Street.RIVER, np.array([board], np.uint8))
    for i in (3, 333):
        assert tuple(rows.now[i]) == counts(tuple(map(int, rows.holes[i])), board, 0)[0]


def test_beaten_is_independent_of_the_other_boards():
    boards = some_boards(Street.RIVER, 5, 1)
    behind, tied = beaten(dense(board_ranks(boards)))
    for i in range(5):
        alone = beaten(dense(board_ranks(boards[i : i + 1])))
        assert (behind[i] == alone[0][0]).all()
        assert (tied[i] == alone[1][0]).all()


# --- classes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("street", [Street.FLOP, Street.TURN, pytest.param(Street.RIVER, marks=pytest.mark.slow)])
def test_rows_and_weights(street):
    boards = canonical_boards(street)
    assert len(boards) == street.boards
    rows = deals = 0
    for start in range(0, len(boards), 256):
        _, hole, weight = board_classes(boards[start : start + 256])
        rows += len(hole)
        deals += int(weight.sum())
    assert (rows, deals) == (street.rows, street.deals)


@pytest.mark.parametrize("street", KINDS)
def test_canonical_boards_and_holes_by_going_through_all_permutations(street):
    renamings = list(permutations(range(4)))
    for board in some_boards(street, 12, 3):
        images = {tuple(sorted(c - c % 4 + r[c % 4] for c in board.tolist())) for r in renamings}
        assert min(images) == tuple(board.tolist())
        fixing = [r for r in renamings if sorted(c - c % 4 + r[c % 4] for c in board.tolist()) == board.tolist()]
        orbits = {}
        for hole in HOLE_CARDS.tolist():
            if not set(hole) & set(board.tolist()):
                least = min(tuple(sorted(c - c % 4 + r[c % 4] for c in hole)) for r in fixing)
                orbits[least] = orbits.get(least, 0) + len(images)
        _, hole, weight = board_classes(board[None])
        assert dict(zip(map(tuple, HOLE_CARDS[hole].tolist()), weight.tolist(), strict=True)) == orbits
        assert sorted(orbits) == list(map(tuple, HOLE_CARDS[hole].tolist()))


# --- invariants -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("street", "number"), [(Street.FLOP, 6), (Street.TURN, 20), (Street.RIVER, 200)])
def test_invariants(street, number):
    rows = rows_of(street, some_boards(street, number, 5))
    opponents = comb(52 - street.value - 2, 2)
    assert (rows.now.sum(axis=1) == opponents).all()
    weight = rows.weights.astype(np.int64)
    total = weight @ rows.now
    assert total[0] == total[2]
    hs = share_now(rows.now)
    assert weight @ hs / weight.sum() == pytest.approx(0.5, abs=1e-12)
    for look, pairs in rows.pairs.items():
        runs = comb(52 - street.value - 4, look)
        assert (pairs >= 0).all()
        assert (pairs.sum(axis=2) == runs * rows.now).all()
        totals = np.tensordot(weight, pairs.astype(np.int64), 1)
        assert (totals == totals[::-1, ::-1]).all()
        ppot, npot, ehs = potential(rows.now, pairs)
        columns = pairs.sum(axis=1)
        equity = (columns[:, 0] + columns[:, 1] / 2) / columns.sum(axis=1)
        assert np.abs(ehs - equity).max() < 1e-12
        assert weight @ ehs / weight.sum() == pytest.approx(0.5, abs=1e-12)
        assert ((ppot >= 0) & (ppot <= 1) & (npot >= 0) & (npot <= 1)).all()
    if street.looks:
        mean = mean_square(street, rows.squares)
        ehs = potential(rows.now, rows.pairs[street.looks[0]])[2]
        assert (mean >= ehs**2 - 1e-12).all()  # the variance of HS at the river is not below 0
        assert (mean <= ehs + 1e-12).all()


def test_before_the_flop_there_is_one_board():
    _, hole, weight = board_classes(canonical_boards(Street.PREFLOP))
    assert (len(hole), weight.sum(), sorted(set(weight.tolist()))) == (169, 1326, [4, 6, 12])
    assert len(set(hole_classes()[hole].tolist())) == 169


def test_dense_keeps_the_order():
    ranks = board_ranks(some_boards(Street.RIVER, 40, 9))
    small = dense(ranks).astype(int)
    assert small.max() < 255
    for row, places in zip(ranks, small, strict=True):
        values = np.unique(row[row > 0])
        assert (places[row > 0] == np.searchsorted(values, row[row > 0]) + 1).all()
        assert (places[row == 0] == 0).all()


# --- starting hands ---------------------------------------------------------------------------------------------------


def test_starting_sums_add_up():
    whole = starting_sums(0, 100)
    assert (whole == starting_sums(0, 37) + starting_sums(37, 100)).all()
    assert np.bincount(hole_classes()).reshape(13, 13).diagonal().tolist() == [6] * 13


@pytest.mark.slow
def test_starting_hands():
    hands = {hand.name: hand for hand in starting_hands(starting_sums())}
    assert len(hands) == 169
    assert set(hands) > set(STARTING)
    for name, row in STARTING.items():
        hand = hands[name]
        assert (hand.holes, hand.won, hand.tied, PAIRS) == (row["combos"], row["win"], row["tie"], row["total"])
        assert float(hand.equity) == pytest.approx(row["equity"], abs=1e-14)
        assert float(hand.hs_squared) == pytest.approx(row["EHS2river"], abs=1e-14)
    assert sum(hand.holes * hand.equity for hand in hands.values()) == 1326 / 2
