"""How far a search is, as a bar on a terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, Iterator, TextIO

from ._native import native
from .plans import Metrics
from .problem import Problem
from .searching import Search
from .trials import Trial

#: How often the bar is drawn.
EVERY_S = 0.1
#: Evaluations of a search whose budget is not said.
USUAL_BUDGET = 4000
_WIDTH = 24
#: Characters of a simulator's command that are shown.
_MOST_NAME = 24


def _spell_seconds(seconds: float) -> str:
    """ "48s", "3m07s", "2h05m"."""
    whole = int(seconds + 0.5)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"


def bar(told: int, budget: int, seconds: float, since: int = 0) -> str:
    """Share, rate and time left after `told` of `budget` evaluations. `since` of them
    were told before these `seconds`."""
    share = told / budget
    filled = int(share * _WIDTH)
    rate = (told - since) / seconds if seconds > 0 else 0.0
    left = _spell_seconds((budget - told) / rate) if rate > 0 else "?"
    drawn = "#" * filled + "-" * (_WIDTH - filled)
    return f"[{drawn}] {share:4.0%}  {told} of {budget}, {rate:.3g}/s, {left} left"


def _spell_best(value: float, problem: Problem) -> str:
    is_latency = problem.objective == "latency"
    return f", best {value:.4g} ms" if is_latency else f", best {value:.4g}"


def _waits_for(problem: Problem) -> str:
    """What a search waits for: "exec:./sim", "surrogate search", "service search, vllm"."""
    if problem.is_service:
        return f"service search, {problem.engine or native().usual_engine}"
    if isinstance(problem.simulator, str) and problem.simulator.startswith(("exec:", "plugin:")):
        return problem.simulator[:_MOST_NAME]
    return f"{problem.searcher} search"


@contextlib.contextmanager
def searching(
    problem: Problem, file: TextIO | None = None, quiet: bool = False
) -> Iterator[Callable[..., None] | None]:
    """What `plan` takes as `progress`: a bar of a search of more than half a second
    on a terminal, which goes away with its end; None elsewhere, or if `quiet`."""
    where = sys.stderr if file is None else file
    is_exact = problem.searcher in (None, "exact")
    if quiet or not where.isatty() or (is_exact and not problem.is_service):
        yield None
        return
    start, budget = time.monotonic(), problem.budget or USUAL_BUDGET
    waits_for = _waits_for(problem)

    def draw(told: int, throughput: float | None, latency: float | None) -> None:
        seconds = time.monotonic() - start
        if seconds < 0.5:
            return
        if problem.is_service:  # nobody knows how many there will be
            text = f"{told} loads evaluated in {_spell_seconds(seconds)}"
        else:
            text = bar(min(told, budget), budget, seconds)
        value = latency if problem.objective == "latency" else throughput
        best = "" if value is None else _spell_best(value, problem)
        where.write(f"\r\x1b[K{waits_for}: {text}{best}")
        where.flush()

    try:
        yield draw
    finally:
        where.write("\r\x1b[K")
        where.flush()


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
            value = best.latency_ms if is_latency else best.throughput
            text += _spell_best(value, search.problem)
        if search.pending:
            text += f", {len(search.pending)} running"
        where.write(f"\r\x1b[K{text}" + ("\n" if is_last else ""))
        where.flush()

    return draw
