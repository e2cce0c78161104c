"""`autohold meter`: the payback of a progressive under every meter."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from pipeline.console import GAME
from pipeline.output import json_option, print_json


class MeterRange(click.ParamType[Any]):
    """LOW:HIGH, credits; one side may be empty."""

    name = "LOW:HIGH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Two exact meters, None where a side is empty."""
        from pipeline.paytables import parse_pay

        if isinstance(value, tuple):
            return value
        low, colon, high = value.partition(":")
        ends: list[Fraction | None] = []
        for side in (low, high):
            try:
                ends.append(parse_pay(side) if side.strip() else None)
            except ValueError as problem:
                self.fail(f"{value!r}: {problem}", param, ctx)
        if not colon or ends == [None, None]:
            self.fail(f"{value!r}: expected LOW:HIGH, like 4000:9000, 4000: or :9000", param, ctx)
        return tuple(ends)


@click.command()
@click.argument("game", type=GAME)
@click.option("--paytable", metavar="NAME", help="Needed where the file has several.")
@click.option("--range", "ends", type=MeterRange(), help="Meters in credits; one side may be empty.")
@json_option
def meter(
    game: Path, paytable: str | None, ends: tuple[Fraction | None, Fraction | None] | None, as_json: bool
) -> None:
    """Show the payback of a progressive under every meter, exactly.

    The payback rises with the meter, in straight lines between the break
    points at which optimal play changes. Without --range it is shown from the
    reset to the break-even meter, or to twice the reset where the payback is 1
    or more at the reset already. Of more than 20 segments some are shown, and
    all with --json.
    """
    from pipeline.api import load_game
    from pipeline.meter import meter_curve, meter_json, meter_text

    low, high = ends or (None, None)
    curve = meter_curve(load_game(game), paytable, low, high)
    if as_json:
        print_json(meter_json(curve))
        return
    for line in meter_text(curve):
        click.echo(line)
