"""Slow and obvious: the rule book of poker and the 32 holds, by trying everything.

Nothing here uses `evaluator`. A deck is a sequence of physical cards, repeated where there are several copies; a card
is any hashable value; a hand is a tuple of cards. Results are exact: counts are integers, expected values fractions.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, prod

Card = Hashable
Hand = tuple[Card, ...]
Outcome = Hashable
PlainCard = tuple[str, str]

FACES = "23456789TJQKA"
SUITS = "cdhs"
NO_SUIT = "*"
JOKER: PlainCard = ("joker", NO_SUIT)

#: Names of the wins from the highest down; `classify_plain` says the last for a pair lower than jacks and for no pair.
RANKING = (
    "natural royal flush", "wild royal flush", "five of a kind", "straight flush", "four of a kind", "full house",
    "flush", "straight", "three of a kind", "two pair", "jacks or better", "nothing",
)  # fmt: skip


def plain_deck(decks: int = 1, jokers: int = 0, extra: Sequence[PlainCard] = ()) -> list[PlainCard]:
    """The physical cards of a deck of 13 faces and 4 suits, in the order of their card numbers, copies side by side.

    >>> len(plain_deck()), len(plain_deck(decks=2, jokers=1)), plain_deck()[0], plain_deck(extra=[("A", "*")])[-1]
    (52, 105, ('2', 'c'), ('A', '*'))
    """
    ordinary = [card for card in product(FACES, SUITS) for _ in range(decks)]
    return [*ordinary, *extra, *[JOKER] * jokers]


def classify_plain(hand: Sequence[PlainCard]) -> str:
    """The win of five cards with nothing wild, as in jacks or better; a card without a suit is in no flush.

    >>> classify_plain([("T", "s"), ("J", "s"), ("Q", "s"), ("K", "s"), ("A", "s")])
    'natural royal flush'
    >>> classify_plain([("A", "s"), ("2", "h"), ("3", "s"), ("4", "s"), ("5", "s")])
    'straight'
    """
    ranks = sorted(FACES.index(face) for face, _ in hand)
    suits = {suit for _, suit in hand}
    groups = sorted(Counter(ranks).values(), reverse=True)
    flush = len(suits) == 1 and suits != {NO_SUIT}
    wheel = ranks == [0, 1, 2, 3, 12]
    straight = groups == [1, 1, 1, 1, 1] and (ranks[4] - ranks[0] == 4 or wheel)
    if straight and flush:
        return "natural royal flush" if ranks[0] == FACES.index("T") else "straight flush"
    if groups == [5]:
        return "five of a kind"
    if groups == [4, 1]:
        return "four of a kind"
    if groups == [3, 2]:
        return "full house"
    if flush:
        return "flush"
    if straight:
        return "straight"
    if groups == [3, 1, 1]:
        return "three of a kind"
    if groups == [2, 2, 1]:
        return "two pair"
    if groups == [2, 1, 1, 1]:
        paired = next(rank for rank, times in Counter(ranks).items() if times == 2)
        return "jacks or better" if paired >= FACES.index("J") else "nothing"
    return "nothing"


def classify_wild(hand: Sequence[PlainCard], wild: Callable[[PlainCard], bool]) -> str:
    """The highest win in `RANKING` that the wild cards can make, each put for any of the 52 cards, repeats included.

    Four wild cards take a second or two, five much longer.

    >>> deuce = lambda card: card[0] == "2"
    >>> classify_wild([("T", "s"), ("2", "h"), ("Q", "s"), ("K", "s"), ("A", "s")], deuce)
    'wild royal flush'
    >>> classify_wild([("A", "s"), ("2", "h"), ("3", "d"), ("4", "s"), ("6", "s")], deuce)
    'jacks or better'
    """
    natural = [card for card in hand if not wild(card)]
    missing = len(hand) - len(natural)
    if missing == 0:
        return classify_plain(hand)
    stand_ins = combinations_with_replacement(plain_deck(), missing)
    best = min((classify_plain([*natural, *cards]) for cards in stand_ins), key=RANKING.index)
    return "wild royal flush" if best == "natural royal flush" else best


def choices(cards: Sequence[Card], k: int) -> Iterator[tuple[Hand, int]]:
    """Every way to take k of these physical cards, copies not told apart: the cards taken, and in how many ways.

    >>> list(choices("aab", 2))
    [(('a', 'a'), 1), (('a', 'b'), 2)]
    """
    copies = Counter(cards)
    for taken in combinations_with_replacement(copies, k):
        ways = prod(comb(copies[card], times) for card, times in Counter(taken).items())
        if ways:
            yield taken, ways


def all_deals(deck: Sequence[Card]) -> Iterator[tuple[Hand, int]]:
    """Every deal, its cards in the order of the deck, and how many of the C(N, 5) physical deals look like it."""
    return choices(deck, 5)


def held(deal: Hand, mask: int) -> Hand:
    """The cards that `mask` holds: bit i set holds the i-th card of the deal.

    >>> held(("a", "b", "c", "d", "e"), 0b00101)
    ('a', 'c')
    """
    return tuple(card for i, card in enumerate(deal) if mask >> i & 1)


def draws(deck: Sequence[Card], deal: Hand, mask: int) -> Iterator[tuple[Hand, int]]:
    """Every final hand of holding `mask`, and in how many of the C(N − 5, k) draws of k cards it comes.

    None of the five dealt cards is drawn; another copy of a discard may be. A final hand is in the order of the deck.
    """
    order = {card: place for place, card in enumerate(dict.fromkeys(deck))}
    kept = held(deal, mask)
    stock = list((Counter(deck) - Counter(deal)).elements())
    for drawn, ways in choices(stock, 5 - len(kept)):
        yield tuple(sorted(kept + drawn, key=order.__getitem__)), ways


def hold_counts(deck: Sequence[Card], outcome_of: Callable[[Hand], Outcome], deal: Hand) -> list[Counter[Outcome]]:
    """For each hold mask, the number of draws that end in each outcome."""
    counts: list[Counter[Outcome]] = [Counter() for _ in range(32)]
    for mask in range(32):
        for hand, ways in draws(deck, deal, mask):
            counts[mask][outcome_of(hand)] += ways
    return counts


def expected_value(counts: Mapping[Outcome, int], pays: Mapping[Outcome, Fraction | int]) -> Fraction:
    """Expected pay of one hold, from its counts; an outcome without a pay pays nothing."""
    return Fraction(sum(n * pays.get(outcome, 0) for outcome, n in counts.items())) / sum(counts.values())


def best_holds(
    deck: Sequence[Card],
    outcome_of: Callable[[Hand], Outcome],
    pays: Mapping[Outcome, Fraction | int],
    deal: Hand,
) -> tuple[Fraction, list[int]]:
    """The largest expected pay of a deal and every hold mask that has it, ascending."""
    values = [expected_value(counts, pays) for counts in hold_counts(deck, outcome_of, deal)]
    best = max(values)
    return best, [mask for mask, value in enumerate(values) if value == best]


def payback(
    deck: Sequence[Card], outcome_of: Callable[[Hand], Outcome], pays: Mapping[Outcome, Fraction | int]
) -> Fraction:
    """Expected pay of optimal play over all deals; pays are per credit bet."""
    total = sum(weight * best_holds(deck, outcome_of, pays, deal)[0] for deal, weight in all_deals(deck))
    return Fraction(total) / comb(len(deck), 5)
