"""The verbs that search: plan, pareto, size and sweep."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, Sequence

from ..answers import check_places, inputs_of, print_json, show
from ..arguments import positive
from ..asked import asked_problems, note, one_problem
from ..bars import searching
from ..border import check_outputs
from ..brief_tables import changes_table, frontier_table, offers_table
from ..errors import Contradiction, Infeasible, ShardoptError, WrongValue
from ..exits import FEASIBLE, INFEASIBLE
from ..frontier import least_cost, min_devices, pareto
from ..orders import order
from ..plans import Plan
from ..replays import Request, read_requests
from ..sensitivity import sweep
from ..service_advice import advise, advised
from ..service_tables import lines_of_advice
from ..services import Service, most_of, plan, plan_service
from ..simplicity import parse_share, simplest
from ..tables import counted
from ..trace_plans import load_of_requests, plan_for_requests, plan_robust


def plan_verb(args: argparse.Namespace) -> int:
    share = parse_share(args.simplest) if args.simplest else None
    requests = _take_trace(args) if args.requests is not None else None
    bands = _bands(args.robust) if args.robust else None
    if requests and bands:
        raise Contradiction("'--requests' and '--robust' are given, expected one of them")
    problems = asked_problems(args)
    check_places(args, problems)
    if args.checkpoint and (len(problems) > 1 or problems[0].is_service):
        raise ShardoptError(
            "'--checkpoint' is of one search that evaluates, and a service is searched "
            "exactly; expected --context and --phase instead of --isl and --osl"
        )
    if args.order:
        _check_order(args, problems)
    plans: list[Plan | Service] = []
    for problem in problems:
        with searching(problem, quiet=args.quiet) as shown:
            if requests:
                plans.append(plan_for_requests(problem, requests, shown))
            elif bands:
                plans.append(plan_robust(problem, bands, shown))
            elif args.advice and problem.is_service:
                plans.append(_advised(problem, shown))
            else:
                plans.append(plan(problem, checkpoint=args.checkpoint, progress=shown))
    if args.order:
        return show(plans, args) or _write_order(plans, args)
    if share is None:
        return show(plans, args)
    found = [simplest(each, share) for each in plans if not isinstance(each, Service)]
    if not found:
        if args.format == "table":
            print("  simplest    the service as it is planned: --simplest is of a phase\n")
        return show(plans, args)
    if args.format == "table":
        print("\n".join(map(str, found)), end="\n\n")
    return show([each.plan for each in found], args)


def _check_order(args: argparse.Namespace, problems: Sequence[Any]) -> None:
    if len(problems) > 1 or problems[0].is_service:
        raise Contradiction(
            "'--order' is of one phase; expected --context and --phase instead of --isl and --osl"
        )
    if args.simplest:
        raise Contradiction("'--order' and '--simplest' are given, expected one of them")
    check_outputs([Path(args.order)], inputs_of(args, problems))


def _write_order(plans: Sequence[Any], args: argparse.Namespace) -> int:
    found = order(plans[0])
    Path(args.order).write_text(found.module, encoding="utf-8")
    if args.format == "table":
        print(f"\n{found}\n            {args.order}: shard-schedule reads and draws it")
    return FEASIBLE


def _take_trace(args: argparse.Namespace) -> "list[Request]":
    """The requests of `--requests`, whose lengths are those of the settings."""
    for name in ("isl", "osl", "context", "phase"):
        if getattr(args, name) is not None:
            raise Contradiction(f"'--{name}' and '--requests' are given, expected one of them")
    requests = read_requests(args.requests)
    for name, value in load_of_requests(requests).items():
        setattr(args, name, value)
    return requests


def _bands(words: Sequence[str]) -> dict[str, tuple[float, float]]:
    found = {}
    for word in words:
        name, _, band = word.partition("=")
        low, _, high = band.partition(":")
        try:
            found[name] = (float(low), float(high))
        except ValueError:
            raise WrongValue(
                f"'--robust {word}' is no band, expected a name and two numbers, such as "
                "prefix_cache_hit_rate=0:0.6"
            ) from None
    return found


def _advised(problem: Any, progress: Any) -> Any:
    """The service with what would help; where there is none, that is printed."""
    try:
        return advised(plan_service(problem, progress))
    except Infeasible as error:
        lines = lines_of_advice(advise(problem), None)
        error.table += "".join(f"  would do    {line}\n" for line in lines)
        raise


def pareto_verb(args: argparse.Namespace) -> int:
    problem = one_problem(args)
    front = pareto(problem, step=args.step)
    if args.format == "json":
        print_json(front.rows())
    else:
        print(frontier_table(front, problem))
    return FEASIBLE


def _prices(words: Sequence[str]) -> dict[str, float]:
    prices = {}
    for word in words:
        machine, _, text = word.rpartition("=")
        try:
            prices[machine] = positive(text)
        except argparse.ArgumentTypeError:
            machine = ""
        if not machine:
            raise WrongValue(
                f"'--price {word}' is no price, expected a machine and a number "
                "above 0, such as h100_sxm=2.5"
            )
    return prices


def size_verb(args: argparse.Namespace) -> int:
    prices = _prices(args.prices)
    problem = one_problem(args)
    if args.old_tokens is not None:
        note("'--rate' counts output tokens/s and is --tokens-per-s now; requests are --requests-per-s")
        args.tokens = args.tokens or args.old_tokens
    if problem.is_service and args.tokens is not None and problem.rate is not None:
        raise ShardoptError(
            "'--tokens-per-s' and '--requests-per-s' are given, expected one of them"
        )
    if args.tokens is None and problem.rate is None:
        wanted = "--requests-per-s or --tokens-per-s" if problem.is_service else "--tokens-per-s"
        raise ShardoptError(f"no load to size for, expected {wanted}")
    check_places(args, [problem])
    if not prices:
        plan = min_devices(problem, args.tokens)
    else:
        offers = least_cost(problem, args.tokens, prices)
        if args.format == "table":
            print(offers_table(offers), end="\n\n")
        if offers[0].plan is None:
            return INFEASIBLE
        plan = offers[0].plan
    if args.format == "table":
        print(f"  {_sized(plan, args.tokens)}. Fewer do not.\n")
    return show([plan], args)


def _sized(plan: Any, tokens: float | None) -> str:
    """ "16 GPUs reach 12384 tokens/s (target 10000)"."""
    if plan.problem.is_service:
        metrics = plan.metrics
        most = most_of(plan)
        reserve = f" (maximum {most:.3g} req/s)" if most > plan.problem.rate else ""
        return (
            f"{counted(metrics.gpus, 'GPU')} serve{'s' * (metrics.gpus == 1)} {plan.problem.rate:.6g} req/s "
            f"({plan.problem.rate * plan.problem.osl:.6g} output tokens/s) within the SLOs{reserve}"
        )
    total = plan.metrics.throughput * (plan.problem.devices or 0)
    gpus = plan.problem.devices
    verb = "reaches" if gpus == 1 else "reach"
    return f"{counted(gpus, 'GPU')} {verb} {total:.6g} tokens/s (target {tokens:.6g})"


def sweep_verb(args: argparse.Namespace) -> int:
    problem = one_problem(args)
    found = sweep(problem)
    base = found[0].plan
    assert base is not None
    if args.format == "json":
        print_json([change.row(base) for change in found])
    else:
        print(changes_table(found, problem))
    return FEASIBLE
