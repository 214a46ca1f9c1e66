"""The command `shardopt`."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any, Sequence

from .arguments import OLD_NAMES, USAGE, make_parser, positive

FEASIBLE, INFEASIBLE, EXHAUSTED, DIFFERENT = 0, 1, 3, 4


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    from .settings import KEYS, merged

    flags = {name: getattr(args, name, None) for name in KEYS}
    return merged(args.config, flags, args.changes)


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=1))


def _problems(args: argparse.Namespace) -> list[Any]:
    from .settings import problems_of

    return problems_of(_settings(args), args.allow_simulator)


def _read_plan(args: argparse.Namespace, path: str | None = None) -> Any:
    from .plans import Plan

    return Plan.from_json(path or args.plan, args.allow_simulator)


def _inputs(args: argparse.Namespace, problems: Sequence[Any]) -> list[str | None]:
    """The files that a command reads, which it does not write."""
    options = ("model", "plan", "config", "machine", "prefill_machine", "checkpoint")
    named = [getattr(args, name, None) for name in options]
    for problem in problems:
        named += [problem.model.path, problem.machine, problem.prefill_machine]
        named.append(problem.decode_machine)
    return named


def _place(problem: Any, folder: str) -> Path:
    """Where the plan file of a problem is written."""
    return Path(folder) / f"{problem.phase}.json"


def _check_places(args: argparse.Namespace, problems: Sequence[Any]) -> None:
    """Refuses plan files in the place of what is read, before anything is planned."""
    from .border import check_outputs

    if args.output_dir:
        places = [_place(problem, args.output_dir) for problem in problems]
        check_outputs(places, _inputs(args, problems))


def _keep(plan: Any, args: argparse.Namespace) -> str:
    path = _place(plan.problem, args.output_dir)
    path.parent.mkdir(parents=True, exist_ok=True)
    plan.to_json(path, _inputs(args, [plan.problem]))
    return str(path)


def _next(plan: Any, path: str) -> str:
    """What leads from a plan to a launch, for a shell."""
    from .shell import as_path, command_line

    def exporting(engine: str) -> str:
        words = ["shardopt", "export", as_path(path)]
        if plan.service:  # whose engine is that of all its workers
            engines = ["--engine", engine] if engine != plan.problem.engine else []
            return command_line([*words, *engines, "--target", "shell", "-o", "launch"])
        return command_line([*words, "--engine", engine])

    if plan.problem.engine:
        return exporting(plan.problem.engine)
    engines = plan.report.get("engines") or {}
    runner = next((name for name, row in engines.items() if row["runs_plan"]), None)
    if engines and runner is None:
        return "the same with --simplest=0.5%, for a plan that an engine runs or nearly does"
    return exporting(runner or "vllm")


def _resume(plan: Any, args: argparse.Namespace) -> str:
    """How a search that was interrupted goes on."""
    kept = getattr(args, "checkpoint", None)
    if kept:
        return f"the same command goes on from {kept}"
    return "begins anew; with --checkpoint FILE the same command would go on"


def _show(plans: Sequence[Any], args: argparse.Namespace) -> int:
    plans = [dataclasses.replace(plan, command=args.words) for plan in plans]
    paths = [_keep(plan, args) for plan in plans if args.output_dir]
    if args.format == "json":
        files = [plan.to_dict() for plan in plans]
        _print_json(files[0] if len(files) == 1 else files)
    else:
        tables = [plan.service_table for plan in plans[:1] if plan.service_table]
        print("\n".join(tables + [plan.table for plan in plans]), end="")
        for plan, path in zip(plans, paths):
            print(f"\n  plan      {path}")
            print(f"  next      {_next(plan, path)}")
        for plan in plans:
            if plan.interrupted:
                print(f"  resume    {_resume(plan, args)}")
        if args.verb == "plan" and not paths:
            print("  next      the same with --output-dir DIR, for a plan file")
    return EXHAUSTED if any(plan.interrupted for plan in plans) else FEASIBLE


def _plan(args: argparse.Namespace) -> int:
    from .bars import searching
    from .errors import ShardoptError
    from .plans import plan
    from .simplicity import parse_share, simplest

    share = parse_share(args.simplest) if args.simplest else None
    problems = _problems(args)
    _check_places(args, problems)
    if args.checkpoint and len(problems) > 1:
        raise ShardoptError(
            "'--checkpoint' is of one search, expected --context and --phase instead of "
            "--isl and --osl"
        )
    plans = []
    for problem in problems:
        with searching(problem) as shown:
            plans.append(plan(problem, checkpoint=args.checkpoint, progress=shown))
    if share is None:
        return _show(plans, args)
    found = [simplest(each, share) for each in plans]
    if args.format == "table":
        print("\n".join(map(str, found)), end="\n\n")
    return _show([each.plan for each in found], args)


def _one_problem(args: argparse.Namespace) -> Any:
    from .errors import ShardoptError

    problems = _problems(args)
    if len(problems) > 1:
        raise ShardoptError(
            f"'{args.verb}' is about one phase, expected --context and --phase "
            "instead of --isl and --osl"
        )
    return problems[0]


def _rows(rows: Sequence[dict[str, Any]]) -> str:
    """Rows of one shape as a table."""
    names = list(dict.fromkeys(name for row in rows for name in row))

    def cell(value: Any) -> str:
        return f"{value:.6g}" if isinstance(value, float) else str(value)

    lines = [names] + [[cell(row.get(name, "-")) for name in names] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(names))]
    return "\n".join(
        "  " + "  ".join(text.rjust(width) for text, width in zip(line, widths))
        for line in lines
    )


def _pareto(args: argparse.Namespace) -> int:
    from .frontier import pareto

    front = pareto(_one_problem(args), step=args.step)
    if args.format == "json":
        _print_json(front.rows())
    else:
        print(_rows(front.rows()))
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
    if offer.plan is None:
        return {"machine": offer.machine, "price": "infeasible"}
    row = {
        "machine": offer.machine,
        "price": offer.price,
        "devices": offer.plan.problem.devices,
        **offer.plan.strategy.to_dict(),
    }
    del row["dims"]
    return row


def _fit(args: argparse.Namespace) -> int:
    from .frontier import least_cost, min_devices

    prices = _prices(args.prices)
    problem = _one_problem(args)
    _check_places(args, [problem])
    if not prices:
        plan = min_devices(problem, args.tokens)
    else:
        offers = least_cost(problem, args.tokens, prices)
        if args.format == "table":
            rows = [_offer_row(offer) for offer in offers]
            print(_rows(rows), end="\n\n")
        if offers[0].plan is None:
            return INFEASIBLE
        plan = offers[0].plan
    if args.format == "table":
        total = plan.metrics.throughput * (plan.problem.devices or 0)
        print(
            f"  {plan.problem.devices} devices serve {total:.6g} of {args.tokens:.6g} "
            "tokens/s, and fewer do not\n"
        )
    return _show([plan], args)


def _sweep(args: argparse.Namespace) -> int:
    from .sensitivity import sweep

    found = sweep(_one_problem(args))
    base = found[0].plan
    assert base is not None
    rows = [change.row(base) for change in found]
    if args.format == "json":
        _print_json(rows)
    else:
        print(_rows(rows))
    return FEASIBLE


def _evaluate(args: argparse.Namespace) -> int:
    from .border import parse_json, read_text
    from .errors import ShardoptError
    from .plans import Strategy, evaluate, given

    plan = _read_plan(args)
    if not args.strategies:
        args.output_dir = None
        return _show([given(plan.problem, plan.strategy)], args)
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
        print(_rows(rows))
    return FEASIBLE


def _diff(args: argparse.Namespace) -> int:
    from .explanations import diff

    found = diff(_read_plan(args, args.first), _read_plan(args, args.second))
    if args.format == "json":
        _print_json({"summary": found.summary, "ops": found.ops})
    else:
        print(found)
    return FEASIBLE


def _explain(args: argparse.Namespace) -> int:
    from .explanations import explain

    found = explain(_read_plan(args), args.op)
    if args.format == "json":
        _print_json(
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

    found = verify(_read_plan(args), args.whole, args.steps, args.seed)
    if args.format == "json":
        _print_json(dataclasses.asdict(found))
    else:
        print(found)
    return FEASIBLE if found.ok else DIFFERENT


def _lower(args: argparse.Namespace) -> int:
    from .border import check_outputs, write_whole
    from .programs import lower

    plan = _read_plan(args)
    inputs = _inputs(args, [plan.problem])
    check_outputs([args.output], inputs)
    text = lower(plan, args.split_stages)
    if args.output:
        write_whole(args.output, text, inputs)
    if args.format == "json":
        _print_json({"module": args.output or text})
    elif not args.output:
        print(text, end="")
    return FEASIBLE


def _export(args: argparse.Namespace) -> int:
    from .launches import engine_of, export

    plan = _read_plan(args)
    if args.target:
        return _export_service(args, plan)
    _refuse_settings_alone(args)
    engine = args.engine or engine_of(plan)
    launch = export(plan, engine, args.devices_per_node, args.max_length)
    inputs = _inputs(args, [plan.problem])
    paths = launch.write(args.output_dir, inputs) if args.output_dir else []
    if args.format == "json":
        _print_json(dataclasses.asdict(launch))
    else:
        print(launch.script, end="")
        for path in paths:
            print(f"# written: {path}")
    return FEASIBLE


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
        _print_json({"service": deployment.to_dict(), "files": [str(path) for path in paths]})
        return FEASIBLE
    for line in str(deployment).splitlines():
        print(f"  {line}")
    for path in paths:
        print(f"  written   {path}")
    print(f"  next      {next_step(deployment, args.target, args.output_dir)}")
    return FEASIBLE


def _serve(args: argparse.Namespace) -> int:
    from .launches import export

    plan = _read_plan(args)
    launch = export(plan, args.engine, args.devices_per_node)
    if args.dry_run:
        print(launch.script, end="")
        return FEASIBLE
    launch.run(args.output_dir, _inputs(args, [plan.problem]))


def _check(args: argparse.Namespace) -> int:
    from .checking import check
    from .checking.deployment_requests import KIND, request_in
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
    if args.output_dir:
        raise ShardoptError(f"'--output-dir' is of a {KIND}, and '{args.what:.60}' is none")
    what = sys.stdin.read() if args.what == "-" else args.what
    plan = _read_plan(args, args.plan) if args.plan else None
    has_problem = args.model is not None or args.config is not None
    problem = _problems(args)[0] if has_problem else plan and plan.problem
    found = check(problem, what, plan=plan)
    if args.format == "json":
        _print_json(found.to_dict())
    else:
        print(found)
    if problem is None:
        return FEASIBLE if found.is_legal else INFEASIBLE
    if found.differences:
        return DIFFERENT
    return FEASIBLE if found.outcome.is_feasible else INFEASIBLE


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
        _print_json({
            "service": found.deployment.to_dict(),
            "plan": found.plan.to_dict(),
            "findings": [{"kind": one.kind, "text": str(one)} for one in found.findings],
            "files": [str(path) for path in paths],
        })
        return FEASIBLE
    print(found.plan.service_table, end="")
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
    plan = _read_plan(args, named[0]) if named else None
    found = check_server(args.server, plan, args.log, args.role, args.timeout)
    if args.format == "json":
        _print_json(found.to_dict())
    else:
        print(found)
    return FEASIBLE if found.ok else DIFFERENT


def _report(args: argparse.Namespace) -> int:
    from .figures import searched, timeline
    from .frontier import pareto
    from .border import check_outputs, write_whole
    from .pages import report
    from .sensitivity import sweep

    plan = _read_plan(args)
    inputs = _inputs(args, [plan.problem])
    check_outputs([args.output, args.timeline], inputs)
    front = None if args.no_front else pareto(plan.problem, step=args.step)
    changes = None if args.no_sweep else sweep(plan.problem)
    search = None if args.no_search else searched(plan)
    report(plan, args.output, front, changes, search, inputs)
    if args.timeline:
        text = json.dumps(timeline(plan), indent=1) + "\n"
        write_whole(args.timeline, text, inputs)
    if args.format == "json":
        _print_json({"page": args.output, "timeline": args.timeline})
    else:
        print(f"  page      {args.output}")
        if args.timeline:
            print(f"  timeline  {args.timeline}")
    return FEASIBLE


_VERBS = {
    "plan": _plan,
    "pareto": _pareto,
    "fit": _fit,
    "sweep": _sweep,
    "evaluate": _evaluate,
    "diff": _diff,
    "explain": _explain,
    "verify": _verify,
    "lower": _lower,
    "export": _export,
    "serve": _serve,
    "check": _check,
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
    words = [OLD_NAMES.get(word, word) for word in words[:1]] + words[1:]
    _refuse_unknown(parser, words)
    args, others = parser.parse_known_args(words)
    args.words = ("shardopt", *words)
    if args.version:
        from .problem import version

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
