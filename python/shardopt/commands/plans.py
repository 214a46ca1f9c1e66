"""The verbs of a plan that is there: evaluate, diff, explain, verify and lower."""

from __future__ import annotations

import argparse
import dataclasses
import json

from ..answers import inputs_of, print_json, show
from ..asked import phase_of, plan_of
from ..border import check_outputs, parse_json, read_text, write_whole
from ..errors import ShardoptError
from ..exits import DIFFERENT, FEASIBLE, INFEASIBLE
from ..explanations import diff, explain
from ..plans import Strategy, evaluate, given
from ..programs import lower, verify
from ..replays import Replay, read_requests, replay
from ..services import Service, evaluate_service
from ..tables import rows_as_table


def evaluate_verb(args: argparse.Namespace) -> int:
    plan = plan_of(args)
    args.output_dir = None
    if isinstance(plan, Service):
        if args.strategies:
            raise ShardoptError(
                "'--strategies' are of a phase, and the plan file holds a service"
            )
        if args.requests is not None:
            return _show_replay(replay(plan, read_requests(args.requests)), args)
        return show([evaluate_service(plan)], args)
    if args.requests is not None:
        raise ShardoptError("'--requests' are of a service, and the plan file holds one phase")
    if not args.strategies:
        return show([given(plan.problem, plan.strategy)], args)
    strategies = []
    for number, line in enumerate(read_text(args.strategies).splitlines(), 1):
        if not line.strip():
            continue
        place = f"{args.strategies}:{number}"
        values = parse_json(line, place)
        try:
            strategies.append(Strategy.from_dict(values, plan.problem.model.ops))
        except (ValueError, TypeError) as error:
            raise ShardoptError(f"{place}: {error}") from None
    rows = [metrics.to_dict() for metrics in evaluate(plan.problem, strategies)]
    if args.format == "json":
        for row in rows:
            print(json.dumps(row))
    else:
        print(rows_as_table(rows))
    return FEASIBLE


def _show_replay(found: Replay, args: argparse.Namespace) -> int:
    if args.format == "json":
        print_json(found.to_dict())
    else:
        print(found.table, end="")
    return FEASIBLE if found.met else INFEASIBLE


def diff_verb(args: argparse.Namespace) -> int:
    found = diff(plan_of(args, args.first), plan_of(args, args.second))
    if args.format == "json":
        print_json({"summary": found.summary, "ops": found.ops})
    else:
        print(found)
    return FEASIBLE


def explain_verb(args: argparse.Namespace) -> int:
    plan = plan_of(args)
    if isinstance(plan, Service) and args.op is None and args.role is None:
        explained = plan.explain()
        if args.format == "json":
            print_json(explained.rows())
        else:
            print(explained)
        return FEASIBLE
    found = explain(phase_of(args), args.op)
    if args.format == "json":
        print_json(
            [
                {
                    "op": one.op,
                    "dim": one.dim,
                    "others": {name: row.to_dict() for name, row, _ in one.rows},
                }
                for one in found
            ]
        )
    else:
        print("\n".join(map(str, found)))
    return FEASIBLE


def verify_verb(args: argparse.Namespace) -> int:
    found = verify(phase_of(args), args.whole, args.steps, args.seed)
    if args.format == "json":
        print_json(dataclasses.asdict(found))
    else:
        print(found)
    return FEASIBLE if found.ok else DIFFERENT


def lower_verb(args: argparse.Namespace) -> int:
    plan = phase_of(args)
    inputs = inputs_of(args, [plan.problem])
    check_outputs([args.output], inputs)
    text = lower(plan, args.split_stages)
    if args.output:
        write_whole(args.output, text, inputs)
    if args.format == "json":
        print_json({"module": args.output or text})
    elif not args.output:
        print(text, end="")
    return FEASIBLE
