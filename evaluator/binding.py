"""From syntax trees to expressions: names, variables, sets, quantifiers and calls, for one deck."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

from lark import Token, Tree

from evaluator.cards import ALIASES, JOKER, NO_SUIT, Deck
from evaluator.expression import ExpressionError, Pool
from evaluator.language import FUNCTIONS, PLACES, Definition, DefinitionError, what_is
from evaluator.polynomial import ALL, HAND_SIZE, delta_term

MAX_DEPTH = 100
"""nesting of a formula, together with the definitions that it uses"""
MAX_STEPS = 150_000
OPERATORS = {"and": "&", "or": "|", "not": "!"}
"""words that people try, and what they are here"""


@dataclass(frozen=True)
class Card:
    """A variable that stands for one of the five cards."""

    place: int


@dataclass(frozen=True)
class Values:
    """A set of faces (kind "F") or suits (kind "S")."""

    kind: str
    bits: int


Binding = Card | Values
Scope = Mapping[str, Binding]


class Binder:
    """Turns parsed formulas into nodes of one pool, for one deck and one set of definitions."""

    def __init__(self, deck: Deck, definitions: Mapping[str, Definition]) -> None:
        self.deck = deck
        self.definitions = definitions
        self.pool = Pool()
        self._known: dict[tuple[str, tuple[Binding, ...]], int] = {}
        self._open: list[Definition] = []
        self._steps = 0

    @property
    def used(self) -> frozenset[str]:
        """The names of the definitions that were needed so far."""
        return frozenset(name for name, _ in self._known)

    def bind(self, formula: Definition) -> int:
        """The node of a formula without parameters; raises `DefinitionError`."""
        self._steps = 0
        self._open = []
        return self._body(formula, (), 0)

    def _body(self, formula: Definition, arguments: tuple[Binding, ...], depth: int) -> int:
        key = (formula.name, arguments)
        if formula.name and key in self._known:
            return self._known[key]
        self._open.append(formula)
        number = self._node(formula.tree, dict(zip(formula.parameters, arguments, strict=True)), depth)
        self._open.pop()
        if formula.name:
            self._known[key] = number
        return number

    def _error(self, at: Tree[Token] | Token, message: str, hint: str = "") -> DefinitionError:
        formula = self._open[-1]
        place = at if isinstance(at, Token) else at.meta
        line, column = getattr(place, "line", 0) or 0, getattr(place, "column", 0) or 0
        return DefinitionError(message, formula.where, formula.text, line, column, hint)

    def _node(self, tree: Tree[Token], scope: Scope, depth: int) -> int:
        self._steps += 1
        if depth > MAX_DEPTH or self._steps > MAX_STEPS:
            what = f"nested more than {MAX_DEPTH} deep" if depth > MAX_DEPTH else f"more than {MAX_STEPS} steps long"
            raise self._error(tree, f"the formula is {what}", "quantify over fewer cards at once, or split it up")
        try:
            return self._operation(tree, scope, depth)
        except ExpressionError as problem:
            raise self._error(tree, str(problem)) from None

    def _operation(self, tree: Tree[Token], scope: Scope, depth: int) -> int:
        match tree.data:
            case "number":
                return self.pool.constant(self._integer(tree.children[0]))
            case "alternative" | "product":
                parts = [self._node(child, scope, depth + 1) for child in _trees(tree)]
                return self.pool.any(parts) if tree.data == "alternative" else self.pool.product(parts)
            case "sum" | "signed":
                return self._signed_sum(tree, scope, depth)
            case "negation":
                return self.pool.negate(self._node(_trees(tree)[0], scope, depth + 1))
            case "delta":
                return self._delta(tree, scope)
            case "over_cards" | "over_values":
                return self._quantifier(tree, scope, depth)
            case "call":
                return self._call(tree, scope, depth)
        raise AssertionError(f"no such operation: {tree.data}")

    def _integer(self, token: Tree[Token] | Token) -> int:
        if len(str(token)) > 18:
            raise self._error(token, "the number has more than 18 digits")
        return int(str(token))

    def _signed_sum(self, tree: Tree[Token], scope: Scope, depth: int) -> int:
        sign, parts = 1, []
        for child in tree.children:
            if isinstance(child, Token):
                sign = -1 if child == "-" else 1
            else:
                parts.append((self._node(child, scope, depth + 1), sign))
        return self._add(parts)

    def _add(self, parts: Sequence[tuple[int, int]]) -> int:
        total: dict[int, int] = {}
        for number, sign in parts:
            total[number] = total.get(number, 0) + sign
        return self.pool.sum(total)

    # --- deltas and sets ----------------------------------------------------------------------------------------------

    def _delta(self, tree: Tree[Token], scope: Scope) -> int:
        names, values = tree.children[0], tree.children[1]
        tokens = _tokens(names)
        vertices = [self._vertex(token, scope) for token in tokens]
        kinds = {kind for _, kind in vertices}
        if len(kinds) > 1:
            raise self._error(tree, "a face cannot equal a suit", "take faces (aF) or suits (aS), not both")
        kind = kinds.pop()
        cards = [place for place, _ in vertices]
        if values is None and len(set(tokens)) < 2:
            raise self._error(tree, "one vertex equals itself", f"add a set: same({tokens[0]}){{…}}")
        return self.pool.term(delta_term(kind, cards, ALL if values is None else self._set(values, scope, kind).bits))

    def _vertex(self, token: Token, scope: Scope) -> tuple[int, str]:
        name, kind = token[:-1], token[-1]
        card = scope.get(name, Card(PLACES[name]) if name in PLACES else None)
        if kind in ("F", "S") and isinstance(card, Card):
            return card.place, kind
        cards = [name for name, binding in scope.items() if isinstance(binding, Card)]
        why = f": {str(name)!r} stands for {_kind(card.kind)}" if kind in "FS" and isinstance(card, Values) else ""
        raise self._error(
            token,
            f"{str(token)!r} is not the face or suit of a card here{why}",
            f"write {_one_of([card + 'F' for card in cards] + [card + 'S' for card in cards] or ['C1F … C5S'])}",
        )

    def _set(self, tree: Tree[Token] | Token, scope: Scope, kind: str | None) -> Values:
        """The values of a set; of the wanted kind, or of the kind that its first value has."""
        bits = 0
        items = _trees(tree)
        if not items:
            raise self._error(tree, "the set is empty: nothing is ever in it")
        for item in items:
            value = self._item(item, scope, kind)
            kind = value.kind
            bits |= value.bits
        return Values(kind or "F", bits)

    def _item(self, item: Tree[Token], scope: Scope, kind: str | None) -> Values:
        if item.data == "no_suit":
            return self._literal(item, NO_SUIT, kind)
        low, *rest = _tokens(item)
        first = self._value(low, scope, kind)
        if not rest:
            return first
        high = rest[0]
        last = self._value(high, scope, first.kind)
        if first.bits.bit_count() > 1 or last.bits.bit_count() > 1 or first.bits > last.bits:
            hint = f"the deck's order is {' '.join(self.deck.faces if first.kind == 'F' else self.deck.suits)}"
            raise self._error(item, f"{low}-{high} is not a range from a lower to a higher value", hint)
        return Values(first.kind, 2 * last.bits - first.bits)

    def _value(self, token: Token, scope: Scope, kind: str | None) -> Values:
        bound = scope.get(token)
        if isinstance(bound, Card):
            raise self._error(token, f"{str(token)!r} is a card here, not a value", "give the variable another name")
        if bound is None:
            return self._literal(token, str(token), kind)
        if kind not in (None, bound.kind):
            raise self._error(token, f"{str(token)!r} stands for {_kind(bound.kind)} here, expected {_kind(kind)}")
        return bound

    def _literal(self, at: Tree[Token] | Token, name: str, kind: str | None) -> Values:
        found = _literals(self.deck).get(name) or _literals(self.deck).get(name.casefold(), Values("", 0))
        if found.kind and kind in (None, found.kind):
            return found
        allowed = [n for n, v in _literals(self.deck).items() if kind in (None, v.kind) and n not in ALIASES]
        alike = [other for other in allowed if other.casefold() == name.casefold()]
        close = alike or difflib.get_close_matches(name, allowed, 1, 0.5) or [" ".join(allowed)]
        wanted = "face or suit" if kind is None else {"F": "face", "S": "suit"}[kind]
        raise self._error(at, f"{name!r} is not a {wanted} of this deck", f"there is {close[0]}")

    # --- quantifiers --------------------------------------------------------------------------------------------------

    def _quantifier(self, tree: Tree[Token], scope: Scope, depth: int) -> int:
        quantifier, names, *domain, body = tree.children
        variables = _tokens(names)
        for i, name in enumerate(variables):
            self._check_variable(name, scope, variables[:i])
        choices: Iterator[tuple[Binding, ...]]
        if domain:
            values = self._domain(domain[0], scope)
            choices = permutations(values, len(variables))
        else:
            if len(variables) > HAND_SIZE:
                message = f"{len(variables)} different cards cannot be chosen from a hand of {HAND_SIZE}"
                raise self._error(variables[HAND_SIZE], message, "quantify over fewer cards")
            choices = permutations(map(Card, range(HAND_SIZE)), len(variables))
        numbers = {
            self._node(_as_tree(body), {**scope, **dict(zip(variables, choice, strict=True))}, depth + 1)
            for choice in choices
        }
        combine: dict[str, Callable[[], int]] = {
            "some": lambda: self.pool.any(numbers),
            "every": lambda: self.pool.product(sorted(numbers)),
            "total": lambda: self.pool.sum(dict.fromkeys(numbers, 1)),
        }
        return combine[str(quantifier)]()

    def _check_variable(self, name: Token, scope: Scope, before: Sequence[str]) -> None:
        if name in (*FUNCTIONS, *PLACES, *self.deck.faces):
            raise self._error(name, f"a variable cannot be called {str(name)!r}: that is a {what_is(name)}")
        if name in self.definitions:
            raise self._error(name, f"a variable cannot be called {str(name)!r}: that is a definition")
        if name in scope or name in before:
            raise self._error(name, f"{str(name)!r} is already a variable here", "give the variable another name")

    def _domain(self, tree: Tree[Token] | Token, scope: Scope) -> list[Values]:
        if isinstance(tree, Tree) and tree.data == "runs":
            return self._runs(tree)
        if isinstance(tree, Tree) and tree.data == "named_domain":
            name = str(tree.children[0])
            bound = scope.get(name)
            if not isinstance(bound, Values):
                if name not in ("faces", "suits"):
                    hint = "write faces, suits, {…} or runs(5)"
                    raise self._error(tree, f"{name!r} is nothing to choose from", hint)
                bound = _literals(self.deck)[name]
        else:
            bound = self._set(tree, scope, None)
        return [Values(bound.kind, 1 << i) for i in range(bound.bits.bit_length()) if bound.bits >> i & 1]

    def _runs(self, tree: Tree[Token]) -> list[Values]:
        length = self._integer(tree.children[0])
        if not 2 <= length <= len(self.deck.faces):
            raise self._error(tree, f"runs({length}): expected 2 to {len(self.deck.faces)}, the faces of the deck")
        return [Values("F", bits) for bits in windows(self.deck, length)]

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, tree: Tree[Token], scope: Scope, depth: int) -> int:
        name, arguments = _tokens(tree)[0], _trees(tree)
        definition = self.definitions.get(str(name))
        if definition is None:
            raise self._unknown(name, scope)
        wanted = definition.parameters
        if len(arguments) != len(wanted):
            hint = f"write {name}({', '.join(wanted)})" if wanted else f"write {name}, or {name} & (…) for a product"
            expected = f"{len(wanted)} value{'s' * (len(wanted) != 1)}"
            raise self._error(tree, f"{name} takes {expected}, found {len(arguments)}", hint)
        if any(definition is other for other in self._open):
            chain = " → ".join([other.name or other.where for other in self._open] + [definition.name])
            raise self._error(tree, f"the definition uses itself: {chain}")
        return self._body(definition, tuple(self._argument(argument, scope) for argument in arguments), depth + 1)

    def _unknown(self, name: Token, scope: Scope) -> DefinitionError:
        if name in scope:
            is_card = isinstance(scope[name], Card)
            hint = f"write same({name}F,…) or same({name}S,…)" if is_card else f"use it in a set: {{{name}}}"
            return self._error(name, f"{str(name)!r} is a variable, not a condition", hint)
        close = difflib.get_close_matches(name, [*self.definitions, *FUNCTIONS], 1)
        hint = f"did you mean {close[0]}?" if close else ""
        hint = f"write {OPERATORS[name.lower()]}" if name.lower() in OPERATORS else hint
        return self._error(name, f"there is no definition {str(name)!r}", hint)

    def _argument(self, argument: Tree[Token], scope: Scope) -> Binding:
        if argument.data == "set":
            return self._set(argument, scope, None)
        token = _tokens(argument)[0]
        if (bound := scope.get(token)) is not None:
            return bound
        return Card(PLACES[token]) if token in PLACES else self._literal(token, str(token), None)


def windows(deck: Deck, length: int) -> list[int]:
    """The straight windows of the deck's faces as bit sets: `length` neighbours, a highest face A also low.

    >>> [bin(w) for w in windows(Deck(), 5)][:2], len(windows(Deck(), 5))
    (['0b1000000001111', '0b11111'], 10)
    """
    count = len(deck.faces)
    runs = [((1 << length) - 1) << low for low in range(count - length + 1)]
    if deck.faces[-1] == "A":
        runs.insert(0, 1 << (count - 1) | (1 << (length - 1)) - 1)
    return list(dict.fromkeys(runs))


@lru_cache(maxsize=64)
def _literals(deck: Deck) -> dict[str, Values]:
    """Every name that stands for a value or a set of values in this deck."""
    named = {face: Values("F", 1 << i) for i, face in enumerate(deck.faces)}
    named |= {suit: Values("S", 1 << i) for i, suit in enumerate(deck.suits)}
    named |= {alias: named[name] for alias, name in ALIASES.items() if name in named and alias not in named}
    named["faces"] = Values("F", (1 << len(deck.faces)) - 1)
    named["suits"] = Values("S", (1 << len(deck.suits)) - 1)
    if deck.jokers:
        named[JOKER] = Values("F", 1 << len(deck.faces))
    if deck.jokers or deck.extra:
        named[NO_SUIT] = Values("S", 1 << len(deck.suits))
    return named


def _trees(tree: Tree[Token] | Token) -> list[Tree[Token]]:
    return [child for child in tree.children if isinstance(child, Tree)] if isinstance(tree, Tree) else []


def _tokens(tree: Tree[Token] | Token) -> list[Token]:
    return [child for child in tree.children if isinstance(child, Token)] if isinstance(tree, Tree) else [tree]


def _as_tree(tree: Tree[Token] | Token) -> Tree[Token]:
    assert isinstance(tree, Tree), tree
    return tree


def _kind(kind: str | None) -> str:
    return "faces" if kind == "F" else "suits"


def _one_of(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]
