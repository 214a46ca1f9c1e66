"""The trace of a search, a JSON line per evaluation: what improved when, and a plot."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Iterable, Mapping

from .border import parse_json, read_text, shown, write_whole
from .errors import ShardoptError, WrongValue
from .figures import Spec, _spec, converter, improved, improvements_chart
from .tables import counted

#: Endings of the files that a plot is written to.
PLOTS = (".html", ".json", ".png", ".svg")


def read_trace(path: "str | os.PathLike[str]") -> list[dict[str, Any]]:
    """The evaluations of a trace, of `--llm-search-sharding='trace=…'` or of a log that
    `Search` or `--checkpoint` wrote, in order."""
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        place = f"{path}:{number}"
        values = parse_json(line, place)
        if not isinstance(values, dict):
            raise ShardoptError(f"{place}: is {shown(values)}, expected an object")
        if "shardopt_search" in values or "ask" in values:
            continue  # of a log: what was asked
        metrics = values.get("metrics", values)
        if not isinstance(metrics, dict) or not isinstance(metrics.get("valid"), bool):
            raise ShardoptError(f"{place}: no evaluation: 'valid' is not true or false")
        rows.append(_row(len(rows) + 1, values, metrics, place))
    if not rows:
        raise ShardoptError(f"'{path}' is no trace: it has no evaluation")
    return rows


def _row(
    number: int, values: Mapping[str, Any], metrics: Mapping[str, Any], place: str
) -> dict[str, Any]:
    row: dict[str, Any] = {"evaluation": number, "valid": metrics["valid"]}
    for name in ("throughput", "tpot_ms", "ttft_ms", "latency_ms"):
        value = metrics.get(name)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ShardoptError(f"{place}: '{name}' is {shown(value)}, expected a number")
        row[name] = value
    strategy = values.get("strategy")
    if isinstance(strategy, dict):
        row.update((name, value) for name, value in strategy.items() if name != "dims")
    if "throughput" not in row:
        raise ShardoptError(f"{place}: no 'throughput'")
    return row


def improvements(rows: Iterable[Mapping[str, Any]], objective: str) -> list[dict[str, Any]]:
    """The evaluations that were better than all before them, with `best`."""
    all_rows, is_latency = list(rows), objective == "latency"

    def value_of(row: Mapping[str, Any]) -> float | None:
        latency = row.get("tpot_ms", row.get("ttft_ms", row.get("latency_ms")))
        return (latency if is_latency else row["throughput"]) if row["valid"] else None

    better = improved(map(value_of, all_rows), is_latency)
    return [{**all_rows[number - 1], "best": value} for number, value in better]


def trace_chart(rows: list[dict[str, Any]], objective: str = "throughput") -> Spec:
    """The best so far after each evaluation, as a Vega-Lite specification."""
    if objective not in ("throughput", "latency"):
        raise WrongValue(f"'objective' is {shown(objective)}, expected throughput or latency")
    found = [(row["evaluation"], row["best"]) for row in improvements(rows, objective)]
    goal = "latency, ms" if objective == "latency" else "tokens/s per GPU"
    return _spec(
        f"Best of {counted(len(rows), 'evaluation')}", {**improvements_chart(found, len(rows), goal), "height": 260}
    )


def write_chart(spec: Spec, path: str, inputs: Iterable[Any] = ()) -> None:
    """Writes a chart as its ending says: a picture, a page, or the specification."""
    ending = Path(path).suffix
    if ending not in PLOTS:
        raise WrongValue(f"'{path}' ends in '{ending}', expected one of {', '.join(PLOTS)}")
    if ending == ".json":
        write_whole(path, json.dumps(spec, indent=1) + "\n", inputs)
        return
    draw = converter()
    text = json.dumps(spec)
    if ending == ".png":
        write_whole(path, draw.vegalite_to_png(text, scale=2), inputs)
    elif ending == ".svg":
        write_whole(path, draw.vegalite_to_svg(text), inputs)
    else:
        write_whole(path, draw.vegalite_to_html(text, bundle=True), inputs)
