"""Inverse design: complete, compared with looking at every paytable of the family."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from evaluator.cards import Deck
from evaluator.design import PREFERENCES, Goal, search
from evaluator.family import Axis, Family, Relation
from evaluator.holds import build_tables
from evaluator.sweep import Pays, sweep
from evaluator.symmetry import canonical_classes
from tests.evaluator.plain_classifier import NINE_SIX, jacks_or_better
from tests.evaluator.small_games import ALL_FOUR, random_outcomes, small_games

WINS = 4
few = settings(max_examples=25, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))


@st.composite
def families(draw):
    """Some pays vary, some together, and relations may forbid some or all paytables."""
    base = draw(st.lists(st.integers(0, 20), min_size=WINS + 1, max_size=WINS + 1))
    lines = draw(st.permutations(range(WINS)))
    number = draw(st.integers(1, 3))
    cuts = [(lines[i], lines[3]) if i == 0 and draw(st.booleans()) else (lines[i],) for i in range(number)]
    values = st.lists(st.integers(0, 30), min_size=1, max_size=9, unique=True).map(sorted)
    axes = tuple(Axis(some, tuple(draw(values))) for some in cuts)
    coefficients = st.lists(st.integers(-2, 2), min_size=number, max_size=number).map(tuple)
    relations = draw(st.lists(st.builds(Relation, st.integers(-20, 30), coefficients), max_size=2))
    return Family(tuple(base), axes, tuple(relations))


def every(tables, family, bonuses, goal):
    """What must be found, by a sweep over the whole family."""
    places = family.places()
    if not len(places):
        return [], 0
    swept = sweep(tables, Pays(1, family.units(places), np.tile(np.array(bonuses), (len(places), 1))))
    rows = []
    for place, won, squares, hits in zip(places.tolist(), swept.won, swept.squares, swept.hits, strict=True):
        distance = abs(won - goal.target)
        if goal.within is None or distance <= goal.within:
            first = {"closeness": distance, "variance": squares * tables.cycle - won**2, "hit-frequency": -hits}
            rows.append((first[goal.prefer], distance, tuple(place), won, squares, hits))
    return [row[2:] for row in sorted(rows)], len(rows)


@given(
    game=small_games(most_cards=13),
    family=families(),
    bonuses=st.lists(st.integers(0, 3), max_size=1).map(lambda some: (*some, 0)),
    target=st.fractions(0, 25, max_denominator=9),
    prefer=st.sampled_from(PREFERENCES),
    within=st.one_of(st.none(), st.fractions(0, 3, max_denominator=9)),
    limit=st.integers(1, 12),
    seed=st.integers(0, 2**32),
)
@few
def test_the_same_as_looking_at_all(game, family, bonuses, target, prefer, within, limit, seed):
    classes, outcomes, _ = random_outcomes(game, WINS, seed)
    dealt = (np.arange(len(outcomes)) % len(bonuses)).astype(np.uint8)
    tables = build_tables(classes, outcomes, WINS, dealt)
    if within is None and prefer != "closeness":
        within = Fraction(1)
    goal = Goal(target * tables.cycle, None if within is None else within * tables.cycle, prefer, limit)
    found = search(tables, family, bonuses, goal)
    expected, number = every(tables, family, bonuses, goal)
    assert [(m.place, m.won, m.squares, m.hits) for m in found.matches] == expected[:limit]
    assert found.looked_at + found.left_out == family.size
    if prefer != "closeness":
        assert found.within == number


@pytest.fixture(scope="module")
def tables():
    classes = canonical_classes(Deck(), ALL_FOUR)
    return build_tables(classes, jacks_or_better(classes.hands[5]), wins=9)


def test_most_paytables_are_never_looked_at(tables):
    """9/6 is found by its payback among 63,000 paytables of Jacks or Better."""
    ranges = {0: range(100, 1001, 100), 2: range(15, 50), 3: range(5, 11), 4: range(4, 9), 5: range(3, 9)}
    base = tuple(pay // 5 for pay in NINE_SIX)
    family = Family(base, tuple(Axis((line,), tuple(values)) for line, values in ranges.items()))
    target = Fraction(1653526326983, 1661102543100) * tables.cycle
    found = search(tables, family, (0,), Goal(target, None, limit=3))
    assert (found.matches[0].place, found.matches[0].won) == ((7, 10, 4, 2, 1), target)
    assert found.matches[0].rank == (0,)
    assert family.size == 63_000
    assert found.looked_at < family.size / 4


def test_goals_that_say_nothing():
    with pytest.raises(ValueError, match="limit from 1, found closeness and 0"):
        Goal(Fraction(1), None, limit=0)
    with pytest.raises(ValueError, match="expected one of"):
        Goal(Fraction(1), Fraction(1), "beauty")
    with pytest.raises(ValueError, match="only be preferred among"):
        Goal(Fraction(1), None, "variance")


def test_families_that_say_nothing():
    with pytest.raises(ValueError, match="ascending units"):
        Axis((0,), (2, 1))
    with pytest.raises(ValueError, match=r"different lines from 0 to 1, found \[0, 0\]"):
        Family((1, 0), (Axis((0,), (1,)), Axis((0,), (2,))))
    with pytest.raises(ValueError, match="expected 1 coefficients"):
        Family((1, 0), (Axis((0,), (1,)),), (Relation(0, ()),))
