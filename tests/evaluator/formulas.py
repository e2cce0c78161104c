"""Random formulas as trees, their text, and what they mean on one hand by trying every choice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from hypothesis import strategies as st

from evaluator.cards import JOKER, NO_SUIT, Deck
from evaluator.rules import Program, Rules, Win, compile_rules

Tree = tuple
Names = tuple[str, ...]
PLACES = {f"C{place + 1}": place for place in range(5)}


def program_of(deck: Deck, *wins: str, **definitions: str) -> Program:
    """The wins w1, w2, …; a definition's name may hold its parameters, ``pair__X`` for ``pair(X)``."""
    heads = [name.split("__") for name in definitions]
    named = [
        (f"{name}({', '.join(rest)})" if rest else name, text)
        for (name, *rest), text in zip(heads, definitions.values(), strict=True)
    ]
    return compile_rules(Rules(deck, tuple(named), tuple(Win(f"w{i + 1}", when) for i, when in enumerate(wins))))


@dataclass(frozen=True)
class Words:
    """The names that a random formula can use."""

    faces: Names
    suits: Names
    places: bool
    """whether it may name C1 … C5"""


def words(deck: Deck, suits: Sequence[str] | None = None, places: bool = False) -> Words:
    """All faces and suits of a deck, with its joker and missing suit, or only some of the suits."""
    odd = deck.jokers > 0 or bool(deck.extra)
    every_suit = deck.suits + (NO_SUIT,) * odd
    return Words(deck.faces + (JOKER,) * (deck.jokers > 0), tuple(every_suit if suits is None else suits), places)


@st.composite
def formulas(draw: st.DrawFn, said: Words, depth: int = 4, cards: Names = (), values: Names = ()) -> Tree:
    """A formula that is 0 or 1 on every hand; `cards` and `values` are the variables in scope, a value's first letter
    being its kind."""
    usable = cards + (tuple(PLACES) if said.places else ())
    kinds = ["not", "and", "or", "some in", "every in"] if depth > 0 else []
    if depth > 0 and len(cards) < 4:
        kinds += ["some", "every"]
    if usable:
        kinds += ["same"] * 4
    kind = draw(st.sampled_from(kinds or ["constant"]))

    def part(more_cards: Names = (), more_values: Names = ()) -> Tree:
        return draw(formulas(said, depth - 1, cards + more_cards, values + more_values))

    if kind == "constant":
        return ("constant", draw(st.integers(0, 1)))
    if kind == "same":
        return draw(_delta(said, usable, values))
    if kind == "not":
        return ("not", part())
    if kind in ("and", "or"):
        return (kind, part(), part())
    if kind in ("some", "every"):
        names = tuple(f"v{len(cards) + i}" for i in range(draw(st.integers(1, min(3, 4 - len(cards))))))
        return (kind, names, part(names))
    letter = draw(st.sampled_from("FS" if said.suits else "F"))
    name = f"{letter}{len(values)}"
    return (kind, name, draw(_values(said, letter, ())), part((), (name,)))


@st.composite
def _delta(draw: st.DrawFn, said: Words, usable: Names, values: Names) -> Tree:
    letter = draw(st.sampled_from("FS"))
    names = tuple(draw(st.lists(st.sampled_from(usable), min_size=1, max_size=3, unique=True)))
    needs_set = len(names) == 1
    if letter == "S" and not said.suits and not any(value[0] == "S" for value in values):
        if needs_set:
            return ("same", "F", names, draw(_values(said, "F", values)))
        return ("same", "S", names, None)
    chosen = draw(_values(said, letter, values)) if needs_set or draw(st.booleans()) else None
    return ("same", letter, names, chosen)


def _values(said: Words, letter: str, values: Names) -> st.SearchStrategy[Names]:
    known = said.faces if letter == "F" else said.suits
    known += tuple(value for value in values if value[0] == letter)
    return st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True).map(tuple)


def text_of(tree: Tree) -> str:
    """The formula as it is written."""
    match tree:
        case ("constant", value):
            return str(value)
        case ("same", letter, names, None):
            return f"same({', '.join(name + letter for name in names)})"
        case ("same", letter, names, chosen):
            return f"same({','.join(name + letter for name in names)}){{{', '.join(chosen)}}}"
        case ("not", part):
            return f"!({text_of(part)})"
        case ("and", left, right):
            return f"({text_of(left)}) & ({text_of(right)})"
        case ("or", left, right):
            return f"({text_of(left)}) | ({text_of(right)})"
        case ("some" | "every" as quantifier, names, body):
            return f"{quantifier}({','.join(names)}: {text_of(body)})"
        case (quantifier, name, chosen, body):
            return f"{quantifier.split()[0]}({name} in {{{','.join(chosen)}}}: {text_of(body)})"
    raise AssertionError(tree)


def holds(tree: Tree, hand: Sequence[tuple[str, str]], scope: Mapping[str, int | str] = PLACES) -> bool:
    """Whether the formula holds on a hand of (face, suit) names."""
    match tree:
        case ("constant", value):
            return bool(value)
        case ("same", letter, names, chosen):
            found = {hand[scope[name]]["FS".index(letter)] for name in names}
            return len(found) == 1 and (chosen is None or found <= {scope.get(value, value) for value in chosen})
        case ("not", part):
            return not holds(part, hand, scope)
        case ("and", left, right):
            return holds(left, hand, scope) and holds(right, hand, scope)
        case ("or", left, right):
            return holds(left, hand, scope) or holds(right, hand, scope)
        case ("some" | "every" as quantifier, names, body):
            combine = any if quantifier == "some" else all
            ways = (dict(zip(names, places, strict=True)) for places in permutations(range(5), len(names)))
            return combine(holds(body, hand, {**scope, **way}) for way in ways)
        case (quantifier, name, chosen, body):
            combine = any if quantifier == "some in" else all
            return combine(holds(body, hand, {**scope, name: value}) for value in chosen)
    raise AssertionError(tree)


def named(deck: Deck, hands: np.ndarray) -> list[list[tuple[str, str]]]:
    """(n, 5) card numbers as lists of (face, suit) names."""
    faces, suits = (*deck.faces, JOKER), (*deck.suits, NO_SUIT)
    card = [(faces[f], suits[s]) for f, s in zip(deck.face_of, deck.suit_of, strict=True)]
    return [[card[number] for number in row] for row in hands.tolist()]
