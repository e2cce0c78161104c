"""Classification against plain Python rule books, and exchangeable suits against every permutation of every hand."""

import tomllib
from itertools import permutations, product
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evaluator.cards import Deck
from evaluator.classify import all_hands, classify, deal_counts, highest, indicators, suit_components
from evaluator.language import DefinitionError
from evaluator.rules import Program, Rules, Win, compile_rules
from tests.evaluator.formulas import formulas, holds, named, program_of, text_of, words
from tests.evaluator.plain_classifier import jacks_or_better
from tests.reference import RANKING, choices, classify_plain, classify_wild

few = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
HANDS = Path(__file__).parents[2] / "configs" / "hands"
JACKS_OR_BETTER = {
    "royal flush": "royal & flush",
    "straight flush": "straight & flush",
    "four of a kind": "quads",
    "full house": "full_house",
    "flush": "flush",
    "straight": "straight",
    "three of a kind": "trips",
    "two pair": "two_pair",
    "jacks or better": "pair_of({J-A})",
}
WILD = {
    "natural royal flush": "natural & royal & flush",
    "wild royal flush": "royal & flush",
    "five of a kind": "five_of_a_kind",
    **{name: when for name, when in JACKS_OR_BETTER.items() if name != "royal flush"},
}
SMALL = Deck(faces=tuple("2JQ"), suits=tuple("cdhs"))
SMALL_DECKS = [
    SMALL,
    Deck(faces=("2", "J"), suits=tuple("cdhs"), decks=2, jokers=1),
    Deck(faces=("2", "A"), suits=tuple("cdhs"), extra=("A*", "A*"), jokers=1),
]


def shipped(library: str, wins: dict[str, str], deck: Deck, **override: str) -> Program:
    """Wins in terms of the definitions of a shipped library."""
    definitions = tomllib.loads((HANDS / library).read_text())["define"] | override
    return compile_rules(Rules(deck, tuple(definitions.items()), tuple(Win(*win) for win in wins.items())))


def hands_of(deck: Deck) -> np.ndarray:
    return np.concatenate(list(all_hands(deck)))


# --- rule books -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def jacks() -> Program:
    return shipped("standard.toml", JACKS_OR_BETTER, Deck())


def test_random_hands_in_any_order_are_what_the_rule_book_says(jacks):
    rng = np.random.default_rng(52)
    hands = rng.random((200_000, 52)).argpartition(5, axis=1)[:, :5]
    assert (classify(jacks, hands) == jacks_or_better(hands)).all()


@pytest.mark.slow
def test_every_hand_is_what_the_rule_book_says(jacks):
    for hands in all_hands(Deck()):
        assert (classify(jacks, hands) == jacks_or_better(hands)).all()


@pytest.mark.parametrize(
    ("deck", "change"),
    [
        (Deck(faces=tuple("TJQKA")), {}),
        (Deck(faces=tuple("2345A"), suits=tuple("cdh")), {"royal flush": "0", "jacks or better": "pair_of(A)"}),
        (Deck(faces=tuple("TJQKA"), suits=tuple("ds"), decks=2), {}),
        (Deck(faces=tuple("TJQKA"), suits=tuple("cs"), extra=("A*", "K*")), {}),
    ],
    ids=["ten to ace", "ace low", "two decks", "odd cards"],
)
def test_every_hand_of_a_small_deck_is_what_the_rule_book_says(deck, change):
    wins = {"five of a kind": "every(a,b: same(aF,bF))"} | JACKS_OR_BETTER | change
    program = shipped("standard.toml", wins, deck)
    names = ["natural royal flush" if name == "royal flush" else name for name in [*wins, "nothing"]]
    hands = hands_of(deck)
    found = [names[outcome] for outcome in classify(program, hands)]
    expected = [classify_plain(hand) for hand in named(deck, hands)]
    assert found == expected


@pytest.mark.parametrize(
    ("deck", "wild"),
    [
        (Deck(faces=tuple("TJQKA"), suits=tuple("cs"), jokers=1), "joker"),
        (Deck(faces=tuple("TJQKA"), suits=tuple("c"), decks=2, jokers=2), "joker"),
        (Deck(faces=tuple("2TJQKA"), suits=tuple("hs")), "2"),
    ],
    ids=["joker", "two jokers", "deuces"],
)
def test_every_hand_with_wild_cards_is_the_best_that_they_can_make(deck, wild):
    program = shipped("wild.toml", WILD, deck, **{"wild(a)": f"same(aF){{{wild}}}"})
    assert sorted(WILD, key=RANKING.index) == list(WILD)
    hands = hands_of(deck)
    found = [[*WILD, "nothing"][outcome] for outcome in classify(program, hands)]
    expected = [classify_wild(hand, lambda card: card[0] == wild) for hand in named(deck, hands)]
    assert found == expected


@few
@given(st.lists(formulas(words(SMALL, places=True)), min_size=1, max_size=4))
def test_a_hand_is_in_the_first_win_that_holds(trees):
    program = program_of(SMALL, *map(text_of, trees))
    hands = np.random.default_rng(1).permuted(hands_of(SMALL)[::40], axis=1)
    expected = [
        next((number for number, tree in enumerate(trees) if holds(tree, hand)), len(trees))
        for hand in named(SMALL, hands)
    ]
    assert classify(program, hands).tolist() == expected


def test_classification_does_not_depend_on_how_hands_are_put_together(jacks):
    hands = hands_of(Deck(faces=tuple("TJQKA"))) + 32
    together = classify(jacks, hands)
    assert (np.concatenate([classify(jacks, hands[at : at + 7]) for at in range(0, 700, 7)]) == together[:700]).all()
    assert classify(jacks, hands[:0]).tolist() == []


# --- 0 or 1 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "value", "hand"),
    [
        ("total(a,b: same(aF,bF)) & !some(a,b,c: same(aF,bF,cF))", 2, "2c 2d Jc Jd Qc"),
        ("1 - total(a,b,c: same(aF,bF,cF))", -3, "2c 2d 2h 2s Jc"),
        ("2", 2, "2c 2d 2h 2s Jc"),
        ("!2", -1, "2c 2d 2h 2s Jc"),
    ],
)
def test_a_win_that_is_neither_0_nor_1_is_told_with_a_hand(when, value, hand):
    program = program_of(SMALL, "1", when)
    with pytest.raises(DefinitionError) as error:
        indicators(program, hands_of(SMALL))
    assert error.value.where == "win[2].when"
    assert error.value.message == f"'w2' takes the value {value} on {hand}; a win is 0 or 1 on every hand"
    assert "use | instead of +" in error.value.hint


def test_sums_that_are_0_or_1_are_wins():
    both = program_of(Deck(), "same(C1F){A} + same(C1F){K}", "same(C1F){K-A}")
    found = indicators(both, np.array([[0, 4, 8, 12, 16], [51, 4, 8, 12, 16], [47, 4, 8, 12, 16]]))
    assert found.tolist() == [[False, True, True]] * 2


def test_what_is_named_is_the_first_such_hand_even_in_a_later_block():
    program = compile_rules(Rules(Deck(), (), (Win("double", "1 + every(a: same(aF){K,A})"),)))
    with pytest.raises(DefinitionError, match=r"'double' takes the value 2 on Kc Kd Kh Ks Ac"):
        indicators(program, hands_of(Deck()))


# --- exchangeable suits -----------------------------------------------------------------------------------------------

C, D, H, S = range(4)


@pytest.mark.parametrize(
    ("when", "components"),
    [
        ("same(C1S,C2S,C3S,C4S,C5S)", [(C, D, H, S)]),
        ("some(s in suits: every(a: same(aS){s}))", [(C, D, H, S)]),
        ("|".join(f"every(a: same(aS){{{suit}}})" for suit in "cdhs"), [(C, D, H, S)]),
        (" + ".join("".join(f"δC{i}S{{{suit}}}" for i in range(1, 6)) for suit in "cdhs"), [(C, D, H, S)]),
        ("|".join(f"every(a: same(aS){{{suit}}})" for suit in "cdh"), [(C, D, H), (S,)]),
        ("some(a: same(aF){J} & same(aS){h,s})", [(C, D), (H, S)]),
        ("some(a: same(aF){J} & (same(aS){h} | same(aS){s}))", [(C, D), (H, S)]),
        ("some(a: same(aF){J} & !same(aS){c,d})", [(C, D), (H, S)]),
        ("every(a: same(aS){s})", [(C, D, H), (S,)]),
        ("some(a,b: same(aS){h} & same(bS){s} & same(aF,bF))", [(C, D), (H, S)]),
        ("some(a,b: same(aF){2} & same(aS){c} & same(bF){J} & same(bS){d})", [(C,), (D,), (H, S)]),
        ("some(a: same(aS){c-d}) & some(a: same(aS){h-s})", [(C, D), (H, S)]),
        ("some(a: same(aS){suits})", [(C, D, H, S)]),
        ("some(a: same(aS){c,d,h,s})", [(C, D, H, S)]),
        ("same(C1S){h} & same(C1F){Q} & same(C2F){2}", [(C, D, S), (H,)]),
        ("same(C1S){h} | same(C1S){c,d,s}", [(C, D, H, S)]),
    ],
)
@pytest.mark.parametrize("deck", [Deck(faces=tuple("23TJQ")), Deck()], ids=["20 cards", "52 cards"])
def test_components_of_suits(deck, when, components):
    assert suit_components(program_of(deck, when)) == tuple(components)


def test_suits_that_only_a_covered_win_tells_apart_are_exchangeable():
    covered = program_of(SMALL, "some(a: same(aF){J})", "some(a: same(aF){J} & same(aS){h})")
    assert suit_components(covered) == ((C, D, H, S),)
    assert suit_components(program_of(SMALL, "some(a: same(aF){J} & same(aS){h})", "1")) == ((C, D, S), (H,))


def test_suits_are_kept_apart_where_there_are_too_many_hands_to_compare():
    deck = Deck(suits=tuple("cdhsvwxy"))
    written_out = "some(a: same(aF){J} & (same(aS){h} | same(aS){s}))"
    looks_different = "some(a,b: same(aS){h} & same(bS){s} & same(aF,bF))"
    assert suit_components(program_of(deck, written_out)) == ((0, 1, 4, 5, 6, 7), (2, 3))
    assert suit_components(program_of(deck, looks_different)) == ((0, 1, 4, 5, 6, 7), (2, 3))
    covered = program_of(deck, "some(a: same(aF){J})", "some(a: same(aF){J} & same(aS){h})")
    assert suit_components(covered) == ((0, 1, 3, 4, 5, 6, 7), (2,))


def renamings(deck: Deck, suits: tuple[int, ...]) -> np.ndarray:
    """(kinds,): each card with suit i called suits[i]."""
    ordinary = len(deck.faces) * len(deck.suits)
    return np.array([
        card - card % len(deck.suits) + suits[card % len(deck.suits)] if card < ordinary else card
        for card in range(deck.kinds)
    ])  # fmt: skip


def brute_components(program: Program, hands: np.ndarray) -> tuple[tuple[int, ...], ...]:
    """The largest sets of suits all of whose permutations leave the win of every one of the hands."""
    deck, outcomes = program.rules.deck, classify(program, hands)
    kept = {
        suits
        for suits in permutations(range(4))
        if (classify(program, renamings(deck, suits)[hands]) == outcomes).all()
    }

    def exchanged(i: int, j: int) -> bool:
        suits = list(range(4))
        suits[i], suits[j] = j, i
        return tuple(suits) in kept

    components = {tuple(j for j in range(4) if exchanged(i, j)) for i in range(4)}
    for images in product(*(permutations(component) for component in sorted(components))):
        moved = dict(zip([s for c in sorted(components) for s in c], [s for c in images for s in c], strict=True))
        assert tuple(moved[suit] for suit in range(4)) in kept
    return tuple(sorted(components))


@few
@given(st.data(), st.sampled_from(SMALL_DECKS))
def test_components_against_every_permutation_of_every_hand(data, deck):
    said = words(deck, suits=data.draw(st.sampled_from(["h", "hs", "cdh", "cdhs"])))
    trees = data.draw(st.lists(formulas(said), min_size=1, max_size=2))
    program = program_of(deck, *map(text_of, trees))
    assert suit_components(program) == brute_components(program, hands_of(deck))


@settings(few, max_examples=10)
@given(formulas(words(SMALL, suits=("h", "s"), places=True)))
@example(
    ("and", ("same", "S", ("C1",), ("h",)), ("and", ("same", "F", ("C1",), ("Q",)), ("same", "F", ("C5",), ("2",))))
)
def test_components_of_a_win_that_depends_on_order_against_every_arrangement(tree):
    program = program_of(SMALL, text_of(tree))
    hands = hands_of(SMALL)
    arranged = np.concatenate([hands[:, order] for order in permutations(range(5))])
    assert suit_components(program) == brute_components(program, arranged)


# --- all hands --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("deck", "rows"),
    [
        (SMALL, comb(12, 5)),
        (Deck(faces=tuple("23456"), suits=tuple("cd"), decks=5), comb(14, 5)),
        (Deck(faces=tuple("23456"), suits=tuple("cd"), decks=2), 1_452),
        (Deck(faces=tuple("23456"), suits=tuple("cd"), jokers=3), None),
        (Deck(faces=tuple("234"), suits=tuple("cd"), decks=2, jokers=2, extra=("4*", "4*", "2*")), None),
        (Deck(faces=tuple("234"), suits=tuple("c"), decks=4, extra=("2*",)), None),
    ],
)
@pytest.mark.parametrize("block", [7, 1_000, 1 << 16])
def test_all_hands_are_the_multisets_of_the_decks_cards(deck, rows, block):
    blocks = list(all_hands(deck, block))
    assert max(map(len, blocks)) <= block
    hands = np.concatenate(blocks)
    physical = [card for card, copies in enumerate(deck.copies.tolist()) for _ in range(copies)]
    assert [tuple(hand) for hand in hands.tolist()] == [hand for hand, _ in choices(physical, 5)]
    assert rows in (None, len(hands))


# --- highest win and exclusions ---------------------------------------------------------------------------------------


def test_the_highest_win_is_the_first_that_holds():
    found = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0]], dtype=bool)
    assert highest(found).tolist() == [0, 1, 2, 3]


@few
@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=5))
def test_exclusions_kept_are_enough_and_each_changes_the_count(rows):
    found, weights = np.array(rows), np.array([1, 2, 4, 8, 16, 32])
    counts = deal_counts(found, weights)
    outcome = highest(found)
    for number, counted in enumerate(counts):
        assert counted.including == weights[found[number]].sum()
        assert counted.excluding == weights[outcome == number].sum()
        left = found[number].copy()
        for higher in counted.exclusions:
            assert (left & found[higher]).any()
            left &= ~found[higher]
        assert weights[left].sum() == counted.excluding
        assert list(counted.exclusions) == sorted(counted.exclusions, reverse=True)
    assert sum(counted.excluding for counted in counts) == weights[found.any(axis=0)].sum()
