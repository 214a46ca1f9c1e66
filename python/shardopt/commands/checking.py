"""The verb from commands, manifests and servers back to a plan: check."""

from __future__ import annotations

import argparse
import re
import sys
from typing import Any, Sequence

from ..answers import print_json
from ..asked import asked_problems, note, plan_of
from ..checking import check
from ..checking.conformance import check_server
from ..checking.deployment_requests import KIND, answer, request_in
from ..checking.documents import search_space_in
from ..checking.findings import UNKNOWN
from ..checking.recipes import case_row
from ..deployments import next_step
from ..errors import Contradiction, ShardoptError
from ..exits import DIFFERENT, FEASIBLE, INFEASIBLE
from ..models import model_at_hand
from ..tables import rows_as_table


def check_verb(args: argparse.Namespace) -> int:
    if args.server:
        return _check_server(args)
    if args.what is None:
        raise ShardoptError("nothing to check, expected a command, a file, a folder or --server")
    for name in ("log", "role"):
        if getattr(args, name):
            raise ShardoptError(f"'--{name}' is of a server that runs, expected --server too")
    request = request_in(args.what)
    if request is not None:
        return _answer_request(args, request)
    cases = search_space_in(args.what) if args.model is None else None
    if cases is not None:
        return _show_cases(args, cases)
    if args.output_dir:
        raise ShardoptError(f"'--output-dir' is of a {KIND}, and '{args.what:.60}' is none")
    what = sys.stdin.read() if args.what == "-" else args.what
    plan = plan_of(args, args.plan) if args.plan else None
    if args.model is not None and re.search(r"\s-", args.model):
        raise ShardoptError(
            f"'{args.model:.80}' is given as the model and looks like a command, which comes "
            "first: shardopt check 'COMMAND' MODEL"
        )
    if args.model is None and args.config is None and plan is None:
        _take_model(args, what)
    has_problem = args.model is not None or args.config is not None
    problem = asked_problems(args)[0] if has_problem else plan and plan.problem
    found = check(problem, what, plan=plan)
    if args.format == "json":
        print_json(found.to_dict())
    else:
        print(found)
    if found.differences:
        return DIFFERENT
    is_known = not any(one.kind == UNKNOWN for one in found.findings)
    is_fine = found.is_legal if problem is None else found.outcome.is_feasible
    return FEASIBLE if is_fine and is_known else INFEASIBLE


def _take_model(args: argparse.Namespace, what: str) -> None:
    """Takes the model that a command serves for the given one, or says what a comparison
    lacks."""
    said = check(None, what).stated.model
    found = model_at_hand(said)
    has_load = args.context is not None or None not in (args.isl, args.osl)
    if found and has_load:
        args.model = found
        return
    lacks = [] if found else [f"the config.json, Hub id or name of '{said:.80}' behind the command"]
    lacks += [] if has_load else ["--isl and --osl"]
    note("read only; a comparison with the best plan lacks " + ", and ".join(lacks))


def _show_cases(args: argparse.Namespace, cases: Sequence[Any]) -> int:
    rows = [case_row(case) for case in cases]
    if args.format == "json":
        print_json(rows)
    else:
        print(rows_as_table(rows))
    is_legal = all(row["why"] == "legal" for row in rows)
    return FEASIBLE if is_legal else INFEASIBLE


def _answer_request(args: argparse.Namespace, request: Any) -> int:
    if args.model is None:
        raise ShardoptError(
            f"'{args.what}' asks for a model, expected its config.json too, or its folder"
        )
    found = answer(request, args.what, args.model)
    paths = found.write(args.output_dir) if args.output_dir else []
    if args.format == "json":
        print_json({
            "service": found.deployment.to_dict(),
            "plan": found.plan.to_dict(),
            "findings": [{"kind": one.kind, "text": str(one)} for one in found.findings],
            "files": [str(path) for path in paths],
        })
        return FEASIBLE
    print(found.plan.table, end="")
    print("\n".join(f"  {line}" for line in str(found).splitlines()))
    for path in paths:
        print(f"  written   {path}")
    if paths:
        print(f"  next      {next_step(found.deployment, 'dynamo', args.output_dir)}")
    else:
        print("  next      the same with --output-dir DIR, for its manifests")
    return FEASIBLE


def _check_server(args: argparse.Namespace) -> int:
    named = [path for path in (args.plan, args.what, args.model) if path]
    if len(named) > 1:
        raise Contradiction(
            f"'{named[1]}' and --server are given, expected a server and one plan file"
        )
    plan = plan_of(args, named[0]) if named else None
    found = check_server(args.server, plan, args.log, args.role, args.timeout)
    if args.format == "json":
        print_json(found.to_dict())
    else:
        print(found)
    return FEASIBLE if found.ok else DIFFERENT
