"""The verbs that draw: report, trace."""

from __future__ import annotations

import argparse
import json

from ..answers import inputs_of, print_json
from ..asked import plan_of
from ..border import check_outputs, write_whole
from ..errors import ShardoptError
from ..exits import FEASIBLE
from ..figures import converter, searched, timeline
from ..frontier import pareto
from ..pages import report
from ..sensitivity import sweep
from ..services import Service
from ..tables import counted, rows_as_table
from ..traces import improvements, read_trace, trace_chart, write_chart


def report_verb(args: argparse.Namespace) -> int:
    plan = plan_of(args)
    inputs = inputs_of(args, [plan.problem])
    check_outputs([args.output, args.timeline], inputs)
    converter()  # Before minutes of searches for charts that it cannot draw.
    is_service = isinstance(plan, Service)
    if is_service and args.timeline:
        raise ShardoptError(
            "'--timeline' is of a layer of a phase, and the plan file holds a service"
        )
    front = None if args.no_front else pareto(plan.problem, step=args.step)
    changes = None if args.no_sweep else sweep(plan.problem)
    search = None if args.no_search or is_service else searched(plan)
    report(plan, args.output, front, changes, search, inputs)
    if args.timeline:
        text = json.dumps(timeline(plan), indent=1) + "\n"
        write_whole(args.timeline, text, inputs)
    if args.format == "json":
        print_json({"page": args.output, "timeline": args.timeline})
    else:
        print(f"  page      {args.output}")
        if args.timeline:
            print(f"  timeline  {args.timeline}")
    return FEASIBLE


def trace_verb(args: argparse.Namespace) -> int:
    check_outputs([args.plot], [args.trace])
    rows = read_trace(args.trace)
    found = improvements(rows, args.objective)
    if args.plot:
        write_chart(trace_chart(rows, args.objective), args.plot, [args.trace])
    if args.format == "json":
        print_json({"evaluations": len(rows), "improvements": found, "plot": args.plot})
        return FEASIBLE
    if found:
        print(rows_as_table(found), end="\n\n")
    valid = sum(row["valid"] for row in rows)
    evaluations = counted(len(rows), "evaluation")
    print(f"  {evaluations}, {valid} valid, {counted(len(found), 'improvement')}")
    if args.plot:
        print(f"  plot  {args.plot}")
    return FEASIBLE
