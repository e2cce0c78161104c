"""Speed and memory against their targets: `make bench`. Not collected by pytest.

CPU seconds are user and system time of the process and its children, the best of several runs; `copies` is their ratio
to one memory copy of the table of all counts of 52 cards, (32, 134459, 11) int32, which says more on another machine.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import pipeline
from evaluator.cards import Deck, parse_cards
from evaluator.holdem.strategies import Round, pure_strategies
from evaluator.holdem.strength import strength
from evaluator.holds import hold_block
from evaluator.payback import certify_rows
from evaluator.rules import Paytable, Rules, Win
from evaluator.solve import solve
from evaluator.symmetry import canonical_classes
from pipeline.api import one_paytable
from pipeline.cluster import Cluster, local_cluster
from pipeline.open_run import open_run
from pipeline.report import build, explorer, sheet
from pipeline.store import wrong_files
from pipeline.verify import verify
from tests.browser import browser

CONFIGS = Path(__file__).parent.parent / "configs"
AUTOHOLD = str(Path(sys.executable).with_name("autohold"))
ROWS = 16_384
WIDTH = "{:<45} {:>8} {:>7} {:>8}  {}"


class Report:
    """Prints a line for each measurement, as it comes."""

    def __init__(self, copy: float) -> None:
        self.copy = copy
        print(WIDTH.format("", "", "copies", "target", "met"))
        self.seconds("one copy of all counts of 52 cards", copy)

    def seconds(self, what: str, value: float, target: float | None = None) -> None:
        """A time and its target, in seconds."""
        met = "" if target is None else "yes" if value <= target else "NO"
        wanted = "" if target is None else f"{target:.2f} s"
        print(WIDTH.format(what, f"{value:.3f} s", f"{value / self.copy:.1f}", wanted, met).rstrip(), flush=True)

    def megabytes(self, what: str, value: float, target: float) -> None:
        """A size of memory and its target."""
        met = "yes" if value <= target else "NO"
        print(WIDTH.format(what, f"{value:.0f} MB", "", f"{target:.0f} MB", met), flush=True)


def best(function: Callable[[], object], times: int = 5) -> float:
    """The least CPU time of some calls."""
    found = []
    for _ in range(times):
        began = time.process_time()
        function()
        found.append(time.process_time() - began)
    return min(found)


def command(*arguments: str) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and peak megabytes of one run of autohold, with all that it imports and writes."""
    began = time.monotonic()
    process = subprocess.Popen([AUTOHOLD, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        sys.exit(f"autohold {' '.join(arguments)}: exit code {process.returncode}\n{said}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - began, usage.ru_maxrss / 1024


def certify(*arguments: str, times: int = 3) -> tuple[float, float, float]:
    """The least of each figure of some runs of `autohold certify` into fresh directories."""
    runs = []
    for _ in range(times):
        with TemporaryDirectory() as folder:
            runs.append(command("certify", *arguments, "--out", f"{folder}/run"))
    cpu, wall, peak = (min(figures) for figures in zip(*runs, strict=True))
    return cpu, wall, peak


def copy_seconds() -> float:
    """The time of the memory copy that is the measure of the others."""
    source = np.ones((32, 134_459, 11), np.int32)
    target = np.ones_like(source)
    return best(lambda: np.copyto(target, source), 10)


def kernel(report: Report) -> None:
    """Tables and holds of Jacks or Better, in this process."""
    rules = pipeline.load_game(CONFIGS / "jacks-or-better.toml").rules

    def solve_afresh() -> None:
        canonical_classes.cache_clear()
        solve(rules)

    report.seconds("Jacks or Better: rules to all tables and maps", best(solve_afresh), 0.6)
    tables = solve(rules).tables
    rows = len(tables.classes.weights)

    def counts() -> None:
        for start in range(0, rows, ROWS):
            hold_block(tables, start, start + ROWS)

    report.seconds(f"  all counts of all holds, {rows:,} hands", best(counts), 0.2)


def _per_hand(rules: Rules, paytable: Paytable) -> float:
    """CPU seconds for each canonical hand, from rules to certified rows."""
    hands = []

    def certify_all() -> None:
        canonical_classes.cache_clear()
        tables = solve(rules).tables
        hands.append(len(tables.classes.weights))
        for start in range(0, hands[0], ROWS):
            certify_rows(tables, hold_block(tables, start, start + ROWS), paytable)

    return best(certify_all, 3) / hands[0]


def decks_and_order(report: Report) -> None:
    """Two decks against one, and wins that depend on the order of the cards."""
    game = pipeline.load_game(CONFIGS / "jacks-or-better.toml")
    one, two = (
        _per_hand(replace(game.rules, deck=Deck(decks=decks)), one_paytable(game, "9/6")) * 1e6 for decks in (1, 2)
    )
    print(f"two decks: {two:.2f} µs for each canonical hand, {two / one:.2f} times one deck's, at most 3")
    path = str(CONFIGS / "sequential-royal-jacks-or-better.toml")
    report.seconds("Sequential Royal, Jacks or Better: all of it", certify(path, "--serial", times=1)[0], 15)
    ace = Rules(Deck(), (), (Win("ace first", "same(C1F){A}"),))
    report.seconds("tables where 886,656 hands depend on order", best(lambda: solve(ace), 2), 5)


def commands(report: Report) -> None:
    """The command, from its start to its end."""
    report.seconds("autohold --help", min(command("--help")[0] for _ in range(5)), 0.4)
    jacks = CONFIGS / "jacks-or-better.toml"
    tables = [table.name for table in pipeline.load_game(jacks).paytables]
    one, _, peak = certify(str(jacks), "--serial", "--paytable", tables[0], times=5)
    report.seconds("certify --serial, one paytable of 52 cards", one, 1.5)
    several = certify(str(jacks), "--serial", times=2)[0]
    report.seconds(f"  each further paytable, mean of {len(tables) - 1}", (several - one) / (len(tables) - 1), 0.3)
    for name, what in (("joker-poker-kings-or-better", "53 cards"), ("deuces-wild", "deuces wild")):
        path = CONFIGS / f"{name}.toml"
        table = pipeline.load_game(path).paytables[0].name
        report.seconds(f"  one paytable of {what}", certify(str(path), "--serial", "--paytable", table)[0], 1.5 * one)
    report.megabytes("  peak memory, one paytable of 52 cards", peak, 600)


def again(report: Report) -> None:
    """The same command on a finished run: from its start to its end, and the time to hash the run."""
    for what, paths, target in (
        ("Jacks or Better", [CONFIGS / "jacks-or-better.toml"], 2.0),
        ("a game of arrangements", [CONFIGS / "sequential-royal-jacks-or-better.toml"], 2.0),
    ):
        with TemporaryDirectory() as folder:
            words = ("certify", *map(str, paths), "--out", f"{folder}/run")
            command(*words)
            hashing = best(lambda folder=folder: wrong_files(Path(folder) / "run"), 3)  # type: ignore[misc]
            spent = min(command(*words)[0] for _ in range(3))
        report.seconds(f"certify again, {what}", spent, target + hashing)
        report.seconds("  of it hashing", hashing)


def _own_peak(_: object) -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def worker_memory(report: Report) -> None:
    """The peak of a local worker that certifies all paytables of Jacks or Better."""
    peaks: list[float] = []

    @contextmanager
    def measured() -> Iterator[Cluster]:
        with local_cluster(1) as workers:
            yield workers
            peaks.extend(peak for _, peak in workers.map(_own_peak, [None], ["peak"]) if isinstance(peak, float))

    with TemporaryDirectory() as folder:
        pipeline.certify([CONFIGS / "jacks-or-better.toml"], f"{folder}/run", executor=measured)
    report.megabytes("peak memory of a local Dask worker", max(peaks), 600)


def verification(report: Report) -> None:
    """Default verification of a run of three games against hashing its files, and the second engine."""
    games = [str(CONFIGS / f"{name}.toml") for name in ("jacks-or-better", "deuces-wild", "double-bonus")]
    with TemporaryDirectory() as folder:
        run = f"{folder}/run"
        command("certify", *games, "--out", run, "--serial")
        size = sum(path.stat().st_size for path in Path(run).rglob("*") if path.is_file())
        report.seconds(f"verify {size / 1e6:.0f} MB", best(lambda: verify(run)), size / 200e6)
    for name, table, target in (("jacks-or-better", "9/6", 25.0), ("deuces-wild", "full pay", 60.0)):
        with TemporaryDirectory() as folder:
            path = str(CONFIGS / f"{name}.toml")
            command("certify", path, "--paytable", table, "--out", f"{folder}/run", "--serial")
            spent = command("verify", f"{folder}/run", "--sample", "1000")[0]
            report.seconds(f"  verify --sample 1000, {name} {table}", spent, target)


JACKS_GRID = (
    "full house=5..10", "flush=4..8", "straight=4,5", "four of a kind=20..40:{quads}", "straight flush=50..100:{flush}",
    "royal flush=250..1000:{royal}",
)  # fmt: skip
DEUCES_GRID = (
    "four of a kind=4..6", "straight flush=8..13", "five of a kind=10..16:2", "full house=3,4", "flush=2,3",
    "wild royal flush=20,25", "four deuces=200,400",
)  # fmt: skip


def sweeps(report: Report) -> None:
    """Grids of paytables, by the command and by its kernel; against certifying one after the other."""
    jacks, deuces = (CONFIGS / f"{name}.toml" for name in ("jacks-or-better", "deuces-wild"))
    few = [text.format(quads=10, flush=50, royal=375) for text in JACKS_GRID]
    many = [text.format(quads=5, flush=25, royal=68) for text in JACKS_GRID]
    seconds = {}
    for what, path, base, vary, target in (
        ("1,080 paytables of Jacks or Better", jacks, "9/6", few, 3.0),
        ("10,800 paytables of Jacks or Better", jacks, "9/6", many, 12.0),
        ("1,152 paytables of Deuces Wild", deuces, "full pay", DEUCES_GRID, None),
    ):
        options = [word for text in vary for word in ("--vary", text)]
        runs = [command("sweep", str(path), "--base", base, *options, "--serial") for _ in range(3)]
        seconds[what], peak = min(run[0] for run in runs), min(run[2] for run in runs)
        limit = 2 * seconds["1,080 paytables of Jacks or Better"] * 1152 / 1080 if target is None else target
        report.seconds(f"sweep, {what}", seconds[what], limit)
        report.megabytes("  peak memory", peak, 2000)
    game = pipeline.load_game(jacks)
    tables = solve(game.rules).tables
    block = hold_block(tables, 0, len(tables.classes.weights))
    one = best(lambda: certify_rows(tables, block, one_paytable(game, "9/6")))
    report.seconds("  certify's kernel, one paytable, counts made", one)
    for what, number in (("1,080", 1080), ("10,800", 10_800)):
        spent = seconds[f"{what} paytables of Jacks or Better"]
        rate, times = number / spent, one * number / spent
        print(
            f"    {what}: {rate:,.0f} a second and core; {times:,.0f} times as fast as that kernel one after the other"
        )


def sheets(report: Report) -> None:
    """The pages of a run without explorers and lists: sheets with their plots."""
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        pipeline.certify([CONFIGS / "jacks-or-better.toml"], run)
        manifest, _, places = open_run(run)
        files = build.run_files(run, manifest)

        def make() -> None:
            for place in places:
                sheet.sheet(place, places, files, None)

        report.seconds("report: a sheet with its plots", best(make, 1) / len(places), 0.6)


def explorers(report: Report) -> None:
    """Making a page of the explorer, and the CPU time of its thread in a browser."""
    with TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        pipeline.certify([CONFIGS / "jacks-or-better.toml"], run, paytables=["9/6"])
        places = open_run(run)[2]
        report.seconds("explorer: a page of one paytable", best(lambda: explorer.page(places), 3))
        (run / "explorer.html").write_text(explorer.page(places), encoding="utf-8")
        report.megabytes("  size", (run / "explorer.html").stat().st_size / 1e6, explorer.MOST_BYTES / 1e6)
        with browser(Path(folder) / "profile") as driver:
            driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})

            def spent() -> float:
                metrics = driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
                return next(float(metric["value"]) for metric in metrics if metric["name"] == "TaskDuration")

            before = spent()
            driver.get((run / "explorer.html").as_uri())
            driver.execute_async_script("ready.then(arguments[0])")
            ready = spent()
            driver.execute_script(ANSWERS)
            report.seconds("  from opening to ready", ready - before, 1.0)
            report.seconds("  the answer to a hand, laid out, mean of 200", (spent() - ready) / 200, 0.05)


def charts(report: Report) -> None:
    """Derived charts, with what they lose; tables that are built already are not built again."""
    for name, table in (("jacks-or-better", "9/6"), ("deuces-wild", "full pay")):
        with TemporaryDirectory() as folder:
            pipeline.certify([CONFIGS / f"{name}.toml"], f"{folder}/run", paytables=[table])
            began = time.process_time()
            found = pipeline.derive_chart(f"{folder}/run", name, table)
            spent = time.process_time() - began
            lines, lost = len(found["lines"]), found["cost_millionths"]
            report.seconds(f"chart, {name} {table}", spent, 20)
            print(f"  {lines} lines, {lost:.3f} millionths lost, at most 200")


ANSWERS = """
    for (let i = 0; i < 200; i++) {
      const cards = game.names.map((_, card) => [Math.random(), card]).sort().slice(0, 5).map(([, card]) => card);
      history.replaceState(null, "", address(game.paytables[0], cards));
      show();
      document.body.offsetHeight;
    }
"""


def everything(report: Report) -> None:
    """All game files, by wall clock, with one worker and with two."""
    paths = list(map(str, sorted(CONFIGS.glob("*.toml"))))
    tables = sum(len(pipeline.load_game(path).paytables) for path in paths)
    wall = {}
    for workers in (1, 2):
        cpu, wall[workers], _ = certify(*paths, "--workers", str(workers), times=1)
        what = f"wall: all {len(paths)} games, {workers} worker{'s' * (workers > 1)}"
        report.seconds(what, wall[workers], {1: None, 2: 90.0}[workers])
        report.seconds(f"  each of {tables} paytables", wall[workers] / tables)
        report.seconds("  processor time", cpu)
    print(f"  2 workers are {wall[1] / wall[2]:.2f} times as fast as 1, at least 1.5")


def holdem(report: Report) -> None:
    """One hand two cards ahead, and the ten-player counts of pure strategies."""
    deck = Deck()
    hole, board = parse_cards(deck, "AdQc"), parse_cards(deck, "3h4cJh")
    report.seconds("hold'em: one hand, two cards ahead", best(lambda: strength(hole, board, 2)), 0.15)
    slowest = max(best(lambda at=at: str(pure_strategies(Round(10, at))), 1) for at in range(10))  # type: ignore[misc]
    report.seconds("  strategies of 10 players, slowest position", slowest, 2)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure speed and memory against the targets.")
    parser.add_argument("--all", action="store_true", help="also certify all games, with one worker and with two")
    options = parser.parse_args()
    report = Report(copy_seconds())
    kernel(report)
    decks_and_order(report)
    commands(report)
    sweeps(report)
    holdem(report)
    verification(report)
    worker_memory(report)
    charts(report)
    sheets(report)
    explorers(report)
    again(report)
    if options.all:
        everything(report)


if __name__ == "__main__":
    main()
