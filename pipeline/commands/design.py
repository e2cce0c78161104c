"""`autohold design`: paytables for a target payback."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from pipeline.commands.sweep import table_lines, variation, vary_options
from pipeline.console import DONE, GAME, NO, one_thread
from pipeline.output import json_option, print_json
from pipeline.progress import Progress

PREFERENCES = ("closeness", "variance", "hit-frequency")


class Exact(click.ParamType[Any]):
    """A decimal or a fraction, not below 0."""

    name = "NUMBER"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The exact number."""
        from pipeline.paytables import parse_pay

        try:
            return value if isinstance(value, Fraction) else parse_pay(value)
        except ValueError as problem:
            return self.fail(str(problem), param, ctx)


@click.command()
@click.argument("game", type=GAME)
@vary_options
@click.option("--target", type=Exact(), required=True, help="Payback, like 0.955.")
@click.option("--within", type=Exact(), help="How far from the target, at most.")
@click.option(
    "--prefer", type=click.Choice(PREFERENCES), default=PREFERENCES[0], show_default=True, help="What comes first."
)
@click.option("--top", type=click.IntRange(1), default=10, show_default=True, metavar="N", help="How many to find.")
@json_option
def design(
    game: Path,
    base: str | None,
    vary: tuple[str, ...],
    link: tuple[str, ...],
    keep: tuple[str, ...],
    target: Fraction,
    within: Fraction | None,
    prefer: str,
    top: int,
    as_json: bool,
) -> int:
    """Find the paytables of a grid that are nearest to a payback.

    With --prefer, the least variance or the highest hit frequency comes first
    among those --within. Most of the grid is not computed one by one: the
    payback grows with every pay, so bounds leave out whole boxes. The answer is
    complete. Exit code 1 if no paytable is within.
    """
    one_thread()
    from pipeline.designs import carry_out

    progress = Progress("paytables")
    found = carry_out(variation(game, base, vary, link, keep), target, within, prefer, top, progress)
    progress.end()
    if as_json:
        print_json(_json(found))
    else:
        for line in _lines(found):
            click.echo(line)
    return DONE if found.matches else NO


def _json(found: Any) -> dict[str, Any]:
    from pipeline.designs import row_json
    from pipeline.sweep_table import described

    asked, went = found.variation, found.found
    return {
        "game": asked.game.name,
        "paytable": asked.base.label,
        "coins": asked.base.coins,
        "tie_break": "lowest-mask",
        "vary": described(asked),
        "target": str(found.target),
        "within": None if found.within is None else str(found.within),
        "prefer": found.prefer,
        "paytables": str(asked.family.size),
        "looked_at": str(went.looked_at),
        "left_out": str(went.left_out),
        "boxes": went.boxes,
        "complete": True,
        "number_within": None if found.number is None else str(found.number),
        "matches": [row_json(match, found.target) for match in found.matches],
        "nearest": None if found.nearest is None else row_json(found.nearest, found.target),
    }


def _lines(found: Any) -> list[str]:
    from pipeline.designs import row_json

    asked, went = found.variation, found.found
    shown = found.matches or ([found.nearest] if found.nearest else [])
    lines = [f"{asked.game.name}, {asked.base.label}: {asked.family.size:,} paytables"]
    if not found.matches:
        lines.append("none is within; the nearest is" if shown else "none keeps all that was asked for")
    lines += table_lines([row_json(match, found.target) for match in shown], asked.base.label)
    looked, left, boxes = (f"{number:,}" for number in (went.looked_at, went.left_out, went.boxes))
    bounds = f"bounds of {boxes} {'box' if went.boxes == 1 else 'boxes'}"
    lines.append(f"complete: {looked} paytables looked at, {left} left out by {bounds}")
    if found.prefer == PREFERENCES[0] and shown:
        far = abs(shown[-1].payback - found.target)
        lines.append(f"no other paytable of the grid is nearer than {float(far):.3g} to the target")
    elif found.number is not None:
        lines.append(f"{found.number:,} paytables are within; none of the others is better")
    return lines
