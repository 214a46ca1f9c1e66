"""The head of a plan as HTML, for pages and notebooks: headline numbers, the command that
leads to a launch, then facts. Every number is spelled as in the table."""

from __future__ import annotations

import html
import shlex
from typing import Iterable, Sequence

from ._native import native
from .models import version
from .plans import Plan
from .problem import FREE
from .service_tables import (
    Rows,
    cost_of,
    facts_of,
    number,
    results_of,
    role_rows,
    slo_rows,
    three,
)
from .services import Service
from .shell import command_line
from .verbs import public

#: Of the head alone, so that a notebook's own text keeps its look. On narrow screens a row
#: of a table is a list of its cells, each with the name of its column.
STYLE = """
.shardopt { line-height: 1.45; max-width: 60rem; }
.shardopt .cards { display: flex; flex-wrap: wrap; gap: .6rem; margin: .8rem 0; padding: 0; }
.shardopt .card { border: 1px solid #8886; border-radius: 6px; padding: .4rem .8rem; }
.shardopt .card b { display: block; font-size: 1.35em; }
.shardopt .card.missed { border-color: firebrick; }
.shardopt .card.met { border-color: seagreen; }
.shardopt pre.launch { white-space: pre-wrap; overflow-wrap: anywhere; margin: .8rem 0;
  border: 1px solid #8886; border-radius: 6px; padding: .5rem .8rem; }
.shardopt dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
.shardopt dt { opacity: .7; }
.shardopt dd { margin: 0; overflow-wrap: anywhere; }
.shardopt table { border-collapse: collapse; margin: 1rem 0; }
.shardopt th, .shardopt td { padding: .15rem .45rem; text-align: right;
  border-bottom: 1px solid #8886; }
.shardopt td:first-child, .shardopt th:first-child { text-align: left; font-weight: 600; }
@media (max-width: 640px) {
  .shardopt thead { display: none; }
  .shardopt table, .shardopt tbody, .shardopt tr { display: block; }
  .shardopt tr { margin: 0 0 .8rem; }
  .shardopt td { display: flex; justify-content: space-between; gap: 1rem; }
  .shardopt td::before { content: attr(data-label); opacity: .7; }
  .shardopt td:empty { display: none; }
}
"""

#: A value, what it is, and whether it meets its SLO (None: it has none).
Card = tuple[str, str, "bool | None"]


def _cards(cards: Iterable[Card]) -> str:
    kinds = {None: "", True: " met", False: " missed"}
    rows = "".join(
        f'<div class="card{kinds[met]}"><b>{html.escape(value)}</b> {html.escape(what)}</div>\n'
        for value, what, met in cards
    )
    return f'<div class="cards">\n{rows}</div>'


def _facts(facts: Iterable[tuple[str, str]]) -> str:
    rows = "".join(
        f"<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>" for name, text in facts
    )
    return f"<dl>{rows}</dl>"


def _table(rows: Rows) -> str:
    """A table whose cells know their column; what is behind the head is one more cell."""
    names = [*rows[0], ""]

    def cells(row: Sequence[str]) -> str:
        texts = [*row[: len(names) - 1], "; ".join(row[len(names) - 1 :])]
        return "".join(
            f'<td data-label="{html.escape(name)}">{html.escape(text)}</td>'
            for name, text in zip(names, texts)
        )

    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join(f"<tr>{cells(row)}</tr>" for row in rows[1:])
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def export_words(plan: "Plan | Service", file: str) -> list[str]:
    """The command that exports the plan in `file`; empty if no engine runs the plan."""
    words = ["shardopt", "export", file]
    if isinstance(plan, Service):
        is_free = plan.engine == FREE or public("why_not_exported")(plan) is not None
        return [] if is_free else [*words, "--target", "shell", "-o", "launch"]
    if plan.problem.engine not in (None, FREE):
        return [*words, "--engine", plan.problem.engine]
    engines = plan.report.get("engines") or {native().usual_engine: {"runs_plan": True}}
    runner = next((name for name, row in engines.items() if row["runs_plan"]), None)
    return [*words, "--engine", runner] if runner else []


def _launch(plan: "Plan | Service", file: str) -> str:
    words = export_words(plan, file)
    return f'<pre class="launch">{html.escape(command_line(words))}</pre>' if words else ""


def _made_by(plan: "Plan | Service") -> list[tuple[str, str]]:
    command = [("command", shlex.join(plan.command))] if plan.command else []
    return [("version", f"shardopt {version()}"), *command]


def _service_cards(service: Service) -> list[Card]:
    metrics = service.metrics
    slos = []
    for slo in service.slos:
        is_open = slo.target_ms == float("inf")
        target = "no SLO" if is_open else f"SLO {number(slo.target_ms)} ms"
        target += ": interval crosses it" if slo.interval_crosses else ""
        what = f"{slo.name}, {slo.statistic} ({target})"
        slos.append((f"{three(slo.attained_ms)} ms", what, None if is_open else slo.met))
    cards: list[Card] = [
        (three(metrics.tokens_per_s_per_gpu), "tokens/s per GPU", None),
        *slos,
        (three(metrics.requests_per_s), "req/s", None),
        (f"{metrics.gpus} of {service.gpus_available}", "GPUs", None),
    ]
    cost = cost_of(service).partition(" an hour")[0]
    return [*cards, (cost, "per hour", None)] if cost else cards


def _of_service(service: Service, file: str) -> str:
    return (
        _cards(_service_cards(service))
        + _launch(service, file)
        + _facts(facts_of(service))
        + _table(role_rows(service))
        + _table(slo_rows(service))
        + _facts([*results_of(service), *_made_by(service)])
    )


def _of_phase(plan: Plan, file: str) -> str:
    problem, metrics = plan.problem, plan.metrics
    is_open = problem.slo_ms == float("inf")
    name = "TPOT" if problem.phase == "decode" else "TTFT"
    target = "no SLO" if is_open else f"SLO {problem.slo_ms:g} ms"
    is_met = None if is_open else metrics.latency_ms <= problem.slo_ms
    cards: list[Card] = [
        (f"{metrics.throughput:.4g}", "tokens/s per GPU", None),
        (f"{metrics.latency_ms:.4g} ms", f"{name} ({target})", is_met),
        (f"{metrics.memory_gb:.4g} GB", f"per GPU, of {problem.memory_gb:.4g} GB", None),
        (str(plan.strategy.devices), "GPUs", None),
    ]
    facts = [
        ("model", problem.model.name or problem.model.path),
        ("machine", problem.machine_name),
        ("workload", f"{problem.phase}, {problem.model.context} tokens"),
        ("search", "proved optimal" if plan.proved else "best found"),
        *_made_by(plan),
    ]
    return _cards(cards) + _launch(plan, file) + _facts(facts)


def head_of(plan: "Plan | Service", file: str) -> str:
    """The head of a plan or a service that `file` holds, without its style."""
    made = _of_service(plan, file) if isinstance(plan, Service) else _of_phase(plan, file)
    return f'<div class="shardopt">{made}</div>'


def for_notebook(plan: "Plan | Service") -> str:
    """The head with its style, as notebooks show a plan."""
    return f"<style>{STYLE}</style>{head_of(plan, 'plan.json')}"
