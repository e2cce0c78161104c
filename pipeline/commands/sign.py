"""`autohold sign`: a signature over the digests of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.console import DONE, NO, RUN
from pipeline.faults import count
from pipeline.output import json_option, print_json

if TYPE_CHECKING:
    from pipeline.location import Location

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("run", type=RUN)
@click.option("--private-key", type=FILE, required=True, metavar="FILE", help="Ed25519, PEM; only read.")
@click.option("--password-file", type=FILE, metavar="FILE", help="Its first line opens an encrypted key.")
@json_option
def sign(run: Location, private_key: Path, password_file: Path | None, as_json: bool) -> int:
    """Verify RUN and add a signature over its digests.

    The envelope is RUN/attestations/certification.dsse.json; repeat the
    command with other keys for more signatures. Nothing is signed where the
    verification finds anything.
    """
    from pipeline.attest import ENVELOPE
    from pipeline.attest import sign as carry_out
    from pipeline.verify import verify

    result = verify(run)
    if not result.sound:
        if as_json:
            print_json({"run": str(run), "signed": False, **result.values()})
        else:
            for finding in result.findings:
                click.echo(str(finding))
            click.echo(f"{run}: {count(len(result.findings), 'finding')}, not signed")
        return NO
    password = password_file.read_bytes().splitlines()[0] if password_file else None
    name = carry_out(run, private_key, password)
    if as_json:
        print_json({"run": str(run), "signed": True, "identity": result.identity, "envelope": ENVELOPE, "key": name})
    else:
        click.echo(f"{run / ENVELOPE}: signed by {name}")
    return DONE
