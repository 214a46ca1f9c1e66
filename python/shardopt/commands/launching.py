"""The verbs from a plan to servers: export and serve."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any, Iterable

from .. import shardings
from ..answers import inputs_of, print_json
from ..asked import note, phase_of, plan_of
from ..border import list_known
from ..deployments import TARGETS, Settings, deployment_of, left_to_users, next_step, write
from ..deployments.shell import roles_of_hosts
from ..errors import ShardoptError, UnknownName
from ..exits import FEASIBLE
from ..launches import engine_of, export, model_folder, served_name
from ..services import Service
from ..tables import fitted


def export_verb(args: argparse.Namespace) -> int:
    known = (*TARGETS, *shardings.TARGETS)
    if args.target is not None and args.target not in known:
        raise UnknownName(f"unknown target '{args.target}'; " + list_known(args.target, known))
    if args.target in shardings.TARGETS:
        return _export_shardings(args)
    _refuse(args, _OF_SHARDINGS, "of shardings", "--target " + ", ".join(shardings.TARGETS))
    plan = plan_of(args)
    if isinstance(plan, Service) and args.output_dir and not args.target:
        args.target = "shell"
    if args.target:
        return _export_service(args, plan)
    if isinstance(plan, Service):
        raise _is_no_server(plan, args.plan)
    _refuse_settings_alone(args)
    engine = args.engine or engine_of(plan)
    launch = export(plan, engine, args.devices_per_node, args.max_length, args.model)
    _note_model(args, plan)
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
_OF_SERVERS = ("name", "model")


# What it takes for shardings alone.
_OF_SHARDINGS = ("module", "role")


def _refuse(args: argparse.Namespace, names: Iterable[str], what: str, wanted: str) -> None:
    """Refuses options of something else."""
    for name in names:
        if getattr(args, name) is not None:
            flag = name.replace("_", "-")
            raise ShardoptError(f"'--{flag}' is {what}, expected {wanted}")


def _refuse_settings_alone(args: argparse.Namespace) -> None:
    _refuse(args, ("name", *_OF_TARGETS), "of a whole service", "--target too")


def _export_shardings(args: argparse.Namespace) -> int:
    servers = (*_OF_SERVERS, *_OF_TARGETS, "engine", "devices_per_node", "max_length")
    _refuse(args, servers, "of servers", f"no such option with --target {args.target}")
    if not args.output_dir:
        raise ShardoptError(f"'--target {args.target}' writes files, expected --output-dir")
    plan = phase_of(args)
    paths = shardings.write(plan, args.target, args.output_dir, args.module)
    if args.format == "json":
        print_json({"target": args.target, "files": [str(path) for path in paths]})
        return FEASIBLE
    for path in paths:
        print(f"  written   {path}")
    return FEASIBLE


def _note_model(args: argparse.Namespace, plan: Any) -> None:
    """Says that servers are told to load what only the config's file is called."""
    name = served_name(plan.problem.model)
    if args.model is None and model_folder(plan) == name:
        note(f"the servers load '{name}', the name of the config's file: --model names the checkpoint")


def _export_service(args: argparse.Namespace, plan: Any) -> int:
    if not args.output_dir:
        raise ShardoptError(f"'--target {args.target}' writes files, expected --output-dir")
    asked = {name: getattr(args, name) for name in _OF_TARGETS}
    settings = Settings(**{name: value for name, value in asked.items() if value is not None})
    deployment = deployment_of(
        plan,
        args.engine,
        devices_per_node=args.devices_per_node,
        max_length=args.max_length,
        **{name: getattr(args, name) for name in _OF_SERVERS},
    )
    paths = write(deployment, args.target, args.output_dir, settings)
    _note_model(args, plan)
    if args.format == "json":
        print_json({"service": deployment.to_dict(), "files": [str(path) for path in paths]})
        return FEASIBLE
    for line in str(deployment).splitlines():
        print(f"  {line}")
    hosts = roles_of_hosts(deployment) if args.target == "shell" else []
    for line in hosts[:_MOST_HOSTS]:
        print(f"  host      {line}")
    if len(hosts) > _MOST_HOSTS:
        print(f"  host      … start.sh lists all {len(hosts)}")
    for path in paths:
        print(f"  written   {path}")
    for line in left_to_users(deployment, args.target, settings):
        print(fitted(f"  note      {line}"))
    print(f"  next      {next_step(deployment, args.target, args.output_dir)}")
    return FEASIBLE


#: Hosts whose roles are printed.
_MOST_HOSTS = 8


def serve_verb(args: argparse.Namespace) -> int:
    plan = plan_of(args)
    if isinstance(plan, Service):
        raise _is_no_server(plan, args.plan)
    launch = export(plan, args.engine, args.devices_per_node)
    if args.dry_run:
        print(launch.script, end="")
        return FEASIBLE
    launch.run(args.output_dir, inputs_of(args, [plan.problem]))
