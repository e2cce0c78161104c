"""Strategy tables as people load them, row by row against the holds of hands; digests; plans as values."""

import hashlib
import json
import struct
from fractions import Fraction
from itertools import pairwise
from operator import mul
from random import Random

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.cards import Deck
from evaluator.holds import TIE_BREAKS
from evaluator.rules import Paytable, Rules, Win
from pipeline import certify, holds, load_game, look_up, read_strategy
from pipeline.api import choose_paytables
from pipeline.manifest import canonical_text, content_digest
from pipeline.plan import Entry, Plan, count_parts, read_plan, tasks
from tests.pipeline.games import ROOT

WINS = ["flush", "four-of-a-kind", "three-of-a-kind", "pair-of-aces", "nothing"]

#: The columns of the small game: name, Parquet type, unit.
COLUMNS = [
    ("hand", "string", "cards"),
    *((f"c{i}", "uint8", "card number") for i in range(1, 6)),
    ("weight", "int32", "deals"),
    ("hold", "uint8", "mask"),
    ("held", "string", "cards"),
    ("ev_numerator", "int64", "credits * pay denominator"),
    ("ev", "double", "credits per credit bet"),
    ("optimal_holds", "uint32", "set of masks"),
    ("draws", "int32", "draws"),
    *((f"n_{win}", "int32", "draws") for win in WINS),
]
ALL_HOLDS = [(f"ev_numerator_{mask:02d}", "int64", "credits * pay denominator") for mask in range(32)]


@pytest.fixture(scope="session")
def run(game, tmp_path_factory):
    """The small game in three parts, with the values of all 32 holds."""
    out = tmp_path_factory.mktemp("strategy") / "run"
    certify([game], out, rows_per_part=1000, all_holds=True)
    return out


@pytest.fixture(scope="session", params=["plain", "broken pays"])
def paytable(request, game):
    return next(table for table in game.paytables if table.name == request.param)


@pytest.fixture
def table(run, paytable):
    return read_strategy(run, "Six by Four", paytable.name)


@pytest.fixture(scope="session")
def nine_six():
    return choose_paytables(load_game(ROOT / "configs" / "jacks-or-better.toml"), ["9/6"])


@pytest.fixture(scope="session")
def nine_six_table(nine_six, tmp_path_factory):
    out = tmp_path_factory.mktemp("nine-six") / "run"
    certify([nine_six], out)
    return pd.read_parquet(out / "jacks-or-better" / "9-6" / "strategy")


@pytest.fixture(scope="session")
def jokers(tmp_path_factory):
    """Two copies of ten cards and two jokers: equal cards, and cards without a suit."""
    path = tmp_path_factory.mktemp("jokers") / "jokers.toml"
    path.write_text("""
name = "Two of Ten"
[deck]
faces = ["J", "Q", "K", "A", "T"]
suits = ["h", "s"]
decks = 2
jokers = 2
[[win]]
name = "joker and three of a kind"
when = "some(a,b,c: same(aF,bF,cF)) & some(a: same(aF){joker})"
[[win]]
name = "red"
when = "every(a: same(aS){h})"
[paytable.only.pays]
"joker and three of a kind" = "5/2"
red = 3
""")
    return load_game(path)


# --- columns ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", range(3))
def test_columns_are_as_documented(run, part):
    path = run / "six-by-four" / "plain" / "strategy" / f"part-{part:05d}.parquet"
    schema = pq.read_schema(path)
    assert [(f.name, str(f.type), f.metadata[b"unit"].decode()) for f in schema] == COLUMNS + ALL_HOLDS
    assert all(len(f.metadata[b"meaning"]) > 10 and not f.nullable for f in schema)
    assert set(schema.metadata) == {b"autohold"}
    file = pq.ParquetFile(path)
    assert file.metadata.num_row_groups == 1
    assert file.metadata.num_rows == [1000, 1000, 376][part]
    receipt = json.loads(schema.metadata[b"autohold"])
    assert (receipt["rows"], receipt["path"]) == (file.metadata.num_rows, path.relative_to(run).as_posix())
    assert receipt["content"] == content_digest(file.read())


def test_columns_without_all_holds(whole):
    schema = pq.read_schema(whole / "six-by-four" / "plain" / "strategy" / "part-00000.parquet")
    assert [(f.name, str(f.type), f.metadata[b"unit"].decode()) for f in schema] == COLUMNS


def test_pandas_reads_the_folder(run):
    table = pd.read_parquet(run / "six-by-four" / "plain" / "strategy")
    assert len(table) == 2376
    assert list(table.columns) == [name for name, _, _ in COLUMNS + ALL_HOLDS]
    assert not table.isna().any().any()
    pd.testing.assert_frame_equal(table, read_strategy(run, "Six by Four", "plain"))
    pd.testing.assert_frame_equal(table, read_strategy(str(run), "six-by-four", "plain"))
    whole_rows = pa.concat_tables(
        [pq.read_table(path) for path in sorted((run / "six-by-four" / "plain" / "strategy").glob("*.parquet"))]
    )
    for name in table.columns:
        assert table[name].tolist() == whole_rows.column(name).to_pylist()


def test_parts_do_not_show_in_the_rows(run, whole):
    small, large = (read_strategy(folder, "six-by-four", "broken-pays") for folder in (whole, run))
    pd.testing.assert_frame_equal(small, large[list(small.columns)])


def test_wins_table_is_that_of_the_certificate(run, paytable):
    folder = run / "six-by-four" / paytable.name.replace(" ", "-")
    wins = pd.read_parquet(folder / "wins.parquet")
    content = json.loads((folder / "certificate.json").read_text())["wins"]
    assert wins["win"].tolist() == [win["name"] for win in content]
    assert wins["pays"].tolist() == [win["pays"] for win in content]
    assert wins["combinations"].tolist() == [win["combinations"] for win in content]
    bounds = zip(wins["combinations_min"], wins["combinations_max"], strict=True)
    assert list(map(list, bounds)) == [win["combinations_range"] for win in content]
    assert wins["probability"].sum() == pytest.approx(1)
    assert all(f.metadata[b"unit"] and f.metadata[b"meaning"] for f in pq.read_schema(folder / "wins.parquet"))


# --- rows -------------------------------------------------------------------------------------------------------------


def exact_rows(table):
    """The table with Python's integers."""
    return {name: table[name].tolist() for name in table.columns}


def test_every_row_adds_up(game, run, paytable, table):
    deck = game.rules.deck
    rows = exact_rows(table)
    assert sum(rows["weight"]) == deck.hands == 42504
    counts = np.array([rows[f"n_{win}"] for win in WINS], dtype=object)
    assert (counts.sum(axis=0) == rows["draws"]).all()
    units = np.array(paytable.units, dtype=object)
    assert (units @ counts == rows["ev_numerator"]).all()
    for i in range(len(table)):
        hold, optimal, draws = rows["hold"][i], rows["optimal_holds"][i], rows["draws"][i]
        assert optimal >> hold & 1
        assert hold == (optimal & -optimal).bit_length() - 1  # the lowest mask
        numbers = [rows[f"c{place}"][i] for place in range(1, 6)]
        assert rows["hand"][i] == " ".join(deck.names[card] for card in numbers)
        assert numbers == sorted(numbers)
        assert rows["held"][i] == " ".join(deck.names[card] for k, card in enumerate(numbers) if hold >> k & 1)
        ev = Fraction(rows["ev_numerator"][i], draws * paytable.scale * paytable.coins)
        assert rows["ev"][i] == float(ev)
        assert rows[f"ev_numerator_{hold:02d}"][i] == rows["ev_numerator"][i]
    keys = list(zip(*(rows[f"c{place}"] for place in range(1, 6)), strict=True))
    assert keys == sorted(set(keys))


def test_the_rows_are_what_the_certificate_sums_up(game, run, paytable, table):
    content = json.loads((run / "six-by-four" / paytable.name.replace(" ", "-") / "certificate.json").read_text())
    rows = exact_rows(table)
    stake = paytable.scale * paytable.coins
    values = [Fraction(n, draws * stake) for n, draws in zip(rows["ev_numerator"], rows["draws"], strict=True)]
    payback = sum(weight * value for weight, value in zip(rows["weight"], values, strict=True)) / game.rules.deck.hands
    assert payback == Fraction(content["payback"])
    tied = sum(w for w, holds in zip(rows["weight"], rows["optimal_holds"], strict=True) if holds & (holds - 1))
    assert tied == int(content["tied_deals"])
    factor = int(content["cycle"]) // int(content["deals"])
    for win, said in zip(WINS, content["wins"], strict=True):
        counted = zip(rows["weight"], rows[f"n_{win}"], rows["draws"], strict=True)
        assert sum(Fraction(w * n * factor, draws) for w, n, draws in counted) == int(said["combinations"])


def test_all_holds_agree_with_the_holds_of_a_hand(game, paytable, table):
    for row in Random(1).sample(range(len(table)), 12):
        found = table.iloc[row]
        for hold in holds(game, found["hand"], paytable.name).holds:
            numerator = int(found[f"ev_numerator_{hold.mask:02d}"])
            assert Fraction(numerator, hold.draws * paytable.scale * paytable.coins) == hold.ev
            assert bool(int(found["optimal_holds"]) >> hold.mask & 1) == hold.optimal
            if hold.chosen:
                assert int(found["hold"]) == hold.mask
                assert int(found["draws"]) == hold.draws
                assert [int(found[f"n_{win}"]) for win in WINS] == list(hold.counts.values())


@pytest.mark.parametrize("rule", TIE_BREAKS)
def test_the_tie_rule_chooses_among_the_optimal_holds(game, rule, tmp_path):
    certify([game], tmp_path / "run", paytables=["plain"], tie_break=rule)
    table = read_strategy(tmp_path / "run", "six-by-four", "plain")
    tied = table[(table["optimal_holds"] & (table["optimal_holds"] - 1)) > 0]
    assert len(tied) > 100
    for _, found in tied.sample(8, random_state=3).iterrows():
        squares = {
            hold.mask: Fraction(sum(map(mul, hold.counts.values(), (400, 64, 4, 1, 0))), hold.draws)
            for hold in holds(game, found["hand"], "plain").holds
            if hold.optimal
        }
        best = {"lowest-mask": 0, "least-variance": min(squares.values()), "most-variance": max(squares.values())}[rule]
        expected = min(mask for mask, square in squares.items() if rule == "lowest-mask" or square == best)
        assert int(found["hold"]) == expected


# --- looking deals up -------------------------------------------------------------------------------------------------


def random_deals(deck, number, seed):
    rng = Random(seed)
    cards = [name for name, copies in zip(deck.names, deck.copies.tolist(), strict=True) for _ in range(copies)]
    return [" ".join(rng.sample(cards, 5)) for _ in range(number)]


def check_look_up(game, table, paytable, number, seed):
    deals = random_deals(game.rules.deck, number, seed)
    found = look_up(game, table, deals)
    assert found["deal"].tolist() == deals
    assert list(found.columns) == ["deal", "row", "hold", "held", "ev", "hand"]
    for deal, row, hold, held, ev, hand in found.itertuples(index=False):
        best = holds(game, deal, paytable.name).holds[0]
        assert best.chosen
        assert ev == float(best.ev)
        assert hold == best.mask
        cards = deal.split()
        assert held == best.held == " ".join(card for i, card in enumerate(cards) if hold >> i & 1)
        assert table["hand"].iloc[row] == hand


def test_look_up_in_any_suits_and_order(game, paytable, table):
    check_look_up(game, table, paytable, 40, 11)


def test_look_up_of_nine_six(nine_six, nine_six_table):
    assert len(nine_six_table) == 134_459
    assert nine_six_table["weight"].sum() == 2_598_960
    check_look_up(nine_six, nine_six_table, nine_six.paytables[0], 25, 12)
    found = look_up(nine_six, nine_six_table, ["8h Kh Qh Jh Th", "Th Jh Qh Kh 8h"])
    assert found["held"].tolist() == ["Kh Qh Jh Th", "Th Jh Qh Kh"]
    assert found["hold"].tolist() == [0b11110, 0b01111]
    assert found["ev"].tolist() == [919 / 47] * 2
    assert found["hand"].nunique() == 1


def test_look_up_with_equal_cards_and_jokers(jokers, tmp_path):
    certify([jokers], tmp_path / "run", all_holds=True)
    table = read_strategy(tmp_path / "run", "two-of-ten", "only")
    assert table["weight"].sum() == jokers.rules.deck.hands
    deals = random_deals(jokers.rules.deck, 40, 13)
    assert any(len(set(deal.split())) < 5 for deal in deals)
    assert any("Joker" in deal for deal in deals)
    found = look_up(jokers, table, deals)
    for deal, ev, held in zip(deals, found["ev"], found["held"], strict=True):
        best = holds(jokers, deal, "only").holds[0]
        assert ev == float(best.ev)
        # Of equal cards either may be held: the same cards, not the same places.
        assert sorted(held.split()) == sorted(best.held.split())


def test_look_up_of_nothing(game, table):
    assert len(look_up(game, table, [])) == 0


# --- digests ----------------------------------------------------------------------------------------------------------

FORMATS = {"uint8": "B", "int16": "h", "int32": "i", "uint32": "I", "int64": "q"}


def digest_by_hand(table):
    digest = hashlib.sha256()
    for name in table.column_names:
        kind, values = str(table.schema.field(name).type), table.column(name).to_pylist()
        if kind in ("double", "float"):
            continue
        digest.update(f"{name}:{kind}\n".encode())
        if kind == "string":
            for text in values:
                digest.update(struct.pack("<I", len(text.encode())) + text.encode())
        else:
            digest.update(struct.pack(f"<{len(values)}{FORMATS[kind]}", *values))
    return digest.hexdigest()


def test_content_digest_of_a_part(run):
    for path in sorted(run.glob("six-by-four/*/strategy/*.parquet")):
        table = pq.read_table(path)
        listed = json.loads((run / "manifest.json").read_text())["parts"]
        (said,) = [part for part in listed if part["path"] == path.relative_to(run).as_posix()]
        assert said["content"] == digest_by_hand(table)
        assert said["rows"] == table.num_rows


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_content_digest_is_that_of_its_definition(data):
    rows = data.draw(st.integers(0, 6))
    texts = data.draw(st.lists(st.text(max_size=5), min_size=rows, max_size=rows))
    columns = {"text é": pa.array(texts, pa.string()), "float": pa.array([0.5] * rows, pa.float64())}
    for kind in FORMATS:
        low, high = (0, 2**8 - 1) if kind.startswith("u") else (-(2**15), 2**15 - 1)
        values = data.draw(st.lists(st.integers(low, high), min_size=rows, max_size=rows))
        columns[kind] = pa.array(values, getattr(pa, kind)())
    table = pa.table(columns)
    assert content_digest(table) == digest_by_hand(table)
    cut = data.draw(st.integers(0, rows))
    assert content_digest(pa.concat_tables([table[:cut], table[cut:]])) == content_digest(table)
    if rows:
        assert content_digest(table[: rows - 1]) != content_digest(table)


@pytest.mark.parametrize(
    "how",
    [
        {"compression": "none"},
        {"compression": "snappy", "use_dictionary": True},
        {"row_group_size": 100, "data_page_version": "2.0"},
        {"version": "1.0", "store_schema": False},
    ],
    ids=str,
)
def test_content_digest_does_not_depend_on_parquet(run, tmp_path, how):
    table = pq.read_table(run / "six-by-four" / "plain" / "strategy" / "part-00001.parquet")
    if how.get("version") == "1.0":
        table = table.drop_columns(["optimal_holds"])  # 1.0 has no unsigned 32-bit integers
    pq.write_table(table, tmp_path / "other.parquet", **how)
    assert content_digest(pq.read_table(tmp_path / "other.parquet")) == digest_by_hand(table)


# --- plans ------------------------------------------------------------------------------------------------------------

EVEN = Paytable("even", 5, (Fraction(1, 2), Fraction(0)))
PLAN_TEXT = (
    '{"all_holds":false,"format":1,"games":[{"canonical_hands":134459,"name":"game","ordered":[],"payt'
    'ables":[{"coins":5,"deal_bonus":["0"],"levels":false,"name":"even","on_deal":null,"pays":["1/2","0"]'
    ',"progressive":null,"source":"src"}],"rules":{"bonus":[],"deck":{"decks":1,"extra":[],"faces":["2","'
    '3","4","5","6","7","8","9","T","J","Q","K","A"],"jokers":0,"suits":["c","d","h","s"]},"define":[],"w'
    'in":[{"name":"pair","when":"some(a,b: same(aF,bF))"}]}}],"rows_per_part":16384,"sensitivity":false,"'
    'software":{"autohold":"1","code":"2","pyarrow":"3"},"tie_break":"lowest-mask"}'
)

names = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "Zs")), min_size=1, max_size=8)
pays = st.fractions(0, 10**6, max_denominator=10**4)


@st.composite
def plans(draw):
    entries = []
    for number in range(draw(st.integers(1, 3))):
        wins = tuple(Win(f"win {i}", draw(names)) for i in range(draw(st.integers(1, 3))))
        deck = Deck(
            suits=tuple("cdhs"[: draw(st.integers(1, 4))]),
            decks=draw(st.integers(1, 3)),
            jokers=draw(st.integers(0, 2)),
            extra=tuple(draw(st.lists(st.sampled_from(["A*", "2*"]), max_size=2))),
        )
        definitions = tuple(draw(st.dictionaries(names, names, max_size=2)).items())
        tables = tuple(
            Paytable(f"table {i}", draw(st.integers(1, 5)), tuple(draw(pays) for _ in range(len(wins) + 1)))
            for i in range(draw(st.integers(1, 2)))
        )
        sources = tuple(draw(st.text(max_size=5)) for _ in tables)
        rules = Rules(deck, definitions, wins)
        entries.append(Entry(f"game {number}", rules, tables, sources, draw(st.integers(1, 10**5))))
    return Plan(
        tuple(entries),
        draw(st.sampled_from(TIE_BREAKS)),
        draw(st.integers(1, 10**5)),
        *draw(st.tuples(st.booleans(), st.booleans())),
    )


@settings(max_examples=60, deadline=None)
@given(plans())
def test_a_plan_is_what_its_text_says(plan):
    again = read_plan(plan.text)
    assert again == plan
    assert (again.identity, again.text) == (plan.identity, plan.text)
    assert plan.identity == hashlib.sha256(plan.text.encode()).hexdigest()
    assert plan.text == canonical_text(json.loads(plan.text))


@settings(max_examples=60, deadline=None)
@given(plans(), st.integers(1, 40))
def test_tasks_are_all_parts_once(plan, at_least):
    cut = tasks(plan, at_least)
    parts = [(task.entry, part) for task in cut for part in range(task.start, task.stop)]
    assert sorted(parts) == [(entry, part) for entry in range(len(plan.entries)) for part in range(plan.parts(entry))]
    cells = [plan.entries[number].rows * len(plan.entries[number].paytables) for number, _ in parts]
    assert cells == sorted(cells, reverse=True)  # the longest first; none of these games depends on order
    assert count_parts(plan, cut) == count_parts(plan)
    assert len(cut) >= min(at_least, len(plan.entries))
    for entry in range(len(plan.entries)):
        ranges = [plan.rows(entry, part) for part in range(plan.parts(entry))]
        assert ranges[0][0] == 0
        assert ranges[-1][1] == plan.entries[entry].rows
        assert all(left[1] == right[0] for left, right in pairwise(ranges))


def test_what_decides_bytes_decides_the_identity(game):
    rules = game.rules
    base = Plan((Entry("game", rules, game.paytables[:1], ("",), 2376),))
    table = game.paytables[0]
    others = [
        Plan(base.entries, TIE_BREAKS[1]),
        Plan(base.entries, rows_per_part=1),
        Plan(base.entries, all_holds=True),
        Plan(base.entries, sensitivity=True),
        Plan((Entry("Game", rules, (table,), ("",), 2376),)),
        Plan((Entry("game", rules, (table,), ("source",), 2376),)),
        Plan((Entry("game", rules, (Paytable(table.name, 2, table.pays),), ("",), 2376),)),
        Plan((Entry("game", rules, (Paytable(table.name, 1, (*table.pays[:-1], Fraction(1, 7))),), ("",), 2376),)),
        Plan((Entry("game", Rules(rules.deck, (), rules.wins), (table,), ("",), 2376),)),
        Plan((Entry("game", Rules(Deck(), rules.definitions, rules.wins), (table,), ("",), 2376),)),
    ]
    assert len({plan.identity for plan in [base, *others]}) == len(others) + 1


def test_the_identity_of_a_known_plan(game, monkeypatch):
    """Pinned: whoever changes how a plan is written changes the identity of every run, and has to mean it."""
    monkeypatch.setattr("pipeline.plan.software", lambda: {"autohold": "1", "code": "2", "pyarrow": "3"})
    plan = Plan(
        (Entry("game", Rules(Deck(), (), (Win("pair", "some(a,b: same(aF,bF))"),)), (EVEN,), ("src",), 134_459),)
    )
    assert plan.text == PLAN_TEXT
    assert plan.identity == "4111bf0b80bb5ee08456f35efbb2703e34246d4aafffd0098423322571197ce5"
