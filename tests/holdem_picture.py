"""The picture of the README: hand strength now against effective hand strength, over all deals of a hole and a flop.

autohold ehs-table --street flop --out RUN
python -m tests.holdem_picture RUN tests/pictures/ehs-flop.svg
"""

import sys
from pathlib import Path

import matplotlib as mpl
import pyarrow.parquet as pq
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

CELLS = 80


def picture(hs, ehs, weight):
    """The figure of some rows of the table; a darker cell has more deals."""
    figure = Figure(figsize=(6.4, 5.4), layout="constrained")
    axes = figure.subplots()
    share = weight / weight.sum(dtype="int64")
    *_, cells = axes.hist2d(
        hs, ehs, CELLS, range=[[0, 1], [0, 1]], weights=100 * share, norm=LogNorm(1e-4), cmap="Blues", rasterized=True
    )
    axes.plot([0, 1], [0, 1], color="firebrick", linewidth=0.8, linestyle="--")
    axes.annotate("EHS = HS", (0.72, 0.74), rotation=45, color="firebrick", fontsize=9)
    axes.set(xlabel="HS on the flop", ylabel="EHS, two cards to come", aspect="equal")
    figure.colorbar(cells, label="% of all deals of a hole and a flop")
    return figure


def main(run, target):
    table = pq.read_table(Path(run) / "flop" / "ehs", columns=["hs", "ehs2", "weight"])
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "autohold", "svg.fonttype": "none"}):
        metadata = {"Date": None} if target.endswith("svg") else None
        picture(*(column.to_numpy() for column in table.columns)).savefig(target, metadata=metadata, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
