"""The explorer: a page for each game that answers for any five cards what each hold is worth, without a server.

The page carries how each canonical hand of five cards is classified, compressed: some kilobytes. T, the counts of all
hands of fewer cards, follows from it by the recurrence of `evaluator.holds`; the page's script computes it on loading
and compares its total with the one that is written here, then answers as `autohold hold` does.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import Deck
from evaluator.holds import Tables
from evaluator.ordered import Ordered
from evaluator.rules import Paytable
from pipeline.open_run import Place
from pipeline.report.notable import Hand, Notable, notable
from pipeline.report.pages import grouped, places, render, text_of
from pipeline.strategy import NOTHING
from pipeline.tasks import solved

MOST_BYTES = 4_000_000
"""of a page"""
MOST_CELLS = 40_000_000
"""canonical hands of four cards times cards: the largest table that the script builds, in 5 bytes each"""
MOST_FINAL_HANDS = 250_000
"""hands that depend on the order of cards; the script goes through them for every answer"""


def page(tables_of_game: Sequence[Place]) -> str:
    """The page of one game for these paytables, all of the same rules.

    It stands at ``<game>/explorer.html``, so the sheets are at ``<paytable>/par-sheet.html`` from it. Where the tables
    are too large for a page, it says so and what answers instead.
    """
    entry = tables_of_game[0].entry
    tables = solved(entry.rules).tables
    deck = entry.rules.deck
    values: dict[str, Any] = {
        "title": f"{entry.name}: explorer",
        "example": "".join(deck.names[card] for card in _example(deck)),
        "ordered": tables.ordered is not None,
        "rows": len(tables.outcomes),
        "kernel": text_of("holds.js"),
        "script": text_of("explorer.js"),
        "too_large": too_large(tables),
    }
    values["game"] = {} if values["too_large"] else _game(tables, tables_of_game)
    made = render("explorer.html", **values)
    if len(made.encode()) > MOST_BYTES:
        return render(
            "explorer.html", **values | {"too_large": _say(f"{grouped(len(made.encode()))} bytes"), "game": {}}
        )
    return made


def too_large(tables: Tables) -> str:
    """Why a page cannot answer for this game, for people; empty where it can."""
    if 5 * tables.deals >= 2**53:
        return _say("whose counts are not all below 2^53")
    if tables.classes.child[4].size > MOST_CELLS:
        return _say(f"of {grouped(len(tables.outcomes))} canonical hands")
    if tables.ordered is not None and (special := int(tables.ordered.containing[5].sum())) > MOST_FINAL_HANDS:
        return _say(f"with {grouped(special)} hands that depend on the order of the cards")
    return ""


def _say(what: str) -> str:
    return (
        f"This game is too large to be asked in a page: tables {what}. The command autohold hold answers for any hand."
    )


def _game(tables: Tables, chosen: Sequence[Place]) -> dict[str, Any]:
    """All that the script needs to know. Integers that may be large are text."""
    rules = chosen[0].entry.rules
    return {
        **_deck(rules.deck),
        "components": tables.classes.components,
        "wins": [*(win.name for win in rules.wins), NOTHING],
        "bonuses": [*(bonus.name for bonus in rules.bonuses), None],
        "counts": tables.counts[0][0].tolist(),
        "draws": tables.draws,
        "multipliers": list(map(str, tables.multipliers)),
        "factor": str(tables.cycle_factor),
        "tieBreak": chosen[0].certificate()["tie_break"],
        "ordered": None if tables.ordered is None else _patterns(tables.ordered),
        "packed": {
            "outcomes": _packed(tables.outcomes),
            "bonuses": _packed(tables.bonuses) if rules.bonuses else None,
            "finalHands": None if tables.ordered is None else _packed(_final_hands(tables.ordered, rules.deck)),
        },
        "paytables": [
            {**_paytable(place.paytable), "folder": place.folder.split("/")[1], "notable": _lists(place, hands)}
            for place, hands in zip(chosen, notable(tables, chosen), strict=True)
        ],
    }


def _deck(deck: Deck) -> dict[str, Any]:
    return {
        "kinds": deck.kinds,
        "faces": len(deck.faces),
        "copies": deck.copies.tolist(),
        "face": deck.face_of.tolist(),
        "suit": deck.suit_of.tolist(),
        "suits": len(deck.suits),
        "suitNames": deck.suits,
        "decks": deck.decks,
        "names": deck.names,
        "spellings": deck.spellings,
        "example": _example(deck),
    }


def _example(deck: Deck) -> list[int]:
    """Five cards as people may write them: AsKsQsJs2c."""
    suits, last = len(deck.suits), len(deck.faces) * len(deck.suits) - 1
    return [*(max(0, last - suits * i) for i in range(4)), 0]


def _paytable(table: Paytable) -> dict[str, Any]:
    def units(paid: Sequence[int] | None) -> list[str] | None:
        return None if paid is None else list(map(str, paid))

    return {
        "label": table.label,
        "coins": table.coins,
        "scale": str(table.scale),
        "units": units(table.units),
        "dealUnits": units(table.deal_units),
        "bonusUnits": units(table.bonus_units),
    }


def _lists(place: Place, hands: Notable) -> list[dict[str, Any]]:
    """The notable hands under their titles, with what is to be said of them."""
    certificate = place.certificate()
    tied, deals = certificate["tied_deals"], certificate["deals"]
    said = "Every deal has one best hold."
    if hands.ties:
        said = f"Several holds are exactly best in {grouped(tied)} of {grouped(deals)} deals; those worth most."
    costly = "Hands to draw to where even the next best hold costs most"
    return [
        {"title": title, "note": note, "hands": [hand for _, hand in found]}
        for title, note, found in (
            ("Ties", said, hands.ties),
            ("Closest calls", f"The next best hold costs least, {_range(hands.close)}.", hands.close),
            ("Costliest mistakes", f"{costly}, {_range(hands.costly)}.", hands.costly),
        )
    ]


def _range(costs: Sequence[tuple[Fraction, Hand]]) -> str:
    if not costs:
        return "but there are none"
    first, last = (places(cost, 6) for cost in (costs[0][0], costs[-1][0]))
    return f"{first} to {last} credits per credit bet"


# --- what is compressed -----------------------------------------------------------------------------------------------


def _packed(values: NDArray[Any]) -> str:
    """Bytes as base64 of a zlib stream, which says no time and no system."""
    return base64.b64encode(zlib.compress(values.tobytes(), 9)).decode()


def _patterns(ordered: Ordered) -> dict[str, Any]:
    """The changes, and for each pattern the placements of its five cards that make one: [placement, change]."""
    keeping = ordered.keeping[5].reshape(ordered.patterns, -1, len(ordered.changes))
    return {
        "changes": ordered.changes,
        "patterns": [np.argwhere(pattern).tolist() for pattern in keeping],
    }


def _final_hands(ordered: Ordered, deck: Deck) -> NDArray[Any]:
    """(n, 6) uint16, little-endian: the hands that depend on order, ascending cards, and their pattern.

    A hand's rank among all is the sum of C(card i, i + 1); its highest card is the greatest that fits.
    """
    ranks, patterns = np.nonzero(ordered.containing[5][:, :, 0])
    hands = np.empty((len(ranks), 6), "<u2")
    hands[:, 5] = patterns
    for place in reversed(range(5)):
        binomials = np.array([comb(card, place + 1) for card in range(deck.kinds)])
        hands[:, place] = np.searchsorted(binomials, ranks, side="right") - 1
        ranks = ranks - binomials[hands[:, place]]
    return hands
