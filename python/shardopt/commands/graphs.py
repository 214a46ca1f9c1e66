"""The verb of graphs that other compilers made: import-graph."""

from __future__ import annotations

import argparse
import dataclasses

from ..answers import print_json
from ..border import check_outputs, write_whole
from ..exits import FEASIBLE
from ..graphs import import_graph
from ..tables import counted, rows_as_table


def import_graph_verb(args: argparse.Namespace) -> int:
    check_outputs([args.output], [args.graph])
    graph = import_graph(args.graph, args.machine, args.mesh, args.memory_gb, args.time_limit)
    if args.output:
        write_whole(args.output, graph.annotated, [args.graph])
    if args.format == "json":
        found = dataclasses.asdict(graph)
        del found["annotated"]
        print_json({**found, "rows": graph.rows(), "output": args.output})
        return FEASIBLE
    print(rows_as_table(graph.rows()), end="\n\n")
    axes = ", ".join(f"{name} {size}" for name, size in graph.mesh.items())
    proof = "proved" if graph.proved else f"bound {graph.bound_us or 0:.1f} us"
    print(f"  mesh      {axes}")
    print(f"  time      {graph.us:.1f} us ({proof}); replicated {graph.replicated_us:.1f} us")
    if graph.layers > 1:
        print(f"  layers    {graph.layers} share their sharding")
    print(f"  memory    {graph.memory_bytes / 1e9:.3g} GB of a device")
    ops = [node for node in graph.nodes if node["op"] != "argument"]
    for why in dict.fromkeys((node["op"], node["replicated"]) for node in ops if node["replicated"]):
        count = sum((node["op"], node["replicated"]) == why for node in ops)
        print(f"  note      {counted(count, why[0])} replicated: {why[1]}")
    if args.output:
        print(f"  written   {args.output}")
    return FEASIBLE
