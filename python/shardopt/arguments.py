"""The verbs of the command and their options."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import Any, Callable, NoReturn

from .border import count_of, list_known, shown
from .exits import USAGE
from .setting_help import HelpAll

#: Verbs that have other names now: the old ones work, and no list has them.
OLD_NAMES = {"judge": "check", "fit": "size"}

_EPILOG = """exit codes: 0 done, 1 infeasible, an SLO is missed, or no engine runs it, 2 usage, 3 budget
used up or search interrupted, 4 results, a command or a server differ from what they should be"""


#: Lines at the end of the help of a verb, and of the command.
_EXAMPLES = {
    "": (
        "shardopt plan deepseek-v3 --machine h200_sxm --devices 8 --isl 4000 --osl 500",
        "shardopt size deepseek-v3 --machine h200_sxm --isl 4000 --osl 500 --requests-per-s 20",
        "shardopt export plans/service.json --target shell --output-dir launch",
    ),
    "plan": (
        "shardopt plan deepseek-v3 --machine h200_sxm --devices 8 --isl 4000 --osl 500 \\",
        "    --tpot 30 --ttft 2000@p90 --engine vllm --output-dir plans",
        "shardopt plan config.json --devices 8 --context 8192    # a decode step alone",
    ),
    "size": (
        "shardopt size deepseek-v3 --machine h200_sxm --isl 4000 --osl 500 \\",
        "    --requests-per-s 20 --ttft 2000@p99 --output-dir plans",
    ),
    "pareto": ("shardopt pareto config.json --devices 8 --isl 4000 --osl 500 --step 0.3",),
    "sweep": ("shardopt sweep plans/service.json",),
    "export": (
        "shardopt export plans/service.json --target kubernetes --output-dir launch \\",
        "    --model meta-llama/Llama-3.1-70B-Instruct",
    ),
    "check": (
        "shardopt check 'vllm serve Qwen/Qwen3-32B --tensor-parallel-size 4' config.json \\",
        "    --machine h100_sxm --isl 4000 --osl 500",
        "shardopt check launch",
    ),
    "calibrate": (
        "shardopt calibrate plans/service.json --output-dir node",
        "sh node/measure.sh",
        "shardopt calibrate plans/service.json --answers node --output-dir fitted",
    ),
    "report": ("shardopt report plans/service.json --output plan.html",),
    "import-graph": ("shardopt import-graph model.mlir --mesh data=2,model=4 --output annotated.mlir",),
}


class _Parser(argparse.ArgumentParser):
    """Answers an unknown verb with the known ones, closest first; its help ends with
    examples."""

    examples: "tuple[str, ...]" = ()

    def format_help(self) -> str:
        lines = "".join(f"  {line}\n" for line in self.examples)
        return super().format_help() + (f"\nexamples:\n{lines}" if lines else "")

    def error(self, message: str) -> NoReturn:
        """One line, which names the option, its value and what fits."""
        said = message.removeprefix("argument ")
        missing = said.removeprefix("the following arguments are required: ")
        if missing != said:
            helps = {"/".join(each.option_strings) or each.dest: each.help for each in self._actions}
            said = "missing: " + ", ".join(f"{name} ({helps[name]})" for name in missing.split(", "))
        said = re.sub(r"ignored explicit argument (.*)", r"\1, expected no value", said)
        print(f"error: {said}", file=sys.stderr)
        raise SystemExit(USAGE)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            known = list_known(value, map(str, action.choices))
            raise argparse.ArgumentError(action, f"unknown {shown(value)}; {known}")


class _Main(_Parser):
    """The parser of the command, whose help ends with where its manual is."""

    def format_help(self) -> str:
        return super().format_help() + "\n" + _manual_places()


def _manual_places() -> str:
    """Where an installation has its manual page and completion, else how to make them."""
    share = Path(sys.prefix, "share")
    page, completion = share / "man/man1/shardopt.1", share / "bash-completion/completions/shardopt"
    if page.is_file() and completion.is_file():
        return f"manual page: man {page}\ncompletion:  source {completion}\n"
    return (
        "manual page: python -m shardopt.manual man > shardopt.1; man ./shardopt.1\n"
        "completion:  source <(python -m shardopt.manual bash)\n"
    )


def _number(text: str, kind: Callable[[str], Any], what: str) -> Any:
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{shown(text)}, expected {what}") from None


def _above_0(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise ValueError
    return value


def positive(text: str) -> float:
    return float(_number(text, _above_0, "a number above 0"))


def whole(text: str) -> int:
    return int(_number(text, int, "a whole number"))


def tokens(text: str) -> "int | str":
    """Tokens of a request, or several with their shares, which are read later."""
    if ":" in text:
        return text
    count = count_of(text)
    return whole(text) if count is None else count


def real_number(text: str) -> float:
    return float(_number(text, float, "a number"))


class _Limit(argparse.Action):
    """Milliseconds, on the mean or on a percentile of requests: `30`, `500@p90`."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        text, _, at = str(values).partition("@")
        at = at if "@" in str(values) else "mean"
        percentiles = {"mean": None, "p50": 50, "p90": 90, "p99": 99}
        if at not in percentiles:
            raise argparse.ArgumentError(
                self, f"'{values}' is on '{at}', expected p50, p90, p99 or mean"
            )
        try:
            limit = positive(text)
        except argparse.ArgumentTypeError:
            raise argparse.ArgumentError(
                self, f"{shown(values)}, expected milliseconds above 0, such as 30 or 500@p90"
            ) from None
        setattr(namespace, self.dest, limit)
        setattr(namespace, self.dest.replace("_ms", "_percentile"), percentiles[at])


class _Drafts(argparse.Action):
    """Speculative tokens of a step and how many of them are accepted in the mean: `3:1.9`,
    or several to choose the best from: `0,1:0.8,3:1.9`."""

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


class _Acceptance(argparse.Action):
    """Of the first, second, ... draft token, or one chance of all: `0.8,0.6`, `0.8`."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        try:
            shares = [float(each) for each in str(values).split(",")]
        except ValueError:
            raise argparse.ArgumentError(
                self, f"{shown(values)}, expected shares such as 0.8,0.6, or one"
            ) from None
        setattr(namespace, self.dest, shares if len(shares) > 1 else shares[0])


class _Overlap(argparse.Action):
    """A pin of the overlap; `any` is both."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        if values not in ("on", "off", "any"):
            raise argparse.ArgumentError(self, f"{shown(values)}, expected on, off or any")
        said = "off,on" if values == "any" else values
        namespace.changes = [*namespace.changes, f"pins.overlap={said}"]


class _Engine(argparse.Action):
    """One engine: a second one is an error."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: Any = None) -> None:
        first = getattr(namespace, self.dest, None)
        if first not in (None, values):
            raise argparse.ArgumentError(
                self, f"'{values}' comes after '{first}', expected one engine, or any"
            )
        setattr(namespace, self.dest, values)


def _add_problem(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "model", nargs="?", help="config.json, its folder, Hub id, name, module or plan file"
    )
    add = parser.add_argument_group("GPUs and engine").add_argument
    add("--machine", help="GPU type such as h200_sxm, or JSON file (default: h100_sxm)")
    add("--devices", type=whole, metavar="N",
        help="available GPUs; idle ones count (default: an NVLink domain)")
    add("--max-devices", type=whole, metavar="N", help="maximum GPUs per plan, instead")
    add("--prefill-machine", metavar="MACHINE", help="GPU type of prefill workers")
    add("--prefill-devices", type=whole, metavar="N",
        help="GPUs of --prefill-machine, in addition to --devices")
    add("--engine", action=_Engine,
        help="vllm (default of a service), sglang, trtllm, any or none")
    add("--weight-type", metavar="TYPE[,...]",
        help="weight type: bf16, fp8, int8, int4, nvfp4 or mxfp4")
    add("--kv-type", metavar="TYPE[,...]", help="KV-cache type: bf16 or fp8")
    add = parser.add_argument_group("requests and SLOs of a service").add_argument
    add("--isl", type=tokens, metavar="TOKENS", help="prompt tokens, or shares of lengths: 4096:0.3,512:0.7")
    add("--osl", type=tokens, metavar="TOKENS", help="output tokens of a request, likewise")
    add("--requests-per-s", dest="rate", type=positive, metavar="N", help="request rate")
    add("--concurrency", type=whole, metavar="N", help="requests in flight, instead of a rate")
    add("--tpot", dest="tpot_ms", action=_Limit, metavar="MS[@p90]",
        help="TPOT SLO in ms: mean, or @p50, @p90, @p99 (default: 50)")
    add("--ttft", dest="ttft_ms", action=_Limit, metavar="MS[@p90]",
        help="TTFT SLO in ms, likewise (default: 2000)")
    add("--chunk", metavar="TOKENS[,...]", help="prompt tokens per step (default: 8192)")
    add("--expert-load", metavar="zipf:A|FILE",
        help="expert load: zipf:A, or a file of shares (default: even)")
    add("--drafts", action=_Drafts, metavar="N[:ACCEPTED],...",
        help="speculative tokens per step, and how many are accepted (mean)")
    add("--overlap", action=_Overlap, metavar="on|off|any",
        help="steps on two micro-batches that hide the EP exchange (default: off)")
    add("--acceptance", action=_Acceptance, metavar="SHARE[,...]",
        help="share of steps that accept the first, second, ... draft")
    add = parser.add_argument_group("one phase and its search").add_argument
    add("--context", type=whole, metavar="TOKENS", help="context in tokens, instead of --isl")
    add("--phase", help="decode (default) or prefill")
    add("--space", help="serving (default) or uniform")
    add("--dims", help="what layers share: all dims (shared, default), per-window or per-layer")
    add("--objective", help="throughput (default), latency, or of a service goodput")
    add("--searcher", help="searcher (default: exact)")
    add("--budget", type=whole, metavar="N", help="maximum evaluations")
    add("--seed", type=whole, metavar="N", help="random seed (default: 0)")
    add = parser.add_argument_group("settings").add_argument
    add("--config", metavar="FILE", help="settings as YAML or JSON")
    add(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        dest="changes",
        help="change a setting: pins.tp=8, pins.*.qkv_proj=heads",
    )
    add("--help-all", action=HelpAll, help="show this help and every setting of --set")
    _add_trust(parser)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--format", choices=("table", "json"), default="table", help="output (default: table)"
    )
    parser.add_argument(
        "--json", action="store_const", const="json", dest="format", help="same as --format json"
    )
    parser.add_argument("--quiet", action="store_true", help="draw no progress bar")


def _add_trust(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--allow-simulator",
        action="store_true",
        help="run the program that a plan file names as its simulator",
    )


def _add_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", help="plan file")
    _add_trust(parser)


def _add_role(parser: Any) -> None:
    parser.add_argument(
        "--role",
        choices=("decode", "prefill"),
        help="of a service: the phase of its workers (decode)",
    )


def _add_target(parser: argparse.ArgumentParser) -> None:
    """What an export of a service says in addition to the plan."""
    group = parser.add_argument_group("the whole service (--target)")
    add = group.add_argument
    add("--target", metavar="T", help="shell, compose, slurm, srt-slurm, kubernetes, dynamo or llm-d")
    add("--name", help="of the service (default: the model's)")
    add("--model", help="folder or hub name that engines load (default: the plan's)")
    add("--max-length", type=whole, metavar="N", help="tokens of the longest request")
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
    group = parser.add_argument_group("shardings for other compilers (--target jax, dtensor or sdy)")
    group.add_argument("--module", metavar="FILE", help="StableHLO whose arguments sdy shards")
    _add_role(group)


def make_parser() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """The parser, and that of each verb."""
    parser = _Main(
        prog="shardopt",
        description="Plans services of large language models: GPUs, parallelism, launch files.",
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.examples = _EXAMPLES[""]
    parser.add_argument("--version", action="store_true", help="print the version")
    verbs = parser.add_subparsers(dest="verb", metavar="command", parser_class=_Parser)

    def verb(name: str, summary: str) -> _Parser:
        made = verbs.add_parser(
            name, help=summary, description=summary, epilog=_EPILOG, allow_abbrev=False
        )
        made.examples = _EXAMPLES.get(name, ())
        _add_output(made)
        return made

    made = verb("plan", "find the best plan")
    _add_problem(made)
    made.add_argument("--output-dir", metavar="DIR", help="folder for plan files")
    made.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="record of evaluations; the same command resumes from it",
    )
    made.add_argument(
        "--ops", action="store_true", help="of a service: also the sharding and time of each op"
    )
    made.add_argument(
        "--advice", action="store_true",
        help="of a service: what other SLOs, GPUs, engines and types would gain",
    )
    made.add_argument("--requests", metavar="FILE",
        help="trace to plan for, as CSV or JSONL, instead of --isl")
    made.add_argument("--robust", action="append", nargs="?", const="", metavar="NAME=LOW:HIGH",
        help="band of a number to be robust against; repeatable")
    made.add_argument("--partition", metavar="P",
        help="division of layers over stages: even (default) or balanced")
    made.add_argument("--order", metavar="FILE",
        help="of a phase: order its ops too, and write the module for shard-schedule")
    made.add_argument(
        "--simplest",
        metavar="SHARE",
        help="of a phase: nearest plan to an engine's, with at most this loss: 0.5%%",
    )
    made = verb("pareto", "list the Pareto frontier of throughput and latency")
    _add_problem(made)
    made.add_argument("--step", type=real_number, default=0.1, help="step between latencies (default: 0.1)")
    made = verb("size", "find the fewest or cheapest GPUs for a load")
    _add_problem(made)
    made.add_argument(
        "--tokens-per-s", dest="tokens", type=positive, metavar="N",
        help="output tokens/s to size for, instead of --requests-per-s",
    )
    # The old name of it; a rate is requests per second elsewhere.
    made.add_argument("--rate", dest="old_tokens", type=positive, help=argparse.SUPPRESS)
    made.add_argument(
        "--price",
        action="append",
        default=[],
        metavar="MACHINE=PRICE",
        dest="prices",
        help="GPU price of a machine to choose from; repeatable",
    )
    made.add_argument("--output-dir", metavar="DIR", help="folder for plan files")
    made = verb("sweep", "show the effect of other GPUs, engines, SLOs and lengths")
    _add_problem(made)
    made = verb("evaluate", "evaluate a plan, or other strategies for its problem")
    _add_plan(made)
    made.add_argument("--ops", action="store_true", help="of a service: also the sharding and time of each op")
    made.add_argument("--strategies", metavar="FILE", help="file with one strategy per line, as JSON")
    made.add_argument("--requests", metavar="FILE", help="trace of requests to replay, as CSV or JSONL")
    made = verb("calibrate", "measure what decides on your node, and fit its constants")
    _add_problem(made)
    made.add_argument("--measurements", type=whole, metavar="N", default=20,
        help="maximum measurements to propose (default: 20)")
    made.add_argument("--answers", metavar="PATH", help="folder or CSV file with measured times")
    made.add_argument("-o", "--output-dir", metavar="DIR",
        help="folder for commands, or with --answers for the machine file")
    made = verb("diff", "show the differences of two plans")
    made.add_argument("first", help="plan file")
    made.add_argument("second", help="plan file")
    _add_trust(made)
    made = verb("explain", "show what each other choice would gain or lose")
    _add_plan(made)
    _add_role(made)
    made.add_argument("op", nargs="?", help="default: all ops")
    made = verb("verify", "execute the sharded program against the unsharded one")
    _add_plan(made)
    made.add_argument("--whole", action="store_true", help="execute the full model instead of a small one")
    made.add_argument("--steps", type=whole, default=2, help="decode steps (default: 2)")
    made.add_argument("--seed", type=whole, default=1, help="seed of weights and inputs (default: 1)")
    _add_role(made)
    made = verb("lower", "write the per-rank program with collectives, as MLIR")
    _add_plan(made)
    made.add_argument("-o", "--output", metavar="FILE", help="output file (default: standard output)")
    made.add_argument(
        "--split-stages", action="store_true", help="write one function per stage"
    )
    _add_role(made)
    made = verb("export", "write the launch command or files of a plan")
    _add_plan(made)
    made.add_argument("--engine", help="vllm, sglang==0.5.23, ... (default: the plan's)")
    made.add_argument("--devices-per-node", type=whole, metavar="N", help="GPUs per node")
    made.add_argument("-o", "--output-dir", metavar="DIR", help="folder for launch files")
    _add_target(made)
    made = verb("serve", "start the serving engine with a plan (replaces this process)")
    _add_plan(made)
    made.add_argument("--engine", required=True, help="vllm, sglang==0.5.23, ...")
    made.add_argument("--devices-per-node", type=whole, metavar="N", help="GPUs per node")
    made.add_argument(
        "--output-dir", metavar="DIR", default="launch", help="folder for its files (default: launch)"
    )
    made.add_argument("--dry-run", action="store_true", help="print the command only")
    made = verb("report", "write an HTML report, which is also a plan file")
    _add_plan(made)
    made.add_argument("-o", "--output", metavar="FILE", required=True, help="output file, such as page.html")
    made.add_argument("--no-front", action="store_true", help="leave out the Pareto frontier")
    made.add_argument(
        "--no-sweep", action="store_true", help="leave out the effect of changes"
    )
    made.add_argument(
        "--no-search", action="store_true", help="leave out the convergence of a search"
    )
    made.add_argument(
        "--timeline", metavar="FILE", help="also write the layer as a Chrome trace"
    )
    made.add_argument("--step", type=real_number, default=0.2, help="step of the frontier (default: 0.2)")
    made = verb("trace", "show when a search improved, and plot it")
    made.add_argument("trace", help="log of a search, or a trace of --llm-search-sharding")
    made.add_argument("--objective", choices=("throughput", "latency"), default="throughput",
        help="what is best (default: throughput)")
    made.add_argument("-o", "--plot", metavar="FILE", help="plot, as .svg, .png, .html or .json")
    made = verb("check", "compare a command, manifest or server with the best plan")
    made.add_argument(
        "what", nargs="?", help="quoted command, file, folder, or - for standard input"
    )
    _add_problem(made)
    made.add_argument("--plan", metavar="FILE", help="plan file to compare with")
    made.add_argument(
        "-o", "--output-dir", metavar="DIR", help="folder for the answer to a deployment request"
    )
    made.add_argument("--server", metavar="URL", help="running server, instead of a command")
    made.add_argument("--log", metavar="FILE", help="the server's start log, or TensorRT-LLM's options")
    made.add_argument("--role", help="role of the server: serve, prefill or decode (default: nearest)")
    made.add_argument(
        "--timeout", type=positive, default=10, metavar="S", help="timeout per request in s (default: 10)"
    )
    made = verb("import-graph", "choose the sharding of a graph of StableHLO, PyTorch or linalg")
    made.add_argument("graph", help="MLIR file in generic form, or .pt2 of torch.export")
    made.add_argument("--machine", default="h100_sxm", help="GPU or machine file (default: h100_sxm)")
    made.add_argument(
        "--simulator", default="auto", help="times of kernels: roofline, calibrated or auto (default: auto)"
    )
    made.add_argument("--mesh", default="8", help="devices of 1 to 3 axes: 8, 4x2, data=4,model=2 (default: 8)")
    made.add_argument("--memory-gb", type=positive, metavar="GB", help="memory per device (default: the machine's)")
    made.add_argument("--time-limit", type=positive, default=60, metavar="S", help="search time in s (default: 60)")
    made.add_argument(
        "--pin", action="append", default=[], metavar="NAME=SHARDING", help="sharding of an argument or result: 'w*=[-, model]'"
    )
    made.add_argument("--pins", metavar="FILE", help="JSON file of shardings, as export --target jax writes it")
    made.add_argument("-o", "--output", metavar="FILE", help="annotated module: sdy for StableHLO, shard for linalg")
    return parser, dict(verbs.choices)
