"""The command `shardopt`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from typing import Any, Sequence

from .answers import (
    DIFFERENT,
    EXHAUSTED,
    FEASIBLE,
    INFEASIBLE,
    check_places,
    inputs_of,
    print_json,
    rows_as_table,
    show,
)
from .asked import asked_problems, one_problem, phase_of, plan_of
from .launch_verbs import check_verb, export_verb, serve_verb
from .arguments import OLD_NAMES, USAGE, make_parser, positive

def _plan(args: argparse.Namespace) -> int:
    from .bars import searching
    from .errors import ShardoptError
    from .services import Service, plan
    from .simplicity import parse_share, simplest

    share = parse_share(args.simplest) if args.simplest else None
    problems = asked_problems(args)
    check_places(args, problems)
    if args.checkpoint and (len(problems) > 1 or problems[0].is_service):
        raise ShardoptError(
            "'--checkpoint' is of one search that evaluates, and a service is searched "
            "exactly; expected --context and --phase instead of --isl and --osl"
        )
    plans = []
    for problem in problems:
        with searching(problem, quiet=args.quiet) as shown:
            if args.advice and problem.is_service:
                plans.append(_advised(problem, shown))
            else:
                plans.append(plan(problem, checkpoint=args.checkpoint, progress=shown))
    if share is None:
        return show(plans, args)
    found = [simplest(each, share) for each in plans if not isinstance(each, Service)]
    if not found:
        if args.format == "table":
            print("  simplest    the service: its engine runs it as it is planned\n")
        return show(plans, args)
    if args.format == "table":
        print("\n".join(map(str, found)), end="\n\n")
    return show([each.plan for each in found], args)


def _advised(problem: Any, progress: Any) -> Any:
    """The service with what would help; where there is none, that is printed."""
    from .errors import Infeasible
    from .service_advice import advise, advised, lines_of_advice
    from .services import plan_service

    try:
        return advised(plan_service(problem, progress))
    except Infeasible as error:
        lines = lines_of_advice(advise(problem), None)
        error.table += "".join(f"  would do    {line}\n" for line in lines)
        raise


def _pareto(args: argparse.Namespace) -> int:
    from .frontier import pareto
    from .services import headline_of

    front = pareto(one_problem(args), step=args.step)
    if args.format == "json":
        print_json(front.rows())
    else:
        print(rows_as_table([headline_of(row) for row in front.rows()]))
    return FEASIBLE


def _prices(words: Sequence[str]) -> dict[str, float]:
    from .errors import WrongValue

    prices = {}
    for word in words:
        machine, _, text = word.rpartition("=")
        try:
            prices[machine] = positive(text)
        except ValueError:
            machine = ""
        if not machine:
            raise WrongValue(
                f"'--price {word}' is no price, expected a machine and a number "
                "above 0, such as h100_sxm=2.5"
            )
    return prices


def _offer_row(offer: Any) -> dict[str, Any]:
    from .services import headline_of

    if offer.plan is None:
        return {"machine": offer.machine, "price": "infeasible"}
    row = {"machine": offer.machine, "price": offer.price}
    if offer.plan.problem.is_service:
        return {**row, **headline_of(offer.plan.to_row())}
    row.update(devices=offer.plan.problem.devices, **offer.plan.strategy.to_dict())
    del row["dims"]
    return row


def _size(args: argparse.Namespace) -> int:
    from .errors import ShardoptError
    from .frontier import least_cost, min_devices

    prices = _prices(args.prices)
    problem = one_problem(args)
    if problem.is_service and args.tokens is not None and problem.rate is not None:
        raise ShardoptError(
            "'--rate' (output tokens/s) and '--requests-per-s' are given, expected one of them"
        )
    if args.tokens is None and problem.rate is None:
        wanted = "--requests-per-s, or --rate" if problem.is_service else "--rate"
        raise ShardoptError(f"no load to size for, expected {wanted} in output tokens/s")
    check_places(args, [problem])
    if not prices:
        plan = min_devices(problem, args.tokens)
    else:
        offers = least_cost(problem, args.tokens, prices)
        if args.format == "table":
            rows = [_offer_row(offer) for offer in offers]
            print(rows_as_table(rows), end="\n\n")
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
        return (
            f"{metrics.gpus} GPUs serve {plan.problem.rate:.6g} req/s "
            f"({plan.problem.rate * plan.problem.osl:.6g} output tokens/s) within the SLOs"
        )
    total = plan.metrics.throughput * (plan.problem.devices or 0)
    return f"{plan.problem.devices} GPUs reach {total:.6g} tokens/s (target {tokens:.6g})"


def _sweep(args: argparse.Namespace) -> int:
    from .sensitivity import sweep

    found = sweep(one_problem(args))
    base = found[0].plan
    assert base is not None
    rows = [change.row(base) for change in found]
    if args.format == "json":
        print_json(rows)
    else:
        print(rows_as_table(rows))
    return FEASIBLE


def _evaluate(args: argparse.Namespace) -> int:
    from .border import parse_json, read_text
    from .errors import ShardoptError
    from .plans import Strategy, evaluate, given
    from .services import Service, evaluate_service

    plan = plan_of(args)
    args.output_dir = None
    if isinstance(plan, Service):
        if args.strategies:
            raise ShardoptError(
                "'--strategies' are of a phase, and the plan file holds a service"
            )
        return show([evaluate_service(plan)], args)
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


def _diff(args: argparse.Namespace) -> int:
    from .explanations import diff

    found = diff(plan_of(args, args.first), plan_of(args, args.second))
    if args.format == "json":
        print_json({"summary": found.summary, "ops": found.ops})
    else:
        print(found)
    return FEASIBLE


def _explain(args: argparse.Namespace) -> int:
    from .explanations import explain
    from .services import Service

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


def _verify(args: argparse.Namespace) -> int:
    from .programs import verify

    found = verify(phase_of(args), args.whole, args.steps, args.seed)
    if args.format == "json":
        print_json(dataclasses.asdict(found))
    else:
        print(found)
    return FEASIBLE if found.ok else DIFFERENT


def _lower(args: argparse.Namespace) -> int:
    from .border import check_outputs, write_whole
    from .programs import lower

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


def _report(args: argparse.Namespace) -> int:
    from .figures import searched, timeline
    from .frontier import pareto
    from .border import check_outputs, write_whole
    from .errors import ShardoptError
    from .pages import report
    from .sensitivity import sweep
    from .services import Service

    plan = plan_of(args)
    inputs = inputs_of(args, [plan.problem])
    check_outputs([args.output, args.timeline], inputs)
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


_VERBS = {
    "plan": _plan,
    "pareto": _pareto,
    "size": _size,
    "sweep": _sweep,
    "evaluate": _evaluate,
    "diff": _diff,
    "explain": _explain,
    "verify": _verify,
    "lower": _lower,
    "export": export_verb,
    "serve": serve_verb,
    "check": check_verb,
    "report": _report,
}


def _refuse_unknown(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """An unknown verb, before argparse lists them in its own order."""
    from .errors import list_known

    if words and not words[0].startswith("-") and words[0] not in _VERBS:
        parser.error(f"unknown verb '{words[0]}'; " + list_known(words[0], _VERBS))


def _run(words: list[str]) -> int:
    from .errors import list_known

    parser, options = make_parser()
    said = ("shardopt", *words)
    words[:1] = [OLD_NAMES.get(word, word) for word in words[:1]]
    _refuse_unknown(parser, words)
    args, others = parser.parse_known_args(words)
    args.words = said
    if args.version:
        from .models import version

        print("shardopt", version())
        return FEASIBLE
    if not args.verb:
        parser.print_help()
        return USAGE
    if others:
        name = others[0].partition("=")[0]
        known = options[args.verb]._option_string_actions
        parser.error(
            f"unknown argument '{name}'; "
            + list_known(name, [word for word in known if word.startswith("--")])
        )
    return _VERBS[args.verb](args)


def main(words: Sequence[str] | None = None) -> int:
    """Runs a command line; returns the exit code."""
    from .border import WRONG_INPUT
    from .errors import (
        BudgetExhausted,
        Inexpressible,
        Infeasible,
        ShardoptError,
        TooFewDevices,
    )

    try:
        return _run(list(sys.argv[1:] if words is None else words))
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FEASIBLE
    except Infeasible as error:
        print(error.table, end="")
        print(f"error: {error}", file=sys.stderr)
        return INFEASIBLE
    except (ShardoptError, ImportError, *WRONG_INPUT) as error:
        print(f"error: {error or type(error).__name__}", file=sys.stderr)
        if isinstance(error, (Inexpressible, TooFewDevices)):
            return INFEASIBLE
        return EXHAUSTED if isinstance(error, BudgetExhausted) else USAGE
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return EXHAUSTED


if __name__ == "__main__":
    sys.exit(main())
