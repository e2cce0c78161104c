"""Simulations: every draw is met as often as it must be, and nothing depends on who plays what, or when."""

import json
from itertools import permutations
from math import comb, factorial, perm, prod

import numpy as np
import pytest

from evaluator import random_play
from evaluator.independent import build_engine, hold_counts, judge
from evaluator.ordered import ARRANGEMENTS
from evaluator.random_play import build_table, play_hands
from evaluator.rules import compile_rules
from pipeline import certify, load_game
from pipeline import simulate as module
from pipeline.execute import Serial
from pipeline.open_run import choose_place, open_run
from pipeline.tasks import solved
from tests.pipeline.test_verify import SPECIAL, SPECIALS

DEFAULTS = {"deck": "", "name": "flush", "when": "some(a,b,c,d: same(aS,bS,cS,dS))", "more": "", "pays": ""}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("simulated")

    def make(special):
        path = folder / f"{special}.toml"
        if not path.exists():
            path.write_text(SPECIAL.format(**DEFAULTS | SPECIALS.get(special, {})))
            certify([load_game(path)], folder / special)
        return choose_place(open_run(folder / special)[2], None)

    return make


@pytest.mark.parametrize("special", ["plain", "joker", "on the deal", "bonus"])
def test_every_draw_once(runs, special, monkeypatch):
    """All random numbers there can be, for one deal and any hold: counts are those of the second engine, in order."""
    monkeypatch.setattr(random_play, "_BLOCK", 1 << 20)
    place = runs(special)
    engine = build_engine(compile_rules(place.entry.rules))
    table = build_table(solved(place.entry.rules), place.paytable, place.holds())
    deal = 77
    cards = [int(table.hands[deal]) >> 7 * i & 127 for i in range(5)]
    for mask in (31, 0b10110, 0b01000, 0b10011):
        table.holds[deal] = mask
        places = 5 - mask.bit_count()
        bounds = [engine.deck.size - 5 - number for number in range(places)]
        every = list(np.indices(bounds).reshape(places, -1).astype(np.uint8)) if places else []
        number = perm(engine.deck.size - 5, places)
        done = play_hands(table, np.full(number, deal), lambda bound, size, every=every: every.pop(0))
        by_line = done.reshape(-1, table.lines).sum(axis=0)
        expected = hold_counts(engine, cards)[mask] * factorial(places)
        pat = table.outcomes_in_all if mask == 31 and table.lines > table.outcomes_in_all else 0
        assert by_line[pat : pat + table.outcomes_in_all].tolist() == expected.tolist()
        assert done.sum() == number
        assert (done.reshape(-1, table.lines).sum(axis=1) > 0).sum() == 1


def test_every_draw_once_in_order(runs):
    """Where order matters: every draw of some deals as they lie, under the hold of the table, as the second engine."""
    place = runs("order")
    engine = build_engine(compile_rules(place.entry.rules))
    table = build_table(solved(place.entry.rules), place.paytable, module.decisions(place))
    rng, seen = np.random.default_rng(5), set()
    for deal, arrangement in zip(rng.integers(0, len(table.hands), 60), rng.integers(0, 120, 60), strict=True):
        ascending = [int(table.hands[deal]) >> 7 * i & 127 for i in range(5)]
        lying = [ascending[card] for card in ARRANGEMENTS[arrangement]]
        hold = random_play._arranged_holds(table.arranged, np.array([deal]), ARRANGEMENTS[[arrangement]])[0]
        mask = sum(1 << i for i, card in enumerate(ARRANGEMENTS[arrangement]) if hold >> card & 1)
        bounds = [engine.deck.size - 5 - number for number in range(5 - mask.bit_count())]
        number = prod(bounds)
        every = list(np.indices(bounds).reshape(len(bounds), -1).astype(np.uint8)) if bounds else []
        every.insert(0, np.full(number, arrangement))
        done = play_hands(table, np.full(number, deal), lambda bound, size, every=every: every.pop(0))
        counts = hold_counts(engine, lying)
        assert done.tolist() == counts[mask].tolist()
        assert judge(engine, lying, counts, place.paytable.units).optimal >> mask & 1
        seen.add((mask, bool(done[0])))
    assert len(seen) > 6


def test_hands_are_numbered(runs):
    place = runs("joker")
    table = build_table(solved(place.entry.rules), place.paytable, place.holds())
    assert len(table.hands) == comb(17, 5)
    cards = np.stack([(table.hands >> np.uint64(7 * i) & np.uint64(127)).astype(int) for i in range(5)])
    assert (sum(table.ranks[i][cards[i]] for i in range(5)) == np.arange(len(table.hands))).all()


class Backwards(Serial):
    """The last partition first."""

    def map(self, function, arguments, keys):
        return super().map(function, list(arguments)[::-1], keys[::-1])


def test_the_result_does_not_depend_on_the_order(runs, monkeypatch):
    place = runs("two decks")
    monkeypatch.setattr(module, "PARTITION", 1000)
    first = module.simulate(place, 20_500, 3, Serial())
    assert first == module.simulate(place, 20_500, 3, Backwards())
    assert first != module.simulate(place, 20_500, 4, Serial())
    assert len(first["convergence"]) == 21
    assert first["convergence"][-1][0] == 20_500
    assert first["convergence"][-1][1] == pytest.approx(first["payback"])


@pytest.mark.parametrize("special", ["plain", "two decks", "on the deal", "bonus", "one suit apart", "order"])
def test_simulations_agree_with_certificates(runs, special):
    found = module.simulate(runs(special), 400_000, 11, Serial())
    assert found["p_value"] > 1e-4
    assert found["exact_is_inside"]
    assert sum(win["count"] for win in found["wins"]) == 400_000
    assert sum(win["expected"] for win in found["wins"]) == pytest.approx(400_000)


def test_another_strategy_table_does_not_agree(runs, tmp_path):
    """Standing pat on everything is not what the certificate is about."""
    place = runs("plain")
    table = build_table(solved(place.entry.rules), place.paytable, np.full(len(place.holds()), 31, np.uint8))
    rng = np.random.default_rng(0)
    counts = play_hands(table, rng.integers(0, len(table.hands), 100_000), lambda b, n: rng.integers(0, b, n, np.uint8))
    lines = module._lines(place.certificate(), counts, table.lines, 100_000)
    assert module._chi_squared([w["count"] for w in lines], [w["expected"] for w in lines])[0] > 1000


def test_the_command(runs, command, tmp_path):
    run = runs("plain").run
    arguments = ("simulate", run, "--hands", "2e5", "--seed", 5, "--serial")
    done = command(*arguments, "--plot", tmp_path / "a.svg")
    assert done.returncode == 0
    assert "special/x: 200,000 hands, seed 5" in done.stdout
    assert " hands per second, tables included" in done.stderr
    output = json.loads(command(*arguments, "--json", "--plot", tmp_path / "b.svg").stdout)
    assert output["hands"] == 200_000
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert command("simulate", run, "--hands", "1.5").returncode == 2
    assert command("simulate", runs("order").run, "--hands", "1e5", "--serial").returncode == 0


def test_pairs_of_permutations_cover_the_draws():
    """The rule of the docstring: numbers below 6 and 5 are the ordered pairs of six cards, each once."""
    left = [0, 2, 3, 5, 6, 7]
    seen = set()
    for first in range(6):
        for second in range(5):
            taken, drawn = [1, 4], []
            for card in (first, second):
                for other in sorted(taken):
                    card += card >= other
                drawn.append(card)
                taken.append(card)
            seen.add(tuple(drawn))
    assert seen == set(permutations(left, 2))
