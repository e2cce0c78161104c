"""From rules to the win of every hand: highest win only, and which suits and places the rules can tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, combinations_with_replacement, islice
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck, format_cards
from evaluator.expression import Columns, evaluate_columns, expand, renamed
from evaluator.language import DefinitionError
from evaluator.polynomial import HAND_SIZE, Polynomial, TooManyTerms, deals, rename, same
from evaluator.rules import Program, win_key

BLOCK = 1 << 16
"""hands that are evaluated at a time, so that memory stays small"""
MAX_SQUARED = 250_000
"""products of terms by which two forms of a win are compared: about a second"""
SEARCHED = 5_000_000
"""all hands of a deck are searched for a difference up to this number"""


def indicators(program: Program, hands: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each win's own definition holds, whatever the other wins are.

    hands: (n, 5) card numbers. Returns (W, n) bool. Raises `DefinitionError` with the hand where a definition takes a
    value other than 0 or 1.
    """
    return next(arranged_indicators(program, hands, [range(HAND_SIZE)]))


def arranged_indicators(
    program: Program, hands: NDArray[Any], arrangements: Iterable[Sequence[int]]
) -> Iterator[NDArray[np.bool_]]:
    """The `indicators` of the hands in one arrangement of their cards after the other."""
    starts = range(0, len(hands), BLOCK)
    blocks = [Columns(program.rules.deck, hands[start : start + BLOCK]) for start in starts]
    for places in arrangements:
        found = np.empty((len(program.wins), len(hands)), dtype=bool)
        for start, block in zip(starts, blocks, strict=True):
            columns = block.arranged(list(places))
            for number, values in enumerate(evaluate_columns(program.pool, program.wins, columns)):
                if values.dtype != np.bool_ and (wrong := np.flatnonzero((values != 0) & (values != 1))).size:
                    hand = hands[start + wrong[0]][list(places)]
                    raise _not_an_indicator(program, number, hand, int(values[wrong[0]]))
                found[number, start : start + BLOCK] = values
        yield found


def _not_an_indicator(program: Program, number: int, cards: Sequence[int], value: int) -> DefinitionError:
    win = program.rules.wins[number]
    text = format_cards(program.rules.deck, cards)
    return DefinitionError(
        f"{win.name!r} takes the value {value} on {text}; a win is 0 or 1 on every hand",
        win_key(number, program.key),
        hint="where cases overlap, use | instead of +",
    )


def highest(found: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """(W, n) indicators to the (n,) first win that holds; W where none does."""
    outcome = np.full(found.shape[1], len(found), dtype=np.uint8)
    for number in range(len(found) - 1, -1, -1):
        outcome[found[number]] = number
    return outcome


def classify(program: Program, hands: NDArray[Any]) -> NDArray[np.uint8]:
    """The win of each hand: (n, 5) card numbers to (n,) numbers of wins, W for nothing. Raises as `indicators`.

    >>> from evaluator.cards import parse_hand
    >>> from evaluator.rules import Rules, Win, compile_rules
    >>> pair = Win("pair", "some(a,b: same(aF,bF))")
    >>> program = compile_rules(Rules(Deck(), (), (pair,)))
    >>> hands = [parse_hand(Deck(), text) for text in ("As Ah 4d 7c 9c", "As Kh 4d 7c 9c")]
    >>> classify(program, np.array(hands)).tolist()
    [0, 1]
    """
    return highest(indicators(program, hands))


def only(program: Program, numbers: Sequence[int]) -> Program:
    """The program with some of its wins, in their order."""
    rules = replace(program.rules, wins=tuple(program.rules.wins[number] for number in numbers))
    return replace(program, rules=rules, wins=tuple(program.wins[number] for number in numbers))


# --- which suits and places matter ------------------------------------------------------------------------------------


def suit_components(program: Program) -> tuple[tuple[int, ...], ...]:
    """The suits that the rules cannot tell apart: a partition of the suit numbers, each part ascending.

    Suits i and j are exchangeable when no hand changes its win under the transposition (i j). Equal expressions show
    it at once. Else each win that depends on the order of the cards must be the same polynomial, and for the other wins
    all hands are compared, up to `SEARCHED` of them, beyond which the suits are kept apart.
    """
    components: list[list[int]] = []
    parts = [program] if program.bonuses is None else [program, program.bonuses]
    for suit in range(len(program.rules.deck.suits)):
        for component in components:
            if all(_exchangeable(part, component[0], suit) for part in parts):
                component.append(suit)
                break
        else:
            components.append([suit])
    return tuple(map(tuple, components))


def _exchangeable(program: Program, i: int, j: int) -> bool:
    deck, wins = program.rules.deck, program.rules.wins
    swapped = list(range(len(deck.suits) + 1))
    swapped[i], swapped[j] = j, i
    places = range(HAND_SIZE)
    if all(renamed(program.pool, win, places, swapped) == win for win in program.wins):
        return True
    ordered = [number for number in range(len(wins)) if depends_on_order(program, number)]
    if not all(_same_polynomial(program, number, places, swapped) for number in ordered):
        return False
    kept = [number for number in range(len(wins)) if number not in ordered]
    program = only(program, kept)
    rows = comb(deck.kinds + (HAND_SIZE - 1) * int(deck.copies.max() > 1), HAND_SIZE)
    if not kept or rows > SEARCHED:
        return not kept
    rename_card = np.arange(deck.kinds)
    suits = deck.suit_of.astype(int)
    ordinary = suits < len(deck.suits)
    rename_card[ordinary] += np.array(swapped)[suits[ordinary]] - suits[ordinary]
    return all(
        np.array_equal(classify(program, hands), classify(program, rename_card[hands])) for hands in all_hands(deck)
    )


def all_hands(deck: Deck, block: int = BLOCK) -> Iterator[NDArray[np.intp]]:
    """Every hand as an ascending row of card numbers, in blocks of (at most `block`, 5)."""
    if deck.copies.max() == 1:
        rows: Iterator[tuple[int, ...]] = combinations(range(deck.kinds), HAND_SIZE)
    else:
        rows = combinations_with_replacement(range(deck.kinds), HAND_SIZE)
    while (part := np.fromiter(chain.from_iterable(islice(rows, block)), dtype=np.intp)).size:
        hands = part.reshape(-1, HAND_SIZE)
        yield hands[_possible(deck, hands)] if deck.copies.max() > 1 else hands


def _possible(deck: Deck, hands: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether the deck has every card of each ascending row as often as the row names it."""
    times = np.ones(len(hands), dtype=np.int64)
    possible = np.ones(len(hands), dtype=bool)
    for place in range(1, HAND_SIZE):
        times = np.where(hands[:, place] == hands[:, place - 1], times + 1, 1)
        possible &= times <= deck.copies[hands[:, place]]
    return possible


def depends_on_order(program: Program, number: int) -> bool:
    """Whether win `number` (from 0) can change when the cards of a hand change places.

    Exact where it says no: the expression is the same under a swap and a 5-cycle, or its polynomial is equal to the
    exchanged one on every hand. An expression too large to tell counts as dependent.
    """
    return not all(_same_polynomial(program, number, cards) for cards in ([1, 0, 2, 3, 4], [1, 2, 3, 4, 0]))


def _same_polynomial(program: Program, number: int, cards: Sequence[int], suits: Sequence[int] | None = None) -> bool:
    """Whether a win stays the same on every hand when cards, and suits, are renamed; no where that is too large."""
    win = program.wins[number]
    if renamed(program.pool, win, cards, suits) == win:
        return True
    try:
        p = expand(program.pool, win)
        q = rename(p, cards, suits)
        if len((p - q).terms) ** 2 > MAX_SQUARED:
            return False
        return same(p, q, program.rules.deck)
    except TooManyTerms:
        return False


# --- counts of deals --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class DealCount:
    """How many deals are a win."""

    including: int
    """deals for which the definition holds"""
    excluding: int
    """of these, deals for which no higher win holds"""
    exclusions: tuple[int, ...]
    """the higher wins that must be excluded by name, nearest first; the others change nothing then"""


def deal_counts(found: NDArray[np.bool_], weights: NDArray[np.int64]) -> tuple[DealCount, ...]:
    """Counts of deals of each win, from (W, n) indicators of n hands that stand for (n,) `weights` deals each.

    An exclusion is kept only where it changes the count, tried from the nearest higher win upwards.
    """
    counts = []
    for number, holds in enumerate(found):
        left, kept = holds.copy(), []
        for higher in range(number - 1, -1, -1):
            if (left & found[higher]).any():
                left &= ~found[higher]
                kept.append(higher)
        counts.append(DealCount(int(weights[holds].sum()), int(weights[left].sum()), tuple(kept)))
    return tuple(counts)


def polynomial_count(program: Program, number: int, exclusions: Sequence[int] = (), ordered: bool = False) -> int:
    """Deals of a win without those of `exclusions`, by its polynomial; raises `TooManyTerms` where that is large.

    Deals in order, if `ordered`.
    """
    p: Polynomial = expand(program.pool, program.wins[number])
    for other in exclusions:
        p = p * (1 - expand(program.pool, program.wins[other]))
    return deals(p, program.rules.deck, ordered)
