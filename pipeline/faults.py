"""What is wrong with files and options: faults, and the names by which they point at things."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong with a file."""

    file: str
    """path as given"""
    key: str
    """where in the file, like ``paytable."9/6".pays."full house"``; empty for the whole file"""
    message: str
    """what is wrong, what was expected, what to do; several lines for a formula"""

    def __str__(self) -> str:
        return ": ".join(part for part in (self.file, self.key, self.message) if part)


class ConfigError(ValueError):
    """Files or options that cannot be used; `faults` has all that was found."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(dict.fromkeys(faults))
        super().__init__(*self.faults)

    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))


def slug(name: str) -> str:
    """A name in lower-case letters and digits with hyphens between.

    >>> slug("Jacks or Better"), slug("9/6, royal flush=4880")
    ('jacks-or-better', '9-6-royal-flush-4880')
    """
    return re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-") or "x"


def key_path(parts: Sequence[str | int]) -> str:
    """A key as it is written in TOML; places in a list count from 1.

    >>> key_path(["paytable", "9/6", "pays"]), key_path(["win", 0, "when"])
    ('paytable."9/6".pays', 'win[1].when')
    """
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += f"[{part + 1}]"
        else:
            path += ("." if path else "") + (part if re.fullmatch(r"[A-Za-z0-9_-]+", part) else f'"{part}"')
    return path
