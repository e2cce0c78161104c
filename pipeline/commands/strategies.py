"""`autohold strategies`: how many pure strategies a betting round has."""

from __future__ import annotations

from typing import Any

import click

from pipeline.output import json_option, print_json

SHORT = 60
"""digits of a number that people are shown whole unless they ask for all of them"""


@click.command()
@click.option("--players", type=int, required=True, metavar="N", help="2 to 23.")
@click.option("--position", type=int, metavar="I", help="0 acts first, N-1 is the big blind; default: all of them.")
@click.option("--cap", type=int, default=4, show_default=True, metavar="BETS", help="Bets in the round, at most 20.")
@click.option("--hands", type=click.IntRange(1), default=1, metavar="H", help="Classes of own cards, such as 169.")
@click.option("--full", is_flag=True, help="Print all digits.")
@json_option
def strategies(players: int, position: int | None, cap: int, hands: int, full: bool, as_json: bool) -> None:
    """Count the pure strategies of a betting round before the flop.

    Fixed limit, one blind of one bet. A reduced strategy says what to do
    wherever the player's own actions lead; an unreduced one also elsewhere. With
    --hands each class of own cards has a strategy of its own. JSON has the exact
    number up to five million digits, as text.
    """
    from evaluator.holdem.strategies import Round, RoundError

    try:
        rounds = [Round(players, place, cap) for place in (range(max(players, 1)) if position is None else [position])]
        rows = [_row(betting, hands, full or as_json) for betting in rounds]
    except RoundError as problem:
        raise click.UsageError(str(problem)) from None
    if as_json:
        print_json({"players": players, "cap": cap, "hands": hands, "positions": rows})
        return
    note = f", {hands} classes of own cards" if hands > 1 else ""
    click.echo(f"{players} players, cap {cap}{note}: reduced pure strategies of each position")
    for row in rows:
        click.echo(f"{row['position']:>2} {row['name']:<18} {_number(row)}")
        click.echo(f"   {'unreduced':<18} {row['unreduced']}; {row['sequences']:,} sequences")


def _row(betting: Any, hands: int, whole: bool) -> dict[str, Any]:
    from evaluator.holdem.strategies import (
        MOST_DIGITS,
        information_sets,
        last_digits,
        leading_digits,
        position_name,
        pure_strategies,
        sequences,
    )

    leading = leading_digits(betting, hands)
    digits = leading.adjusted() + 1
    three, two = information_sets(betting)
    shown = min(digits, 20)
    written = digits <= (MOST_DIGITS if whole else SHORT)
    return {
        "position": betting.position,
        "name": position_name(betting.players, betting.position),
        "digits": digits,
        "value": str(pure_strategies(betting, hands)) if written else None,
        "first_digits": "".join(map(str, leading.as_tuple().digits)).ljust(shown, "0")[:shown],
        "last_digits": f"{last_digits(betting, hands):020d}"[-shown:],
        "unreduced": f"3^{three * hands} * 2^{two * hands}",
        "sequences": 1 + hands * (sequences(betting) - 1),
    }


def _number(row: dict[str, Any]) -> str:
    """All digits of a number that was worked out; of another the first, the last, and how many."""
    if row["value"] is not None:
        return str(row["value"])
    return f"{row['first_digits']}...{row['last_digits']}, {row['digits']:,} digits"
