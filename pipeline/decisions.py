"""Someone else's decisions, from CSV or Parquet: five cards in order, and the cards held."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from evaluator.cards import CardError, Deck, parse_cards, parse_hand
from pipeline.check_table import UNREADABLE
from pipeline.faults import ConfigError, Fault

CARDS = tuple(f"c{i}" for i in range(1, 6))
HELP = "expected a column hand or deal, or five columns c1 to c5, and a column held, or hold with a mask"


@dataclass(frozen=True)
class Problem:
    """A row that cannot be played."""

    row: int
    """of the file, the first after the heading is 1"""
    kind: str
    """impossible, duplicate (the same deal and hold again) or conflict (the same deal with another hold)"""
    message: str
    """what is wrong"""


@dataclass(frozen=True)
class Decisions:
    """The rows of a file that can be played, each deal once."""

    deals: NDArray[np.intp]
    """(m, 5): cards in the order of the file"""
    masks: NDArray[np.intp]
    """(m,): bit i set = the i-th card of the deal is held"""
    problems: tuple[Problem, ...]
    """all other rows"""


def read_decisions(path: Path, deck: Deck, ordered: bool = False) -> Decisions:
    """The decisions of a file, or of all Parquet files of a directory; raises `ConfigError` for unknown columns.

    Of rows for the same five cards, in the same order where that matters, the first counts.
    """
    problems: list[Problem] = []
    deals: list[Sequence[int]] = []
    masks: list[int] = []
    known: dict[tuple[int, ...], tuple[int, frozenset[int]]] = {}
    parse = _Cards(deck)
    for number, (hand, held) in enumerate(_rows(path), start=1):
        try:
            cards = parse.deal(hand)
            mask = parse.mask(cards, held)
        except (CardError, ValueError) as problem:
            problems.append(Problem(number, "impossible", str(problem)))
            continue
        key = tuple(cards) if ordered else tuple(sorted(cards))
        kept = frozenset(card for i, card in enumerate(cards) if mask >> i & 1)
        first, before = known.setdefault(key, (number, kept))
        if first != number:
            kind = "duplicate" if kept == before else "conflict"
            problems.append(Problem(number, kind, f"{_text(hand)} is in row {first} already"))
            continue
        deals.append(cards)
        masks.append(mask)
    return Decisions(np.array(deals, np.intp).reshape(-1, 5), np.array(masks, np.intp), tuple(problems))


class _Cards:
    """Cards from names or numbers; plain names are looked up, anything else is parsed."""

    def __init__(self, deck: Deck) -> None:
        self.deck, self.numbers = deck, {name: number for number, name in enumerate(deck.names)}

    def deal(self, hand: Any) -> Sequence[int]:
        if isinstance(hand, tuple) and all(isinstance(card, int) for card in hand):
            if not all(0 <= card < self.deck.kinds for card in hand):
                raise CardError(f"{hand}: card numbers run from 0 to {self.deck.kinds - 1}")
            return parse_hand(self.deck, " ".join(self.deck.names[card] for card in hand))
        text = _text(hand)
        cards = [self.numbers.get(name, -1) for name in text.split()]
        if len(cards) == 5 == len(set(cards)) and min(cards) >= 0:
            return cards
        return parse_hand(self.deck, text)

    def mask(self, cards: Sequence[int], held: Any) -> int:
        if isinstance(held, int):
            if not 0 <= held <= 31:
                raise ValueError(f"expected a mask from 0 to 31, found {held}")
            return held
        mask = 0
        names = [self.numbers.get(name, -1) for name in held.split()]
        for card in parse_cards(self.deck, held) if -1 in names else names:
            place = next((i for i, mine in enumerate(cards) if mine == card and not mask >> i & 1), None)
            if place is None:
                shown = " ".join(self.deck.names[card] for card in cards)
                raise ValueError(f"{self.deck.names[card]} is held, but not dealt, or held twice: {shown}")
            mask |= 1 << place
        return mask


def _text(hand: Any) -> str:
    return hand if isinstance(hand, str) else " ".join(map(str, hand))


def _rows(path: Path) -> Iterator[tuple[Any, Any]]:
    """Hand and hold of each row, as text, as a tuple of five, or the hold as a mask."""
    if path.is_dir() or path.suffix == ".parquet":
        files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        for file in files:
            yield from _parquet_rows(file)
        if not files:
            raise ConfigError([Fault(str(path), "", "has no Parquet files")])
        return
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            rows = csv.reader(lines)
            heading = [name.strip().casefold() for name in next(rows, [])]
            hand, held = _columns(path, heading)
            for row in rows:
                if row:
                    row += [""] * (len(heading) - len(row))
                    kept = row[held].strip()
                    mask = int(kept) if heading[held] == "hold" and kept.isdecimal() else kept
                    yield (row[hand[0]] if len(hand) == 1 else tuple(row[i].strip() for i in hand)), mask
    except UnicodeDecodeError as problem:
        raise ConfigError([Fault(str(path), "", f"is not UTF-8 text: {problem}")]) from None


def _parquet_rows(path: Path) -> Iterator[tuple[Any, Any]]:
    try:
        table = pq.ParquetFile(pa.BufferReader(path.read_bytes())).read()
    except FileNotFoundError:
        raise
    except UNREADABLE as problem:
        raise ConfigError([Fault(str(path), "", f"is not Parquet: {problem}")]) from None
    hand, held = _columns(path, [name.casefold() for name in table.column_names])
    columns = [table.column(i).to_pylist() for i in hand]
    hands = columns[0] if len(hand) == 1 else zip(*columns, strict=True)
    for cards, kept in zip(hands, table.column(held).to_pylist(), strict=True):
        yield cards, "" if kept is None else kept


def _columns(path: Path, names: list[str]) -> tuple[list[int], int]:
    """Which columns are the hand, one or five, and the hold."""
    hand = next(([names.index(name)] for name in ("hand", "deal") if name in names), None)
    if hand is None and all(name in names for name in CARDS):
        hand = [names.index(name) for name in CARDS]
    held = next((names.index(name) for name in ("held", "hold") if name in names), None)
    if hand is None or held is None:
        raise ConfigError([Fault(str(path), "", f"{HELP}; found {', '.join(names) or 'nothing'}")])
    return hand, held
