"""The Python interface: load a game, certify it, ask for the holds of a hand, read and search strategy tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evaluator.cards import format_cards, parse_hand
from evaluator.holds import HELD, hold_block, hold_values, lowest_hold, optimal_holds
from evaluator.ordered import ARRANGEMENTS, arrangement_number
from evaluator.rules import Faults, Paytable
from evaluator.solve import Solved
from evaluator.symmetry import TooManyClasses, locate
from pipeline.config import Game, formula_faults, load_game
from pipeline.execute import Executor, Serial
from pipeline.faults import ConfigError, Fault, slug
from pipeline.location import Location, Remote, location
from pipeline.open_run import choose_place, open_run
from pipeline.plan import ROWS_PER_PART
from pipeline.run import Run, make_plan
from pipeline.run import certify as carry_out
from pipeline.sensitivities import PaySensitivity, pay_sensitivities
from pipeline.strategy import NOTHING
from pipeline.tasks import solved

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "Hold",
    "HoldTable",
    "certify",
    "choose_paytables",
    "holds",
    "load_game",
    "look_up",
    "read_strategy",
    "sensitivity",
]


def sensitivity(game: Game, paytable: str | None = None) -> tuple[PaySensitivity, ...]:
    """Every pay of a paytable, in the order of the certificate; `paytable` can be left out where the game has one.

    Raises `ConfigError` for a wrong game or paytable.

    >>> royal = sensitivity(load_game("configs/jacks-or-better.toml"), "9/6")[0]
    >>> [str(pay) for pay in (royal.optimal_from, royal.pay, royal.optimal_to)]
    ['789', '800', '801']
    >>> royal.above.hand, royal.above.before, royal.above.after
    ('2c Tc Td Jc Ac', '2c Tc Jc Ac', 'Tc Jc Ac')
    """
    return pay_sensitivities(solve_game(game), one_paytable(game, paytable))


def solve_game(game: Game) -> Solved:
    """The tables of a game; raises `ConfigError` with the faults that only the cards show."""
    try:
        return solved(game.rules)
    except Faults as problem:
        raise ConfigError(formula_faults(game, problem.errors)) from None
    except TooManyClasses as problem:
        raise ConfigError([Fault(game.file, "deck", str(problem))]) from None


def choose_paytables(game: Game, names: Sequence[str] = ()) -> Game:
    """The game with only the named paytables, in the order of the file; all of them where none is named.

    Raises `ConfigError` for names that the file does not have.
    """
    known = list(dict.fromkeys(name for table in game.paytables for name in (table.name, table.label)))
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigError(
            Fault(game.file, "paytable", f"there is no {name!r}; there are {', '.join(known)}") for name in unknown
        )
    return replace(game, paytables=tuple(t for t in game.paytables if not names or {t.name, t.label} & {*names}))


def certify(
    games: Iterable[Game | str | Path],
    out: str | Location,
    *,
    paytables: Sequence[str] = (),
    tie_break: str = "lowest-mask",
    rows_per_part: int = ROWS_PER_PART,
    all_holds: bool = False,
    sensitivities: bool = False,
    resume: bool = False,
    executor: Callable[[], AbstractContextManager[Executor]] = lambda: nullcontext(Serial()),
) -> Run:
    """Certify games into the run directory `out`, and return the run with its certificates.

    `all_holds` stores the values of all 32 holds, `sensitivities` what each pay does to the payback.
    `executor` makes the context in which tasks run; by default they run one after the other in this process, and
    ``lambda: pipeline.cluster.local_cluster(2)`` runs them on two local workers. Raises `ConfigError` for wrong games,
    `pipeline.run.Refused` for a directory that holds something else, `Incomplete` where the run can be resumed.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = certify(["configs/jacks-or-better.toml"], folder + "/run", paytables=["9/6"])
    >>> run.certificates[0]["payback"]
    '1653526326983/1661102543100'
    """
    loaded = [game if isinstance(game, Game) else load_game(game) for game in games]
    chosen = [choose_paytables(game, paytables) for game in loaded]
    plan = make_plan(chosen, tie_break, rows_per_part, all_holds, sensitivities)
    return carry_out(chosen, location(out), executor, plan, resume)


@dataclass(frozen=True)
class Hold:
    """One way to hold a dealt hand."""

    mask: int
    """bit i set = card i + 1 of the hand as given is held"""
    held: str
    """the cards held; empty for none"""
    draws: int
    """how many draws there are"""
    won: Fraction
    """credits won in all draws together, per credit bet"""
    ev: Fraction
    """expected credits won per credit bet: won / draws"""
    optimal: bool
    """whether no hold is better"""
    chosen: bool
    """whether the tie rule lowest-mask takes it"""
    counts: dict[str, int]
    """draws that end in each win, and in nothing"""


@dataclass(frozen=True)
class HoldTable:
    """All holds of a dealt hand."""

    hand: str
    """the hand as given"""
    win: str
    """what it is as dealt"""
    holds: tuple[Hold, ...]
    """best first; equal ones by the mask of the canonical hand, so that the chosen one is the first"""


def holds(game: Game, hand: str, paytable: str | None = None) -> HoldTable:
    """The exact value of every hold of a hand, best first.

    `paytable` can be left out where the game has one. Raises `ConfigError` for a wrong game or paytable, `CardError`
    for a hand that is not five cards of the deck. Holds of equal cards (several decks) are one hold.

    >>> game = load_game("configs/jacks-or-better.toml")
    >>> best = holds(game, "Th Jh Qh Kh 8h", "9/6").holds[0]
    >>> best.held, best.ev
    ('Th Jh Qh Kh', Fraction(919, 47))
    """
    table = one_paytable(game, paytable)
    cards = parse_hand(game.rules.deck, hand)
    tables = solve_game(game).tables
    canonical, places = locate(tables.classes, np.array([cards]))
    block = hold_block(tables, int(canonical[0]), int(canonical[0]) + 1)
    row, place_of = 0, places[0]  # place_of[i]: where card i of the hand as given stands in the row's hand
    if block.arrangements is not None:
        row = int(block.arrangements.member[0, arrangement_number(places[0])])
        place_of = np.argsort(ARRANGEMENTS[block.arrangements.first[row]])[places[0]]
    values = hold_values(tables, block, table.units, table.deal_units)
    optimal = optimal_holds(values, block.repeats)
    chosen = int(lowest_hold(optimal)[row])
    names = [*(win.name for win in game.rules.wins), NOTHING]
    found = []
    for mask in range(32):
        if int(block.repeats[row]) >> mask & 1:
            continue
        positions = [i for i in range(5) if mask >> int(place_of[i]) & 1]
        counts = dict(zip(names, block.counts[mask, row].tolist(), strict=True))
        pays = table.on_deal if mask == 31 and table.on_deal else table.pays
        won = sum((n * pay for n, pay in zip(counts.values(), pays, strict=True)), Fraction(0)) / table.coins
        draws = tables.draws[HELD[mask]]
        found.append(
            Hold(
                sum(1 << i for i in positions),
                format_cards(game.rules.deck, [cards[i] for i in positions]),
                draws,
                won,
                won / draws,
                bool(int(optimal[row]) >> mask & 1),
                mask == chosen,
                counts,
            )
        )
    found.sort(key=lambda hold: (-hold.ev, not hold.chosen))
    text = format_cards(game.rules.deck, cards)
    return HoldTable(text, names[int(block.outcomes[row])], tuple(found))


def one_paytable(game: Game, name: str | None) -> Paytable:
    """The named paytable, or the only one; raises `ConfigError`."""
    found = choose_paytables(game, [] if name is None else [name]).paytables
    if len(found) > 1:
        known = "; ".join(table.label for table in found)
        raise ConfigError([Fault(game.file, "paytable", f"there are several; name one with --paytable: {known}")])
    return found[0]


def read_strategy(run: str | Location, game: str, paytable: str) -> pd.DataFrame:
    """The strategy table of a paytable in a run directory; names or folder names will do.

    The same as ``pd.read_parquet("RUN/jacks-or-better/9-6/strategy")``. Raises `ConfigError` where there is none.
    """
    import pandas as pd

    folder = location(run) / slug(game) / slug(paytable) / "strategy"
    if not folder.is_dir():  # which says what there is
        choose_place(open_run(location(run))[2], f"{slug(game)}/{slug(paytable)}")
    system, path = folder.filesystem() if isinstance(folder, Remote) else (None, folder)
    return pd.read_parquet(path, filesystem=system)


def look_up(game: Game, strategy: pd.DataFrame, deals: Sequence[str]) -> pd.DataFrame:
    """The rows of a strategy table for some deals, in any suits and any order.

    Returns one row per deal: `deal` as given, `row` of the table, `hold` as a mask of the deal's own order (bit i set =
    the i-th card of the deal is held), `held` in the deal's own cards, `ev` and `hand`, the canonical hand. Raises
    `CardError` for what is no hand of the deck, `ValueError` for the table of another game.
    """
    import pandas as pd

    deck = game.rules.deck
    cards = np.array([parse_hand(deck, deal) for deal in deals]).reshape(-1, 5)
    classes = solve_game(game).tables.classes
    canonical, places = locate(classes, cards)
    if len(strategy) < len(classes.weights):
        raise ValueError(f"the table has {len(strategy)} rows; {game.name} has {len(classes.weights)} canonical hands")
    rows: NDArray[Any] = canonical
    if "arrangements" in strategy:
        rows, places = ordered_rows(strategy, canonical, places)
    chosen = strategy.iloc[rows]
    shown = np.sort(chosen[["c1", "c2", "c3", "c4", "c5"]].to_numpy(), axis=1)
    if not np.array_equal(shown, classes.hands[5][canonical]):
        raise ValueError(f"the table is of another game than {game.name}: its hands are others")
    holding = (chosen["hold"].to_numpy()[:, None] >> places & 1).astype(bool)
    masks = (holding * (1 << np.arange(5))).sum(axis=1)
    held = [format_cards(deck, hand[keep].tolist()) for hand, keep in zip(cards, holding, strict=True)]
    return pd.DataFrame(
        {
            "deal": list(deals),
            "row": rows,
            "hold": masks.astype(np.uint8),
            "held": held,
            "ev": chosen["ev"].to_numpy(),
            "hand": chosen["hand"].to_numpy(),
        }
    )


def ordered_rows(strategy: pd.DataFrame, canonical: NDArray[Any], places: NDArray[Any]) -> tuple[NDArray[Any], Any]:
    """From canonical hands to the rows of the deals' arrangements, and where each card of a deal stands there."""
    rows = strategy["canonical"].searchsorted(canonical)
    sets, least = strategy["arrangements"].to_numpy(), np.empty(len(rows), np.intp)
    for i, (row, arrangement) in enumerate(zip(rows.tolist(), arrangement_number(places).tolist(), strict=True)):
        while not (kept := int(sets[row], 16)) >> arrangement & 1:
            row += 1
        # The row's hand is shown in the least of its arrangements.
        rows[i], least[i] = row, (kept & -kept).bit_length() - 1
    moved = np.take_along_axis(np.argsort(ARRANGEMENTS[least], axis=1), places.astype(np.intp), axis=1)
    return rows, moved
