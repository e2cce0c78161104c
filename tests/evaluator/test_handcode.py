"""Hand codes against plain Python, and the formula of every code against the scorer on every hand."""

from collections import Counter
from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.cards import STANDARD_FACES, Deck, parse_hand
from evaluator.classify import all_hands, classify, depends_on_order, indicators, polynomial_count, suit_components
from evaluator.handcode import (
    ALL_FACES,
    CORES,
    WITH_MAJOR,
    WITH_MINOR,
    HandCode,
    HandCodeError,
    describe,
    format_faces,
    formula,
    from_words,
    matches,
    meaning,
    pack,
    parse_faces,
    score,
    unpack,
    win_order,
)
from evaluator.rules import Program, Rules, Win, compile_rules
from evaluator.symmetry import canonical_classes
from tests.evaluator.plain_classifier import jacks_or_better
from tests.evaluator.small_games import ALL_FOUR

NOTHING, ONE_PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)
ACE = 1 << 12
some = settings(max_examples=60, deadline=None)

codes = st.builds(HandCode, st.integers(0, 8), st.integers(0, ALL_FACES), st.integers(0, ALL_FACES))
decks = st.builds(
    Deck,
    suits=st.integers(1, 8).map(lambda n: tuple("cdhsuvwx"[:n])),
    decks=st.integers(1, 6),
    extra=st.lists(st.sampled_from([face + "*" for face in STANDARD_FACES]), max_size=6).map(tuple),
)


def plain_code(deck: Deck, hand: list[int]) -> HandCode:
    """The code of one hand, from its text."""
    names = [deck.names[card] for card in hand]
    faces = sorted("23456789TJQKA".index(name[0]) for name in names)
    suits = {name[1] for name in names}
    of_a_kind = Counter(faces).most_common()
    counts = [n for _, n in of_a_kind]
    flush = len(suits) == 1 and suits != {"*"}
    wheel = faces == [0, 1, 2, 3, 12]
    straight = wheel or faces == list(range(faces[0], faces[0] + 5))
    major = 1 << of_a_kind[0][0]
    if flush and straight:
        return HandCode(STRAIGHT_FLUSH, 1 << (3 if wheel else faces[4]), 0)
    if counts[0] >= 4:
        return HandCode(QUADS, major, 1 << of_a_kind[-1][0])
    if counts == [3, 2]:
        return HandCode(FULL_HOUSE, 0, 0)
    if flush or straight:
        return HandCode(FLUSH if flush else STRAIGHT, 0, 0)
    if counts[0] == 3:
        return HandCode(TRIPS, major, 0)
    if counts[:2] == [2, 2]:
        return HandCode(TWO_PAIR, 0, 0)
    return HandCode(ONE_PAIR, major, 0) if counts[0] == 2 else HandCode(NOTHING, 0, 0)


def random_hands(deck: Deck, number: int, seed: int) -> np.ndarray:
    """(number, 5) hands, most of them of few faces or one suit, so that high cores come up."""
    rng, hands = Random(seed), []
    face, suit = deck.face_of.tolist(), deck.suit_of.tolist()
    cards = np.repeat(np.arange(deck.kinds), deck.copies).tolist()
    suited = [c for c in cards if suit[c] == 0]
    for place in range(number):
        low, width = rng.randrange(13), rng.choice([1, 2, 5])
        near = [c for c in cards if (face[c] - low) % 13 < width]
        pool = [cards, near, suited, [c for c in near if suit[c] == 0]][place % 4]
        hands.append(rng.sample(pool if len(pool) >= 5 else cards, 5))
    return np.array(hands)


def sets_to_try() -> list[HandCode]:
    """Every core with all faces, none, each single face as major and as minor, and some sets in both."""
    rng = Random(1)
    pairs = [(ALL_FACES, ALL_FACES), (0, ALL_FACES), (ALL_FACES, 0), (ACE, 0b111), (0b111, ACE | 0b111), (0b111, 0)]
    pairs += [(1 << i, ALL_FACES) for i in range(13)] + [(ALL_FACES, 1 << i) for i in range(13)]
    pairs += [(rng.randrange(1, ALL_FACES), rng.randrange(1, ALL_FACES)) for _ in range(6)]
    return [HandCode(core, major, minor) for core in range(9) for major, minor in pairs]


def program_of(lines: list[HandCode], deck: Deck = Deck()) -> Program:  # noqa: B008
    return compile_rules(Rules(deck, (), tuple(Win(f"line {n}", formula(line, deck)) for n, line in enumerate(lines))))


@cache
def canonical() -> tuple[np.ndarray, np.ndarray]:
    """The canonical hands of 52 cards and their weights."""
    classes = canonical_classes(Deck(), ALL_FOUR)
    return classes.hands[5], classes.weights


# --- codes as integers and words --------------------------------------------------------------------------------------


@given(codes)
def test_unpack_is_the_inverse_of_pack(code):
    number = pack(code)
    assert number == code.core * 2**26 + code.major * 2**13 + code.minor
    assert number.bit_length() <= 30
    assert unpack(number) == code


@given(st.integers(0, 9 * 2**26 - 1))
def test_pack_is_the_inverse_of_unpack(number):
    assert pack(unpack(number)) == number


@pytest.mark.parametrize("number", [-1, 1 << 30, 9 << 26, 15 << 26, 2**80])
def test_integers_that_are_no_code_are_refused(number):
    with pytest.raises(HandCodeError, match=str(number)) as problem:
        unpack(number)
    assert problem.value.part == "code"


@pytest.mark.parametrize(
    ("part", "values"), [("core", (9, 0, 0)), ("core", (-1, 0, 0)), ("major", (7, 1 << 13, 0)), ("minor", (7, 0, -1))]
)
def test_parts_out_of_range_are_refused(part, values):
    with pytest.raises(HandCodeError) as problem:
        HandCode(*values)
    assert problem.value.part == part


def test_the_high_bits_are_the_major():
    """The low bits are the kicker, whatever the scoring code that came with the formula does."""
    four_aces_with_a_deuce = parse_hand(Deck(), "As Ah Ad Ac 2c")
    assert score(np.array([four_aces_with_a_deuce]), Deck()).tolist() == [7 << 26 | 1 << 12 + 13 | 1]
    pair_of_threes = parse_hand(Deck(), "3s 3h Ad Kc 2c")
    assert score(np.array([pair_of_threes]), Deck()).tolist() == [1 << 26 | 1 << 1 + 13]


@given(st.integers(1, ALL_FACES))
def test_faces_are_read_as_they_are_written(bits):
    text = format_faces(bits)
    assert parse_faces("major", text) == bits
    assert parse_faces("major", text.split(",")) == bits


def test_ways_to_write_faces():
    assert parse_faces("major", None) == ALL_FACES
    assert parse_faces("major", "A, 2 - 4") == parse_faces("minor", ["A", 2, 3, 4]) == ACE | 0b111
    assert parse_faces("major", "10") == parse_faces("major", ["ten"]) == parse_faces("major", "T") == 1 << 8
    assert parse_faces("major", "jack-ace") == parse_faces("major", "J-A") == 0b1111 << 9


@pytest.mark.parametrize("value", ["", "1", "A,", "A-2", "2-3-4", "c", [], [""], 4, True, {"A": 1}, ["2", None], "a"])
def test_faces_that_are_none_are_refused(value):
    with pytest.raises(HandCodeError) as problem:
        parse_faces("minor", value)
    assert problem.value.part == "minor"


@given(codes)
def test_the_words_of_a_code_mean_the_same_hands(code):
    words = {}
    for part in describe(code).split('", '):
        key, _, value = part.partition(' = "')
        words[key] = value.removesuffix('"')
    if "" in words.values():
        return
    again = from_words(**words)
    assert describe(again) == describe(code)
    assert again.core == code.core
    assert again.major == code.major or code.core not in WITH_MAJOR
    assert again.minor == code.minor or code.core not in WITH_MINOR


def test_words_of_codes():
    assert describe(from_words("four of a kind", "A", "2-4")) == 'core = "four of a kind", major = "A", minor = "2-4"'
    assert describe(HandCode(STRAIGHT_FLUSH, ACE, 0)) == 'core = "straight flush", major = "A"'
    assert describe(HandCode(ONE_PAIR, 0b1111 << 9, 5)) == 'core = "one pair", major = "J-A"'
    assert describe(HandCode(FLUSH, 1, 1)) == 'core = "flush"'


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("core", {"core": "quads"}),
        ("core", {"core": None}),
        ("major", {"core": "flush", "major": "A"}),
        ("major", {"core": "full house", "major": "A"}),
        ("minor", {"core": "one pair", "major": "A", "minor": "2"}),
    ],
)
def test_words_that_are_no_code_are_refused(part, words):
    with pytest.raises(HandCodeError) as problem:
        from_words(**words)
    assert problem.value.part == part


# --- scores -----------------------------------------------------------------------------------------------------------


def test_scores_of_all_canonical_hands():
    hands, weights = canonical()
    found = score(hands, Deck())
    tried = slice(0, None, 7)
    assert found[tried].tolist() == [pack(plain_code(Deck(), hand)) for hand in hands[tried].tolist()]
    deals = np.bincount(found >> 26, weights=weights).astype(int).tolist()
    assert deals == [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40]


def test_how_many_codes_hands_have():
    """Thirteen pairs and threes, 13 x 12 fours with a kicker, ten high cards, and one each of the other five."""
    found = np.unique(score(canonical()[0], Deck()))
    assert Counter((found >> 26).tolist()) == {0: 1, 1: 13, 2: 1, 3: 13, 4: 1, 5: 1, 6: 1, 7: 156, 8: 10}


@some
@given(decks, st.integers(0, 10**6))
def test_scores_in_other_decks(deck, seed):
    hands = random_hands(deck, 60, seed)
    assert score(hands, deck).tolist() == [pack(plain_code(deck, hand)) for hand in hands.tolist()]


def test_the_order_of_the_cards_does_not_matter():
    hands = random_hands(Deck(), 2000, 3)
    assert np.array_equal(score(hands, Deck()), score(hands[:, [3, 0, 4, 1, 2]], Deck()))


def test_no_hands_have_no_codes():
    assert score(np.empty((0, 5), dtype=np.uint8), Deck()).shape == (0,)


def test_special_hands_of_special_decks():
    two = Deck(decks=5, extra=("A*",))
    texts = ["As As Ah Ad Ac", "Ks Ks Qs 3s 2s", "Ks Ks Ks 3s 3s", "As Ah Ad Ac A*", "Ts Js Qs Ks A*"]
    found = [describe(unpack(n)) for n in score(np.array([parse_hand(two, text) for text in texts]), two).tolist()]
    five_aces = 'core = "four of a kind", major = "A", minor = "A"'
    assert found == [five_aces, 'core = "flush"', 'core = "full house"', five_aces, 'core = "straight"']


@pytest.mark.parametrize(
    "deck",
    [
        Deck(jokers=1),
        Deck(faces=tuple("6789TJQKA")),
        Deck(faces=tuple("A23456789TJQK")),
        Deck(faces=(*STANDARD_FACES, "E")),
    ],
)
def test_decks_without_hand_codes_are_refused(deck):
    for action in (lambda: formula(HandCode(QUADS), deck), lambda: score(np.zeros((1, 5), int), deck)):
        with pytest.raises(HandCodeError, match="2 3 4 5 6 7 8 9 T J Q K A and no joker") as problem:
            action()
        assert problem.value.part == "deck"


# --- formulas ---------------------------------------------------------------------------------------------------------


def test_examples_of_formulas():
    deck = Deck()
    assert meaning(deck, code=pack(HandCode(QUADS, ACE, 0b111))) == (
        "some(a,b,c,d,e: same(aF,bF,cF,dF){A} & same(eF){2-4})"
    )
    assert meaning(deck, core="four of a kind", major="A") == "some(a,b,c,d: same(aF,bF,cF,dF){A})"
    assert meaning(deck, core="full house") == "some(a,b,c,d,e: same(aF,bF,cF) & same(dF,eF))"
    assert meaning(deck, core="one pair", major="J-A") == (
        "some(a,b: same(aF,bF){J-A}) & !some(a,b,c,d: same(aF,bF) & same(cF,dF)) & !some(a,b,c: same(aF,bF,cF))"
    )
    assert meaning(deck, core="straight flush", major="A") == (
        "some(a,b,c,d,e: same(aS,bS,cS,dS,eS){suits}) & every(a: same(aF){T-A})"
    )


@pytest.mark.parametrize("code", [HandCode(ONE_PAIR, 0), HandCode(QUADS, minor=0), HandCode(STRAIGHT_FLUSH, 0b111)])
def test_lines_that_match_no_hand(code):
    assert formula(code, Deck()) == "0"
    assert not matches(code, score(canonical()[0], Deck())).any()
    with pytest.raises(HandCodeError, match="no hand can match core = "):
        meaning(Deck(), code=pack(code))


def test_formulas_hold_where_the_code_matches_on_canonical_hands():
    lines = sets_to_try()
    hands, weights = canonical()
    found, scores = indicators(program_of(lines), hands), score(hands, Deck())
    for line, holds in zip(lines, found, strict=True):
        assert np.array_equal(holds, matches(line, scores)), line
    for core in range(9):
        any_face = found[lines.index(HandCode(core))]
        assert weights[any_face].sum() == weights[scores >> 26 == core].sum()


@pytest.mark.slow
def test_scores_of_every_canonical_hand():
    hands, _ = canonical()
    assert score(hands, Deck()).tolist() == [pack(plain_code(Deck(), hand)) for hand in hands.tolist()]


@pytest.mark.slow
def test_formulas_hold_where_the_code_matches_on_all_hands():
    lines = sets_to_try()
    program = program_of(lines)
    seen = 0
    for hands in all_hands(Deck()):
        scores = score(hands, Deck())
        renamed = hands - hands % 4 + np.array([2, 0, 3, 1])[hands % 4]
        assert np.array_equal(scores, score(renamed, Deck()))
        for line, holds in zip(lines, indicators(program, hands), strict=True):
            assert np.array_equal(holds, matches(line, scores)), line
        seen += len(hands)
    assert seen == 2_598_960


@settings(max_examples=20, deadline=None)
@given(decks, st.lists(codes, min_size=1, max_size=6), st.integers(0, 10**6))
def test_formulas_hold_where_the_code_matches_in_other_decks(deck, lines, seed):
    lines += [HandCode(core) for core in range(9)]
    hands = random_hands(deck, 200, seed)
    scores = score(hands, deck)
    for line, holds in zip(lines, indicators(program_of(lines, deck), hands), strict=True):
        assert np.array_equal(holds, matches(line, scores)), (deck, line)


@pytest.mark.parametrize("deck", [Deck(), Deck(decks=2)], ids=["one deck", "two decks"])
def test_polynomials_are_small_ignore_order_and_count_every_hand_once(deck):
    program = program_of([HandCode(core) for core in range(9)], deck)
    assert not any(depends_on_order(program, number) for number in range(9))
    assert suit_components(program) == ALL_FOUR
    assert sum(polynomial_count(program, number) for number in range(9)) == deck.hands


def test_polynomials_count_the_hands_that_match():
    hands, weights = canonical()
    scores = score(hands, Deck())
    lines = [HandCode(core, major, minor) for core in range(9) for major, minor in ((ACE, 0b111), (0xAAA, 0x1555))]
    program = program_of(lines)
    for number, line in enumerate(lines):
        assert polynomial_count(program, number) == weights[matches(line, scores)].sum()


# --- paytables of codes -----------------------------------------------------------------------------------------------


def test_jacks_or_better_in_codes():
    lines = [
        HandCode(STRAIGHT_FLUSH, ACE), *[HandCode(core) for core in range(STRAIGHT_FLUSH, ONE_PAIR, -1)],
        HandCode(ONE_PAIR, 0b1111 << 9),
    ]  # fmt: skip
    hands, _ = canonical()
    assert np.array_equal(classify(program_of(lines), hands), jacks_or_better(hands))


def test_the_last_of_numbered_lines_that_matches_wins():
    numbered = [HandCode(ONE_PAIR), HandCode(ONE_PAIR, 0b1111 << 9), HandCode(QUADS), HandCode(QUADS, ACE)]
    hands, _ = canonical()
    scores = score(hands, Deck())
    last = np.full(len(hands), -1)
    for number, line in enumerate(numbered):
        last[matches(line, scores)] = number
    outcome = classify(program_of(list(win_order(numbered))), hands)
    assert np.array_equal(len(numbered) - 1 - outcome.astype(int), last)
    assert set(last.tolist()) == {-1, 0, 1, 2, 3}


def test_255_lines():
    singles = [HandCode(core, 1 << i) for core in (ONE_PAIR, TRIPS) for i in range(13)]
    fours = [HandCode(QUADS, 1 << i, 1 << j) for i in range(13) for j in range(13) if i != j]
    flushes = [HandCode(STRAIGHT_FLUSH, 1 << i) for i in range(3, 13)]
    cores = [HandCode(core) for core in range(9)]
    repeated = [HandCode(ONE_PAIR, 1 << i) for i in range(13)] * 5
    lines = (flushes + fours + singles + cores + repeated)[:255]
    assert len(lines) == 255
    hands, _ = canonical()
    scores = score(hands, Deck())
    first = np.full(len(hands), 255)
    for number in range(254, -1, -1):
        first[matches(lines[number], scores)] = number
    assert np.array_equal(classify(program_of(lines), hands), first)


@pytest.mark.parametrize("core", CORES)
def test_a_line_for_one_core_matches_no_hand_of_another(core):
    scores = score(canonical()[0], Deck())
    line = from_words(core)
    assert np.array_equal(matches(line, scores), scores >> 26 == line.core)
