"""Ranges: what an opponent may hold, written as people do, as 1,326 weights.

    AA,KK      QQ+      22-55      AK  AKs  AKo      ATs+  KTo-KQo      AhKd      AKs:0.5,72o:1/4

``+`` goes up: pairs to aces, other hands by the lower card to the one below the higher. After a colon stands the
weight, a decimal or a fraction, else 1. A ten is T or 10. Of several items for a hole the last one counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from evaluator.cards import STANDARD_FACES, STANDARD_SUITS
from evaluator.holdem.ranks import HOLES, hole_index

_FACE = "[2-9TJQKA]"
_CLASS = re.compile(f"({_FACE})({_FACE})([so]?)", re.IGNORECASE)
_HOLE = re.compile(f"({_FACE}[cdhs])({_FACE}[cdhs])", re.IGNORECASE)


class RangeError(ValueError):
    """Text that is not a range; the message names the item."""


def parse_range(text: str) -> list[Fraction]:
    """The 1,326 weights of a range; raises `RangeError`.

    >>> [sum(parse_range(text)) for text in ("AA", "AKs", "AK", "QQ+", "22-44,ATs+", "AhKd,72o:1/4")]
    [Fraction(6, 1), Fraction(4, 1), Fraction(16, 1), Fraction(18, 1), Fraction(34, 1), Fraction(4, 1)]
    """
    weights = [Fraction(0)] * HOLES
    for item in filter(None, map(str.strip, re.split(r"[,\s]+", text.strip()))):
        said, colon, number = item.partition(":")
        try:
            weight = Fraction(number) if colon else Fraction(1)
        except (ValueError, ZeroDivisionError):
            raise RangeError(f"{item!r}: {number!r} is not a weight; write a decimal or a fraction") from None
        if weight < 0:
            raise RangeError(f"{item!r}: a weight cannot be below 0")
        for hole in _holes(item, said.replace("10", "T")):
            weights[hole] = weight
    if not any(weights):
        raise RangeError(f"{text!r}: no hole has a weight")
    return weights


def _holes(item: str, said: str) -> Iterator[int]:
    if match := _HOLE.fullmatch(said):
        first, second = (_card(text) for text in match.groups())
        if first == second:
            raise RangeError(f"{item!r}: the same card twice")
        yield int(hole_index()[first, second])
        return
    low, dash, high = said.partition("-")
    up = low.endswith("+") and not dash
    start = _hand(item, low.removesuffix("+") if up else low)
    end = _hand(item, high) if dash else ((12, 12, "") if start[0] == start[1] else (start[0], start[0] - 1, start[2]))
    if not up and not dash:
        end = start
    pair = start[0] == start[1]
    if pair != (end[0] == end[1]) or start[2] != end[2] or (not pair and start[0] != end[0]):
        raise RangeError(f"{item!r}: both ends are pairs, or have the same higher card and the same suits")
    for face in range(min(start[1], end[1]), max(start[1], end[1]) + 1):
        yield from _suits(face if pair else start[0], face, start[2])


def _hand(item: str, text: str) -> tuple[int, int, str]:
    """Higher face, lower face, and s, o or nothing."""
    match = _CLASS.fullmatch(text)
    if not match:
        raise RangeError(f"{item!r}: {text!r} is not a starting hand; write AA, AKs, AKo, AK or AhKd")
    low, high = sorted(STANDARD_FACES.index(face.upper()) for face in match.groups()[:2])
    kind = match.group(3).lower()
    if low == high and kind:
        raise RangeError(f"{item!r}: a pair has two suits, write {text[:2]}")
    return high, low, kind


def _suits(high: int, low: int, kind: str) -> Iterator[int]:
    """The holes of two faces: all, those of one suit, or those of two."""
    for first in range(4):
        for second in range(first) if high == low else range(4):
            if kind != ("o" if first == second else "s"):
                yield int(hole_index()[4 * high + first, 4 * low + second])


def _card(text: str) -> int:
    return 4 * STANDARD_FACES.index(text[0].upper()) + STANDARD_SUITS.index(text[1].lower())
