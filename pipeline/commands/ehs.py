"""`autohold ehs`: the strength of one hand."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import click

from pipeline.faults import count
from pipeline.output import json_option, print_json

STANDINGS = ("ahead", "tied", "behind")
CATEGORIES = (
    "nothing",
    "one pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)


@click.command()
@click.argument("hole")
@click.argument("board")
@click.option("--look", type=click.IntRange(0, 2), metavar="0|1|2", help="Cards to come; default: all that come.")
@click.option("--opponents", type=click.IntRange(1, 22), default=1, metavar="N", help="For HS_n and EHS'; default: 1.")
@click.option("--range", "said_range", metavar="RANGE", help="What the opponent may hold, like 'TT+,AQs+,KQ:0.5'.")
@click.option(
    "--game",
    type=click.Choice(["holdem", "omaha"]),
    default="holdem",
    show_default=True,
    help="Two hole cards, or four.",
)
@json_option
def ehs(
    hole: str, board: str, look: int | None, opponents: int, said_range: str | None, game: str, as_json: bool
) -> None:
    """Show how HOLE stands on BOARD, like "Ad Qc" on "3h 4c Jh".

    Exact, against every hole one random opponent can have, now and after every
    choice of the cards to come. EHS is the share of the pot won when all cards
    are dealt; with several opponents HS_n = HS^n, and EHS' = HS_n + (1 - HS_n)
    PPOT.
    """
    from evaluator.cards import Deck, format_cards, parse_cards

    deck = Deck()
    cards, table = parse_cards(deck, hole), parse_cards(deck, board)
    ahead = max(5 - len(table), 0) if look is None else look
    found = _strength(game, cards, table, ahead, said_range)
    said = {"game": game, "hole": format_cards(deck, cards), "board": format_cards(deck, table), "look": ahead}
    if game == "holdem":
        said["hand"] = _category(cards, table)
    if said_range:
        said["range"] = said_range
    if as_json:
        print_json(said | {"opponents": opponents} | _values(found, opponents))
        return
    click.echo(f"{said['hole']} on {said['board']}" + (f": {said['hand']}" if "hand" in said else ""))
    _print(found, ahead, opponents)


def _strength(game: str, cards: tuple[int, ...], table: tuple[int, ...], look: int, said_range: str | None) -> Any:
    from evaluator.holdem.ranges import RangeError, parse_range

    try:
        if game == "omaha":
            from evaluator.holdem.omaha import omaha_strength

            if said_range:
                raise click.UsageError("--range is for holes of two cards; not with --game omaha")
            return omaha_strength(cards, table, look)
        from evaluator.holdem.strength import strength

        weights = parse_range(said_range) if said_range is not None else None
        return strength(cards, table, look, weights)
    except RangeError as problem:
        raise click.BadParameter(str(problem), param_hint="--range") from None
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None


def _category(cards: tuple[int, ...], table: tuple[int, ...]) -> str:
    import numpy as np

    from evaluator.holdem.ranks import categories, hand_ranks

    return CATEGORIES[int(categories(hand_ranks(np.array([[*cards, *table]])))[0])]


def _values(found: Any, opponents: int) -> dict[str, Any]:
    """Counts as integers or, with weights, fractions; all else exact and as a decimal."""
    from evaluator.decimals import decimal_12

    exact = {"hs": found.hs, "hs_n": found.hs_n(opponents), "ehs": found.ehs, "ehs_prime": found.ehs_prime(opponents)}
    if found.pairs:
        exact |= {"ppot": found.ppot, "npot": found.npot}
    values: dict[str, Any] = {name: _number(count) for name, count in zip(STANDINGS, found.now, strict=True)}
    values["hp"] = found.pairs and [[_number(count) for count in row] for row in found.pairs]
    for key, value in exact.items():
        values |= {key: str(value), f"{key}_decimal": decimal_12(value)}
    return values


def _number(count: Fraction | int) -> int | str:
    return int(count) if count == int(count) else str(count)


def _print(found: Any, look: int, opponents: int) -> None:
    now = ", ".join(f"{name} {_text(count)}" for name, count in zip(STANDINGS, found.now, strict=True))
    click.echo(f"now: {now} of {_text(sum(found.now))} opponents")
    click.echo(f"HS   {float(found.hs):.6f}" + _several(f"HS_{opponents}", found.hs_n(opponents), opponents))
    if found.pairs is None:
        return
    click.echo(f"{count(look, 'card')} to come; pairs of opponent and run-out, rows now, columns later:")
    click.echo(f"{'':<8}" + "".join(f"{name:>14}" for name in (*STANDINGS, "all")))
    for name, row in zip(STANDINGS, found.pairs, strict=True):
        click.echo(f"{name:<8}" + "".join(f"{_text(count):>14}" for count in (*row, sum(row))))
    click.echo(f"PPOT {float(found.ppot):.6f}")
    click.echo(f"NPOT {float(found.npot):.6f}")
    click.echo(f"EHS  {float(found.ehs):.6f}")
    prime = found.ehs_prime(opponents)
    click.echo(f"EHS' {float(prime):.6f}" + (f" against {opponents}" if opponents > 1 else ""))


def _several(name: str, value: Fraction, opponents: int) -> str:
    return f", {name} {float(value):.6f}" if opponents > 1 else ""


def _text(count: Fraction | int) -> str:
    return f"{int(count):,}" if count == int(count) else f"{float(count):,.3f}"
