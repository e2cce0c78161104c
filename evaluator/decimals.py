"""Exact decimals: fractions and square roots to 12 places, rounded by integer arithmetic, never by a float."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

PLACES = 12
_SCALE = 10**PLACES


def decimal_12(value: Fraction | int) -> str:
    """`value` to 12 places, half to even.

    >>> decimal_12(Fraction(1653526326983, 1661102543100))
    '0.995439043695'
    >>> decimal_12(Fraction(1, 2 * 10**12)), decimal_12(Fraction(3, 2 * 10**12)), decimal_12(-1)
    ('0.000000000000', '0.000000000002', '-1.000000000000')
    """
    part, whole = value.as_integer_ratio()
    below, rest = divmod(part * _SCALE, whole)
    return _place_point(below + (2 * rest + (below & 1) > whole))


def surd_12(rational: Fraction | int, square: Fraction | int, sign: int = 1) -> str:
    """``rational + sign * sqrt(square)`` to 12 places, rounded exactly.

    `sign` is 1 or -1. Raises `ValueError` for a negative square.

    >>> surd_12(0, 2), surd_12(1, Fraction(1, 4), -1), surd_12(0, 3, -1)
    ('1.414213562373', '0.500000000000', '-1.732050807569')
    """
    part, whole = square.as_integer_ratio()
    if part < 0 or sign not in (1, -1):
        raise ValueError(f"expected a square not below 0 and a sign of 1 or -1, found {square} and {sign}")
    up, down = isqrt(part), isqrt(whole)
    if up * up == part and down * down == whole:
        return decimal_12(rational + sign * Fraction(up, down))
    # An irrational number is never half way, so the nearest integer to x is floor(x + 1/2). With x + 1/2 written as
    # (a + sign * sqrt(b)) / c for whole a and c, the floor does not change when the root is rounded down first.
    above, below = rational.as_integer_ratio()
    a, c = 2 * above * _SCALE + below, 2 * below
    root = isqrt(part * (_SCALE * c) ** 2 // whole)
    return _place_point((a + (root if sign > 0 else -root - 1)) // c)


def _place_point(scaled: int) -> str:
    whole, places = divmod(abs(scaled), _SCALE)
    return f"{'-' if scaled < 0 else ''}{whole}.{places:0{PLACES}}"
