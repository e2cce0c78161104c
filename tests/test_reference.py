"""The oracles themselves: counts add up, and small cases agree with arithmetic done by hand."""

import json
from collections import Counter
from fractions import Fraction
from itertools import combinations
from math import comb
from pathlib import Path

import pytest

from tests.reference import (
    JOKER,
    RANKING,
    PlainCard,
    all_deals,
    best_holds,
    choices,
    classify_plain,
    classify_wild,
    draws,
    expected_value,
    hold_counts,
    payback,
    plain_deck,
)

GOLDEN = json.loads((Path(__file__).parent / "golden" / "published.json").read_text())

#: Eleven cards of two suits; the same with a joker; two copies of six cards.
ONE = [(face, suit) for face in "9TJQK" for suit in "hs"] + [("A", "s")]
WITH_JOKER = [*ONE[:9], JOKER, JOKER]
TWO = [(face, suit) for face in "JQK" for suit in "hs" for _ in range(2)]
DECKS = pytest.mark.parametrize("deck", [ONE, WITH_JOKER, TWO], ids=["one deck", "two jokers", "two decks"])


def cards(text: str) -> list[PlainCard]:
    return [JOKER if word == "joker" else (word[0], word[1]) for word in text.split()]


def kings(hand: tuple[PlainCard, ...]) -> int:
    return sum(face == "K" for face, _ in hand)


@pytest.mark.parametrize(
    ("text", "win"),
    [
        ("As Ks Qs Js Ts", "natural royal flush"),
        ("As 2s 3s 4s 5s", "straight flush"),
        ("9h Th Jh Qh Kh", "straight flush"),
        ("As Ah Ac Ad A*", "five of a kind"),
        ("7s 7h 7c 7d 2s", "four of a kind"),
        ("7s 7h 7c 2d 2s", "full house"),
        ("2s 9s Js Qs As", "flush"),
        ("2s 9s Js Qs A*", "nothing"),
        ("Th Js Qd Kc A*", "straight"),
        ("A* 2s 3s 4s 5s", "straight"),
        ("Qs Ks As 2s 3h", "nothing"),
        ("7s 7h 7c 3d 2s", "three of a kind"),
        ("7s 7h 3c 3d 2s", "two pair"),
        ("Js Jh 3c 4d 2s", "jacks or better"),
        ("Ts Th 3c 4d 2s", "nothing"),
        ("7s 8h 3c 4d 2s", "nothing"),
    ],
)
def test_the_rule_book(text: str, win: str) -> None:
    assert classify_plain(cards(text)) == win
    assert classify_plain(cards(text)[::-1]) == win


@pytest.mark.parametrize(
    ("text", "win"),
    [
        ("As Ks Qs Js Ts", "natural royal flush"),
        ("As Ks Qs 2h 2c", "wild royal flush"),
        ("9h 9s 9d 2c 2d", "five of a kind"),
        ("9h Th 2h Jh Kh", "straight flush"),
        ("9h Ts 9d 2c 2d", "four of a kind"),
        ("9h 9s Td Tc 2d", "full house"),
        ("9h 3h 2d Th Kh", "flush"),
        ("Ah 3c 4d 5h 2d", "straight"),
        ("Ah 4c 5d 3h 6d", "nothing"),
        ("Ah 3c 2d 4h 6d", "jacks or better"),
        ("9h 9s 2d Th Kh", "three of a kind"),
        ("9h joker Jh Qh Kh", "straight flush"),
        ("Kh joker 3c 8d 9s", "jacks or better"),
    ],
)
def test_wild_cards_make_the_highest_win(text: str, win: str) -> None:
    assert classify_wild(cards(text), lambda card: card[0] in ("2", "joker")) == win


@pytest.mark.slow
def test_the_rule_book_gives_the_published_deal_counts() -> None:
    counts = Counter(classify_plain(hand) for hand in combinations(plain_deck(), 5))
    published = next(record for record in GOLDEN if record["id"] == "t024")["rows"]
    expected = [row["deal_combinations"] for row in published]
    names = [name for name in RANKING if name not in ("wild royal flush", "five of a kind")]
    assert [counts[name] for name in names] == expected


@DECKS
def test_choices_are_the_physical_combinations(deck: list[PlainCard]) -> None:
    order = list(dict.fromkeys(deck))
    for k in range(6):
        physical = Counter(tuple(sorted(taken, key=order.index)) for taken in combinations(deck, k))
        assert dict(choices(deck, k)) == physical
        assert sum(physical.values()) == comb(len(deck), k)


@DECKS
def test_draws_add_up_and_never_use_a_dealt_card(deck: list[PlainCard]) -> None:
    for deal, _ in list(all_deals(deck))[::29]:
        for mask in range(32):
            k = 5 - mask.bit_count()
            final = list(draws(deck, deal, mask))
            assert sum(ways for _, ways in final) == comb(len(deck) - 5, k)
            assert len({hand for hand, _ in final}) == len(final)
            kept = Counter(card for i, card in enumerate(deal) if mask >> i & 1)
            stock = Counter(deck) - Counter(deal)
            assert all(Counter(hand) - kept <= stock and kept <= Counter(hand) for hand, _ in final)


@DECKS
def test_counts_of_all_deals_and_draws_add_up_to_the_plain_hands(deck: list[PlainCard]) -> None:
    """Whoever discards everything, or nothing, ends with every hand equally often."""
    everything: Counter[object] = Counter()
    nothing: Counter[object] = Counter()
    for deal, weight in all_deals(deck):
        nothing[kings(deal)] += weight
        for hand, ways in draws(deck, deal, 0):
            everything[kings(hand)] += weight * ways
    assert everything == Counter({n: times * comb(len(deck) - 5, 5) for n, times in nothing.items()})


def test_a_hold_worked_by_hand() -> None:
    """Two kings of the eleven cards; holding one and discarding the other leaves none to draw."""
    deal = tuple(cards("9h Th Jh Kh Ks"))
    counts = hold_counts(ONE, kings, deal)
    assert counts[0b11111] == {2: 1}
    assert counts[0b01111] == {1: 6}
    assert counts[0b11000] == {2: 20}
    assert counts[0b00000] == {0: 6}
    assert best_holds(ONE, kings, {2: 1}, deal) == (1, list(range(24, 32)))


def test_another_copy_of_a_discard_can_be_drawn() -> None:
    deal = tuple(cards("Jh Jh Kh Ks Qh"))
    counts = hold_counts(TWO, kings, deal)
    assert counts[0b11011] == {1: 5, 2: 2}
    assert expected_value(counts[0b11011], {1: 1, 2: Fraction(9, 2)}) == 2


def test_payback_of_a_guaranteed_pay_and_of_kings() -> None:
    ten = ONE[:10]
    assert payback(ten, lambda hand: "any", {"any": Fraction(6, 5)}) == Fraction(6, 5)
    # Two kings in ten cards: 56 deals have both, 140 one, 56 none. Holding the single king and no other card wins the
    # second king in 4 of 5 draws of four cards; without a king all five cards of the stock come, both kings among them.
    assert payback(ten, kings, {2: 1}) == Fraction(56 + 140 * Fraction(4, 5) + 56, 252)
