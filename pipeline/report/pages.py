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
        "fraction": fraction,
        "places": places,
        "percent": percent,
    }
    made.globals |= {"software": software()}
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
    """An exact fraction with thousands separators; it may break after the stroke.

    >>> str(fraction("1653526326983/1661102543100"))
    '1,653,526,326,983/<wbr>1,661,102,543,100'
    >>> str(fraction(Fraction(4000)))
    '4,000'
    """
    above, stroke, below = str(value).partition("/")
    return Markup(f"{escape(grouped(above))}/<wbr>{escape(grouped(below))}") if stroke else Markup(grouped(above))


def places(value: str | int | Fraction, count: int) -> str:
    """An exact value to so many decimals, half to even, with thousands separators.

    >>> places("2/3", 4), places(Fraction(1, 8), 2), places(1234567, 1), places("-1/2", 0)
    ('0.6667', '0.12', '1,234,567.0', '0')
    """
    scaled = round(Fraction(value) * 10**count)
    whole, decimals = divmod(abs(scaled), 10**count)
    return f"{'-' if scaled < 0 else ''}{whole:,}" + (f".{decimals:0{count}}" if count else "")


def percent(value: str | Fraction, count: int = 2) -> str:
    """An exact share in percent, half to even; a value below 1 percent of the last place shows as it rounds.

    >>> percent("1/8"), percent("9/10", 0)
    ('12.50 %', '90 %')
    """
    return f"{places(Fraction(value) * 100, count)}\N{NO-BREAK SPACE}%"
