"""Cards as text: what is written is read back, what cannot be read is told with its place."""

from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from evaluator.cards import (
    STANDARD_FACES,
    STANDARD_SUITS,
    CardError,
    Deck,
    format_cards,
    parse_cards,
    parse_hand,
)

many = settings(max_examples=60, deadline=None)
some_words = st.text("abcXYZ019", min_size=1, max_size=2)


@st.composite
def decks(draw: st.DrawFn, names: bool = False) -> Deck:
    """Any deck of standard faces and suits, or with `names` of faces and suits that are called anything."""
    if names:
        faces = tuple(draw(st.lists(some_words, min_size=5, max_size=12)))
        suits = tuple(draw(st.lists(some_words, min_size=1, max_size=8)))
    else:
        faces = tuple(sorted(draw(st.sets(st.sampled_from(STANDARD_FACES), min_size=5)), key=STANDARD_FACES.index))
        suits = tuple(draw(st.lists(st.sampled_from(STANDARD_SUITS), min_size=1, max_size=4, unique=True)))
    extra = tuple(draw(st.lists(st.sampled_from([face + "*" for face in faces]), max_size=4)))
    try:
        return Deck(faces, suits, draw(st.integers(1, 3)), draw(st.integers(0, 4)), extra)
    except CardError:
        assume(False)
        raise


@st.composite
def cards_of(draw: st.DrawFn, deck: Deck, most: int = 8) -> list[int]:
    """Some physical cards of a deck in any order."""
    physical = [card for card, copies in enumerate(deck.copies.tolist()) for _ in range(copies)]
    places = draw(st.lists(st.integers(0, len(physical) - 1), max_size=most, unique=True))
    return [physical[place] for place in places]


@many
@given(st.data(), st.booleans())
def test_what_is_formatted_is_parsed_back(data, names):
    deck = data.draw(decks(names=names))
    cards = data.draw(cards_of(deck))
    text = format_cards(deck, cards)
    assert parse_cards(deck, text) == tuple(cards)
    assert parse_cards(deck, text.upper()) == parse_cards(deck, text.lower()) == tuple(cards)


@many
@given(st.data())
def test_spaces_commas_case_and_symbols_do_not_matter(data):
    deck = data.draw(decks())
    cards = data.draw(cards_of(deck))
    spellings = {"T": ["T", "t", "10"], "c": ["c", "C", "♣"], "d": ["d", "♦"], "h": ["h", "♥"], "s": ["s", "S", "♠"]}
    text = ""
    for card in cards:
        name = deck.names[card]
        if name != "Joker" and name not in deck.extra:
            name = "".join(data.draw(st.sampled_from(spellings.get(letter, [letter]))) for letter in name)
        text += name + data.draw(st.sampled_from(["", " ", ",", ", ", "\t", "\n", " , "]))
    assert parse_cards(deck, text) == tuple(cards)


@many
@given(st.data(), st.text("AKsh2*♠ ,ﬁvecßİjoker10", max_size=12))
@example(data=None, text="ﬁve♥ x")
def test_any_text_is_cards_or_a_card_error(data, text):
    deck = Deck() if data is None else data.draw(decks())
    with suppress(CardError):
        cards = parse_cards(deck, text)
        assert parse_cards(deck, format_cards(deck, cards)) == cards


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("10h", ["Th"]),
        ("10H10d", ["Th", "Td"]),
        ("as kd, TD", ["As", "Kd", "Td"]),
        ("A♠K♥", ["As", "Kh"]),
        ("2c3d4h5s", ["2c", "3d", "4h", "5s"]),
        ("acespades kingh", ["As", "Kh"]),
        ("", []),
        (" , ", []),
    ],
)
def test_spellings(text, cards):
    assert format_cards(Deck(), parse_cards(Deck(), text)).split() == cards


@pytest.mark.parametrize(
    ("deck", "text", "message"),
    [
        (Deck(), "As Kx", "'As Kx', character 4: 'Kx' is not a card of this deck (2c … As); write cards like 'As' or"),
        (Deck(), "AsKdx", "character 5: 'x' is not"),
        (Deck(), "1h", "'1h' is not a card"),
        (Deck(), "Joker", "'Joker' is not a card of this deck (2c … As)"),
        (Deck(), "A*", "'A*' is not a card"),
        (Deck(jokers=1), "Jok", "(2c … Joker)"),
        (Deck(), "As 2c as", "As is named 2 times, the deck has 1"),
        (Deck(decks=2), "AsAsAs", "As is named 3 times, the deck has 2"),
        (Deck(jokers=2), "joker joker joker", "Joker is named 3 times, the deck has 2"),
        (Deck(extra=("A*", "A*")), "A*A*A*", "A* is named 3 times, the deck has 2"),
        (Deck(faces=tuple("23456")), "As", "'As' is not a card of this deck (2c … 6s)"),
    ],
)
def test_wrong_cards_are_told_with_their_place(deck, text, message):
    with pytest.raises(CardError) as error:
        parse_cards(deck, text)
    assert message in str(error.value)


@pytest.mark.parametrize("cards", ["", "As", "As Ks Qs Js", "As Ks Qs Js Ts 9s"])
def test_a_hand_has_five_cards(cards):
    with pytest.raises(CardError, match=f"expected five cards, found {len(cards.split())}"):
        parse_hand(Deck(), cards)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"faces": ()}, "faces: expected 1 to 20, found 0"),
        ({"faces": tuple("ABCDEFGHIJKLMNOPQRSTU")}, "faces: expected 1 to 20, found 21"),
        ({"suits": ()}, "suits: expected 1 to 8, found 0"),
        ({"suits": tuple("bcdefghij")}, "suits: expected 1 to 8, found 9"),
        ({"decks": 0}, "decks: expected 1 to 50, found 0"),
        ({"jokers": -1}, "jokers: expected 0 to 4, found -1"),
        ({"jokers": 5}, "jokers: expected 0 to 4, found 5"),
        ({"extra": ("A*",) * 51}, "extra: expected 0 to 50, found 51"),
        ({"extra": ("As",)}, "extra: 'As' is not a face of the deck followed by '*'"),
        ({"extra": ("X*",)}, "extra: 'X*' is not a face"),
        ({"faces": ("2", "3", "♠")}, "faces: '♠' is not made of"),
        ({"faces": ("ß", "A")}, "faces: 'ß' is not made of"),
        ({"faces": ("", "A")}, "faces: '' is not made of"),
        ({"suits": ("c", "*")}, "suits: '*' is not made of"),
        ({"faces": ("A", "K", "A")}, "faces: 'a' is listed twice"),
        ({"faces": ("A", "K", "a")}, "faces: 'a' is listed twice (capitals do not count)"),
        ({"faces": ("2", "3", "c", "4", "5")}, "'c' is a face and a suit"),
        ({"faces": ("A", "AB", "2", "3", "4"), "suits": ("Bc", "c")}, "two cards are called 'abc'"),
        ({"faces": ("Jo", "2", "3", "4", "5"), "suits": ("ker", "c"), "jokers": 1}, "two cards are called 'joker'"),
        ({"faces": ("A",), "suits": ("s",), "decks": 9}, "expected at least 10 cards"),
    ],
)
def test_decks_that_cannot_be(wrong, message):
    with pytest.raises(CardError) as error:
        Deck(**wrong)
    assert message in str(error.value)


def test_every_problem_of_a_deck_is_told():
    with pytest.raises(CardError) as error:
        Deck(decks=0, jokers=9, extra=("X*",))
    assert str(error.value).count(";") == 2


@many
@given(decks())
def test_card_numbers_go_by_face_then_suit_then_odd_cards_then_the_joker(deck):
    ordinary = len(deck.faces) * len(deck.suits)
    assert deck.size == ordinary * deck.decks + len(deck.extra) + deck.jokers
    assert len(deck.names) == len(deck.copies) == len(deck.face_of) == len(deck.suit_of) == deck.kinds
    assert len(set(deck.names)) == deck.kinds
    for card, name in enumerate(deck.names[:ordinary]):
        face, suit = divmod(card, len(deck.suits))
        assert (deck.face_of[card], deck.suit_of[card]) == (face, suit)
        assert name == deck.faces[face] + deck.suits[suit]
    assert set(deck.suit_of[ordinary:].tolist()) <= {len(deck.suits)}
    assert all(deck.extra.count(name) == deck.copies[ordinary + i] for i, name in enumerate(deck.odd))
    assert (deck.names[-1] == "Joker") == (deck.jokers > 0) == (deck.face_of[-1] == len(deck.faces))
    assert all(a < b for a, b in pairwise(zip(deck.face_of[:ordinary], deck.suit_of[:ordinary], strict=True)))
