"""Hold'em as it is explained to a child: slow, obvious, sharing nothing with the package."""

from collections import Counter
from functools import cache
from itertools import combinations

FACES, SUITS = "23456789TJQKA", "cdhs"


def card(text):
    return 4 * FACES.index(text[0]) + SUITS.index(text[1])


def cards(text):
    text = text.replace(" ", "")
    return tuple(card(text[i : i + 2]) for i in range(0, len(text), 2))


def value5(hand):
    """A value for five cards; the higher hand has the higher value."""
    faces = sorted((c // 4 for c in hand), reverse=True)
    groups = sorted(Counter(faces).items(), key=lambda item: (-item[1], -item[0]))
    shape = tuple(times for _, times in groups)
    order = tuple(face for face, _ in groups)
    one_suit = len({c % 4 for c in hand}) == 1
    top = faces[0] if faces == list(range(faces[0], faces[0] - 5, -1)) else 3 if faces == [12, 3, 2, 1, 0] else None
    if top is not None:
        return (8 if one_suit else 4, (top,))
    if one_suit:
        return (5, order)
    return ({(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1}.get(shape, 0), order)


@cache
def value(hand):
    """The best five of any number of cards."""
    return max(map(value5, combinations(hand, 5)))


@cache
def value_of_two(two, board):
    """The best of two cards with three of the board."""
    return max(value5(two + three) for three in combinations(board, 3))


def omaha_value(hole, board):
    """The best of two of the hole with three of the board."""
    return max(value_of_two(two, board) for two in combinations(hole, 2))


def standing(mine, other):
    """0 ahead, 1 tied, 2 behind."""
    return 0 if mine > other else 1 if mine == other else 2


def counts(hole, board, look, hole_value=lambda hole, board: value(hole + board)):
    """(ahead, tied, behind), and the 3 x 3 pairs, by going through every opponent and every run-out."""
    left = [c for c in range(52) if c not in hole + board]
    now, pairs = [0, 0, 0], [[0, 0, 0] for _ in range(3)]
    for other in combinations(left, len(hole)):
        before = standing(hole_value(hole, board), hole_value(other, board))
        now[before] += 1
        for more in combinations([c for c in left if c not in other], look):
            after = standing(hole_value(hole, board + more), hole_value(other, board + more))
            pairs[before][after] += 1
    return tuple(now), tuple(map(tuple, pairs))
