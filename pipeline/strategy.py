"""Strategy tables: one row per canonical hand, as an Arrow table whose fields say their unit and meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evaluator.cards import Deck
from evaluator.holds import Block, deal_count, draw_counts
from evaluator.ordered import Arrangements
from evaluator.payback import Strategy, line_units
from evaluator.rules import Paytable, Rules
from pipeline.faults import slug

NOTHING = "nothing"
HOLDS = 32

_CARDS_OF = (np.arange(HOLDS)[:, None] >> np.arange(5) & 1).astype(bool)
"""(32, 5): the cards that each mask holds"""
_DIGITS = np.array([list(f"{byte:02x}".encode()) for byte in range(256)], np.uint8)
"""(256, 2): the hexadecimal digits of each byte"""


class Column(NamedTuple):
    """A column of a table, as data."""

    name: str
    type: pa.DataType
    unit: str
    meaning: str


def columns(rules: Rules, paytable: Paytable, all_holds: bool = False, ordered: bool = False) -> tuple[Column, ...]:
    """The columns of a strategy table, in order; integers in the smallest type that the deck and the pays prove.

    Expected values that 64 bits are not proven to hold are text. Where order matters, a row is a class of arrangements.
    """
    return (*hand_columns(rules.deck, ordered), *play_columns(rules, paytable, all_holds, ordered))


def hand_columns(deck: Deck, ordered: bool = False) -> tuple[Column, ...]:
    """The first of them, which no paytable changes."""
    card = pa.uint8() if deck.card_type is np.uint8 else pa.uint16()
    deals = pa.int32() if deal_count(deck, ordered) < 2**31 else pa.int64()
    meaning = "the hand from left to right" if ordered else "the canonical hand, ascending"
    return (
        Column("hand", pa.string(), "cards", meaning),
        *(Column(f"c{i}", card, "card number", f"card {i} of the hand") for i in range(1, 6)),
        *(_ORDER_COLUMNS if ordered else ()),
        Column("weight", deals, "deals", "how many deals the hand stands for"),
    )


def play_columns(
    rules: Rules, paytable: Paytable, all_holds: bool = False, ordered: bool = False
) -> tuple[Column, ...]:
    """The others."""
    most = draw_counts(rules.deck, ordered)[0]
    draws = pa.int32() if most < 2**31 else pa.int64()
    value = pa.int64() if most * max(line_units(paytable)) < 2**63 else pa.string()
    won = "credits * pay denominator"
    names = [*(win.name for win in rules.wins), NOTHING]
    return (
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


_ORDER_COLUMNS = (
    Column("canonical", pa.int32(), "row", "number of the canonical hand that the cards of the row are"),
    Column(
        "arrangements",
        pa.string(),
        "set of arrangements, hexadecimal",
        "bit a set = the row stands for arrangement a (0 to 119, ascending) of the canonical hand",
    ),
)


def card_letters(deck: Deck, hands: NDArray[Any]) -> NDArray[np.uint8]:
    """(n, 5) card numbers to (n, 5, 1 + longest name) bytes: a space and the UTF-8 name, zeros after its end."""
    names = np.array([f" {name}".encode() for name in deck.names])
    return np.take(names.view(np.uint8).reshape(len(names), -1), hands, axis=0)


def card_texts(letters: NDArray[np.uint8], kept: NDArray[np.bool_]) -> pa.Array:
    """The text of the cards `kept`, (n, 5), of hands with these `card_letters`.

    >>> card_texts(card_letters(Deck(), np.array([[0, 5, 10, 15, 20]])), np.array([[1, 0, 1, 0, 0]], bool)).to_pylist()
    ['2c 4h']
    """
    count, cards, longest = letters.shape
    cells = letters.view(f"V{longest}").reshape(count, cards)[kept].view(np.uint8)
    written = cells != 0
    number = np.einsum("ij->i", kept, dtype=np.intp)  # many times faster than sum(axis=1)
    last = np.cumsum(number)
    written[(last - number)[number > 0] * longest] = False  # no space before the first card
    lengths = np.einsum("ij->i", written.reshape(-1, longest), dtype=np.int32)
    ends = np.append(np.int32(0), np.cumsum(lengths, dtype=np.int32))[np.append(0, last)]
    return pa.StringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(cells[written]))


def hand_table(rules: Rules, block: Block) -> pa.Table:
    """The first columns of the rows of a block, hand to weight: those that no paytable changes."""
    letters = card_letters(rules.deck, block.hands)
    values: list[Any] = [card_texts(letters, np.ones(letters.shape[:2], bool)), *block.hands.T]
    if block.arrangements is not None:
        values += [block.start + block.arrangements.hand, arrangement_sets(block.arrangements)]
    return _table(hand_columns(rules.deck, block.arrangements is not None), [*values, block.weights])


def strategy_table(
    rules: Rules, paytable: Paytable, hands: pa.Table, letters: NDArray[np.uint8], strategy: Strategy
) -> pa.Table:
    """The Arrow table of some rows, from their `hand_table`, their `card_letters` and their strategy."""
    held = _CARDS_OF[strategy.hold]
    values = [strategy.hold, card_texts(letters, held), strategy.ev_numerator, strategy.ev, strategy.optimal_holds]
    values += [strategy.draws, *strategy.counts.T, *(() if strategy.numerators is None else strategy.numerators)]
    ordered = len(hands.schema) > len(hand_columns(rules.deck))
    wanted = play_columns(rules, paytable, strategy.numerators is not None, ordered)
    played = _table(wanted, values)
    return pa.Table.from_arrays([*hands.columns, *played.columns], schema=pa.schema([*hands.schema, *played.schema]))


def _table(wanted: Sequence[Column], values: Sequence[Any]) -> pa.Table:
    arrays = [
        value if isinstance(value, pa.Array) else arrow_array(value, column.type)
        for value, column in zip(values, wanted, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(wanted))


def arrangement_sets(rows: Arrangements) -> pa.Array:
    """For each row, the bit set of its arrangements in 30 hexadecimal digits."""
    digits = _DIGITS[rows.sets]
    ends = np.arange(0, digits.size + 1, 30, dtype=np.int32)
    return pa.StringArray.from_buffers(len(rows.sets), pa.py_buffer(ends), pa.py_buffer(digits.tobytes()))


def arrow_schema(wanted: Sequence[Column]) -> pa.Schema:
    """The columns as an Arrow schema, with unit and meaning in the metadata of every field."""
    return pa.schema(
        pa.field(column.name, column.type, nullable=False, metadata={"unit": column.unit, "meaning": column.meaning})
        for column in wanted
    )


def arrow_array(values: Any, kind: pa.DataType) -> pa.Array:
    """Numbers or texts as an Arrow array of a type that they are known to fit.

    It is made from buffers, for `pa.array` imports pandas, which takes longer than certifying a game.

    >>> arrow_array([7, 11], pa.string()).to_pylist()
    ['7', '11']
    """
    if not pa.types.is_string(kind):
        plain = np.ascontiguousarray(values, dtype=kind.to_pandas_dtype())
        return pa.Array.from_buffers(kind, len(plain), [None, pa.py_buffer(plain)])
    texts = [str(value).encode() for value in values]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(texts)))
