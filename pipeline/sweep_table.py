"""The results of a sweep: a Parquet file with a row for each paytable, and plain values for JSON."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.certificate import exact
from pipeline.faults import slug
from pipeline.location import Location, write_whole
from pipeline.manifest import FORMAT, canonical_text, software
from pipeline.plan import describe_paytable, describe_rules
from pipeline.store import RECEIPT, parquet_bytes
from pipeline.strategy import Column, arrow_array, arrow_schema
from pipeline.sweeps import FIGURES, Bound, Sweep
from pipeline.vary import Variation

if TYPE_CHECKING:
    import pandas as pd


def columns(variation: Variation) -> tuple[Column, ...]:
    """The columns of a sweep's Parquet file; exact values that may exceed 64 bits are text."""
    text, number, bet = pa.string(), pa.float64(), f"credits for {variation.base.coins} bet"
    found = [Column("paytable", text, "name", "the base paytable and what pays otherwise")]
    for wins in variation.wins:
        meaning = " and ".join(wins)
        found.append(Column(f"pay_{slug(wins[0])}", number, bet, f"won for {meaning}, rounded to a float"))
        found.append(Column(f"pay_{slug(wins[0])}_exact", text, bet, f"won for {meaning}, an integer or a fraction"))
    for name, unit, meaning in (
        ("payback", "credits per credit bet", "expected win under optimal play"),
        ("variance", "squared credits per credit bet", "of the win; ties by lowest-mask"),
        ("hit_frequency", "1", "probability of winning anything; ties by lowest-mask"),
    ):
        found.append(Column(f"{name}_numerator", text, "integer", f"{meaning}: numerator of the reduced fraction"))
        found.append(Column(f"{name}_denominator", text, "integer", f"{meaning}: its denominator"))
        found.append(Column(name, number, unit, f"{meaning}, rounded to a float"))
    return tuple(found)


def sweep_table(found: Sweep, some: NDArray[np.intp]) -> pa.Table:
    """Some paytables of a sweep, one row each."""
    wanted = columns(found.variation)
    # Each column is packed as it comes: a million fractions take many times the memory of their digits.
    arrays = [
        arrow_array(values, column.type) for values, column in zip(_column_values(found, some), wanted, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(wanted))


def sweep_frame(found: Sweep) -> pd.DataFrame:
    """All paytables of a sweep in pandas, with the columns of the Parquet file."""
    frame: pd.DataFrame = sweep_table(found, np.arange(len(found.places))).to_pandas()
    return frame


def _column_values(found: Sweep, some: NDArray[np.intp]) -> Iterator[list[Any]]:
    variation = found.variation
    places = found.places[some].tolist()
    yield [variation.name(place) for place in places]
    for axis, pays in enumerate(variation.values):
        exactly = [pays[place[axis]] for place in places]
        yield [float(pay) for pay in exactly]
        yield exactly
    for name in FIGURES:
        fractions = found.figure(name, some)
        yield [fraction.numerator for fraction in fractions]
        yield [fraction.denominator for fraction in fractions]
        yield [float(fraction) for fraction in fractions]


def write_sweep(path: Location, found: Sweep, some: NDArray[np.intp], bounds: dict[str, Bound]) -> None:
    """Write some paytables of a sweep as a Parquet file; its footer says what was swept and by which software."""
    variation = found.variation
    said = {
        "format": FORMAT,
        "software": software(),
        "game": variation.game.name,
        "rules": describe_rules(variation.game.rules),
        "base": describe_paytable(variation.base),
        "tie_break": "lowest-mask",
        "vary": described(variation),
        "relations": [[r.constant, *r.coefficients] for r in variation.family.relations],
        "bounds": {name: [None if side is None else str(side) for side in bound] for name, bound in bounds.items()},
        "cycle": str(found.cycle),
    }
    write_whole(path, parquet_bytes(sweep_table(found, some), {RECEIPT: canonical_text(said).encode()}))


def described(variation: Variation) -> list[dict[str, Any]]:
    """What varies, as plain values."""
    return [
        {"win": wins[0], "links": list(wins[1:]), "values": list(map(str, values))}
        for wins, values in zip(variation.wins, variation.values, strict=True)
    ]


def rows_json(found: Sweep, some: NDArray[np.intp]) -> list[dict[str, Any]]:
    """Some paytables as plain values: name, pays that vary, exact figures with decimals."""
    figures = found.fractions(some)
    rows = []
    for i, place in enumerate(found.places[some].tolist()):
        pays = {win: str(pay) for win, pay in found.variation.pays(place).items()}
        row: dict[str, Any] = {"paytable": found.variation.name(place), "pays": pays}
        rows.append(reduce(lambda a, b: a | b, (exact(name, values[i]) for name, values in figures.items()), row))
    return rows
