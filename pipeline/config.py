"""Game files: from TOML to rules and paytables, with every fault of a file at once."""

from __future__ import annotations

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
from pipeline.faults import ConfigError, Fault, key_path, slug, suggestion
from pipeline.paytables import Pays, parse_coins, parse_entry, paytables

Entry = Annotated[Any, BeforeValidator(parse_entry)]
M = TypeVar("M", bound=BaseModel)

RESERVED = ("report", "attestations")
"""folders of a run directory that are no games"""


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
    coins: Annotated[Any, BeforeValidator(parse_coins)] = 1
    no_win: Entry = Fraction(0)
    pays: Pays
    on_deal: Pays = {}
    deal_bonus: Pays = {}


class _Library(_Section):
    include: list[str] = []
    override: list[str] = []
    define: dict[str, str] = {}


class _Game(_Library):
    name: str = Field(min_length=1)
    deck: _Deck = _Deck()
    win: list[_Win] = Field(min_length=1, max_length=255)
    bonus: list[_Win] = Field(default=[], max_length=255)
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


# --- reading files ----------------------------------------------------------------------------------------------------


def load_game(path: str | Path) -> Game:
    """Read a game file. Raises `ConfigError` with every fault of it and of the files it includes.

    What only the cards can show, a win that never occurs or takes a value other than 0 or 1, is found when the rules
    are solved (`pipeline.solve_game`).
    """
    faults: list[Fault] = []
    game = _read_game(path, faults)
    rules = game.rules
    try:
        used = compile_rules(rules).used
        kept = tuple((head, text) for head, text in rules.definitions if head.split("(")[0].strip() in used)
        game = replace(game, rules=replace(rules, definitions=kept))
        if faults and all(win.when != handcode.NEVER for win in (*rules.wins, *rules.bonuses)):
            solve(rules)  # for what only the cards show, so that it is reported with the rest
    except Faults as problem:
        faults += formula_faults(game, problem.errors)
    except TooManyClasses as problem:
        faults.append(Fault(str(path), "deck", str(problem)))
    if faults:
        raise ConfigError(faults)
    return game


def read_game(path: str | Path) -> Game:
    """Read a game file, but no formula in it: the rules have all definitions of the files, in use or not.

    Raises `ConfigError` for all other faults.
    """
    faults: list[Fault] = []
    game = _read_game(path, faults)
    if faults:
        raise ConfigError(faults)
    return game


def _read_game(path: str | Path, faults: list[Fault]) -> Game:
    """The game of a file, as far as it can be told; raises `ConfigError` where that is nothing."""
    model = _read(Path(path), _Game, faults)
    if model is None:
        raise ConfigError(faults)
    definitions, homes = _definitions(Path(path), model, faults, ())
    deck = _deck(str(path), model.deck, faults)
    wins, bonuses = (
        tuple(_win(str(path), key, place, win, deck, faults) for place, win in enumerate(getattr(model, key)))
        for key in ("win", "bonus")
    )
    _check_names(str(path), model, faults)
    tables = tuple(
        table
        for name, section in model.paytable.items()
        for table in paytables(str(path), name, section, wins, bonuses, faults)
    )
    if deck is None:
        raise ConfigError(faults)
    rules = Rules(deck, tuple(definitions.items()), wins, bonuses)
    keys = {
        key_path([key, place, "when"]): key_path([key, place, "core" if win.code is None else "code"])
        for key in ("win", "bonus")
        for place, win in enumerate(getattr(model, key))
        if win.when is None
    }
    sources = {name: section.source for name, section in model.paytable.items()}
    return Game(model.name, str(path), rules, tables, sources, homes, keys)


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
            section[key] = 1
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
        message = f"unknown key; {suggestion(str(where[-1]), known)}"
    elif kind == "missing":
        message = "is missing"
    elif kind == "value_error":
        message = str(context["error"])
    elif kind.endswith("_type"):
        wanted = {"string": "text", "int": "an integer", "list": "a list", "dict": "a table", "model": "a table"}
        message = f"expected {wanted.get(kind.removesuffix('_type'), kind)}, found {found!r}"
    return Fault(file, key_path(where), message)


def _keys(model: type[BaseModel], where: Sequence[str | int]) -> list[str]:
    sections: dict[str, type[BaseModel]] = {"deck": _Deck, "win": _Win, "bonus": _Win, "paytable": _Paytable}
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


def _win(file: str, list_key: str, place: int, section: _Win, deck: Deck | None, faults: list[Fault]) -> Win:
    """The win; a hand code becomes the formula that it means. In its place stands `NEVER` where something is wrong."""
    code = section.model_dump(include={"code", "core", "major", "minor"}, exclude_none=True)
    ways = [key for key in ("when", "code", "core") if getattr(section, key) is not None]
    stray = [key for key in ("major", "minor") if key in code and "core" not in code]
    if len(ways) != 1:
        message = f"expected one of when, code and core; found {' and '.join(ways) or 'none'}"
        faults.append(Fault(file, key_path([list_key, place]), message))
    faults += [Fault(file, key_path([list_key, place, key]), "goes with core, which is missing") for key in stray]
    if len(ways) == 1 and section.when is not None:
        return Win(section.name, section.when)
    if len(ways) == 1 and not stray and deck is not None:
        try:
            return Win(section.name, handcode.meaning(deck, **code))
        except handcode.HandCodeError as problem:
            key = "deck" if problem.part == "deck" else key_path([list_key, place, problem.part])
            faults.append(Fault(file, key, problem.message))
    return Win(section.name, handcode.NEVER)


def _check_names(file: str, model: _Game, faults: list[Fault]) -> None:
    """Names that are used twice, or that would share a folder or a column."""
    if not model.paytable:
        faults.append(Fault(file, "paytable", "there is no paytable; expected at least one"))
    if slug(model.name) in RESERVED:
        faults.append(Fault(file, "name", f"{model.name!r} is the name of a folder of every run; choose another"))
    named = {key: [win.name for win in getattr(model, key)] for key in ("win", "bonus")}
    for key, names in {**named, "paytable": list(model.paytable)}.items():
        seen: dict[str, str] = {} if key == "paytable" else {"nothing": "nothing"}
        for place, name in enumerate(names):
            where: list[str | int] = [key, name] if key == "paytable" else [key, place, "name"]
            if (other := seen.get(slug(name))) is not None:
                faults.append(Fault(file, key_path(where), f"{name!r} and {other!r} are the same name in file names"))
            seen[slug(name)] = name
