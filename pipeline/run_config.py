"""A file that holds the options of a command: `--run-config FILE`. What the command line says beats it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from pipeline.faults import ConfigError, Fault, key_path, suggestion

MAGIC = "*?["
"""characters that make a path a pattern"""


Replaced = Callable[[set[str], set[str]], set[str]]
"""which parameters of the file (second) do not count, by those of the command line (first); beside the same ones"""


class RunConfig(click.Option):
    """The option `--run-config`; `replaced` says what of the file the command line replaces beside the same options."""

    replaced: Replaced = staticmethod(lambda line, file: set())

    def handle_parse_result(
        self, ctx: click.Context, opts: Mapping[str, Any], args: list[str]
    ) -> tuple[Any, list[str]]:
        """Take what the file says for all that the command line does not; what it says right, if that is enough."""
        value, args = super().handle_parse_result(ctx, opts, args)
        if isinstance(value, str):
            said, faults = _read(Path(value), ctx.command.params)
            if faults and not ctx.resilient_parsing:
                raise ConfigError(faults)
            left_out = self.replaced(set(opts), set(said))
            ctx.default_map = {name: value for name, value in said.items() if name not in left_out}
        return value, args


def run_config_option(replaced: Replaced) -> Callable[..., Any]:
    """The option, for a command of which some parameters exclude each other."""
    kind = type("RunConfig", (RunConfig,), {"replaced": staticmethod(replaced)})
    return click.option(
        "--run-config",
        cls=kind,
        type=click.Path(),
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        help="Options from a TOML file; the command line beats it.",
    )


def read_run_config(path: Path, parameters: Sequence[click.Parameter]) -> dict[str, Any]:
    """Parameter -> value, as a command line would give it. Raises `ConfigError` with every fault of the file.

    A key is the name of an option without its dashes, or of an argument. Flags are true or false, numbers are numbers,
    all else is text; what can be repeated is a list. Paths start at the folder of the file.
    """
    values, faults = _read(path, parameters)
    if faults:
        raise ConfigError(faults)
    return values


def _read(path: Path, parameters: Sequence[click.Parameter]) -> tuple[dict[str, Any], list[Fault]]:
    """What of a file is right, and its faults."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as problem:
        return {}, [Fault(str(path), "", f"cannot be read: {problem.strerror or problem}")]
    except (ValueError, RecursionError) as problem:
        return {}, [Fault(str(path), "", f"is not TOML: {problem}")]
    known = {_key(parameter): parameter for parameter in parameters if not isinstance(parameter, RunConfig)}
    values: dict[str, Any] = {}
    faults: list[Fault] = []
    for key, value in content.items():
        if key not in known:
            faults.append(Fault(str(path), key_path([key]), f"unknown key; {suggestion(key, list(known))}"))
            continue
        try:
            values[known[key].name or key] = _value(path.parent, known[key], value)
        except ValueError as problem:
            faults.append(Fault(str(path), key_path([key]), str(problem)))
    return values, faults


def _key(parameter: click.Parameter) -> str:
    """The name of a parameter in the file."""
    return max(parameter.opts, key=len).lstrip("-")


def _value(folder: Path, parameter: click.Parameter, value: Any) -> Any:
    """The value for click; raises `ValueError` for one of another kind."""
    several = parameter.nargs == -1 or parameter.multiple
    if several and not isinstance(value, list):
        raise ValueError(f"expected a list, found {value!r}")
    found: list[Any] = []
    for item in value if several else [value]:
        _check_kind(parameter, item)
        found += _paths(folder, parameter, item)
    for item in found:
        try:
            parameter.type.convert(item, parameter, None)
        except click.BadParameter as problem:
            raise ValueError(problem.message) from None
    return found if several else found[0]


def _check_kind(parameter: click.Parameter, value: Any) -> None:
    wanted: tuple[type, ...] = (str,)
    if getattr(parameter, "is_flag", False):
        wanted = (bool,)
    elif isinstance(parameter.type, click.types.FloatParamType):
        wanted = (int, float)
    elif isinstance(parameter.type, click.types.IntParamType):
        wanted = (int,)
    if type(value) not in wanted:
        names = {bool: "true or false", int: "a whole number", str: "text"}
        name = "a number" if float in wanted else names[wanted[0]]
        raise ValueError(f"expected {name}, found {value!r}")


def _paths(folder: Path, parameter: click.Parameter, value: Any) -> list[Any]:
    """A relative path from the folder of the file; a pattern of game files as all that it fits."""
    path = parameter.type.name in ("path", "file") or (parameter.name == "limits" and "." in value)
    if not path or "://" in value:
        return [value]
    if isinstance(parameter, click.Argument) and any(letter in value for letter in MAGIC):
        matches = sorted(map(str, folder.glob(value))) if not Path(value).is_absolute() else []
        if not matches:
            raise ValueError(f"{value!r} fits no file in {folder}")
        return matches
    return [str(folder / value)]
