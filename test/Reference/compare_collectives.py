#!/usr/bin/python3
"""Compares the times on inserted collectives with what the scalar reference charges.

    compare_collectives.py --shard-opt build/bin/shard-opt \\
        --shard-translate build/bin/shard-translate [--count 5] [--seed 1]

Random strategies are lowered by --llm-insert-collectives; in the body of every
repeat the charged microseconds of the collectives that an op caused must add up
to the part of the op's time that the reference spends on the network. Between
the stacks and around them the program of a scan and the model's list of layers
differ, and nothing is compared.
"""

import argparse
import collections
import random
import sys
import zlib

import tools
import workloads
from compare import draw
from cost.network import Network
from cost.roofline import ANCHOR, Evaluator
from execution.mlir_generic import parse

MOST_DEVICES = 4096  # so that lists of slices stay short
TOLERANCE = 1e-6


class FreeNetwork(Network):
    """Every collective takes no time."""

    def all_gather(self, volume, n, stride=1):
        return 0.0

    def all_reduce(self, volume, n, stride=1):
        return 0.0

    def all_to_all(self, held, n, stride=1):
        return 0.0

    reduce_scatter = all_gather


def on_network(model, workload, strategy, kind):
    """Microseconds on the network by op of a layer.

    The edge of the loop, from a layer's last op to the next one's first, counts
    as the first op's.
    """
    full, free = (Evaluator(model, workload, strategy) for _ in range(2))
    free.network = FreeNetwork(workload.machine)
    # Where windows differ from layer to layer, the program tells of the widest.
    windows = [layer.window for layer in model.layers if layer.kind == kind]
    window = None if None in windows else max(windows)
    first = model.prefix(kind) + "attn_norm"
    anchor = ANCHOR[full.dims[first]]
    cost, kernels = (e.layer(kind, window) for e in (full, free))
    times = {a.op: a.time - b.time for a, b in zip(cost.lines, kernels.lines)}
    times[first] += full.leave(cost, anchor, full.r) - free.leave(kernels, anchor, full.r)
    return {op: time * 1e6 for op, time in times.items()}


def charged(repeat, first):
    """Charged microseconds in the body of a repeat by the op that caused them.

    Sums are the edge of the loop, which counts as the `first` op's.
    """
    times = collections.Counter()
    for op in repeat.walk():
        collective = op.get("shardopt.collective")
        if collective and collective["charged"]:
            cause = collective["cause"]
            times[first if cause == "add" else cause] += collective["microseconds"]
    return times


def comparable(model, evaluator):
    """Whether the model prices each op as the program does it.

    Partial sums of keys and values whose heads several devices hold are
    reduced to all of them, and the others scattered: two collectives, where
    the model has one.
    """
    if model.mla or evaluator.kv_heads_touched() * evaluator.n == model.nkv:
        return True
    prefixes = [model.prefix(kind) for kind in model.kinds]
    dims = evaluator.dims
    return not any(dims[p + "qkv_proj"] == 0 and dims[p + "attention"] == 0 for p in prefixes)


def check(args, case, model, module, strategy):
    """Words on what differs for one strategy."""
    workload = case.workload()
    annotated = tools.annotate(module, dict(zip(model.op_names(), strategy.dims)), strategy)
    known = ("machine", "comm-model", "imbalance")
    options = {key: value for key, value in case.pass_options().items() if key in known}
    text = " ".join(f"{key}={value}" for key, value in options.items())
    (lowered,) = parse(tools.generic(args.shard_opt, annotated, f"--llm-insert-collectives={text}"))
    words = []
    for repeat in (op for op in lowered.walk() if op.name == "llm.repeat"):
        exchanges = ("llm.dispatch", "llm.exchange_plan")
        kind = "moe" if any(op.name in exchanges for op in repeat.walk()) else "dense"
        expected = on_network(model, workload, strategy, kind)
        found = charged(repeat, model.prefix(kind) + "attn_norm")
        for op in sorted(set(expected) | set(found)):
            one, other = expected.get(op, 0.0), found.get(op, 0.0)
            # A difference of two times has lost digits.
            if abs(one - other) > TOLERANCE * max(1.0, one):
                words.append(f"{op}: {other} us, expected {one}")
    return words


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--count", type=int, default=5, help="strategies a workload")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="workloads whose description has this in it")
    args = parser.parse_args()

    wrong = 0
    for case in workloads.present(args.only):
        model = case.model()
        rng = random.Random(args.seed + zlib.crc32(str(case).encode()))
        types = [f"--{key.replace('_', '-')}={value}" for key, value in case.types.items()]
        module = tools.imported(args.shard_translate, case.read(), case.phase, case.context, *types)
        done = differ = 0
        while done < args.count:
            strategy = draw(model, rng)
            evaluator = Evaluator(model, case.workload(), strategy)
            devices = strategy.tp * strategy.ep * strategy.pp
            if devices > MOST_DEVICES or evaluator.structural() or not comparable(model, evaluator):
                continue
            done += 1
            words = check(args, case, model, module, strategy)
            if words:
                differ += 1
                print(f"{case}\n  {strategy.to_json()}\n  " + "\n  ".join(words))
        wrong += differ
        print(f"{case}: {differ} of {done} differ", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
