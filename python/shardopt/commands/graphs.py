"""The verb of graphs that other compilers made: import-graph."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from ..answers import print_json
from ..border import check_outputs, write_whole
from ..errors import ShardoptError
from ..exits import FEASIBLE
from ..graphs import Graph, import_graph, parse_pin, read_pins
from ..tables import counted, rows_as_table


def _plan_rows(graph: Graph) -> list[dict[str, Any]]:
    """The chosen sharding next to those that people write by hand."""
    return [
        {
            "plan": plan["plan"],
            "us": f"{plan['us']:.1f}",
            "GB": f"{plan['memory_bytes'] / 1e9:.3g}",
            "all-reduces": plan["all_reduces"],
            "reshards": plan["reshards"],
            "MB": f"{plan['collective_bytes'] / 1e6:.3g}",
        }
        for plan in graph.plans
    ]


def import_graph_verb(args: argparse.Namespace) -> int:
    check_outputs([args.output], [args.graph, *([args.pins] if args.pins else [])])
    pins = read_pins(args.pins) if args.pins else {}
    for text in args.pin:
        name, sharding = parse_pin(text)
        if pins.setdefault(name, sharding) != sharding:
            raise ShardoptError(f"'pin' of {name!r} is given twice, expected one sharding of it")
    graph = import_graph(args.graph, args.machine, args.mesh, args.memory_gb, args.time_limit, pins, args.simulator)
    if args.output:
        write_whole(args.output, graph.annotated, [args.graph])
    if args.format == "json":
        found = dataclasses.asdict(graph)
        del found["annotated"]
        print_json({**found, "rows": graph.rows(), "placements": graph.placements(), "output": args.output})
        return FEASIBLE
    print(rows_as_table(graph.rows()), end="\n\n")
    axes = ", ".join(f"{name} {size}" for name, size in graph.mesh.items())
    proof = "proved" if graph.proved else f"bound {graph.bound_us or 0:.1f} us"
    print(f"  mesh      {axes}")
    print(f"  time      {graph.us:.1f} us ({proof})")
    if graph.layers > 1:
        print(f"  layers    {graph.layers} share their sharding")
    for axis in graph.unused():
        print(f"  note      axis {axis} shards nothing: no dim that {graph.mesh[axis]} divides is worth it")
    ops = [node for node in graph.nodes if node["op"] != "argument"]
    for why in dict.fromkeys((node["op"], node["replicated"]) for node in ops if node["replicated"]):
        count = sum((node["op"], node["replicated"]) == why for node in ops)
        print(f"  note      {counted(count, why[0])} replicated: {why[1]}")
    print("\n" + rows_as_table(_plan_rows(graph)))
    if args.output:
        print(f"  written   {args.output}")
    return FEASIBLE
