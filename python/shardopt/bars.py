"""How far a search is, as a bar on a terminal."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, TextIO

from .plans import Metrics
from .searching import Search, Trial

#: How often the bar is drawn.
EVERY_S = 0.1
_WIDTH = 24


def _spell_seconds(seconds: float) -> str:
    """ "48s", "3m07s", "2h05m"."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"


def bar(told: int, budget: int, seconds: float, since: int = 0) -> str:
    """Share, rate and time left after `told` of `budget` evaluations, of which
    `since` were told before these `seconds`."""
    share = told / budget
    filled = int(share * _WIDTH)
    rate = (told - since) / seconds if seconds > 0 else 0.0
    left = _spell_seconds((budget - told) / rate) if rate > 0 else "?"
    drawn = "#" * filled + "-" * (_WIDTH - filled)
    return f"[{drawn}] {share:4.0%}  {told} of {budget}, {rate:.3g}/s, {left} left"


def progress(file: TextIO | None = None) -> Callable[[Search, Trial, Metrics], Any]:
    """A callback for `Search.run` that draws a bar where `file`, the standard
    error unless it is given, is a terminal, and nothing elsewhere."""
    where = sys.stderr if file is None else file
    start, since, drawn = time.monotonic(), -1, 0.0

    def draw(search: Search, trial: Trial, metrics: Metrics) -> None:
        nonlocal start, since, drawn
        told, now = len(search.history), time.monotonic()
        if since < 0:  # the first one of this run
            start, since = now, told
        is_last = told >= search.budget
        if not where.isatty() or (now - drawn < EVERY_S and not is_last):
            return
        drawn = now
        text = bar(told, search.budget, now - start, since)
        if search.best:
            best, is_latency = search.best[1], search.problem.objective == "latency"
            goal = f"{best.latency_ms:.4g} ms" if is_latency else f"{best.throughput:.4g}"
            text += f", best {goal}"
        where.write(f"\r\x1b[K{text}" + ("\n" if is_last else ""))
        where.flush()

    return draw
