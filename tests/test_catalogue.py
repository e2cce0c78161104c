"""The catalogue: every shipped game file certified, against the generated tables and against returns in print."""

import json
import re
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from evaluator.holds import hold_block
from evaluator.payback import Outcome, certify_rows
from pipeline import load_game
from pipeline.api import solve_game
from pipeline.certificate import certificate
from pipeline.run import make_plan
from tests.catalogue import BEGIN, CATALOGUE, END, HEAD, README, row

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "configs").glob("*.toml"))
RETURNS = json.loads((ROOT / "tests" / "golden" / "returns.json").read_text(encoding="utf-8"))


@cache
def game_of(path):
    return load_game(path)


@cache
def certificates_of(path):
    """The certificates of a game file, computed in this process and written nowhere."""
    game = game_of(path)
    plan = make_plan([game], "lowest-mask", 16_384, False)
    (entry,) = plan.entries
    tables = solve_game(game).tables
    outcomes = [Outcome.none_of(table) for table in game.paytables]
    step = 512 if entry.ordered else 16_384
    for start in range(0, entry.rows, step):
        block = hold_block(tables, start, min(start + step, entry.rows))
        for i, table in enumerate(game.paytables):
            outcomes[i] += certify_rows(tables, block, table)[0]
    return [certificate(plan, 0, i, outcome, []) for i, outcome in enumerate(outcomes)]


def depends_on_order(path):
    """Games that take ten times as long to certify; a glance at the text is enough to sort the tests."""
    return re.search(r"\bC[1-5][FS]\b", path.read_text(encoding="utf-8")) is not None


every_file = pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[pytest.mark.slow] * depends_on_order(path)) for path in FILES],
)


def test_at_least_30_games_and_200_paytables_each_with_its_source():
    tables = [
        (path.stem, table.label, game_of(path).source(table.name))
        for path in FILES
        for table in game_of(path).paytables
    ]
    assert len(FILES) >= 30
    assert len(tables) >= 200
    assert [name for name in tables if not name[2]] == []


def test_the_tables_list_every_paytable_once_in_order():
    lines = CATALOGUE.read_text(encoding="utf-8").splitlines()
    listed = [tuple(line.split(" | ")[:2]) for line in lines if line.startswith("| ") and line not in HEAD]
    expected = [("| " + game_of(path).name, table.label) for path in FILES for table in game_of(path).paytables]
    assert listed == expected
    assert f"{len(expected)} certified paytables of {len(FILES)} games." in lines[2]


@every_file
def test_the_rows_of_a_game_are_what_certification_gives(path):
    rows = [row(content) for content in certificates_of(path)]
    catalogue = CATALOGUE.read_text(encoding="utf-8").splitlines()
    assert [line for line in rows if line not in catalogue] == []
    readme = README.read_text(encoding="utf-8")
    shown = readme[readme.index(BEGIN) : readme.index(END)].splitlines()
    assert [line for line in shown if line.startswith(f"| {game_of(path).name} |")] == rows[:1]


def agrees(printed, payback):
    """Whether the exact payback, rounded or cut off to the printed digits, is the printed return."""
    text = printed.strip().removesuffix("%").strip()
    value = payback * 100 if "%" in printed else payback
    unit = Fraction(10) ** int(Decimal(text).as_tuple().exponent)
    return abs(Fraction(text) - value) <= unit / 2


@every_file
def test_returns_in_print(path):
    paybacks = {content["paytable"]: Fraction(content["payback"]) for content in certificates_of(path)}
    for record in RETURNS:
        if record["game"] == path.stem:
            found = agrees(record["printed_return"], paybacks[record["paytable"]])
            assert found == record.get("agrees", True), record
            assert found or record["why"], record
