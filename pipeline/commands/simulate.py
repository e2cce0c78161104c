"""`autohold simulate`: a strategy table against random deals."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.console import DONE, NO, RUN, choose_executor, executor_options
from pipeline.output import json_option, print_json
from pipeline.progress import Progress

if TYPE_CHECKING:
    from pipeline.execute import Connection
    from pipeline.location import Location


class Hands(click.ParamType[Any]):
    """A positive integer, also as 1e8."""

    name = "HANDS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The integer."""
        from decimal import Decimal, InvalidOperation

        try:
            number = Decimal(str(value))
            if number != int(number) or not 1 <= number <= 10**12:
                raise ValueError
        except (InvalidOperation, ValueError, OverflowError):
            self.fail(f"{value!r}: expected a whole number from 1 to 1e12, like 1e8", param, ctx)
        return int(number)


@click.command()
@click.argument("run", type=RUN)
@click.option("--table", metavar="GAME/PAYTABLE", help="Needed where RUN has several paytables.")
@click.option("--hands", type=Hands(), default="1e7", show_default=True, metavar="N", help="How many are played.")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="S", help="Of the random numbers; default: 0.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the convergence as SVG.")
@executor_options
@json_option
def simulate(
    run: Location,
    table: str | None,
    hands: int,
    seed: int,
    plot: Path | None,
    connection: Connection,
    as_json: bool,
) -> int:
    """Play the strategy of a paytable of RUN against random deals.

    The result is the same for any number of workers. Exit code 1 where the
    counts of wins would be that far from the exact probabilities less than
    once in a million simulations.
    """
    from time import monotonic

    from pipeline.open_run import choose_place, open_run
    from pipeline.simulate import draw_convergence
    from pipeline.simulate import simulate as carry_out

    place = choose_place(open_run(run)[2], table)
    executor = choose_executor(connection)
    progress = Progress()
    with executor() as running:
        began = monotonic()
        found = carry_out(place, hands, seed, running, progress)
        seconds = monotonic() - began
    progress.end()
    if plot is not None:
        draw_convergence(found, plot)
    if as_json:
        print_json({**found, "seconds": round(seconds, 3)})
    else:
        _print(found)
    click.echo(f"{hands / seconds:,.0f} hands per second, tables included", err=True)
    return DONE if found["p_value"] >= 1e-6 else NO


def _print(found: dict[str, Any]) -> None:
    low, high = found["interval"]
    inside = "inside" if found["exact_is_inside"] else "OUTSIDE"
    click.echo(f"{found['table']}: {found['hands']:,} hands, seed {found['seed']}")
    click.echo(f"payback  {found['payback']:.6f}   {found['confidence']} interval {low:.6f} to {high:.6f}")
    click.echo(f"exact    {found['exact_payback_decimal']}   {inside} the interval")
    click.echo(f"{'win':<28} {'count':>14} {'expected':>16}")
    for win in found["wins"]:
        name = win["name"] + (", as dealt" if win["on"] == "deal" else "")
        click.echo(f"{name:<28} {win['count']:>14,} {win['expected']:>16,.1f}")
    click.echo(
        f"chi-squared {found['chi_squared']:.3f} with {found['degrees_of_freedom']} degrees of freedom, "
        f"p = {found['p_value']:.4f}"
    )
