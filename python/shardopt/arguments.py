"""The verbs of the command and their options."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

#: The exit code of a command line that cannot be.
USAGE = 2

#: Verbs that have other names now: the old ones work, and no list has them.
OLD_NAMES = {"judge": "check", "fit": "size"}

_EPILOG = """exit codes: 0 done, 1 infeasible or inexpressible, 2 usage, 3 the budget ran out
or the search was interrupted, 4 the sharded program computes something else"""


class _Parser(argparse.ArgumentParser):
    """Answers an unknown verb with the known ones, closest first."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        print(f"error: {message}", file=sys.stderr)
        raise SystemExit(USAGE)


def positive(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise ValueError
    return value


positive.__name__ = "number above 0"


class _Limit(argparse.Action):
    """Milliseconds, on the mean or on a percentile of requests: `30`, `500@p90`."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        text, _, at = str(values).partition("@")
        percentiles = {"": None, "mean": None, "p50": 50, "p90": 90, "p99": 99}
        if at not in percentiles:
            raise argparse.ArgumentError(
                self, f"'{values}' is on '{at}', expected p50, p90, p99 or mean"
            )
        try:
            limit = positive(text)
        except (ValueError, argparse.ArgumentTypeError) as error:
            raise argparse.ArgumentError(
                self, f"invalid number above 0: '{values}'"
            ) from error
        setattr(namespace, self.dest, limit)
        setattr(namespace, self.dest.replace("_ms", "_percentile"), percentiles[at])


class _Drafts(argparse.Action):
    """Draft tokens of a step with how many of them are accepted in the mean: `3:1.9`, or
    several of which the best is chosen: `0,1:0.8,3:1.9`."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        drafts, accepted = [], []
        for each in str(values).split(","):
            count, found, share = each.partition(":")
            try:
                drafts.append(int(count))
                accepted.append(float(share) if found else 0.0)
            except ValueError as error:
                raise argparse.ArgumentError(
                    self, f"'{each}' is no number of drafts, expected such as 3:1.9"
                ) from error
        is_one = len(drafts) == 1
        namespace.draft_tokens = drafts[0] if is_one else drafts
        namespace.accepted_tokens = accepted[0] if is_one else accepted


def _add_problem(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", nargs="?",
        help="config.json, a folder that holds one, a module, or a plan file")
    add("--machine", help="name or JSON file (default: h100_sxm)")
    add("--devices", type=int, metavar="N",
        help="available GPUs; idle ones lower throughput per GPU")
    add("--max-devices", type=int, metavar="N", help="maximum GPUs per plan")
    add("--isl", type=int, metavar="TOKENS", help="prompt length in tokens, for a service")
    add("--osl", type=int, metavar="TOKENS", help="completion length in tokens, for a service")
    add("--context", type=int, metavar="TOKENS",
        help="of one phase alone, instead of --isl and --osl")
    add("--phase", help="decode (default) or prefill, with --context")
    add("--tpot", dest="tpot_ms", action=_Limit, metavar="MS[@p90]",
        help="TPOT SLO in ms: mean, or @p50, @p90, @p99 (default: 50)")
    add("--ttft", dest="ttft_ms", action=_Limit, metavar="MS[@p90]",
        help="TTFT SLO in ms, likewise (default: 2000)")
    add("--concurrency", type=int, metavar="N", help="requests in flight, with --isl")
    add("--requests-per-s", dest="rate", type=positive, metavar="N",
        help="request rate, with --isl")
    add("--prefill-machine", metavar="MACHINE",
        help="another machine for prefill workers, with --isl")
    add("--prefill-devices", type=int, metavar="N",
        help="its GPUs, in addition to --devices (default: shared)")
    add("--weight-type", metavar="TYPE[,…]",
        help="weights as bf16, fp8, int8, int4, nvfp4 or mxfp4")
    add("--kv-type", metavar="TYPE[,…]", help="KV caches as bf16 or fp8")
    add("--chunk", metavar="TOKENS[,…]", help="prompt tokens per step, with --isl (8192)")
    add("--drafts", action=_Drafts, metavar="N[:ACCEPTED],…",
        help="speculative tokens and mean acceptance length, with --isl")
    add("--engine", help="vllm (of a service: default), sglang, trtllm, any")
    add("--space", help="of a phase: serving (default) or uniform")
    add("--objective", help="of a phase: throughput (default) or latency")
    add("--searcher", help="of a phase: how to search (default: exactly)")
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
    _add_trust(parser)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("table", "json"), default="table")


def _add_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-simulator",
        action="store_true",
        help="run the program that a plan file names as its simulator",
    )


def _add_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", help="plan file")
    _add_trust(parser)


def _add_role(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--role",
        choices=("decode", "prefill"),
        help="of a service: the phase of its workers (decode)",
    )


def _add_target(parser: argparse.ArgumentParser) -> None:
    """What an export of a service says beside the plan."""
    group = parser.add_argument_group("the whole service (--target)")
    add = group.add_argument
    add("--target", metavar="T", help="shell, compose, slurm, srt-slurm, kubernetes, dynamo or llm-d")
    add("--name", help="of the service (default: the model's)")
    add("--model", help="folder or hub name that engines load (default: the plan's)")
    add("--max-length", type=int, metavar="N", help="tokens of the longest request")
    add("--namespace", help="of Kubernetes (default: default)")
    add("--image", help="of the engine")
    add("--router-image", metavar="IMAGE", help="of the router, or of llm-d's sidecar")
    add("--claim", help="volume claim that holds models (default: models)")
    add("--models", metavar="DIR", help="where containers see it (default: /models)")
    add("--secret", help="secret with HF_TOKEN, for models of a hub")
    add("--node-selector", action="append", metavar="[ROLE:]KEY=VALUE",
        help="label of the nodes that pods go to")
    add("--partition", action="append", metavar="[ROLE:]NAME", help="of Slurm")
    add("--account", help="of Slurm")
    add("--time", help="of Slurm (default: 04:00:00)")


def make_parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
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
        "--checkpoint",
        metavar="FILE",
        help="keeps a search that evaluates: the same command goes on from it",
    )
    made.add_argument(
        "--ops", action="store_true", help="of a service: op sharding and times per op"
    )
    made.add_argument(
        "--simplest",
        metavar="SHARE",
        help="the plan nearest to what engines run that loses at most 0.5%%, say",
    )
    made = verb("pareto", "the Pareto frontier of throughput against latency")
    _add_problem(made)
    made.add_argument("--step", type=float, default=0.1, help="between latencies (0.1)")
    made = verb("size", "the fewest or cheapest GPUs for a load")
    _add_problem(made)
    made.add_argument(
        "--rate", dest="tokens", type=positive, metavar="N", help="output tokens/s"
    )
    made.add_argument(
        "--price",
        action="append",
        default=[],
        metavar="MACHINE=PRICE",
        dest="prices",
        help="of a GPU, for each machine to choose from",
    )
    made.add_argument("--output-dir", metavar="DIR", help="where plan files are written")
    made = verb("sweep", "what other GPUs, engines, SLOs and lengths would buy")
    _add_problem(made)
    made = verb("evaluate", "evaluate a plan, or other strategies for its problem")
    _add_plan(made)
    made.add_argument("--ops", action="store_true", help="of a service, as plan has it")
    made.add_argument("--strategies", metavar="FILE", help="a strategy a line, as JSON")
    made = verb("diff", "how two plans differ")
    made.add_argument("first")
    made.add_argument("second")
    _add_trust(made)
    made = verb("explain", "what other choices would cost")
    _add_plan(made)
    _add_role(made)
    made.add_argument("op", nargs="?", help="default: all ops")
    made = verb("verify", "execute the sharded program against the unsharded one")
    _add_plan(made)
    made.add_argument("--whole", action="store_true", help="not on a small model")
    made.add_argument("--steps", type=int, default=2, help="of decode (2)")
    made.add_argument("--seed", type=int, default=1, help="of weights and inputs (1)")
    _add_role(made)
    made = verb("lower", "write the per-rank program with collectives, as MLIR")
    _add_plan(made)
    made.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
    made.add_argument(
        "--split-stages", action="store_true", help="a function for each stage"
    )
    _add_role(made)
    made = verb("export", "the command that launches a plan, or files that a platform runs")
    _add_plan(made)
    made.add_argument("--engine", help="vllm, sglang==0.5.23, … (default: the plan's)")
    made.add_argument("--devices-per-node", type=int, metavar="N")
    made.add_argument("-o", "--output-dir", metavar="DIR", help="where files are written")
    _add_target(made)
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
    made.add_argument("--no-front", action="store_true", help="leave out the Pareto frontier")
    made.add_argument(
        "--no-sweep", action="store_true", help="leave out the effect of changes"
    )
    made.add_argument(
        "--no-search", action="store_true", help="leave out the convergence of a search"
    )
    made.add_argument(
        "--timeline", metavar="FILE", help="the layer as a Chrome trace too"
    )
    made.add_argument("--step", type=float, default=0.2, help="step of the frontier (default: 0.2)")
    made = verb("check", "what a command or manifest means, and how far from the best it is")
    made.add_argument(
        "what", nargs="?", help="quoted command, file, folder, or - for standard input"
    )
    _add_problem(made)
    made.add_argument("--plan", metavar="FILE", help="plan file that it should be")
    made.add_argument(
        "-o", "--output-dir", metavar="DIR", help="where the answer of a request is written"
    )
    made.add_argument("--server", metavar="URL", help="a server that runs, instead of a command")
    made.add_argument("--log", metavar="FILE", help="its start log, or TensorRT-LLM's options")
    made.add_argument("--role", help="of the server: serve, prefill or decode (default: nearest)")
    made.add_argument(
        "--timeout", type=positive, default=10, metavar="S", help="for each answer (10 s)"
    )
    return parser, dict(verbs.choices)
