"""A finished run, opened to be read: its plan, its certificates and its strategy tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from evaluator.rules import Paytable
from pipeline.certificate import Certificate
from pipeline.check_table import UNREADABLE, numbers
from pipeline.faults import ConfigError, Fault
from pipeline.location import Location, each
from pipeline.manifest import canonical_text
from pipeline.plan import Entry, Plan, part_path, read_plan
from pipeline.store import MANIFEST


@dataclass(frozen=True)
class Place:
    """One paytable of a run."""

    run: Location
    """the run directory"""
    entry: Entry
    """its game"""
    table: int
    """which of the game's paytables"""
    parts: int
    """part files of its strategy table"""

    @property
    def folder(self) -> str:
        """From the run directory: ``jacks-or-better/9-6``."""
        return self.entry.folders[self.table]

    @property
    def paytable(self) -> Paytable:
        """What it pays."""
        return self.entry.paytables[self.table]

    def certificate(self) -> Certificate:
        """Its certificate."""
        return Certificate(json.loads((self.run / self.folder / "certificate.json").read_text(encoding="utf-8")))

    def strategy(self, *columns: str) -> pa.Table:
        """Its strategy table, or some columns of it."""
        paths = [part_path(self.folder, part) for part in range(self.parts)]

        def read(path: Location) -> pa.Table:
            source = path if isinstance(path, Path) else pa.BufferReader(path.read_bytes())
            return pq.ParquetFile(source).read(list(columns) or None)

        return pa.concat_tables(each(self.run, read, paths))

    def holds(self) -> NDArray[np.uint8]:
        """(rows,): the chosen masks."""
        return numbers(self.strategy("hold"), "hold")


def open_run(run: Location) -> tuple[dict[str, Any], Plan, tuple[Place, ...]]:
    """The manifest of a run, its plan, and its paytables; raises `ConfigError` where it is no run that can be read."""
    try:
        manifest = json.loads((run / MANIFEST).read_text(encoding="utf-8"))
        described = {key: value for key, value in manifest.items() if key not in ("identity", "parts")}
        plan = read_plan(canonical_text(described))
    except FileNotFoundError:
        what = f"is not finished: it has no {MANIFEST}" if run.exists() else "is not there"
        raise ConfigError([Fault(str(run), "", what)]) from None
    except UNREADABLE as problem:
        raise ConfigError([Fault(str(run), MANIFEST, f"is no finished run of this version: {problem}")]) from None
    places = [
        Place(run, entry, table, plan.parts(number))
        for number, entry in enumerate(plan.entries)
        for table in range(len(entry.paytables))
    ]
    return manifest, plan, tuple(places)


def choose_place(places: tuple[Place, ...], name: str | None) -> Place:
    """The paytable of that folder or label, or the only one; raises `ConfigError`."""
    found = [p for p in places if name in (None, p.folder, p.folder.split("/")[1], p.paytable.label, p.paytable.name)]
    if len(found) != 1:
        known = ", ".join(place.folder for place in places)
        what = "there are several; name one:" if found else f"there is no {name!r}; there are"
        raise ConfigError([Fault(str(places[0].run) if places else "", "--table", f"{what} {known}")])
    return found[0]
