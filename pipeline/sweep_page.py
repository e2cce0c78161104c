"""A sweep as one HTML page: payback over two pays, and payback against variance, as SVG."""

from __future__ import annotations

from html import escape
from io import StringIO
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from numpy.typing import NDArray

from evaluator.decimals import decimal_12
from pipeline.faults import ConfigError, Fault
from pipeline.location import Location, write_whole
from pipeline.sweeps import Sweep

STEADY: Any = {"svg.hashsalt": "autohold", "svg.fonttype": "none", "font.size": 9}
"""equal sweeps give equal bytes; text stays text"""
MOST_LETTERED = 150
"""cells of a heat map that have their payback written in them"""
PIXELS = 400
"""the scatter shows one paytable in each of PIXELS by PIXELS places, for readers cannot see more"""

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 16px/1.4 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }}
svg {{ width: 100%; height: auto }}
figure {{ margin: 2em 0 }}
</style>
<h1>{title}</h1>
<p>{summary}</p>
{figures}
</html>
"""


def write_page(path: Location, found: Sweep, some: NDArray[np.intp]) -> None:
    """Write the page of some paytables of a sweep: their scatter, and a heat map where two pays vary.

    The axes of the map are the first two pays that vary; the others are as in the base, or at their least where the
    base has a pay that is not in the grid. Raises `ConfigError` where there is nothing to show.
    """
    if not len(some):
        raise ConfigError([Fault("--html", str(path), "there is no paytable within the bounds to show")])
    variation = found.variation
    title = f"{variation.game.name}, {variation.base.label}: {len(some):,} paytables"
    figures = [_figure(_scatter(found, some), "Payback against variance; one point for each paytable.")]
    if len(variation.wins) > 1:
        drawing, caption = _heat_map(found)
        figures.insert(0, _figure(drawing, caption))
    told = [
        f"{' and '.join(wins)}: {', '.join(map(str, values)) if len(values) <= 12 else f'{values[0]} to {values[-1]}'}"
        for wins, values in zip(variation.wins, variation.values, strict=True)
    ]
    summary = f"Exact paybacks under optimal play. What varies: {'; '.join(told)}."
    page = PAGE.format(title=escape(title), summary=escape(summary), figures="\n".join(figures))
    write_whole(path, page.encode())


def _figure(drawing: Figure, caption: str) -> str:
    with rc_context(STEADY):
        sink = StringIO()
        drawing.savefig(sink, format="svg", metadata={"Date": None, "Creator": None}, bbox_inches="tight")
    svg = sink.getvalue()
    svg = svg[svg.index("<svg") :].replace("<svg ", f'<svg role="img" aria-label="{escape(caption)}" ', 1)
    return f"<figure>\n{svg}<figcaption>{escape(caption)}</figcaption>\n</figure>"


def _heat_map(found: Sweep) -> tuple[Figure, str]:
    """Payback over the first two pays that vary."""
    variation = found.variation
    lines = [axis.lines[0] for axis in variation.family.axes]
    others = []
    for line, values in zip(lines[2:], variation.values[2:], strict=True):
        pay = variation.base.pays[line]
        others.append(values.index(pay) if pay in values else 0)
    chosen = np.flatnonzero((found.places[:, 2:] == others).all(axis=1))
    rows, columns = (len(values) for values in variation.values[:2])
    paybacks = np.full((rows, columns), np.nan)
    for number in chosen.tolist():
        paybacks[tuple(found.places[number, :2])] = found.swept.won[number] / found.stake
    with rc_context(STEADY):
        drawing = Figure(figsize=(7, 4.5))
        axes = drawing.subplots()
        image = axes.imshow(paybacks, origin="lower", aspect="auto", cmap="viridis")
        drawing.colorbar(image, ax=axes, label="payback")
        _ticks(axes.set_xticks, variation.values[1])
        _ticks(axes.set_yticks, variation.values[0])
        axes.set(xlabel=variation.wins[1][0], ylabel=variation.wins[0][0])
        if paybacks.size <= MOST_LETTERED:
            middle = np.nanmin(paybacks) + np.ptp(paybacks[~np.isnan(paybacks)]) / 2
            for (row, column), value in np.ndenumerate(paybacks):
                if not np.isnan(value):
                    colour = "white" if value < middle else "black"
                    axes.text(column, row, f"{value:.4f}", ha="center", va="center", color=colour, fontsize=7)
    rest = "".join(
        f", {wins[0]} {values[at]}"
        for wins, values, at in zip(variation.wins[2:], variation.values[2:], others, strict=True)
    )
    return drawing, f"Payback over {variation.wins[0][0]} and {variation.wins[1][0]}{rest}."


def _ticks(put: Any, values: tuple[Any, ...]) -> None:
    """At most a dozen labels."""
    step = -(-len(values) // 12)
    places = range(0, len(values), step)
    put(list(places), [str(values[place]) for place in places])


def _scatter(found: Sweep, some: NDArray[np.intp]) -> Figure:
    """Payback against variance, one mark for each place that has a paytable."""
    figures = found.fractions(some)
    paybacks, variances = (np.array([float(value) for value in figures[name]]) for name in ("payback", "variance"))
    kept = _one_a_place(paybacks, variances)
    with rc_context(STEADY):
        drawing = Figure(figsize=(7, 4.5))
        axes = drawing.subplots()
        axes.scatter(paybacks[kept], variances[kept], s=6, linewidths=0)
        axes.set(xlabel="payback", ylabel="variance")
        axes.grid(alpha=0.3)
    least, most = (decimal_12(edge(figures["payback"])) for edge in (min, max))
    axes.set_title(f"payback {least} to {most}", fontsize=9)
    return drawing


def _one_a_place(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.intp]:
    """The first of the points that fall on the same place.

    >>> _one_a_place(np.array([0.0, 0.0, 1.0]), np.array([2.0, 2.0, 3.0])).tolist()
    [0, 2]
    """
    places = [((v - v.min()) / (np.ptp(v) or 1) * (PIXELS - 1)).astype(np.int64) for v in (x, y)]
    _, first = np.unique(places[0] * PIXELS + places[1], return_index=True)
    return np.sort(first)
