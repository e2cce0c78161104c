"""The kernel against direct enumeration of every draw, ties, bounds, and what is checked at run time."""

from collections import Counter
from dataclasses import replace
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.cards import Deck
from evaluator.holds import (
    TIE_BREAKS,
    build_tables,
    choose,
    exact_type,
    hold_block,
    hold_values,
    lowest_hold,
    optimal_holds,
)
from evaluator.symmetry import ProofError, canonical_classes
from tests.evaluator.plain_classifier import NINE_SIX, jacks_or_better
from tests.evaluator.small_games import ALL_FOUR, random_outcomes, small_games
from tests.reference import hold_counts

few = settings(max_examples=12, deadline=None)


@pytest.fixture(scope="module")
def tables():
    classes = canonical_classes(Deck(), ALL_FOUR)
    return build_tables(classes, jacks_or_better(classes.hands[5]), wins=9)


@few
@given(small_games(most_cards=14), st.integers(1, 4), st.integers(0, 2**32))
def test_every_hold_of_every_hand_counts_every_draw(game, wins, seed):
    classes, outcomes, outcome_of = random_outcomes(game, wins, seed)
    table = build_tables(classes, outcomes, wins)
    block = hold_block(table, 0, len(outcomes))
    units = list(range(wins, -1, -1))
    values = hold_values(table, block, units)
    step = max(1, len(outcomes) // 30)
    for row in range(seed % step, len(outcomes), step):
        deal = tuple(classes.hands[5][row].tolist())
        for mask, counted in enumerate(hold_counts(game.cards, outcome_of.__getitem__, deal)):
            assert block.counts[mask, row].tolist() == [counted[i] for i in range(wins + 1)]
            won = sum(units[i] * n for i, n in counted.items())
            assert values[mask, row] * sum(counted.values()) == won * table.cycle_factor


@few
@given(small_games(most_cards=16), st.integers(0, 2**32))
def test_tables_count_the_hands_that_contain_some_cards(game, seed):
    classes, outcomes, _ = random_outcomes(game, 2, seed)
    table = build_tables(classes, outcomes, 2)
    total = [int(classes.weights[outcomes == i].sum()) for i in range(3)]
    assert table.counts[0].tolist() == [total]
    # Choosing five physical cards and k of them, or k and then the others, is the same.
    for k, counts in enumerate(table.counts):
        ways = np.array([number for _, number in sorted(game.classes_of(k).items())], dtype=object)
        assert (ways @ counts.astype(object) == np.array(total, dtype=object) * comb(5, k)).all()


def test_equal_cards_are_one_hold_shown_by_its_lowest_mask():
    classes = canonical_classes(Deck(decks=2), ALL_FOUR)
    tables = build_tables(classes, (np.arange(len(classes.weights)) % 3).astype(np.uint8), wins=2)
    block = hold_block(tables, 0, 3000)
    for row in range(0, 3000, 17):
        hand = classes.hands[5][row].tolist()
        lowest: dict[tuple[int, ...], int] = {}
        for mask in range(32):
            first = lowest.setdefault(tuple(card for i, card in enumerate(hand) if mask >> i & 1), mask)
            assert bool(block.repeats[row] >> mask & 1) == (first != mask)
            assert (block.counts[mask, row] == block.counts[first, row]).all()
    assert block.repeats.any()
    everything = np.uint32(2**32 - 1)
    same = optimal_holds(np.zeros((32, 3000), np.int64), block.repeats)
    assert (same == (everything & ~block.repeats)).all()


def test_blocks_do_not_depend_on_where_they_start(tables):
    whole = hold_block(tables, 1000, 9000)
    part = hold_block(tables, 5000, 5010)
    assert (part.counts == whole.counts[:, 4000:4010]).all()
    assert (part.rows == whole.rows[:, 4000:4010]).all()
    assert hold_block(tables, 134_450, 140_000).stop == 134_459
    assert hold_values(tables, hold_block(tables, 7, 7), NINE_SIX).shape == (32, 0)


def test_values_beyond_64_bits_are_python_integers(tables):
    block = hold_block(tables, 133_000, 133_200)
    values = hold_values(tables, block, NINE_SIX)
    large = hold_values(tables, block, [unit * 10**30 for unit in NINE_SIX])
    assert (values.dtype, large.dtype) == (np.int64, object)
    assert (large == values.astype(object) * 10**30).all()
    assert (optimal_holds(large, block.repeats) == optimal_holds(values, block.repeats)).all()
    most = (2**63 - 1) // tables.cycle_factor
    for unit, kind in ((most, np.int64), (most + 1, object)):
        edge = hold_values(tables, block, [unit] * 10)
        assert edge.dtype == kind
        assert (edge == unit * tables.cycle_factor).all()
    assert exact_type(tables.cycle) is np.int64


@given(
    st.lists(st.tuples(st.integers(1, 2**32 - 1), st.lists(st.integers(0, 3), min_size=32, max_size=32)), max_size=8)
)
def test_tie_rules(rows):
    optimal = np.array([bits for bits, _ in rows], np.uint32)
    squares = np.array([square for _, square in rows], np.int64).reshape(-1, 32).T
    masks = [[mask for mask in range(32) if bits >> mask & 1] for bits, _ in rows]
    assert lowest_hold(optimal).tolist() == [min(some) for some in masks]
    keys = (lambda square: 0, lambda square: square, lambda square: -square)
    for rule, key in zip(TIE_BREAKS, keys, strict=True):
        expected = [
            min(some, key=lambda mask: (key(row[1][mask]), mask)) for some, row in zip(masks, rows, strict=True)
        ]
        for kind in (np.int64, object):
            assert choose(optimal, squares.astype(kind), rule).tolist() == expected
    with pytest.raises(ValueError, match="'first' is none of lowest-mask, least-variance, most-variance"):
        choose(optimal, squares, "first")


def test_counts_that_do_not_add_up_name_the_hand_and_the_hold(tables):
    table = tables.counts[4].copy()
    cards = tables.classes.hands[4]
    row = int(np.flatnonzero((cards == [0, 4, 8, 12]).all(axis=1))[0])  # 2c 3c 4c 5c
    table[row, 0] += 1
    broken = replace(tables, counts=(*tables.counts[:4], table))
    hand = int(np.flatnonzero((tables.classes.hands[5] == [0, 4, 8, 12, 16]).all(axis=1))[0])
    with pytest.raises(ProofError, match=r"2c 3c 4c 5c 6c, holding .*: counts \[.*\] are not \d+ draws"):
        hold_block(broken, hand, hand + 1)


def test_outcomes_have_to_fit(tables):
    classes = tables.classes
    with pytest.raises(
        ValueError, match=r"expected 134459 outcomes from 0 to 8, at most 255 wins; found .* from 0 to 9"
    ):
        build_tables(classes, tables.outcomes, wins=8)
    with pytest.raises(ValueError, match=r"found \(10,\) from 0 to 9"):
        build_tables(classes, np.arange(10), wins=9)
    with pytest.raises(ValueError, match="expected units for 10 outcomes, found 9"):
        hold_values(tables, hold_block(tables, 0, 1), NINE_SIX[:9])


def test_deal_counts_of_jacks_or_better(tables):
    dealt = Counter(dict(enumerate(tables.counts[0][0].tolist())))
    assert list(dealt.values()) == [4, 36, 624, 3744, 5108, 10200, 54912, 123552, 337920, 2062860]
