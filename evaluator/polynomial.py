r"""Chromatic polynomials: integer combinations of products of Kronecker deltas over the cards of a hand.

A hand of five cards is ten vertices, a face and a suit for each card; with several decks every card has a third
vertex, its copy. A delta over some vertices of one kind is 1 where all of them are equal (and lie in a set, if one is
given), else 0. Multiplication is AND, ``1 - x`` is NOT, ``1 - (1 - x)(1 - y)`` is OR.

**Term form.** A product of deltas partitions the vertices into blocks of equal value, each with a set of allowed
values. The product of two terms is the join of the partitions with the sets intersected; an empty set makes it 0.

**Count.** The sum of a term over all assignments is the product over its blocks of the number of allowed values; a
vertex in no block counts its whole domain. The sum of a polynomial follows by linearity.

**Hand.** That five cards are different, :math:`\prod_{i<j} (1 - \delta_F\delta_S)`, collapses to one term for each of
the 52 partitions of five cards; a block of b cards contributes the factor :math:`(-1)^{b-1} (b-1)!`.

*Worked example.* Four cards of one face: the polynomial `quads` below has, with Hand, 13 * 48 * 5! = 74,880 ordered
hands, so 624 deals.

>>> from evaluator.cards import Deck
>>> deck = Deck()
>>> pairs = [delta("F", [card for card in range(5) if card != kicker]) for kicker in range(5)]
>>> quads = sum(pairs[1:], pairs[0])
>>> deals(quads, deck), len(hand(deck).terms)
(624, 52)
>>> str(symbolic_count(quads * hand(deck)))
'5 f^2 s^5 - 30 f^2 s^4 + 55 f^2 s^3 - 30 f^2 s^2 - 20 f s^4 + 120 f s^3 - 220 f s^2 + 120 f s'

Here a face or suit vertex is written ``("F", i)`` or ``("S", i)`` with i = 0…4; C1F of the literature is ``("F", 0)``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck

HAND_SIZE = 5
KINDS = "FSD"
ALL = -1
"""the set that allows every value"""
MAX_TERMS = 20_000
"""an expansion with more terms is refused"""
MAX_PRODUCTS = 2_000_000
"""a multiplication with more pairs of terms is refused"""

MAX_COUNTED = 250_000
"""products of terms that are summed over all deals"""

Block = tuple[int, int]
"""bit mask of cards, bit mask of allowed values"""
Partition = tuple[Block, ...]
"""the blocks of one kind of vertex that say something, ascending; free vertices are left out"""
Term = tuple[Partition, Partition, Partition]
"""partitions of the faces, the suits and the copies"""
ONE: Term = ((), (), ())


class TooManyTerms(ValueError):
    """An expansion that would not stay small; count by checking every hand instead."""


@dataclass(frozen=True)
class Polynomial:
    """An integer combination of terms. Supports ``+ - *`` with polynomials and integers."""

    terms: Mapping[Term, int]
    """coefficient of each term, never 0"""

    def __add__(self, other: Polynomial | int) -> Polynomial:
        total = defaultdict(int, self.terms)
        for term, coefficient in as_polynomial(other).terms.items():
            total[term] += coefficient
        return _polynomial(total)

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        other = as_polynomial(other)
        if len(self.terms) * len(other.terms) > MAX_PRODUCTS:
            raise TooManyTerms(
                f"multiplying {len(self.terms)} by {len(other.terms)} terms: more than {MAX_PRODUCTS} products"
            )
        total: defaultdict[Term, int] = defaultdict(int)
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                if (joined := join(left, right)) is not None:
                    total[joined] += a * b
        return _polynomial(total)

    def __neg__(self) -> Polynomial:
        return self * -1

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + -as_polynomial(other)

    def __rsub__(self, other: int) -> Polynomial:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__


def as_polynomial(value: Polynomial | int) -> Polynomial:
    """An integer as the constant polynomial; a polynomial as it is."""
    return value if isinstance(value, Polynomial) else _polynomial({ONE: value})


def _polynomial(terms: Mapping[Term, int]) -> Polynomial:
    kept = {term: coefficient for term, coefficient in terms.items() if coefficient}
    if len(kept) > MAX_TERMS:
        raise TooManyTerms(f"an expansion to {len(kept)} terms: more than {MAX_TERMS}")
    return Polynomial(kept)


def delta_term(kind: str, cards: Iterable[int], values: int = ALL) -> Term:
    """The term of one delta: the vertices `kind` ("F", "S" or "D") of `cards`, all equal and in the bit set `values`.

    >>> delta_term("F", [0, 1], 0b110)
    (((3, 6),), (), ())
    """
    mask = sum(1 << card for card in set(cards))
    block: Partition = ((mask, values),) if values != ALL or mask.bit_count() > 1 else ()
    faces, suits, copies = (block if kind == name else () for name in KINDS)
    return faces, suits, copies


def delta(kind: str, cards: Iterable[int], values: int = ALL) -> Polynomial:
    """The polynomial of one delta; see `delta_term`."""
    return Polynomial({delta_term(kind, cards, values): 1}) if values else Polynomial({})


def join(left: Term, right: Term) -> Term | None:
    """The product of two terms, or None where it is 0."""
    joined = []
    for ours, theirs in zip(left, right, strict=True):
        blocks = _join_partitions(ours, theirs)
        if blocks is None:
            return None
        joined.append(blocks)
    return joined[0], joined[1], joined[2]


def _join_partitions(left: Partition, right: Partition) -> Partition | None:
    if not left or not right:
        return left or right
    blocks = list(left)
    for cards, values in right:
        apart = []
        for block in blocks:
            if block[0] & cards:
                cards |= block[0]
                values &= block[1]
            else:
                apart.append(block)
        if not values:
            return None
        blocks = [*apart, (cards, values)]
    return tuple(sorted(blocks))


# --- counting ---------------------------------------------------------------------------------------------------------


def domain_sizes(deck: Deck) -> tuple[int, int, int]:
    """How many values a face, a suit and a copy vertex can take in this deck, odd cards and jokers included."""
    odd = deck.jokers > 0 or bool(deck.extra)
    return len(deck.faces) + (deck.jokers > 0), len(deck.suits) + odd, int(deck.copies.max())


def count_term(term: Term, sizes: tuple[int, int, int]) -> int:
    """The sum of a term over all assignments, with domains of these sizes."""
    return prod(map(_count_partition, term, sizes))


def _count_partition(blocks: Partition, size: int) -> int:
    ways, free = 1, HAND_SIZE
    for cards, values in blocks:
        ways *= size if values == ALL else values.bit_count()
        free -= cards.bit_count()
    return ways * int(size**free)


def count(p: Polynomial, deck: Deck) -> int:
    """The sum of p over all assignments of the vertices to the deck's faces, suits and copies (not only to hands).

    >>> count(delta("F", [0, 1]), Deck())
    29246464
    """
    sizes = domain_sizes(deck)
    return sum(coefficient * count_term(term, sizes) for term, coefficient in p.terms.items())


def hand(deck: Deck) -> Polynomial:
    """The polynomial that is 1 where the five cards are different physical cards of this deck, else 0."""
    total: defaultdict[Term, int] = defaultdict(int)
    for blocks in _set_partitions(range(HAND_SIZE)):
        sign = prod((-1) ** (len(block) - 1) * factorial(len(block) - 1) for block in blocks)
        terms = [ONE]
        for block in blocks:
            terms = [
                joined
                for term in terms
                for card in _card_terms(deck, block)
                if (joined := join(term, card)) is not None
            ]
        for term in terms:
            total[term] += sign
    return _polynomial(total)


def _set_partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    for blocks in _set_partitions(items[1:]):
        yield [[items[0]], *blocks]
        for i, block in enumerate(blocks):
            yield [*blocks[:i], [items[0], *block], *blocks[i + 1 :]]


def _card_terms(deck: Deck, cards: Sequence[int]) -> list[Term]:
    """The terms whose sum says that `cards` are all one and the same physical card of the deck."""
    ordinary = len(deck.faces) * len(deck.suits)
    single = int(deck.copies.max()) == 1
    if deck.kinds == ordinary:
        return [_triple(cards, (ALL, ALL, ALL), single)]
    values = [((1 << len(deck.faces)) - 1, (1 << len(deck.suits)) - 1, (1 << deck.decks) - 1)]
    values += [
        (1 << int(deck.face_of[k]), 1 << len(deck.suits), (1 << int(deck.copies[k])) - 1)
        for k in range(ordinary, deck.kinds)
    ]
    return [_triple(cards, triple, single) for triple in values]


def _triple(cards: Sequence[int], values: tuple[int, int, int], single: bool) -> Term:
    """All three vertices of `cards` equal and in these sets; copies say nothing where each card is single."""
    faces = delta_term("F", cards, values[0])[0]
    suits = delta_term("S", cards, values[1])[1]
    return faces, suits, () if single else delta_term("D", cards, values[2])[2]


def deals(p: Polynomial, deck: Deck, ordered: bool = False) -> int:
    """The sum of p over all deals: count(p * Hand) / 5!; over deals in order, count(p * Hand), if `ordered`.

    Raises `TooManyTerms` where p has so many terms that checking every hand is quicker.
    """
    sizes = domain_sizes(deck)
    distinct = hand(deck).terms.items()
    if len(p.terms) * len(distinct) > MAX_COUNTED:
        raise TooManyTerms(f"{len(p.terms)} terms by {len(distinct)} of Hand: more than {MAX_COUNTED} products")
    total = sum(
        a * b * prod(map(_count_joined, left, right, sizes)) for left, a in p.terms.items() for right, b in distinct
    )
    ways, rest = divmod(total, 1 if ordered else factorial(HAND_SIZE))
    if rest:
        raise ValueError(f"{total} ordered hands are no multiple of 5!: the polynomial depends on the order of cards")
    return ways


@lru_cache(maxsize=1 << 17)
def _count_joined(left: Partition, right: Partition, size: int) -> int:
    """The number of assignments of one kind of vertices that meet both partitions; few differ between terms."""
    blocks = _join_partitions(left, right)
    return 0 if blocks is None else _count_partition(blocks, size)


@dataclass(frozen=True)
class Symbolic:
    """A count as a polynomial in f, s and d, the numbers of faces, suits and decks."""

    coefficients: Mapping[tuple[int, int, int], int]
    """coefficient of f^i s^j d^k, never 0"""

    def at(self, faces: int, suits: int, decks: int = 1) -> int:
        """The count for a deck of this size."""
        return sum(c * faces**i * suits**j * decks**k for (i, j, k), c in self.coefficients.items())

    def __str__(self) -> str:
        parts = []
        for powers, c in sorted(self.coefficients.items(), reverse=True):
            letters = [
                name if power == 1 else f"{name}^{power}" for name, power in zip("fsd", powers, strict=True) if power
            ]
            number = [str(abs(c))] if abs(c) != 1 or not letters else []
            parts.append(("- " if c < 0 else "+ ") + " ".join(number + letters))
        return " ".join(parts).removeprefix("+ ") or "0"


def symbolic_count(p: Polynomial) -> Symbolic:
    """The count of p with the sizes of the domains left open: every free block is a factor f, s or d.

    A set that is written out counts its members, however large the deck. The letter d appears only where p speaks of
    copies, as `hand` does for several decks.

    >>> str(symbolic_count(delta("F", [0, 1]) * delta("S", range(5))))
    'f^4 s'
    """
    several = any(copies for _, _, copies in p.terms)
    total: defaultdict[tuple[int, int, int], int] = defaultdict(int)
    for term, coefficient in p.terms.items():
        powers = []
        for blocks in term:
            free = HAND_SIZE - sum(cards.bit_count() for cards, _ in blocks)
            powers.append(free + sum(values == ALL for _, values in blocks))
            coefficient *= prod(values.bit_count() for _, values in blocks if values != ALL)
        total[powers[0], powers[1], powers[2] if several else 0] += coefficient
    return Symbolic({powers: c for powers, c in total.items() if c})


def complete(p: Polynomial, deck: Deck, fixed: Sequence[int | None], used: Sequence[int] = ()) -> int:
    """The sum of p over all ways to fill the open places of a hand, in order.

    `fixed` holds five card numbers or None; the cards of `used` (discards) are gone from the deck as well. Divide by k!
    for k open places to get draws. Linear in p; the open places are summed over the partitions that Hand consists of,
    an open card being equal to a known one with a minus sign.

    >>> deck = Deck()
    >>> flush = delta("S", range(5))
    >>> complete(flush, deck, [51, 47, 43, 39, None], used=[0])   # A K Q J of spades, draw one
    9
    """
    known: list[tuple[int, int, int]] = []
    for card in [card for card in fixed if card is not None] + list(used):
        copy = sum(known[i][:2] == (deck.face_of[card], deck.suit_of[card]) for i in range(len(known)))
        known.append((int(deck.face_of[card]), int(deck.suit_of[card]), copy))
        if copy >= deck.copies[card]:
            raise ValueError(f"{deck.names[card]} is used {copy + 1} times, the deck has {deck.copies[card]}")
    start = Polynomial({ONE: 1})
    held = iter(known)
    for place in range(HAND_SIZE):
        if fixed[place] is not None:
            face, suit, copy = next(held)
            start *= Polynomial({_triple([place], (1 << face, 1 << suit, 1 << copy), False): 1})
    (placed,) = start.terms
    open_places = [place for place, card in enumerate(fixed) if card is None]
    blocks = [(_triple([], (1 << f, 1 << s, 1 << d), False), 1) for f, s, d in known]
    sizes = domain_sizes(deck)
    total = 0
    for term, coefficient in p.terms.items():
        if (begun := join(term, placed)) is not None:
            total += coefficient * _fill(begun, open_places, blocks, deck, sizes)
    return total


def _fill(
    term: Term, places: list[int], blocks: list[tuple[Term, int]], deck: Deck, sizes: tuple[int, int, int]
) -> int:
    """The sum of `term` over the open `places`, all cards different from each other and from those of `blocks`.

    A block is what its cards are (as a term over card masks that the next place is added to) and how many they are.
    """
    if not places:
        return count_term(term, sizes)
    place, *later = places
    total = 0
    for card in _card_terms(deck, [place]):
        if (joined := join(term, card)) is not None:
            alone: Partition = ((1 << place, ALL),)
            total += _fill(joined, later, [*blocks, ((alone, alone, alone), 1)], deck, sizes)
    for i, (block, size) in enumerate(blocks):
        same = _same_card(block, place)
        if (joined := join(term, same)) is not None:
            total -= size * _fill(joined, later, [*blocks[:i], (same, size + 1), *blocks[i + 1 :]], deck, sizes)
    return total


def _same_card(block: Term, place: int) -> Term:
    """The block with one more place."""
    faces, suits, copies = (tuple((cards | 1 << place, values) for cards, values in kind) for kind in block)
    return faces, suits, copies


# --- checking ---------------------------------------------------------------------------------------------------------


def check(p: Polynomial, hands: NDArray[Any], deck: Deck) -> NDArray[np.int64]:
    """The value of p for each hand.

    hands: (n, 5) card numbers. Returns (n,) int64. Copies of a card are alike here, so p may not speak of them.

    >>> check(delta("F", [0, 1]), np.array([[0, 1, 2, 3, 4], [0, 4, 8, 12, 16]]), Deck()).tolist()
    [1, 0]
    """
    bits = card_bits(deck, hands)
    total = np.zeros(len(hands), dtype=np.int64)
    for (faces, suits, copies), coefficient in p.terms.items():
        if copies:
            raise ValueError("copies of a card are alike: a polynomial over copies can be counted, not checked")
        total += coefficient * (holds(faces, bits[0]) & holds(suits, bits[1]))
    return total


def card_bits(deck: Deck, hands: NDArray[Any]) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The faces and the suits of (n, 5) card numbers as (5, n) single bits, so that equality is an AND."""
    one = np.uint32(1)
    return one << deck.face_of[hands].T.astype(np.uint32), one << deck.suit_of[hands].T.astype(np.uint32)


def holds(blocks: Partition, bits: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether the blocks of one kind hold, for (5, n) single bits; returns (n,) bool."""
    result = np.ones(bits.shape[1], dtype=bool)
    for cards, values in blocks:
        common = np.bitwise_and.reduce(bits[[card for card in range(HAND_SIZE) if cards >> card & 1]], axis=0)
        result &= (common if values == ALL else common & np.uint32(values)) != 0
    return result


# --- symmetry ---------------------------------------------------------------------------------------------------------


def rename_term(term: Term, cards: Sequence[int], suits: Sequence[int] | None = None) -> Term:
    """The term with card i called cards[i] and, if given, suit value j called suits[j]."""
    faces, suit_blocks, copies = term
    return (
        tuple(sorted((_rename_bits(mask, cards), values) for mask, values in faces)),
        tuple(
            sorted(
                (_rename_bits(mask, cards), values if suits is None or values == ALL else _rename_bits(values, suits))
                for mask, values in suit_blocks
            )
        ),
        tuple(sorted((_rename_bits(mask, cards), values) for mask, values in copies)),
    )


def _rename_bits(mask: int, names: Sequence[int]) -> int:
    return sum(1 << names[i] for i in range(mask.bit_length()) if mask >> i & 1)


def rename(p: Polynomial, cards: Sequence[int], suits: Sequence[int] | None = None) -> Polynomial:
    """The polynomial with its cards, and if given its suits, renamed; see `rename_term`."""
    return Polynomial({rename_term(term, cards, suits): coefficient for term, coefficient in p.terms.items()})


def same(p: Polynomial, q: Polynomial, deck: Deck) -> bool:
    """Whether p and q agree on every hand: the sum of (p - q)^2 over all hands is 0. The term form is not unique.

    >>> jack, queen, either = (delta("F", [0], bits) for bits in (1 << 9, 1 << 10, 3 << 9))
    >>> jack + queen == either, same(jack + queen, either, Deck())
    (False, True)
    """
    difference = p - q
    return not difference.terms or count(difference * difference * hand(deck), deck) == 0
