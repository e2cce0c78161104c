"""`autohold ehs-table`: the strength of all hands into a run directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pipeline.console import DONE, RUN, choose_executor, executor_options
from pipeline.output import json_option, output, print_json
from pipeline.progress import Progress

if TYPE_CHECKING:
    from pipeline.execute import Connection
    from pipeline.location import Location


class Boards(click.ParamType[Any]):
    """FIRST:LAST, whole numbers."""

    name = "FIRST:LAST"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Two numbers, None where a side is empty."""
        if isinstance(value, tuple):
            return value
        first, colon, last = value.partition(":")
        if not colon or not all(side.strip().isdecimal() or not side.strip() for side in (first, last)):
            self.fail(f"{value!r}: expected FIRST:LAST, like 0:100 or 1700:", param, ctx)
        return tuple(int(side) if side.strip() else None for side in (first, last))


@click.command("ehs-table")
@click.option("--street", required=True, type=click.Choice(["preflop", "flop", "turn", "river"]), help="Which table.")
@click.option("--out", required=True, type=RUN, help="Run directory.")
@click.option("--boards", type=Boards(), help="Only these canonical boards, counted from 0, LAST excluded.")
@click.option("--boards-per-part", type=click.IntRange(1), metavar="N", help="Default: 45, on the turn 128, river 512.")
@executor_options
@click.option("--resume", is_flag=True, help="Go on where an interrupted run stopped.")
@json_option
def ehs_table(
    street: str,
    out: Location,
    boards: tuple[int | None, int | None] | None,
    boards_per_part: int | None,
    connection: Connection,
    resume: bool,
    as_json: bool,
) -> int:
    """Make the table of hand strength of a street, into --out.

    One row for each class of hole and board that the suits cannot tell apart:
    169 before the flop (in one part, a minute or two), 1,286,792 on the flop,
    13,960,050 on the turn, 123,156,254 on the river. A complete table is checked
    and not computed again.
    """
    from evaluator.holdem.tables import Street
    from pipeline.holdem import BOARDS_PER_PART, TablePlan, make_table

    executor = choose_executor(connection)
    chosen = Street[street.upper()]
    first, last = boards or (None, None)
    stop = chosen.boards if last is None else last
    plan = TablePlan(chosen, first or 0, stop, boards_per_part or BOARDS_PER_PART[chosen])
    progress, said = Progress(), output()
    said.begun = False

    def step(done: int, total: int) -> None:
        said.begun = True
        progress(done, total)

    table = make_table(plan, out, executor, resume, step)
    progress.end()
    if as_json:
        state = {"run": str(out), "identity": table.identity, "computed": table.computed, "parts": table.parts}
        print_json({**state, "summary": table.summary})
        return DONE
    click.echo(f"{street}: {int(table.summary['rows']):,} rows, {int(table.summary['deals']):,} deals, ", nl=False)
    click.echo(f"mean HS {table.summary['mean_hs']}")
    click.echo(f"{out}: {'made' if table.computed else 'already made, digests verified'}", err=True)
    return DONE
