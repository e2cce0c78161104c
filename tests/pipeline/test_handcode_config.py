"""Wins as hand codes in game files: what they mean, and every fault with its key."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from evaluator.cards import Deck
from evaluator.classify import classify
from evaluator.handcode import describe, unpack, win_order
from evaluator.rules import compile_rules
from evaluator.symmetry import canonical_classes
from pipeline.api import solve_game
from pipeline.cli import cli
from pipeline.config import ConfigError, Game, load_game
from tests.evaluator.small_games import ALL_FOUR

CONFIGS = Path(__file__).parents[2] / "configs"

#: Name and code of each line, tried from the last to the first.
JACKS_OR_BETTER = [
    ("jacks or better", 0x07C01FFF), ("two pair", 0x0BFFFFFF), ("three of a kind", 0x0FFFFFFF),
    ("straight", 0x13FFFFFF), ("flush", 0x17FFFFFF), ("full house", 0x1BFFFFFF), ("four of a kind", 0x1FFFFFFF),
    ("straight flush", 0x23FFFFFF), ("royal flush", 0x22001FFF),
]  # fmt: skip
#: The same with four of a kind by face and kicker.
DOUBLE_DOUBLE_BONUS = [
    *JACKS_OR_BETTER[:6], ("four 5s to kings", 0x1FFFFFFF), ("four 2s to 4s", 0x1C00FFFF), ("four aces", 0x1E001FFF),
    ("four 2s to 4s with a low kicker", 0x1C00F007), ("four aces with a low kicker", 0x1E000007), *JACKS_OR_BETTER[7:],
]  # fmt: skip


@cache
def canonical() -> np.ndarray:
    return canonical_classes(Deck(), ALL_FOUR).hands[5]


def outcomes(game: Game) -> np.ndarray:
    """The win of every canonical hand of 52 cards."""
    return classify(compile_rules(game.rules), canonical())


@pytest.fixture
def write(tmp_path):
    """Writes a game file of some wins, each a name and its other keys as TOML, and returns its path."""

    def game_file(wins, top: str = "") -> Path:
        text = f'name = "Test"\n{top}\n'
        text += "".join(f'[[win]]\nname = "{name}"\n{keys}\n' for name, keys in wins)
        text += '[paytable."1"]\n[paytable."1".pays]\n' + "".join(f'"{name}" = 1\n' for name, _ in wins)
        path = tmp_path / "game.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return game_file


def faults_of(path: Path) -> list[tuple[str, str]]:
    with pytest.raises(ConfigError) as problem:
        load_game(path)
    assert {fault.file for fault in problem.value.faults} == {str(path)}
    return [(fault.key, fault.message) for fault in problem.value.faults]


def test_jacks_or_better_in_codes(write):
    game = load_game(write([(name, f"code = {code}") for name, code in win_order(JACKS_OR_BETTER)]))
    plain = load_game(CONFIGS / "jacks-or-better.toml")
    assert [win.name for win in game.rules.wins] == [win.name for win in plain.rules.wins]
    assert np.array_equal(outcomes(game), outcomes(plain))
    assert game.rules.definitions == ()


def test_double_double_bonus_in_codes(write):
    game = load_game(write([(name, f"code = {hex(code)}") for name, code in win_order(DOUBLE_DOUBLE_BONUS)]))
    plain = load_game(CONFIGS / "double-double-bonus.toml")
    assert [win.name for win in game.rules.wins] == [win.name for win in plain.rules.wins]
    assert np.array_equal(outcomes(game), outcomes(plain))


@pytest.mark.parametrize("lines", [JACKS_OR_BETTER, DOUBLE_DOUBLE_BONUS])
def test_codes_and_their_words_are_the_same_rules(write, lines):
    by_code = load_game(write([(name, f"code = {code}") for name, code in win_order(lines)]))
    in_words = [(name, describe(unpack(code)).replace('", ', '"\n')) for name, code in win_order(lines)]
    assert load_game(write(in_words)).rules == by_code.rules


def test_faces_as_text_and_as_lists(write):
    wins = ['"A"\nminor = "2-4"', '["ace"]\nminor = [2, 3, 4]', '["A"]\nminor = ["2-3", "4"]']
    games = [load_game(write([("fours", f'core = "four of a kind"\nmajor = {sets}')])) for sets in wins]
    assert len({game.rules for game in games}) == 1
    assert games[0].rules.wins[0].when == "some(a,b,c,d,e: same(aF,bF,cF,dF){A} & same(eF){2-4})"


def test_codes_beside_formulas_and_definitions(write):
    top = f'include = ["{(CONFIGS / "hands" / "standard.toml").as_posix()}"]'
    wins = [(win.name, f'when = "{win.when}"') for win in load_game(CONFIGS / "jacks-or-better.toml").rules.wins]
    codes = dict(JACKS_OR_BETTER)
    mixed = [(name, f"code = {codes[name]}" if place % 2 else keys) for place, (name, keys) in enumerate(wins)]
    game = load_game(write(mixed, top))
    assert np.array_equal(outcomes(game), outcomes(load_game(CONFIGS / "jacks-or-better.toml")))


def test_a_pair_by_code_leaves_two_pair_to_nobody(write):
    """The core is part of the meaning, even where no other win is there to take the hand."""
    (count,) = solve_game(load_game(write([("pair", 'core = "one pair"')]))).deals
    assert (count.including, count.excluding) == (1_098_240, 1_098_240)


def test_nothing_can_be_a_win(write):
    (count,) = solve_game(load_game(write([("bust", "code = 0")]))).deals
    assert count.excluding == 1_302_540


def test_other_suits_and_several_decks(write):
    top = '[deck]\nsuits = ["x", "y", "z"]\ndecks = 2'
    path = write([("flush", 'core = "flush"'), ("five aces", 'core = "four of a kind"\nmajor = "A"\nminor = "A"')], top)
    assert [count.excluding > 0 for count in solve_game(load_game(path)).deals] == [True, True]


def test_the_count_command(write):
    path = write([(name, f"code = {code}") for name, code in win_order(JACKS_OR_BETTER)])
    result = CliRunner().invoke(cli, ["count", str(path), "--json"])
    assert result.exit_code == 0, result.output
    rows = {row["win"]: row for row in json.loads(result.output)["wins"]}
    counts = [4, 36, 624, 3744, 5108, 10200, 54912, 123552, 337920]
    assert [int(row["excluding"]) for row in rows.values()] == counts
    assert rows["straight flush"]["exclusions"] == ["royal flush"]
    assert all(row["polynomial_terms"] is not None and not row["exclusions"] for row in list(rows.values())[2:])


def test_255_wins(write):
    pairs = [(f"line {n}", f"code = {1 << 26 | 1 << n % 13 + 13}") for n in range(254)]
    game = load_game(write([*pairs, ("flush", 'core = "flush"')]))
    assert len(game.rules.wins) == 255
    assert set(np.unique(outcomes(game)).tolist()) == {*range(13), 254, 255}


@pytest.mark.parametrize(
    ("keys", "key", "message"),
    [
        ("", "win[1]", "expected one of when, code and core; found none"),
        ('when = "1"\ncode = 0', "win[1]", "expected one of when, code and core; found when and code"),
        ('code = 0\ncore = "flush"', "win[1]", "found code and core"),
        ('when = "1"\nmajor = "A"', "win[1].major", "goes with core, which is missing"),
        ('code = 0\nminor = "A"', "win[1].minor", "goes with core, which is missing"),
        ('core = "quads"', "win[1].core", "expected one of nothing, one pair"),
        ("core = 7", "win[1].core", "expected text, found 7"),
        ('core = "flush"\nmajor = "A"', "win[1].major", "flush has no major; only one pair, three of a kind"),
        ('core = "one pair"\nminor = "A"', "win[1].minor", "one pair has no minor; only four of a kind has"),
        ('core = "one pair"\nmajor = "J-B"', "win[1].major", "'B' in 'J-B' is no face; there are 2 3 4"),
        ('core = "one pair"\nmajor = "A-J"', "win[1].major", "'A-J' is not a range from a lower to a higher face"),
        ('core = "one pair"\nmajor = 7', "win[1].major", 'expected faces like "A,2-4"'),
        ('core = "one pair"\nmajor = []', "win[1].major", 'expected faces like "A,2-4"'),
        ('core = "straight flush"\nmajor = "2-4"', "win[1].core", "no hand can match core = "),
        ("code = 67108864", "win[1].code", 'no hand can match core = "one pair", major = ""'),
        ("code = 0x40000000", "win[1].code", "at most 30 bits, found 1073741824"),
        ("code = -1", "win[1].code", "at most 30 bits, found -1"),
        ("code = 0x3C000000", "win[1].code", "has the core 15; expected 0 to 8"),
        ('code = "0x1FFFFFFF"', "win[1].code", "expected an integer"),
        ("code = true", "win[1].code", "expected an integer"),
        ('cod = 1\nwhen = "1"', "win[1].cod", "did you mean code?"),
    ],
)
def test_faults(write, keys, key, message):
    ((found_key, found),) = faults_of(write([("win", keys)]))
    assert found_key == key
    assert message in found


def test_all_faults_of_a_file_at_once(write):
    wins = [("a", ""), ("b", "code = -1"), ("c", 'when = "flushes"'), ("d", 'core = "flush"\nmajor = "A"')]
    assert {key for key, _ in faults_of(write(wins))} == {"win[1]", "win[2].code", "win[3].when", "win[4].major"}


@pytest.mark.parametrize("deck", ['faces = ["6","7","8","9","T","J","Q","K","A"]', "jokers = 1"])
def test_decks_without_hand_codes(write, deck):
    path = write([("fours", 'core = "four of a kind"'), ("flush", "code = 0x17FFFFFF")], f"[deck]\n{deck}")
    ((key, message),) = faults_of(path)
    assert key == "deck"
    assert "hand codes need the faces 2 3 4" in message


def test_what_only_the_cards_show_has_the_key_that_stands_in_the_file(write):
    wins = [("four aces with an ace", 'core = "four of a kind"\nmajor = "A"\nminor = "A"'), ("flush", "when = '1'")]
    with pytest.raises(ConfigError) as problem:
        solve_game(load_game(write(wins)))
    assert [fault.key for fault in problem.value.faults] == ["win[1].core"]
    wins = [("fours", "code = 0x1FFFFFFF"), ("four aces", "code = 0x1E001FFF")]
    with pytest.raises(ConfigError) as problem:
        solve_game(load_game(write(wins)))
    assert [fault.key for fault in problem.value.faults] == ["win[2].code"]
