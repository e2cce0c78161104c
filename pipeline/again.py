"""The same command again: the plan of a finished run, found without compiling the games a second time.

What the rules of a game come to, which definitions they use and how many canonical hands there are, was worked out when
the run was made, and its manifest says it. It still holds where all that it follows from is equal: deck, wins, the
definitions in use and the software. Whether it is equal is what the identity says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pipeline.config import Game
from pipeline.faults import ConfigError
from pipeline.location import Location
from pipeline.plan import Entry, Plan
from pipeline.run import Run, open_complete
from pipeline.store import SUCCESS, read_head


def reopen(out: Location, games: Sequence[Game], **options: Any) -> Run | None:
    """The run, where `out` is a finished one of just these games; None where that is to be found out the long way.

    Raises `Altered` as `pipeline.run.certify` does; `options` are the fields of `Plan` beside its entries.
    """
    plan = finished_plan(out, games, **options)
    return None if plan is None else open_complete(out, plan)


def finished_plan(out: Location, games: Sequence[Game], **options: Any) -> Plan | None:
    """The plan for some games that were only read, where `out` is a finished run of just this; else None."""
    try:
        if not (out / SUCCESS).exists():
            return None
        manifest = read_head(out)
        plan = Plan(tuple(_entry(game, said) for game, said in zip(games, manifest["games"], strict=True)), **options)
        return plan if plan.identity == manifest["identity"] else None
    except (OSError, ValueError, KeyError, TypeError, ConfigError):
        return None  # whatever is wrong, the long way says it


def _entry(game: Game, said: dict[str, Any]) -> Entry:
    """The game with what the manifest says of it beside what its file says."""
    used = {(head, text) for head, text in said["rules"]["define"]}
    rules = replace(game.rules, definitions=tuple(pair for pair in game.rules.definitions if pair in used))
    sources = tuple(game.source(table.name) for table in game.paytables)
    return Entry(game.name, rules, game.paytables, sources, said["canonical_hands"], tuple(said["ordered"]))
