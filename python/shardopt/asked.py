"""What a command line asks: problems, and plans of files."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from .errors import Contradiction, ShardoptError, UnknownName
from .services import DECODE, Service, read_plan
from .settings import KEYS, merged, problems_of


def settings_of(args: argparse.Namespace) -> dict[str, Any]:
    flags = {name: getattr(args, name, None) for name in KEYS}
    if flags["rate"] is not None and flags["concurrency"] is not None:
        raise Contradiction(
            f"'--requests-per-s' is {flags['rate']:g} and '--concurrency' "
            f"{flags['concurrency']}, expected one of them"
        )
    return merged(args.config, flags, args.changes)


def note(text: str) -> None:
    """Says what a user should know of an answer, next to it."""
    print(f"note: {text}", file=sys.stderr)


def asked_problems(args: argparse.Namespace) -> list[Any]:
    notes: list[str] = []
    found = problems_of(settings_of(args), args.allow_simulator, notes)
    for text in notes:
        note(text)
    return found


def plan_of(args: argparse.Namespace, path: str | None = None) -> Any:
    """The plan of a phase or the service of a plan file."""
    return read_plan(path or args.plan, args.allow_simulator)


def phase_of(args: argparse.Namespace) -> Any:
    """A plan of a phase: of a service that of one role."""
    plan = plan_of(args)
    role = getattr(args, "role", None)
    if isinstance(plan, Service):
        return plan.phase_plan(role or DECODE)
    if role is not None and role != plan.problem.phase:
        raise UnknownName(f"'--role' is '{role}', and the plan is of {plan.problem.phase} alone")
    return plan


def one_problem(args: argparse.Namespace) -> Any:
    problems = asked_problems(args)
    if len(problems) > 1:
        raise ShardoptError(
            f"'{args.verb}' answers for a service or for one phase, and no service can be "
            "planned; expected --context and --phase instead of --isl and --osl"
        )
    return problems[0]
