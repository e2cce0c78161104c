"""`autohold hold`: all holds of a hand."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.console import GAME
from pipeline.output import json_option, print_json


@click.command()
@click.argument("game", type=GAME)
@click.argument("hand")
@click.option("--paytable", metavar="NAME", help="Needed where the file has several.")
@json_option
def hold(game: Path, hand: str, paytable: str | None, as_json: bool) -> None:
    """Show all 32 holds of HAND, like "As Ks Qs Js 2c", best first."""
    from pipeline.api import holds, load_game, one_paytable

    loaded = load_game(game)
    table = one_paytable(loaded, paytable)
    result = holds(loaded, hand, table.label)
    if as_json:
        from pipeline.certificate import exact

        rows = [
            {"mask": h.mask, "held": h.held, "draws": h.draws, "won": str(h.won), **exact("ev", h.ev)}
            | {"optimal": h.optimal, "chosen": h.chosen, "counts": h.counts}
            for h in result.holds
        ]
        print_json(
            {"game": loaded.name, "paytable": table.label, "hand": result.hand, "win": result.win, "holds": rows}
        )
        return
    click.echo(f"{loaded.name}, {table.label}: {result.hand}, as dealt: {result.win}")
    click.echo(f"  {'hold':<16} {'expected win':>14} {'exact, won/draws':>22}  cost")
    best = result.holds[0].ev
    tied = sum(h.optimal for h in result.holds) > 1
    for h in result.holds:
        mark = "*" if h.chosen else "=" if h.optimal else " "
        cost = "" if h.optimal else f"{float(best - h.ev):.6f}"
        exact_text = f"{h.won}/{h.draws}" if h.won.denominator == 1 else str(h.ev)
        click.echo(f"{mark} {h.held or 'nothing':<16} {float(h.ev):>14.6f} {exact_text:>22}  {cost}".rstrip())
    click.echo("* the best hold" + (", the first of those that are exactly equal (=)" if tied else ""))
