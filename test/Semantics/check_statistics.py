#!/usr/bin/python3
"""Collectives of executed programs, counted, against what the simulator charges.

    check_statistics.py --shard-opt=build/bin/shard-opt \\
        --shard-translate=build/bin/shard-translate --shard-run=build/bin/shard-run

Random strategies are run on a program and on one of twice the layers. What the
longer one counts more, op by op and kind by kind, must be what the simulator
charges for those layers, calls and bytes: so the ends of the stack, where a
scan and a list of layers differ, cancel. Sizes are such that nothing is padded,
experts take turns, and elements count in the types that the program declares.

The scalar reference says what is charged, call by call; that the simulator's own
breakdown has the same bytes for each op is checked too. A program with
optimized collectives must move no more than one without.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import sys
import tempfile
import zlib
from fractions import Fraction

import tools
from tools import ROOT, run

sys.path.append(str(ROOT / "test" / "Reference"))

from cost.models import Model  # noqa: E402
from cost.recording import RecordingNetwork, collectives_of  # noqa: E402
from cost.roofline import ANCHOR, Evaluator  # noqa: E402
from cost.strategies import Strategy, Workload  # noqa: E402

CONTEXT = 8
COMMON = {
    "hidden_act": "silu",
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 16,
    "rms_norm_eps": 1e-5,
    "rope_theta": 1e4,
    "max_position_embeddings": 64,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "vocab_size": 64,
}
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
CONFIGS = {
    "llama": {**COMMON, "architectures": ["LlamaForCausalLM"], "model_type": "llama"},
    "qwen3": {**COMMON, "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3"},
    "mixtral": {
        **COMMON,
        **EXPERTS,
        "architectures": ["MixtralForCausalLM"],
        "model_type": "mixtral",
    },
    "gpt-moe": {
        **COMMON,
        **EXPERTS,
        "architectures": ["GptMoeForCausalLM"],
        "model_type": "gpt_moe",
        "hidden_act": "gelu",
        "norm_topk_prob": True,
    },
    "gpt-oss": {
        **COMMON,
        **EXPERTS,
        "architectures": ["GptOssForCausalLM"],
        "model_type": "gpt_oss",
        "attention_bias": True,
        "swiglu_limit": 7.0,
        "sliding_window": 4,
        "num_key_value_heads": 2,
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_scaling": {
            "rope_type": "yarn",
            "factor": 32.0,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "original_max_position_embeddings": 16,
            "truncate": False,
        },
    },
    "deepseek": {
        **COMMON,
        "architectures": ["DeepseekV3ForCausalLM"],
        "model_type": "deepseek_v3",
        "moe_intermediate_size": 16,
        "num_key_value_heads": 8,
        "q_lora_rank": 24,
        "kv_lora_rank": 16,
        "qk_nope_head_dim": 8,
        "qk_rope_head_dim": 8,
        "head_dim": 8,
        "v_head_dim": 8,
        "n_routed_experts": 4,
        "num_experts_per_tok": 2,
        "n_group": 1,
        "topk_group": 1,
        "n_shared_experts": 1,
        "first_k_dense_replace": 1,
        "routed_scaling_factor": 2.5,
        "norm_topk_prob": True,
        "scoring_func": "sigmoid",
        "topk_method": "noaux_tc",
    },
}


def edge(op):
    """The edge of the loop, from a layer's last op to the next one's first, is one key."""
    return "attn_norm" if op in ("add", "layer_exit") or op.endswith("attn_norm") else op


class Counts:
    """Calls and bytes by op and kind."""

    def __init__(self):
        self.calls, self.bytes = collections.Counter(), collections.Counter()

    def add(self, op, kind, calls, bytes_):
        self.calls[edge(op), kind] += calls
        self.bytes[edge(op), kind] += bytes_

    def minus(self, other):
        result = Counts()
        for key in set(self.calls) | set(other.calls):
            result.calls[key] = self.calls[key] - other.calls[key]
            result.bytes[key] = self.bytes[key] - other.bytes[key]
        return result

    def difference(self, expected):
        """Words on what is not as expected, a line each."""
        for key in sorted(set(self.calls) | set(expected.calls)):
            found = self.calls[key], self.bytes[key]
            wanted = expected.calls[key], expected.bytes[key]
            if found != wanted:
                numbers = "{}, {} bytes; charged are {}, {}".format(*found, *wanted)
                yield f"{key[0]}: {key[1]} ran {numbers}"


def stage_layers(evaluator, stage):
    sizes = evaluator.stage_sizes()
    begin = sum(sizes[:stage])
    return evaluator.model.layers[begin : begin + sizes[stage]]


def charged(evaluator, layers):
    """What a step's micro-batches are charged for in layers that others follow."""
    counts = Counts()
    for layer in layers:
        cost = evaluator.layer(layer.kind, layer.window)
        anchor = ANCHOR[evaluator.dims[evaluator.model.prefix(layer.kind) + "attn_norm"]]
        times = [(line.op, line.time) for line in cost.lines]
        times.append(("add", evaluator.leave(cost, anchor, evaluator.r)))
        for op, time in times:
            for kind, bytes_, _ in collectives_of(time):
                counts.add(op, kind, evaluator.M, evaluator.M * bytes_)
    return counts


LINE = re.compile(
    r"statistics: rank=(\d+) op=(\S+) kind=(\S+) charged=(\S+) calls=(\d+) bytes=(\d+)"
)


class Program:
    """A config of some layers, imported once."""

    def __init__(self, args, config, phase, folder):
        self.args, self.folder, self.phase = args, folder, phase
        path = folder / "config.json"
        path.write_text(json.dumps(config))
        self.model = Model(config)
        name = f"{config['num_hidden_layers']}.mlir"
        self.plain = tools.imported(args, path, phase, CONTEXT, folder / name)

    def evaluator(self, strategy):
        workload = Workload(self.phase, CONTEXT, imbalance="none")
        evaluator = Evaluator(self.model, workload, strategy)
        evaluator.network = RecordingNetwork(workload.machine)
        return evaluator

    def applied(self, strategy):
        words = [f"{key}={getattr(strategy, key)}" for key in ("tp", "ep", "pp", "batch")]
        words.append("dims=" + ",".join(map(str, strategy.dims)))
        return f"--llm-apply-strategy={' '.join(words)}"

    def rows(self, strategy, *passes):
        """What the ranks of the program count: [(rank, op, kind, charged, calls, bytes)]."""
        partitioned = self.folder / "partitioned.mlir"
        passes = [self.applied(strategy), "--llm-insert-collectives=imbalance=none", *passes]
        run(self.args.shard_opt, self.plain, *passes, "-o", partitioned)
        options = ["--statistics", "--routing=balanced"]
        if self.phase == "decode":  # the step that is counted fills the cache
            options += ["--steps=1", f"--context={CONTEXT - 1}"]
        text = run(self.args.shard_run, partitioned, *options)
        return [
            (int(rank), op, kind, is_charged == "true", int(calls), int(bytes_))
            for rank, op, kind, is_charged, calls, bytes_ in LINE.findall(text)
        ]

    def breakdown(self, strategy):
        """Bytes by op that the simulator's report has for a micro-batch."""
        report = self.folder / "report.json"
        evaluate = f"--llm-evaluate-strategy=simulator=roofline imbalance=none report={report}"
        run(self.args.shard_opt, self.plain, self.applied(strategy), evaluate, "-o", "/dev/null")
        bytes_ = collections.Counter()
        for row in json.loads(report.read_text())["best"]["breakdown"]:
            op = "add" if row["op"].endswith("layer_exit") else row["op"]
            bytes_[edge(op)] += row["bytes"]
        return bytes_


def by_rank(strategy, rows):
    """Charged collectives of each rank."""
    ranks = [Counts() for _ in range(strategy.tp * strategy.ep * strategy.pp)]
    for rank, op, kind, is_charged, calls, bytes_ in rows:
        if is_charged:
            ranks[rank].add(op, kind, calls, bytes_)
    return ranks


def moved(strategy, rows):
    """Bytes that each rank sends to others by the best known algorithms.

    As multiples of (n - 1) / n: twice the tensor for all_reduce, else once.
    """
    result = collections.Counter()
    for rank, op, kind, _, _, bytes_ in rows:
        between_groups = kind == "all_to_all_v" or (op, kind) == ("dispatch", "all_to_all")
        n = strategy.ep if between_groups else strategy.tp
        if kind == "send":
            result[rank] += bytes_
        elif kind != "recv":
            result[rank] += (2 if kind == "all_reduce" else 1) * Fraction(bytes_ * (n - 1), n)
    return result


def draw(model, phase, rng):
    """A strategy whose degrees divide all sizes."""
    windowed = phase == "decode" and any(layer.window for layer in model.layers)
    tp, pp = rng.choice((2, 4) if windowed else (1, 2, 2, 4, 4)), rng.choice((1, 2))
    ep = rng.choice((1, 2, 4)) if model.E else rng.choice((1, 2))
    # Each expert gets equally many copies of the tokens of each rank.
    batch = rng.choice((8, 16)) * ep * pp
    dims = []
    for name in model.op_names():
        is_whole = name.endswith("attention") and (model.mla or phase == "prefill")
        # Scores are reduced where heads are cut, of what a window lets a row see.
        is_cut = windowed and name.endswith("attention")
        dims.append(1 if is_cut else rng.choice((0, 2) if is_whole else (0, 1, 2)))
    return Strategy(tp, ep, pp, batch, tuple(dims))


def check(short, long, strategy):
    """Words on what was counted and is not as charged."""
    evaluator, shorter = long.evaluator(strategy), short.evaluator(strategy)
    assert not evaluator.structural(), strategy

    simulated = long.breakdown(strategy)
    inside = charged(evaluator, long.model.layers)
    ops = {edge(op) for op in long.model.op_names() if op not in ("embed", "lm_head")}
    for op in sorted(ops - {"attn_norm"}):
        bytes_ = sum(b for (name, _), b in inside.bytes.items() if name == op)
        if bytes_ != evaluator.M * simulated[op]:
            yield f"{op}: the simulator's report has {simulated[op]} bytes, the reference {bytes_}"

    rows = long.rows(strategy)
    with_ends = zip(by_rank(strategy, short.rows(strategy)), by_rank(strategy, rows))
    for rank, (less, more) in enumerate(with_ends):
        stage = rank // (strategy.tp * strategy.ep)
        parts = [charged(e, stage_layers(e, stage)) for e in (shorter, evaluator)]
        for word in more.minus(less).difference(parts[1].minus(parts[0])):
            yield f"rank {rank}, {word}"

    before = moved(strategy, rows)
    after = moved(strategy, long.rows(strategy, "--llm-optimize-collectives"))
    for rank in sorted(after):
        if after[rank] > before[rank]:
            numbers = f"{float(after[rank])} bytes, {float(before[rank])} before"
            yield f"rank {rank}, optimized: {numbers}"


def deepened(config):
    """A config with every kind of layer twice as often."""
    keys = ("num_hidden_layers", "first_k_dense_replace", "layer_types")
    return {**config, **{key: 2 * config[key] for key in keys if key in config}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--count", type=int, default=2, help="strategies a model and phase")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="models and phases with this in 'model phase'")
    args = parser.parse_args()

    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        for model, config in CONFIGS.items():
            for phase in ("decode", "prefill"):
                title = f"{model} {phase}"
                if args.only not in title:
                    continue
                rng = random.Random(args.seed + zlib.crc32(title.encode()))
                folder = pathlib.Path(name)
                short, long = (
                    Program(args, c, phase, folder) for c in (config, deepened(config))
                )
                differ = 0
                for _ in range(args.count):
                    strategy = draw(long.model, phase, rng)
                    words = list(check(short, long, strategy))
                    if words:
                        differ += 1
                        print(f"{title} {json.dumps(strategy.to_json())}")
                        print("  " + "\n  ".join(words))
                wrong += differ
                print(f"{title}: {differ} of {args.count} differ", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
