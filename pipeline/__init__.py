"""Everything of autohold that touches the world: files, clusters, the terminal.

The names of the Python interface are loaded when they are first used, so that a command starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.api import certify, holds, load_game, look_up, read_strategy

__all__ = ["certify", "holds", "load_game", "look_up", "read_strategy"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("pipeline.api"), name)
    raise AttributeError(f"module 'pipeline' has no attribute {name!r}")
