"""`autohold count`: deals of every win."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.console import GAME
from pipeline.output import json_option, print_json


@click.command()
@click.argument("game", type=GAME)
@json_option
def count(game: Path, as_json: bool) -> None:
    """Count the deals of every win, in two ways.

    All deals that fit a win, and those of them that fit no higher one. Each count
    is made twice: by its chromatic polynomial and by checking the canonical
    hands. An exclusion is named only where it changes the count.
    """
    from pipeline.api import load_game, solve_game
    from pipeline.counting import count_rows

    loaded = load_game(game)
    solution = solve_game(loaded)
    rows = count_rows(solution)
    deals = solution.tables.deals
    order = [loaded.rules.wins[number].name for number in solution.ordered]
    if as_json:
        print_json({"game": loaded.name, "deals": str(deals), "depend_on_order": order, "wins": rows})
        return
    click.echo(f"{loaded.name}: {deals:,} deals" + (" in order" if order else ""))
    if order:
        click.echo(f"depending on the order of the cards: {', '.join(order)}")
    click.echo(f"{'win':<24} {'all':>13} {'highest only':>13}  {'terms':>6}  not counting")
    for row in rows:
        terms = row["polynomial_terms"] if row["polynomial_terms"] is not None else "-"
        line = f"{row['win']:<24} {int(row['including']):>13,} {int(row['excluding']):>13,}  {terms:>6}  "
        click.echo((line + ", ".join(row["exclusions"])).rstrip())
    if any(row["polynomial_terms"] is None for row in rows):
        click.echo("-: too many terms for the polynomial; counted by checking every canonical hand")
