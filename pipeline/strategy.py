"""Strategy tables: one row per canonical hand, as an Arrow table whose fields say their unit and meaning."""

from __future__ import annotations

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

Texts = tuple[NDArray[np.uint8], pa.Array]
"""`card_letters` of some hands, and their text"""


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
    deck = rules.deck
    most = draw_counts(deck, ordered)[0]
    card = pa.uint8() if deck.card_type is np.uint8 else pa.uint16()
    deals = pa.int32() if deal_count(deck, ordered) < 2**31 else pa.int64()
    draws = pa.int32() if most < 2**31 else pa.int64()
    value = pa.int64() if most * max(line_units(paytable)) < 2**63 else pa.string()
    won = "credits * pay denominator"
    names = [*(win.name for win in rules.wins), NOTHING]
    return (
        Column(
            "hand", pa.string(), "cards", "the hand from left to right" if ordered else "the canonical hand, ascending"
        ),
        *(Column(f"c{i}", card, "card number", f"card {i} of the hand") for i in range(1, 6)),
        *(_ORDER_COLUMNS if ordered else ()),
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
    """(n, 5) card numbers to (n, 5, longest name) UTF-8 bytes, zeros after the end of a name."""
    names = np.array([name.encode() for name in deck.names])
    return np.take(names.view(np.uint8).reshape(len(names), -1), hands, axis=0)


def card_texts(letters: NDArray[np.uint8], kept: NDArray[np.bool_]) -> pa.Array:
    """The text of the cards `kept`, (n, 5), of hands with these `card_letters`.

    >>> card_texts(card_letters(Deck(), np.array([[0, 5, 10, 15, 20]])), np.array([[1, 0, 1, 0, 0]], bool)).to_pylist()
    ['2c 4h']
    """
    count, cards, longest = letters.shape
    cells = np.zeros((count, cards, 1 + longest), np.uint8)
    cells[..., 0] = kept & (kept.cumsum(axis=1) > 1)  # a space before each card but the first
    cells[..., 0] *= ord(" ")
    np.multiply(letters, kept[..., None], out=cells[..., 1:])
    written = cells.reshape(count, -1) != 0
    ends = np.zeros(count + 1, np.int32)
    np.cumsum(np.count_nonzero(written, axis=1), out=ends[1:])
    return pa.StringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(cells.reshape(count, -1)[written]))


def hand_texts(deck: Deck, hands: NDArray[Any]) -> Texts:
    """The letters and the text of (n, 5) hands, for all paytables."""
    letters = card_letters(deck, hands)
    return letters, card_texts(letters, np.ones(letters.shape[:2], bool))


def strategy_table(rules: Rules, paytable: Paytable, block: Block, strategy: Strategy, texts: Texts) -> pa.Table:
    """The Arrow table of the rows of a block; `texts` are those of `hand_texts` for its hands."""
    letters, hand = texts
    held = (strategy.hold[:, None] >> np.arange(5, dtype=np.uint8) & 1).astype(bool)
    values: list[Any] = [hand, *block.hands.T]
    if block.arrangements is not None:
        values += [block.start + block.arrangements.hand, arrangement_sets(block.arrangements)]
    values += [block.weights, strategy.hold, card_texts(letters, held)]
    values += [strategy.ev_numerator, strategy.ev, strategy.optimal_holds, strategy.draws, *strategy.counts.T]
    if strategy.numerators is not None:
        values += list(strategy.numerators)
    wanted = columns(rules, paytable, strategy.numerators is not None, block.arrangements is not None)
    arrays = [
        value if isinstance(value, pa.Array) else arrow_array(value, column.type)
        for value, column in zip(values, wanted, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(wanted))


def arrangement_sets(rows: Arrangements) -> pa.Array:
    """For each row, the bit set of its arrangements in 30 hexadecimal digits."""
    digits = np.array([list(f"{byte:02x}".encode()) for byte in range(256)], np.uint8)[rows.sets]
    ends = np.arange(0, digits.size + 1, 30, dtype=np.int32)
    return pa.StringArray.from_buffers(len(rows.sets), pa.py_buffer(ends), pa.py_buffer(digits.tobytes()))


def arrow_schema(wanted: tuple[Column, ...]) -> pa.Schema:
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
