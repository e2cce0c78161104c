"""The same software on every machine: what is installed, who differs, and calls that no other code runs."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from typing import Generic

import numpy as np

from pipeline.execute import Argument, Result
from pipeline.faults import named
from pipeline.manifest import identity, software


class OtherSoftware(ConnectionError):
    """Not all machines have the same software; nothing that others make is taken for this run's."""


@lru_cache(maxsize=1)
def installed() -> dict[str, str]:
    """What has to be the same everywhere: versions, and the digest of the code of this very package.

    >>> sorted(installed())
    ['autohold', 'code', 'dask', 'distributed', 'numpy', 'pyarrow', 'python']
    """
    dask = {name: version(name) for name in ("dask", "distributed")}
    return {**software(), "python": platform.python_version(), "numpy": np.__version__, **dask}


@lru_cache(maxsize=1)
def installed_digest() -> str:
    """SHA-256 of what is installed."""
    return identity(installed())


@dataclass(frozen=True)
class Checked(Generic[Argument, Result]):
    """A function that is called only by processes with the software of the one that sends it."""

    function: Callable[[Argument], Result]
    """what to call"""
    expected: str
    """`installed_digest` of the sender"""

    def __call__(self, argument: Argument) -> Result:
        """Call the function; raises `OtherSoftware`."""
        if installed_digest() != self.expected:
            found = ", ".join(f"{name} {number}" for name, number in installed().items())
            raise OtherSoftware(f"process {os.getpid()} on {platform.node()} has other software: {found}")
        return self.function(argument)


def other_software(mine: Mapping[str, str], others: Mapping[str, Mapping[str, str] | Exception]) -> list[str]:
    """Who has something else than this process, a line for each thing that differs; none where all is the same.

    `others` has for each machine what is `installed` there, or why it cannot say.

    >>> other_software({"numpy": "2.4"}, {"scheduler": {"numpy": "2.4"}, "a": {"numpy": "2.3"}, "b": {"numpy": "2.3"}})
    ['numpy: 2.4 here, 2.3 on a, b']
    """
    lines = []
    silent: dict[str, list[str]] = {}
    for who, found in others.items():
        if isinstance(found, Exception):
            silent.setdefault(str(found), []).append(who)
    for name, number in mine.items():
        having: dict[str, list[str]] = {}
        for who, found in others.items():
            if not isinstance(found, Exception) and found.get(name) != number:
                having.setdefault(found.get(name, "none"), []).append(who)
        if having:
            elsewhere = "; ".join(f"{other} on {named(who)}" for other, who in having.items())
            lines.append(f"{name}: {number} here, {elsewhere}")
    return lines + [f"not to be seen on {named(who)}: {problem}" for problem, who in silent.items()]
