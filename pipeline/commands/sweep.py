"""`autohold sweep`: every paytable of a grid."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.certify import Require
from pipeline.console import DONE, GAME, NO, RUN, choose_executor, executor_options, one_thread
from pipeline.output import json_option, print_json
from pipeline.progress import Progress

if TYPE_CHECKING:
    from pipeline.execute import Connection
    from pipeline.location import Location


def vary_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options --base, --vary, --link and --keep; `variation` takes their values."""
    for option in (
        click.option(
            "--keep",
            multiple=True,
            metavar="WHAT",
            help='What pays must keep: ladder, coins, ratios, or "full house>=flush"; repeatable.',
        ),
        click.option("--link", multiple=True, metavar="WIN=OTHER", help="WIN pays what OTHER pays; repeatable."),
        click.option(
            "--vary", multiple=True, required=True, metavar="WIN=VALUES", help="Like 5,6,7 or 250..1000:25; repeatable."
        ),
        click.option("--base", "--paytable", "base", metavar="NAME", help="Needed where the file has several."),
    ):
        function = option(function)
    return function


def variation(path: Path, base: str | None, vary: tuple[str, ...], link: tuple[str, ...], keep: tuple[str, ...]) -> Any:
    """The paytables that the options ask for."""
    from pipeline.api import load_game, one_paytable
    from pipeline.vary import read_variation

    game = load_game(path)
    return read_variation(game, one_paytable(game, base), _pairs(vary, "--vary"), _pairs(link, "--link"), keep)


def _pairs(texts: tuple[str, ...], option: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        win, equals, rest = (part.strip() for part in text.partition("="))
        if not equals or win in pairs:
            message = "is given twice" if win in pairs else "expected WIN=…"
            raise click.BadParameter(f"{text!r}: {message}", param_hint=option)
        pairs[win] = rest
    return pairs


@click.command()
@click.argument("game", type=GAME)
@vary_options
@click.option("--target", type=Require(), help="Only paybacks within.")
@click.option("--variance", type=Require(), help="Only variances within.")
@click.option("--hit-frequency", type=Require(), help="Only hit frequencies within.")
@click.option("--out", type=RUN, metavar="FILE", help="Parquet file to write.")
@click.option("--html", type=RUN, metavar="FILE", help="Page of plots to write.")
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, metavar="N", help="How many to print.")
@executor_options
@json_option
def sweep(
    game: Path,
    base: str | None,
    vary: tuple[str, ...],
    link: tuple[str, ...],
    keep: tuple[str, ...],
    target: tuple[Fraction | None, Fraction | None] | None,
    variance: tuple[Fraction | None, Fraction | None] | None,
    hit_frequency: tuple[Fraction | None, Fraction | None] | None,
    out: Location | None,
    html: Location | None,
    top: int,
    connection: Connection,
    as_json: bool,
) -> int:
    """Compute the exact payback of every paytable of a grid.

    The grid has all combinations of the values of --vary; all other pays are
    those of --base. The paytables within --target, --hit-frequency and
    --variance are written to --out; the best are printed, those nearest
    to the middle of --target, or else those of the highest payback. Exit code
    1 if there is none. --html writes plots: payback over the first two pays
    that vary, and payback against variance.
    """
    one_thread()
    from pipeline.sweep_table import write_sweep
    from pipeline.sweeps import carry_out

    executor = choose_executor(connection)
    write_page = _plots() if html is not None else None
    asked = variation(game, base, vary, link, keep)
    progress = Progress()
    found = carry_out(asked, executor, progress)
    progress.end()
    given = {"payback": target, "variance": variance, "hit_frequency": hit_frequency}
    bounds = {name: bound for name, bound in given.items() if bound is not None}
    chosen = found.within(bounds)
    if out is not None:
        write_sweep(out, found, chosen, bounds)
    if write_page is not None:
        write_page(html, found, chosen)
    best = found.best(chosen, _middle(target))[:top]
    _print(found, chosen, best, out, as_json)
    return DONE if len(chosen) else NO


def _plots() -> Any:
    """What writes the page; asked for before anything is computed."""
    try:
        from pipeline.sweep_page import write_page
    except ImportError:
        raise click.UsageError("--html needs matplotlib: pip install 'autohold[plots]'") from None
    return write_page


def _middle(target: tuple[Fraction | None, Fraction | None] | None) -> Fraction | None:
    sides = [side for side in target or () if side is not None]
    return sum(sides, Fraction(0)) / len(sides) if sides else None


def _print(found: Any, chosen: Any, best: Any, out: Location | None, as_json: bool) -> None:
    from pipeline.certificate import exact
    from pipeline.sweep_table import described, rows_json

    swept, asked = found.swept, found.variation
    left = Fraction(swept.holds, swept.rows), Fraction(swept.decided, swept.rows)
    rows = rows_json(found, best)
    if as_json:
        print_json(
            {
                "game": asked.game.name,
                "paytable": asked.base.label,
                "coins": asked.base.coins,
                "tie_break": "lowest-mask",
                "vary": described(asked),
                "paytables": len(found.places),
                "within": len(chosen),
                "out": None if out is None else str(out),
                **exact("holds_per_hand", left[0]),
                **exact("decided_hands", left[1]),
                "best": rows,
            }
        )
        return
    click.echo(f"{asked.game.name}, {asked.base.label}: {len(found.places):,} paytables, {len(chosen):,} within")
    click.echo(
        f"{float(left[0]):.2f} of 32 holds per hand can be best in the grid; {float(left[1]):.1%} of hands are decided"
    )
    for line in table_lines(rows, asked.base.label):
        click.echo(line)
    if out is not None:
        click.echo(f"{out}: {len(chosen):,} rows", err=True)


def table_lines(rows: list[dict[str, Any]], base: str) -> list[str]:
    """Paytables as text for people: payback, hit frequency, variance, what pays otherwise."""
    if not rows:
        return []
    names = [row["paytable"].removeprefix(base + ", ") for row in rows]
    lines = [f"{'payback':>14} {'hit freq.':>9} {'variance':>9}  pays"]
    for name, row in zip(names, rows, strict=True):
        hits = float(Fraction(row["hit_frequency"]) * 100)
        variance = float(Fraction(row["variance"]))
        lines.append(f"{row['payback_decimal']:>14} {hits:>8.3f}% {variance:>9.3f}  {name}")
    return lines
