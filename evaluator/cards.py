"""Decks and cards: a card is a small integer, a deck says what it means.

A deck has `faces` x `suits` ordinary cards, `decks` copies of each; then the odd cards of `extra`, in their order; then
the joker. The number of an ordinary card is ``face * len(suits) + suit``; the odd cards and the joker follow. Cards
without a suit carry the suit `*`; the joker also has a face of its own, `joker`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np
from numpy.typing import NDArray

NO_SUIT = "*"
JOKER = "joker"
STANDARD_FACES = ("2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A")
STANDARD_SUITS = ("c", "d", "h", "s")

#: Other ways to write a face or a suit, understood where the deck has the plain name.
ALIASES = {
    "10": "T", "two": "2", "deuce": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "T", "jack": "J", "queen": "Q", "king": "K", "ace": "A",
    "club": "c", "diamond": "d", "heart": "h", "spade": "s", "clubs": "c", "diamonds": "d", "hearts": "h",
    "spades": "s", "♣": "c", "♦": "d", "♥": "h", "♠": "s",
}  # fmt: skip


class CardError(ValueError):
    """A deck that cannot be, or text that does not name cards of the deck."""


@dataclass(frozen=True)
class Deck:
    """The cards of a game.

    >>> deck = Deck(jokers=1)
    >>> deck.size, deck.kinds, deck.names[0], deck.names[51], deck.names[52]
    (53, 53, '2c', 'As', 'Joker')
    >>> Deck(decks=2).hands
    91962520
    """

    faces: tuple[str, ...] = STANDARD_FACES
    """names from low to high"""
    suits: tuple[str, ...] = STANDARD_SUITS
    """names in the order of the card numbers"""
    decks: int = 1
    """physical copies of every ordinary card"""
    jokers: int = 0
    """jokers in all, alike, whatever `decks` is"""
    extra: tuple[str, ...] = ()
    """odd cards like ``"A*"``, an ace without a suit; each entry is one physical card"""

    def __post_init__(self) -> None:
        problems = list(_deck_problems(self))
        if problems:
            raise CardError("; ".join(problems))

    @cached_property
    def odd(self) -> tuple[str, ...]:
        """The different names among `extra`, in order of appearance."""
        return tuple(dict.fromkeys(self.extra))

    @cached_property
    def kinds(self) -> int:
        """How many different cards there are; card numbers run from 0 to kinds - 1."""
        return len(self.faces) * len(self.suits) + len(self.odd) + (self.jokers > 0)

    @cached_property
    def size(self) -> int:
        """N, how many physical cards there are."""
        return int(self.copies.sum())

    @cached_property
    def hands(self) -> int:
        """C(N, 5), how many deals there are."""
        return comb(self.size, 5)

    @cached_property
    def copies(self) -> NDArray[np.uint8]:
        """(kinds,): physical cards of each card number."""
        counts = [self.decks] * (len(self.faces) * len(self.suits))
        counts += [self.extra.count(name) for name in self.odd]
        return np.array(counts + [self.jokers] * (self.jokers > 0), dtype=np.uint8)

    @cached_property
    def face_of(self) -> NDArray[np.uint8]:
        """(kinds,): index into `faces` of each card number; ``len(faces)`` for the joker."""
        ordinary = np.repeat(np.arange(len(self.faces)), len(self.suits)).tolist()
        odd = [self.faces.index(name[: -len(NO_SUIT)]) for name in self.odd]
        return np.array(ordinary + odd + [len(self.faces)] * (self.jokers > 0), dtype=np.uint8)

    @cached_property
    def suit_of(self) -> NDArray[np.uint8]:
        """(kinds,): index into `suits` of each card number; ``len(suits)`` for a card without a suit."""
        ordinary = np.tile(np.arange(len(self.suits)), len(self.faces)).tolist()
        return np.array(ordinary + [len(self.suits)] * (self.kinds - len(ordinary)), dtype=np.uint8)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The text of each card number."""
        ordinary = tuple(face + suit for face in self.faces for suit in self.suits)
        return ordinary + self.odd + ("Joker",) * (self.jokers > 0)

    @cached_property
    def card_type(self) -> type[np.unsignedinteger]:
        """The smallest unsigned type that holds a card number and one more value."""
        return np.uint8 if self.kinds < 256 else np.uint16

    @cached_property
    def spellings(self) -> dict[str, int]:
        """Every accepted spelling of a card, case-folded, and its number."""
        spellings = {name.casefold(): number for number, name in enumerate(self.names)}
        plain_faces = [(face, face) for face in self.faces]
        plain_suits = [(suit, suit) for suit in self.suits]
        faces = plain_faces + [(alias, face) for alias, face in ALIASES.items() if face in self.faces]
        suits = plain_suits + [(alias, suit) for alias, suit in ALIASES.items() if suit in self.suits]
        for said_face, face in faces:
            for said_suit, suit in suits:
                spellings.setdefault((said_face + said_suit).casefold(), self.names.index(face + suit))
        return spellings

    @cached_property
    def _token(self) -> re.Pattern[str]:
        """One card at the place where it is tried, the longest spelling first."""
        longest_first = sorted(self.spellings, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first)), re.IGNORECASE | re.ASCII)


def _deck_problems(deck: Deck) -> list[str]:
    problems = []
    for what, names in (("faces", deck.faces), ("suits", deck.suits)):
        strange = [name for name in names if not (name.isascii() and name.isalnum())]
        problems += [f"{what}: {name!r} is not made of the letters a to z and digits" for name in strange]
        twice = [name for name, n in Counter(name.casefold() for name in names).items() if n > 1]
        problems += [f"{what}: {name!r} is listed twice (capitals do not count)" for name in twice]
    problems += [f"{name!r} is a face and a suit" for name in deck.faces if name in deck.suits]
    limits = (
        ("faces", len(deck.faces), 1, 20),
        ("suits", len(deck.suits), 1, 8),
        ("decks", deck.decks, 1, 50),
        ("jokers", deck.jokers, 0, 4),
        ("extra", len(deck.extra), 0, 50),
    )
    problems += [
        f"{what}: expected {low} to {high}, found {n}" for what, n, low, high in limits if not low <= n <= high
    ]
    odd = {face + NO_SUIT for face in deck.faces}
    problems += [
        f"extra: {name!r} is not a face of the deck followed by {NO_SUIT!r}" for name in deck.extra if name not in odd
    ]
    named = [face + suit for face in deck.faces for suit in deck.suits] + [JOKER] * (deck.jokers > 0)
    totals = Counter(map(str.casefold, named)).items()
    problems += [f"two cards are called {name!r} (capitals do not count)" for name, times in totals if times > 1]
    if not problems and (size := len(deck.faces) * len(deck.suits) * deck.decks + deck.jokers + len(deck.extra)) < 10:
        problems.append(f"expected at least 10 cards, so that five can be drawn to a deal of five; found {size}")
    return problems


def parse_cards(deck: Deck, text: str) -> tuple[int, ...]:
    """Card numbers named in `text`, in its order; any case, with or without spaces or commas.

    Raises `CardError` where the text stops being cards of this deck, or names a card more often than the deck has it.

    >>> parse_cards(Deck(), "As kd, TD"), parse_cards(Deck(), "10h2c")
    ((51, 45, 33), (34, 0))
    """
    cards: list[int] = []
    at = 0
    while at < len(text):
        if text[at].isspace() or text[at] == ",":
            at += 1
            continue
        match = deck._token.match(text, at)
        if match is None:
            rest = text[at:].split()[0]
            raise CardError(
                f"{text!r}, character {at + 1}: {rest!r} is not a card of this deck "
                f"({deck.names[0]} … {deck.names[-1]}); write cards like {deck.names[-1]!r} or {deck.names[0]!r}"
            )
        cards.append(deck.spellings[match.group().casefold()])
        at = match.end()
    for card, times in Counter(cards).items():
        if times > deck.copies[card]:
            raise CardError(f"{text!r}: {deck.names[card]} is named {times} times, the deck has {deck.copies[card]}")
    return tuple(cards)


def parse_hand(deck: Deck, text: str) -> tuple[int, ...]:
    """Five card numbers, in the order of `text`; raises `CardError` as `parse_cards`, or when there are not five.

    >>> parse_hand(Deck(), "Ks Qs Js Ts As")
    (47, 43, 39, 35, 51)
    """
    cards = parse_cards(deck, text)
    if len(cards) != 5:
        raise CardError(f"{text!r}: expected five cards, found {len(cards)}")
    return cards


def format_cards(deck: Deck, cards: Sequence[int]) -> str:
    """The text of some cards, in their order.

    >>> format_cards(Deck(), [51, 45, 33])
    'As Kd Td'
    """
    return " ".join(deck.names[card] for card in cards)
