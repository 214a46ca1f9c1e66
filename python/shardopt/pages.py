"""A plan as one HTML file that needs nothing else: charts, table, and the plan
itself, which every verb reads back."""

from __future__ import annotations

import html
import json
import os
import shlex
from typing import Any, Iterable, Sequence

from .border import write_whole
from .checks import _check_kind
from .figures import Spec, charts
from .errors import ShardoptError
from .frontier import Frontier
from .plans import Plan
from .models import version
from .searching import Search
from .sensitivity import Change
from .service_figures import charts_of_service
from .service_tables import html_of_service
from .services import Service

_STYLE = """
:root { color-scheme: light dark; --text: #1c1c1c; --paper: #fff; --line: #ccc; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --paper: #161616; --line: #444; }
}
@media print { :root { --text: #000; --paper: #fff; } figure { break-inside: avoid; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text);
  background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { opacity: .7; } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1.5rem 0; overflow-x: auto; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1rem 0; }
th, td { padding: .15rem .6rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line); }
pre { overflow-x: auto; border-top: 1px solid var(--line);
  border-bottom: 1px solid var(--line); padding: .6rem 0; font-size: 12px; }
"""

_DRAW = """
const specs = JSON.parse(document.getElementById("charts").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
// Texts on cells, and lines that stay behind what is drawn.
const NIGHT = {text: {color: "#f4f4f4"}, axis: {gridColor: "#3a3a3a"},
  view: {stroke: "#555"}};
function draw(isDark) {
  for (const [name, spec] of Object.entries(specs))
    vegaEmbed("#" + name, spec, {renderer: "svg", actions: false,
      theme: isDark ? "dark" : undefined,
      config: {background: null, ...(isDark && NIGHT)}}).catch(console.error);
}
dark.addEventListener("change", event => draw(event.matches));
window.addEventListener("beforeprint", () => draw(false));
window.addEventListener("afterprint", () => draw(dark.matches));
draw(dark.matches);
"""


def _bundle() -> str:
    """Vega-Lite as one script."""
    try:
        import vl_convert  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ShardoptError(
            "a report needs vl-convert-python, which contains the chart library: "
            "pip install vl-convert-python"
        ) from None
    return str(vl_convert.javascript_bundle())  # type: ignore[call-arg]


def _embedded(value: Any) -> str:
    """JSON that ends no script."""
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")


def page(
    plan: "Plan | Service",
    frontier: Frontier | None = None,
    changes: Sequence[Change] | None = None,
    search: Search | None = None,
) -> str:
    """The text of the page, with the charts of all that is given. Of a service it begins
    with what is served, its roles, SLOs, and the command that leads to its launch."""
    _check_kind((Plan, Service), "plan", plan)
    if isinstance(plan, Service):
        title = f"{plan.problem.model.name} on {plan.problem.machine_name}, {plan.engine}"
        facts = {"version": f"shardopt {version()}", "command": shlex.join(plan.command) or "-"}
        head = (
            f"{html_of_service(plan)}<h2>Launch</h2><pre>{html.escape(_LAUNCH)}</pre>"
            f"{_definitions(facts)}"
        )
        return _page(title, head, charts_of_service(plan, frontier, changes), plan)
    problem = plan.problem
    limit = "none" if problem.slo_ms == float("inf") else f"{problem.slo_ms:g} ms"
    metrics = plan.metrics
    name = "TPOT" if problem.phase == "decode" else "TTFT"
    headline = {
        "throughput": f"{metrics.throughput:.4g} tokens/s per GPU",
        name: f"{metrics.latency_ms:.4g} ms (SLO {limit})",
        "memory": f"{metrics.memory_gb:.4g} GB per GPU",
    }
    facts = {
        "model": problem.model.name or problem.model.path,
        "machine": problem.machine_name,
        "workload": f"{problem.phase}, {problem.model.context} tokens",
        "search": "proved optimal" if plan.proved else "best found",
        "version": f"shardopt {version()}",
        "command": shlex.join(plan.command) or "-",
    }
    title = f"{facts['model']} on {facts['machine']}"
    specs = charts(plan, frontier, changes, search)
    head = _definitions(headline) + _launch_of(plan) + _definitions(facts)
    return _page(title, head, specs, plan)


#: What leads from a page, which is a plan file, to a launch.
_LAUNCH = "shardopt export PAGE.html --target shell -o launch"


def _launch_of(plan: Plan) -> str:
    """The command that exports a plan of a phase, if an engine runs it."""
    engines = plan.report.get("engines") or {}
    runner = next((name for name, row in engines.items() if row["runs_plan"]), None)
    engine = plan.problem.engine or runner
    if not engine:
        return ""
    words = html.escape(f"shardopt export PAGE.html --engine {engine}")
    return f"<h2>Launch</h2><pre>{words}</pre>"


def _definitions(facts: dict[str, str]) -> str:
    rows = "".join(
        f"<dt>{name}</dt><dd>{html.escape(str(value))}</dd>"
        for name, value in facts.items()
    )
    return f"<dl>{rows}</dl>"


def _page(title: str, head: str, specs: dict[str, Spec], plan: "Plan | Service") -> str:
    """A page that begins with `head`, a piece of HTML."""
    figures = "".join(f'<figure id="{name}"></figure>\n' for name in specs)
    title = html.escape(title)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}</style>\n"
        f"<script>{_bundle()}</script></head>\n<body><h1>{title}</h1>{head}\n"
        f"{figures}<h2>Table</h2><pre>{html.escape(plan.table)}</pre>\n"
        f'<script type="application/json" id="charts">{_embedded(specs)}</script>\n'
        '<script type="application/json" id="plan">'
        f"{_embedded(plan.to_dict())}</script>\n<script>{_DRAW}</script></body></html>\n"
    )


def report(
    plan: "Plan | Service",
    path: "str | os.PathLike[str]",
    frontier: Frontier | None = None,
    changes: Sequence[Change] | None = None,
    search: Search | None = None,
    inputs: Iterable[Any] = (),
) -> None:
    """Writes the page to `path`, whole or not at all, and not where that is one of
    the files `inputs`."""
    write_whole(path, page(plan, frontier, changes, search), inputs)
