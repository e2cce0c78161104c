"""Strength of one hand: published figures, reference values, brute force, ranges and bad input."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from evaluator.cards import CardError
from evaluator.holdem import omaha
from evaluator.holdem.omaha import TooManyPairs, omaha_strength
from evaluator.holdem.ranges import RangeError, parse_range
from evaluator.holdem.ranks import HOLE_CARDS, hole_index
from evaluator.holdem.strength import Strength, strength
from tests.evaluator.holdem.slow_poker import cards, counts, omaha_value

EXAMPLES = json.loads((Path(__file__).parents[2] / "golden/holdem/examples.json").read_text(encoding="utf-8"))


def deal(number, seed):
    rng = np.random.default_rng(seed)
    return tuple(map(int, rng.permutation(52)[:number]))


@pytest.mark.parametrize("row", EXAMPLES, ids=lambda row: f"{row['hole']}-{row['board']}")
def test_reference_values(row):
    hole, board = cards(row["hole"]), cards(row["board"])
    now = strength(hole, board)
    assert now.now == (row["ahead"], row["tied"], row["behind"])
    assert float(now.hs) == pytest.approx(row["HS"], abs=1e-15)
    assert now.pairs is None
    for look in (1, 2):
        if f"HP_look{look}" not in row:
            continue
        found = strength(hole, board, look)
        assert list(map(list, found.pairs)) == row[f"HP_look{look}"]
        for name, value in (
            ("EHS", found.ehs),
            ("EHSprime", found.ehs_prime()),
            ("PPOT", found.ppot),
            ("NPOT", found.npot),
        ):
            if row[f"{name}{look}"] is not None:  # 0/0
                assert float(value) == pytest.approx(row[f"{name}{look}"], abs=1e-14)
        assert found.ehs == found.equity


def test_published_figures():
    """Billings et al. 1998; Papp 1998, table 5.1 and section 5.3; Peña 1999."""
    two, one = (strength(cards("AdQc"), cards("3h4cJh"), look) for look in (2, 1))
    rounded = [round(float(x), 3) for x in (two.hs, two.hs_n(5), two.ppot, two.npot, one.ppot, one.npot)]
    assert rounded == [0.585, 0.069, 0.208, 0.274, 0.108, 0.145]
    assert two.pairs == ((449005, 3211, 169504), (0, 8370, 540), (91981, 1036, 346543))
    assert one.pairs == ((24126, 0, 4134), (0, 396, 9), (2186, 0, 17794))
    assert strength(cards("8d7d"), cards("9d6c2d")).now == (120, 9, 952)
    assert round(float(strength(cards("8d7d"), cards("9d6c2d")).hs), 3) == 0.115
    assert strength(cards("Ah8h"), cards("9h8c2c")).now == (903, 6, 172)


def test_the_common_mistakes_give_other_values():
    found = strength(cards("AdQc"), cards("3h4cJh"), 2)
    right = Fraction(2 * 91981 + 1036 + 0, 2 * 439560 + 8910)
    assert found.ppot == right
    assert float(right) == pytest.approx(0.2083240431)
    up = 91981 + Fraction(1036, 2)
    assert found.ppot not in (up / (439560 + 8910), up / 444, up / (Fraction(439560 + 8910, 2)))


@pytest.mark.parametrize(("size", "look", "seed"), [(5, 0, 1), (5, 0, 2), (4, 0, 3)])
def test_brute_force(size, look, seed):
    deck = deal(size + 2, seed)
    hole, board = deck[:2], deck[2:]
    found = strength(hole, board, look)
    assert found.now == counts(hole, board, look)[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 5])
def test_brute_force_on_the_turn(seed):
    deck = deal(6, seed)
    found = strength(deck[:2], deck[2:], 1)
    assert (found.now, found.pairs) == counts(deck[:2], deck[2:], 1)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("size", "look"), [(3, 1), (3, 2), (4, 1)])
def test_ehs_is_equity(size, look, seed):
    deck = deal(size + 2, seed)
    found = strength(deck[:2], deck[2:], look)
    assert found.ehs == found.equity
    assert sum(found.now) == (1081 if size == 3 else 1035)
    runs = {(3, 2): 990, (3, 1): 45, (4, 1): 44}[size, look]
    assert [sum(row) for row in found.pairs] == [runs * n for n in found.now]


def test_nothing_to_improve_is_no_division_by_zero():
    royal = strength(cards("AsKs"), cards("QsJsTs"), 2)
    assert (royal.now, royal.ppot, royal.npot, royal.ehs) == ((1081, 0, 0), 0, 0, 1)
    assert royal.ehs_prime(9) == 1


def test_several_opponents():
    found = strength(cards("AdQc"), cards("3h4cJh"), 2)
    assert found.hs_n(3) == found.hs**3
    assert found.ehs_prime(3) == found.hs**3 + (1 - found.hs**3) * found.ppot


def test_the_river_has_no_potential():
    found = strength(cards("AdQc"), cards("3h4cJh2dQs"))
    assert found.ehs == found.hs == found.equity == found.ehs_prime()
    with pytest.raises(ValueError, match="no potential"):
        _ = found.ppot


# --- ranges -----------------------------------------------------------------------------------------------------------


def test_a_range_weighs_opponents():
    hole, board = cards("AdQc"), cards("3h4cJh")
    uniform = strength(hole, board, 1)
    assert strength(hole, board, 1, [1] * 1326) == uniform
    assert strength(hole, board, 1, [Fraction(1, 3)] * 1326).ehs == uniform.ehs
    weights = np.random.default_rng(1).integers(0, 5, 1326).tolist()
    parts = [strength(hole, board, 1, [w if w == k else 0 for w in weights]) for k in range(1, 5)]
    whole = strength(hole, board, 1, weights)
    assert whole.now == tuple(sum(part.now[i] for part in parts) for i in range(3))
    assert whole.ehs == whole.equity


def test_a_range_of_one_hole():
    found = strength(cards("AdQc"), cards("3h4cJh"), 2, parse_range("KhKs"))
    assert found.now == (0, 0, 1)
    assert sum(map(sum, found.pairs)) == 990


@pytest.mark.parametrize(
    ("text", "holes"),
    [
        ("AA", 6),
        ("AKs", 4),
        ("AKo", 12),
        ("AK", 16),
        ("ka", 16),
        ("QQ+", 18),
        ("22+", 78),
        ("22-55", 24),
        ("55-22", 24),
        ("ATs+", 16),
        ("A2s+", 48),
        ("KTo-KQo", 36),
        ("AhKd", 1),
        ("10hKd", 1),
        ("1010-QQ,A10s+", 34),
        ("AA, KK  QQ", 18),
        ("AA:0.5", 3),
        ("72o:1/4", 3),
        ("AA,AhAd:0", 5),
    ],
)
def test_ranges(text, holes):
    assert sum(parse_range(text)) == holes


def test_classes_of_a_range_are_disjoint():
    whole = parse_range("AK")
    assert [a + b for a, b in zip(parse_range("AKs"), parse_range("AKo"), strict=True)] == whole
    assert {tuple(HOLE_CARDS[i]) for i, w in enumerate(parse_range("AhKd")) if w} == {tuple(sorted(cards("AhKd")))}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("XX", "'XX' is not a starting hand"),
        ("AAs", "a pair has two suits"),
        ("AK:x", "'x' is not a weight"),
        ("AK:1/0", "'1/0' is not a weight"),
        ("AK:-1", "cannot be below 0"),
        ("AhAh", "the same card twice"),
        ("22-AK", "both ends"),
        ("ATs-AKo", "both ends"),
        ("", "no hole has a weight"),
        ("AA:0", "no hole has a weight"),
    ],
)
def test_bad_ranges(text, message):
    with pytest.raises(RangeError, match=message):
        parse_range(text)


@pytest.mark.parametrize(
    ("hole", "board", "look", "error", "message"),
    [
        ("Ad", "3h4cJh", 0, CardError, "expected 2 hole cards, found 1"),
        ("AdQc", "3h4c", 0, CardError, "three, four or five cards, found 2"),
        ("AdQc", "3h4cAd", 0, CardError, "Ad: named twice"),
        ("AdQc", "3h4cJh2d", 2, ValueError, "cannot look 2 cards ahead"),
        ("AdQc", "3h4cJh", 3, ValueError, "cannot look 3 cards ahead"),
    ],
)
def test_bad_cards(hole, board, look, error, message):
    with pytest.raises(error, match=message):
        strength(cards(hole), cards(board), look)


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1] * 3, "expected 1326 weights"), ([-1] * 1326, "not below 0"), (parse_range("AdQc"), "no hole of the range")],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        strength(cards("AdQc"), cards("3h4cJh"), 0, weights)


def test_card_numbers():
    with pytest.raises(CardError, match="found 0 to 52"):
        strength((52, 0), (4, 8, 38))


# --- omaha ------------------------------------------------------------------------------------------------------------


def test_omaha_counts_every_opponent():
    flop = omaha_strength(cards("AhAdKsKh"), cards("3h4cJh"), 1)
    assert sum(flop.now) == 148995
    assert [sum(row) for row in flop.pairs] == [41 * n for n in flop.now]
    assert flop.ehs == flop.equity


def test_omaha_by_brute_force():
    hole, board = cards("8h7h6d5c"), cards("9h6sTd2h5h")
    assert omaha_strength(hole, board).now == counts(hole, board, 0, omaha_value)[0]


@pytest.mark.parametrize("count", [strength, omaha_strength], ids=["holdem", "omaha"])
def test_later_is_the_sum_over_the_rivers(count):
    hole, board = cards("8h7h" if count is strength else "8h7h6d5c"), cards("9h6sTd2h")
    pairs = count(hole, board, 1).pairs
    rivers = [count(hole, (*board, card)).now for card in range(52) if card not in hole + board]
    assert [sum(column) for column in zip(*pairs, strict=True)] == [sum(column) for column in zip(*rivers, strict=True)]


def test_omaha_refuses_what_is_too_large(monkeypatch):
    monkeypatch.setattr(omaha, "MOST_PAIRS", 10**8)
    with pytest.raises(TooManyPairs, match="122,175,900 pairs"):
        omaha_strength(cards("AhAdKsKh"), cards("3h4cJh"), 2)


def test_omaha_has_four_cards():
    with pytest.raises(CardError, match="expected 4 hole cards, found 2"):
        omaha_strength(cards("AdQc"), cards("3h4cJh"))


def test_counts_may_be_put_together_by_hand():
    assert Strength((1, 1, 2)).hs == Fraction(3, 8)
    assert int(hole_index()[0, 0]) == -1
