"""The verbs between plans and servers: export, serve and check."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from typing import Any, Sequence

from .answers import DIFFERENT, FEASIBLE, INFEASIBLE, inputs_of, print_json, rows_as_table
from .asked import asked_problems, plan_of


def export_verb(args: argparse.Namespace) -> int:
    from .launches import engine_of, export
    from .services import Service

    plan = plan_of(args)
    if isinstance(plan, Service) and args.output_dir and not args.target:
        args.target = "shell"
    if args.target:
        return _export_service(args, plan)
    if isinstance(plan, Service):
        raise _is_no_server(plan, args.plan)
    _refuse_settings_alone(args)
    engine = args.engine or engine_of(plan)
    launch = export(plan, engine, args.devices_per_node, args.max_length)
    inputs = inputs_of(args, [plan.problem])
    paths = launch.write(args.output_dir, inputs) if args.output_dir else []
    if args.format == "json":
        print_json(dataclasses.asdict(launch))
    else:
        print(launch.script, end="")
        for path in paths:
            print(f"# written: {path}")
    return FEASIBLE


def _is_no_server(service: Any, path: str) -> Exception:
    from .errors import ShardoptError

    workers = sum(role.workers for role in service.roles)
    return ShardoptError(
        f"'{path}' holds a service of {workers} worker{'s' if workers > 1 else ''} and a way "
        "to them: expected `shardopt export` with --target (shell, compose, slurm, "
        "kubernetes, dynamo or llm-d) and --output-dir"
    )


# What `export` takes for a target alone.
_OF_TARGETS = (
    "namespace", "image", "router_image", "claim", "models", "secret", "node_selector", "partition",
    "account", "time",
)
_OF_SERVICES = ("name", "model")


def _refuse_settings_alone(args: argparse.Namespace) -> None:
    from .errors import ShardoptError

    for name in (*_OF_SERVICES, *_OF_TARGETS):
        if getattr(args, name) is not None:
            flag = name.replace("_", "-")
            raise ShardoptError(f"'--{flag}' is of a whole service, expected --target too")


def _export_service(args: argparse.Namespace, plan: Any) -> int:
    from .deployments import Settings, deployment_of, next_step, write
    from .errors import ShardoptError

    if not args.output_dir:
        raise ShardoptError(f"'--target {args.target}' writes files, expected --output-dir")
    asked = {name: getattr(args, name) for name in _OF_TARGETS}
    settings = Settings(**{name: value for name, value in asked.items() if value is not None})
    deployment = deployment_of(
        plan,
        args.engine,
        devices_per_node=args.devices_per_node,
        max_length=args.max_length,
        **{name: getattr(args, name) for name in _OF_SERVICES},
    )
    paths = write(deployment, args.target, args.output_dir, settings)
    if args.format == "json":
        print_json({"service": deployment.to_dict(), "files": [str(path) for path in paths]})
        return FEASIBLE
    for line in str(deployment).splitlines():
        print(f"  {line}")
    for path in paths:
        print(f"  written   {path}")
    print(f"  next      {next_step(deployment, args.target, args.output_dir)}")
    return FEASIBLE


def serve_verb(args: argparse.Namespace) -> int:
    from .launches import export
    from .services import Service

    plan = plan_of(args)
    if isinstance(plan, Service):
        raise _is_no_server(plan, args.plan)
    launch = export(plan, args.engine, args.devices_per_node)
    if args.dry_run:
        print(launch.script, end="")
        return FEASIBLE
    launch.run(args.output_dir, inputs_of(args, [plan.problem]))


def check_verb(args: argparse.Namespace) -> int:
    from .checking import check
    from .checking.deployment_requests import KIND, request_in
    from .checking.documents import search_space_in
    from .errors import ShardoptError

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
    has_problem = args.model is not None or args.config is not None
    problem = asked_problems(args)[0] if has_problem else plan and plan.problem
    found = check(problem, what, plan=plan)
    if args.format == "json":
        print_json(found.to_dict())
    else:
        print(found)
    if problem is None:
        return FEASIBLE if found.is_legal else INFEASIBLE
    if found.differences:
        return DIFFERENT
    return FEASIBLE if found.outcome.is_feasible else INFEASIBLE


def _show_cases(args: argparse.Namespace, cases: Sequence[Any]) -> int:
    from .checking.recipes import case_row

    rows = [case_row(case) for case in cases]
    if args.format == "json":
        print_json(rows)
    else:
        print(rows_as_table(rows))
    is_legal = all(row["why"] == "legal" for row in rows)
    return FEASIBLE if is_legal else INFEASIBLE


def _answer_request(args: argparse.Namespace, request: Any) -> int:
    from .checking.deployment_requests import answer
    from .deployments import next_step
    from .errors import ShardoptError

    if args.model is None:
        raise ShardoptError(
            f"'{args.what}' asks for a model, expected its config.json too, or the folder of it"
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
    from .checking.conformance import check_server
    from .errors import Contradiction

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
