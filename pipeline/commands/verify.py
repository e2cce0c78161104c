"""`autohold verify`: everything that is wrong with a run directory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.console import DONE, NO, RUN
from pipeline.faults import count
from pipeline.output import json_option, print_json

if TYPE_CHECKING:
    from pipeline.location import Location


@click.command()
@click.argument("run", type=RUN)
@click.option("--tables", is_flag=True, help="Read every row of every table.")
@click.option("--sample", type=click.IntRange(1), metavar="K", help="Judge K hands of each game by the second engine.")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="S", help="Which hands; default: 0.")
@click.option("--recompute", is_flag=True, help="Compute everything again.")
@click.option(
    "--key",
    "keys",
    type=click.Path(path_type=Path),
    multiple=True,
    metavar="PEM",
    help="Public key that must have signed; repeatable.",
)
@json_option
def verify(
    run: Location,
    tables: bool,
    sample: int | None,
    seed: int,
    recompute: bool,
    keys: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Verify the run directory RUN, and say all that is wrong.

    Without options all files are compared with SHA256SUMS, and each certificate
    is derived from the sums in its table's footers; what is not as listed is read
    whole. --sample and --recompute read every row, as --tables does. Exit code 1
    where anything was found. The run is only read; no Dask, no cluster.
    """
    from pipeline.verify import is_table
    from pipeline.verify import verify as carry_out

    def progress(text: str) -> None:
        click.echo(text, err=True)

    quiet = as_json or not (sample or recompute)
    steps: dict[str, Any] = {} if quiet else {"progress": progress}
    steps |= {"keys": keys} if keys else {}
    steps |= {"sample": sample or 0, "seed": seed, "recompute": recompute}
    if is_table(run):
        if keys:
            raise click.UsageError("tables of hand strength are not signed; leave out --key")
        from pipeline.verify_ehs import verify_table

        result = verify_table(run, **steps)  # which reads every row in any case
    else:
        result = carry_out(run, tables=tables, **steps)
    if as_json:
        print_json({"run": str(run), "seed": seed if sample else None, **result.values()})
        return DONE if result.sound else NO
    for finding in result.findings:
        click.echo(str(finding))
    for note in result.notes:
        click.echo(f"note: {note}", err=True)
    done = ", ".join(
        count(number, what.replace("_", " ").removesuffix("s")) for what, number in result.checked.items() if number
    )
    outcome = "no findings" if result.sound else count(len(result.findings), "finding")
    click.echo(f"{run}: {outcome} ({done})")
    return DONE if result.sound else NO
