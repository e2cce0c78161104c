"""The language of definitions: what formulas mean, and what is said about those that mean nothing."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.binding import windows
from evaluator.cards import Deck, parse_hand
from evaluator.classify import all_hands, depends_on_order
from evaluator.expression import evaluate, expand
from evaluator.language import DefinitionError, parse
from evaluator.polynomial import Polynomial
from evaluator.rules import Faults, Rules, Win, compile_rules
from tests.evaluator.formulas import formulas, holds, named, program_of, text_of, words

few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
STANDARD = Deck()
SMALL = Deck(faces=tuple("2345A"), suits=tuple("cdh"), jokers=1, extra=("A*",))
TINY = Deck(faces=tuple("24A"), suits=tuple("cdh"), jokers=1)
NO_ACE = Deck(faces=tuple("23456789TJQK"))
HAND = "As Ah Ad Kc Kd"


def values(formula: str, *hands: str, deck: Deck = STANDARD, **definitions: str) -> list[int]:
    """The values of a formula on some hands."""
    program = program_of(deck, formula, **definitions)
    (found,) = evaluate(program.pool, program.wins, deck, np.array([parse_hand(deck, text) for text in hands]))
    return found.astype(int).tolist()


def value(formula: str, hand: str = HAND, deck: Deck = STANDARD, **definitions: str) -> int:
    return values(formula, hand, deck=deck, **definitions)[0]


def form(formula: str, deck: Deck = STANDARD, **definitions: str) -> Polynomial:
    """The normal form of a formula, comparable between programs."""
    program = program_of(deck, formula, **definitions)
    return expand(program.pool, program.wins[0])


def fault(formula: str, deck: Deck = STANDARD, **definitions: str) -> DefinitionError:
    with pytest.raises(Faults) as faults:
        program_of(deck, formula, **definitions)
    return faults.value.errors[0]


# --- operators --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "result"),
    [
        ("1 + 2*3", 7),
        ("(1 + 2)*3", 9),
        ("1 + 2(3)", 7),
        ("2(1 + 2)(3 - 1)", 12),
        ("7 - 2 - 1", 4),
        ("7 - (2 - 1)", 6),
        ("-2*3 + 1", -5),
        ("-2 - -3", 1),
        ("2*-3", -6),
        ("+4", 4),
        ("!0 + 1", 2),
        ("!0 * 0", 0),
        ("!1 | 1 & 0", 0),
        ("1 | 0 & 0", 1),
        ("(1 | 0) & 0", 0),
        ("1 & !0 & !!1", 1),
        ("0 | 1 - 1", 0),
        ("1 - 1 | 1", 1),
        ("1 | 1 | 1", 1),
        ("!(1 | 0)", 0),
        ("!2", -1),
        ("2 | 3", 2 + 3 - 6),
        ("1 // and 0\n + 1", 2),
        ("1 # and 0\n + 1 # twice", 2),
        ("# nothing yet\n1", 1),
        ("\t1\r\n+\n\n1", 2),
    ],
)
def test_operators_and_their_precedence(formula, result):
    assert value(formula) == result


@pytest.mark.parametrize(
    ("formula", "result"),
    [
        ("same(C1F,C2F)", 1),
        ("same(C1F, C2F, C3F)", 1),
        ("same(C1F,C4F)", 0),
        ("same(C3S,C5S)", 1),
        ("same(C1F){A}", 1),
        ("same(C1F){2-K}", 0),
        ("same(C1F){J-A}", 1),
        ("same(C1F){2,3-5,A}", 1),
        ("same(C1F,C1F){A}", 1),
        ("same(C1S){s}", 1),
        ("same(C1S){c-h}", 0),
        ("same(C1S){suits}", 1),
        ("same(C1F){faces}", 1),
        ("δ(C1F,C2F){A}", 1),
        ("δC1F,C2F{A}", 1),
        ("δC1F,C2F{Jack-King,Ace}", 1),
        ("δC1F{Ace}δC4F{King}", 1),
        ("δC1F{Ace}δC4F{Queen}", 0),
        ("δC4F,C5F{jack-KING}", 1),
        ("δC1S{Spades}δC2S{heart}", 1),
        ("δC1F,C2F δC4F,C5F", 1),
        ("δC1F,C2F(1 - δC1F,C4F)", 1),
        ("3 δC1F,C2F + 2 δC4F,C5F - δC1S,C2S", 5),
        ("same(C1F){ten-Ace} & same(C1F){10-A}", 1),
    ],
)
def test_deltas(formula, result):
    assert value(formula) == result


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("δC1F,C2F{Jack-King,Ace}", "same(C1F,C2F){J-A}"),
        ("same(C1F){Two,Three,Deuce}", "same(C1F){2-3}"),
        ("same(C1F){10}", "same(C1F){T}"),
        ("same(C1S){Clubs,Spade}", "same(C1S){c,s}"),
        ("same(C1F,C2F) same(C2F,C3F)", "same(C3F,C2F,C1F)"),
        ("same(C1F,C2F) & same(C1F,C2F)", "same(C2F,C1F)"),
        ("1 - (1 - same(C1F){A})(1 - same(C2F){A})", "same(C1F){A} | same(C2F){A}"),
        ("1 - same(C1F){A}", "!same(C1F){A}"),
        ("some(a,b: same(aF,bF))", "some(x,y: same(yF,xF))"),
        ("every(a,b: same(aS,bS))", "same(C1S,C2S,C3S,C4S,C5S)"),
        ("some(s in suits: every(a: same(aS){s}))", "some(u in {c,d,h,s}: every(a: same(aS){u}))"),
        ("same(C1F){A} & same(C1F){K}", "0"),
        ("some(f,g in {A}: same(C1F){f} & same(C2F){g})", "0"),
    ],
)
def test_formulas_that_are_the_same_expression(one, other):
    assert form(one) == form(other)


# --- quantifiers ------------------------------------------------------------------------------------------------------


def test_total_counts_equal_instances_once():
    quads = program_of(Deck(), "total(a,b,c,d: same(aF,bF,cF,dF))")
    assert len(expand(quads.pool, quads.wins[0]).terms) == 5
    pairs = program_of(Deck(), "total(a,b: same(aF,bF))")
    assert len(expand(pairs.pool, pairs.wins[0]).terms) == 10
    assert values("total(a,b: same(aF,bF))", "As Ah Kd Qc 2d", HAND, "As Ah Ad Ac 2d") == [1, 4, 6]
    assert values("total(a,b,c,d: same(aF,bF,cF,dF))", "As Ah Ad Ac 2d", HAND) == [1, 0]
    assert value("total(a: 1)") == value("total(f in faces: 1)") == 1
    assert value("total(a: same(aF){A})") == 3
    assert value("total(a,b,c,d: same(aF,bF,cF,dF))", "As A* As As Ad", Deck(decks=3, extra=("A*",))) == 5


def test_some_and_every_choose_different_cards():
    assert values("some(a,b: same(aF,bF))", "As Ah Kd Qc 2d", "As Jh Kd Qc 2d") == [1, 0]
    assert values("every(a,b: same(aS,bS))", "As Js Ks Qs 2s", "As Js Ks Qs 2d") == [1, 0]
    assert values("some(a,b,c,d,e: same(aF,bF,cF) & same(dF,eF))", HAND, "As Ah Ad Ac Kd") == [1, 0]


def test_inner_quantifiers_choose_independently():
    alone = "As Jh Kd Qc 2d"
    assert value("some(a: some(b: same(aF,bF)))", alone) == 1
    assert value("some(a: same(aF){A} & some(b: same(bF){A}))", alone) == 1
    assert value("some(a,b: same(aF){A} & same(bF){A})", alone) == 0
    assert value("every(a: some(b: same(aF,bF)))", alone) == 1
    assert value("every(a: some(b: !same(aF,bF)))", alone) == 1
    assert value("some(a: every(b: !same(aF,bF)))", alone) == 0
    assert value("some(a: 1) & some(a: 1)", alone) == 1


def test_quantifiers_over_values():
    aces_full = "some(f,g in {3-A}: total(a: same(aF){f}) & 1)"
    assert fault(aces_full.replace("total(a: same(aF){f}) & 1", "f")).message == "'f' is a variable, not a condition"
    formula = "some(f,g in {3-A}: some(a,b: same(aF,bF){f}) & some(a,b: same(aF,bF){g}))"
    assert values(formula, HAND, "As Ah Ad Ac 2d", "As Ah 2d 2c 7h") == [1, 0, 0]
    assert values("every(f in {A,K}: some(a: same(aF){f}))", HAND, "As Ah Ad Qc Qd") == [1, 0]
    assert value("total(f in faces: some(a: same(aF){f}))") == 2
    assert value("total(s in suits: some(a: same(aS){s}))") == 4
    assert value("total(s in {c,d}: some(a: same(aS){s}))") == 2
    assert value("every(f,g in {A}: 0)") == 1
    assert value("some(f in {A,A,A}: same(C1F){f})") == 1
    joker = Deck(jokers=1)
    assert value("some(f in faces: same(C1F){f})", "Joker Ah Ad Kc Kd", joker) == 0
    assert value("some(f in {joker}: same(C1F){f})", "Joker Ah Ad Kc Kd", joker) == 1
    assert value("some(s in {*}: same(C1S){s})", "Joker Ah Ad Kc Kd", joker) == 1


def test_cards_without_a_suit_are_in_no_set_that_does_not_name_them():
    deck = Deck(jokers=2, extra=("A*",))
    hand = "Joker Joker A* Kc Kd"
    assert value("same(C1S,C2S)", hand, deck) == value("same(C1S,C3S)", hand, deck) == 1
    assert value("same(C1S,C2S){suits}", hand, deck) == value("same(C1S){c-s}", hand, deck) == 0
    assert value("same(C1S,C3S){*}", hand, deck) == value("same(C1S,C3S){c,*}", hand, deck) == 1
    assert value("same(C1F){faces}", hand, deck) == 0
    assert value("same(C1F,C2F){joker}", hand, deck) == value("same(C1F){2-A,Joker}", hand, deck) == 1
    assert value("same(C3F){A}", hand, deck) == 1


@pytest.mark.parametrize(
    ("deck", "runs", "first", "last"),
    [
        (Deck(), 10, "2345A", "TJQKA"),
        (NO_ACE, 8, "23456", "9TJQK"),
        (Deck(faces=tuple("789TJQKA")), 5, "789TA", "TJQKA"),
        (Deck(faces=tuple("TJQKA")), 1, "TJQKA", "TJQKA"),
        (Deck(faces=tuple("A2345678")), 4, "A2345", "45678"),
    ],
    ids=["ace low and high", "no ace", "short deck", "five faces", "ace first"],
)
def test_runs_are_windows_of_the_decks_own_faces(deck, runs, first, last):
    def read(window: int) -> str:
        return "".join(face for i, face in enumerate(deck.faces) if window >> i & 1)

    found = [read(window) for window in windows(deck, 5)]
    assert (len(found), found[0], found[-1]) == (runs, first, last)
    straight = "some(W in runs(5): every(a: same(aF){W})) & every(a,b: !same(aF,bF))"
    program = program_of(deck, straight)
    hands = np.concatenate(list(all_hands(deck)))
    (straights,) = evaluate(program.pool, program.wins, deck, hands)
    assert int(straights.sum()) == runs * 4**5


def test_short_and_long_runs():
    assert value("some(W in runs(3): every(a: same(aF){W}))", "As 2h 3d Ac 2d") == 1
    assert value("some(W in runs(3): every(a: same(aF){W}))", "Ks Ah 2d Ac Kd") == 0
    assert value("some(W in runs(13): every(a: same(aF){W}))", HAND) == 1


@few
@given(formulas(words(SMALL, places=True)), st.integers(0, 2**32 - 1))
def test_formulas_mean_what_trying_every_choice_says(tree, seed):
    program = program_of(SMALL, text_of(tree))
    hands = np.concatenate(list(all_hands(SMALL)))
    rng = np.random.default_rng(seed)
    hands = rng.permuted(rng.choice(hands, 8, replace=False), axis=1)
    (found,) = evaluate(program.pool, program.wins, SMALL, hands)
    assert found.tolist() == [holds(tree, hand) for hand in named(SMALL, hands)]


# --- definitions ------------------------------------------------------------------------------------------------------


def test_definitions_take_cards_values_and_sets():
    assert value("some(a,b: alike(a,b))", alike__a__b="same(aF,bF)") == 1
    assert value("alike(C1,C4)", alike__a__b="same(aF,bF)") == 0
    assert value("alike(C1,C1)", alike__a__b="same(aF,bF)") == 1
    assert values("pair(A)", HAND, "Ks Kh Qd Jc 2d", pair__X="some(a,b: same(aF,bF){X})") == [1, 0]
    assert value("pair({J-K})", pair__X="some(a,b: same(aF,bF){X})") == 1
    assert value("pair(10)", "Ts Th Qd Jc 2d", pair__X="some(a,b: same(aF,bF){X})") == 1
    assert value("has(h)", has__X="some(a: same(aS){X})") == 1
    assert value("some(s in suits: has(s))", has__X="some(a: same(aS){X})") == 1
    assert value("has(faces)", has__X="some(a: same(aF){X})") == 1
    assert value("in_run(5)", in_run__X="some(f in X: same(C1F){f})") == 0
    assert value("some(W in runs(5): inside(W))", "As 2h 3d 4c 5d", inside__W="every(a: same(aF){W})") == 1


def test_definitions_use_each_other_and_may_be_written_in_any_order():
    assert value("x", x="y & y", y="z(A) & !z(2)", z__X="some(a: same(aF){X})") == 1
    assert value("twice(C1, {A})", twice__a__X="once(a,X) + once(a,X)", once__a__X="same(aF){X}") == 2


def test_a_variable_may_have_the_name_of_a_suit():
    assert value("some(a,b,c,d: same(aF,bF) & same(cF,dF) & !same(aF,cF))") == 1
    assert fault("some(c: same(cS){c})").message == "'c' is a card here, not a value"


def test_all_faults_are_told_at_once():
    rules = Rules(Deck(), (("x(", "1"), ("y", "1 +"), ("z", "same(")), (Win("a", "1 1 ("), Win("b", "x")))
    with pytest.raises(Faults) as faults:
        compile_rules(rules)
    assert [error.where for error in faults.value.errors] == ["define.x(", "define.y", "define.z", "win[1].when"]
    with pytest.raises(Faults) as faults:
        program_of(Deck(), "nope", "1", "same(C1F)", "u", "u", u="v")
    assert [error.where for error in faults.value.errors] == ["win[1].when", "win[3].when", "define.u"]


# --- order of the cards -----------------------------------------------------------------------------------------------


def long_hand(size: int) -> list[str]:
    return [",".join(f"C{card}F" for card in cards) for cards in combinations(range(1, 6), size)]


@pytest.mark.parametrize(
    ("formula", "ordered"),
    [
        (" + ".join(f"δ{names}" for names in long_hand(4)), False),
        ("1 - " + "".join(f"(1 - δ{names}{{J-A}})" for names in long_hand(2)), False),
        (" | ".join(f"same({names})" for names in long_hand(3)), False),
        ("same(C1S,C2S) & same(C2S,C3S) & same(C3S,C4S,C5S)", False),
        ("same(C1F){A} | same(C2F){A} | same(C3F){A} | same(C4F){A} | same(C5F){A}", False),
        ("same(C1F){A} + same(C1F){K} - same(C1F){K,A}", False),
        ("some(a,b: same(aF,bF) & same(aS,bS))", False),
        ("every(a: same(aF){2-A})", False),
        ("1", False),
        ("same(C1F){A}", True),
        ("same(C1F,C2F)", True),
        (" + ".join(f"δ{names}" for names in long_hand(4)[:4]), True),
        ("same(C1F,C2F) | same(C2F,C3F) | same(C3F,C4F) | same(C4F,C5F) | same(C5F,C1F)", True),
        ("same(C1F){T} same(C2F){J} same(C3F){Q} same(C4F){K} same(C5F){A} same(C1S,C2S,C3S,C4S,C5S)", True),
    ],
)
def test_dependence_on_the_order_of_the_cards(formula, ordered):
    assert depends_on_order(program_of(Deck(), formula), 0) == ordered


@settings(few, max_examples=25)
@given(formulas(words(TINY, places=True), depth=3))
def test_dependence_on_order_against_all_arrangements(tree):
    """Said to be independent only where no arrangement differs; said to be dependent only where some hand shows it."""
    program = program_of(TINY, text_of(tree))
    hands = np.concatenate(list(all_hands(TINY)))
    (sorted_values,) = evaluate(program.pool, program.wins, TINY, hands)
    differs = False
    for order in permutations(range(5)):
        (turned,) = evaluate(program.pool, program.wins, TINY, hands[:, order])
        differs |= bool((turned != sorted_values).any())
    assert depends_on_order(program, 0) == differs


# --- faults -----------------------------------------------------------------------------------------------------------

LIBRARY = {
    "pair": "some(a,b: same(aF,bF))",
    "flush": "same(C1S,C2S,C3S,C4S,C5S)",
    "pair_of__X": "some(a,b: same(aF,bF){X})",
    "alike__a__b": "same(aF,bF)",
}


@pytest.mark.parametrize(
    ("formula", "message", "line", "column", "hint"),
    [
        ("", "the formula ends too early", 1, 1, "expected !, ("),
        ("pair &", "the formula ends too early", 1, 7, "a name"),
        ("pair\n  & flush |\n", "the formula ends too early", 2, 12, "a name"),
        ("(pair", "the formula ends too early", 1, 6, ")"),
        ("pair)", "')' is not expected here", 1, 5, "expected the end"),
        ("pair | | flush", "'|' is not expected here", 1, 8, "a name"),
        ("pair $ flush", "'$' is not expected here", 1, 6, "&"),
        ("pair == 1", "'=' is not expected here", 1, 6, "&"),
        ("1.5", "'.' is not expected here", 1, 2, "expected &"),
        ("same(C1F}{A)", "'}' is not expected here", 1, 9, "expected ) or a comma"),
        ("same(){A}", "')' is not expected here", 1, 6, "expected a name"),
        ("same(C1F){2-}", "'}' is not expected here", 1, 13, "a number"),
        ("some(a: )", "')' is not expected here", 1, 9, "a name"),
        ("some(1: 1)", "'1' is not expected here", 1, 6, "expected a name"),
        ("some(W in runs(x): 1)", "'x' is not expected here", 1, 16, "expected a number"),
        ("flush(1 - pair)", "'-' is not expected here", 1, 9, ") or a comma"),
        ("__import__('os')", "\"'\" is not expected here", 1, 12, "expected a name"),
        ("pair\n  & flsh", "there is no definition 'flsh'", 2, 5, "did you mean flush?"),
        ("pair and flush", "there is no definition 'and'", 1, 6, "write &"),
        ("pair OR flush", "there is no definition 'OR'", 1, 6, "write |"),
        ("not pair", "there is no definition 'not'", 1, 1, "write !"),
        ("C1F", "there is no definition 'C1F'", 1, 1, ""),
        ("flush (pair)", "flush takes 0 values, found 1", 1, 1, "write flush, or flush & (…) for a product"),
        ("pair & pair_of", "pair_of takes 1 value, found 0", 1, 8, "write pair_of(X)"),
        ("alike(C1)", "alike takes 2 values, found 1", 1, 1, "write alike(a, b)"),
        ("pair_of(Z)", "'Z' is not a face or suit of this deck", 1, 9, "there is"),
        ("pair_of({A,s})", "'s' is not a face of this deck", 1, 12, "there is 2 3 4"),
        ("same(C1F)", "one vertex equals itself", 1, 1, "add a set: same(C1F){…}"),
        ("1 + same(C1S,C1S)", "one vertex equals itself", 1, 5, "add a set"),
        ("same(C1F,C2S)", "a face cannot equal a suit", 1, 1, "take faces (aF) or suits (aS)"),
        ("same(C1F,C6F)", "'C6F' is not the face or suit of a card here", 1, 10, "write C1F … C5S"),
        ("some(a: same(aF,bF))", "'bF' is not the face or suit", 1, 17, "write aF or aS"),
        ("some(a: same(a,C1F))", "'a' is not the face or suit", 1, 14, "write aF or aS"),
        ("some(f in faces: same(fF){A})", "is not the face or suit of a card here: 'f' stands for faces", 1, 23, ""),
        ("same(C1F){}", "the set is empty", 1, 10, ""),
        ("same(C1F){A,\n h}", "'h' is not a face of this deck", 2, 2, "there is"),
        ("same(C1F){t}", "'t' is not a face of this deck", 1, 11, "there is T"),
        ("same(C1S){A}", "'A' is not a suit of this deck", 1, 11, "there is c d h s"),
        ("same(C1F){K-J}", "K-J is not a range from a lower to a higher value", 1, 11, "2 3 4 5 6 7 8 9 T J Q K A"),
        ("same(C1S){s-c}", "s-c is not a range", 1, 11, "the deck's order is c d h s"),
        ("same(C1F){2-s}", "'s' is not a face", 1, 13, "there is"),
        ("same(C1F){joker}", "'joker' is not a face of this deck", 1, 11, "there is"),
        ("same(C1S){*}", "'*' is not a suit of this deck", 1, 11, "there is c d h s"),
        ("some(a: a)", "'a' is a variable, not a condition", 1, 9, "write same(aF,…) or same(aS,…)"),
        ("some(f in faces: f)", "'f' is a variable, not a condition", 1, 18, "use it in a set: {f}"),
        ("some(a: same(aF){a})", "'a' is a card here, not a value", 1, 18, "give the variable another name"),
        ("some(f in faces: same(C1S){f})", "'f' stands for faces here, expected suits", 1, 28, ""),
        ("some(A: same(AF){2})", "a variable cannot be called 'A': that is a face", 1, 6, ""),
        ("some(same: 1)", "a variable cannot be called 'same': that is a function", 1, 6, ""),
        ("some(suits: 1)", "a variable cannot be called 'suits': that is a function", 1, 6, ""),
        ("some(C1: 1)", "a variable cannot be called 'C1': that is a place", 1, 6, ""),
        ("some(pair: 1)", "a variable cannot be called 'pair': that is a definition", 1, 6, ""),
        ("some(a: some(a: 1))", "'a' is already a variable here", 1, 14, "another name"),
        ("some(a,b,a: 1)", "'a' is already a variable here", 1, 10, "another name"),
        ("some(a,b,c,d,e,f: 1)", "6 different cards cannot be chosen from a hand of 5", 1, 16, "fewer cards"),
        ("some(f in fases: 1)", "'fases' is nothing to choose from", 1, 11, "write faces, suits, {…} or runs(5)"),
        ("some(W in runs(1): 1)", "runs(1): expected 2 to 13, the faces of the deck", 1, 11, ""),
        ("some(W in runs(14): 1)", "runs(14): expected 2 to 13", 1, 11, ""),
        ("1 + 1234567890123456789", "the number has more than 18 digits", 1, 5, ""),
    ],
)  # fmt: skip
def test_wrong_formulas_are_told_with_place_and_hint(formula, message, line, column, hint):
    error = fault(formula, **LIBRARY)
    assert message in error.message
    assert (error.where, error.line, error.column) == ("win[1].when", line, column)
    assert hint in error.hint
    lines = str(error).splitlines()
    assert lines[0].startswith(f"win[1].when: line {line}, column {column}: ")
    caret = next(at for at, text in enumerate(lines) if text.strip() == "^")
    source = formula.splitlines()[line - 1] if formula else ""
    if source:
        assert lines[caret - 1] == "    " + source
    assert lines[caret] == " " * (4 + column - 1) + "^"


@pytest.mark.parametrize(
    ("head", "text", "message"),
    [
        ("two words", "1", "is not a name like 'flush' or 'wild(a)'"),
        ("1st", "1", "is not a name"),
        ("x(a", "1", "is not a name"),
        ("x()", "1", "is not a name"),
        ("δ", "1", "is not a name"),
        ("A", "1", "'A' is the name of a face"),
        ("x(A)", "1", "'A' is the name of a face"),
        ("some", "1", "'some' is the name of a function"),
        ("runs", "1", "'runs' is the name of a function"),
        ("C3", "1", "'C3' is the name of a place"),
        ("h", "1", "is the name of a suit"),
        ("x(a,a)", "1", "a name is used twice"),
        ("x(x)", "1", "a name is used twice"),
        ("pair", "1", "'pair' is defined twice"),
        ("pair(X)", "1", "'pair' is defined twice"),
        ("x(pair)", "1", "the parameter 'pair' has the name of a definition"),
    ],
)
def test_wrong_heads_of_definitions(head, text, message):
    rules = Rules(Deck(), (("pair", "some(a,b: same(aF,bF))"), (head, text)), (Win("w", "1"),))
    with pytest.raises(Faults) as faults:
        compile_rules(rules)
    assert message in str(faults.value)
    assert f"define.{head}" in str(faults.value)


def test_a_fault_within_a_definition_is_told_there():
    error = fault("1 & x(C1)", x__a="same(aF){2} &\n same(aF){Z}")
    assert (error.where, error.line, error.column) == ("define.x(a)", 2, 11)


def test_definitions_that_use_themselves():
    assert "the definition uses itself: win[1].when → x → x" in fault("x", x="1 - x").message
    error = fault("x", x="y", y="pair & z(A)", z__X="1 | x", pair="1")
    assert error.message == "the definition uses itself: win[1].when → x → y → z → x"
    assert (error.where, error.column) == ("define.z(X)", 5)


# --- hostile input ----------------------------------------------------------------------------------------------------

DEEP = 9_000
HOSTILE = {
    "many !": ("!" * DEEP + "1", "nested more than"),
    "many signs": ("-" * DEEP + "1", "nested more than"),
    "open parentheses": ("(" * DEEP, "ends too early"),
    "open quantifiers": ("some(a: " * 2_000, "ends too early"),
    "nested quantifiers": ("".join(f"some(v{i}: " for i in range(500)) + "1" + ")" * 500, "nested more than"),
    "nested functions": ("!(" * 4_000 + "1" + ")" * 4_000, "nested more than"),
    "10,000 terms": ("+".join(["δC1F,C2F"] * 10_000), "characters; at most"),
    "huge number": ("9" * 15_000, "more than 18 digits"),
    "huge runs": (f"some(W in runs({'9' * 5_000}): 1)", "more than 18 digits"),
    "huge product": ("*".join(["9" * 18] * 1_000), "are possible"),
    "huge product of sums": ("*".join(["(10000000000 + same(C1F){A})"] * 500), "are possible"),
    "some five deep": (
        "some(a,b,c,d,e: some(f,g,i,j,k: some(l,m,n,o,p: some(q,r,t,u,v: some(w,x,y,z,z2: "
        "same(aF,fF) & same(lF,qF) & same(wF,aF))))))",
        "more than 150000 steps",
    ),
    "five values": ("some(f in faces: some(g,i,j,k in faces: some(a,b: same(aF){f} same(bF){g})))", "150000 steps"),
    "unknown set of 1,000": ("same(C1F){" + ",".join(f"x{i}" for i in range(1_000)) + "}", "'x0' is not a face"),
    "code": ("__import__('os').system('true')", "is not expected here"),
    "nul": ("pair\0", "is not expected here"),
    "unicode": ("δC1F,C2F ∧ δC3F,C4F", "'∧' is not expected here"),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_formulas_end_in_a_definition_error(case):
    formula, message = HOSTILE[case]
    error = fault(formula)
    assert message in error.message
    assert len(str(error)) < 1_000


@pytest.mark.parametrize(
    ("definitions", "message"),
    [
        ({f"d{i}": f"d{i + 1}" for i in range(3_000)} | {"d3000": "1"}, "nested more than"),
        ({f"d{i}": "!" * 50 + f"d{i + 1}" for i in range(300)} | {"d300": "1"}, "nested more than"),
        ({f"d{i}": f"d{(i + 1) % 50}" for i in range(50)}, "uses itself"),
        ({f"d{i}": f"4 d{i + 1}" for i in range(40)} | {"d40": "same(C1F){A}"}, "are possible"),
        ({f"d{i}": f"(d{i + 1} + 2)*(d{i + 1} + 3)" for i in range(20)} | {"d20": "same(C1F){A}"}, "are possible"),
        ({"d0": "some(a,b,c,d: d1(a,b,c,d))", "d1__a__b__c__d": "some(e,f,g,i: d2(a,b,e,f))",
          "d2__a__b__e__f": "some(j,k,l,m: same(aF,jF,bS))"}, "a face cannot equal a suit"),
    ],
    ids=["long chain", "deep chain", "circle", "doubling", "squaring", "calls"],
)  # fmt: skip
def test_hostile_definitions_end_in_a_definition_error(definitions, message):
    assert message in fault("d0", **definitions).message


def test_what_looks_hostile_but_is_not():
    assert value("(" * DEEP + "1" + ")" * DEEP) == 1
    assert value("+".join(["1"] * DEEP)) == DEEP
    assert value("+".join(["δC1F,C2F"] * 2_000)) == 2_000
    assert value("same(C1F){" + ",".join(["A", "K"] * 500) + "}") == 1
    assert value("x", x="|".join(["same(C1F,C2F)"] * 1_000)) == 1
    assert value("d0", **{f"d{i}": f"d{i + 1} & d{i + 1}" for i in range(45)}, d45="same(C1F){A}") == 1


@settings(max_examples=300, deadline=None)
@given(st.text("C1FS2same(){}δ,:|&!+-*#/ \nabsomeinrutl0Aé", max_size=30))
def test_any_text_is_a_formula_or_a_definition_error(text):
    try:
        program = program_of(Deck(), text)
    except Faults as faults:
        for error in faults.errors:
            assert str(error)
    else:
        assert len(program.wins) == 1


def test_formulas_have_a_limit_of_length():
    assert parse("1" + " " * 19_999)
    with pytest.raises(DefinitionError, match="20001 characters; at most 20000"):
        parse("1" + " " * 20_000)
