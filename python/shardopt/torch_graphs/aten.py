"""The ops of ATen in StableHLO, by name."""

from __future__ import annotations

from . import elementwise, layers, lookups, reductions
from .registry import RULES, Unsupported

#: Where the rules are.
FAMILIES = (elementwise, layers, lookups, reductions)

__all__ = ["FAMILIES", "RULES", "Unsupported"]
