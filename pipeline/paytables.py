"""Paytables of a game file: pays that stay exact, coin levels, pays on the deal, bonuses and meters."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator

from evaluator.rules import Paytable, Progressive, Win
from pipeline.faults import ConfigError, Fault, key_path

MAX_PAY = 10**12
"""credits; no paytable in the world comes near"""


class Meter(NamedTuple):
    """A pay that grows."""

    reset: Fraction
    """credits at which it starts"""
    rate: Fraction
    """credits added to it per credit bet"""


Amount = Fraction | Meter
Entry = Amount | tuple[Amount, ...]
"""what a win pays: at the one bet, or per coin where there are several bets, or a list with one for each bet"""


def parse_pay(value: object) -> Fraction:
    """A pay from an integer, a decimal, or text like "6/5"; exact. Raises ValueError.

    >>> parse_pay("6/5"), parse_pay("0.8333"), parse_pay(25)
    (Fraction(6, 5), Fraction(8333, 10000), Fraction(25, 1))
    """
    text = str(value).strip()
    if isinstance(value, bool) or not re.fullmatch(r"-?\d{1,20}(\.\d{1,20}|/\d{1,20})?", text, re.ASCII):
        raise ValueError(f"expected a number or a fraction like '6/5', found {value!r}")
    if text.partition("/")[2].strip("0") == "" and "/" in text:
        raise ValueError(f"the denominator of {text!r} is zero")
    pay = Fraction(text)
    if not 0 <= pay <= MAX_PAY:
        raise ValueError(f"expected a pay from 0 to {MAX_PAY}, found {text}")
    return pay


def parse_entry(value: object) -> Entry:
    """A pay, a meter like ``{reset = 4000, rate = "0.01"}``, or a list of them; raises ValueError.

    >>> parse_entry([250, {"reset": 4000, "rate": "0.01"}])
    (Fraction(250, 1), Meter(reset=Fraction(4000, 1), rate=Fraction(1, 100)))
    """
    if isinstance(value, list):
        return tuple(_amount(part) for part in value)
    return _amount(value)


def _amount(value: object) -> Amount:
    if not isinstance(value, dict):
        return parse_pay(value)
    if set(value) != {"reset", "rate"}:
        raise ValueError(f'expected a meter like {{reset = 4000, rate = "0.01"}}, found the keys {", ".join(value)}')
    return Meter(parse_pay(value["reset"]), parse_pay(value["rate"]))


def parse_coins(value: object) -> int | tuple[int, ...]:
    """A number of credits bet, or a list of different ones; raises ValueError.

    >>> parse_coins(5), parse_coins([1, 5])
    (5, (1, 5))
    """
    coins: list[Any] = value if isinstance(value, list) else [value]
    if not coins or not all(type(number) is int and 1 <= number <= 1_000_000 for number in coins):
        raise ValueError(f"expected an integer from 1 to 1,000,000, or a list of them, found {value!r}")
    if len(set(coins)) < len(coins):
        raise ValueError(f"expected different numbers of coins, found {value!r}")
    return tuple(coins) if isinstance(value, list) else int(coins[0])


Pays = dict[str, Annotated[Any, BeforeValidator(parse_entry)]]


def paytables(
    file: str, name: str, section: Any, wins: Sequence[Win], bonuses: Sequence[Win], faults: list[Fault]
) -> list[Paytable]:
    """The paytable of a section, one for each coin level; none where it has faults, which are added to `faults`."""
    before = len(faults)
    where: list[str | int] = ["paytable", name]
    coins = section.coins if isinstance(section.coins, tuple) else (section.coins,)
    names, extra = [win.name for win in wins], [bonus.name for bonus in bonuses]
    _check_keys(file, [*where, "pays"], section.pays, names, names, faults)
    _check_keys(file, [*where, "on_deal"], section.on_deal, names, [], faults)
    _check_keys(file, [*where, "deal_bonus"], section.deal_bonus, extra, extra, faults)
    entries: dict[tuple[str, ...], Entry] = {("no_win",): section.no_win}
    for key in ("pays", "on_deal", "deal_bonus"):
        entries |= {(key, win): entry for win, entry in getattr(section, key).items()}
    for path, entry in entries.items():
        _check_entry(file, key_path([*where, *path]), entry, isinstance(section.coins, tuple), len(coins), path, faults)
    for level in range(len(coins)):
        metered = [name for name in names if _has_meter(section.pays.get(name), level)]
        if len(metered) > 1:
            key, found = key_path([*where, "pays"]), ", ".join(map(repr, metered))
            faults.append(Fault(file, key, f"only one win can be a meter, found {found}"))
            break
    if len(faults) > before:
        return []
    return [_level(name, section, names, extra, level, bet) for level, bet in enumerate(coins)]


def _check_keys(
    file: str, where: list[str | int], pays: Pays, known: list[str], needed: list[str], faults: list[Fault]
) -> None:
    what = "bonus" if where[-1] == "deal_bonus" else "win"
    faults += [
        Fault(file, key_path(where), f"the pay of {missing!r} is missing") for missing in needed if missing not in pays
    ]
    for unknown in [win for win in pays if win not in known]:
        close = difflib.get_close_matches(unknown, known, 1)
        listed = f"the {what}{'s' if what == 'win' else 'es'} are {', '.join(known)}"
        listed = listed if known else f"the file has no [[{what}]]"
        hint = f"did you mean {close[0]!r}?" if close else listed
        faults.append(Fault(file, key_path([*where, unknown]), f"there is no such {what}; {hint}"))


def _check_entry(
    file: str, key: str, entry: Entry, several: bool, levels: int, path: tuple[str, ...], faults: list[Fault]
) -> None:
    listed = not isinstance(entry, Meter) and isinstance(entry, tuple)
    amounts: Sequence[Any] = entry if listed else [entry]  # type: ignore[assignment]
    if listed and (not several or len(amounts) != levels):
        wanted = f"{levels} pays, one for each number of coins" if several else "one pay, for coins is no list"
        faults.append(Fault(file, key, f"expected {wanted}; found a list of {len(amounts)}"))
    if path[0] != "pays" and any(isinstance(amount, Meter) for amount in amounts):
        faults.append(Fault(file, key, "only a win of [pays] can be a meter"))


def _has_meter(entry: Entry | None, level: int) -> bool:
    """Whether a pay, at this one of several bets if there are several, is a meter."""
    if isinstance(entry, tuple) and not isinstance(entry, Meter):
        return level < len(entry) and isinstance(entry[level], Meter)
    return isinstance(entry, Meter)


def _level(name: str, section: Any, wins: list[str], bonuses: list[str], level: int, coins: int) -> Paytable:
    """The paytable at one coin level."""
    several = isinstance(section.coins, tuple)

    def amount(entry: Entry) -> Amount:
        if isinstance(entry, tuple) and not isinstance(entry, Meter):
            return entry[level]
        if isinstance(entry, Meter) or not several:
            return entry
        return entry * coins  # one number for several bets is the pay per coin

    def pay(entry: Entry) -> Fraction:
        found = amount(entry)
        return found.reset if isinstance(found, Meter) else found

    meters = [(i, amount(section.pays[win])) for i, win in enumerate(wins)]
    progressive = next((Progressive(i, m.reset, m.rate) for i, m in meters if isinstance(m, Meter)), None)
    pays = (*(pay(section.pays[win]) for win in wins), pay(section.no_win))
    on_deal = tuple(pay(section.on_deal[win]) if win in section.on_deal else pays[i] for i, win in enumerate(wins))
    paid = (*(pay(section.deal_bonus[bonus]) for bonus in bonuses), Fraction(0))
    return Paytable(name, coins, pays, (*on_deal, pays[-1]) if section.on_deal else None, paid, progressive, several)


def with_pays(file: str, wins: Sequence[Win], paytable: Paytable, changes: Mapping[str, Fraction]) -> Paytable:
    """The paytable with some pays changed and named after the changes; raises `ConfigError` for unknown wins.

    The name of 9/6 with another royal is "9/6, royal flush=4880".
    """
    names = [win.name for win in wins]
    unknown = [name for name in changes if name not in names]
    if unknown:
        raise ConfigError(
            Fault("--pay", name, f"there is no such win in {file}; the wins are {', '.join(names)}") for name in unknown
        )
    pays = tuple(changes.get(name, pay) for name, pay in zip([*names, ""], paytable.pays, strict=True))
    on_deal = paytable.on_deal
    if on_deal is not None:  # what pays the same on the deal goes on paying the same
        on_deal = tuple(
            new if old == dealt else dealt for new, old, dealt in zip(pays, paytable.pays, on_deal, strict=True)
        )
    label = ", ".join([paytable.name] + [f"{name}={pay}" for name, pay in changes.items()])
    kept = paytable.progressive
    if kept is not None and names[kept.win] in changes:
        kept = None
    return replace(paytable, name=label, pays=pays, on_deal=on_deal, progressive=kept)
