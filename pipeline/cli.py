"""The command `autohold`: options, output, progress and exit codes. What it does is done elsewhere."""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click

DONE, NO, WRONG, INTERNAL, IO, LATER = 0, 1, 2, 70, 74, 75
TIE_BREAKS = ("lowest-mask", "least-variance", "most-variance")


class Stopped(BaseException):
    """A signal asked the command to stop."""

    def __init__(self, number: int) -> None:
        self.number = number


def main() -> NoReturn:
    """Run the command and leave with its exit code."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _stop)
    as_json = "--json" in sys.argv
    try:
        sys.exit(cli.main(standalone_mode=False) or DONE)
    except Stopped as stopped:
        _fail(128 + stopped.number, f"stopped by {signal.Signals(stopped.number).name}; {_RESUME}", as_json)
    except click.ClickException as problem:
        if not as_json:
            problem.show()
            sys.exit(problem.exit_code)
        _fail(problem.exit_code, problem.format_message(), as_json)
    except click.Abort:
        _fail(130, "stopped", as_json)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DONE)
    except Exception as problem:
        _fail(*_explain(problem), as_json)


_RESUME = "what is done is on disk; repeat the command with --resume to go on"


def _stop(number: int, frame: FrameType | None) -> None:
    raise Stopped(number)


def _explain(problem: Exception) -> tuple[int, str]:
    """The exit code and the message of an exception."""
    from evaluator.cards import CardError
    from evaluator.rules import Faults
    from evaluator.symmetry import TooManyClasses
    from pipeline.faults import ConfigError
    from pipeline.run import Altered, Incomplete, Refused
    from pipeline.store import InUse

    if isinstance(problem, (ConfigError, CardError, Refused, Faults, TooManyClasses)):
        return WRONG, str(problem)
    if isinstance(problem, Altered):
        return NO, str(problem)
    if isinstance(problem, Incomplete):
        return LATER, f"{problem}\n{_RESUME}"
    if isinstance(problem, (InUse, ConnectionError)):
        return LATER, str(problem)
    if isinstance(problem, OSError):
        return IO, f"{problem.strerror or problem}: {problem.filename or ''}".rstrip(": ")
    return INTERNAL, "".join(traceback.format_exception(problem)) + "This is an error in autohold itself."


def _fail(code: int, message: str, as_json: bool) -> NoReturn:
    if as_json:
        _print_json({"error": {"code": code, "message": message}})
    click.echo(f"autohold: {message}", err=True)
    sys.exit(code)


def _print_json(content: dict[str, Any]) -> None:
    from pipeline.manifest import FORMAT

    click.echo(json.dumps({"format": FORMAT, **content}, indent=2, ensure_ascii=False))


def _version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        from pipeline.manifest import software

        click.echo(" ".join(f"{name} {number}" for name, number in software().items()))
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show versions.")
def cli() -> None:
    """Certify video poker: exact paybacks, optimal strategies, win frequencies.

    Exit codes: 0 done, 1 the answer is no, 2 wrong use or game file, 70 internal
    error, 74 input or output failed, 75 unfinished but can be resumed, 130 and
    143 stopped by a signal.
    """


GAME = click.Path(dir_okay=False, path_type=Path)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs.")


# --- certify ----------------------------------------------------------------------------------------------------------


class Require(click.ParamType[Any]):
    """MIN:MAX, decimals or fractions; one side may be empty."""

    name = "MIN:MAX"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Two exact bounds, None where a side is empty."""
        if isinstance(value, tuple):
            return value
        try:
            low, colon, high = value.partition(":")
            bounds = tuple(Fraction(side) if side.strip() else None for side in (low, high))
        except (ValueError, ZeroDivisionError):
            self.fail(f"{value!r}: expected two numbers or fractions like 0.83:1 or 17/20:", param, ctx)
        if not colon or bounds == (None, None):
            self.fail(f"{value!r}: expected MIN:MAX, like 0.83:1, 0.83: or :1", param, ctx)
        if None not in bounds and bounds[0] > bounds[1]:  # type: ignore[operator]
            self.fail(f"{value!r}: the minimum is above the maximum", param, ctx)
        return bounds


@cli.command()
@click.argument("games", nargs=-1, required=True, type=GAME)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Run directory.")
@click.option("--paytable", "paytables", multiple=True, metavar="NAME", help="Only this paytable; repeatable.")
@click.option("--pay", "pays", multiple=True, metavar="WIN=VALUE", help="Change a pay; repeatable.")
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Local worker processes; default: one per core.")
@click.option("--scheduler", metavar="ADDRESS", help="A Dask scheduler that is running.")
@click.option("--scheduler-file", type=click.Path(), metavar="F", help="The scheduler's connection file.")
@click.option("--serial", is_flag=True, help="No Dask: one part after the other in this process.")
@click.option("--resume", is_flag=True, help="Go on where an interrupted run stopped.")
@click.option("--require", type=Require(), help="Exit 1 unless every payback is within.")
@click.option("--tie-break", type=click.Choice(TIE_BREAKS), default=TIE_BREAKS[0], show_default=True)
@click.option("--all-holds", is_flag=True, help="Store the values of all 32 holds.")
@click.option("--rows-per-part", type=click.IntRange(1), metavar="N", help="Hands in a part; default: 16384.")
@json_option
def certify(
    games: tuple[Path, ...],
    out: Path,
    paytables: tuple[str, ...],
    pays: tuple[str, ...],
    workers: int | None,
    scheduler: str | None,
    scheduler_file: str | None,
    serial: bool,
    resume: bool,
    require: tuple[Fraction | None, Fraction | None] | None,
    tie_break: str,
    all_holds: bool,
    rows_per_part: int | None,
    as_json: bool,
) -> int:
    """Certify the paytables of GAMES into the run directory --out.

    A complete run is checked and not computed again. Without --scheduler,
    --scheduler-file, DASK_SCHEDULER_ADDRESS or --serial, the work is done by
    local worker processes.
    """
    from pipeline.plan import ROWS_PER_PART
    from pipeline.run import certify as carry_out
    from pipeline.run import make_plan

    executor = _executor(workers, scheduler, scheduler_file, serial)
    chosen = _chosen(games, paytables, pays)
    plan = make_plan(chosen, tie_break, rows_per_part or ROWS_PER_PART, all_holds)
    progress = Progress()
    run = carry_out(chosen, out, executor, plan, resume, progress)
    progress.end()
    return _report(run, require or (None, None), as_json)


def _executor(
    workers: int | None, scheduler: str | None, scheduler_file: str | None, serial: bool
) -> Callable[[], AbstractContextManager[Any]]:
    """How the tasks are to run; flags beat DASK_SCHEDULER_ADDRESS."""
    flags = {"--workers": workers, "--scheduler": scheduler, "--scheduler-file": scheduler_file, "--serial": serial}
    given = [flag for flag, value in flags.items() if value]
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} exclude each other; give one of them")
    if serial:
        from pipeline.execute import Serial

        return lambda: nullcontext(Serial())
    address = scheduler or (None if given else os.environ.get("DASK_SCHEDULER_ADDRESS"))

    def connect() -> AbstractContextManager[Any]:
        from pipeline.cluster import default_workers, local_cluster, remote_cluster

        if address or scheduler_file:
            return remote_cluster(address, scheduler_file)
        return local_cluster(workers or default_workers())

    return connect


def _chosen(paths: tuple[Path, ...], names: tuple[str, ...], pays: tuple[str, ...]) -> list[Any]:
    """The games with the paytables asked for; all faults of all files at once."""
    from dataclasses import replace

    from pipeline.config import load_game
    from pipeline.faults import ConfigError, Fault
    from pipeline.paytables import with_pays

    faults: list[Fault] = []
    games = []
    for path in paths:
        try:
            games.append(load_game(path))
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
    from pipeline.paytables import parse_pay

    changes = {}
    for text in pays:
        win, equals, value = text.rpartition("=")
        try:
            if not equals:
                raise ValueError("expected WIN=VALUE")
            changes[win.strip()] = parse_pay(value)
        except ValueError as problem:
            raise click.BadParameter(f"{text!r}: {problem}", param_hint="--pay") from None
    return changes


def _report(run: Any, bounds: tuple[Fraction | None, Fraction | None], as_json: bool) -> int:
    from pipeline.certificate import meets, overview_lines

    within = [meets(content, *bounds) for content in run.certificates]
    if as_json:
        keys = ("game", "paytable", "coins", "payback", "payback_decimal", "variance", "hit_frequency", "tied_deals")
        rows = [
            {key: content[key] for key in keys} | {"warnings": content["warnings"], "within_required": met}
            for content, met in zip(run.certificates, within, strict=True)
        ]
        state = {"run": str(run.path), "identity": run.identity, "computed": run.computed, "parts": run.parts}
        _print_json({**state, "within_required": all(within), "certificates": rows})
        return DONE if all(within) else NO
    for line in overview_lines(run.certificates):
        click.echo(line)
    for content in run.certificates:
        for warning in content["warnings"]:
            click.echo(f"warning: {content['game']}, {content['paytable']}: {warning}", err=True)
    click.echo(f"{run.path}: {'certified' if run.computed else 'already certified, digests verified'}", err=True)
    low, high = ("" if bound is None else str(bound) for bound in bounds)
    for content, met in zip(run.certificates, within, strict=True):
        if not met:
            click.echo(f"outside {low}:{high}: {content['game']}, {content['paytable']}: {content['payback']}")
    return DONE if all(within) else NO


class Progress:
    """Progress on stderr: a line that changes on a terminal, else a plain line now and then."""

    def __init__(self) -> None:
        from time import monotonic

        self._clock = monotonic
        self._began = monotonic()
        self._said = self._began
        self._terminal = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        """Say how many parts are done."""
        now = self._clock()
        if now - self._said < (0.1 if self._terminal else 15) and done < total:
            return
        self._said = now
        left = (now - self._began) / max(done, 1) * (total - done)
        text = f"{done} of {total} parts, {left:.0f} s left"
        if self._terminal:
            click.echo(f"\r{text:<60}", err=True, nl=False)
        elif done < total:
            click.echo(text, err=True)

    def end(self) -> None:
        """Remove the line that changes."""
        if self._terminal:
            click.echo("\r" + " " * 60 + "\r", err=True, nl=False)


# --- hold and count ---------------------------------------------------------------------------------------------------


@cli.command()
@click.argument("game", type=GAME)
@click.argument("hand")
@click.option("--paytable", metavar="NAME", help="Needed where the file has several.")
@json_option
def hold(game: Path, hand: str, paytable: str | None, as_json: bool) -> None:
    """Show all 32 holds of HAND, like "As Ks Qs Js 2c", best first."""
    from pipeline.api import holds, load_game, one_paytable

    loaded = load_game(game)
    table = one_paytable(loaded, paytable)
    result = holds(loaded, hand, table.name)
    if as_json:
        from pipeline.certificate import exact

        rows = [
            {"mask": h.mask, "held": h.held, "draws": h.draws, "won": str(h.won), **exact("ev", h.ev)}
            | {"optimal": h.optimal, "chosen": h.chosen, "counts": h.counts}
            for h in result.holds
        ]
        _print_json(
            {"game": loaded.name, "paytable": table.name, "hand": result.hand, "win": result.win, "holds": rows}
        )
        return
    click.echo(f"{loaded.name}, {table.name}: {result.hand}, as dealt: {result.win}")
    click.echo(f"  {'hold':<16} {'expected win':>14} {'exact, won/draws':>22}  cost")
    best = result.holds[0].ev
    tied = sum(h.optimal for h in result.holds) > 1
    for h in result.holds:
        mark = "*" if h.chosen else "=" if h.optimal else " "
        cost = "" if h.optimal else f"{float(best - h.ev):.6f}"
        exact_text = f"{h.won}/{h.draws}" if h.won.denominator == 1 else str(h.ev)
        click.echo(f"{mark} {h.held or 'nothing':<16} {float(h.ev):>14.6f} {exact_text:>22}  {cost}")
    click.echo("* the best hold" + (", the first of those that are exactly equal (=)" if tied else ""))


@cli.command()
@click.argument("game", type=GAME)
@json_option
def count(game: Path, as_json: bool) -> None:
    """Count the deals of every win, with and without those of higher wins.

    Each count is made twice: by its chromatic polynomial and by checking the
    canonical hands. An exclusion is named only where it changes the count.
    """
    from pipeline.api import load_game, solve_game
    from pipeline.counting import count_rows

    loaded = load_game(game)
    solution = solve_game(loaded)
    rows = count_rows(solution)
    deals = solution.tables.deals
    order = [loaded.rules.wins[number].name for number in solution.ordered]
    if as_json:
        _print_json({"game": loaded.name, "deals": str(deals), "depend_on_order": order, "wins": rows})
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
