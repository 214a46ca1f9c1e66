#!/usr/bin/python3
"""Compares shard-opt's roofline simulator with the scalar reference.

    compare.py --shard-opt build/bin/shard-opt \\
        --shard-translate build/bin/shard-translate [--count 200] [--seed 1]

Each workload's config is imported, random strategies are evaluated by
--llm-evaluate-strategy and by the reference, and the answers are compared:
metrics to 1e-9 relative, `valid` and `reason` exactly (unless a metric is so
close to its limit that rounding decides). Exit code 1 with the first
strategies that differ, 0 otherwise. Configs of real models are looked for in
$SHARDOPT_DATA (default: ../shared/data beside the project); where they are
missing, only the synthetic ones are compared.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import sys
import tempfile
import zlib

import tools
import workloads
from cost.roofline import evaluate
from cost.strategies import Strategy

TOLERANCE = 1e-9
SHOWN = 5  # differing strategies printed for a workload


def draw(model, rng):
    """A random strategy: mostly the usual degrees, sometimes any integers."""

    def degree(usual, largest):
        return rng.choice(usual) if rng.random() < 0.8 else rng.randint(1, largest)

    powers = [2**i for i in range(17)]
    experts, layers = max(16, model.E), len(model.layers)
    dims = [rng.choice((0, 1, 2)) for _ in model.op_names()]
    tp, tp2 = degree(powers[:7], 24), 1
    if rng.random() < 0.3:  # weights sharded on both dims
        tp2 = rng.choice([1, *(n for n in range(2, tp + 1) if tp % n == 0)])
        for i in map(model.op_names().index, model.both_dims_ops()):
            dims[i] = rng.choice((0, 1, 2, 3, 3))
    if rng.random() < 0.5:  # fewer structural violations of attention
        for i, name in enumerate(model.op_names()):
            if name.endswith("attention"):
                dims[i] = rng.choice((0, 2))
    tp = degree(powers[:7], 24)
    return Strategy(
        tp=tp,
        ep=degree([p for p in powers if p <= experts], experts + 2),
        pp=degree([p for p in (1, 2, 3, 4, 6, 8, 12, 24) if p <= layers], layers + 2),
        batch=degree(powers, 3000),
        cp=tp if rng.random() < 0.2 else 1,
        dims=tuple(dims),
        tp2=tp2,
    )


def spell(strategy, model, rng):
    """A line of the list; dims in either of the two forms."""
    value = strategy.to_json()
    if rng.random() < 0.3:
        value["dims"] = dict(zip(model.op_names(), strategy.dims))
    return json.dumps(value)


def evaluate_with_tools(args, case, config, lines):
    """The report's lines, one a strategy."""
    types = [f"--{key.replace('_', '-')}={value}" for key, value in case.types.items()]
    module = tools.imported(args.shard_translate, config, case.phase, case.context, *types)
    with tempfile.TemporaryDirectory() as folder:
        listed, report = pathlib.Path(folder) / "in.jsonl", pathlib.Path(folder) / "out.jsonl"
        listed.write_text("".join(line + "\n" for line in lines))
        options = {**case.pass_options(), "strategies": listed, "report": report}
        text = " ".join(f"{key}={value}" for key, value in options.items())
        tools.run([args.shard_opt, f"--llm-evaluate-strategy=simulator=roofline {text}", "-o", os.devnull, "-"], module)
        return [json.loads(line) for line in report.read_text().splitlines()]


def near(a, b):
    return abs(a - b) <= TOLERANCE * max(abs(a), abs(b))


def differences(expected, found, workload):
    """Words on what differs between two report lines."""
    if set(found) != set(expected):
        return [f"keys {sorted(found)}, expected {sorted(expected)}"]
    latency = "tpot_ms" if workload.phase == "decode" else "ttft_ms"
    words = []
    for key in ("throughput", latency, "memory_gb"):
        if not near(expected[key], found[key]):
            words.append(f"{key} {found[key]!r}, expected {expected[key]!r}")
    borderline = near(expected[latency], workload.slo * 1e3) or near(
        expected["memory_gb"], workload.machine.capacity / 1e9
    )
    for key in ("valid", "reason"):
        if found[key] != expected[key] and not borderline:
            words.append(f"{key} {found[key]!r}, expected {expected[key]!r}")
    return words


def compare(args, case):
    """Number of strategies that differ."""
    model, workload = case.model(), case.workload()
    # The case is part of the seed, so that one more case changes no other.
    rng = random.Random(args.seed + zlib.crc32(str(case).encode()))
    strategies = [draw(model, rng) for _ in range(args.count)]
    lines = [spell(strategy, model, rng) for strategy in strategies]
    answers = evaluate_with_tools(args, case, case.read(), lines)
    if len(answers) != len(lines):
        print(f"{case}: {len(answers)} answers for {len(lines)} strategies")
        return len(lines)

    different, reasons = 0, collections.Counter()
    for strategy, line, found in zip(strategies, lines, answers):
        expected = evaluate(model, workload, strategy).to_json(case.phase)
        reasons[expected["reason"] or "valid"] += 1
        words = differences(expected, found, workload)
        if words:
            different += 1
            if different <= SHOWN:
                print(f"{case}\n  {line}\n  " + "\n  ".join(words))
    counts = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    print(f"{case}: {counts}; {different} different")
    return different


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--count", type=int, default=200, help="strategies a workload")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="workloads whose description has this in it")
    args = parser.parse_args()

    present = workloads.present(args.only)
    if not present:
        sys.exit(f"no workload has '{args.only}' in its description")
    different = sum(compare(args, case) for case in present)
    print("different" if different else "equal", f"on {args.count * len(present)} strategies")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
