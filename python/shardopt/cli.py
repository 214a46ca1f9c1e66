"""The command `shardopt`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn, Sequence

FEASIBLE, INFEASIBLE, USAGE, EXHAUSTED, DIFFERENT = 0, 1, 2, 3, 4

_EPILOG = """exit codes: 0 done, 1 infeasible or inexpressible, 2 usage, 3 the budget ran out
or the search was interrupted, 4 the sharded program computes something else"""


class _Parser(argparse.ArgumentParser):
    """Answers an unknown verb with the known ones, closest first."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"error: {message}", file=sys.stderr)
        raise SystemExit(USAGE)


def _number(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise ValueError
    return value


_number.__name__ = "number above 0"


def _add_problem(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", nargs="?",
        help="config.json, a folder that holds one, a module, or a plan file")
    add("--machine", help="name or JSON file (default: h100_sxm)")
    add("--devices", type=int, metavar="N", help="devices that there are: all count")
    add("--max-devices", type=int, metavar="N", help="most that one plan may take")
    add("--isl", type=int, metavar="TOKENS", help="tokens of a prompt")
    add("--osl", type=int, metavar="TOKENS", help="tokens of an answer")
    add("--context", type=int, metavar="TOKENS", help="instead of --isl and --osl")
    add("--phase", help="decode (default) or prefill, with --context")
    add("--tpot", dest="tpot_ms", type=_number, metavar="MS", help="limit on TPOT")
    add("--ttft", dest="ttft_ms", type=_number, metavar="MS", help="limit on TTFT")
    add("--concurrency", type=int, metavar="N", help="requests in flight, with --isl")
    add("--requests-per-s", dest="rate", type=_number, metavar="N",
        help="requests that arrive, with --isl")
    add("--prefill-machine", metavar="MACHINE",
        help="another machine, on which prompts may be read, with --isl")
    add("--prefill-devices", type=int, metavar="N",
        help="devices of it beside --devices (default: --devices are of either)")
    add("--engine", help="only what vllm, sglang or trtllm runs")
    add("--space", help="serving (default) or uniform")
    add("--objective", help="throughput (default) or latency")
    add("--searcher", help="how to search (default: exactly)")
    add("--budget", type=int, metavar="N", help="most evaluations")
    add("--seed", type=int, metavar="N")
    add("--config", metavar="FILE", help="settings as YAML or JSON")
    add(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        dest="changes",
        help="change a setting: pins.tp=8, pins.*.qkv_proj=heads",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("table", "json"), default="table")


def _add_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", help="plan file")


def _parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser, and that of each verb."""
    parser = _Parser(
        prog="shardopt",
        description="Plans how large language models are sharded for inference.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the version")
    verbs = parser.add_subparsers(dest="verb", metavar="verb", parser_class=_Parser)

    def verb(name: str, summary: str) -> argparse.ArgumentParser:
        made = verbs.add_parser(
            name, help=summary, description=summary, epilog=_EPILOG, allow_abbrev=False
        )
        _add_output(made)
        return made

    made = verb("plan", "find the best plan")
    _add_problem(made)
    made.add_argument("--output-dir", metavar="DIR", help="where plan files are written")
    made.add_argument(
        "--simplest",
        metavar="SHARE",
        help="the plan nearest to what engines run that loses at most 0.5%%, say",
    )
    made = verb("pareto", "the front of throughput against latency")
    _add_problem(made)
    made.add_argument("--step", type=float, default=0.1, help="between latencies (0.1)")
    made = verb("fit", "the fewest or cheapest devices for a load")
    _add_problem(made)
    made.add_argument(
        "--rate", dest="tokens", type=_number, required=True, help="tokens a second"
    )
    made.add_argument(
        "--price",
        action="append",
        default=[],
        metavar="MACHINE=PRICE",
        dest="prices",
        help="of a device, for each machine to choose from",
    )
    made.add_argument("--output-dir", metavar="DIR", help="where plan files are written")
    made = verb("sweep", "what devices, context and limits would buy")
    _add_problem(made)
    made = verb("evaluate", "evaluate a plan, or other strategies for its problem")
    _add_plan(made)
    made.add_argument("--strategies", metavar="FILE", help="a strategy a line, as JSON")
    made = verb("diff", "how two plans differ")
    made.add_argument("first")
    made.add_argument("second")
    made = verb("explain", "what the other dims of an op would cost")
    _add_plan(made)
    made.add_argument("op", nargs="?", help="default: all ops")
    made = verb("verify", "execute the sharded program against the unsharded one")
    _add_plan(made)
    made.add_argument("--whole", action="store_true", help="not on a small model")
    made.add_argument("--steps", type=int, default=2, help="of decode (2)")
    made.add_argument("--seed", type=int, default=1, help="of weights and inputs (1)")
    made = verb("lower", "the program of one device, with collectives, as MLIR")
    _add_plan(made)
    made.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    made.add_argument(
        "--split-stages", action="store_true", help="a function for each stage"
    )
    made = verb("export", "the command that launches a plan in a serving engine")
    _add_plan(made)
    made.add_argument("--engine", required=True, help="vllm, sglang==0.5.23, …")
    made.add_argument("--devices-per-node", type=int, metavar="N")
    made.add_argument("--output-dir", metavar="DIR", help="where files are written")
    made = verb("serve", "start the serving engine with a plan, in this process's place")
    _add_plan(made)
    made.add_argument("--engine", required=True, help="vllm, sglang==0.5.23, …")
    made.add_argument("--devices-per-node", type=int, metavar="N")
    made.add_argument(
        "--output-dir", metavar="DIR", default="launch", help="for its files (launch)"
    )
    made.add_argument("--dry-run", action="store_true", help="print the command only")
    made = verb("report", "a page with charts, which is a plan file too")
    _add_plan(made)
    made.add_argument("-o", "--output", metavar="FILE", required=True, help="page.html")
    made.add_argument("--no-front", action="store_true", help="without the front")
    made.add_argument(
        "--no-sweep", action="store_true", help="without what devices and limits buy"
    )
    made.add_argument(
        "--no-search", action="store_true", help="without a search beside the bound"
    )
    made.add_argument(
        "--timeline", metavar="FILE", help="the layer as a Chrome trace too"
    )
    made.add_argument("--step", type=float, default=0.2, help="of the front (0.2)")
    made = verb("judge", "what a launch command means, and how far from the best it is")
    made.add_argument("command", help="the command, quoted")
    _add_problem(made)
    return parser, dict(verbs.choices)


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    from .settings import KEYS, merged

    flags = {name: getattr(args, name, None) for name in KEYS}
    return merged(args.config, flags, args.changes)


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=1))


def _keep(plan: Any, folder: str) -> str:
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{plan.problem.phase}.json"
    plan.to_json(path)
    return str(path)


def _runner(plan: Any) -> str:
    """An engine that runs the plan, where there is one."""
    engines = plan.report.get("engines") or {}
    return next((name for name, row in engines.items() if row["runs_plan"]), "vllm")


def _show(plans: Sequence[Any], args: argparse.Namespace) -> int:
    paths = [_keep(plan, args.output_dir) for plan in plans if args.output_dir]
    if args.format == "json":
        files = [plan.to_dict() for plan in plans]
        _print_json(files[0] if len(files) == 1 else files)
    else:
        tables = [plan.service_table for plan in plans[:1] if plan.service_table]
        print("\n".join(tables + [plan.table for plan in plans]), end="")
        for plan, path in zip(plans, paths):
            print(f"\n  plan      {path}")
            print(f"  next      shardopt export {path} --engine {_runner(plan)}")
        if args.verb == "plan" and not paths:
            print("  next      the same with --output-dir DIR, for a plan file")
    return EXHAUSTED if any(plan.interrupted for plan in plans) else FEASIBLE


def _plan(args: argparse.Namespace) -> int:
    from .plans import plan
    from .settings import problems_of
    from .simplicity import parse_share, simplest

    share = parse_share(args.simplest) if args.simplest else None
    plans = [plan(problem) for problem in problems_of(_settings(args))]
    if share is None:
        return _show(plans, args)
    found = [simplest(each, share) for each in plans]
    if args.format == "table":
        print("\n".join(map(str, found)), end="\n\n")
    return _show([each.plan for each in found], args)


def _one_problem(args: argparse.Namespace) -> Any:
    from .errors import ShardoptError
    from .settings import problems_of

    problems = problems_of(_settings(args))
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
    from .errors import ShardoptError

    prices = {}
    for word in words:
        machine, _, text = word.rpartition("=")
        try:
            prices[machine] = _number(text)
        except ValueError:
            machine = ""
        if not machine:
            raise ShardoptError(
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
    if not prices:
        plan = min_devices(_one_problem(args), args.tokens)
    else:
        offers = least_cost(_one_problem(args), args.tokens, prices)
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
    from .errors import ShardoptError
    from .plans import Plan, Strategy, evaluate, given

    plan = Plan.from_json(args.plan)
    if not args.strategies:
        args.output_dir = None
        return _show([given(plan.problem, plan.strategy)], args)
    strategies = []
    text = Path(args.strategies).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            strategies.append(Strategy.from_dict(values, plan.problem.model.ops))
        except (ValueError, TypeError) as error:
            raise ShardoptError(f"{args.strategies}:{number}: {error}") from None
    rows = [metrics.to_dict() for metrics in evaluate(plan.problem, strategies)]
    if args.format == "json":
        for row in rows:
            print(json.dumps(row))
    else:
        print(_rows(rows))
    return FEASIBLE


def _diff(args: argparse.Namespace) -> int:
    from .explanations import diff
    from .plans import Plan

    found = diff(Plan.from_json(args.first), Plan.from_json(args.second))
    if args.format == "json":
        _print_json({"summary": found.summary, "ops": found.ops})
    else:
        print(found)
    return FEASIBLE


def _explain(args: argparse.Namespace) -> int:
    from .explanations import explain
    from .plans import Plan

    found = explain(Plan.from_json(args.plan), args.op)
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
    import dataclasses

    from .plans import Plan
    from .programs import verify

    found = verify(Plan.from_json(args.plan), args.whole, args.steps, args.seed)
    if args.format == "json":
        _print_json(dataclasses.asdict(found))
    else:
        print(found)
    return FEASIBLE if found.ok else DIFFERENT


def _lower(args: argparse.Namespace) -> int:
    from .plans import Plan
    from .programs import lower

    text = lower(Plan.from_json(args.plan), args.split_stages)
    if args.output:
        Path(args.output).write_text(text, encoding="utf-8")
    if args.format == "json":
        _print_json({"module": args.output or text})
    elif not args.output:
        print(text, end="")
    return FEASIBLE


def _export(args: argparse.Namespace) -> int:
    from .launches import export
    from .plans import Plan

    launch = export(Plan.from_json(args.plan), args.engine, args.devices_per_node)
    paths = launch.write(args.output_dir) if args.output_dir else []
    if args.format == "json":
        import dataclasses

        _print_json(dataclasses.asdict(launch))
    else:
        print(launch.script, end="")
        for path in paths:
            print(f"# written: {path}")
    return FEASIBLE


def _serve(args: argparse.Namespace) -> int:
    from .launches import export
    from .plans import Plan

    launch = export(Plan.from_json(args.plan), args.engine, args.devices_per_node)
    if args.dry_run:
        print(launch.script, end="")
        return FEASIBLE
    launch.run(args.output_dir)


def _judge(args: argparse.Namespace) -> int:
    from .judgements import judge

    found = judge(_one_problem(args), args.command)
    if args.format == "json":
        _print_json(
            {
                "engine": found.engine,
                "plan": found.plan and found.plan.to_dict(),
                "findings": found.findings,
                "share": found.share,
                "optimum": found.optimum.to_dict(),
            }
        )
    else:
        print(found)
    return FEASIBLE if found.plan else INFEASIBLE


def _report(args: argparse.Namespace) -> int:
    from .figures import searched, timeline
    from .frontier import pareto
    from .pages import report
    from .plans import Plan
    from .sensitivity import sweep

    plan = Plan.from_json(args.plan)
    front = None if args.no_front else pareto(plan.problem, step=args.step)
    changes = None if args.no_sweep else sweep(plan.problem)
    search = None if args.no_search else searched(plan)
    report(plan, args.output, front, changes, search)
    if args.timeline:
        text = json.dumps(timeline(plan), indent=1) + "\n"
        Path(args.timeline).write_text(text, encoding="utf-8")
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
    "judge": _judge,
    "report": _report,
}


def _refuse_unknown(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """An unknown verb, before argparse lists them in its own order."""
    from .errors import list_known

    if words and not words[0].startswith("-") and words[0] not in _VERBS:
        parser.error(f"unknown verb '{words[0]}'; " + list_known(words[0], _VERBS))


def _run(words: list[str]) -> int:
    from .errors import list_known

    parser, options = _parser()
    _refuse_unknown(parser, words)
    args, others = parser.parse_known_args(words)
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
    from .errors import BudgetExhausted, Inexpressible, Infeasible, ShardoptError

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
    except (ShardoptError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        if isinstance(error, Inexpressible):
            return INFEASIBLE
        return EXHAUSTED if isinstance(error, BudgetExhausted) else USAGE


if __name__ == "__main__":
    sys.exit(main())
