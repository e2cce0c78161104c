"""A plan is a value: what a run computes, in which parts, and its identity. Carrying it out is something else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from evaluator.cards import Deck
from evaluator.holds import TIE_BREAKS
from evaluator.rules import Paytable, Progressive, Rules, Win
from pipeline.faults import ConfigError, Fault, slug
from pipeline.manifest import FORMAT, canonical_text, identity, software
from pipeline.store import MANIFEST

ROWS_PER_PART = 16_384
"""canonical hands in a part, unless the command says otherwise"""
MOST_LETTERS = 200
"""of a folder's name; file systems allow 255"""
MOST_SCALE = 10**100
"""least common denominator of the pays of a paytable; sums of its fourth powers can still be written as text"""
MOST_PARTS = 100_000
"""of a strategy table, for the numbers of their names to have five digits and their order to be that of their rows"""
TASK_CELLS = 1_000_000
"""rows times paytables that one task computes at most, unless one part has more: about two seconds"""
ORDER_COST = 8
"""how many times as much work a canonical hand is where order matters"""
TASK_FILES = 64
"""part files that one task makes at most, unless one part has more: schedulers keep the receipts of many tasks"""


@dataclass(frozen=True)
class Entry:
    """One game of a plan with its paytables."""

    name: str
    """of the game"""
    rules: Rules
    """deck, definitions in use and wins"""
    paytables: tuple[Paytable, ...]
    """at least one"""
    sources: tuple[str, ...]
    """for each paytable, where it is published or played; may be empty"""
    rows: int
    """canonical hands"""
    ordered: tuple[int, ...] = ()
    """the wins that depend on the order of the cards; with any, a hand has a row for each class of arrangements"""

    @cached_property
    def folders(self) -> tuple[str, ...]:
        """For each paytable, its folder in the run directory: ``jacks-or-better/9-6``."""
        return tuple(f"{slug(self.name)}/{slug(table.label)}" for table in self.paytables)


@dataclass(frozen=True)
class Task:
    """Some whole parts of one game, for all its paytables: what a worker is asked to do."""

    entry: int
    """which entry of the plan"""
    start: int
    """first part"""
    stop: int
    """part after the last"""


@dataclass(frozen=True)
class Plan:
    """All that decides the bytes of a run."""

    entries: tuple[Entry, ...]
    """the games"""
    tie_break: str = TIE_BREAKS[0]
    """which of several optimal holds is chosen"""
    rows_per_part: int = ROWS_PER_PART
    """canonical hands in a part"""
    all_holds: bool = False
    """whether strategy tables have the values of all 32 holds"""
    sensitivity: bool = False
    """whether certificates say what each pay does to the payback"""

    def __post_init__(self) -> None:
        if faults := list(self._faults()):
            raise ConfigError(faults)

    def _faults(self) -> Iterator[Fault]:
        """What cannot be written under these names, or not exactly."""
        sharing: dict[str, list[str]] = {}
        for entry in self.entries:
            sharing.setdefault(slug(entry.name), []).append(entry.name)
            for folder, table in zip(entry.folders, entry.paytables, strict=True):
                sharing.setdefault(folder, []).append(table.label)
        for folder, names in sharing.items():
            if len(names) > 1:
                shared = " and ".join(map(repr, names))
                yield Fault("", folder, f"{shared} share this folder; rename one or leave it out")
            if len(folder.rpartition("/")[2]) > MOST_LETTERS:
                most = f"the name of a folder has at most {MOST_LETTERS} letters"
                yield Fault("", folder, f"{most}; take a shorter name")
        parts = max(map(self.parts, range(len(self.entries))), default=0)
        if parts > MOST_PARTS:
            most = f"expected at most {MOST_PARTS:,} parts of a strategy table, found {parts:,}"
            yield Fault("", "--rows-per-part", f"{most}; take more rows in each")
        for entry in self.entries:
            for table in entry.paytables:
                if table.scale > MOST_SCALE:
                    most = f"the least common denominator of the pays has more than {len(str(MOST_SCALE)) - 1} digits"
                    yield Fault("", f"{entry.name}, {table.label}", f"{most}; round the pays to fewer places")

    @cached_property
    def description(self) -> dict[str, Any]:
        """The plan with its format and the versions that decide bytes, as plain values; `identity` is its digest."""
        return {
            "format": FORMAT,
            "software": software(),
            "tie_break": self.tie_break,
            "rows_per_part": self.rows_per_part,
            "all_holds": self.all_holds,
            "sensitivity": self.sensitivity,
            "games": [_describe(entry) for entry in self.entries],
        }

    @cached_property
    def identity(self) -> str:
        """SHA-256 of the description: equal identities mean equal bytes."""
        return identity(self.description)

    @property
    def text(self) -> str:
        """The description as canonical text, from which `read_plan` makes the plan again."""
        return canonical_text(self.description)

    def parts(self, entry: int) -> int:
        """How many parts an entry has."""
        return -(-self.entries[entry].rows // self.rows_per_part)

    def rows(self, entry: int, part: int) -> tuple[int, int]:
        """First row of a part and the row after its last.

            rows_per_part = 4, ten rows:   0 1 2 3 | 4 5 6 7 | 8 9
                                           part 0    part 1    part 2

        >>> Plan((Entry("", Rules(Deck(), (), ()), (), (), 10),), rows_per_part=4).rows(0, 2)
        (8, 10)
        """
        return part * self.rows_per_part, min((part + 1) * self.rows_per_part, self.entries[entry].rows)


def part_path(folder: str, part: int) -> str:
    """The file of a part, from the run directory: ``jacks-or-better/9-6/strategy/part-00000.parquet``."""
    return f"{folder}/strategy/part-{part:05d}.parquet"


def part_number(path: str) -> tuple[str, int]:
    """The folder of a paytable and the number of a part, from what `part_path` says.

    >>> part_number(part_path("jacks-or-better/9-6", 12))
    ('jacks-or-better/9-6', 12)
    """
    folder, _, name = path.rpartition("/strategy/")
    return folder, int(name.removeprefix("part-").removesuffix(".parquet"))


def tasks(plan: Plan, at_least: int = 1) -> list[Task]:
    """The plan cut into tasks, at least so many where there are parts enough, none larger than `TASK_CELLS`.

    How a plan is cut does not show in any byte of the run. A game is one task where that keeps everybody busy, so that
    few workers build its tables. The games with most work come first, so that at the end nobody waits long for others.
    """
    share = -(-at_least // len(plan.entries))
    work = [len(e.paytables) * (ORDER_COST if e.ordered else 1) for e in plan.entries]  # for each canonical hand
    cut = []
    for number in sorted(range(len(work)), key=lambda number: -work[number] * plan.entries[number].rows):
        parts = plan.parts(number)
        most = min(TASK_CELLS // (plan.rows_per_part * work[number]), TASK_FILES // len(plan.entries[number].paytables))
        size = max(1, min(parts // share, most))
        cut += [Task(number, start, min(start + size, parts)) for start in range(0, parts, size)]
    return cut


def single_parts(task: Task) -> list[Task]:
    """A task cut into those of one part each.

    >>> single_parts(Task(0, 3, 5))
    [Task(entry=0, start=3, stop=4), Task(entry=0, start=4, stop=5)]
    """
    return [Task(task.entry, part, part + 1) for part in range(task.start, task.stop)]


# --- plain values -----------------------------------------------------------------------------------------------------


def _describe(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "canonical_hands": entry.rows,
        "ordered": list(entry.ordered),
        "rules": describe_rules(entry.rules),
        "paytables": [
            {"source": source, **describe_paytable(table)}
            for table, source in zip(entry.paytables, entry.sources, strict=True)
        ],
    }


def describe_paytable(table: Paytable) -> dict[str, Any]:
    """A paytable as plain values; fractions are text."""
    meter = table.progressive
    return {
        "name": table.name,
        "coins": table.coins,
        "levels": table.levels,
        "pays": list(map(str, table.pays)),
        "on_deal": None if table.on_deal is None else list(map(str, table.on_deal)),
        "deal_bonus": list(map(str, table.bonuses)),
        "progressive": None if meter is None else [meter.win, str(meter.reset), str(meter.rate)],
    }


def _paytable(said: dict[str, Any]) -> Paytable:
    meter = said["progressive"]
    return Paytable(
        said["name"],
        said["coins"],
        tuple(map(Fraction, said["pays"])),
        None if said["on_deal"] is None else tuple(map(Fraction, said["on_deal"])),
        tuple(map(Fraction, said["deal_bonus"])),
        None if meter is None else Progressive(meter[0], Fraction(meter[1]), Fraction(meter[2])),
        said["levels"],
    )


def describe_rules(rules: Rules) -> dict[str, Any]:
    """Rules as plain values."""
    return {
        "deck": {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(rules.deck).items()},
        "define": [list(pair) for pair in rules.definitions],
        "win": [{"name": win.name, "when": win.when} for win in rules.wins],
        "bonus": [{"name": win.name, "when": win.when} for win in rules.bonuses],
    }


def read_plan(text: str) -> Plan:
    """The plan that `Plan.text` describes. The versions in it are not restored: compare identities."""
    data = json.loads(text)
    return Plan(
        tuple(_entry(game) for game in data["games"]),
        data["tie_break"],
        data["rows_per_part"],
        data["all_holds"],
        data["sensitivity"],
    )


def _entry(game: dict[str, Any]) -> Entry:
    deck: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in game["rules"]["deck"].items()
    }
    rules = Rules(
        Deck(**deck),
        tuple((head, text) for head, text in game["rules"]["define"]),
        *(tuple(Win(win["name"], win["when"]) for win in game["rules"][key]) for key in ("win", "bonus")),
    )
    tables = tuple(map(_paytable, game["paytables"]))
    sources = tuple(table["source"] for table in game["paytables"])
    return Entry(game["name"], rules, tables, sources, game["canonical_hands"], tuple(game["ordered"]))


def run_files(plan: Plan) -> Iterator[str]:
    """Every file of the finished run that SHA256SUMS lists, from the run directory, ascending."""
    folders = {f"{folder}/": number for number, entry in enumerate(plan.entries) for folder in entry.folders}
    for name in sorted([MANIFEST, *folders]):
        if name == MANIFEST:
            yield name
            continue
        yield f"{name}certificate.json"
        for part in range(plan.parts(folders[name])):
            yield part_path(name[:-1], part)
        yield f"{name}wins.parquet"


def count_parts(plan: Plan, some: Iterable[Task] | None = None) -> int:
    """Part files of some tasks, or of the whole plan."""
    if some is None:
        return sum(plan.parts(number) * len(entry.paytables) for number, entry in enumerate(plan.entries))
    return sum((task.stop - task.start) * len(plan.entries[task.entry].paytables) for task in some)
