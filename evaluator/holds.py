"""The 32-hold kernel: exact counts of what every hold of every hand can become.

Write T_k[S][c] for the number of five-card hands that contain the k cards S and land in outcome c. T_5 is the
classification of the canonical hands; below it, with t running over the cards that have a copy left,

    T_k[S] = (1 / (5 - k)) * sum over t of copies_left(t) * T_{k+1}[S + t]

since every hand is met once for each of the 5 - k cards by which it exceeds S. Holding H of the hand H + X, the draws
must not meet a discard again, which is inclusion and exclusion over the discards:

    D[H][c] = sum over Y, a part of X, of (-1)^|Y| * T[H + Y][c]

For all 32 holds at once that is a Möbius transform in place: for each card in turn, the masks without it take away
those with it. With two cards, masks 00, 01, 10, 11 from left to right:

    T[]           T[a]       T[b]       T[ab]
    T[]-T[a]      T[a]       T[b]-T[ab] T[ab]        the first card
    ...-T[b]+T[ab]  T[a]-T[ab] T[b]-T[ab] T[ab]      the second: each entry is now D

Nothing here depends on what a win pays, but `hold_values`, and no float is used. A NumPy integer type is used where a
bound proves that it cannot overflow; Python integers (dtype object) beyond.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, factorial, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck, format_cards
from evaluator.ordered import (
    ARRANGEMENTS,
    Arrangements,
    Ordered,
    Placed,
    arrange,
    corrections,
    place,
    place_counts,
    place_values,
)
from evaluator.symmetry import Classes, ProofError, copies_left, subset_rows

TIE_BREAKS = ("lowest-mask", "least-variance", "most-variance")

HELD = tuple(mask.bit_count() for mask in range(32))
"""cards held under each mask"""

_CACHED = 1 << 20  # bytes of counts worked on at once: measured best between a quarter of and a whole L2 cache
_BLOCK = 4096  # rows of a table made at once

#: For i = 0..3, the masks, as a bit set, that hold card i + 1 but not card i.
_SKIPPING = tuple(sum(1 << mask for mask in range(32) if mask >> i & 3 == 2) for i in range(4))


@dataclass(frozen=True)
class Tables:
    """T of a game, and the numbers of draws.

    >>> from evaluator.symmetry import canonical_classes
    >>> classes = canonical_classes(Deck(), ((0, 1, 2, 3),))
    >>> quads = (np.diff(classes.hands[5].astype(int) // 4, axis=1) == 0).sum(axis=1) == 3
    >>> four_alike = quads & (classes.hands[5][:, 1] // 4 == classes.hands[5][:, 3] // 4)
    >>> tables = build_tables(classes, np.where(four_alike, 0, 1).astype(np.uint8), wins=1)
    >>> tables.counts[0].tolist(), tables.counts[2][0].tolist()  # of any cards; with 2c 2d
    ([[624, 2598336]], [48, 19552])
    >>> tables.draws, tables.cycle
    ((1533939, 178365, 16215, 1081, 47, 1), 19933230517200)
    """

    classes: Classes
    """the canonical hands"""
    outcomes: NDArray[np.uint8]
    """(rows_5,): the win of each canonical hand, among those that ignore order; the number of wins is nothing"""
    bonuses: NDArray[np.uint8]
    """(rows_5,): the bonus of each deal; the number of bonuses is none"""
    ordered: Ordered | None
    """what the order of the cards changes; None in a game that ignores it"""
    counts: tuple[NDArray[Any], ...]
    """for k = 0..4, (rows_k, wins + 1) int32 or int64: T_k; T_5 is `outcomes`"""
    deals: int
    """C(N, 5) deals; 5! times as many where order matters"""
    draws: tuple[int, ...]
    """for k = 0..5 cards held, C(N-5, 5-k): how many draws there are; (5-k)! times as many where order matters"""
    cycle_factor: int
    """L, the least common multiple of the draws"""
    cycle: int
    """deals * L equally likely combinations of deal and draw"""
    multipliers: tuple[int, ...]
    """for k = 0..5 cards held, L / draws: combinations of the cycle that one draw stands for"""


@dataclass(frozen=True)
class Block:
    """All holds of consecutive canonical hands, for any number of paytables.

    Where order matters a hand has a row for each class of its arrangements, and masks are by place on the screen.
    """

    start: int
    """the first canonical hand"""
    stop: int
    """the canonical hand after the last"""
    hands: NDArray[Any]
    """(n, 5): the cards of each row, ascending, or in their places"""
    weights: NDArray[np.int64]
    """(n,): how many deals the row stands for"""
    outcomes: NDArray[np.uint8]
    """(n,): what the row is as dealt"""
    bonuses: NDArray[np.uint8]
    """(n,): the bonus of the deal"""
    counts: NDArray[Any]
    """(32, n, wins + 1): D, draws that end in each outcome under each hold"""
    repeats: NDArray[np.uint32]
    """(n,): bit set of the masks that hold the same cards as a lower mask, so are no holds of their own"""
    rows: NDArray[np.int32]
    """(32, stop - start): for each mask of a canonical hand, the row in T_k of the cards held"""
    arrangements: Arrangements | None = None
    """the rows' classes of arrangements; None where order does not matter"""
    placed: Placed | None = None
    """how the rows' holds follow from those of the canonical hands; None where order does not matter"""


def exact_type(bound: int) -> type[Any]:
    """The integer type for values of magnitude up to `bound`: int64, or Python's integers.

    >>> exact_type(2**63 - 1), exact_type(2**63)
    (<class 'numpy.int64'>, <class 'object'>)
    """
    return np.int64 if bound < 2**63 else object


def draw_counts(deck: Deck, ordered: bool = False) -> tuple[int, ...]:
    """For 0 to 5 cards held, how many draws there are; in order, if `ordered`.

    >>> draw_counts(Deck(jokers=1)), draw_counts(Deck(), ordered=True)[0]
    ((1712304, 194580, 17296, 1128, 48, 1), 184072680)
    """
    return tuple(comb(deck.size - 5, 5 - held) * (factorial(5 - held) if ordered else 1) for held in range(6))


def deal_count(deck: Deck, ordered: bool = False) -> int:
    """How many deals there are; in order, if `ordered`."""
    return deck.hands * (factorial(5) if ordered else 1)


def cycle_factor(deck: Deck, ordered: bool = False) -> int:
    """L, the least common multiple of the numbers of draws: every hold is a choice among L, counted with multiplicity.

    >>> cycle_factor(Deck()), cycle_factor(Deck()) * Deck().hands
    (7669695, 19933230517200)
    """
    return lcm(*draw_counts(deck, ordered))


def build_tables(
    classes: Classes,
    outcomes: NDArray[Any],
    wins: int,
    bonuses: NDArray[np.uint8] | None = None,
    ordered: Ordered | None = None,
) -> Tables:
    """T_0 to T_4 from the classification: `outcomes` is (rows_5,), 0 to `wins`; without `bonuses` there are none.

    Raises `ValueError` for outcomes that do not fit, `ProofError` when a table does not add up.
    """
    deck, outcomes = classes.deck, np.asarray(outcomes)
    if outcomes.shape != classes.weights.shape or not 0 <= outcomes.min() <= outcomes.max() <= wins <= 255:
        raise ValueError(
            f"expected {len(classes.weights)} outcomes from 0 to {wins}, at most 255 wins; "
            f"found {outcomes.shape} from {outcomes.min()} to {outcomes.max()}"
        )
    outcomes = outcomes.astype(np.uint8)
    counts = [_count_last(classes, outcomes, wins)]
    for cards in (3, 2, 1, 0):
        counts.insert(0, _count_next(classes, cards, counts[0]))
    for cards, table in enumerate(counts):
        _check_table(deck, cards, table)
    # A count is at most C(N, 5), and so is every difference on the way of the transform.
    narrow = np.int32 if deck.hands < 2**31 else np.int64
    in_order = ordered is not None
    draws, factor, deals = draw_counts(deck, in_order), cycle_factor(deck, in_order), deal_count(deck, in_order)
    return Tables(
        classes,
        outcomes,
        np.zeros(len(outcomes), np.uint8) if bonuses is None else bonuses,
        ordered,
        tuple(table.astype(narrow) for table in counts),
        deals,
        draws,
        factor,
        deals * factor,
        tuple(factor // number for number in draws),
    )


def _count_last(classes: Classes, outcomes: NDArray[np.uint8], wins: int) -> NDArray[np.int64]:
    """T_4: outcomes of each hand's children, counted once for each copy left."""
    child, deck = classes.child[4], classes.deck
    width = wins + 2  # one more column takes what the deck has no copy left for: child -1, the last outcome
    ends = np.append(outcomes, wins + 1).astype(np.intp)
    table = np.zeros((len(child), width), np.int64)
    for start in range(0, len(child), _BLOCK):
        block = slice(start, start + _BLOCK)
        part, left = table[block], copies_left(deck, classes.hands[4][block])
        cell = np.arange(len(part))[:, None] * width + ends[child[block]]
        for copies in range(1, int(left.max()) + 1):  # a weighted bincount would add floats
            chosen = cell[left >= copies] if deck.copies.max() > 1 else cell.ravel()
            part += np.bincount(chosen, minlength=part.size).reshape(part.shape)
    return table[:, : wins + 1]


def _count_next(classes: Classes, cards: int, above: NDArray[np.int64]) -> NDArray[np.int64]:
    """T_k from T_{k+1}; the sums are at most 5 C(N, 5), in int64 for every deck there can be."""
    deck, child = classes.deck, classes.child[cards]
    if 5 * deck.hands >= 2**63:
        raise ProofError(f"5 * {deck.hands} hands exceed 64-bit integers")
    left = copies_left(deck, classes.hands[cards]).astype(np.int64)
    table = np.zeros((len(child), above.shape[1]), np.int64)
    for card in range(deck.kinds):
        table += left[:, card, None] * above[child[:, card]]
    table, rest = np.divmod(table, 5 - cards)
    if rest.any():
        raise ProofError(f"a count of hands with {cards} given cards is not divisible by {5 - cards}")
    return table


def _check_table(deck: Deck, cards: int, table: NDArray[np.int64]) -> None:
    expected = comb(deck.size - cards, 5 - cards)
    wrong = np.flatnonzero(table.sum(axis=1) != expected)
    if len(wrong):
        raise ProofError(f"T_{cards}[{wrong[0]}] adds up to {table[wrong[0]].sum()}, not {expected}")


def hold_block(tables: Tables, start: int, stop: int) -> Block:
    """D for the canonical hands `start` to `stop`; `ProofError` names the hand and the hold that do not add up.

    Where order matters this takes the memory of up to 120 rows a hand: ask for few hands at a time.
    """
    hands = tables.classes.hands[5][start:stop]
    rows = subset_rows(tables.classes, hands)
    width, kind = tables.counts[0].shape[1], tables.counts[0].dtype
    counts = np.empty((32, len(hands), width), kind)
    step = max(64, _CACHED // (32 * width * kind.itemsize))
    for at in range(0, len(hands), step):
        part = counts[:, at : at + step]
        for mask in range(31):
            np.take(tables.counts[HELD[mask]], rows[mask, at : at + step], axis=0, out=part[mask], mode="clip")
        part[31] = tables.outcomes[start + at : start + at + step][: part.shape[1], None] == np.arange(width)
        _transform(part)
        _check_holds(tables.classes.deck, draw_counts(tables.classes.deck), hands[at : at + step], part)
    stop = start + len(hands)
    weights, outcomes = tables.classes.weights[start:stop], tables.outcomes[start:stop]
    bonuses = tables.bonuses[start:stop]
    block = Block(start, stop, hands, weights, outcomes, bonuses, counts, _repeats(hands), rows)
    return block if tables.ordered is None else _in_order(tables, tables.ordered, block)


def _in_order(tables: Tables, ordered: Ordered, block: Block) -> Block:
    """The block with a row for each class of arrangements, and draws in order."""
    deck = tables.classes.deck
    corrected = corrections(ordered, deck, block.hands)
    rows = arrange(corrected)
    placed = place(corrected, rows)
    counts = place_counts(ordered, placed, block.counts, tables.draws[0])
    hands = block.hands[rows.hand[:, None], ARRANGEMENTS[rows.first]]
    _check_holds(deck, tables.draws, hands, counts)
    return Block(
        block.start,
        block.stop,
        hands,
        block.weights[rows.hand] * rows.size,
        counts[31].argmax(axis=1).astype(np.uint8),
        block.bonuses[rows.hand],
        counts,
        block.repeats[rows.hand],
        block.rows,
        rows,
        placed,
    )


def _transform(values: NDArray[Any]) -> None:
    """The Möbius transform of (32, …) in place."""
    for bit in range(5):
        pairs = values.reshape(1 << 4 - bit, 2, 1 << bit, *values.shape[1:])
        pairs[:, 0] -= pairs[:, 1]


def _check_holds(deck: Deck, expected: Sequence[int], hands: NDArray[Any], counts: NDArray[Any]) -> None:
    draws = np.array(expected, counts.dtype)[list(HELD)]
    # Many times faster than sum(axis=2) over so short an axis. It cannot wrap: D is at most T, and the rows of T were
    # added up in 64 bits when they were made.
    sums = np.einsum("mrc->mr", counts)
    if counts.min(initial=0) >= 0 and (sums == draws[:, None]).all():
        return
    mask, row = np.argwhere((sums != draws[:, None]) | (counts < 0).any(axis=2))[0].tolist()
    held = [card for i, card in enumerate(hands[row].tolist()) if mask >> i & 1]
    raise ProofError(
        f"{format_cards(deck, hands[row].tolist())}, holding {format_cards(deck, held) or 'nothing'}: "
        f"counts {counts[mask, row].tolist()} are not {draws[mask]} draws"
    )


def _repeats(hands: NDArray[Any]) -> NDArray[np.uint32]:
    """Of equal cards, the first are held; the masks that hold others instead repeat a hold."""
    masks = np.zeros(len(hands), np.uint32)
    for i, skipping in enumerate(_SKIPPING):
        masks |= np.where(hands[:, i] == hands[:, i + 1], np.uint32(skipping), np.uint32(0))
    return masks


def hold_values(
    tables: Tables, block: Block, units: Sequence[int], deal_units: Sequence[int] | None = None
) -> NDArray[Any]:
    """(32, n): the expected units of every hold times L, exact; int64, or object where that is not proven to hold.

    `units` is what each outcome pays, integers, wins + 1 of them; `deal_units`, if given, what each pays when all five
    cards are held. Divided by the `multipliers` of the cards held, a value is the sum of the units over the draws.
    """
    width = tables.counts[0].shape[1]
    if len(units) != width or len(deal_units or units) != width:
        raise ValueError(f"expected units for {width} outcomes, found {len(units)} and {len(deal_units or units)}")
    most = max(tables.deals, tables.cycle_factor) * max(1, *map(abs, (*units, *(deal_units or ()))))
    paid = np.array(units, dtype=exact_type(most))
    values = np.empty(block.rows.shape, paid.dtype)
    # The transform is linear: one number for a row of T instead of a number for each outcome.
    worth = [table.astype(paid.dtype) @ paid for table in tables.counts]
    for mask in range(31):
        np.take(worth[HELD[mask]], block.rows[mask], out=values[mask], mode="clip")
    values[31] = paid[tables.outcomes[block.start : block.stop]]
    _transform(values)
    if tables.ordered is not None and block.placed is not None:
        values = place_values(tables.ordered, block.placed, values, paid)
    if deal_units is not None:
        values[31] = np.array(deal_units, paid.dtype)[block.outcomes]
    values *= np.array(tables.multipliers, paid.dtype)[list(HELD), None]
    return values


def optimal_holds(values: NDArray[Any], repeats: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """(n,): the bit set of the holds of greatest value, of (32, n) `values` over one denominator.

    >>> values = np.zeros((32, 1), np.int64)
    >>> values[[3, 5, 6], 0] = 7
    >>> optimal_holds(values, np.array([1 << 6], np.uint32)).tolist() == [1 << 3 | 1 << 5]
    True
    """
    best = values.max(axis=0)
    optimal = np.zeros(values.shape[1], np.uint32)
    for mask in range(32):
        optimal |= (values[mask] == best).astype(np.uint32) << np.uint32(mask)
    return optimal & ~repeats


def lowest_hold(optimal: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """(n,): the lowest mask of each bit set.

    >>> lowest_hold(np.array([1 << 3 | 1 << 5, 1 << 31, 1], np.uint32)).tolist()
    [3, 31, 0]
    """
    hold: NDArray[np.uint8] = np.bitwise_count((optimal & -optimal) - np.uint32(1))
    return hold


def choose(optimal: NDArray[np.uint32], squares: NDArray[Any], rule: str) -> NDArray[np.uint8]:
    """(n,): the hold that a tie rule takes of each bit set of optimal ones.

    `squares` is (32, n), the exact mean of the squared win under each hold over one denominator; it decides for
    ``least-variance`` and ``most-variance``, then the lowest mask, which is all that ``lowest-mask`` asks for.

    >>> squares = np.arange(32, dtype=np.int64)[:, None] // 4
    >>> [choose(np.array([1 << 3 | 1 << 5 | 1 << 6], np.uint32), squares, rule).tolist() for rule in TIE_BREAKS]
    [[3], [3], [5]]
    """
    if rule not in TIE_BREAKS:
        raise ValueError(f"tie rule {rule!r} is none of {', '.join(TIE_BREAKS)}")
    hold = lowest_hold(optimal)
    if rule == "lowest-mask":
        return hold
    best = squares[hold, np.arange(len(hold))]
    for mask in range(32):
        square = squares[mask]
        better = (square < best) if rule == "least-variance" else (square > best)
        better &= (optimal >> np.uint32(mask) & np.uint32(1)).astype(bool)
        hold[better], best[better] = mask, square[better]
    return hold
