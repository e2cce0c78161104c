"""Certificates: what a run states about a paytable, as JSON, as the table of its wins, and as text for people."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pyarrow as pa

from evaluator.cards import Deck
from evaluator.decimals import decimal_12
from evaluator.holds import draw_counts
from evaluator.meter import MeterSummary, progressive_of
from evaluator.rules import Paytable
from evaluator.summary import Award, Summary, WinSummary, summarise
from evaluator.symmetry import ProofError
from pipeline.manifest import FORMAT, identity, software
from pipeline.plan import Plan, describe_paytable, describe_rules
from pipeline.strategy import NOTHING, Column, arrow_array, arrow_schema


class Certificate(dict[str, Any]):
    """The content of certificate.json; a notebook shows it as a table.

    >>> Certificate(game="Jacks or Better", label="9/6", payback_decimal="0.995439043695")
    <certificate of Jacks or Better, 9/6: payback 0.995439043695>
    """

    def __repr__(self) -> str:
        return f"<certificate of {self.get('game')}, {self.get('label')}: payback {self.get('payback_decimal')}>"

    def _repr_html_(self) -> str:
        from pipeline.notebook import certificate_html

        return certificate_html(self)


def certificate(
    plan: Plan,
    entry_number: int,
    table: int,
    outcome: Any,
    warnings: Sequence[str],
    meter: MeterSummary | None = None,
    parts: Iterable[tuple[int, str]] = (),
    sensitivity: Sequence[Mapping[str, Any]] | None = None,
) -> Certificate:
    """The certificate of one paytable of a plan, from the sums over all its rows; `meter` of a progressive one.

    `parts` has the rows and the content digest of each part of the strategy table, `sensitivity` a row for each pay
    where the plan asks for it. Raises `ProofError` where the sums
    are not what they must add up to.
    """
    entry = plan.entries[entry_number]
    paytable, ordered = entry.paytables[table], bool(entry.ordered)
    summary = summarise(outcome, entry.rules.deck, paytable, ordered)
    names = [*(win.name for win in entry.rules.wins), NOTHING]
    bonuses = [bonus.name for bonus in entry.rules.bonuses]
    draws = draw_counts(entry.rules.deck, ordered)
    row_names = [(bonuses if win.on == "bonus" else names)[win.outcome] for win in summary.wins]
    content = {
        "format": FORMAT,
        "game": entry.name,
        "paytable": paytable.name,
        "label": paytable.label,
        "coins": paytable.coins,
        "source": entry.sources[table],
        "identity": plan.identity,
        "software": software(),
        "rules_digest": identity(describe_rules(entry.rules)),
        "paytable_digest": identity(describe_paytable(paytable)),
        "tie_break": plan.tie_break,
        "method": "exact enumeration of all deals and all draws in integers; no sampling",
        "deck": _deck(entry.rules.deck),
        "hands_per_play": 1,
        "canonical_hands": str(entry.rows),
        "depend_on_order": [names[number] for number in entry.ordered],
        "draws": [{"cards": cards, "draws": str(draws[5 - cards])} for cards in range(6)],
        **_figures(summary),
        "top_award": _award(row_names, summary, summary.top_award),
        "rarest_award": None if summary.rarest_award is None else _award(row_names, summary, summary.rarest_award),
        "strategy": _strategy(parts),
        **({} if meter is None else {"progressive": _progressive(names, paytable, meter, summary)}),
        **({} if sensitivity is None else {"sensitivity": list(sensitivity)}),
        "warnings": list(warnings),
        "wins": [_win(name, win, summary.deals) for name, win in zip(row_names, summary.wins, strict=True)],
    }
    return Certificate(content)


def _deck(deck: Deck) -> dict[str, Any]:
    return {
        "cards": deck.size,
        "faces": list(deck.faces),
        "suits": list(deck.suits),
        "decks": deck.decks,
        "jokers": deck.jokers,
        "extra": list(deck.extra),
    }


def _strategy(parts: Iterable[tuple[int, str]]) -> dict[str, Any]:
    """What the figures rest on: the strategy table, by the content digests of its parts, one per line."""
    rows = count = 0
    digest = hashlib.sha256()
    for more, content in parts:
        rows, count = rows + more, count + 1
        digest.update(f"{content}\n".encode())
    basis = "exact optimal play: for every deal a hold of the greatest expected win"
    return {"basis": basis, "rows": str(rows), "parts": count, "digest": digest.hexdigest()}


def _award(names: Sequence[str], summary: Summary, award: Award) -> dict[str, Any]:
    return {
        "wins": [{"name": names[row], "on": summary.wins[row].on} for row in award.wins],
        "pays": str(award.pays),
        "combinations": str(award.combinations),
        **exact("probability", award.probability),
        **exact("one_in", award.one_in),
    }


def _figures(summary: Summary) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "tied_deals": str(summary.tied_deals),
        "deals": str(summary.deals),
        "cycle": str(summary.cycle),
    }
    figures |= exact("payback", summary.payback)
    figures["payback_percent_rounded_down"] = percent_down(summary.payback)
    figures |= exact("house_edge", summary.house_edge)
    figures |= exact("hit_frequency", summary.hit_frequency)
    figures["hit_frequency_range"] = list(map(str, summary.hit_frequency_range))
    figures |= exact("win_frequency", summary.win_frequency)
    figures |= exact("push_frequency", summary.push_frequency)
    figures |= exact("variance", summary.variance)
    figures["variance_range"] = list(map(str, summary.variance_range))
    figures |= exact("variance_between_deals", summary.variance_between)
    figures |= exact("variance_within_deals", summary.variance_within)
    figures["standard_deviation_decimal"] = summary.standard_deviation
    figures["skewness_decimal"] = summary.skewness
    figures |= exact("excess_kurtosis", summary.excess_kurtosis)
    figures["volatility_index_decimal"] = {str(percent): value for percent, value in summary.volatility}
    figures |= exact("break_even_games", summary.break_even_games)
    figures["bands"] = [
        {"confidence_percent": band.confidence, "games": band.games, "low": band.low, "high": band.high}
        for band in summary.bands
    ]
    figures["lines"] = [
        {
            "lines": line.lines,
            **exact("variance", line.variance),
            "standard_deviation_decimal": line.standard_deviation,
            "volatility_index_decimal": {str(percent): value for percent, value in line.volatility},
        }
        for line in summary.lines
    ]
    return figures


def _progressive(names: Sequence[str], paytable: Paytable, meter: MeterSummary, summary: Summary) -> dict[str, Any]:
    if meter.payback != summary.payback:
        raise ProofError(f"the payback with the meter at its reset is {meter.payback}, by the wins {summary.payback}")
    return meter_figures(names, paytable, meter)


def meter_figures(names: Sequence[str], paytable: Paytable, meter: MeterSummary) -> dict[str, Any]:
    """The figures of a progressive. The rate is credits per credit bet, so it adds to the payback as it is: of what is
    added to the meter everything is won in the end, as long as the strategy is that of the reset, whatever the meter.
    """
    progressive = progressive_of(paytable)
    return {
        "win": names[progressive.win],
        "reset": str(progressive.reset),
        "rate": str(progressive.rate),
        **exact("payback", meter.payback),
        **exact("payback_with_contribution", meter.payback + progressive.rate),
        **exact("break_even_meter", meter.break_even),
        **exact("slope", meter.slope),
    }


def exact(key: str, value: Fraction | None) -> dict[str, str | None]:
    """A fraction as text, and as a decimal of 12 places beside it.

    >>> exact("half", Fraction(1, 2))
    {'half': '1/2', 'half_decimal': '0.500000000000'}
    """
    return {key: None if value is None else str(value), f"{key}_decimal": None if value is None else decimal_12(value)}


def percent_down(value: Fraction) -> str:
    """A fraction in percent with two decimals, rounded down.

    >>> percent_down(Fraction(1653526326983, 1661102543100))
    '99.54'
    """
    hundredths = value * 10_000 // 1
    return f"{hundredths // 100}.{hundredths % 100:02d}"


def _win(name: str, win: WinSummary, deals: int) -> dict[str, Any]:
    return {
        "name": name,
        "on": win.on,
        "pays": str(win.pays),
        "combinations": str(win.combinations),
        "combinations_range": list(map(str, win.combinations_range)),
        "deal_combinations": str(win.deal_combinations),
        **exact("probability", win.probability),
        **exact("one_in", win.one_in),
        **exact("contribution", win.contribution),
        **exact("share_of_payback", win.share),
        **exact("variance_contribution", win.variance_contribution),
        **exact("deal_probability", Fraction(win.deal_combinations, deals)),
    }


#: The columns of wins.parquet; exact values that may exceed 64 bits are text.
WIN_COLUMNS = (
    Column("win", pa.string(), "name", "the outcome, highest first; the last is nothing"),
    Column("on", pa.string(), "draw, deal or bonus", "whether it is paid for the final hand or for the deal"),
    Column("pays", pa.string(), "credits", "won for the paytable's bet, exact"),
    Column("combinations", pa.string(), "combinations of the cycle", "that end in this outcome, exact"),
    Column("combinations_min", pa.string(), "combinations of the cycle", "the fewest over all optimal strategies"),
    Column("combinations_max", pa.string(), "combinations of the cycle", "the most over all optimal strategies"),
    Column("deal_combinations", pa.string(), "deals", "that are this outcome as dealt, exact"),
    Column("probability", pa.float64(), "1", "combinations / cycle, rounded to a float"),
    Column("contribution", pa.float64(), "credits per credit bet", "part of the payback, rounded to a float"),
)


def wins_table(content: Mapping[str, Any]) -> pa.Table:
    """wins.parquet of a certificate: one row per outcome."""
    wins = content["wins"]
    values = [
        [win["name"] for win in wins],
        [win["on"] for win in wins],
        [win["pays"] for win in wins],
        [win["combinations"] for win in wins],
        [win["combinations_range"][0] for win in wins],
        [win["combinations_range"][1] for win in wins],
        [win["deal_combinations"] for win in wins],
        [float(Fraction(win["probability"])) for win in wins],
        [float(Fraction(win["contribution"])) for win in wins],
    ]
    arrays = [arrow_array(column, spec.type) for column, spec in zip(values, WIN_COLUMNS, strict=True)]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(WIN_COLUMNS))


def overview_lines(certificates: Sequence[Certificate]) -> list[str]:
    """A table of certificates for a terminal of 80 columns."""
    lines = [f"{'game, paytable':<38} {'payback':>14} {'hit freq.':>9} {'variance':>9} {'tied':>7}"]
    game = None
    for content in certificates:
        if content["game"] != game:
            game = content["game"]
            lines.append(game)
        label = "  " + content["label"]
        hits = Fraction(content["hit_frequency"]) * 100
        if len(label) > 38:
            lines.append(label)
            label = ""
        lines.append(
            f"{label:<38} {content['payback_decimal']:>14} {float(hits):>8.3f}% "
            f"{float(Fraction(content['variance'])):>9.3f} {content['tied_deals']:>7}"
        )
    return lines


def meets(content: Certificate, low: Fraction | None, high: Fraction | None) -> bool:
    """Whether the exact payback is within the bounds, both included."""
    payback = Fraction(content["payback"])
    return (low is None or payback >= low) and (high is None or payback <= high)
