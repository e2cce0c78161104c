"""Everything of autohold that touches the world: files, clusters, the terminal.

The names of the Python interface are loaded when they are first used, so that a command starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.api import certify, holds, load_game, look_up, read_strategy, sensitivity
    from pipeline.derived import derive_chart
    from pipeline.designs import design
    from pipeline.meter import meter_curve
    from pipeline.notebook import held
    from pipeline.sweep_table import sweep_frame
    from pipeline.sweeps import sweep

__all__ = [
    "certify",
    "derive_chart",
    "design",
    "held",
    "holds",
    "load_game",
    "look_up",
    "meter_curve",
    "read_strategy",
    "sensitivity",
    "sweep",
    "sweep_frame",
]

_HOMES = {
    "meter_curve": "pipeline.meter",
    "derive_chart": "pipeline.derived",
    "design": "pipeline.designs",
    "held": "pipeline.notebook",
    "sweep": "pipeline.sweeps",
    "sweep_frame": "pipeline.sweep_table",
}
"""where the names are that are not in `pipeline.api`"""


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(_HOMES.get(name, "pipeline.api")), name)
    raise AttributeError(f"module 'pipeline' has no attribute {name!r}")
