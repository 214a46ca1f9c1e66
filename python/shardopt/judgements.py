"""`judge` and its answer, which are `check` and `Check` now."""

from __future__ import annotations

from .checking.verdicts import Check as Judgement
from .checking.verdicts import judge

__all__ = ["Judgement", "judge"]
