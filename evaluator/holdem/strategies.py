"""How many pure strategies a player has in one betting round of fixed-limit hold'em: exact, and very large.

Players sit in a circle; position 0 acts first and position n - 1, the big blind, has bet 1 already. A player folds,
calls, or raises by 1 while the bet is below the cap; folding without need is allowed. The round ends when one player is
left or all have matched the bet, the big blind having acted. What a player can still do depends only on

    (bet, players still to act, players who have matched, place of the counted player in this circle)

    bet 1, three players, place 2:      0 1 [2] |           to act | matched
    player 0 calls:                       1 [2] | 0         (1, 2, 1, place 1)
    player 1 raises:                        [2] 0 | 1       (2, 2, 1, place 0): everyone else acts again

so few states stand for a tree of any size: 230 for six players, 1,044 for ten.

A reduced strategy says what a player does wherever the player's own earlier actions lead. Its number is 1 where the
round is over; at an own node the sum over the actions, for one of them is chosen, a fold counting 1; at a node of
another player the product over the actions, for each of them has to be answered. An unreduced strategy chooses at every
node, reached or not.

Source: habr.com/ru/post/320958. Its table names the last position the button, "of order 10^1805" for six players; that
position is the big blind, and the algorithm printed there gives a number of 1,804 digits, 1.8022...e1803.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from math import prod
from typing import TypeVar

CAP = 4
"""bets in a round, the big blind's included"""
MOST_PLAYERS = 23
"""who can be dealt two cards each beside five on the board, and a card burnt before each of three streets"""
MOST_CAP = 20
MOST_DIGITS = 5_000_000
"""of a number that is written out"""
_NAMES = ("big blind", "small blind", "button", "cutoff", "hijack", "lojack")

_EXACT = decimal.Context(
    prec=decimal.MAX_PREC,
    Emax=decimal.MAX_EMAX,
    Emin=decimal.MIN_EMIN,
    traps=[decimal.Inexact, decimal.InvalidOperation, decimal.Overflow],
)
_LEADING = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN, traps=[decimal.Overflow])


class RoundError(ValueError):
    """A round that cannot be, or whose numbers are too large; the message has what was given and what is possible."""


Value = TypeVar("Value")
State = tuple[int, int, int, int]


@dataclass(frozen=True)
class Round:
    """One betting round as one player sees it.

    >>> [int(pure_strategies(Round(3, position))) for position in range(3)]
    [60805, 211960, 492912000]
    """

    players: int
    """2 to 23"""
    position: int
    """of the player whose strategies are counted; players - 1 is the big blind"""
    cap: int = CAP
    """the highest bet, at least 1"""

    def __post_init__(self) -> None:
        for what, value, low, high in (
            ("players", self.players, 2, MOST_PLAYERS),
            ("cap", self.cap, 1, MOST_CAP),
            ("position", self.position, 0, self.players - 1),
        ):
            if not low <= value <= high:
                raise RoundError(f"{what}: expected {low} to {high}, found {value}")


def position_name(players: int, position: int) -> str:
    """What a position is called; where the table is full it is its distance from the first.

    >>> [position_name(3, position) for position in range(3)]
    ['button', 'small blind', 'big blind']
    >>> position_name(6, 0), position_name(2, 0), position_name(10, 2)
    ('under the gun', 'small blind', 'under the gun + 2')
    """
    last = players - 1 - position
    if last < 3 or (position > 0 and last < len(_NAMES)):
        return _NAMES[last]
    return "under the gun" + (f" + {position}" if position else "")


def _evaluate(
    betting: Round,
    over: Value,
    own: Callable[[list[Value]], Value],
    other: Callable[[list[Value]], Value],
) -> Value:
    """The value of the round: `over` at its ends, `own` and `other` of the values after [fold,] call and raise."""
    known: dict[State, Value] = {}

    def value(state: State) -> Value:
        bet, acting, matched, place = state
        if acting == 0 or acting + matched == 1:
            return over
        if state not in known:
            mine = place == 0
            after = acting + matched - 1 if mine else place - 1
            follow = [] if mine else [value((bet, acting - 1, matched, place - 1))]
            follow.append(value((bet, acting - 1, matched + 1, after)))
            if bet < betting.cap:
                follow.append(value((bet + 1, acting + matched - 1, 1, after)))
            known[state] = own(follow) if mine else other(follow)
        return known[state]

    return value((1, betting.players, 0, betting.position))


def last_digits(betting: Round, hands: int = 1, digits: int = 20) -> int:
    """The number of reduced strategies modulo 10^digits, exact, however large it is.

    >>> last_digits(Round(3, 2), hands=169, digits=5), 492912000**169 % 10**5
    (0, 0)
    >>> last_digits(Round(3, 0), hands=169, digits=5), 60805**169 % 10**5
    (53125, 53125)
    """
    modulus: int = 10**digits

    def multiply(follow: list[int]) -> int:
        return prod(follow) % modulus

    def add(follow: list[int]) -> int:
        return (1 + sum(follow)) % modulus

    return pow(_evaluate(betting, 1, add, multiply), hands, modulus)


def _sum_and_product(betting: Round) -> Decimal:
    def add(follow: list[Decimal]) -> Decimal:
        return sum(follow, Decimal(1))  # 1: the fold, after which nothing is chosen

    def multiply(follow: list[Decimal]) -> Decimal:
        result = follow[0]
        for factor in follow[1:]:
            result *= factor
        return result

    return _evaluate(betting, Decimal(1), add, multiply)


def leading_digits(betting: Round, hands: int = 1) -> Decimal:
    """The number of reduced strategies to 40 digits at least; raises `RoundError` where it has more than 10^18 digits.

    With `hands` classes of own cards each has a strategy of its own: the power.

    >>> f"{leading_digits(Round(6, 5)):.4e}"
    '1.8022e+1803'
    """
    with decimal.localcontext(_LEADING):
        try:
            return _sum_and_product(betting) ** hands
        except decimal.Overflow:
            raise RoundError(
                f"{betting.players} players, cap {betting.cap}, {hands} hands: a number of more than 10^18 digits"
            ) from None


def pure_strategies(betting: Round, hands: int = 1) -> Decimal:
    """The exact number of reduced strategies, an integer, as a Decimal: ``str`` of it takes linear time and no limit.

    Decimals multiply large numbers faster than Python's own integers do. Raises `RoundError` where it would have more
    than `MOST_DIGITS` digits.

    >>> int(pure_strategies(Round(2, 0))), int(pure_strategies(Round(2, 1)))
    (8, 20)
    """
    digits = leading_digits(betting, hands).adjusted() + 1
    if digits > MOST_DIGITS:
        raise RoundError(f"a number of {digits:,} digits; at most {MOST_DIGITS:,} are written out")
    with decimal.localcontext(_EXACT):
        return _power(_sum_and_product(betting), hands)


def _power(base: Decimal, exponent: int) -> Decimal:
    """By squaring; Decimal's own power is not exact at unlimited precision."""
    result = Decimal(1)
    while exponent:
        if exponent & 1:
            result *= base
        exponent >>= 1
        if exponent:
            base *= base
    return result


def information_sets(betting: Round) -> tuple[int, int]:
    """How many nodes of the player have three actions, and how many only two: at the cap nobody raises.

    The unreduced strategies are 3^a * 2^b; the sequences, the empty one included, 1 + 3a + 2b.

    >>> information_sets(Round(6, 5))
    (1136, 5925)
    """
    zero = (0, 0)

    def own(follow: list[tuple[int, int]]) -> tuple[int, int]:
        here = (1, 0) if len(follow) == 2 else (0, 1)
        return other([here, *follow])

    def other(follow: list[tuple[int, int]]) -> tuple[int, int]:
        return sum(pair[0] for pair in follow), sum(pair[1] for pair in follow)

    return _evaluate(betting, zero, own, other)


def sequences(betting: Round) -> int:
    """How many sequences of own actions there are, the empty one included.

    >>> sequences(Round(6, 5))
    15259
    """
    three, two = information_sets(betting)
    return 1 + 3 * three + 2 * two


def states(betting: Round) -> int:
    """How many states the recursion visits.

    >>> states(Round(2, 0)), states(Round(6, 5)), states(Round(10, 9))
    (8, 230, 1044)
    """
    visited = []

    def count(follow: list[int]) -> int:
        visited.append(1)
        return 0

    _evaluate(betting, 0, count, count)
    return len(visited)
