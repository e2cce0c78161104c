"""What a certificate states about a paytable: exact fractions of the sums over all deals.

With h_i combinations of the cycle that end in outcome i and x_i credits won for it per credit bet, the payback is
R = sum of p_i x_i with p_i = h_i / cycle, and the variance is sum of p_i x_i^2 - R^2. Playing n lines from one deal,
the mean win per line has the variance V_b + V_w / n: V_b that of the mean win of a deal, between deals, and V_w the
mean of the variance within a deal. Irrational figures are given as decimals of 12 places, rounded exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from evaluator.cards import Deck
from evaluator.decimals import decimal_12, surd_12
from evaluator.holds import cycle_factor, deal_count
from evaluator.payback import Outcome, line_units
from evaluator.rules import Paytable
from evaluator.symmetry import ProofError

Range = tuple[Fraction, Fraction]
"""the least and the greatest over all optimal strategies"""

#: Confidence in percent, and the two-sided quantile of the normal distribution by convention of the trade.
CONFIDENCES = ((90, Fraction("1.645")), (95, Fraction("1.960")), (99, Fraction("2.576")))
GAMES = tuple(10**power for power in range(3, 10))
LINES = (3, 5, 10, 25, 50, 100)


@dataclass(frozen=True)
class WinSummary:
    """One outcome of the final hand."""

    outcome: int
    """number of the win or bonus; the last is nothing"""
    on: str
    """draw, deal (paid for a hand held as dealt) or bonus (paid for the deal, beside the draw)"""
    pays: Fraction
    """credits won, for the paytable's bet"""
    combinations: int
    """of the cycle"""
    combinations_range: tuple[int, int]
    """the fewest and the most over all optimal strategies"""
    deal_combinations: int
    """deals that are this outcome already"""
    probability: Fraction
    """combinations / cycle"""
    one_in: Fraction | None
    """1 / probability; None where it never occurs"""
    contribution: Fraction
    """to the payback: credits won per credit bet"""
    share: Fraction | None
    """of the payback; None where nothing is paid at all"""
    variance_contribution: Fraction | None
    """probability * (credits won per credit bet - payback)^2; None where bonuses are paid beside"""


@dataclass(frozen=True)
class Award:
    """An award that reviewers look for: the highest, or the rarest."""

    wins: tuple[int, ...]
    """its rows in `Summary.wins`; several where they pay the same"""
    pays: Fraction
    """credits won, for the paytable's bet"""
    combinations: int
    """of the cycle, of all these rows"""
    probability: Fraction
    """combinations / cycle"""
    one_in: Fraction | None
    """1 / probability; None where it never occurs"""


@dataclass(frozen=True)
class Band:
    """Where the payback of so many games lies, by the normal approximation."""

    confidence: int
    """percent"""
    games: int
    """how many are played"""
    low: str
    """credits won per credit bet, 12 places, not below 0"""
    high: str
    """credits won per credit bet, 12 places"""


@dataclass(frozen=True)
class LinesSummary:
    """Play of several lines from one deal, per credit bet on all lines together."""

    lines: int
    """drawn independently from the same held cards"""
    variance: Fraction
    """V_b + V_w / lines"""
    standard_deviation: str
    """its square root, 12 places"""
    volatility: tuple[tuple[int, str], ...]
    """confidence in percent, z * standard deviation to 12 places"""


@dataclass(frozen=True)
class Summary:
    """The figures of a certificate, in credits per credit bet."""

    deals: int
    """C(N, 5)"""
    cycle: int
    """equally likely combinations of deal and draw"""
    tied_deals: int
    """deals with several optimal holds"""
    payback: Fraction
    """credits won"""
    house_edge: Fraction
    """1 - payback"""
    hit_frequency: Fraction
    """probability of winning anything"""
    hit_frequency_range: Range
    """over all optimal strategies"""
    win_frequency: Fraction
    """probability of winning more than was bet"""
    push_frequency: Fraction
    """probability of winning just what was bet"""
    variance: Fraction
    """of the credits won"""
    variance_range: Range
    """over all optimal strategies"""
    variance_between: Fraction
    """V_b, of the mean of a deal"""
    variance_within: Fraction
    """V_w, the mean of the variance given the deal"""
    standard_deviation: str
    """12 places"""
    skewness: str | None
    """third central moment / standard deviation^3, 12 places; None without variance"""
    excess_kurtosis: Fraction | None
    """fourth central moment / variance^2 - 3; None without variance"""
    volatility: tuple[tuple[int, str], ...]
    """confidence in percent, volatility index z * standard deviation to 12 places"""
    break_even_games: Fraction | None
    """games after which the upper end of the 95 percent band is 1; None for a payback of 1 or more"""
    bands: tuple[Band, ...]
    """for each confidence and each number of games"""
    lines: tuple[LinesSummary, ...]
    """for each number of lines"""
    wins: tuple[WinSummary, ...]
    """for each outcome, the last nothing; then for hands held as dealt, if they pay otherwise; then for bonuses"""
    top_award: Award
    """the highest pay, whether or not optimal play ever gets it"""
    rarest_award: Award | None
    """of the rows that pay and occur, the one with the fewest combinations; None where nothing is ever paid"""


def summarise(outcome: Outcome, deck: Deck, paytable: Paytable, ordered: bool = False) -> Summary:
    """All figures from the sums over all canonical hands of the deck, in a game where order matters if `ordered`.

    Raises `ProofError` when deals, combinations or contributions are not what they must add up to.
    """
    deals, factor = deal_count(deck, ordered), cycle_factor(deck, ordered)
    cycle, stake = deals * factor, paytable.scale * paytable.coins
    _check_sums(outcome, deals, cycle)
    cells = _cells(outcome, paytable)
    payback = Fraction(sum(n * won for n, won in cells), cycle * stake)
    variance, third, fourth = (_central_moment(cells, power) / stake**power for power in (2, 3, 4))
    low, high = (Fraction(squares, cycle * stake**2) for squares in (outcome.squares_min, outcome.squares_max))
    square = payback**2
    between = Fraction(outcome.squared_means, deals * (factor * stake) ** 2) - square
    wins = _win_summaries(outcome, paytable, cycle, payback)
    if sum(win.contribution for win in wins) != payback or sum(n * won**2 for n, won in cells) != outcome.squares:
        raise ProofError(f"contributions {[str(win.contribution) for win in wins]} do not add up to {payback}")
    return Summary(
        deals=outcome.deals,
        cycle=cycle,
        tied_deals=outcome.tied_deals,
        payback=payback,
        house_edge=1 - payback,
        hit_frequency=Fraction(outcome.hits, cycle),
        hit_frequency_range=(Fraction(outcome.hits_min, cycle), Fraction(outcome.hits_max, cycle)),
        win_frequency=Fraction(sum(n for n, won in cells if won > stake), cycle),
        push_frequency=Fraction(sum(n for n, won in cells if won == stake), cycle),
        variance=variance,
        variance_range=(low - square, high - square),
        variance_between=between,
        variance_within=variance - between,
        standard_deviation=surd_12(0, variance),
        skewness=surd_12(0, third**2 / variance**3, 1 if third >= 0 else -1) if variance else None,
        excess_kurtosis=fourth / variance**2 - 3 if variance else None,
        volatility=_volatility(variance),
        break_even_games=CONFIDENCES[1][1] ** 2 * variance / (1 - payback) ** 2 if payback < 1 else None,
        bands=_bands(payback, variance),
        lines=_lines(between, variance - between),
        wins=wins,
        top_award=_top_award(wins, cycle),
        rarest_award=_rarest_award(wins, cycle),
    )


def _cells(outcome: Outcome, paytable: Paytable) -> list[tuple[int, int]]:
    """Combinations, and units won, of everything that can happen: each bonus with each line."""
    paid = [line + bonus for bonus in paytable.bonus_units for line in line_units(paytable)]
    return list(zip(outcome.combinations, paid, strict=True))


def _central_moment(cells: Sequence[tuple[int, int]], power: int) -> Fraction:
    """The mean of the power of what is won above the mean; over one denominator, for fractions are slow to add up."""
    cycle, all_won = sum(n for n, _ in cells), sum(n * won for n, won in cells)
    return Fraction(sum(n * (cycle * won - all_won) ** power for n, won in cells), cycle ** (power + 1))


def _check_sums(outcome: Outcome, deals: int, cycle: int) -> None:
    """Everything was counted, once."""
    relations = (
        ("deals", outcome.deals, deals),
        ("deals of all outcomes", sum(outcome.deal_combinations), deals),
        ("combinations", sum(outcome.combinations), cycle),
    )
    wrong = [f"{what}: {found}, expected {expected}" for what, found, expected in relations if found != expected]
    triples = (
        ("hits", outcome.hits_min, outcome.hits, outcome.hits_max),
        ("squares", outcome.squares_min, outcome.squares, outcome.squares_max),
        *zip(
            (f"combinations of line {i}" for i in range(len(outcome.combinations_min))),
            outcome.combinations_min,
            outcome.by_line,
            outcome.combinations_max,
            strict=True,
        ),
    )
    wrong += [f"{what}: {at} is not in {low} … {high}" for what, low, at, high in triples if not low <= at <= high]
    if wrong:
        raise ProofError("; ".join(wrong))


def _win_summaries(outcome: Outcome, paytable: Paytable, cycle: int, payback: Fraction) -> tuple[WinSummary, ...]:
    """Lines of the draw, of hands held as dealt, and bonuses."""
    outcomes, lines = len(paytable.pays), outcome.by_line
    factor = cycle // outcome.deals
    rows = [(i % outcomes, ("draw", "deal")[i // outcomes], n) for i, n in enumerate(lines)]
    rows += [(i, "bonus", n) for i, n in enumerate(outcome.by_bonus[:-1])]
    pays = {"draw": paytable.pays, "deal": paytable.on_deal or (), "bonus": paytable.bonuses}
    ranges = list(zip(outcome.combinations_min, outcome.combinations_max, strict=True))
    wins = []
    for i, (number, on, combinations) in enumerate(rows):
        probability, multiple = Fraction(combinations, cycle), pays[on][number] / paytable.coins
        contribution = probability * multiple
        wins.append(
            WinSummary(
                outcome=number,
                on=on,
                pays=Fraction(pays[on][number]),
                combinations=combinations,
                combinations_range=ranges[i] if on != "bonus" else (combinations, combinations),
                deal_combinations=combinations // factor if on == "bonus" else outcome.deal_combinations[number],
                probability=probability,
                one_in=Fraction(cycle, combinations) if combinations else None,
                contribution=contribution,
                share=contribution / payback if payback else None,
                variance_contribution=probability * (multiple - payback) ** 2 if len(paytable.bonuses) == 1 else None,
            )
        )
    return tuple(wins)


def _top_award(wins: Sequence[WinSummary], cycle: int) -> Award:
    """Bonuses overlay the lines, so they do not add up with them: they count only where they alone pay the most."""
    most = max(win.pays for win in wins)
    rows = [row for row, win in enumerate(wins) if win.pays == most]
    return _award(wins, [row for row in rows if wins[row].on != "bonus"] or rows, cycle)


def _rarest_award(wins: Sequence[WinSummary], cycle: int) -> Award | None:
    paid = [row for row, win in enumerate(wins) if win.pays > 0 and win.combinations]
    return _award(wins, [min(paid, key=lambda row: wins[row].combinations)], cycle) if paid else None


def _award(wins: Sequence[WinSummary], rows: Sequence[int], cycle: int) -> Award:
    combinations = sum(wins[row].combinations for row in rows)
    one_in = Fraction(cycle, combinations) if combinations else None
    return Award(tuple(rows), wins[rows[0]].pays, combinations, Fraction(combinations, cycle), one_in)


def _volatility(variance: Fraction) -> tuple[tuple[int, str], ...]:
    return tuple((percent, surd_12(0, z * z * variance)) for percent, z in CONFIDENCES)


def _bands(payback: Fraction, variance: Fraction) -> tuple[Band, ...]:
    bands, most = [], payback**2
    for percent, z in CONFIDENCES:
        of_one = z * z * variance
        for games in GAMES:
            square = of_one / games
            low = surd_12(payback, square, -1) if square < most else decimal_12(0)
            bands.append(Band(percent, games, low, surd_12(payback, square)))
    return tuple(bands)


def _lines(between: Fraction, within: Fraction) -> tuple[LinesSummary, ...]:
    variances = ((lines, between + within / lines) for lines in LINES)
    return tuple(LinesSummary(lines, v, surd_12(0, v), _volatility(v)) for lines, v in variances)
