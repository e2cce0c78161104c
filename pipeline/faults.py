"""What is wrong with files and options: faults, and how they name and count things."""

from __future__ import annotations

import difflib
import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MOST_NAMED = 5
"""names in a sentence"""


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
    """A name in lower-case letters and digits with hyphens between, for folders, files and columns.

    Letters lose their accents. Where a letter has no such form, or nothing is left, eight digits of the name's SHA-256
    follow, so that names in other scripts stay different.

    >>> slug("Jacks or Better"), slug("9/6, royal flush=4880"), slug("Café Olé")
    ('jacks-or-better', '9-6-royal-flush-4880', 'cafe-ole')
    >>> slug("Джокер 9/6"), slug("Джокер 8/5")
    ('9-6-6f936114', '8-5-a6c324f2')
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    words = re.sub(r"[^a-z0-9]+", "-", "".join(c for c in plain if not unicodedata.combining(c))).strip("-")
    if words and all(letter.isascii() for letter in plain if letter.isalnum()):
        return words
    return f"{words or 'x'}-{hashlib.sha256(plain.encode()).hexdigest()[:8]}"


def suggestion(name: str, known: Sequence[str]) -> str:
    """What to write for a name that is not known: the nearest one, or any of all.

    >>> suggestion("wall-time", ["cores", "walltime"]), suggestion("colour", ["cores", "walltime"])
    ('did you mean walltime?', 'there are cores, walltime')
    """
    close = difflib.get_close_matches(name, known, 1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"


def count(number: int, what: str) -> str:
    """A number of things.

    >>> count(1, "worker"), count(4752, "row")
    ('1 worker', '4,752 rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def named(names: Sequence[str]) -> str:
    """Some names, not too many of them.

    >>> named("abc"), named("abcdefgh")
    ('a, b, c', 'a, b, c, d, e and 3 more')
    """
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


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
