"""The planner, loaded when it is first asked."""

from __future__ import annotations

from typing import Any


def native() -> Any:
    """The private module `_shardopt`."""
    try:
        from . import _shardopt
    except ImportError as error:
        raise ImportError(
            f"shardopt's planner cannot be loaded: {error}; build the target "
            "'shardopt-python'"
        ) from error
    return _shardopt
