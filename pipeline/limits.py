"""Limits of paybacks as data files: what is compared with what, and how it comes out. No word on what that means.

Comparisons are of exact fractions: 74.9999…% is below 75 %. A payback is that of optimal play, of a progressive at the
reset of its meter, which is in every file that says anything about it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from pipeline.certificate import Certificate, exact, percent_down
from pipeline.faults import ConfigError, Fault, key_path
from pipeline.paytables import parse_pay

FOLDER = Path("configs/limits")
Bound = Annotated[Any, BeforeValidator(parse_pay)]
RELATIONS = {"minimum": "at least", "maximum": "at most", "below": "below"}
"""key of a file -> how the payback must stand to its value"""


class _Limit(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    at: Literal["each wager", "lowest wager", "highest wager"]
    minimum: Bound = None
    maximum: Bound = None
    below: Bound = None

    @model_validator(mode="after")
    def _says_something(self) -> _Limit:
        if self.minimum is self.maximum is self.below is None:
            raise ValueError(f"expected {', '.join(RELATIONS)}, or several of them; found none")
        return self


class Limits(BaseModel):
    """A limits file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    source: str = Field(min_length=1)
    checked: date
    progressive: Literal["reset"] | None = None
    limit: list[_Limit] = Field(min_length=1)


@dataclass(frozen=True)
class Comparison:
    """A payback beside a bound."""

    limits: str
    """name of the limits"""
    game: str
    """of the certificate"""
    label: str
    """its paytable, with the coin level where there are several"""
    coins: int
    """credits bet"""
    payback: Fraction
    """exact"""
    at: str
    """which wagers the bound is for"""
    relation: str
    """at least, at most or below"""
    bound: Fraction
    """exact"""

    @property
    def within(self) -> bool:
        """Whether the relation holds."""
        if self.relation == RELATIONS["minimum"]:
            return self.payback >= self.bound
        return self.payback <= self.bound if self.relation == RELATIONS["maximum"] else self.payback < self.bound

    def __str__(self) -> str:
        result = "yes" if self.within else "NO"
        return (
            f"{self.limits}, {self.at}: {self.relation} {self.bound}: {self.game}, {self.label}: "
            f"{self.payback} = {percent_down(self.payback)}% (rounded down): {result}"
        )

    def values(self) -> dict[str, Any]:
        """The comparison as plain values for JSON."""
        return {
            "limits": self.limits,
            "game": self.game,
            "paytable": self.label,
            "coins": self.coins,
            **exact("payback", self.payback),
            "payback_percent_rounded_down": percent_down(self.payback),
            "at": self.at,
            "relation": self.relation,
            "bound": str(self.bound),
            "within": self.within,
        }


def load_limits(name: str) -> Limits:
    """Limits by the path of their file, or by its name in configs/limits. Raises `ConfigError` with every fault.

    >>> load_limits("new-jersey").limit[0].minimum
    Fraction(83, 100)
    """
    homes = (FOLDER, Path(__file__).parent.parent / FOLDER)
    path = Path(name)
    if not path.suffix:
        path = next((home / f"{name}.toml" for home in homes if (home / f"{name}.toml").is_file()), path)
    try:
        return Limits.model_validate(tomllib.loads(path.read_text(encoding="utf-8"), parse_float=str))
    except OSError as problem:
        known = sorted({file.stem for home in homes for file in home.glob("*.toml")})
        there = f"there are {', '.join(known)}, or " if known else ""  # but where the package alone is installed
        hint = f"{problem.strerror or problem}; {there}give the path of a file"
        raise ConfigError([Fault(f"--limits {name}", "", hint)]) from None
    except ValidationError as problem:
        raise ConfigError(
            Fault(str(path), key_path(error["loc"]), error["msg"]) for error in problem.errors()
        ) from None
    except ValueError as problem:
        raise ConfigError([Fault(str(path), "", f"is not TOML: {problem}")]) from None


def compare(limits: Limits, certificates: Sequence[Certificate]) -> list[Comparison]:
    """Every payback beside every bound that is for its wager; wagers are the coin levels of a paytable."""
    wagers: dict[tuple[str, str], list[int]] = {}
    for content in certificates:
        wagers.setdefault((content["game"], content["paytable"]), []).append(content["coins"])
    found = []
    for content in certificates:
        levels = wagers[content["game"], content["paytable"]]
        meant = {"each wager"}
        meant |= {"lowest wager"} if content["coins"] == min(levels) else set()
        meant |= {"highest wager"} if content["coins"] == max(levels) else set()
        found += [
            Comparison(
                limits.name, content["game"], content["label"], content["coins"], Fraction(content["payback"]),
                limit.at, relation, bound,
            )
            for limit in limits.limit
            if limit.at in meant
            for key, relation in RELATIONS.items()
            if (bound := getattr(limit, key)) is not None
        ]  # fmt: skip
    return found
