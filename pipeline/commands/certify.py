"""`autohold certify`: paytables into a run directory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.console import DONE, GAME, NO, RUN, choose_executor, executor_options, replaced_places
from pipeline.faults import ConfigError
from pipeline.output import json_option, log_option, output, print_json
from pipeline.run_config import run_config_option

if TYPE_CHECKING:
    from pipeline.execute import Connection
    from pipeline.location import Location
    from pipeline.metrics import Metrics
    from pipeline.run import Run

TIE_BREAKS = ("lowest-mask", "least-variance", "most-variance")


class Require(click.ParamType[Any]):
    """MIN:MAX, decimals or fractions; one side may be empty."""

    name = "MIN:MAX"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Two exact bounds, None where a side is empty."""
        if isinstance(value, tuple):
            return value
        try:
            low, colon, high = value.partition(":")
            if "e" in value.casefold():  # a few letters can name a number that fills the memory: 1e999999999
                raise ValueError
            bounds = tuple(Fraction(side) if side.strip() else None for side in (low, high))
        except (ValueError, ZeroDivisionError):
            self.fail(f"{value!r}: expected two numbers or fractions like 0.83:1 or 17/20:", param, ctx)
        if not colon or bounds == (None, None):
            self.fail(f"{value!r}: expected MIN:MAX, like 0.83:1, 0.83: or :1", param, ctx)
        if None not in bounds and bounds[0] > bounds[1]:  # type: ignore[operator]
            self.fail(f"{value!r}: the minimum is above the maximum", param, ctx)
        return bounds


def certify_options(out: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The arguments and options of certify, which `plan` has too; `out` says whether a run directory is required."""
    options = (
        click.argument("games", nargs=-1, required=True, type=GAME),
        click.option("--out", required=out, type=RUN, help="Run directory, or s3://bucket/folder."),
        click.option("--paytable", "paytables", multiple=True, metavar="NAME", help="Only this paytable; repeatable."),
        click.option("--pay", "pays", multiple=True, metavar="WIN=VALUE", help="Change a pay; repeatable."),
        executor_options,
        click.option("--resume", is_flag=True, help="Go on where an interrupted run stopped."),
        click.option("--require", type=Require(), help="Exit 1 unless every payback is within."),
        click.option(
            "--limits",
            multiple=True,
            metavar="NAME",
            help="Exit 1 unless within configs/limits/NAME.toml, or a file of your own; repeatable.",
        ),
        click.option(
            "--tie-break",
            type=click.Choice(TIE_BREAKS),
            default=TIE_BREAKS[0],
            show_default=True,
            help="Which of several optimal holds is taken.",
        ),
        click.option("--all-holds", is_flag=True, help="Store the values of all 32 holds."),
        click.option("--sensitivity", is_flag=True, help="Certificates say what each pay does to the payback."),
        click.option("--rows-per-part", type=click.IntRange(1), metavar="N", help="Hands in a part; default: 16384."),
        click.option(
            "--metrics", type=click.Path(path_type=Path), metavar="FILE", help="Keep Prometheus metrics in FILE."
        ),
        run_config_option(replaced_places),
        log_option,
        json_option,
    )

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return add


class Measured(click.Command):
    """A command with metrics of its run, however it ends; also where it is used wrongly, if both can be told."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read the options."""
        try:
            return super().make_context(info_name, [*args], parent, **extra)
        except (click.ClickException, ConfigError):
            with suppress(OSError):  # what is wrong with the command is said
                self._measure(super().make_context(info_name, [*args], parent, resilient_parsing=True, **extra))
            raise

    def invoke(self, ctx: click.Context) -> Any:
        """Carry it out; in place of the file it gets the metrics."""
        self._measure(ctx)
        return super().invoke(ctx)

    def _measure(self, ctx: click.Context) -> None:
        from pipeline.metrics import Metrics

        file, out = ctx.params.get("metrics"), ctx.params.get("out")
        if file is not None and out is not None:
            kept = ctx.params["metrics"] = Metrics(file, str(out))
            output().at_end(kept.end)


@click.command(cls=Measured)
@certify_options(out=True)
def certify(
    games: tuple[Path, ...],
    out: Location,
    paytables: tuple[str, ...],
    pays: tuple[str, ...],
    connection: Connection,
    resume: bool,
    require: tuple[Fraction | None, Fraction | None] | None,
    limits: tuple[str, ...],
    tie_break: str,
    all_holds: bool,
    sensitivity: bool,
    rows_per_part: int | None,
    metrics: Metrics | None,
    as_json: bool,
) -> int:
    """Certify the paytables of GAMES into the run directory --out.

    GAMES are game files, like configs/jacks-or-better.toml.
    A complete run is checked and not computed again. Without --scheduler,
    --scheduler-file, DASK_SCHEDULER_ADDRESS, --slurm or --serial, the work is
    done by local worker processes.
    """
    from pipeline.events import event
    from pipeline.faults import count
    from pipeline.limits import load_limits
    from pipeline.plan import ROWS_PER_PART
    from pipeline.run import certify as carry_out
    from pipeline.run import make_plan

    output().begun = False
    show = output().listener(*([] if metrics is None else [metrics]))
    show(event("step", message=f"reading {count(len(games), 'game file')}"))
    known = [load_limits(name) for name in limits]
    executor = choose_executor(connection, show)
    options: dict[str, Any] = {
        "tie_break": tie_break,
        "rows_per_part": rows_per_part or ROWS_PER_PART,
        "all_holds": all_holds,
        "sensitivity": sensitivity,
    }
    run = _reopened(out, games, paytables, pays, options)
    if run is None:
        chosen = choose_games(games, paytables, pays)
        run = carry_out(chosen, out, executor, make_plan(chosen, **options), resume, show)
    output().quiet()
    if metrics is not None:
        metrics.certified(run)
    return _report(run, require or (None, None), known, as_json)


def _reopened(
    out: Location, games: tuple[Path, ...], names: tuple[str, ...], pays: tuple[str, ...], options: dict[str, Any]
) -> Run | None:
    """The run, where it is finished; None where that is to be found out the long way."""
    from pipeline.again import reopen
    from pipeline.config import read_game

    try:
        chosen = choose_games(games, names, pays, read_game)
    except ConfigError:
        return None
    return reopen(out, chosen, **options)


def choose_games(
    paths: tuple[Path, ...],
    names: tuple[str, ...],
    pays: tuple[str, ...],
    load: Callable[[Path], Any] | None = None,
) -> list[Any]:
    """The games with the paytables asked for, loaded or only read; all faults of all files at once."""
    from dataclasses import replace

    from pipeline.config import load_game
    from pipeline.faults import Fault
    from pipeline.paytables import with_pays

    faults: list[Fault] = []
    games = []
    for path in paths:
        try:
            games.append((load or load_game)(path))
        except ConfigError as problem:
            faults += problem.faults
    if not faults:
        known = dict.fromkeys(name for game in games for t in game.paytables for name in (t.name, t.label))
        unknown = [name for name in names if name not in known]
        faults = [Fault("--paytable", name, f"there is none; there are {'; '.join(known)}") for name in unknown]
    if faults:
        raise ConfigError(faults)
    changes = _changes(pays)
    kept = []
    for game in games:
        tables = [t for t in game.paytables if not names or {t.name, t.label} & {*names}]
        if changes:
            tables = [with_pays(game.file, game.rules.wins, table, changes) for table in tables]
        if tables:
            kept.append(replace(game, paytables=tuple(tables)))
    return kept


def _changes(pays: tuple[str, ...]) -> dict[str, Fraction]:
    """Win -> new pay. Raises `ConfigError` with every `--pay` that is none, and every win with several."""
    from pipeline.faults import Fault
    from pipeline.paytables import parse_pay

    faults: list[Fault] = []
    said: dict[str, list[str]] = {}
    changes = {}
    for text in pays:
        win, equals, value = (part.strip() for part in text.rpartition("="))
        try:
            if not equals:
                raise ValueError("expected WIN=VALUE")
            changes[win] = parse_pay(value)
            said.setdefault(win, []).append(text)
        except ValueError as problem:
            faults.append(Fault("--pay", repr(text), str(problem)))
    faults += [
        Fault("--pay", win, f"expected one pay, found {' and '.join(map(repr, texts))}")
        for win, texts in said.items()
        if len(texts) > 1
    ]
    if faults:
        raise ConfigError(faults)
    return changes


def _report(run: Any, bounds: tuple[Fraction | None, Fraction | None], limits: list[Any], as_json: bool) -> int:
    from pipeline.certificate import meets, overview_lines
    from pipeline.limits import compare

    within = [meets(content, *bounds) for content in run.certificates]
    compared = [comparison for named in limits for comparison in compare(named, run.certificates)]
    inside = all(comparison.within for comparison in compared)
    _remarks(run)
    if as_json:
        keys = ("game", "paytable", "coins", "payback", "payback_decimal", "variance", "hit_frequency", "tied_deals")
        rows = [
            {key: content[key] for key in keys} | {"warnings": content["warnings"], "within_required": met}
            for content, met in zip(run.certificates, within, strict=True)
        ]
        state = {"run": str(run.path), "identity": run.identity, "computed": run.computed, "parts": run.parts}
        state |= {"within_required": all(within), "within_limits": inside if limits else None}
        named = [limit.model_dump(mode="json", include={"name", "source", "checked"}) for limit in limits]
        beside = {"limits": named, "comparisons": [comparison.values() for comparison in compared]}
        print_json({**state, "certificates": rows, **beside})
        return DONE if all(within) and inside else NO
    for line in overview_lines(run.certificates):
        click.echo(line)
    low, high = ("" if bound is None else str(bound) for bound in bounds)
    for content, met in zip(run.certificates, within, strict=True):
        if not met:
            name, payback = f"{content['game']}, {content['paytable']}", content["payback"]
            click.echo(f"{name}: payback {payback} = {content['payback_decimal']} is not within {low}:{high}")
    for named in limits:
        click.echo(f"{named.name}: {named.source}; read on {named.checked}")
        for comparison in compared:
            if comparison.limits == named.name:
                click.echo(f"  {comparison}")
    return DONE if all(within) and inside else NO


def _remarks(run: Any) -> None:
    """What is to be known about a run beside its figures, on stderr."""
    say = output().say
    for game, wins in {content["game"]: content["depend_on_order"] for content in run.certificates}.items():
        if wins:
            say("note", f"{game}: held cards stay in their places, for {', '.join(wins)} depends on order")
    for content in run.certificates:
        for warning in content["warnings"]:
            say("warning", f"autohold: {content['game']}, {content['paytable']}: {warning}")
    done, tables = "certified" if run.computed else "already certified, digests verified", len(run.certificates)
    if run.computed and tables > 1:
        done += f", {tables} paytables in {run.seconds:.1f} s, {run.seconds / tables:.2f} s each"
    say("certified", f"{run.path}: {done}", identity=run.identity, computed=run.computed)
