"""Game files: from TOML to rules and paytables, with every fault of a file at once."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from evaluator import handcode
from evaluator.cards import STANDARD_FACES, STANDARD_SUITS, CardError, Deck
from evaluator.language import DefinitionError
from evaluator.rules import Faults, Paytable, Rules, Win, compile_rules
from evaluator.solve import solve
from evaluator.symmetry import TooManyClasses

M = TypeVar("M", bound=BaseModel)

RESERVED = ("report", "attestations")
"""folders of a run directory that are no games"""
MAX_PAY = 10**12
"""credits; no paytable in the world comes near"""


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


def parse_pay(value: object) -> Fraction:
    """A pay from an integer, a decimal, or text like "6/5"; exact. Raises ValueError.

    >>> parse_pay("6/5"), parse_pay(Decimal("0.8333")), parse_pay(25)
    (Fraction(6, 5), Fraction(8333, 10000), Fraction(25, 1))
    """
    text = str(value).strip()
    if isinstance(value, bool) or not re.fullmatch(r"-?\d{1,20}(\.\d{1,20}|/\d{1,20})?", text, re.ASCII):
        raise ValueError(f"expected a number or a fraction like '6/5', found {value!r}")
    if text.partition("/")[2].strip("0") == "" and "/" in text:
        raise ValueError(f"the denominator of {text!r} is zero")
    pay = Fraction(text)
    if not 0 <= pay <= MAX_PAY:
        raise ValueError(f"expected a pay from 0 to {MAX_PAY}, found {text}")
    return pay


Pay = Annotated[Fraction, BeforeValidator(parse_pay)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, arbitrary_types_allowed=True)


class _Deck(_Section):
    faces: list[str] = Field(default=list(STANDARD_FACES))
    suits: list[str] = Field(default=list(STANDARD_SUITS))
    decks: int = 1
    jokers: int = 0
    extra: list[str] = []


class _Win(_Section):
    name: str = Field(min_length=1)
    when: str | None = None
    code: int | None = None
    core: str | None = None
    major: Any = None
    minor: Any = None


class _Paytable(_Section):
    source: str = ""
    coins: int = Field(default=1, ge=1, le=1_000_000)
    no_win: Pay = Fraction(0)
    pays: dict[str, Pay]


class _Library(_Section):
    include: list[str] = []
    override: list[str] = []
    define: dict[str, str] = {}


class _Game(_Library):
    name: str = Field(min_length=1)
    deck: _Deck = _Deck()
    win: list[_Win] = Field(min_length=1, max_length=255)
    paytable: dict[str, _Paytable] = {}


@dataclass(frozen=True)
class Game:
    """A game file, read and checked."""

    name: str
    """as people call it"""
    file: str
    """path as given"""
    rules: Rules
    """deck, the definitions that the wins use, and the wins"""
    paytables: tuple[Paytable, ...]
    """in the order of the file"""
    sources: Mapping[str, str]
    """paytable name -> where it is published or played"""
    homes: Mapping[str, str] = field(default_factory=dict, compare=False)
    """definition head -> the file that it stands in"""
    keys: Mapping[str, str] = field(default_factory=dict, compare=False)
    """where a formula would stand -> the key of the hand code that stands there instead"""

    @property
    def slug(self) -> str:
        """The name as a folder: ``jacks-or-better``."""
        return slug(self.name)

    def source(self, paytable: str) -> str:
        """Where a paytable is published, also one whose pays and name `with_pays` has changed; may be empty."""
        names = [name for name in self.sources if paytable == name or paytable.startswith(name + ", ")]
        return self.sources[max(names, key=len)] if names else ""


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


# --- reading files ----------------------------------------------------------------------------------------------------


def load_game(path: str | Path) -> Game:
    """Read a game file. Raises `ConfigError` with every fault of it and of the files it includes.

    What only the cards can show, a win that never occurs or takes a value other than 0 or 1, is found when the rules
    are solved (`pipeline.solve_game`).
    """
    faults: list[Fault] = []
    model = _read(Path(path), _Game, faults)
    if model is None:
        raise ConfigError(faults)
    definitions, homes = _definitions(Path(path), model, faults, ())
    deck = _deck(str(path), model.deck, faults)
    wins = tuple(_win(str(path), place, win, deck, faults) for place, win in enumerate(model.win))
    _check_names(str(path), model, faults)
    paytables = tuple(
        table
        for name, section in model.paytable.items()
        if (table := _paytable(str(path), name, section, wins, faults))
    )
    if deck is None:
        raise ConfigError(faults)
    rules = Rules(deck, tuple(definitions.items()), wins)
    keys = {
        key_path(["win", place, "when"]): key_path(["win", place, "core" if win.code is None else "code"])
        for place, win in enumerate(model.win)
        if win.when is None
    }
    sources = {name: section.source for name, section in model.paytable.items()}
    game = Game(model.name, str(path), rules, paytables, sources, homes, keys)
    try:
        used = compile_rules(rules).used
        kept = tuple((head, text) for head, text in rules.definitions if head.split("(")[0].strip() in used)
        game = replace(game, rules=replace(rules, definitions=kept))
        if faults and all(win.when != handcode.NEVER for win in wins):
            solve(rules)  # for what only the cards show, so that it is reported with the rest
    except Faults as problem:
        faults += formula_faults(game, problem.errors)
    except TooManyClasses as problem:
        faults.append(Fault(str(path), "deck", str(problem)))
    if faults:
        raise ConfigError(faults)
    return game


def formula_faults(game: Game, errors: Iterable[DefinitionError]) -> list[Fault]:
    """Errors of a game's formulas, with the file that each formula stands in."""
    faults = []
    for error in errors:
        home = game.homes.get(error.where.removeprefix("define."), game.file)
        key, error_text = (
            game.keys.get(error.where, error.where),
            DefinitionError(error.message, "", error.text, error.line, error.column, error.hint),
        )
        if error.where.startswith("define."):
            key = key_path(["define", error.where.removeprefix("define.")])
        faults.append(Fault(home, key, str(error_text)))
    return faults


def _read(path: Path, model: type[M], faults: list[Fault]) -> M | None:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"), parse_float=_decimal)
    except OSError as problem:
        faults.append(Fault(str(path), "", f"cannot be read: {problem.strerror or problem}"))
    except (ValueError, RecursionError) as problem:  # not TOML, not UTF-8, or an integer of thousands of digits
        faults.append(Fault(str(path), "", f"is not TOML: {problem}"))
    else:
        return _validate(path, model, data, faults)
    return None


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except ArithmeticError:
        raise ValueError(f"{text!r} is out of all bounds") from None


def _validate(path: Path, model: type[M], data: dict[str, Any], faults: list[Fault]) -> M | None:
    """The file as a model. Unknown keys and wrong pays become faults and are put aside, for the rest to be checked."""
    try:
        return model.model_validate(data)
    except ValidationError as problem:
        errors = problem.errors()
    faults += [_schema_fault(str(path), error, model) for error in errors]
    for error in errors:
        *outer, key = error["loc"]
        section: Any = data
        for part in outer:
            section = section[part]
        if error["type"] == "extra_forbidden":
            del section[key]
        elif error["type"] == "value_error":
            section[key] = 0
    try:
        return model.model_validate(data)
    except ValidationError:
        return None


def _schema_fault(file: str, error: Any, model: type[BaseModel]) -> Fault:
    """pydantic's finding in our words."""
    where, kind, context = list(error["loc"]), error["type"], error.get("ctx", {})
    found = error.get("input")
    message = error["msg"]
    if kind == "extra_forbidden":
        known = _keys(model, where[:-1])
        close = difflib.get_close_matches(str(where[-1]), known, 1)
        message = "unknown key; " + (f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}")
    elif kind == "missing":
        message = "is missing"
    elif kind == "value_error":
        message = str(context["error"])
    elif kind.endswith("_type"):
        wanted = {"string": "text", "int": "an integer", "list": "a list", "dict": "a table", "model": "a table"}
        message = f"expected {wanted.get(kind.removesuffix('_type'), kind)}, found {found!r}"
    return Fault(file, key_path(where), message)


def _keys(model: type[BaseModel], where: Sequence[str | int]) -> list[str]:
    sections: dict[str, type[BaseModel]] = {"deck": _Deck, "win": _Win, "paytable": _Paytable}
    return list((sections[str(where[0])] if where and where[0] in sections else model).model_fields)


def _definitions(
    path: Path, library: _Library, faults: list[Fault], chain: tuple[Path, ...]
) -> tuple[dict[str, str], dict[str, str]]:
    """Head -> formula and head -> file, of a file and all that it includes, with its own entries where it says so."""
    texts: dict[str, str] = {}
    homes: dict[str, str] = {}
    for entry in library.include:
        target = path.parent / entry
        if not target.is_file():
            faults.append(Fault(str(path), "include", f"there is no file {entry!r}"))
        elif target.resolve() in [path.resolve(), *chain]:
            faults.append(Fault(str(path), "include", f"{entry!r} includes itself through this file"))
        elif (included := _read(target, _Library, faults)) is not None:
            more, more_homes = _definitions(target, included, faults, (*chain, path.resolve()))
            for head, text in more.items():
                other = _same_name(texts, head)
                if other and (texts[other] != text or other != head):
                    faults.append(Fault(str(path), "include", f"{head!r} is defined in {homes[other]} and {entry}"))
                texts[head], homes[head] = text, more_homes[head]
    missing = [name for name in library.override if not _same_name(texts, name)]
    faults += [Fault(str(path), "override", f"{name!r} is in no included file") for name in missing]
    for head, text in library.define.items():
        other = _same_name(texts, head)
        if other and _name(head) not in library.override:
            hint = f'add it to the list `override` at the top: override = ["{_name(head)}"]'
            faults.append(Fault(str(path), key_path(["define", head]), f"is already defined in {homes[other]}; {hint}"))
        if other:
            del texts[other]
        texts[head], homes[head] = text, str(path)
    unused = [name for name in library.override if not _same_name(library.define, name)]
    faults += [Fault(str(path), "override", f"{name!r} is not defined in this file") for name in unused]
    return texts, homes


def _name(head: str) -> str:
    return head.split("(")[0].strip()


def _same_name(heads: Iterable[str], head: str) -> str | None:
    return next((other for other in heads if _name(other) == _name(head)), None)


# --- what a file means ------------------------------------------------------------------------------------------------


def _deck(file: str, section: _Deck, faults: list[Fault]) -> Deck | None:
    try:
        return Deck(tuple(section.faces), tuple(section.suits), section.decks, section.jokers, tuple(section.extra))
    except CardError as problem:
        faults += [Fault(file, "deck", message) for message in re.split(r"; (?!found )", str(problem))]
    return None


def _win(file: str, place: int, section: _Win, deck: Deck | None, faults: list[Fault]) -> Win:
    """The win; a hand code becomes the formula that it means. In its place stands `NEVER` where something is wrong."""
    code = section.model_dump(include={"code", "core", "major", "minor"}, exclude_none=True)
    ways = [key for key in ("when", "code", "core") if getattr(section, key) is not None]
    stray = [key for key in ("major", "minor") if key in code and "core" not in code]
    if len(ways) != 1:
        message = f"expected one of when, code and core; found {' and '.join(ways) or 'none'}"
        faults.append(Fault(file, key_path(["win", place]), message))
    faults += [Fault(file, key_path(["win", place, key]), "goes with core, which is missing") for key in stray]
    if len(ways) == 1 and section.when is not None:
        return Win(section.name, section.when)
    if len(ways) == 1 and not stray and deck is not None:
        try:
            return Win(section.name, handcode.meaning(deck, **code))
        except handcode.HandCodeError as problem:
            key = "deck" if problem.part == "deck" else key_path(["win", place, problem.part])
            faults.append(Fault(file, key, problem.message))
    return Win(section.name, handcode.NEVER)


def _check_names(file: str, model: _Game, faults: list[Fault]) -> None:
    """Names that are used twice, or that would share a folder or a column."""
    if not model.paytable:
        faults.append(Fault(file, "paytable", "there is no paytable; expected at least one"))
    if slug(model.name) in RESERVED:
        faults.append(Fault(file, "name", f"{model.name!r} is the name of a folder of every run; choose another"))
    for key, names in (("win", [win.name for win in model.win]), ("paytable", list(model.paytable))):
        seen: dict[str, str] = {"nothing": "nothing"} if key == "win" else {}
        for place, name in enumerate(names):
            where: list[str | int] = [key, place, "name"] if key == "win" else [key, name]
            if (other := seen.get(slug(name))) is not None:
                faults.append(Fault(file, key_path(where), f"{name!r} and {other!r} are the same name in file names"))
            seen[slug(name)] = name


def _paytable(file: str, name: str, section: _Paytable, wins: Sequence[Win], faults: list[Fault]) -> Paytable | None:
    names = [win.name for win in wins]
    before = len(faults)
    for missing in [win for win in names if win not in section.pays]:
        faults.append(Fault(file, key_path(["paytable", name, "pays"]), f"the pay of {missing!r} is missing"))
    for unknown in [win for win in section.pays if win not in names]:
        close = difflib.get_close_matches(unknown, names, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"the wins are {', '.join(names)}"
        faults.append(Fault(file, key_path(["paytable", name, "pays", unknown]), f"there is no such win; {hint}"))
    if len(faults) > before:
        return None
    return Paytable(name, section.coins, (*(section.pays[win] for win in names), section.no_win))


def with_pays(game: Game, paytable: Paytable, changes: Mapping[str, Fraction]) -> Paytable:
    """The paytable with some pays changed and named after the changes; raises `ConfigError` for unknown wins.

    The name of 9/6 with another royal is "9/6, royal flush=4880".
    """
    names = [win.name for win in game.rules.wins]
    unknown = [name for name in changes if name not in names]
    if unknown:
        raise ConfigError(
            Fault("--pay", name, f"there is no such win in {game.file}; the wins are {', '.join(names)}")
            for name in unknown
        )
    pays = tuple(changes.get(name, pay) for name, pay in zip([*names, ""], paytable.pays, strict=True))
    label = ", ".join([paytable.name] + [f"{name}={pay}" for name, pay in changes.items()])
    return Paytable(label, paytable.coins, pays)
