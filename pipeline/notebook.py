"""What notebooks show of runs and certificates, and strategy tables filtered by the cards held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from evaluator.cards import ALIASES, JOKER

if TYPE_CHECKING:
    import pandas as pd

ANY = "?"
_RIGHT = ' style="text-align: right"'


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An HTML table; everything is escaped, the columns after the first are set to the right."""

    def row(tag: str, cells: Sequence[str]) -> str:
        shown = (f"<{tag}{_RIGHT * (i > 0)}>{escape(cell)}</{tag}>" for i, cell in enumerate(cells))
        return f"<tr>{''.join(shown)}</tr>"

    body = "".join(row("td", cells) for cells in rows)
    return (
        f'<table><caption style="text-align: left">{escape(caption)}</caption>'
        f"<thead>{row('th', heads)}</thead><tbody>{body}</tbody></table>"
    )


def _percent(value: str, places: int) -> str:
    return f"{float(Fraction(value)) * 100:.{places}f} %"


def certificate_html(content: Mapping[str, Any]) -> str:
    """A certificate as a table of its wins, with the figures of all of them in the caption."""
    caption = (
        f"{content['game']}, {content['label']}: payback {content['payback_decimal']} = {content['payback']}, "
        f"hit frequency {_percent(content['hit_frequency'], 3)}, variance {float(Fraction(content['variance'])):.6f}, "
        f"{int(content['tied_deals']):,} tied deals"
    )
    rows = [
        [
            win["name"] if win["on"] == "draw" else f"{win['name']} ({win['on']})",
            win["pays"],
            f"{int(win['combinations']):,}",
            _percent(win["probability"], 6),
            f"{float(Fraction(win['contribution'])):.9f}",
        ]
        for win in content["wins"]
    ]
    return _table(caption, ("win", "pays", "combinations", "probability", "contribution"), rows)


def run_html(path: str, certificates: Sequence[Mapping[str, Any]]) -> str:
    """A run as a table of its paytables."""
    rows = [
        [
            f"{content['game']}, {content['label']}",
            content["payback_decimal"],
            _percent(content["hit_frequency"], 3),
            f"{float(Fraction(content['variance'])):.3f}",
            f"{int(content['tied_deals']):,}",
        ]
        for content in certificates
    ]
    return _table(path, ("game, paytable", "payback", "hit frequency", "variance", "tied deals"), rows)


# --- filtering by held cards ------------------------------------------------------------------------------------------


def held(frame: pd.DataFrame, cards: str, exact: bool = False) -> pd.DataFrame:
    """The rows of a strategy table in which just these cards are held; of any table with a column `held`.

    A row stands for deals in other suits as well, so suits say only which cards are alike: `As Ks` is an ace and a king
    of one suit, `As Kh` of two suits, `A K` of any; `?` is any face, so `?s ?s ?s ?s` is four cards of one suit; no
    cards are nothing. With `exact`, suits are those of the table, for games that tell them apart. Raises `ValueError`
    for what is no card of the table.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"held": ["Kc Ac", "Kc Ad", "Qc Kc", "", "3c Kc Ac"]})
    >>> held(frame, "As Ks").index.tolist(), held(frame, "Kh As").index.tolist(), held(frame, "A K").index.tolist()
    ([0], [1], [0, 1])
    >>> held(frame, "?s ?s").index.tolist(), held(frame, "").index.tolist()
    ([0, 2], [3])
    >>> held(frame, "Ac Kc", exact=True).index.tolist(), held(frame, "As Ks", exact=True).index.tolist()
    ([0], [])
    """
    texts = frame["held"].unique().tolist()
    names = {name for column in ("held", "hand") if column in frame for text in frame[column] for name in text.split()}
    faces = {_split(name)[0] for name in names}
    pattern = [_token(token, faces) for token in cards.split()]
    fitting = {text for text in texts if _fits(pattern, [_split(name) for name in text.split()], exact)}
    return frame[frame["held"].isin(fitting)]


def _split(name: str) -> tuple[str, str]:
    """Face and suit of a card's name; a joker has no suit."""
    return (JOKER, "*") if name.casefold() == JOKER else (name[:-1].upper(), name[-1].lower())


def _token(token: str, faces: set[str]) -> tuple[str, str]:
    """Face and suit of a card of a pattern; the suit is empty where any will do."""
    if token == ANY or _face(token, faces) in faces:
        return _face(token, faces), ""
    said, suit = _split(token)
    face = _face(said, faces)
    if face not in faces | {ANY}:
        raise ValueError(
            f"{token!r} is no card of this table: expected a face, alone or with a suit, or {ANY} as any face; "
            f"the faces held or dealt are {', '.join(sorted(faces))}"
        )
    return face, ALIASES.get(suit, suit)


def _face(said: str, faces: set[str]) -> str:
    """The face by its name in the table, where that has another: T for 10."""
    return said.upper() if said.upper() in faces else ALIASES.get(said.casefold(), said)


def _fits(
    pattern: Sequence[tuple[str, str]], cards: Sequence[tuple[str, str]], exact: bool,
    suits: tuple[tuple[str, str], ...] = (),
) -> bool:  # fmt: skip
    """Whether the cards can be matched one to one; `suits` are those of the pattern and the cards they stand for."""
    if len(pattern) != len(cards):
        return False
    if not pattern:
        return True
    (face, suit), *rest = pattern
    for i, (card_face, card_suit) in enumerate(cards):
        if face not in (card_face, ANY) or not _suit_fits(suit, card_suit, exact, suits):
            continue
        known = (*suits, (suit, card_suit)) if suit else suits
        if _fits(rest, [*cards[:i], *cards[i + 1 :]], exact, known):
            return True
    return False


def _suit_fits(suit: str, card_suit: str, exact: bool, suits: Sequence[tuple[str, str]]) -> bool:
    if not suit:
        return True
    if exact or "*" in (suit, card_suit):
        return suit == card_suit
    return all((said == suit) == (meant == card_suit) for said, meant in suits)
