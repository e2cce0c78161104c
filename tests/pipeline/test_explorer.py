"""The explorer in a real browser: what it computes is what the kernel and the command say, and people can use it."""

import json
from fractions import Fraction
from itertools import groupby

import numpy as np
import pytest
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from evaluator.cards import format_cards
from evaluator.holds import hold_block, hold_values, optimal_holds
from evaluator.ordered import ARRANGEMENTS, arrangement_number
from evaluator.symmetry import locate
from pipeline import certify, holds, load_game, look_up, read_strategy
from pipeline.api import choose_paytables, solve_game
from pipeline.location import write_whole
from pipeline.open_run import open_run
from pipeline.report import explorer
from pipeline.report.explorer import page
from pipeline.report.notable import MOST, notable
from tests.browser import browser
from tests.pipeline.games import ROOT, SMALL, autohold

pytestmark = pytest.mark.programs

SHIPPED = {
    "jacks-or-better": ("9/6", "9/6 by coins, 2 coins"),
    "deuces-wild": ("full pay",),
    "joker-poker-kings-or-better": ("full pay",),
    "sequential-royal-jacks-or-better": ("9/6",),  # depends on order
}
ADJACENT = "double-bonus-plus"
"""depends on order in two wins, and has ten times as many rows as a game without order"""
HANDS = 10_000

ODD = """\
name = "Odd Deck"
[deck]
faces = ["2", "3", "4", "5", "6"]
suits = ["c", "d", "h"]
decks = 2
jokers = 2
extra = ["6*"]
[[win]]
name = "hearts"
when = "every(a: same(aS){h})"
[[win]]
name = "both jokers"
when = "some(a,b: same(aF){joker} & same(bF){joker})"
[[win]]
name = "three of a kind"
when = "some(a,b,c: same(aF,bF,cF))"
[[win]]
name = "sixes </script>"
when = "some(a,b: same(aF,bF){6})"
[[bonus]]
name = "a joker"
when = "some(a: same(aF){joker})"
[paytable."a & b"]
coins = [1, 5]
no_win = "1/10"
pays = { hearts = [1000000000000, 5], "both jokers" = 7, "three of a kind" = "7/3", "sixes </script>" = 1 }
on_deal = { "both jokers" = 100, hearts = 0 }
deal_bonus = { "a joker" = 2 }
"""
"""Two decks with jokers and an odd card; suits that are not all alike; every kind of pay."""

PLACES = (
    SMALL.replace("Six by Four", "Aces First")
    .replace('"9", ', "")
    .replace(
        '[[win]]\nname = "pair',
        '[[win]]\nname = "aces first"\nwhen = "same(C1F,C2F){A} & !same(C1S){h}"\n[[win]]\nname = "pair',
    )
    .replace('"pair of aces" = 1', '"pair of aces" = 1\n"aces first" = 2')
    .replace('"pair of aces" = 0', '"pair of aces" = 0\n"aces first" = "7/2"')
)
"""Thousands of final hands that depend on order, and a suit that is not like the others."""


def certified(run, games, **options):
    """A run with its explorers, and no other page of a report."""
    certify(games, run, **options)
    for folder, places in groupby(open_run(run)[2], lambda place: place.folder.split("/")[0]):
        write_whole(run / "report" / folder / "explorer.html", page(list(places)).encode())
    return run


def configured(name, labels):
    return choose_paytables(load_game(ROOT / f"configs/{name}.toml"), labels)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    return certified(tmp_path_factory.mktemp("shipped") / "run", [configured(*game) for game in SHIPPED.items()])


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    """The game files of what no shipped game has, and their run under another tie rule."""
    folder = tmp_path_factory.mktemp("made-up")
    for name, text in (("odd-deck", ODD), ("aces-first", PLACES)):
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    certified(folder / "run", sorted(folder.glob("*.toml")), tie_break="least-variance")
    return folder


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with browser(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


def visit(chromium, run, game, address=""):
    """Open an explorer; it is ready when this returns."""
    chromium.get("about:blank")
    chromium.get((run / "report" / game / "explorer.html").as_uri() + address)
    assert chromium.execute_async_script("ready.then(() => arguments[0](''), (e) => arguments[0](String(e)))") == ""


# --- what it computes -------------------------------------------------------------------------------------------------


def random_deals(game, count, seed=8):
    """(count, 5) deals in any order, from all physical cards."""
    copies = game.rules.deck.copies
    cards = np.repeat(np.arange(len(copies)), copies)
    keys = np.random.default_rng(seed).random((count, len(cards)))
    return cards[np.argpartition(keys, 5, axis=1)[:, :5]]


def expected(game, table, deals):
    """By the kernel: (n, 32) values by the masks of each deal, as text, and the (n,) bit sets of optimal holds."""
    tables = solve_game(game).tables
    canonical, places = locate(tables.classes, deals)
    values = np.empty((len(deals), 32), object)
    optimal = np.zeros(len(deals), np.int64)
    step = 16_384 if tables.ordered is None else 1024
    for start in range(0, len(tables.outcomes), step):
        block = hold_block(tables, start, start + step)
        here = np.flatnonzero((canonical >= block.start) & (canonical < block.stop))
        rows, where = canonical[here] - block.start, places[here].astype(np.intp)
        if block.arrangements is not None:
            rows = block.arrangements.member[rows, arrangement_number(where)]
            shown = np.argsort(ARRANGEMENTS[block.arrangements.first[rows]], axis=1)
            where = np.take_along_axis(shown, where, axis=1)
        found = hold_values(tables, block, table.units, table.deal_units)
        best = optimal_holds(found, block.repeats)
        for mask in range(32):
            moved = ((mask >> np.arange(5) & 1) << where).sum(axis=1)
            repeated = block.repeats[rows] >> moved & 1
            values[here, mask] = np.where(repeated, -1, found[moved, rows])
            optimal[here] |= (best[rows] >> moved & 1).astype(np.int64) << mask
    return values, optimal


def answers(chromium, label, texts):
    """By the page: the same, and the mask of the chosen hold."""
    rows = []
    for start in range(0, len(texts), 2500):
        rows += chromium.execute_async_script(
            """
            const [hands, label, done] = arguments;
            const bits = (holds) => holds.reduce((all, { mask }) => all + 2 ** mask, 0);
            Promise.all(hands.map((hand) => ask(hand, label))).then((found) => done(found.map(({ holds }) => {
              const values = Array(32).fill("-1");
              for (const { mask, value } of holds) values[mask] = value;
              return [values.join(" "), bits(holds.filter((hold) => hold.optimal)), holds[0].mask,
                holds.filter((hold) => hold.chosen).length];
            })), (problem) => done(String(problem)));
            """,
            texts[start : start + 2500],
            label,
        )
    assert {row[3] for row in rows} == {1}
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def check(chromium, run, file, label, count):
    """Random deals: exact values and optimal holds by the kernel, the chosen hold by the strategy table of the run."""
    game = load_game(file)
    (table,) = choose_paytables(game, [label]).paytables
    deals = random_deals(game, count)
    texts = [format_cards(game.rules.deck, deal) for deal in deals]
    values, optimal = expected(game, table, deals)
    found, best, chosen = answers(chromium, label, texts)
    assert found == [" ".join(map(str, row)) for row in values]
    assert best == optimal.tolist()
    strategy = read_strategy(run, game.name, table.label)
    assert chosen == look_up(game, strategy, texts)["hold"].tolist()
    return game, texts


@pytest.mark.parametrize("name", SHIPPED)
def test_ten_thousand_hands_are_worth_what_autohold_hold_says(chromium, shipped, name):
    agree_with_hold(chromium, shipped, name, SHIPPED[name][0])


@pytest.mark.slow
def test_so_are_those_of_a_game_where_neighbours_count(chromium, tmp_path):
    agree_with_hold(chromium, certified(tmp_path / "run", [configured(ADJACENT, ["9/6/5"])]), ADJACENT, "9/6/5")


def agree_with_hold(chromium, run, name, label):
    visit(chromium, run, name)
    game, texts = check(chromium, run, ROOT / f"configs/{name}.toml", label, HANDS)
    same_as_holds(chromium, game, label, texts[:100])
    for text in texts[:1]:
        said = json.loads(autohold("hold", f"configs/{name}.toml", text, "--paytable", label, "--json").stdout)
        page = chromium.execute_async_script("ask(arguments[0], arguments[1]).then(arguments[2])", text, label)
        denominator = int(page["denominator"])
        assert page["win"] == said["win"]
        assert {
            hold["mask"]: (str(Fraction(int(hold["value"]), denominator)), hold["counts"]) for hold in page["holds"]
        } == {hold["mask"]: (hold["ev"], list(hold["counts"].values())) for hold in said["holds"]}


def same_as_holds(chromium, game, label, texts):
    """Everything that `pipeline.holds` says; the run's tie rule is lowest-mask, as there."""
    found = chromium.execute_async_script(
        "Promise.all(arguments[0].map((text) => ask(text, arguments[1]))).then(arguments[2])", texts, label
    )
    for text, answer in zip(texts, found, strict=True):
        table = holds(game, text, label)
        assert answer["win"] == table.win
        denominator = int(answer["denominator"])
        assert {
            (h["mask"], Fraction(int(h["value"]), denominator), h["draws"], h["optimal"], *h["counts"])
            for h in answer["holds"]
        } == {(h.mask, h.ev, h.draws, h.optimal, *h.counts.values()) for h in table.holds}


@pytest.mark.parametrize(
    ("game", "label"), [("odd-deck", "a & b, 1 coin"), ("odd-deck", "a & b, 5 coins"), ("aces-first", "broken pays")]
)
def test_decks_pays_and_ties_that_no_shipped_game_has(chromium, made_up, game, label):
    visit(chromium, made_up / "run", game)
    loaded, texts = check(chromium, made_up / "run", made_up / f"{game}.toml", label, 1500)
    same_as_holds(chromium, loaded, label, texts[:100])


# --- the hands worth a look -------------------------------------------------------------------------------------------


def test_notable_hands_are_those_of_the_run(made_up, tmp_path):
    """Compared with the values of all holds in the strategy table."""
    game = load_game(made_up / "aces-first.toml")
    run = certified(tmp_path / "run", [game], all_holds=True)
    places = open_run(run)[2]
    tables = solve_game(game).tables
    for place, found in zip(places, notable(tables, places), strict=True):
        table = read_strategy(run, game.name, place.paytable.label)
        unit = tables.cycle_factor * place.paytable.scale * place.paytable.coins
        numerators = table[[f"ev_numerator_{mask:02d}" for mask in range(32)]].to_numpy()
        close, costly, ties = [], [], []
        for row, best_holds in zip(numerators.tolist(), table["optimal_holds"].tolist(), strict=True):
            values = {n * tables.multipliers[mask.bit_count()] for mask, n in enumerate(row)}
            best, second = sorted(values)[:-3:-1]
            close.append(best - second)
            costly += [best - second] if not best_holds >> 31 else []
            ties += [best] if best_holds.bit_count() > 1 else []
        assert [value * unit for value, _ in found.close] == sorted(set(close))[:MOST]
        assert [value * unit for value, _ in found.costly] == sorted(set(costly), reverse=True)[:MOST]
        assert [value * unit for value, _ in found.ties] == sorted(set(ties), reverse=True)[:MOST]
        assert min(map(len, (found.close, found.costly, found.ties))) > 1
        for value, hand in found.close:
            first, *others = holds(game, format_cards(game.rules.deck, hand), place.paytable.label).holds
            assert first.ev - max(hold.ev for hold in others if not hold.optimal) == value


# --- what people see --------------------------------------------------------------------------------------------------


class Seen:
    """An explorer as people use it."""

    def __init__(self, chromium):
        self.chromium = chromium

    def one(self, selector):
        return self.chromium.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.chromium.find_elements(By.CSS_SELECTOR, selector)

    def card(self, name):
        return self.one(f'#deck button[aria-label="{name}"]')

    def wait_for(self, address):
        """Until the page shows what the address says; its title says what it shows."""
        shown = """
            const { table, cards } = readAddress();
            return location.hash === `#${arguments[0]}` && document.title.startsWith(names(cards) || table.label)
              && document.title.includes(table.label);
        """
        WebDriverWait(self.chromium, 60).until(lambda driver: driver.execute_script(shown, address))

    @property
    def hand(self):
        return [card.get_attribute("aria-label")[:2] for card in self.all("#cards button")]

    @property
    def first(self):
        """The texts of the best hold's row."""
        return [cell.text for cell in self.all("#holds > tr:first-child > td")]

    def focused(self):
        return self.chromium.switch_to.active_element.get_attribute("aria-label")


@pytest.fixture
def seen(chromium, shipped):
    visit(chromium, shipped, "jacks-or-better")
    return Seen(chromium)


ROYAL_DRAW = "paytable=9/6&hand=ThJhQhKh8h"


def test_a_typed_hand_is_answered(seen):
    seen.one("#hand").send_keys("10h jh, Q♥ kh8h", Keys.ENTER)
    seen.wait_for(ROYAL_DRAW)
    assert seen.first == ["19.553191", "919/47", "best"]
    assert len(seen.all("#holds tr[data-mask]")) == 32
    told = seen.one("#verdict").text
    assert "Dealt: flush, which pays 6 for 1 credit" in told
    assert "costs 13.553191" in told
    rows = {row.find_element(By.TAG_NAME, "th").text: row.text.split()[-4:] for row in seen.all(".draws tbody tr")}
    assert rows["royal flush"] == ["1", "2.1277", "%", "17.021277"]
    assert "149,967,015 / 7,669,695" in seen.one("#holds .open").text
    seen.one("#every summary").click()
    WebDriverWait(seen.chromium, 60).until(lambda _: len(seen.all("#all tr")) == 32)
    assert seen.one("#all tr").text.split()[-10:] == ["1", "1", "0", "0", "6", "6", "0", "0", "9", "24"]


def test_wrong_hands_are_told(seen):
    for text, said in (
        ("AsZz", "“Zz” is not a card"),
        ("constructor", "not a card"),
        ("As As", "named 2 times"),
        ("2c3c4c5c6c7c", "five cards"),
    ):
        seen.one("#hand").clear()
        seen.one("#hand").send_keys(text, Keys.ENTER)
        assert said in seen.one("#fault").text
        assert seen.hand == []
    seen.one("#hand").clear()
    seen.one("#hand").send_keys("2c3c", Keys.ENTER)
    seen.wait_for("paytable=9/6&hand=2c3c")
    assert seen.one("#fault").text == ""
    assert seen.one("#verdict").text == "2 of five cards."


def test_cards_are_picked_and_taken_out(seen):
    for name in ("Th", "Jh", "Qh", "Kh", "8h"):
        seen.card(name).click()
    seen.wait_for(ROYAL_DRAW)
    assert seen.hand == ["Th", "Jh", "Qh", "Kh", "8h"]
    seen.all("#cards button")[1].click()
    seen.wait_for("paytable=9/6&hand=ThQhKh8h")
    seen.card("Ah").click()  # into the gap
    seen.wait_for("paytable=9/6&hand=ThAhQhKh8h")
    seen.card("8h").click()  # again: out
    seen.wait_for("paytable=9/6&hand=ThAhQhKh")
    seen.card("Jh").click()
    seen.wait_for("paytable=9/6&hand=ThAhQhKhJh")
    assert seen.first == ["800.000000", "800/1", "best"]
    assert seen.card("Jh").get_attribute("aria-pressed") == "true"
    seen.card("2c").click()  # a sixth card begins a new hand
    seen.wait_for("paytable=9/6&hand=2c")
    seen.one("#clear").click()
    seen.wait_for("paytable=9/6&hand=")
    assert "Pick five cards" in seen.one("#verdict").text


def test_a_random_deal_is_a_hand(seen):
    for _ in range(3):
        seen.one("#random").click()
        WebDriverWait(seen.chromium, 60).until(lambda _: len(seen.hand) == 5)
        assert len(set(seen.hand)) == 5
        assert seen.first[2] in ("best", "tied")


def test_another_paytable_answers_for_the_same_hand(seen):
    seen.one("#hand").send_keys("ThJhQhKh8h", Keys.ENTER)
    seen.wait_for(ROYAL_DRAW)
    Select(seen.one("#paytable")).select_by_visible_text("9/6 by coins, 2 coins")
    seen.wait_for("paytable=9/6%20by%20coins,%202%20coins&hand=ThJhQhKh8h")
    assert seen.first[0] == "7.851064"
    assert "pays 12 for 2 credits" in seen.one("#verdict").text
    assert seen.one("#sheet").get_attribute("href").endswith("jacks-or-better/9-6-by-coins-2-coins/par-sheet.html")
    seen.chromium.back()
    seen.wait_for(ROYAL_DRAW)
    assert seen.first[0] == "19.553191"


def test_all_can_be_done_with_the_keyboard(seen):
    seen.chromium.execute_script("document.getElementById('clear').focus()")
    keys = ActionChains(seen.chromium)
    keys.send_keys(Keys.TAB, Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ENTER).perform()
    assert seen.focused() == "3h"
    for key in (Keys.ARROW_RIGHT,) * 4:
        ActionChains(seen.chromium).send_keys(key, Keys.ENTER).perform()
    seen.wait_for("paytable=9/6&hand=3h4h5h6h7h")
    seen.chromium.execute_script("document.querySelector('#holds button').focus()")
    ActionChains(seen.chromium).send_keys(Keys.ARROW_DOWN, Keys.ENTER).perform()
    assert seen.one('#holds button[aria-expanded="true"]').get_attribute("aria-label") == seen.focused()
    assert "It costs" in seen.one("#holds .open").text
    ActionChains(seen.chromium).send_keys(Keys.ENTER).perform()
    assert not seen.all("#holds .open")


def test_links_lead_to_notable_hands(seen):
    costliest = seen.all("#notable ul")[2].find_element(By.TAG_NAME, "a")
    told = seen.one("#notable").text
    costliest.click()
    WebDriverWait(seen.chromium, 60).until(lambda _: len(seen.hand) == 5)
    (cost,) = [cell.text for cell in seen.all("#holds .cost")][:1]
    assert f"even the next best hold costs most, {cost} to " in told


def test_an_address_carries_paytable_and_hand(chromium, made_up):
    visit(chromium, made_up / "run", "odd-deck", "#paytable=a%20%26%20b,%205%20coins&hand=JokerJoker6*2c2c")
    seen = Seen(chromium)
    assert [card.text for card in seen.all("#cards button")] == ["★", "★", "6*", "2\n♣", "2\n♣"]
    told = seen.one("#verdict").text
    assert "Dealt: both jokers, which pays 500 for 5 credits" in told
    assert "a bonus of 10 (a joker)" in told
    assert len(seen.all("#holds tr[data-mask]")) == 18  # 3 * 3 * 2 ways to hold two pairs of alike cards and one more
    visit(chromium, made_up / "run", "odd-deck", "#paytable=none&hand=2c")
    assert "no paytable “none”" in seen.one("#fault").text


def test_the_page_asks_nobody_and_says_nothing_wrong(chromium, shipped):
    chromium.get_log("performance")
    chromium.get_log("browser")
    visit(chromium, shipped, "jacks-or-better", "#" + ROYAL_DRAW)
    messages = [json.loads(entry["message"])["message"] for entry in chromium.get_log("performance")]
    asked = {m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"}
    assert {url.split(":")[0] for url in asked} <= {"file", "data", "about"}
    assert len([url for url in asked if url.startswith("file:")]) == 1
    assert chromium.get_log("browser") == []


@pytest.mark.parametrize("width", [1400, 390, 320])
def test_nothing_is_wider_than_the_screen(chromium, shipped, width):
    metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
    chromium.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        visit(chromium, shipped, "joker-poker-kings-or-better", "#paytable=full%20pay&hand=JokerThJhQhKh")
        assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
        scrolled = "const box = document.querySelector('.result .scroll'); return box.scrollWidth - box.clientWidth"
        assert chromium.execute_script(scrolled) == 0
    finally:
        chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


# --- the file ---------------------------------------------------------------------------------------------------------


def test_pages_are_small_and_always_the_same(shipped):
    written = {path.parent.name: path.read_bytes() for path in (shipped / "report").glob("*/explorer.html")}
    assert {*written} == {*SHIPPED}
    assert max(map(len, written.values())) < 100_000
    places = [place for place in open_run(shipped)[2] if place.folder.startswith("jacks-or-better/")]
    assert page(places).encode() == written["jacks-or-better"]


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        ("MOST_CELLS", 1000, "canonical hands"),
        ("MOST_FINAL_HANDS", 5, "order of the cards"),
        ("MOST_BYTES", 9, "bytes"),
    ],
)
def test_a_game_that_is_too_large_is_told(made_up, monkeypatch, limit, value, said):
    monkeypatch.setattr(explorer, limit, value)
    places = [place for place in open_run(made_up / "run")[2] if place.folder.startswith("aces-first")]
    text = page(places)
    assert "too large" in text
    assert said in text
    assert "autohold hold" in text
    assert "<script" not in text
