"""Random wins, some of which depend on places: each as a formula, and as what it says about arrays of hands."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck
from evaluator.rules import Rules, Win
from tests.evaluator.plain_play import deals_in_order

Flags = NDArray[np.bool_]

DECKS = (
    Deck(("2", "3", "4", "5", "6"), ("c", "d")),
    Deck(("2", "3", "4"), ("c", "d", "h"), jokers=1),
    Deck(("2", "3", "4"), ("c", "d", "h"), extra=("4*",)),
)
"""of ten cards"""
LARGER = (
    Deck(("2", "3", "4", "5", "6"), ("c", "d"), jokers=1),
    Deck(("2", "3", "4", "5"), ("c", "d", "h")),
    Deck(("2", "3", "4", "5", "6"), ("c", "d"), jokers=1, extra=("2*",)),
)
"""of eleven and twelve cards"""


@dataclass(frozen=True)
class Formula:
    """A definition, and whether it holds for hands of (n, 5) faces and (n, 5) suits, by number."""

    text: str
    holds: Callable[[NDArray[Any], NDArray[Any]], Flags]


def _set(rng: Random, names: tuple[str, ...]) -> tuple[str, list[int]]:
    some = sorted(rng.sample(range(len(names)), rng.randint(1, max(1, len(names) - 1))))
    return "{" + ",".join(names[i] for i in some) + "}", some


def _alike(columns: NDArray[Any]) -> Flags:
    return np.asarray((columns == columns[:, :1]).all(axis=1))


def _in_places(rng: Random, deck: Deck) -> Formula:
    """A product of same(…) over places."""
    kind = rng.choice(["faces", "suits", "face", "suit", "run", "first"])
    places = sorted(rng.sample(range(5), rng.randint(2, 3)))
    at = places[0]
    text, some = _set(rng, deck.faces)
    if kind == "faces":
        chosen = text if rng.random() < 0.5 else ""
        formula = f"same({','.join(f'C{i + 1}F' for i in places)}){chosen}"
        return Formula(formula, lambda f, s: _alike(f[:, places]) & (np.isin(f[:, at], some) | (not chosen)))
    if kind == "suits":
        return Formula(f"same({','.join(f'C{i + 1}S' for i in places)})", lambda f, s: _alike(s[:, places]))
    if kind == "face":
        return Formula(f"same(C{at + 1}F){text}", lambda f, s: np.isin(f[:, at], some))
    if kind == "suit":
        suit = rng.randrange(len(deck.suits))
        return Formula(f"same(C{at + 1}S){{{deck.suits[suit]}}}", lambda f, s: s[:, at] == suit)
    if kind == "run":
        length = min(len(deck.faces), rng.randint(2, 5))
        low = rng.randint(0, len(deck.faces) - length)
        parts = [f"same(C{i + 1}F){{{deck.faces[low + i]}}}" for i in range(length)]
        return Formula(" & ".join(parts), lambda f, s: (f[:, :length] == np.arange(low, low + length)).all(axis=1))
    formula = f"some(a: same(aS,C{at + 1}S) & same(aF){text})"
    return Formula(formula, lambda f, s: (np.isin(f, some) & (s == s[:, at : at + 1])).any(axis=1))


def _most_alike(columns: NDArray[Any]) -> NDArray[Any]:
    return (columns[:, :, None] == columns[:, None]).sum(axis=2).max(axis=1)


def _anywhere(rng: Random, deck: Deck) -> Formula:
    """A quantified formula, which does not depend on places."""
    kind = rng.choice(["alike", "suited", "every", "card", "long"])
    text, some = _set(rng, deck.faces)
    if kind == "alike":
        number = rng.randint(2, min(3, len(deck.suits)))
        names = ",".join("abc"[:number])
        formula = f"some({names}: same({','.join(f'{name}F' for name in names.split(','))}))"
        return Formula(formula, lambda f, s: _most_alike(f) >= number)
    if kind == "suited":
        number = rng.randint(3, 4)
        names = "abcd"[:number]
        formula = f"some({','.join(names)}: same({','.join(f'{name}S' for name in names)}))"
        return Formula(formula, lambda f, s: _most_alike(s) >= number)
    if kind == "every":
        return Formula(f"!some(a: !same(aF){text})", lambda f, s: np.isin(f, some).all(axis=1))
    if kind == "card":
        suit = rng.randrange(len(deck.suits))
        formula = f"some(a: same(aF){text} & same(aS){{{deck.suits[suit]}}})"
        return Formula(formula, lambda f, s: (np.isin(f, some) & (s == suit)).any(axis=1))
    # The same for any place, but written out place by place.
    formula = " | ".join(f"same(C{i + 1}F){text}" for i in range(5))
    return Formula(formula, lambda f, s: np.isin(f, some).any(axis=1))


def _combined(rng: Random, deck: Deck, makers: list[Any]) -> Formula:
    left = rng.choice(makers)(rng, deck)
    while rng.random() < 0.6:
        right = rng.choice(makers)(rng, deck)
        if rng.random() < 0.3:
            right = Formula(f"!({right.text})", lambda f, s, h=right.holds: ~h(f, s))
        if rng.random() < 0.5:
            left = Formula(
                f"({left.text}) & ({right.text})", lambda f, s, h=left.holds, g=right.holds: h(f, s) & g(f, s)
            )
        else:
            left = Formula(
                f"({left.text}) | ({right.text})", lambda f, s, h=left.holds, g=right.holds: h(f, s) | g(f, s)
            )
    return left


@dataclass(frozen=True)
class RandomGame:
    """Rules, and their outcomes without the language."""

    rules: Rules
    formulas: tuple[Formula, ...]
    """of the wins"""
    bonuses: tuple[Formula, ...]
    """of the bonuses"""
    ordered: tuple[int, ...]
    """the wins that depend on places"""

    @property
    def deck(self) -> Deck:
        """The cards."""
        return self.rules.deck

    def outcomes(self, hands: NDArray[Any]) -> NDArray[np.intp]:
        """(n,): the first win that holds for each of (n, 5) hands in order."""
        return _first(_found(self.deck, self.formulas, hands))

    def bonus(self, hands: NDArray[Any]) -> NDArray[np.intp]:
        """(n,): the first bonus that holds."""
        return _first(_found(self.deck, self.bonuses, hands))


def _found(deck: Deck, formulas: tuple[Formula, ...] | list[Formula], hands: NDArray[Any]) -> Flags:
    faces, suits = deck.face_of[hands], deck.suit_of[hands]
    return np.array([formula.holds(faces, suits) for formula in formulas], bool).reshape(len(formulas), len(hands))


def _first(found: Flags) -> NDArray[np.intp]:
    return np.asarray(np.vstack([found, np.ones((1, found.shape[1]), bool)]).argmax(axis=0))


def _occurring(deck: Deck, formulas: list[Formula], hands: NDArray[Any]) -> list[Formula]:
    """Without those that take no hand."""
    while True:
        seen = set(_first(_found(deck, formulas, hands)).tolist())
        kept = [formula for number, formula in enumerate(formulas) if number in seen]
        if len(kept) == len(formulas):
            return kept
        formulas = kept


def random_game(deck: Deck, rng: Random) -> RandomGame:
    """Up to four wins, at least one of which depends on places, and up to two bonuses of the deal."""
    hands = deals_in_order(deck.kinds)
    _, same_cards = np.unique(np.sort(hands, axis=1), axis=0, return_inverse=True)
    by_cards = np.argsort(same_cards.reshape(-1), kind="stable").reshape(-1, 120)
    while True:
        formulas = [_combined(rng, deck, [_in_places, _anywhere]) for _ in range(rng.randint(1, 2))]
        formulas += [_combined(rng, deck, [_anywhere]) for _ in range(rng.randint(0, 2))]
        rng.shuffle(formulas)
        formulas = _occurring(deck, formulas, hands)
        found = _found(deck, formulas, hands)[:, by_cards]
        ordered = np.flatnonzero((found != found[..., :1]).any(axis=(1, 2)))
        if ordered.size:
            break
    bonuses = [_combined(rng, deck, [_anywhere]) for _ in range(rng.choice([0, 0, 1, 2]))]
    bonuses = _occurring(deck, bonuses, hands)
    wins = tuple(Win(f"win {number}", formula.text) for number, formula in enumerate(formulas))
    paid = tuple(Win(f"bonus {number}", formula.text) for number, formula in enumerate(bonuses))
    return RandomGame(Rules(deck, (), wins, paid), tuple(formulas), tuple(bonuses), tuple(ordered.tolist()))
