"""Definitions as expressions: a pool of shared nodes that can be expanded to polynomials or evaluated on hands.

A pool lists its nodes so that children come before parents; equal expressions are one node. The normal form is what
makes "instances that are the same expression" a question of equal numbers: products of deltas are joined to one term,
sums and alternatives are flat and their parts sorted, a 0/1 factor counts once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck
from evaluator.polynomial import (
    HAND_SIZE,
    ONE,
    Polynomial,
    Term,
    TooManyTerms,
    as_polynomial,
    holds,
    join,
    rename_term,
)

Array = NDArray[Any]
SAFE = 2**62
"""no node may take values beyond this, so that int64 is enough for all of them"""
MAX_NODES = 100_000
MAX_PRODUCTS = 150_000
"""products of two terms in one expansion: about a second"""


class ExpressionError(ValueError):
    """An expression too large, in nodes or in value."""


class Node(NamedTuple):
    """One operation over earlier nodes."""

    op: str
    """term, sum, product or any (the OR of 0/1 nodes)"""
    args: Any
    """term: the Term; sum: (constant, ((node, coefficient), …)); product and any: (node, …), ascending"""
    boolean: bool
    """whether it can only be 0 or 1, by its form"""
    low: int
    """no hand gives less"""
    high: int
    """no hand gives more"""


@dataclass
class Pool:
    """A growing list of nodes; every method returns the number of a node.

    >>> pool = Pool()
    >>> pair = pool.term((((3, -1),), (), ()))
    >>> pool.any([pair, pair]) == pair, pool.negate(pool.negate(pair)) == pair
    (True, True)
    """

    nodes: list[Node] = field(default_factory=list)
    _known: dict[tuple[str, Any], int] = field(default_factory=dict)

    def _add(self, op: str, args: Any, boolean: bool, low: int, high: int) -> int:
        if (number := self._known.get((op, args))) is not None:
            return number
        if max(-low, high) >= SAFE:
            raise ExpressionError(f"values up to {_magnitude(max(-low, high))} are possible; a definition takes 0 or 1")
        if len(self.nodes) >= MAX_NODES:
            raise ExpressionError(f"the definitions expand to more than {MAX_NODES} different expressions")
        self._known[op, args] = len(self.nodes)
        self.nodes.append(Node(op, args, boolean, low, high))
        return len(self.nodes) - 1

    def constant(self, value: int) -> int:
        """An integer."""
        return self._add("sum", (value, ()), value in (0, 1), value, value)

    def value(self, number: int) -> int | None:
        """The integer that a node is, if it is a constant."""
        node = self.nodes[number]
        return node.args[0] if node.op == "sum" and not node.args[1] else None

    def term(self, term: Term) -> int:
        """A product of deltas."""
        return self.constant(1) if term == ONE else self._add("term", term, True, 0, 1)

    def product(self, factors: Iterable[int]) -> int:
        """The product of some nodes; 1 for none."""
        scale, term, rest, seen = 1, ONE, list[int](), set[int]()
        waiting = list(factors)
        while waiting:
            number = waiting.pop()
            node = self.nodes[number]
            if node.op == "product":
                waiting.extend(node.args)
            elif (constant := self.value(number)) is not None:
                scale *= constant
            elif node.op == "term":
                joined = join(term, node.args)
                if joined is None:
                    return self.constant(0)
                term = joined
            elif not (node.boolean and number in seen):
                rest.append(number)
                seen.add(number)
        if scale == 0:
            return self.constant(0)
        if scale != 1:
            return self.sum({self.product([*rest, self.term(term)]): scale})
        if term != ONE:
            rest.append(self.term(term))
        if len(rest) < 2:
            return rest[0] if rest else self.constant(1)
        rest.sort()
        nodes = [self.nodes[number] for number in rest]
        low, high = reduce(_interval_product, ((node.low, node.high) for node in nodes))
        return self._add("product", tuple(rest), all(node.boolean for node in nodes), low, high)

    def sum(self, parts: Mapping[int, int], constant: int = 0) -> int:
        """The constant plus the nodes times their coefficients."""
        total: defaultdict[int, int] = defaultdict(int)
        waiting = list(parts.items())
        while waiting:
            number, coefficient = waiting.pop()
            node = self.nodes[number]
            if node.op == "sum":
                constant += coefficient * node.args[0]
                waiting.extend((part, coefficient * c) for part, c in node.args[1])
            else:
                total[number] += coefficient
        kept = tuple(sorted((number, c) for number, c in total.items() if c))
        if constant == 0 and len(kept) == 1 and kept[0][1] == 1:
            return kept[0][0]
        ends = [sorted((c * self.nodes[number].low, c * self.nodes[number].high)) for number, c in kept]
        boolean = not kept and constant in (0, 1)
        if constant == 1 and len(kept) == 1 and kept[0][1] == -1:
            boolean = self.nodes[kept[0][0]].boolean
        low, high = constant + sum(low for low, _ in ends), constant + sum(high for _, high in ends)
        return self._add("sum", (constant, kept), boolean, low, high)

    def negate(self, number: int) -> int:
        """NOT: 1 - x."""
        return self.sum({number: -1}, 1)

    def any(self, numbers: Iterable[int]) -> int:
        """OR: 1 - (1 - x)(1 - y)…; 0 for none."""
        parts = set(numbers)
        if not all(self.nodes[number].boolean for number in parts):
            return self.negate(self.product(sorted(self.negate(number) for number in parts)))
        flat: set[int] = set()
        for number in parts:
            node = self.nodes[number]
            flat.update(node.args if node.op == "any" else [number])
        flat.discard(self.constant(0))
        if self.constant(1) in flat:
            return self.constant(1)
        if len(flat) < 2:
            return flat.pop() if flat else self.constant(0)
        return self._add("any", tuple(sorted(flat)), True, 0, 1)

    def children(self, number: int) -> tuple[int, ...]:
        """The nodes that a node is made of."""
        node = self.nodes[number]
        if node.op == "term":
            return ()
        return tuple(part for part, _ in node.args[1]) if node.op == "sum" else node.args

    def reachable(self, numbers: Iterable[int]) -> list[int]:
        """Some nodes and all they are made of, children first."""
        seen: set[int] = set()
        waiting = list(numbers)
        while waiting:
            number = waiting.pop()
            if number not in seen:
                seen.add(number)
                waiting.extend(self.children(number))
        return sorted(seen)


def _magnitude(value: int) -> str:
    """A number for people; one of hundreds of digits as a power of two."""
    return str(value) if value.bit_length() < 100 else f"2^{value.bit_length() - 1} and more"


def _interval_product(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
    ends = [a * b for a in x for b in y]
    return min(ends), max(ends)


def rebuild(pool: Pool, number: int, change: Callable[[Term], Term]) -> int:
    """The node with every term replaced by change(term)."""
    new: dict[int, int] = {}
    for at in pool.reachable([number]):
        op, args = pool.nodes[at][:2]
        if op == "term":
            new[at] = pool.term(change(args))
        elif op == "sum":
            new[at] = pool.sum({new[part]: c for part, c in args[1]}, args[0])
        elif op == "product":
            new[at] = pool.product(new[part] for part in args)
        else:
            new[at] = pool.any(new[part] for part in args)
    return new[number]


def renamed(pool: Pool, number: int, cards: Sequence[int], suits: Sequence[int] | None = None) -> int:
    """The node with card i called cards[i] and, if given, suit value j called suits[j]."""
    return rebuild(pool, number, lambda term: rename_term(term, cards, suits))


def expand(pool: Pool, number: int, most: int = MAX_PRODUCTS) -> Polynomial:
    """The node as a polynomial; raises `TooManyTerms` where that takes more than `most` products of two terms."""
    done: dict[int, Polynomial] = {}
    spent = 0

    def multiply(p: Polynomial, q: Polynomial) -> Polynomial:
        nonlocal spent
        spent += len(p.terms) * len(q.terms)
        if spent > most:
            raise TooManyTerms(f"the expansion takes more than {most} products of two terms")
        return p * q

    for at in pool.reachable([number]):
        op, args = pool.nodes[at][:2]
        if op == "term":
            done[at] = Polynomial({args: 1})
        elif op == "sum":
            done[at] = sum((done[part] * c for part, c in args[1]), as_polynomial(args[0]))
        else:
            factors = [done[part] if op == "product" else 1 - done[part] for part in args]
            factors.sort(key=lambda p: len(p.terms))
            whole = reduce(multiply, factors)
            done[at] = whole if op == "product" else 1 - whole
    return done[number]


# --- evaluation on hands ----------------------------------------------------------------------------------------------


class Columns:
    """The faces and suits of many hands, with the distinct face rows and suit rows set apart.

    What reads only faces is evaluated once per distinct row of faces (6,175 for 52 cards), what reads only suits once
    per distinct row of suits, and spread to the hands where the two meet.
    """

    def __init__(self, deck: Deck, hands: Array) -> None:
        self.size = len(hands)
        self.faces, self.face_row = _distinct(deck.face_of[hands], int(deck.face_of.max()) + 1)
        self.suits, self.suit_row = _distinct(deck.suit_of[hands], int(deck.suit_of.max()) + 1)

    def arranged(self, places: Sequence[int]) -> Columns:
        """Those of the hands with card places[i] in place i; nothing is looked for again."""
        columns = copy(self)
        columns.faces, columns.suits = self.faces[places], self.suits[places]
        return columns


def _distinct(values: Array, base: int) -> tuple[NDArray[np.uint32], NDArray[np.int32]]:
    """The distinct rows of (n, 5) small values as (5, m) single bits, and (n,) which of them each row is."""
    code = np.zeros(len(values), dtype=np.int32)
    for place in range(HAND_SIZE):
        code *= np.int32(base)
        code += values[:, place]
    seen = np.zeros(base**HAND_SIZE, dtype=bool)
    seen[code] = True
    codes = np.flatnonzero(seen)
    rank = np.zeros(len(seen), dtype=np.int32)
    rank[codes] = np.arange(len(codes), dtype=np.int32)
    digits = codes[None, :] // base ** np.arange(HAND_SIZE - 1, -1, -1)[:, None] % base
    return np.uint32(1) << digits.astype(np.uint32), rank[code]


@dataclass(frozen=True)
class _Spread:
    """The values of a node by distinct faces, by distinct suits, or by hand; the parts not yet combined."""

    faces: Array | None = None
    suits: Array | None = None
    hands: Array | None = None

    @cached_property
    def only(self) -> Array | None:
        parts = [part for part in (self.faces, self.suits, self.hands) if part is not None]
        return parts[0] if len(parts) == 1 else None


def evaluate(pool: Pool, numbers: Sequence[int], deck: Deck, hands: Array) -> list[Array]:
    """The value of some nodes for each hand.

    hands: (n, 5) card numbers in the order that the definitions speak of. Returns, for each node, (n,) bool where it
    can only be 0 or 1, else (n,) int64.
    """
    return evaluate_columns(pool, numbers, Columns(deck, hands))


def evaluate_columns(pool: Pool, numbers: Sequence[int], columns: Columns) -> list[Array]:
    """The same for the hands of some columns."""
    order = pool.reachable(numbers)
    last_use = {part: at for at in order for part in pool.children(at)} | dict.fromkeys(numbers, len(pool.nodes))
    done: dict[int, _Spread] = {}
    for at in order:
        node = pool.nodes[at]
        if node.op == "term":
            faces, suits, _ = node.args
            done[at] = _Spread(
                holds(faces, columns.faces) if faces else None, holds(suits, columns.suits) if suits else None
            )
            if faces and suits:
                done[at] = _Spread(hands=_gather(done[at], columns, np.logical_and))
        elif node.op == "sum":
            done[at] = _sum(node, [done[part] for part, _ in node.args[1]], columns)
        else:
            function: np.ufunc = np.logical_or if node.op == "any" else np.logical_and if node.boolean else np.multiply
            done[at] = _combine([done[part] for part in node.args], function, columns)
        for part in pool.children(at):
            if last_use[part] == at:
                del done[part]
    return [_gather(done[number], columns, np.logical_and) for number in numbers]


def _gather(value: _Spread, columns: Columns, function: np.ufunc) -> Array:
    """The parts of a value brought to the hands and combined."""
    parts = []
    if value.faces is not None:
        parts.append(value.faces[columns.face_row])
    if value.suits is not None:
        parts.append(value.suits[columns.suit_row])
    if value.hands is not None:
        parts.append(value.hands)
    return parts[0] if len(parts) == 1 else np.asarray(reduce(function, parts))


def _combine(values: Sequence[_Spread], function: np.ufunc, columns: Columns) -> _Spread:
    """The values combined by an associative function, where they are equally spread first."""

    def reduced(arrays: Iterable[Array | None]) -> Array | None:
        present = [array for array in arrays if array is not None]
        if not present:
            return None
        if function is np.multiply:
            present = [array.astype(np.int64) for array in present]
        return np.asarray(reduce(function, present))

    joined = _Spread(
        reduced(value.faces for value in values),
        reduced(value.suits for value in values),
        reduced(value.hands for value in values),
    )
    return joined if joined.only is not None else _Spread(hands=_gather(joined, columns, function))


def _sum(node: Node, values: Sequence[_Spread], columns: Columns) -> _Spread:
    constant, parts = node.args
    if not parts:
        dtype = bool if node.boolean else np.int64
        return _Spread(hands=np.full(columns.size, constant, dtype=dtype))
    if node.boolean:
        (value,) = values
        return _Spread(*(None if part is None else ~part for part in (value.faces, value.suits, value.hands)))
    scaled = [
        _Spread(*(None if a is None else a * np.int64(c) for a in (value.faces, value.suits, value.hands)))
        for value, (_, c) in zip(values, parts, strict=True)
    ]
    total = _combine(scaled, np.add, columns)
    return _Spread(*(None if a is None else a + np.int64(constant) for a in (total.faces, total.suits, total.hands)))
