"""Sensitivity: what each pay of a paytable does to the payback, and where the strategy changes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evaluator.cards import Deck, format_cards
from evaluator.payback import line_units
from evaluator.rules import Paytable
from evaluator.sensitivity import Change, Sensitivity, sensitivities
from evaluator.solve import Solved
from pipeline.certificate import exact
from pipeline.strategy import NOTHING


@dataclass(frozen=True)
class NextChange:
    """The nearest pay at which another hold becomes best."""

    pay: Fraction
    """credits, for the paytable's bet"""
    deals: int
    """for which another hold is best beyond"""
    hand: str
    """the first of them"""
    before: str
    """what is held up to there"""
    after: str
    """what is held beyond; at that pay both are equally good"""


@dataclass(frozen=True)
class PaySensitivity:
    """One pay of a paytable."""

    win: str
    """what it is paid for"""
    on: str
    """draw, deal (paid for a hand held as dealt), draw and deal (both pay the same) or bonus (beside the draw)"""
    pay: Fraction
    """credits, for the paytable's bet"""
    frequency: Fraction
    """probability under optimal play, ties by lowest-mask"""
    payback_per_credit: Fraction
    """by how much the payback grows for each credit more, as long as the strategy stays optimal"""
    optimal_from: Fraction
    """the least pay, from 0, for which today's strategy is optimal"""
    optimal_to: Fraction | None
    """the greatest; None if it is for any"""
    below: NextChange | None
    """the next change of strategy for a lower pay; None if there is none down to 0"""
    above: NextChange | None
    """for a higher pay; None if there is none at all"""


def pay_sensitivities(solution: Solved, table: Paytable) -> tuple[PaySensitivity, ...]:
    """Every pay of a paytable, in the order of the certificate."""
    found = [_draw(solution, table, some) for some in sensitivities(solution.tables, table)]
    return (*found, *_bonuses(solution, table))


def sensitivity_rows(solution: Solved, table: Paytable) -> list[dict[str, Any]]:
    """The same as plain values, as a certificate has them."""
    return list(map(row_json, pay_sensitivities(solution, table)))


def _draw(solution: Solved, table: Paytable, found: Sensitivity) -> PaySensitivity:
    rules, cycle = solution.program.rules, solution.tables.cycle
    names, outcomes = [*(win.name for win in rules.wins), NOTHING], len(table.pays)
    line = found.lines[0]
    pay = Fraction(line_units(table)[line], table.scale)
    below, above = (
        _change(rules.deck, change, pay, sign / Fraction(table.scale))
        for change, sign in ((found.below, -1), (found.above, 1))
    )
    frequency = Fraction(found.combinations, cycle)
    return PaySensitivity(
        names[line % outcomes],
        "draw and deal" if len(found.lines) > 1 else ("draw", "deal")[line // outcomes],
        pay,
        frequency,
        frequency / table.coins,
        pay if found.just_below < found.combinations else Fraction(0) if below is None else below.pay,
        pay if found.just_above > found.combinations else None if above is None else above.pay,
        below,
        above,
    )


def _change(deck: Deck, change: Change | None, pay: Fraction, unit: Fraction) -> NextChange | None:
    if change is None or pay + change.distance * unit < 0:
        return None
    hand = list(change.hand)
    before, after = (
        format_cards(deck, [card for i, card in enumerate(hand) if mask >> i & 1])
        for mask in (change.before, change.after)
    )
    return NextChange(pay + change.distance * unit, change.deals, format_cards(deck, hand), before, after)


def _bonuses(solution: Solved, table: Paytable) -> list[PaySensitivity]:
    """What is paid for the deal does not change how it is played."""
    rules = solution.program.rules
    found = []
    for bonus, pay, count in zip(rules.bonuses, table.bonuses, solution.bonus_deals, strict=False):
        frequency = Fraction(count.excluding, solution.tables.deals)
        found.append(
            PaySensitivity(bonus.name, "bonus", pay, frequency, frequency / table.coins, Fraction(0), None, None, None)
        )
    return found


def row_json(found: PaySensitivity) -> dict[str, Any]:
    """A pay as plain values."""
    return {
        "win": found.win,
        "on": found.on,
        "pays": str(found.pay),
        **exact("frequency", found.frequency),
        **exact("payback_per_credit", found.payback_per_credit),
        **exact("optimal_from", found.optimal_from),
        **exact("optimal_to", found.optimal_to),
        **{f"next_{side}": _change_json(change) for side, change in (("below", found.below), ("above", found.above))},
    }


def _change_json(change: NextChange | None) -> dict[str, Any] | None:
    if change is None:
        return None
    held = {"before": change.before, "after": change.after}
    return {**exact("pays", change.pay), "deals": str(change.deals), "hand": change.hand, **held}
