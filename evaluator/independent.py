"""The second engine: every hold of a deal by looking at every hand there is.

It shares nothing with the kernel: no canonical hands, no T tables, no Möbius transform, no corrections for order. All
hands of the deck are classified once by their definitions. Then, with one deck, a final hand F comes from exactly one
hold of a deal, the cards F ∩ deal, and in exactly one way. So one count of all hands by (F ∩ deal, outcome) is the
count of all 32 holds. Seven cards, hands of two, the deal a b, x the cards that no hold has:

    hands      ab | ac ad ae af ag | bc … bg | cd ce … fg
    F ∩ deal   ab | a              | b       | nothing
    hold       keep both | keep a, draw one of five | keep b | draw two of five

With several copies of a card, F takes f of the n copies of a card that the deal has m times, and a hold keeps h of
them: F comes from that hold in C(n - m, f - h) ways for that card, where among all hands it counts C(n, f) times.

Where the order of cards matters, hands are counted as if it did not, and then every arrangement of a hand whose
outcome is another one is looked at: it belongs to the hold of the places where it agrees with the deal, if these are
all the cards that it shares with the deal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from math import comb, factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck, format_cards
from evaluator.classify import all_hands, classify, depends_on_order, indicators, only
from evaluator.expression import expand
from evaluator.polynomial import TooManyTerms, complete
from evaluator.rules import Program

MOST_HANDS = 20_000_000
"""hands that are looked at for every deal; larger decks are refused"""
_BLOCK = 1 << 16
_MASKS = range(32)


class TooManyHands(ValueError):
    """A deck with more than `MOST_HANDS` different hands."""


@dataclass(frozen=True)
class Engine:
    """All hands of a deck, classified.

    >>> from evaluator.rules import Rules, Win, compile_rules
    >>> flush = Rules(Deck(), (), (Win("flush", "same(C1S,C2S,C3S,C4S,C5S)"),))
    >>> engine = build_engine(compile_rules(flush))
    >>> counts = hold_counts(engine, [0, 4, 8, 12, 51])  # 2c 3c 4c 5c As
    >>> counts[0b01111].tolist(), counts[31].tolist()  # nine clubs are left of 47 cards
    ([9, 38], [0, 1])
    """

    deck: Deck
    """the cards"""
    outcomes: int
    """wins + 1; the last is nothing"""
    hands: NDArray[Any]
    """(n, 5) `deck.card_type`: every different hand, ascending"""
    pairs: NDArray[np.intp]
    """(n,): the first two cards of each, as one number to the base of `deck.kinds`"""
    triples: NDArray[np.intp]
    """(n,): the other three"""
    cells: NDArray[np.intp]
    """(n,): the place in `ways`, times `outcomes`, plus the outcome"""
    ways: tuple[int, ...]
    """numbers of physical hands that one of `hands` can stand for"""
    ordered: bool
    """whether deals and draws are in order"""
    arranged: NDArray[np.intp]
    """(s, 5): hands in order that are another outcome than the same cards in most orders"""
    before: NDArray[np.uint8]
    """(s,): what they count as in `cells`"""
    after: NDArray[np.uint8]
    """(s,): what they are"""


def build_engine(program: Program) -> Engine:
    """Classify every hand of the deck; raises `TooManyHands`."""
    deck, wins = program.rules.deck, len(program.wins)
    kinds, copies = deck.kinds, deck.copies.tolist()
    rows = comb(kinds + 4 * (max(copies) > 1), 5)
    if rows > MOST_HANDS:
        raise TooManyHands(f"the deck has {rows} different hands; the second engine looks at most at {MOST_HANDS}")
    hands = np.concatenate([block.astype(deck.card_type) for block in all_hands(deck)])
    ordered = [number for number in range(wins) if depends_on_order(program, number)]
    kept = [number for number in range(wins) if number not in ordered]
    names = np.array([*kept, wins], np.uint8)
    outcomes = names[classify(only(program, kept), hands)]
    first, *rest = np.ascontiguousarray(hands.T).astype(np.intp)
    ways = _physical(deck, hands)
    different, place = np.unique(ways, return_inverse=True) if max(copies) > 1 else (np.ones(1, np.int64), np.intp(0))
    arranged, before, after = _arranged(program, ordered, hands, outcomes)
    return Engine(
        deck, wins + 1, hands,
        first * kinds + rest[0],
        (rest[1] * kinds + rest[2]) * kinds + rest[3],
        place * (wins + 1) + outcomes.astype(np.intp),
        tuple(different.tolist()), bool(ordered), arranged, before, after,
    )  # fmt: skip


def _physical(deck: Deck, hands: NDArray[Any]) -> NDArray[np.int64]:
    """(n,): in how many ways the cards of each hand can be chosen among their copies."""
    ways, times = np.ones(len(hands), np.int64), np.zeros(len(hands), np.int64)
    for place in range(5):
        same = hands[:, place] == hands[:, place - 1] if place else np.zeros(len(hands), bool)
        times = np.where(same, times + 1, 1)
        ways = ways * (deck.copies[hands[:, place]] - times + 1) // times
    return ways


def _arranged(
    program: Program, ordered: Sequence[int], hands: NDArray[Any], outcomes: NDArray[np.uint8]
) -> tuple[NDArray[np.intp], NDArray[np.uint8], NDArray[np.uint8]]:
    """Every hand in order whose outcome is not the one of `outcomes`, that one, and its own."""
    found: list[tuple[NDArray[np.intp], NDArray[np.uint8], NDArray[np.uint8]]] = []
    for order in permutations(range(5)) if ordered else ():
        some = np.flatnonzero(indicators(only(program, ordered), hands[:, order]).any(axis=0))
        arranged = hands[some][:, order].astype(np.intp)
        after = classify(program, arranged)
        changed = after != outcomes[some]
        found.append((arranged[changed], outcomes[some][changed], after[changed]))
    if not found:
        return np.empty((0, 5), np.intp), np.empty(0, np.uint8), np.empty(0, np.uint8)
    arranged, before, after = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return arranged, before, after


def hold_counts(engine: Engine, deal: Sequence[int]) -> NDArray[np.int64]:
    """(32, outcomes): draws that end in each outcome under each hold; bit i of a mask holds the i-th card of `deal`.

    `deal` is five card numbers in any order, which is their order on the screen where order matters. Raises
    `ValueError` for cards that cannot be dealt together.
    """
    times = Counter(deal)
    if len(deal) != 5 or any(number > engine.deck.copies[card] for card, number in times.items()):
        raise ValueError(f"{format_cards(engine.deck, deal)}: not five cards of the deck")
    counts = _merge(engine, _meet(engine, list(times)), deal)
    if engine.ordered:
        counts *= np.array([factorial(5 - mask.bit_count()) for mask in _MASKS])[:, None]
        shared = np.isin(engine.arranged, deal)
        agreeing = engine.arranged == np.array(deal)
        mine = np.flatnonzero((shared == agreeing).all(axis=1))
        masks = agreeing[mine] @ (1 << np.arange(5))
        np.add.at(counts, (masks, engine.before[mine]), -1)
        np.add.at(counts, (masks, engine.after[mine]), 1)
    return counts


def _radix(engine: Engine, card: int) -> int:
    return min(5, int(engine.deck.copies[card])) + 1


def _meet(engine: Engine, cards: Sequence[int]) -> NDArray[np.int64]:
    """(keys, cells): different hands by how often they have each of some cards, and by cell; the first changes last."""
    cells = len(engine.ways) * engine.outcomes
    step, size = np.zeros(engine.deck.kinds, np.intp), cells
    for card in reversed(cards):
        step[card] = size
        size *= _radix(engine, card)
    pair = (step[:, None] + step).ravel()
    triple = (pair[:, None] + step).ravel()
    table = np.zeros(size, np.int64)
    block = max(_BLOCK, size)
    for start in range(0, len(engine.cells), block):
        part = slice(start, start + block)
        codes = np.take(pair, engine.pairs[part], mode="clip")
        codes += np.take(triple, engine.triples[part], mode="clip")
        codes += engine.cells[part]
        table += np.bincount(codes, minlength=size)
    return table.reshape(-1, cells)


def _merge(engine: Engine, table: NDArray[np.int64], deal: Sequence[int]) -> NDArray[np.int64]:
    """(32, outcomes): physical draws of every hold, from the hands by how often they have each dealt card."""
    cards = list(dict.fromkeys(deal))
    among, weights = _shares(tuple(map(cards.index, deal)), tuple(int(engine.deck.copies[card]) for card in cards))
    physical = np.array(engine.ways) @ table.reshape(len(among), len(engine.ways), engine.outcomes)
    counts: NDArray[np.int64] = weights @ (physical // among[:, None])
    return counts


@lru_cache(maxsize=64)
def _shares(places: tuple[int, ...], copies: tuple[int, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each key, how often a hand takes each dealt card: in how many ways among all hands; (32, keys) of each hold.

    places: for each of the five cards of the deal, which of the different cards it is; copies: of each of those.
    """
    dealt = [places.count(card) for card in range(len(copies))]
    keys = list(product(*(range(min(5, number) + 1) for number in copies)))
    among = np.array([max(1, prod(map(comb, copies, key))) for key in keys], np.int64)
    weights = np.zeros((32, len(keys)), np.int64)
    for mask in _MASKS:
        held = [0] * len(copies)
        for i, card in enumerate(places):
            held[card] += mask >> i & 1
        for number, key in enumerate(keys):
            drawn = zip(copies, dealt, key, held, strict=True)
            weights[mask, number] = prod(comb(n - m, f - h) if f >= h else 0 for n, m, f, h in drawn)
    return among, weights


# --- what the counts mean ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judgement:
    """A deal under some pays; masks are of the deal's own order."""

    counts: NDArray[np.int64]
    """(32, outcomes): draws that end in each outcome"""
    draws: tuple[int, ...]
    """(32): how many draws there are"""
    won: tuple[int, ...]
    """(32): units won in all draws together"""
    optimal: int
    """bit set of the masks that no other beats; of holds of equal cards, the lowest mask"""
    hold: int
    """the mask that the tie rule takes"""


def judge(
    engine: Engine,
    deal: Sequence[int],
    counts: NDArray[np.int64],
    units: Sequence[int],
    deal_units: Sequence[int] | None = None,
    tie_break: str = "lowest-mask",
) -> Judgement:
    """Which holds of a deal with these `hold_counts` are optimal, in fractions.

    `units` is what each outcome pays, `deal_units` what it pays when all five cards are held.
    """
    cards = engine.deck.size - 5
    draws, won, squares = [], [], []
    for mask in _MASKS:
        open_places = 5 - mask.bit_count()
        draws.append(comb(cards, open_places) * (factorial(open_places) if engine.ordered else 1))
        pays = deal_units if deal_units is not None and mask == 31 else units
        row = counts[mask].tolist()
        won.append(sum(number * pay for number, pay in zip(row, pays, strict=True)))
        squares.append(sum(number * pay * pay for number, pay in zip(row, pays, strict=True)))
    first: dict[tuple[int, ...], int] = {}
    for mask in _MASKS:
        first.setdefault(tuple(sorted(card for i, card in enumerate(deal) if mask >> i & 1)), mask)
    means = {mask: Fraction(won[mask], draws[mask]) for mask in first.values()}
    best = max(means.values())
    optimal = [mask for mask, mean in means.items() if mean == best]
    sign = {"lowest-mask": 0, "least-variance": 1, "most-variance": -1}[tie_break]
    hold = min(optimal, key=lambda mask: (sign * Fraction(squares[mask], draws[mask]), mask))
    return Judgement(counts, tuple(draws), tuple(won), sum(1 << mask for mask in optimal), hold)


def images(deck: Deck, components: Sequence[Sequence[int]], deal: Sequence[int]) -> list[tuple[int, ...]]:
    """The deal under every exchange of suits within the components, card by card; the deal itself is the first.

    >>> len(set(images(Deck(), [[0, 1, 2, 3]], [0, 4, 9, 13, 51]))), images(Deck(), [[0, 1]], [0, 4, 9, 13, 51])[1]
    (24, (1, 5, 8, 12, 51))
    """
    suits, ordinary = len(deck.suits), len(deck.suits) * len(deck.faces)
    found = []
    for choice in product(*(permutations(component) for component in components)):
        new = list(range(suits))
        for component, permuted in zip(components, choice, strict=True):
            for old, name in zip(component, permuted, strict=True):
                new[old] = name
        found.append(tuple(card - card % suits + new[card % suits] if card < ordinary else card for card in deal))
    return found


def class_weight(deck: Deck, components: Sequence[Sequence[int]], deal: Sequence[int]) -> int:
    """How many physical deals the exchanges of suits make of a deal, by making them.

    >>> class_weight(Deck(), [[0, 1, 2, 3]], [0, 1, 2, 3, 4]), class_weight(Deck(), [[0, 1, 2, 3]], [0, 4, 9, 13, 51])
    (4, 24)
    """
    different = {tuple(sorted(image)) for image in images(deck, components, deal)}
    return len(different) * prod(comb(int(deck.copies[card]), times) for card, times in Counter(deal).items())


def confirm(
    program: Program, engine: Engine, deals: Sequence[tuple[Sequence[int], int]]
) -> list[tuple[Sequence[int], str, int, int]]:
    """Final hands of some deals, each with a hold, for which the own definition of a win holds: counted in two ways.

    Returns the deal, the win, the count by completing its polynomial, and the count by looking at all hands. Wins whose
    polynomial is too large, or that depend on the order of cards, are left out.
    """
    place, plain = engine.cells // engine.outcomes, replace(engine, outcomes=2, ordered=False)
    numbers = [number for number in range(len(program.wins)) if not depends_on_order(program, number)]
    rows = []
    for number, found in zip(numbers, indicators(only(program, numbers), engine.hands), strict=True):
        try:
            polynomial = expand(program.pool, program.wins[number])
        except TooManyTerms:
            continue
        looking = replace(plain, cells=place * 2 + ~found)
        for deal, mask in deals:
            held = [card if mask >> i & 1 else None for i, card in enumerate(deal)]
            gone = [card for i, card in enumerate(deal) if not mask >> i & 1]
            counted = complete(polynomial, engine.deck, held, gone) // factorial(len(gone))
            rows.append((deal, program.rules.wins[number].name, counted, int(hold_counts(looking, deal)[mask, 0])))
    return rows
