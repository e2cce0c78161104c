"""Small random decks with random exchangeable suits, and brute force over the whole group, for the kernel's tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from random import Random

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from evaluator.cards import Deck
from evaluator.symmetry import Classes, Components, canonical_classes
from tests.reference import choices

ALL_FOUR: Components = ((0, 1, 2, 3),)


@dataclass(frozen=True)
class SmallGame:
    """A deck, which suits can trade places, and how many physical cards at most."""

    deck: Deck
    components: Components

    @property
    def cards(self) -> list[int]:
        """The physical cards, by number."""
        return [card for card, copies in enumerate(self.deck.copies.tolist()) for _ in range(copies)]

    def renamings(self) -> list[list[int]]:
        """Every permutation of the group, as card -> card."""
        suits, found = len(self.deck.suits), []
        for images in product(*(permutations(component) for component in self.components)):
            new = {
                old: image
                for suits, to in zip(self.components, images, strict=True)
                for old, image in zip(suits, to, strict=True)
            }
            found.append(
                [
                    card - card % suits + new[card % suits] if card < suits * len(self.deck.faces) else card
                    for card in range(self.deck.kinds)
                ]
            )
        return found

    def canonical(self, hands: Sequence[Sequence[int]]) -> NDArray[np.int64]:
        """(n, k): the least sorted tuple that each hand can be renamed to."""
        cards = np.array(hands, dtype=np.int64)
        place = self.deck.kinds ** np.arange(cards.shape[1])[::-1]
        images = [np.sort(np.array(renaming)[cards], axis=1) for renaming in self.renamings()]
        least = np.min([image @ place for image in images], axis=0)
        return least[:, None] // place % self.deck.kinds

    def classes_of(self, k: int) -> dict[tuple[int, ...], int]:
        """Each canonical hand of k cards and how many physical hands are renamed to it."""
        hands, ways = zip(*choices(self.cards, k), strict=True)
        weights: dict[tuple[int, ...], int] = {}
        for hand, number in zip(map(tuple, self.canonical(hands).tolist()), ways, strict=True):
            weights[hand] = weights.get(hand, 0) + number
        return weights


@st.composite
def small_games(draw: st.DrawFn, most_cards: int = 26) -> SmallGame:
    """Decks of 10 to `most_cards` cards, one or two of each, with jokers and odd cards, and any components."""
    faces = draw(st.integers(2, 6))
    suits = draw(st.integers(1, min(4, most_cards // faces)))
    decks = draw(st.integers(1, min(2, most_cards // (faces * suits))))
    ordinary = faces * suits * decks
    jokers = draw(st.integers(0, min(2, most_cards - ordinary)))
    names = tuple("23456789"[:faces])
    room = min(2, most_cards - ordinary - jokers)
    extra = draw(st.lists(st.sampled_from([f"{name}*" for name in names]), max_size=room))
    extra += [f"{names[0]}*"] * max(0, 10 - ordinary - jokers - len(extra))
    component = draw(st.lists(st.integers(0, suits - 1), min_size=suits, max_size=suits))
    groups = [tuple(suit for suit in range(suits) if component[suit] == name) for name in sorted(set(component))]
    return SmallGame(Deck(names, tuple("cdhs"[:suits]), decks, jokers, tuple(extra)), tuple(groups))


def random_outcomes(
    game: SmallGame, wins: int, seed: int
) -> tuple[Classes, NDArray[np.uint8], dict[tuple[int, ...], int]]:
    """The canonical hands and any win for each of them: the group cannot tell, which is all that the kernel needs.

    And the win of every hand, canonical or not, its cards ascending.
    """
    classes = canonical_classes(game.deck, game.components)
    rng = Random(seed)
    outcomes = [rng.randint(0, wins) for _ in classes.weights]
    known = dict(zip(map(tuple, classes.hands[5].tolist()), outcomes, strict=True))
    hands = [hand for hand, _ in choices(game.cards, 5)]
    everywhere = {hand: known[tuple(least)] for hand, least in zip(hands, game.canonical(hands).tolist(), strict=True)}
    return classes, np.array(outcomes, dtype=np.uint8), everywhere
