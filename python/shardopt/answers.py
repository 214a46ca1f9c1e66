"""What verbs print: plans and services, their files, and rows as a table."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any, Sequence

from ._native import native
from .border import check_outputs
from .deployments import why_not_exported
from .errors import ShardoptError
from .exits import EXHAUSTED, FEASIBLE
from .heads import export_words
from .problem import FREE
from .services import Service
from .shell import as_path, command_line
from .tables import fitted


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=1))


def inputs_of(args: argparse.Namespace, problems: Sequence[Any]) -> list[str | None]:
    """The files that a command reads, which it does not write."""
    options = ("model", "plan", "config", "machine", "prefill_machine", "checkpoint")
    named = [getattr(args, name, None) for name in options]
    for problem in problems:
        named += [problem.model.path, problem.machine, problem.prefill_machine]
    return named


def _place(problem: Any, folder: str) -> Path:
    """Where the plan file of a problem is written."""
    name = "service" if problem.is_service else problem.phase
    return Path(folder) / f"{name}.json"


def check_places(args: argparse.Namespace, problems: Sequence[Any]) -> None:
    """Refuses plan files in the place of what is read, before anything is planned."""
    if args.output_dir:
        if Path(args.output_dir).exists() and not Path(args.output_dir).is_dir():
            raise ShardoptError(f"'{args.output_dir}' is a file, expected a folder")
        places = [_place(problem, args.output_dir) for problem in problems]
        check_outputs(places, inputs_of(args, problems))


def _keep(plan: Any, args: argparse.Namespace) -> str:
    path = _place(plan.problem, args.output_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    plan.to_json(path, inputs_of(args, [plan.problem]))
    return str(path)


def _next(plan: Any, path: str) -> str:
    """What leads from a plan to a launch, for a shell."""
    words = export_words(plan, as_path(path))
    if words:
        return command_line(words)
    if isinstance(plan, Service) and plan.engine != FREE:
        return "the same with another --engine, for a plan that export starts"
    if isinstance(plan, Service):
        usual = native().usual_engine
        return f"the same with --engine {usual}, for a plan that an engine runs"
    return "the same with --simplest=0.5%, for a plan that an engine runs or nearly does"


def _why_not_launched(plan: Service) -> str:
    """Why no file starts a service whose layouts its engine runs; empty if one does."""
    is_known = plan.engine == FREE or plan.interrupted
    return "" if is_known else why_not_exported(plan) or ""


def _resume(args: argparse.Namespace) -> str:
    """How a search that was interrupted goes on."""
    kept = getattr(args, "checkpoint", None)
    if kept:
        return f"the same command goes on from {kept}"
    return "begins anew; with --checkpoint FILE the same command would go on"


def show(plans: Sequence[Any], args: argparse.Namespace) -> int:
    """Prints plans and services, and keeps their files where a folder is given."""
    plans = [dataclasses.replace(plan, command=args.words) for plan in plans]
    paths = [_keep(plan, args) for plan in plans if args.output_dir]
    if args.format == "json":
        files = [plan.to_dict() for plan in plans]
        print_json(files[0] if len(files) == 1 else files)
    else:
        print("\n".join(_table(plan, args) for plan in plans), end="")
        _show_next(plans, paths, args)
    return EXHAUSTED if any(plan.interrupted for plan in plans) else FEASIBLE


def _table(plan: Any, args: argparse.Namespace) -> str:
    """The table, and of a service with --ops what ops of each phase are sharded on and
    take."""
    if not isinstance(plan, Service):
        return fitted(plan.table)
    is_long = getattr(args, "ops", False)
    phases = [plan.phase_plan(phase).table for phase in ("prefill", "decode") if is_long]
    return "\n".join(map(fitted, [plan.table, *phases]))


def _show_next(plans: Sequence[Any], paths: Sequence[str], args: argparse.Namespace) -> None:
    width = 12 if any(isinstance(plan, Service) for plan in plans) else 10
    for plan, path in zip(plans, paths):
        print(f"\n  {'plan':<{width}}{path}")
        print(f"  {'next':<{width}}{_next(plan, path)}")
    for plan in plans:
        why = _why_not_launched(plan) if isinstance(plan, Service) else ""
        if why:
            print(f"  {'launch':<{width}}export refuses this service of {plan.engine}: {why}")
    for plan in plans:
        if plan.interrupted:
            print(f"  {'resume':<{width}}{_resume(args)}")
    if args.verb == "plan" and not paths:
        print(f"  {'next':<{width}}the same with --output-dir DIR, for a plan file")
