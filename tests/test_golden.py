"""Published values: every record of `golden/`, certified once, against print and against exact values of others."""

import json
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from evaluator.cards import CardError
from evaluator.holds import hold_block
from evaluator.payback import Outcome, certify_rows
from evaluator.summary import summarise
from pipeline import certify, holds, load_game
from pipeline.api import choose_paytables, solve_game

ROOT = Path(__file__).parent.parent
GOLDEN = Path(__file__).parent / "golden"
SPECIAL = json.loads((GOLDEN / "special.json").read_text(encoding="utf-8"))
RECORDS = [
    record
    for record in json.loads((GOLDEN / "published.json").read_text(encoding="utf-8"))
    if record["id"] not in SPECIAL  # see test_golden_special.py
]
HANDS = json.loads((GOLDEN / "hands.json").read_text(encoding="utf-8"))
PAR_SHEETS = json.loads((GOLDEN / "par-sheet.json").read_text(encoding="utf-8"))
HOMES = json.loads((GOLDEN / "paytables.json").read_text(encoding="utf-8"))

LOWEST = "lowest-mask"
VARIANCE_OF_RULE = {LOWEST: "a_lowmask", "least-variance": "c_minvar", "most-variance": "d_maxvar"}
RULES = tuple(VARIANCE_OF_RULE)


def record_id(record):
    return record["id"]


def home(record):
    return HOMES[record["id"]]["game"], HOMES[record["id"]]["paytable"]


def config(name):
    return ROOT / "configs" / f"{name}.toml"


def depends_on_rule(record):
    """Whether optimal strategies differ in anything but the choice between hands that are alike."""
    return any(low != high for low, high in (row["combinations_range"] for row in record["rows"]))


def last_place(text):
    """The value of one unit in the last printed place."""
    return Fraction(10) ** int(Decimal(text).as_tuple().exponent)


all_records = pytest.mark.parametrize("record", RECORDS, ids=record_id)
printed = pytest.mark.parametrize("record", [r for r in RECORDS if r.get("combinations_are")], ids=record_id)


@pytest.fixture(scope="session")
def games():
    """Game file -> the game with the paytables that have a record."""
    named = defaultdict(list)
    for record in RECORDS:
        game, paytable = home(record)
        named[game].append(paytable)
    return {game: choose_paytables(load_game(config(game)), names) for game, names in named.items()}


@pytest.fixture(scope="session")
def certificates(games, tmp_path_factory):
    """(game file, paytable) -> certificate.json, of one run over all games."""
    out = tmp_path_factory.mktemp("golden") / "run"
    run = certify(games.values(), out)
    assert run.computed
    keys = [(file, table.name) for file, game in games.items() for table in game.paytables]
    assert [content["paytable"] for content in run.certificates] == [paytable for _, paytable in keys]
    return dict(zip(keys, run.certificates, strict=True))


@pytest.fixture(scope="session")
def by_rule(games):
    """(game file, paytable, tie rule) -> Summary, for the other tie rules where a record can tell the rules apart."""
    wanted = {home(record) for record in RECORDS if depends_on_rule(record)}
    found = {}
    for file, game in games.items():
        tables = [table for table in game.paytables if (file, table.name) in wanted]
        if not tables:
            continue
        solution = solve_game(game)
        zero = Outcome.zero(len(game.rules.wins) + 1)
        sums = {(table.name, rule): zero for table in tables for rule in RULES[1:]}
        rows = len(solution.tables.classes.weights)
        for start in range(0, rows, 16_384):
            block = hold_block(solution.tables, start, min(start + 16_384, rows))
            for table in tables:
                for rule in RULES[1:]:
                    outcome, _ = certify_rows(solution.tables, block, table, rule)
                    sums[table.name, rule] += outcome
        for table in tables:
            for rule in RULES[1:]:
                found[file, table.name, rule] = summarise(sums[table.name, rule], game.rules.deck, table)
    return found


def wins_of(certificate, record):
    """Rows of the record and rows of the certificate side by side; some records leave "nothing" out."""
    rows, wins = record["rows"], certificate["wins"]
    assert len(wins) - len(rows) in (0, 1)
    assert wins[-1]["name"] == "nothing"
    return list(zip(rows, wins, strict=False))


def combinations(certificates, by_rule, record, rule):
    """Combinations of each row of the record under a tie rule, in the whole cycle."""
    certificate = certificates[home(record)]
    if rule == LOWEST or not depends_on_rule(record):
        return [int(win["combinations"]) for _, win in wins_of(certificate, record)]
    summary = by_rule[(*home(record), rule)]
    return [win.combinations for win in summary.wins[: len(record["rows"])]]


def test_every_record_has_a_home():
    assert {record["id"] for record in RECORDS} == set(HOMES)
    assert len(RECORDS) == 69


@all_records
def test_pays_are_those_of_the_record(certificates, record):
    certificate = certificates[home(record)]
    coins = certificate["coins"]
    for row, win in wins_of(certificate, record):
        assert Fraction(win["pays"]) / coins == Fraction(str(row["pays"])), row["name"]


@all_records
def test_exact_values(certificates, record):
    certificate = certificates[home(record)]
    assert Fraction(certificate["payback"]) == Fraction(record["payback"])
    assert abs(Fraction(certificate["payback_decimal"]) - Fraction(record["payback"])) <= Fraction(1, 2 * 10**12)
    assert certificate["tied_deals"] == str(record["tied_deals"])
    assert int(certificate["cycle"]) % record["cycle"] == 0
    for row, win in wins_of(certificate, record):
        assert win["deal_combinations"] == str(row["deal_combinations"]), row["name"]
        assert win["combinations_range"] == list(map(str, row["combinations_range"])), row["name"]


@all_records
def test_variance(certificates, by_rule, record):
    certificate = certificates[home(record)]
    for exact, stated in zip(certificate["variance_range"], record["variance_range"], strict=True):
        assert abs(Fraction(exact) - Fraction(stated)) <= Fraction(exact) / 2**52
    for rule, key in VARIANCE_OF_RULE.items():
        stated = record["variance"][key]
        if rule == LOWEST or not depends_on_rule(record):
            variance = Fraction(certificate["variance"])
        else:
            variance = by_rule[(*home(record), rule)].variance
        assert abs(variance - Fraction(stated)) <= last_place(stated) / 2, rule
    assert certificate["variance_range"][0] == str(
        by_rule[(*home(record), "least-variance")].variance
        if depends_on_rule(record)
        else Fraction(certificate["variance"])
    )


@pytest.mark.parametrize("record", [r for r in RECORDS if r.get("tie_rules")], ids=record_id)
def test_printed_combinations_under_the_named_tie_rules(certificates, by_rule, record):
    parts = int(certificates[home(record)]["cycle"]) // record["cycle"]
    assert parts in (1, 12)
    for rule in RULES:
        ours = combinations(certificates, by_rule, record, rule)
        same = all(
            abs(Fraction(number, parts) - row["combinations"]) <= Fraction(1, 2)
            if parts > 1
            else number == row["combinations"]
            for number, row in zip(ours, record["rows"], strict=True)
        )
        # A rule that is not named must not reproduce them, else the record could not tell the rules apart.
        assert same == (rule in record["tie_rules"]), rule


@printed
def test_printed_combinations_are_within_the_range(certificates, record):
    certificate = certificates[home(record)]
    parts = int(certificate["cycle"]) // record["cycle"]
    off = []
    for row, win in wins_of(certificate, record):
        low, high = (Fraction(bound) / parts for bound in win["combinations_range"])
        if not low - Fraction(1, 2) <= row["combinations"] <= high + Fraction(1, 2):
            off.append((row["name"], row["combinations"] - high))
    assert off == ([("Five aces", 72)] if record["combinations_are"] == "misprinted" else [])


@printed
def test_printed_probabilities(certificates, record):
    certificate = certificates[home(record)]
    said = [(str(row["probability"]), win) for row, win in wins_of(certificate, record) if "probability" in row]
    place = min((last_place(text) for text, _ in said), default=Fraction(0))
    for text, win in said:
        low, high = (Fraction(bound) / int(certificate["cycle"]) for bound in win["combinations_range"])
        assert low - place / 2 <= Fraction(text) <= high + place / 2, win["name"]


@pytest.mark.parametrize("record", [r for r in RECORDS if r["printed_return"] is not None], ids=record_id)
def test_printed_return(certificates, record):
    # Totals of many places were added up from floats by those who printed them.
    margin = max(last_place(record["printed_return"]), Fraction(2, 10**12))
    agrees = abs(Fraction(certificates[home(record)]["payback"]) - Fraction(record["printed_return"])) < margin
    if record.get("combinations_are") == "misprinted":
        # The return is right; the total of the combinations beside it is not.
        printed_total = sum(row["combinations"] for row in record["rows"])
        assert agrees
        assert printed_total == record["cycle"] + 72
    else:
        assert agrees != record.get("printed_return_is_wrong", False)


# --- the figures of 9/6 Jacks or Better, number by number -------------------------------------------------------------


@pytest.fixture(scope="session")
def nine_six(certificates):
    return certificates["jacks-or-better", "9/6"]


def test_nine_six_jacks_or_better(nine_six):
    assert nine_six["payback"] == "1653526326983/1661102543100"
    assert nine_six["payback_decimal"] == "0.995439043695"
    assert nine_six["payback_percent_rounded_down"] == "99.54"
    assert nine_six["variance_decimal"].startswith("19.514676")
    assert nine_six["cycle"] == "19933230517200"
    assert nine_six["deals"] == "2598960"
    assert nine_six["canonical_hands"] == "134459"
    assert nine_six["tied_deals"] == "876"
    assert nine_six["tie_break"] == "lowest-mask"
    assert [(win["name"], win["combinations"], win["deal_combinations"]) for win in nine_six["wins"]] == [
        ("royal flush", "493512264", "4"),
        ("straight flush", "2178883296", "36"),
        ("four of a kind", "47093167764", "624"),
        ("full house", "229475482596", "3744"),
        ("flush", "219554786160", "5108"),
        ("straight", "223837565784", "10200"),
        ("three of a kind", "1484003070324", "54912"),
        ("two pair", "2576946164148", "123552"),
        ("jacks or better", "4277372890968", "337920"),
        ("nothing", "10872274993896", "2062860"),
    ]


def test_par_sheet_of_nine_six(nine_six):
    """The worked check of a PAR sheet: R, variance, sigma, volatility indices and 90 % bands, rounded as printed."""
    rounded = lambda text, places: str(round(Decimal(text), places))  # noqa: E731
    assert rounded(nine_six["payback_decimal"], 6) == "0.995439"
    assert rounded(nine_six["variance_decimal"], 6) == "19.514676"
    assert rounded(nine_six["standard_deviation_decimal"], 4) == "4.4175"
    indices = nine_six["volatility_index_decimal"]
    assert {level: rounded(index, 3) for level, index in indices.items()} == {
        "90": "7.267", "95": "8.658", "99": "11.380"
    }  # fmt: skip
    bands = {
        band["games"]: tuple(rounded(Decimal(band[end]) * 100, 2) for end in ("low", "high"))
        for band in nine_six["bands"]
        if band["confidence_percent"] == 90
    }
    assert {games: bands[games] for games in (10**3, 10**4, 10**5, 10**6, 10**7)} == {
        10**3: ("76.56", "122.52"),
        10**4: ("92.28", "106.81"),
        10**5: ("97.25", "101.84"),
        10**6: ("98.82", "100.27"),
        10**7: ("99.31", "99.77"),
    }
    assert [band["games"] for band in nine_six["bands"][:7]] == [10**power for power in range(3, 10)]


@all_records
def test_figures_add_up(certificates, record):
    content = certificates[home(record)]
    wins = content["wins"]
    assert sum(int(win["combinations"]) for win in wins) == int(content["cycle"])
    assert sum(int(win["deal_combinations"]) for win in wins) == int(content["deals"])
    assert sum(Fraction(win["contribution"]) for win in wins) == Fraction(content["payback"])
    assert sum(Fraction(win["variance_contribution"]) for win in wins) == Fraction(content["variance"])
    assert 1 - Fraction(content["payback"]) == Fraction(content["house_edge"])
    between, within = (Fraction(content[f"variance_{part}_deals"]) for part in ("between", "within"))
    assert between + within == Fraction(content["variance"])
    for line in content["lines"]:
        assert Fraction(line["variance"]) == between + within / line["lines"]


# --- single hands -----------------------------------------------------------------------------------------------------

#: Names of games in hands.json -> game file and paytable.
TABLES_OF_HANDS = {
    "Deuces Wild 800/200/25/15/9/5/3/2/2/1": ("deuces-wild", "full pay"),
    "Deuces Wild 800/200/25/15/9/4/4/3/2/1": ("deuces-wild", "illinois"),
    "Double Double Bonus 9/6 (800/50/400/160/160/80/50/9/6/4/3/1/1)": ("double-double-bonus", "9/6"),
    "Jacks or Better 9/6": ("jacks-or-better", "9/6"),
    "Jacks or Better 9/6, one coin (royal 250)": ("jacks-or-better", "9/6 one coin"),
    "Joker Poker kings or better 800/200/100/50/20/7/5/3/2/1/1 (53 cards)": ("joker-poker-kings-or-better", "full pay"),
}


def cards(text):
    return frozenset(text.split())


@pytest.mark.parametrize("entry", [entry for entry in HANDS if "hand" in entry and "error" not in entry], ids=record_id)
def test_hand(entry):
    file, paytable = TABLES_OF_HANDS[entry["game"]]
    table = holds(load_game(config(file)), entry["hand"], paytable)
    assert len(table.holds) == 32
    best = table.holds[0]
    assert best.ev == Fraction(entry["ev"])
    optimal = {cards(hold.held) for hold in table.holds if hold.optimal}
    assert optimal == set(map(cards, entry.get("ties") or [entry["best"]]))
    assert cards(best.held) in optimal
    assert [hold.chosen for hold in table.holds].count(True) == 1
    assert best.chosen
    values = {cards(hold.held): hold.ev for hold in table.holds}
    for held, value in entry.get("others", {}).items():
        assert values[cards(held)] == Fraction(value) < best.ev


@pytest.mark.parametrize("entry", [entry for entry in HANDS if "error" in entry], ids=record_id)
def test_hand_that_is_refused(entry):
    file, paytable = TABLES_OF_HANDS[entry["game"]]
    with pytest.raises(CardError, match=entry["error"]):
        holds(load_game(config(file)), entry["hand"], paytable)


@pytest.mark.parametrize("entry", [entry for entry in HANDS if "payback_decimal" in entry], ids=record_id)
def test_payback_in_place_of_a_hand(certificates, entry):
    payback = Fraction(certificates[TABLES_OF_HANDS[entry["game"]]]["payback"])
    assert abs(payback - Fraction(entry["payback_decimal"])) <= last_place(entry["payback_decimal"])


@pytest.mark.parametrize("record", PAR_SHEETS, ids=lambda record: f"{record['game']} {record['paytable']}")
def test_figures_of_a_par_sheet(record, certificates):
    found = certificates[record["game"], record["paytable"]]

    def agrees(printed, exact):
        return abs(Fraction(exact) - Fraction(printed)) <= last_place(printed) / 2

    assert agrees(record["variance"], found["variance"])
    assert found["payback_decimal"].startswith(record["payback"])
    assert agrees(record["standard_deviation"], found["standard_deviation_decimal"])
    for level, printed in record["volatility_index"].items():
        assert agrees(printed, found["volatility_index_decimal"][level])
    bands = {str(band["games"]): band for band in found["bands"] if band["confidence_percent"] == 90}
    for games, (low, high) in record["bands_90_percent"].items():
        assert agrees(low, Fraction(bands[games]["low"]) * 100)
        assert agrees(high, Fraction(bands[games]["high"]) * 100)
