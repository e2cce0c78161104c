"""Counting pure strategies: the published numbers, a literal port of the published algorithm, and limits."""

import hashlib
import json
from functools import cache
from pathlib import Path

import pytest

from evaluator.holdem.strategies import (
    Round,
    RoundError,
    information_sets,
    last_digits,
    leading_digits,
    position_name,
    pure_strategies,
    sequences,
    states,
)

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/holdem/strategies.json").read_text(encoding="utf-8"))


def walk(players, position, cap):
    """The round with all that is on the table: (reduced strategies, own nodes with three actions, with two)."""

    @cache
    def node(live, levels, acted, turn):
        alive = [seat for seat in range(players) if live[seat]]
        bet = max(levels)
        if len(alive) == 1 or all(acted[seat] and levels[seat] == bet for seat in alive):
            return 1, 0, 0
        while not live[turn]:
            turn = (turn + 1) % players

        def after(level, fold=False):
            lives, now, done = list(live), list(levels), list(acted)
            lives[turn], now[turn], done[turn] = not fold, level, True
            return node(tuple(lives), tuple(now), tuple(done), (turn + 1) % players)

        follow = [after(levels[turn], fold=True), after(bet)]
        if bet < cap:
            follow.append(after(bet + 1))
        if turn == position:
            return (
                1 + sum(f[0] for f in follow[1:]),
                sum(f[1] for f in follow[1:]) + (len(follow) == 3),
                sum(f[2] for f in follow[1:]) + (len(follow) == 2),
            )
        product = 1
        for value, _, _ in follow:
            product *= value
        return product, sum(f[1] for f in follow), sum(f[2] for f in follow)

    levels = (0,) * (players - 1) + (1,)
    return node((True,) * players, levels, (False,) * players, 0)


@pytest.mark.parametrize(
    ("players", "position", "cap"),
    [(n, i, cap) for n, caps in ((2, 9), (3, 6), (4, 5), (5, 4)) for cap in range(1, caps) for i in range(n)],
)
def test_as_the_literal_port(players, position, cap):
    betting = Round(players, position, cap)
    reduced, three, two = walk(players, position, cap)
    assert int(pure_strategies(betting)) == reduced
    assert information_sets(betting) == (three, two)
    assert sequences(betting) == 1 + 3 * three + 2 * two


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"{row['players']}-{row['position']}")
def test_reference_values(row):
    betting = Round(row["players"], row["position"])
    text = str(pure_strategies(betting))
    assert len(text) == row["digits"] == leading_digits(betting).adjusted() + 1
    assert hashlib.sha256(text.encode()).hexdigest() == row["sha256_decimal"]
    three, two = information_sets(betting)
    assert f"3^{three}*2^{two}" == row["unreduced_pure_strategies"]
    assert sequences(betting) == row["sequences_incl_empty"]
    assert f"{last_digits(betting):020d}"[-min(20, len(text)) :] == row["last20"]


@pytest.mark.parametrize(
    ("players", "cap", "expected"),
    [
        (2, 4, [8, 20]),
        (3, 4, [60805, 211960, 492912000]),
        (2, 2, [4, 6]),
        (2, 3, [6, 12]),
        (3, 2, [18, 48, 432]),
    ],
)
def test_published(players, cap, expected):
    assert [int(pure_strategies(Round(players, i, cap))) for i in range(players)] == expected


def test_six_players_big_blind_has_1804_digits():
    """Printed as "of order 10^1805"."""
    value = str(pure_strategies(Round(6, 5)))
    assert len(value) == 1804
    assert value.startswith("18022")


@pytest.mark.parametrize("position", range(10))
def test_ten_players_from_both_ends(position):
    text = str(pure_strategies(Round(10, position)))
    leading = leading_digits(Round(10, position))
    assert len(text) == leading.adjusted() + 1
    assert text[:40] == "".join(map(str, leading.as_tuple().digits))[:40]
    assert text[-20:] == f"{last_digits(Round(10, position)):020d}"


def test_states():
    assert [states(Round(n, n - 1)) for n in (2, 6, 10)] == [8, 230, 1044]


def test_classes_of_own_cards_are_a_power():
    betting = Round(2, 1)
    assert int(pure_strategies(betting, 169)) == 20**169
    assert leading_digits(betting, 169).adjusted() == len(str(20**169)) - 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 0), "players: expected 2 to 23, found 1"),
        ((24, 0), "players: expected 2 to 23, found 24"),
        ((3, 3), "position: expected 0 to 2, found 3"),
        ((3, -1), "position: expected 0 to 2, found -1"),
        ((3, 0, 0), "cap: expected 1 to 20, found 0"),
    ],
)
def test_rounds_that_cannot_be(arguments, message):
    with pytest.raises(RoundError, match=message):
        Round(*arguments)


def test_too_long_to_be_written():
    with pytest.raises(RoundError, match="digits; at most 5,000,000"):
        pure_strategies(Round(10, 9), 169)
    with pytest.raises(RoundError, match="10\\^18"):
        leading_digits(Round(23, 22, 20))


@pytest.mark.parametrize(
    ("players", "names"),
    [
        (2, ["small blind", "big blind"]),
        (4, ["under the gun", "button", "small blind", "big blind"]),
        (6, ["under the gun", "hijack", "cutoff", "button", "small blind", "big blind"]),
    ],
)
def test_names(players, names):
    assert [position_name(players, i) for i in range(players)] == names
