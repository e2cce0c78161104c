"""The command `autohold`: options, output, progress and exit codes. What it does is done elsewhere."""

from __future__ import annotations

import os
import select
import signal
import sys
import traceback
from contextlib import suppress
from time import monotonic
from types import FrameType
from typing import NoReturn

import click

from pipeline.commands.audit import audit
from pipeline.commands.certify import certify
from pipeline.commands.chart import chart
from pipeline.commands.count import count
from pipeline.commands.design import design
from pipeline.commands.diff import diff
from pipeline.commands.ehs import ehs
from pipeline.commands.ehs_table import ehs_table
from pipeline.commands.hold import hold
from pipeline.commands.meter import meter
from pipeline.commands.plan import plan
from pipeline.commands.report import report
from pipeline.commands.sensitivity import sensitivity
from pipeline.commands.sign import sign
from pipeline.commands.simulate import simulate
from pipeline.commands.status import status
from pipeline.commands.strategies import strategies
from pipeline.commands.sweep import sweep
from pipeline.commands.verify import verify
from pipeline.console import DONE, INTERNAL, IO, LATER, NO, WRONG
from pipeline.output import Output

STREAMS = (1, 2)
"""file descriptors of stdout and stderr"""
SIGNALS = (signal.SIGTERM, signal.SIGINT)
"""which stop a command"""
SAME_SIGNAL = 1.0
"""seconds in which several signals are one: a terminal interrupts all processes, and some hand on what they get"""
COMPLETION = "_AUTOHOLD_COMPLETE"
"""the variable by which a shell asks what could follow"""
_RESUME = {
    None: "",
    False: "nothing has been made this time; repeat the command",
    True: "what is done is on disk; repeat the command with --resume to go on",
}
"""what to do after a command was stopped, by whether it had begun"""
_MENDED = {
    None: "",
    False: "when that is mended, repeat the command",
    True: "when that is mended, repeat the command with --resume; nothing that is half-written is taken up",
}


class Stopped(BaseException):
    """A signal asked the command to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def main() -> NoReturn:
    """Run the command and leave with its exit code.

    The first signal stops the command, which then leaves all in order; one more after a while leaves at once.
    """
    if COMPLETION in os.environ:
        cli.main(prog_name="autohold")
    output = Output()
    ending: float | None = None  # since when

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal ending
        if ending is None:
            ending = monotonic()
            raise Stopped(number)
        if monotonic() - ending > SAME_SIGNAL:
            for last in (_say_stopped, Output.end):
                with suppress(RuntimeError, OSError):  # it came while something was being said, or nobody reads
                    last(output, 128 + number)
            os._exit(128 + number)

    for number in SIGNALS:
        signal.signal(number, stop)
    try:
        code = _run(output)
    except BrokenPipeError:
        code = _unread()
    ending = ending or monotonic()
    output.end(code)
    for number in SIGNALS:  # which would end Python while it ends, with another exit code
        signal.signal(number, signal.SIG_IGN)
    sys.exit(code)


def _unread() -> int:
    """The exit code where nobody reads stdout or stderr any more: that of a program that SIGPIPE ends, in silence."""
    for stream in STREAMS:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    return 128 + signal.SIGPIPE


def _nobody_reads() -> bool:
    """Whether stdout or stderr is a pipe or socket whose other end is closed."""
    watched = select.poll()
    for stream in STREAMS:
        watched.register(stream, 0)
    return bool(watched.poll(0))


def _run(output: Output) -> int:
    """Run the command, say what went wrong if anything did, and return the exit code."""
    try:
        return _said(output)
    except Stopped as stopped:
        return _say_stopped(output, 128 + stopped.number)


def _say_stopped(output: Output, code: int) -> int:
    said = "; ".join(filter(None, (f"stopped by {signal.Signals(code - 128).name}", _RESUME[output.begun])))
    return output.fail(code, said)


def _said(output: Output) -> int:
    """The same, but for signals."""
    try:
        with cli.make_context("autohold", sys.argv[1:], obj=output) as context:
            return cli.invoke(context) or DONE
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as problem:
        if not output.as_json and not output.json_lines:
            problem.show()
            return problem.exit_code
        return output.fail(problem.exit_code, problem.format_message())
    except Exception as problem:
        if isinstance(problem, BrokenPipeError) and _nobody_reads():
            raise
        return output.fail(*_explain(problem, output.begun))


def _explain(problem: Exception, begun: bool | None) -> tuple[int, str]:
    """The exit code and the message of an exception."""
    from evaluator.cards import CardError
    from evaluator.rules import Faults
    from evaluator.symmetry import TooManyClasses
    from pipeline.faults import ConfigError
    from pipeline.lock import InUse
    from pipeline.run import Altered, Incomplete, Refused

    if isinstance(problem, (ConfigError, CardError, Refused, Faults, TooManyClasses)):
        return WRONG, str(problem)
    if isinstance(problem, Altered):
        return NO, str(problem)
    if isinstance(problem, (Incomplete, ConnectionError)):
        return LATER, f"{problem}\n{_RESUME[begun]}".rstrip()
    if isinstance(problem, InUse):
        return LATER, str(problem)
    if isinstance(problem, OSError):
        text = f"{problem.strerror or problem}: {problem.filename or ''}".rstrip(": ")
        return IO, f"{text}\n{_MENDED[begun]}".rstrip()
    return INTERNAL, "".join(traceback.format_exception(problem)) + "This is an error in autohold itself."


def _version(context: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value:
        from pipeline.manifest import software

        click.echo(" ".join(f"{name} {number}" for name, number in software().items()))
        context.exit()


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show versions.")
def cli() -> None:
    """Certify video poker: exact paybacks, optimal strategies, win frequencies.

    GAME is a game file, like configs/jacks-or-better.toml; RUN is a run
    directory, as certify makes it. COMMAND --help says more of a command.

    Exit codes: 0 done, 1 the answer is no, 2 wrong use or game file, 70 internal
    error, 74 input or output failed, 75 unfinished but can be resumed, 130 and
    143 stopped by a signal, 141 nobody reads the output.
    """


for _command in (
    audit,
    certify,
    chart,
    count,
    design,
    diff,
    ehs,
    ehs_table,
    hold,
    meter,
    plan,
    report,
    sensitivity,
    sign,
    simulate,
    status,
    strategies,
    sweep,
    verify,
):
    cli.add_command(_command)
