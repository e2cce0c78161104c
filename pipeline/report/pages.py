"""Pages from templates: self-contained HTML whose bytes depend on nothing but the values that are put in.

Values come as the exact text of a certificate, integers or ``num/den``; the filters make them readable without a float.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from pipeline.manifest import software

MOST_IN_A_LINE = 60
"""letters of a fraction that may break only after its stroke"""


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates of this package with the filters of this module; all is escaped, nothing may be undefined."""
    made = Environment(
        loader=PackageLoader("pipeline.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "grouped": grouped,
        "amount": amount,
        "per": per,
        "times": times,
        "fraction": fraction,
        "places": places,
        "percent": percent,
        "share": share,
    }
    made.globals |= {"software": software(), "digest": digest}
    return made


def render(template: str, **values: Any) -> str:
    """A template of this package with these values, as a page or a piece of one."""
    return environment().get_template(template).render(values)


def text_of(template: str) -> Markup:
    """A file of the templates as it is, such as a script that is put into a page."""
    source, _, _ = PackageLoader("pipeline.report").get_source(environment(), template)
    return Markup(source)


# --- filters ----------------------------------------------------------------------------------------------------------


def grouped(value: int | str) -> str:
    """An integer or a decimal with thousands separators.

    >>> grouped("19933230517200"), grouped(-1234), grouped("1234.5678"), grouped("0.995439043695")
    ('19,933,230,517,200', '-1,234', '1,234.5678', '0.995439043695')
    """
    whole, point, decimals = str(value).partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    return f"{sign}{int(digits):,}{point}{decimals}"


def fraction(value: str | Fraction) -> Markup:
    """An exact fraction with thousands separators; it may break after the stroke, a long one anywhere.

    >>> str(fraction("1653526326983/1661102543100"))
    '1,653,526,326,983/<wbr>1,661,102,543,100'
    >>> str(fraction(Fraction(4000)))
    '4,000'
    """
    above, stroke, below = str(value).partition("/")
    text = Markup(f"{escape(grouped(above))}/<wbr>{escape(grouped(below))}") if stroke else Markup(grouped(above))
    return Markup(text.replace(",", Markup(",<wbr>"))) if len(text) > MOST_IN_A_LINE else text


def amount(value: str | Fraction) -> Markup | str:
    """Credits or a count as people write them: at most four decimals where these are exact, else a fraction.

    >>> amount("4000"), amount("5/2"), str(amount("5/3"))
    ('4,000', '2.5', '5/<wbr>3')
    """
    exact = Fraction(value)
    if (exact * 10**4).denominator != 1:
        return fraction(exact)
    text = places(exact, 4)
    return text.rstrip("0").rstrip(".")


def per(value: str, coins: int) -> Fraction:
    """A pay per credit bet."""
    return Fraction(value) / coins


def times(value: str, count: int) -> Fraction:
    """An exact value, so many times."""
    return Fraction(value) * count


def digest(value: str) -> Markup:
    """A digest, in letters of one width; it may break anywhere."""
    return Markup('<code class="digest">{}</code>').format(value)


def places(value: str | float | Fraction, count: int) -> str:
    """An exact value to so many decimals, half to even, with thousands separators.

    >>> places("2/3", 4), places(Fraction(1, 8), 2), places(1234567, 1), places("-1/2", 0)
    ('0.6667', '0.12', '1,234,567.0', '0')
    """
    scaled = round(Fraction(value) * 10**count)
    whole, decimals = divmod(abs(scaled), 10**count)
    return f"{'-' if scaled < 0 else ''}{whole:,}" + (f".{decimals:0{count}}" if count else "")


def percent(value: str | Fraction, count: int = 2, sign: str = "\N{NO-BREAK SPACE}%") -> str:
    """An exact share in percent with so many decimals, half to even.

    >>> percent("1/8"), percent("9/10", 0, "")
    ('12.50\\xa0%', '90')
    """
    return places(Fraction(value) * 100, count) + sign


def share(part: int | str, whole: int | str) -> str:
    """A part of a whole in percent, to four places, without the sign.

    >>> share("1", "3"), share(4, 2598960)
    ('33.3333', '0.0002')
    """
    return places(Fraction(int(part), int(whole)) * 100, 4)
