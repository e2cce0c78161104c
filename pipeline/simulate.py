"""A strategy table played against random deals: the same result for any number of workers.

Hands are played in partitions of `PARTITION`, each with a random generator of its own: PCG64 seeded by the seed and the
number of the partition, which NumPy makes independent. So a partition is the same whoever plays it, and in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.ordered import ARRANGEMENTS
from evaluator.payback import line_units
from evaluator.random_play import Table, TooManyDeals, build_table, held_cards, play_hands
from evaluator.rules import Paytable
from pipeline.check_table import numbers
from pipeline.execute import Executor, Failure
from pipeline.faults import ConfigError, Fault
from pipeline.location import Location
from pipeline.open_run import Place, choose_place, open_run
from pipeline.tasks import solved

PARTITION = 1_000_000
"""hands in a partition"""
ROWS_AT_ONCE = 1 << 16
"""rows of a strategy table that are taken apart at once where order matters"""
LEAST_EXPECTED = 5
"""outcomes that are expected less often are put together in the test of the counts"""
CONFIDENCE, Z = "99%", 2.576


@dataclass(frozen=True)
class Job:
    """What a worker needs to know to play a partition."""

    run: Location
    """absolute"""
    folder: str
    """of the paytable"""
    seed: int
    """of the whole simulation"""


@lru_cache(maxsize=2)
def _table(run: Location, folder: str) -> Table:
    place = choose_place(open_run(run)[2], folder)
    try:
        return build_table(solved(place.entry.rules), place.paytable, decisions(place))
    except TooManyDeals as problem:
        raise ConfigError([Fault(str(run), folder, str(problem))]) from None


def decisions(place: Place) -> NDArray[np.uint8]:
    """What `build_table` wants to know of a strategy table."""
    if not place.entry.ordered:
        return place.holds()
    table = place.strategy("canonical", "arrangements", "hold")
    members = np.frombuffer(
        b"".join(int(text, 16).to_bytes(15, "little") for text in table.column("arrangements").to_pylist()), np.uint8
    ).reshape(-1, 15)
    rows, holds = numbers(table, "canonical"), numbers(table, "hold")
    held = np.zeros((place.entry.rows, len(ARRANGEMENTS)), np.uint8)
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = slice(start, start + ROWS_AT_ONCE)
        arrangements = np.unpackbits(members[some], axis=1, bitorder="little").astype(bool)
        row, arrangement = np.nonzero(arrangements)
        held[rows[some][row], arrangement] = held_cards(arrangements, holds[some])[row]
    return held


def play_partition(job: Job, numbered: tuple[int, int]) -> list[int]:
    """Counts of a partition, (number, hands); cells as in `evaluator.payback.Outcome.combinations`."""
    number, hands = numbered
    table = _table(job.run, job.folder)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(job.seed, spawn_key=(number,))))
    deals = rng.integers(0, len(table.hands), hands)
    counts: list[int] = play_hands(table, deals, lambda bound, size: rng.integers(0, bound, size, np.uint8)).tolist()
    return counts


def simulate(
    place: Place,
    hands: int,
    seed: int,
    executor: Executor,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Play so many hands; the result as plain values, all of it the same for equal arguments.

    Raises `ConfigError` for a game that cannot be simulated.
    """
    try:
        from scipy.stats import chi2
    except ImportError:
        raise ConfigError([Fault("", "", "simulate needs scipy: pip install 'autohold[simulate]'")]) from None
    job = Job(place.run.absolute(), place.folder, seed)
    partitions = [(i, min(PARTITION, hands - start)) for i, start in enumerate(range(0, hands, PARTITION))]
    keys = [f"simulate-{place.folder}-{seed}-{number}-{size}" for number, size in partitions]
    found: dict[int, NDArray[np.int64]] = {}
    for (number, _), counts in executor.map(partial(play_partition, job), partitions, keys):
        if isinstance(counts, Failure):
            raise ConnectionError(f"partition {number} could not be played: {counts.reason}")
        found[number] = np.array(counts)
        progress(len(found), len(partitions))
    by_partition = np.array([found[number] for number, _ in partitions])
    return _result(place, hands, seed, by_partition, chi2.sf)


def _result(
    place: Place, hands: int, seed: int, parts: NDArray[np.int64], tail: Callable[..., float]
) -> dict[str, Any]:
    paytable, content = place.paytable, place.certificate()
    paid = _paid(paytable)
    counts = parts.sum(axis=0).tolist()
    payback = sum((n * x for n, x in zip(counts, paid, strict=True)), Fraction(0)) / hands
    second = sum((n * x * x for n, x in zip(counts, paid, strict=True)), Fraction(0)) / hands
    exact_payback = Fraction(content["payback"])
    sigma = sqrt(float(Fraction(content["variance"])))
    error = sigma / sqrt(hands)
    lines = _lines(content, np.array(counts), len(line_units(paytable)), hands)
    statistic, freedom = _chi_squared([line["count"] for line in lines], [line["expected"] for line in lines])
    return {
        "run": str(place.run),
        "table": place.folder,
        "identity": content["identity"],
        "seed": seed,
        "hands": hands,
        "partition": PARTITION,
        "payback": float(payback),
        "payback_fraction": str(payback),
        "variance": float(second - payback**2),
        "standard_error": error,
        "confidence": CONFIDENCE,
        "interval": [float(payback) - Z * error, float(payback) + Z * error],
        "exact_payback": content["payback"],
        "exact_payback_decimal": content["payback_decimal"],
        "exact_is_inside": bool(abs(float(payback - exact_payback)) <= Z * error),
        "chi_squared": statistic,
        "degrees_of_freedom": freedom,
        "p_value": float(tail(statistic, freedom)) if freedom else 1.0,
        "wins": lines,
        "convergence": _convergence(parts, paid, hands),
    }


def _paid(paytable: Paytable) -> list[Fraction]:
    """Credits won per credit bet in each cell: each bonus with each line."""
    stake = paytable.scale * paytable.coins
    return [Fraction(line + bonus, stake) for bonus in paytable.bonus_units for line in line_units(paytable)]


def _lines(content: dict[str, Any], counts: NDArray[np.int64], lines: int, hands: int) -> list[dict[str, Any]]:
    """Each line of the certificate but its bonuses, counted and expected."""
    seen = counts.reshape(-1, lines).sum(axis=0).tolist()
    wins = [win for win in content["wins"] if win["on"] != "bonus"]
    return [
        {"name": win["name"], "on": win["on"], "count": n, "expected": float(Fraction(win["probability"]) * hands)}
        for win, n in zip(wins, seen, strict=True)
    ]


def _chi_squared(counts: list[int], expected: list[float]) -> tuple[float, int]:
    """The statistic and its degrees of freedom; rare outcomes are put together, ones that never occur left out.

    >>> _chi_squared([9, 30, 1], [19.5, 20.0, 0.5])
    (10.0, 1)
    """
    pairs = sorted(zip(expected, counts, strict=True))
    kept: list[tuple[float, int]] = []
    wanted, seen = 0.0, 0
    for probable, number in pairs:
        wanted, seen = wanted + probable, seen + number
        if wanted >= LEAST_EXPECTED:
            kept.append((wanted, seen))
            wanted, seen = 0.0, 0
    if seen and not kept:
        kept.append((wanted, seen))
    elif wanted:
        kept[-1] = (kept[-1][0] + wanted, kept[-1][1] + seen)
    return sum((n - e) ** 2 / e for e, n in kept if e), max(0, len(kept) - 1)


def _convergence(parts: NDArray[np.int64], paid: list[Fraction], hands: int) -> list[list[float]]:
    """At most 200 points: hands so far, and the payback of these."""
    won = np.cumsum(parts @ np.array(paid, dtype=float))
    played = np.minimum(np.arange(1, len(parts) + 1) * PARTITION, hands)
    some = np.unique(np.linspace(0, len(parts) - 1, 200).astype(int))
    return [[int(played[i]), float(won[i] / played[i])] for i in some.tolist()]


def draw_convergence(found: dict[str, Any], path: Path) -> None:
    """The payback so far beside the exact one and its band, as SVG whose bytes do not change."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise ConfigError([Fault("--plot", str(path), "needs matplotlib: pip install 'autohold[plots]'")]) from None
    played, paybacks = (np.array(column) for column in zip(*found["convergence"], strict=True))
    exact = float(Fraction(found["exact_payback"]))
    band = Z * found["standard_error"] * np.sqrt(found["hands"] / played)
    with mpl.rc_context({"svg.hashsalt": "autohold", "svg.fonttype": "none"}):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.subplots()
        axes.fill_between(played, exact - band, exact + band, alpha=0.2, label=f"{found['confidence']} of such plays")
        axes.axhline(exact, linewidth=1, color="black", label=f"exact {found['exact_payback_decimal']}")
        axes.plot(played, paybacks, linewidth=1.5, label=f"simulated, seed {found['seed']}")
        axes.set(xlabel="hands", ylabel="credits won per credit bet", title=found["table"], xscale="log")
        axes.legend()
        figure.savefig(path, format="svg", metadata={"Date": None})
