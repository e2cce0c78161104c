"""Suit-isomorphic classes: hands that no win can tell apart, counted once.

Suits that can trade places without changing any win form a component; the group is every permutation of suits within
the components. A hand is one column per suit, the copies held of each face, written as a number whose most significant
digit is the lowest face. Where the columns of every component descend, the sorted tuple of card numbers is the least of
its class: the canonical hand, one row. Cards without a suit stay as they are.

    8c 9d 9h    columns  c 8...   d .9..   h .9..   s ....     descending: canonical
    8h 9c 9d    columns  c .9..   d .9..   h 8...   s ....     h moves before c and d: the same class

A canonical hand without its highest card is canonical. So the rows of k + 1 cards are rows of k cards and one card
more, not below the last, that leaves every column where it is; they come out in ascending order, and nothing is
sorted. Any other card makes one column move up: `turn` names that renaming of the suits, `child` the row it leads to.
Every subset of every hand is found by walking these two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, product
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck, format_cards

Components = tuple[tuple[int, ...], ...]
"""a partition of the suits into sets of exchangeable ones, each ascending"""

MOST_CLASSES = 20_000_000
BLOCK = 4096  # rows worked on at once, so that what is made of them stays in the cache


class TooManyClasses(ValueError):
    """A deck of which there would be more than `MOST_CLASSES` canonical hands."""


class ProofError(ArithmeticError):
    """Two exact counts that must agree do not; the message has both."""


@dataclass(frozen=True)
class Classes:
    """The canonical hands of zero to five cards, and how a card more leads from one to another.

    >>> classes = canonical_classes(Deck(), ((0, 1, 2, 3),))
    >>> [len(hands) for hands in classes.hands]
    [1, 13, 169, 1755, 16432, 134459]
    >>> classes.hands[5][0].tolist(), int(classes.weights[0])  # 2c 2d 2h 2s 3c
    ([0, 1, 2, 3, 4], 4)
    """

    deck: Deck
    """the cards"""
    components: Components
    """which suits can trade places"""
    hands: tuple[NDArray[Any], ...]
    """for k = 0..5, (rows_k, k) `deck.card_type`: cards ascending in a row, rows ascending"""
    weights: NDArray[np.int64]
    """(rows_5,): how many deals a canonical hand stands for"""
    child: tuple[NDArray[np.int32], ...]
    """for k = 0..4, (rows_k, kinds): row, among k + 1 cards, of the class of hand + card; -1 where no copy is left"""
    turn: tuple[NDArray[np.uint8], ...]
    """for k = 0..4, (rows_k, kinds): index into `relabel`, the renaming that brings hand + card to that row's hand"""
    relabel: NDArray[np.intp]
    """(renamings, kinds): card -> card; the first is the identity"""


def count_classes(deck: Deck, components: Components, cards: int = 5) -> int:
    """How many canonical hands of so many cards there are, by Burnside's lemma; none is made.

    >>> count_classes(Deck(), ((0, 1, 2, 3),)), count_classes(Deck(jokers=1), ((0, 1, 2, 3),))
    (134459, 150891)
    """
    _check_components(deck, components)
    total = Fraction(0)
    for cycle_types in product(*(list(_partitions(len(suits))) for suits in components)):
        lengths = [length for cycle_type in cycle_types for length in cycle_type]
        cycles = [(length, deck.decks) for length in lengths] * len(deck.faces)
        cycles += [(1, int(copies)) for copies in deck.copies[len(deck.faces) * len(deck.suits) :]]
        total += Fraction(_fixed_hands(cycles, cards), prod(map(_centralizer, cycle_types)))
    return int(total)


def _fixed_hands(cycles: Sequence[tuple[int, int]], cards: int) -> int:
    """Hands that a permutation with these cycles of cards, (length, copies), leaves as they are."""
    ways = [1] + [0] * cards
    for length, copies in cycles:
        ways = [
            sum(ways[size - length * times] for times in range(min(copies, size // length) + 1))
            for size in range(cards + 1)
        ]
    return ways[cards]


def _partitions(total: int, largest: int | None = None) -> Iterator[tuple[int, ...]]:
    """The cycle types of the permutations of `total` things."""
    if total == 0:
        yield ()
    for part in range(min(total, largest or total), 0, -1):
        for rest in _partitions(total - part, part):
            yield (part, *rest)


def _centralizer(cycle_type: Sequence[int]) -> int:
    """n! / how many permutations of n things have this cycle type."""
    return prod(length**times * factorial(times) for length, times in Counter(cycle_type).items())


def _check_components(deck: Deck, components: Components) -> None:
    named = sorted(suit for suits in components for suit in suits)
    if named != list(range(len(deck.suits))) or any(list(suits) != sorted(suits) for suits in components):
        raise ValueError(f"{components} is not a partition of the suits 0 … {len(deck.suits) - 1} into ascending sets")


@lru_cache(maxsize=2)
def canonical_classes(deck: Deck, components: Components) -> Classes:
    """Every canonical hand of up to five cards, with weights and maps; kept, for most games share them.

    Raises `TooManyClasses` before anything is made, and `ProofError` when a number of rows or the sum of the weights is
    not what it has to be.
    """
    expected = [count_classes(deck, components, cards) for cards in range(6)]
    if expected[5] > MOST_CLASSES:
        raise TooManyClasses(f"{expected[5]:,} canonical hands are more than the {MOST_CLASSES:,} that can be handled")
    relabel, first = _renamings(deck, components)
    hands: list[NDArray[Any]] = [np.zeros((1, 0), deck.card_type)]
    child: list[NDArray[np.int32]] = []
    turn: list[NDArray[np.uint8]] = []
    for cards in range(5):
        turn.append(_turns(deck, components, first, hands[-1]))
        grown, direct = _grow(deck, hands[-1], turn[-1])
        child.append(direct)
        _complete(deck, child, turn[-1], relabel, hands[-1])
        hands.append(grown)
        if len(grown) != expected[cards + 1]:
            raise ProofError(f"{len(grown)} canonical hands of {cards + 1} cards; Burnside: {expected[cards + 1]}")
    weights = _weights(deck, components, hands[5])
    if int(weights.sum()) != deck.hands:
        raise ProofError(f"the weights sum to {weights.sum()}; C({deck.size},5) is {deck.hands}")
    return Classes(deck, components, tuple(hands), weights, tuple(child), tuple(turn), relabel)


def _renamings(deck: Deck, components: Components) -> tuple[NDArray[np.intp], dict[int, int]]:
    """The renamings that move one suit up by some places, and for each suit the index before its first."""
    suits = len(deck.suits)
    ordinary = np.arange(len(deck.faces) * suits)
    relabel, first = [np.arange(deck.kinds)], {}
    for component in components:
        for place, suit in enumerate(component):
            first[suit] = len(relabel) - 1
            for goal in reversed(range(place)):
                new = np.arange(suits)
                new[suit] = component[goal]
                new[list(component[goal:place])] = component[goal + 1 : place + 1]
                relabel.append(np.arange(deck.kinds))
                relabel[-1][ordinary] = ordinary - ordinary % suits + new[ordinary % suits]
    return np.array(relabel), first


def _powers(deck: Deck) -> NDArray[Any]:
    """(faces,): what one card adds to its suit's column; the narrower type where all sums fit, for speed."""
    base = min(deck.decks, 5) + 1
    powers = [base**digit for digit in reversed(range(len(deck.faces)))]
    return np.array(powers, dtype=np.int32 if base * powers[0] < 2**31 else np.int64)


def _columns(deck: Deck, hands: NDArray[Any]) -> NDArray[Any]:
    """(suits, rows): the columns of every hand."""
    powers = _powers(deck)
    columns = np.zeros((len(deck.suits) + 1, len(hands)), powers.dtype)
    weights = np.append(powers, powers.dtype.type(0))[deck.face_of.clip(max=len(powers))]
    for cards in hands.T:
        columns[deck.suit_of[cards], np.arange(len(hands))] += weights[cards]
    return columns[:-1]


def copies_left(deck: Deck, hands: NDArray[Any]) -> NDArray[np.uint8]:
    """(rows, kinds): physical cards of each card number left when those of a row, (rows, k), are taken."""
    left = np.tile(deck.copies, (len(hands), 1))
    for cards in hands.T:
        left[np.arange(len(hands)), cards] -= 1
    return left


def _turns(deck: Deck, components: Components, first: dict[int, int], hands: NDArray[Any]) -> NDArray[np.uint8]:
    """(rows, kinds): the renaming that sorts the columns again when a card is added to a canonical hand."""
    powers, columns, suits = _powers(deck), _columns(deck, hands), len(deck.suits)
    turn = np.zeros((len(hands), deck.kinds), np.uint8)
    for component in components:
        for place, suit in enumerate(component[1:], start=1):
            raised = columns[suit][:, None] + powers
            # The columns before it descend: as many as are smaller now, so many places it moves up.
            up = sum(((raised > columns[i][:, None]).view(np.uint8) for i in component[:place]), np.uint8(0))
            turn[:, suit : len(powers) * suits : suits] = (up + np.uint8(first[suit])) * (up > 0)
    return turn


def _grow(deck: Deck, hands: NDArray[Any], turn: NDArray[np.uint8]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """The canonical hands of a card more, and `child` as far as it leads to them without a turn; elsewhere -1."""
    last = hands[:, -1:] if hands.shape[1] else np.zeros((1, 1), hands.dtype)
    direct = (turn == 0) & (np.arange(deck.kinds, dtype=deck.card_type) >= last) & (copies_left(deck, hands) > 0)
    row, card = np.divmod(np.flatnonzero(direct), deck.kinds)
    child = np.full(direct.shape, -1, np.int32)
    child[direct] = np.arange(len(row), dtype=np.int32)
    return np.column_stack([hands[row], card.astype(deck.card_type)]), child


def _complete(
    deck: Deck, child: list[NDArray[np.int32]], turn: NDArray[np.uint8], relabel: NDArray[np.intp], hands: NDArray[Any]
) -> None:
    """Fill in the rest of the last `child`: rename, sort, and follow the canonical hand from its lowest card."""
    kinds = deck.kinds
    names = relabel.astype(deck.card_type).ravel()
    for start in range(0, len(hands), BLOCK):
        block = slice(start, start + BLOCK)
        at = np.flatnonzero((child[-1][block] < 0) & (copies_left(deck, hands[block]) > 0))
        row, card = np.divmod(at, kinds)
        renaming = turn[block].ravel()[at] * np.intp(kinds)
        cards = [names[renaming + column[row]] for column in hands[block].T] + [names[renaming + card]]
        found = np.zeros(len(at), np.int32)
        for level, column in enumerate(_sorted_columns(cards)):
            found = child[level].ravel()[found * np.intp(kinds) + column]
        child[-1][block].reshape(-1)[at] = found


def _sorted_columns(columns: list[NDArray[Any]]) -> list[NDArray[Any]]:
    """The columns with every row sorted, by exchanging neighbours: much faster than sorting short rows."""
    columns = list(columns)
    for end in range(len(columns) - 1, 0, -1):
        for i in range(end):
            low, high = columns[i], columns[i + 1]
            columns[i], columns[i + 1] = np.minimum(low, high), np.maximum(low, high)
    return columns


def _weights(deck: Deck, components: Components, hands: NDArray[Any]) -> NDArray[np.int64]:
    """Orbit size, size! / product of multiplicities! of equal columns, times the choices among copies."""
    columns = _columns(deck, hands)
    weights = np.full(len(hands), prod(factorial(len(suits)) for suits in components), np.int64)
    for suits in components:
        run = np.ones(len(hands), np.int64)
        for before, suit in pairwise(suits):
            run = np.where(columns[suit] == columns[before], run + 1, 1)
            weights //= run  # the product of 1, 2, …, m over a run is m!
    run = np.zeros(len(hands), np.int64)
    for i, cards in enumerate(hands.T):
        run = np.where(cards == hands[:, i - 1], run + 1, 1) if i else run + 1
        weights = weights * (deck.copies[cards] - run + 1) // run  # C(copies, run) from C(copies, run - 1)
    return weights


def subset_rows(classes: Classes, hands: NDArray[Any]) -> NDArray[np.int32]:
    """(32, n): for each mask, the row of the class of the cards of that mask, among hands of as many cards.

    `hands` is (n, 5) card numbers, ascending; any deals of the deck.

    >>> classes = canonical_classes(Deck(), ((0, 1, 2, 3),))
    >>> rows = subset_rows(classes, np.array([[2, 3, 5, 47, 51]]))  # 2h 2s 3d Ks As
    >>> classes.hands[3][rows[0b11010, 0]].tolist()  # 2s Ks As is played like 2c Kc Ac
    [0, 44, 48]
    """
    rows = np.zeros((32, len(hands)), np.int32)
    for start in range(0, len(hands), BLOCK):
        _walk_subsets(classes, hands[start : start + BLOCK], rows[:, start : start + BLOCK])
    return rows


def _walk_subsets(classes: Classes, hands: NDArray[Any], rows: NDArray[np.int32]) -> None:
    """Fill (32, n) `rows`: each subset from the one without its highest card, with the cards above renamed alike."""
    kinds, relabel = np.intp(classes.deck.kinds), classes.relabel.ravel()
    above = {0: list(hands.T.astype(np.intp))}
    for bit in range(5):
        for below in range(1 << bit):
            level, cards = below.bit_count(), above[below]
            at = rows[below] * kinds + cards[0]
            rows[below | 1 << bit] = classes.child[level].ravel()[at]
            if bit < 4:
                renaming = classes.turn[level].ravel()[at] * kinds
                above[below | 1 << bit] = [relabel[renaming + card] for card in cards[1:]]
            del cards[0]


def locate(classes: Classes, deals: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """The row (n,) of each deal, and (n, 5) where its cards went: deal card j is card ``places[i, j]`` of the row.

    `deals` is (n, 5) card numbers in any suits and any order; `ValueError` names a deal that the deck does not have.

    >>> classes = canonical_classes(Deck(), ((0, 1, 2, 3),))
    >>> rows, places = locate(classes, np.array([[47, 2, 51, 3, 5]]))  # Ks 2h As 2s 3d
    >>> classes.hands[5][rows[0]].tolist(), places[0].tolist()  # 2c 2d 3h Kc Ac
    ([0, 1, 6, 44, 48], [3, 1, 4, 0, 2])
    """
    kinds = np.intp(classes.deck.kinds)
    cards = np.array(deals, dtype=np.intp).reshape(-1, 5).T
    if ((cards < 0) | (cards >= kinds)).any():
        raise ValueError(f"card numbers run from 0 to {kinds - 1}, found {cards.min()} to {cards.max()}")
    rows = np.zeros(cards.shape[1], np.int32)
    for level in range(5):
        at = rows * kinds + cards[level]
        rows = np.take(classes.child[level], at)
        if (rows < 0).any():
            deal = np.asarray(deals).reshape(-1, 5)[np.argmin(rows)]
            raise ValueError(f"{format_cards(classes.deck, deal)}: more of a card than the deck has")
        cards = np.take(classes.relabel, np.take(classes.turn[level], at) * kinds + cards)
    # A stable sort gives equal cards different places.
    places = np.argsort(np.argsort(cards, axis=0, kind="stable"), axis=0).T
    return rows, places.astype(np.uint8)
