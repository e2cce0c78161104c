"""`autohold sensitivity`: what each pay does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.console import GAME
from pipeline.output import json_option, print_json


@click.command()
@click.argument("game", type=GAME)
@click.option("--paytable", metavar="NAME", help="Needed where the file has several.")
@json_option
def sensitivity(game: Path, paytable: str | None, as_json: bool) -> None:
    """Show what each pay does to the payback and the strategy.

    A pay that grows by a credit adds its frequency (per credit bet) to the
    payback, exactly, as long as it stays between the two pays at which the
    strategy changes: those next to it on both sides.
    """
    from pipeline.api import load_game, one_paytable
    from pipeline.api import sensitivity as find
    from pipeline.sensitivities import row_json

    loaded = load_game(game)
    table = one_paytable(loaded, paytable)
    rows = find(loaded, table.label)
    if as_json:
        pays = [row_json(row) for row in rows]
        print_json({"game": loaded.name, "paytable": table.label, "coins": table.coins, "pays": pays})
        return
    click.echo(f"{loaded.name}, {table.label}: the payback grows by the frequency for each credit more")
    click.echo(f"{'win':<24} {'pays':>6} {'per credit':>14}  strategy optimal")
    for row in rows:
        name = row.win if row.on in ("draw", "draw and deal") else f"{row.win} ({row.on})"
        most = "any" if row.optimal_to is None else f"{float(row.optimal_to):.6g}"
        span = f"{float(row.optimal_from):.6g} to {most}"
        click.echo(f"{name:<24} {float(row.pay):>6g} {float(row.payback_per_credit):>14.10f}  {span}")
    click.echo("next changes of the strategy:")
    for row in rows:
        for side, change in (("below", row.below), ("above", row.above)):
            if change is not None:
                click.echo(f"  {row.win}: {side} {change.pay}{_decimal(change.pay)}, {change.deals:,} deals like")
                click.echo(f"      {change.hand}: {_held(change.before)} becomes {_held(change.after)}")


def _decimal(pay: Any) -> str:
    return "" if pay.denominator == 1 else f" = {float(pay):.6f}"


def _held(cards: str) -> str:
    return cards or "nothing"
