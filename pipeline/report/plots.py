"""Plots as SVG that stands in a page: the same bytes for the same data, colours and letters from the page's style.

matplotlib draws; what it writes is then made smaller and at home in HTML: no namespaces, no metadata, no fonts of its
own, only identifiers that something refers to, and the colours below as variables of the style, so that a plot is
light, dark or printed as the page around it.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any

import numpy as np
from markupsafe import Markup, escape
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from numpy.typing import NDArray

INK, SOFT, LINE = "#010101", "#020202", "#030303"
SERIES = ("#040404", "#050505", "#060606", "#070707")
VARIABLES = {INK: "ink", SOFT: "soft", LINE: "line", **{colour: f"c{i}" for i, colour in enumerate(SERIES)}}
"""colour that is drawn -> variable of style.css that takes its place"""
WIDTH = 5.5
"""inches; of 72 units each"""
STEADY: Any = {
    "svg.hashsalt": "autohold",
    "svg.fonttype": "none",
    "font.size": 10,
    "font.sans-serif": ["DejaVu Sans"],
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": SOFT,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": LINE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,
}


def drawn(draw: Callable[[Axes], None], name: str, alt: str, height: float = 2.8, left: float = 0.12) -> Markup:
    """One plot as an SVG element; `name` is unique in the page, `left` the share of the width for labels."""
    with rc_context(STEADY), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # letters are the browser's to draw
        figure = Figure(figsize=(WIDTH, height))
        figure.patch.set_alpha(0)
        axes = figure.add_axes((left, 0.52 / height, 0.93 - left, 1 - 0.62 / height))
        axes.patch.set_alpha(0)
        draw(axes)
        sink = StringIO()
        figure.savefig(sink, format="svg", metadata={"Date": None, "Creator": None})
    return Markup(at_home(sink.getvalue(), name, alt))


def at_home(svg: str, name: str, alt: str) -> str:
    """What matplotlib wrote, as an element of a page."""
    svg = svg[svg.index("<svg") :]
    box = re.search(r'viewBox="[^"]*"', svg)
    svg = re.sub(r"<svg[^>]*>", "", svg, count=1)
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->|<defs>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = svg.replace("xlink:href", "href")
    referred = {*re.findall(r"url\(#([^)]+)\)", svg), *re.findall(r'href="#([^"]+)"', svg)}
    short = {old: f"{name}-{i}" for i, old in enumerate(sorted(referred))}
    svg = re.sub(r' id="([^"]*)"', lambda m: f' id="{short[m[1]]}"' if m[1] in short else "", svg)
    svg = re.sub(r"url\(#([^)]+)\)", lambda m: f"url(#{short[m[1]]})", svg)
    svg = re.sub(r'href="#([^"]+)"', lambda m: f'href="#{short[m[1]]}"', svg)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var(--{variable})")
    svg = re.sub(r"font: ?([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r"<[^>]*>", lambda tag: _shorter(tag[0]), svg)  # not the text between
    while (smaller := re.sub(r"<g>\s*</g>\n?", "", svg)) != svg:
        svg = smaller
    head = f'<svg {box[0] if box else ""} role="img" aria-label="{escape(alt)}" class="plot">'
    return head + svg.replace("</svg>", "").strip() + "\n</svg>"


def _shorter(tag: str) -> str:
    """A tag with two decimals at most, and spaces for line ends."""
    return re.sub(r"(\d\.\d\d)\d+", r"\1", re.sub(r"\s+", " ", tag))


# --- what is drawn ----------------------------------------------------------------------------------------------------


def bars(
    name: str, alt: str, labels: Sequence[str], values: Sequence[float], unit: str, shown: Sequence[str]
) -> Markup:
    """A horizontal bar for each label, first on top, with the text `shown` at its end."""

    def draw(axes: Axes) -> None:
        rows = range(len(labels))
        axes.barh(rows, values, height=0.7, color=SERIES[0])
        most = max([*values, 0]) or 1
        for row, value, text in zip(rows, values, shown, strict=True):
            axes.text(max(value, 0) + most * 0.015, row, text, va="center", fontsize=9)
        axes.set(
            yticks=rows,
            yticklabels=labels,
            xlabel=unit,
            xlim=(min([*values, 0]), most * (1.04 + 0.025 * max(map(len, shown)))),
            ylim=(len(labels) - 0.4, -0.6),
        )
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", linewidth=0.6)
        axes.set_axisbelow(True)

    return drawn(draw, name, alt, 0.7 + 0.24 * len(labels), min(0.5, 0.04 + 0.016 * max(map(len, labels))))


def bands(name: str, alt: str, payback: float, deviation: float, levels: Sequence[tuple[int, float]]) -> Markup:
    """Payback bands against the games played, on a logarithmic axis, each level within the next."""

    def draw(axes: Axes) -> None:
        games = np.logspace(3, 9, 73)
        for (level, z), alpha in zip(reversed(levels), (0.25, 0.35, 0.5), strict=True):
            half = z * deviation / np.sqrt(games)
            axes.fill_between(
                games, 100 * np.maximum(payback - half, 0), 100 * (payback + half),
                color=SERIES[0], alpha=alpha, linewidth=0, label=f"{level} %",
            )  # fmt: skip
        axes.axhline(100 * payback, color=INK, linewidth=1)
        axes.axhline(100, color=SERIES[1], linewidth=1, linestyle="--")
        axes.set(xscale="log", xlim=(1e3, 1e9), xlabel="games played", ylabel="payback in %")
        shown = levels[-1][1] * deviation / 10**2
        axes.set_ylim(100 * max(payback - shown, 0), 100 * (payback + shown))
        axes.xaxis.set_major_locator(LogLocator(10, numticks=9))
        axes.xaxis.set_major_formatter(  # every other power of ten has room for its letters
            FuncFormatter(lambda value, _: _round_number(value) if round(np.log10(value)) % 2 else "")
        )
        axes.xaxis.set_minor_locator(NullLocator())
        axes.grid(linewidth=0.6)
        axes.legend(frameon=False, loc="upper right", fontsize=9)

    return drawn(draw, name, alt, 3.0)


def _round_number(value: float) -> str:
    """A power of ten in few letters.

    >>> _round_number(10**5), _round_number(10**7), _round_number(10**9)
    ('100,000', '10 million', '1 billion')
    """
    for size, word in ((10**9, " billion"), (10**6, " million")):
        if value >= size:
            return f"{value / size:,.0f}{word}"
    return f"{value:,.0f}"


def histogram(name: str, alt: str, values: NDArray[np.float64], weights: NDArray[np.int64]) -> Markup:
    """Share of the deals by what they are worth; both axes logarithmic, deals that are worth nothing left out."""

    def draw(axes: Axes) -> None:
        some = values > 0
        low, high = values[some].min() * 0.999, values[some].max() * 1.001
        edges = np.logspace(np.log10(low), np.log10(high), 61)
        shares, _ = np.histogram(values[some], edges, weights=weights[some] * (100 / weights.sum()))
        axes.stairs(shares, edges, fill=True, color=SERIES[0])
        axes.axvline(1, color=SERIES[1], linewidth=1, linestyle="--")
        axes.set(
            xscale="log", yscale="log", xlabel="expected win of the deal, credits per credit bet", ylabel="% of deals"
        )
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6f}".rstrip("0").rstrip(".")))
            axis.set_minor_formatter(NullFormatter())
            axis.set_minor_locator(NullLocator())
        axes.set_xlim(low, high)
        axes.grid(linewidth=0.6)
        axes.set_axisbelow(True)

    return drawn(draw, name, alt, 2.8, 0.15)


def curve(name: str, alt: str, x: Sequence[float], y: Sequence[float], even: float | None) -> Markup:
    """Payback in percent against the meter, straight between the points; `even` is where it is 100 %."""

    def draw(axes: Axes) -> None:
        axes.plot(x, [100 * value for value in y], color=SERIES[0], linewidth=2)
        axes.axhline(100, color=SERIES[1], linewidth=1, linestyle="--")
        if even is not None:
            axes.plot([even], [100], "o", color=SERIES[1], markersize=6, clip_on=False)
        axes.set(xlabel="meter, credits", ylabel="payback in %", xlim=(x[0], x[-1]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.grid(linewidth=0.6)

    return drawn(draw, name, alt)


def scatter(name: str, alt: str, x: Sequence[float], y: Sequence[float]) -> Markup:
    """A point for each paytable: payback in percent against standard deviation."""

    def draw(axes: Axes) -> None:
        axes.plot(x, y, "o", color=SERIES[0], markersize=4, alpha=0.6, markeredgewidth=0)
        axes.axvline(100, color=SERIES[1], linewidth=1, linestyle="--")
        axes.set(xlabel="payback in %", ylabel="standard deviation, credits per credit bet")
        axes.set_ylim(0, 1.1 * max(y) or 1)
        axes.grid(linewidth=0.6)

    return drawn(draw, name, alt, 4.2)
