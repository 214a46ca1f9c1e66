"""A plan as one HTML file that needs nothing else: charts, table, and the plan
itself, which every verb reads back."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Iterable, Sequence

from .border import write_whole
from .checks import _check_kind
from .figures import Spec, charts, converter
from .frontier import Frontier
from .heads import STYLE, head_of
from .plans import Plan
from .searching import Search
from .sensitivity import Change
from .service_figures import charts_of_service
from .services import Service

_STYLE = """
:root { color-scheme: light dark; --text: #1c1c1c; --paper: #fff; --line: #ccc; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e4e4; --paper: #161616; --line: #444; }
}
@media print { :root { --text: #000; --paper: #fff; } figure { break-inside: avoid; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text);
  background: var(--paper); max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; }
figure { margin: 1.5rem 0; }
figure svg { max-width: 100%; height: auto; }
pre { overflow-x: auto; border-top: 1px solid var(--line);
  border-bottom: 1px solid var(--line); padding: .6rem 0; font-size: 12px; }
"""

_DRAW = """
const specs = JSON.parse(document.getElementById("charts").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
// Texts on cells, and lines that stay behind what is drawn.
const NIGHT = {text: {color: "#f4f4f4"}, axis: {gridColor: "#3a3a3a"},
  view: {stroke: "#555"}};
// A chart is as wide as its figure; grids of fixed steps are scaled by the style. Where
// there is little room, legends go below.
function fitted(name, spec) {
  const room = document.getElementById(name).clientWidth;
  if (typeof spec.width !== "number" || room >= 850) return spec;
  // Heights of steps do not go with a fit; the names next to them have at most 110 pixels.
  if (typeof spec.height === "object") return {...spec, width: room - 135};
  return {...spec, width: room, autosize: {type: "fit-x", contains: "padding"}};
}
function draw(isDark) {
  const isNarrow = document.body.clientWidth < 882;
  const legend = isNarrow ? {legend: {orient: "bottom", columns: 2}, title: {fontSize: 12},
    axis: {...(isDark && NIGHT.axis), labelLimit: 110}} : {};
  for (const [name, spec] of Object.entries(specs))
    vegaEmbed("#" + name, fitted(name, spec), {renderer: "svg", actions: false,
      theme: isDark ? "dark" : undefined,
      config: {background: null, ...(isDark && NIGHT), ...legend}}).catch(console.error);
}
dark.addEventListener("change", event => draw(event.matches));
window.addEventListener("beforeprint", () => draw(false));
window.addEventListener("afterprint", () => draw(dark.matches));
draw(dark.matches);
"""


def _bundle() -> str:
    """Vega-Lite as one script."""
    return str(converter().javascript_bundle())


def _embedded(value: Any) -> str:
    """JSON that ends no script."""
    return json.dumps(value, allow_nan=False).replace("<", "\\u003c")


def page(
    plan: "Plan | Service",
    frontier: Frontier | None = None,
    changes: Sequence[Change] | None = None,
    search: Search | None = None,
) -> str:
    """The text of the page, with the charts of all that is given. It begins with the
    headline numbers and the command that leads to a launch."""
    _check_kind((Plan, Service), "plan", plan)
    problem = plan.problem
    title = f"{problem.model.name or problem.model.path} on {problem.machine_name}"
    if isinstance(plan, Service):
        return _page(f"{title}, {plan.engine}", charts_of_service(plan, frontier, changes), plan)
    return _page(title, charts(plan, frontier, changes, search), plan)


def _page(title: str, specs: dict[str, Spec], plan: "Plan | Service") -> str:
    """A page: the head of the plan, charts, and the table of terminals."""
    figures = "".join(f'<figure id="{name}"></figure>\n' for name in specs)
    title = html.escape(title)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{_STYLE}{STYLE}</style>\n"
        f"<script>{_bundle()}</script></head>\n<body><h1>{title}</h1>"
        f"{head_of(plan, 'PAGE.html')}\n{figures}"
        f"<details><summary>Table</summary><pre>{html.escape(plan.table)}</pre></details>\n"
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
