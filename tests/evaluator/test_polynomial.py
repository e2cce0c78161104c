"""Chromatic polynomials against adding up every assignment, every hand and every draw."""

from collections import Counter
from functools import cache
from itertools import combinations, permutations
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.cards import Deck
from evaluator.classify import all_hands
from evaluator.expression import Pool, evaluate, expand
from evaluator.polynomial import (
    ALL,
    ONE,
    Polynomial,
    TooManyTerms,
    as_polynomial,
    check,
    complete,
    count,
    deals,
    delta,
    delta_term,
    domain_sizes,
    hand,
    rename,
    same,
    symbolic_count,
)

some = settings(max_examples=60, deadline=None)
few = settings(max_examples=25, deadline=None)

#: Ten or eleven physical cards each, so that every assignment and every ordered hand can be tried.
PLAIN = Deck(faces=tuple("23456"), suits=tuple("cd"))
ONE_SUIT = Deck(faces=tuple("23456789TJ"), suits=("c",))
JOKER = Deck(faces=tuple("23456"), suits=tuple("cd"), jokers=1)
TWO_DECKS = Deck(faces=tuple("234"), suits=tuple("cd"), decks=2)
ODD_CARDS = Deck(faces=tuple("234"), suits=tuple("cd"), decks=1, jokers=2, extra=("4*", "4*", "2*"))
SMALL = [PLAIN, ONE_SUIT, JOKER, TWO_DECKS, ODD_CARDS]
IDS = ["plain", "one suit", "joker", "two decks", "odd cards"]

cards = st.lists(st.integers(0, 4), min_size=1, max_size=5, unique=True).map(tuple)
deltas = st.tuples(st.sampled_from("FS"), cards, st.just(ALL) | st.integers(1, 7))
#: Sums of products of deltas, as the numbers that they are made of.
written = st.lists(st.tuples(st.integers(-3, 3), st.lists(deltas, max_size=3)), max_size=4)
with_copies = st.lists(
    st.tuples(st.integers(-3, 3), st.lists(deltas | st.tuples(st.just("D"), cards, st.just(ALL)), max_size=3)),
    max_size=4,
)


def polynomial(products) -> Polynomial:
    total = as_polynomial(0)
    for coefficient, factors in products:
        product = as_polynomial(coefficient)
        for kind, places, values in factors:
            product = product * delta(kind, places, values)
        total = total + product
    return total


def value(products, vertices):
    """The same by its meaning; `vertices` maps a kind to (5, n) values."""
    total = np.zeros(vertices["F"].shape[1], dtype=np.int64)
    for coefficient, factors in products:
        product = np.full_like(total, coefficient)
        for kind, places, values in factors:
            rows = vertices[kind][list(places)]
            product *= (rows == rows[0]).all(axis=0)
            if values != ALL:
                product *= values >> rows[0] & 1
        total += product
    return total


def within(products, deck):
    """The sets cut down to the values that the deck has, as the language does."""
    every = {kind: (1 << size) - 1 for kind, size in zip("FSD", domain_sizes(deck), strict=True)}
    return [(c, [(k, p, v if v == ALL else v & every[k]) for k, p, v in factors]) for c, factors in products]


def physical(deck: Deck) -> list[tuple[int, int]]:
    """Every physical card: its number and which copy it is."""
    return [(card, copy) for card in range(deck.kinds) for copy in range(deck.copies[card])]


def vertices_of(deck: Deck, hands) -> dict[str, np.ndarray]:
    """Faces, suits and copies of (n, 5) physical cards (or (n, 5, 2) pairs)."""
    pairs = np.array(hands, dtype=np.int64).reshape(-1, 5, 2)
    return {
        "F": deck.face_of[pairs[:, :, 0]].T.astype(np.int64),
        "S": deck.suit_of[pairs[:, :, 0]].T.astype(np.int64),
        "D": pairs[:, :, 1].T,
    }


@cache
def ordered_hands(deck: Deck) -> dict[str, np.ndarray]:
    """Every ordered hand of physical cards."""
    return vertices_of(deck, list(permutations(physical(deck), 5)))


# --- algebra ----------------------------------------------------------------------------------------------------------

polynomials = with_copies.map(polynomial)


@some
@given(polynomials, polynomials, polynomials)
def test_laws_of_the_algebra(p, q, r):
    assert p + q == q + p
    assert p * q == q * p
    assert (p + q) + r == p + (q + r)
    assert (p * q) * r == p * (q * r)
    assert p * (q + r) == p * q + p * r
    assert p - p == as_polynomial(0) == p * 0
    assert p * 1 == p == p + 0
    assert 0 - (0 - p) == p == (-p) * -1
    assert 1 - (1 - p) == p
    assert 2 * p == p + p
    assert 0 not in p.terms.values()


@some
@given(deltas, deltas)
def test_a_delta_is_idempotent_and_an_or_of_deltas_is_0_or_1(x, y):
    x, y = delta(*x), delta(*y)
    either = 1 - (1 - x) * (1 - y)
    assert x * x == x
    assert either * either == either


@some
@given(written, st.permutations(range(5)), st.permutations(range(5)))
def test_renaming_is_a_homomorphism(products, first, second):
    p = polynomial(products)
    assert rename(rename(p, first), second) == rename(p, [second[place] for place in first])
    assert rename(p * p, first) == rename(p, first) * rename(p, first)
    assert rename(p, range(5)) == p


@some
@given(polynomials, polynomials, st.integers(-5, 5))
def test_count_is_linear(p, q, factor):
    assert count(p + q * factor, ODD_CARDS) == count(p, ODD_CARDS) + factor * count(q, ODD_CARDS)


def test_an_empty_set_is_0_and_sets_intersect():
    assert delta("F", [0], 0) == as_polynomial(0)
    assert delta("F", [0], 0b011) * delta("F", [0], 0b110) == delta("F", [0], 0b010)
    assert delta("F", [0], 0b001) * delta("F", [0, 1]) * delta("F", [1], 0b110) == as_polynomial(0)
    assert delta("F", [0, 1]) * delta("F", [1, 2], 0b11) * delta("F", [3, 4]) == delta("F", [0, 1, 2], 0b11) * delta(
        "F", [4, 3]
    )


# --- count ------------------------------------------------------------------------------------------------------------


@few
@given(with_copies, st.sampled_from([PLAIN, ONE_SUIT, TWO_DECKS]))
def test_count_adds_up_every_assignment_of_a_deck(products, deck):
    faces, suits, copies = domain_sizes(deck)
    codes = np.indices([faces * suits * copies] * 5).reshape(5, -1)
    face, rest = np.divmod(codes, suits * copies)
    suit, copy = np.divmod(rest, copies)
    products = within(products, deck)
    assert count(polynomial(products), deck) == value(products, {"F": face, "S": suit, "D": copy}).sum()


def test_domains_count_the_joker_and_the_missing_suit():
    assert [domain_sizes(deck) for deck in SMALL] == [(5, 2, 1), (10, 1, 1), (6, 3, 1), (3, 2, 2), (4, 3, 2)]


# --- hands ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deck", [PLAIN, Deck(), TWO_DECKS, Deck(decks=6)], ids=str)
def test_hand_has_a_term_for_each_partition_of_five_cards(deck):
    assert len(hand(deck).terms) == 52
    assert Counter(hand(deck).terms.values()) == {1: 1 + 15, -1: 10, 2: 10, -2: 10, -6: 5, 24: 1}


@pytest.mark.parametrize(
    ("deck", "hands"),
    [
        (Deck(), 2_598_960),
        (Deck(decks=2), 91_962_520),
        (Deck(jokers=1), comb(53, 5)),
        (Deck(jokers=2), comb(54, 5)),
        (Deck(extra=("A*",)), comb(53, 5)),
        (Deck(decks=3, jokers=2, extra=("A*", "A*", "K*")), comb(161, 5)),
    ],
    ids=str,
)
def test_hand_counts_the_physical_deals(deck, hands):
    assert deck.hands == deals(as_polynomial(1), deck) == hands
    assert count(hand(deck), deck) == hands * factorial(5)


def test_hand_is_its_own_square_and_excludes_equal_cards():
    for deck in (PLAIN, ONE_SUIT, TWO_DECKS, JOKER):
        assert count(hand(deck) * hand(deck), deck) == count(hand(deck), deck)
        equal = delta("F", [0, 1]) * delta("S", [0, 1]) * delta("D", [0, 1])
        assert count(hand(deck) * equal, deck) == 0


@few
@given(with_copies, st.sampled_from(SMALL))
def test_hand_selects_the_ordered_hands(products, deck):
    products = within(products, deck)
    ordered = value(products, ordered_hands(deck))
    assert count(polynomial(products) * hand(deck), deck) == ordered.sum()


@few
@given(st.lists(deltas, min_size=1, max_size=2), st.sampled_from(SMALL))
def test_deals_of_what_does_not_depend_on_order(factors, deck):
    turned = [(1, [(k, [order[i] for i in p], v) for k, p, v in factors]) for order in permutations(range(5))]
    products = within(turned, deck)
    hands = list(combinations(physical(deck), 5))
    assert deals(polynomial(products), deck) == value(products, vertices_of(deck, hands)).sum()


def test_deals_refuses_what_depends_on_order():
    with pytest.raises(ValueError, match=r"no multiple of 5!.*depends on the order"):
        deals(delta("F", [0], 1) * delta("F", [1, 2]), PLAIN)


@few
@given(written, st.sampled_from(SMALL))
def test_check_is_the_value_on_every_hand(products, deck):
    hands = np.concatenate(list(all_hands(deck)))
    pairs = np.stack([hands, np.zeros_like(hands)], axis=-1)
    assert (check(polynomial(products), hands, deck) == value(products, vertices_of(deck, pairs))).all()


def test_check_refuses_copies():
    with pytest.raises(ValueError, match="copies"):
        check(delta("D", [0, 1]), np.zeros((1, 5), dtype=int), TWO_DECKS)


@few
@given(st.lists(st.lists(st.lists(deltas, min_size=1, max_size=2), min_size=1, max_size=3), min_size=1, max_size=3))
def test_expanding_an_expression_agrees_with_evaluating_it(parts):
    """A sum of products of alternatives and negations, through the pool and as a polynomial."""
    pool = Pool()
    alternatives = []
    for part in parts:
        terms = [pool.product(pool.term(delta_term(*factor)) for factor in factors) for factors in part]
        alternatives.append(pool.any([*terms[1:], pool.negate(terms[0])]))
    number = pool.sum({alternatives[0]: 2, pool.product(alternatives): -3}, 1)
    p = expand(pool, number)
    for deck in SMALL:
        hands = np.concatenate(list(all_hands(deck)))
        assert (evaluate(pool, [number], deck, hands)[0] == check(p, hands, deck)).all()


# --- symbolic counts --------------------------------------------------------------------------------------------------


@few
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.lists(st.tuples(st.sampled_from("FS"), cards), max_size=3)), max_size=3),
    st.booleans(),
    st.integers(1, 9),
    st.integers(1, 8),
)
def test_symbolic_counts_at_a_size_are_counts(products, several, faces, suits):
    p = polynomial([(c, [(kind, places, ALL) for kind, places in factors]) for c, factors in products])
    decks = -(-10 // (faces * suits)) + several
    deck = Deck(tuple("23456789T"[:faces]), tuple("cdhsvwxy"[:suits]), decks)
    whole = p * hand(deck)
    assert symbolic_count(whole).at(faces, suits, decks) == count(whole, deck)


def test_symbolic_counts_of_hands_are_falling_factorials():
    hands = symbolic_count(hand(Deck()))
    assert all(hands.at(f, s) == factorial(5) * comb(f * s, 5) for f in range(1, 20) for s in range(1, 9))
    physical_hands = symbolic_count(hand(Deck(decks=2)))
    assert physical_hands.at(13, 4, 6) == factorial(5) * comb(312, 5)
    assert str(symbolic_count(as_polynomial(0))) == "0"
    assert str(symbolic_count(as_polynomial(-1))) == "- f^5 s^5"


# --- complete ---------------------------------------------------------------------------------------------------------


@some
@given(st.data(), written, st.sampled_from(SMALL))
def test_complete_adds_up_every_draw(data, products, deck):
    everything = physical(deck)
    known = data.draw(st.lists(st.sampled_from(everything), unique=True, max_size=5))
    kept = data.draw(st.integers(max(0, len(known) - 5), len(known))) if known else 0
    places = sorted(data.draw(st.permutations(range(5)))[:kept])
    fixed = dict(zip(places, known[:kept], strict=True))
    stock = [card for card in everything if card not in known]
    open_places = [place for place in range(5) if place not in fixed]
    drawn = list(permutations(stock, len(open_places)))
    draws = np.array(drawn).reshape(len(drawn), len(open_places), 2)
    hands = np.zeros((len(draws), 5, 2), dtype=np.int64)
    hands[:, open_places] = draws
    hands[:, places] = [fixed[place] for place in places] or 0
    products = within(products, deck)
    expected = int(value(products, vertices_of(deck, hands)).sum())
    row = [fixed[place][0] if place in fixed else None for place in range(5)]
    assert complete(polynomial(products), deck, row, [card for card, _ in known[kept:]]) == expected


def test_complete_of_nothing_known_counts_the_ordered_hands():
    p = delta("F", [0, 1, 2, 3])
    for deck in SMALL:
        assert complete(p, deck, [None] * 5) == count(p * hand(deck), deck)


def test_complete_refuses_a_card_that_is_gone():
    with pytest.raises(ValueError, match="As is used 2 times, the deck has 1"):
        complete(as_polynomial(1), Deck(), [51, None, None, None, None], used=[51])
    with pytest.raises(ValueError, match="As is used 3 times, the deck has 2"):
        complete(as_polynomial(1), Deck(decks=2), [51, 51, None, None, None], used=[51])


def test_complete_counts_the_outs_of_a_textbook_draw():
    flush, deck = delta("S", range(5)), Deck()
    four_spades = [51, 47, 43, 3, None]
    assert complete(flush, deck, four_spades, used=[0]) == 9
    assert complete(flush, deck, four_spades, used=[7]) == 8
    assert complete(flush, deck, [51, None, None, None, None], used=[0, 5, 10, 18]) == 12 * 11 * 10 * 9


# --- sameness and limits ----------------------------------------------------------------------------------------------


@few
@given(written, written, st.sampled_from([PLAIN, ONE_SUIT, TWO_DECKS]))
def test_same_is_agreement_on_every_ordered_hand(first, second, deck):
    first, second, hands = within(first, deck), within(second, deck), ordered_hands(deck)
    agree = (value(first, hands) == value(second, hands)).all()
    assert same(polynomial(first), polynomial(second), deck) == agree


def test_forms_that_differ_can_be_the_same():
    everything = (1 << 13) - 1
    pair = delta("F", [0, 1])
    by_face = sum((delta("F", [0, 1], 1 << face) for face in range(13)), as_polynomial(0))
    assert pair != by_face
    assert same(pair, by_face, Deck())
    assert same(delta("F", [0], everything), as_polynomial(1), Deck())
    assert not same(delta("F", [0], everything), as_polynomial(1), Deck(jokers=1))
    assert same(delta("F", range(5)), as_polynomial(0), Deck())
    assert not same(delta("F", range(5)), as_polynomial(0), Deck(extra=("A*",)))
    assert not same(pair, delta("F", [0, 2]), Deck())


def test_too_many_terms_are_refused_before_they_are_made():
    many = Polynomial({delta_term("F", [0], bits): 1 for bits in range(1, 1501)})
    with pytest.raises(TooManyTerms, match="multiplying 1500 by 1500 terms"):
        many * many
    left, right = (Polynomial({delta_term("F", [card], bits): 1 for bits in range(1, 201)}) for card in (0, 1))
    with pytest.raises(TooManyTerms, match="40000 terms"):
        left * right
    pool = Pool()
    faces = [[pool.term(delta_term("F", [card], 1 << face)) for face in range(13)] for card in range(5)]
    wide = pool.product([pool.sum({face: 2 + i for i, face in enumerate(card)}) for card in faces])
    with pytest.raises(TooManyTerms):
        expand(pool, wide)


def test_constants():
    assert as_polynomial(0).terms == {}
    assert as_polynomial(7).terms == {ONE: 7}
    assert delta("F", [2]) == as_polynomial(1) == 1 + as_polynomial(0)
