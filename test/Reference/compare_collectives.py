#!/usr/bin/python3
"""Compares the collectives of programs with what the scalar reference charges.

    compare_collectives.py --shard-opt build/bin/shard-opt \\
        --shard-translate build/bin/shard-translate [--count 5] [--seed 1]

Random strategies are lowered by --llm-insert-collectives and cut into stages. In
every stage, the bytes and microseconds that collectives say they are charged,
summed over layers by the op that caused them and the kind as which they count,
must be those of the collectives that the reference adds up for the op. What goes
from stage to stage is left out.
"""

import argparse
import collections
import random
import re
import sys
import zlib

import tools
import workloads
from compare import draw
from cost.recording import RecordingNetwork, collectives_of
from cost.roofline import Evaluator
from execution.mlir_generic import parse

MOST_DEVICES = 4096  # so that lists of slices stay short
TOLERANCE = 1e-6


class Sums:
    """Bytes and microseconds by (stage, op, kind), of how many collectives."""

    def __init__(self):
        self.bytes, self.us = collections.Counter(), collections.Counter()
        self.count = collections.Counter()

    def add(self, stage, op, kind, bytes_, us, count=1):
        key = stage, op, kind.removesuffix("_v")
        self.bytes[key] += count * bytes_
        self.us[key] += count * us
        self.count[key] += count

    def differences(self, other):
        for key in sorted(set(self.us) | set(other.us)):
            for unit, mine, theirs in (
                ("us", self.us[key], other.us[key]),
                ("bytes", self.bytes[key], other.bytes[key]),
            ):
                # The bytes of each collective in a program are whole.
                slack = 1 + self.count[key] / 2 if unit == "bytes" else TOLERANCE
                if abs(mine - theirs) > max(slack, TOLERANCE * theirs):
                    yield f"stage {key[0]}, {key[1]}, {key[2]}: {mine} {unit}, expected {theirs}"


def expected(evaluator):
    """What the reference charges a micro-batch for."""
    sums = Sums()

    def add(stage, op, time):
        for kind, bytes_, seconds in collectives_of(time):
            sums.add(stage, op, kind, bytes_, seconds * 1e6)

    layers, number = evaluator.model.layers, 0
    add(0, "embed", evaluator.embed().time)
    costs = {layer: evaluator.layer(layer.kind, layer.window) for layer in set(layers)}
    for stage, size in enumerate(evaluator.stage_sizes()):
        for layer in layers[number : number + size]:
            number += 1
            cost = costs[layer]
            for line in cost.lines:
                add(stage, line.op, line.time)
            if number < len(layers):
                anchor = evaluator.anchor(layers[number])
                add(stage, "layer_exit", evaluator.leave(cost, anchor, evaluator.r))
            else:
                add(stage, "lm_head", evaluator.head(cost).time)
    return sums


def add_collective(sums, stage, op, times):
    """Adds what `op` says that it is charged, `times` in all its iterations."""
    collective = op.get("shardopt.collective")
    if not collective:
        return
    charges = collective.get("layers", [{**collective, "count": times}])
    assert sum(charge["count"] for charge in charges) == times, op.line
    for charge in charges:
        if charge["charged"] and charge["cause"] != "stage_transfer":
            kind = charge.get("counted_as", op.name.split(".")[1])
            bytes_, us = charge["bytes"], charge["microseconds"]
            if us > 0:
                sums.add(stage, charge["cause"], kind, bytes_, us, charge["count"])


def written(text):
    """What the collectives of a module say."""
    sums = Sums()
    (module,) = parse(text)

    def visit(op, stage, times):
        add_collective(sums, stage, op, times)
        if op.name == "llm.repeat":
            times *= op["count"]
        for region in op.regions:
            for block in region:
                for inner in block.ops:
                    visit(inner, stage, times)

    for function in module.body:
        match = re.search(r"_stage(\d+)$", function.get("sym_name", ""))
        visit(function, int(match[1]) if match else 0, 1)
    return sums


def check(args, case, model, module, strategy):
    """Words on what differs for one strategy."""
    evaluator = Evaluator(model, case.workload(), strategy)
    network = evaluator.network
    evaluator.network = RecordingNetwork(network.machine, network.comm_model)
    annotated = tools.annotate(module, dict(zip(model.op_names(), strategy.dims)), strategy)
    known = ("machine", "comm-model", "imbalance")
    options = {key: value for key, value in case.pass_options().items() if key in known}
    text = " ".join(f"{key}={value}" for key, value in options.items())
    passes = [f"--llm-insert-collectives={text}"]
    if strategy.pp > 1:
        options.pop("imbalance", None)
        text = " ".join(f"{key}={value}" for key, value in options.items())
        passes.append(f"--llm-split-stages={text}")
    lowered = tools.generic(args.shard_opt, annotated, *passes)
    return list(written(lowered).differences(expected(evaluator)))


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
            if devices > MOST_DEVICES or evaluator.structural():
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
