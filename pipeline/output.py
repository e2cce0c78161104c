"""How a command speaks: its result on stdout, all else on stderr, each as text for people or as JSON for programs."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from typing import Any

import click

from pipeline.events import Event, Report, Ticking, event, json_line, tell


class Output:
    """What `pipeline.cli.main` and the command that runs agree on; it is the object of click's context."""

    def __init__(self) -> None:
        self.as_json = "--json" in sys.argv
        """whether the result, an error too, is JSON"""
        self.json_lines = False
        """whether stderr gets JSON lines"""
        self.begun: bool | None = None
        """whether something has been written that --resume goes on with; None for commands without it"""
        self._ticking: Ticking | None = None
        self._endings: list[Callable[[int], None]] = []

    def say(self, kind: str, message: str, **values: Any) -> None:
        """Say something on stderr; `kind` is the event of a JSON line, which has the values too."""
        self.quiet()
        click.echo(json_line(event(kind, message=message, **values)) if self.json_lines else message, err=True)

    def fail(self, code: int, message: str) -> int:
        """Say why the command ends with a code other than 0; returns it."""
        self.quiet()
        if self.as_json:
            print_json({"error": {"code": code, "message": message}})
        if self.json_lines:
            click.echo(json_line(event("error", code=code, message=message)), err=True)
        else:
            click.echo(f"autohold: {message}", err=True)
        return code

    def at_end(self, ending: Callable[[int], None]) -> None:
        """Have something called with the exit code, however the command ends."""
        self._endings.append(ending)

    def end(self, code: int) -> None:
        """Call all that is to be called at the end."""
        self.quiet()
        for ending in self._endings:
            ending(code)

    def listener(self, *others: Report) -> Report:
        """Who shows what happens, and what goes on as time goes by, as `others` are told; until it is to be quiet."""
        from pipeline.progress import JsonLines, Screen

        self._ticking = Ticking(tell(self._hear, *others, JsonLines() if self.json_lines else Screen()))
        return self._ticking

    def _hear(self, happened: Event) -> None:
        self.begun = happened["event"] == "start" or self.begun

    def quiet(self) -> None:
        """Show nothing more of what goes on."""
        if self._ticking is not None:
            self._ticking.end()


def output() -> Output:
    """Of the command that runs."""
    context = click.get_current_context(silent=True)
    return (context.find_object(Output) if context else None) or Output()


def print_json(content: dict[str, Any]) -> None:
    """Print the JSON output of a command, its format number first."""
    from pipeline.manifest import FORMAT

    click.echo(json.dumps({"format": FORMAT, **content}, indent=2, ensure_ascii=False))


class _JsonHandler(logging.Handler):
    """What libraries log or warn of, as JSON lines."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        values = {"level": record.levelname, "logger": record.name, "message": record.getMessage()}
        click.echo(json_line(event("log", **values)), err=True)


def _as_json(context: click.Context, parameter: click.Parameter, value: bool) -> bool:
    output().as_json |= value
    return value


def _log_format(context: click.Context, parameter: click.Parameter, value: str) -> None:
    if value == "json":
        output().json_lines = True
        logging.captureWarnings(True)
        logging.basicConfig(handlers=[_JsonHandler(logging.WARNING)], force=True)


json_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    callback=_as_json,
    help="Print JSON for programs.",
)
log_option = click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    expose_value=False,
    callback=_log_format,
    help="What goes to stderr: text, or a JSON object a line.",
)
