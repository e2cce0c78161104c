"""Strategy tables: one row per canonical hand, as an Arrow table whose fields say their unit and meaning."""

from __future__ import annotations

from math import comb
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evaluator.holds import Tables
from evaluator.payback import Strategy
from evaluator.rules import Paytable, Rules
from pipeline.config import slug

NOTHING = "nothing"
HOLDS = 32


class Column(NamedTuple):
    """A column of a table, as data."""

    name: str
    type: pa.DataType
    unit: str
    meaning: str


def columns(rules: Rules, paytable: Paytable, all_holds: bool = False) -> tuple[Column, ...]:
    """The columns of a strategy table, in order; integers in the smallest type that the deck and the pays prove.

    Expected values that 64 bits are not proven to hold are text.
    """
    deck = rules.deck
    card = pa.uint8() if deck.card_type is np.uint8 else pa.uint16()
    deals = pa.int32() if deck.hands < 2**31 else pa.int64()
    draws = pa.int32() if comb(deck.size - 5, 5) < 2**31 else pa.int64()
    value = pa.int64() if comb(deck.size - 5, 5) * max(paytable.units) < 2**63 else pa.string()
    won = "credits * pay denominator"
    names = [*(win.name for win in rules.wins), NOTHING]
    return (
        Column("hand", pa.string(), "cards", "the canonical hand, cards ascending"),
        *(Column(f"c{i}", card, "card number", f"card {i} of the hand") for i in range(1, 6)),
        Column("weight", deals, "deals", "how many deals the hand stands for"),
        Column("hold", pa.uint8(), "mask", "the hold that the tie rule chooses: bit i set = card i + 1 is held"),
        Column("held", pa.string(), "cards", "the cards held"),
        Column("ev_numerator", value, won, f"won in all draws of the hold together; pay denominator {paytable.scale}"),
        Column("ev", pa.float64(), "credits per credit bet", "expected win of the hold, rounded to a float"),
        Column("optimal_holds", pa.uint32(), "set of masks", "bit m set = the hold with mask m is exactly optimal"),
        Column("draws", draws, "draws", "how many draws the hold has"),
        *(Column(f"n_{slug(name)}", draws, "draws", f"draws of the hold that end in {name}") for name in names),
        *(
            Column(f"ev_numerator_{mask:02d}", value, won, f"as ev_numerator, for the hold with mask {mask}")
            for mask in range(HOLDS if all_holds else 0)
        ),
    )


def hand_texts(tables: Tables, start: int, stop: int) -> tuple[pa.Array, list[pa.Array]]:
    """The text of the hands `start` to `stop`, and the texts of their first to fifth cards."""
    deck = tables.classes.deck
    names = pa.array(deck.names, pa.string())
    cards = [names.take(pa.array(column)) for column in tables.classes.hands[5][start:stop].T]
    return pc.binary_join_element_wise(*cards, " "), cards


def strategy_table(
    tables: Tables, rules: Rules, paytable: Paytable, strategy: Strategy, texts: tuple[pa.Array, list[pa.Array]]
) -> pa.Table:
    """The Arrow table of some rows; `texts` are those of `hand_texts` for the same rows."""
    start, stop = strategy.start, strategy.start + len(strategy.hold)
    hands = tables.classes.hands[5][start:stop]
    hand, cards = texts
    held = [
        pc.if_else(pa.array((strategy.hold >> i & 1).astype(bool)), pc.binary_join_element_wise(card, "", " "), "")
        for i, card in enumerate(cards)
    ]
    values: list[Any] = [hand, *hands.T, tables.classes.weights[start:stop], strategy.hold]
    values += [pc.ascii_rtrim_whitespace(pc.binary_join_element_wise(*held, ""))]
    values += [strategy.ev_numerator, strategy.ev, strategy.optimal_holds, strategy.draws, *strategy.counts.T]
    if strategy.numerators is not None:
        values += list(strategy.numerators)
    wanted = columns(rules, paytable, strategy.numerators is not None)
    arrays = [_array(value, column.type) for value, column in zip(values, wanted, strict=True)]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(wanted))


def arrow_schema(wanted: tuple[Column, ...]) -> pa.Schema:
    """The columns as an Arrow schema, with unit and meaning in the metadata of every field."""
    return pa.schema(
        pa.field(column.name, column.type, nullable=False, metadata={"unit": column.unit, "meaning": column.meaning})
        for column in wanted
    )


def _array(values: Any, kind: pa.DataType) -> pa.Array:
    """NumPy values or Arrow text as an Arrow array of this type; `columns` has proven that they fit."""
    if not isinstance(values, np.ndarray):
        return values
    if pa.types.is_string(kind):
        return pa.array([str(value) for value in values], kind)
    return pa.array(values.astype(kind.to_pandas_dtype()), kind)
