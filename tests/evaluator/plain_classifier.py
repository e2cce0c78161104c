"""9/6 Jacks or Better without the definition language: a plain NumPy classifier, as the textbooks have it."""

import numpy as np
from numpy.typing import NDArray

WINS = (
    "royal flush",
    "straight flush",
    "four of a kind",
    "full house",
    "flush",
    "straight",
    "three of a kind",
    "two pair",
    "jacks or better",
)
NINE_SIX = (4000, 250, 125, 45, 30, 20, 15, 10, 5, 0)  # for five credits
NOTHING = len(WINS)


def jacks_or_better(hands: NDArray[np.integer]) -> NDArray[np.uint8]:
    """(n, 5) cards of a 52-card deck, number 4 * face + suit -> (n,) index into WINS, or NOTHING."""
    faces, suits = hands.astype(int) // 4, hands.astype(int) % 4
    counts = (faces[:, :, None] == np.arange(13)).sum(axis=1)
    alike = np.sort(counts, axis=1)[:, ::-1]
    held = (counts > 0) @ (1 << np.arange(13))
    flush = (suits == suits[:, :1]).all(axis=1)
    straight = np.isin(held, [0b11111 << low for low in range(9)] + [0b1000000001111])
    tests = (
        flush & (held == 0b11111 << 8),
        flush & straight,
        alike[:, 0] == 4,
        (alike[:, 0] == 3) & (alike[:, 1] == 2),
        flush,
        straight,
        alike[:, 0] == 3,
        (alike[:, 0] == 2) & (alike[:, 1] == 2),
        (counts[:, 9:] == 2).any(axis=1),
    )
    return np.select(tests, range(9), NOTHING).astype(np.uint8)
