#!/usr/bin/python3
"""Evaluates strategies with the scalar reference of the roofline cost model.

    evaluate.py config.json --context 16384 --strategy \\
        '{"tp":8,"ep":16,"pp":4,"batch":8192,"dims":[0,0,1,0,0,0,2,0,1,0,0,1]}'
    evaluate.py config.json --context 16384 --strategies in.jsonl
    evaluate.py config.json --context 16384 --optimum --tp 1,2 --ep 1 --pp 1 \\
        --batch 64,128 --dims '*=2;qkv_proj=1;out_proj=0,1'
"""

import argparse
import json
import sys

from cost.enumeration import MEGATRON, default_degrees, optimum, parse_domains, parse_list
from cost.machines import MACHINES
from cost.models import ACTIVATION_BYTES, Model
from cost.roofline import evaluate
from cost.strategies import Strategy, Workload


def print_breakdown(result):
    def show(line):
        print(
            f"  {line.op:20} {line.time * 1e6:12.4f} us  {line.layout}"
            f"  weights {line.weights / 1e9:.6f} GB  cache {line.cache / 1e9:.6f} GB"
        )

    show(result.embed)
    for (kind, window), cost in result.layers.items():
        print(f"{kind} layer, window {window}: {cost.time * 1e6:.4f} us")
        for line in cost.lines:
            show(line)
    show(result.head)
    print("stages ms", " ".join(f"{time * 1e3:.6f}" for time in result.stages))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("config")
    parser.add_argument("--phase", choices=("decode", "prefill"), default="decode")
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--machine", choices=sorted(MACHINES), default="h100_sxm")
    parser.add_argument("--slo-ms", type=float)
    parser.add_argument("--max-devices", type=int)
    parser.add_argument("--comm-model", choices=("ring", "direct", "fast"), default="fast")
    parser.add_argument("--imbalance", choices=("model", "none"), default="model")
    parser.add_argument("--weight-type", choices=("bf16", "fp8", "mxfp4"))
    parser.add_argument("--kv-type", choices=sorted(ACTIVATION_BYTES), default="bf16")
    parser.add_argument("--activation-type", choices=sorted(ACTIVATION_BYTES), default="bf16")
    job = parser.add_mutually_exclusive_group(required=True)
    job.add_argument("--strategy", help="one strategy as JSON; prints its breakdown")
    job.add_argument("--strategies", help="a file of them, one a line")
    job.add_argument("--optimum", action="store_true", help="the best of the lists, by brute force")
    for degree in ("tp", "ep", "pp", "batch"):
        parser.add_argument(f"--{degree}", type=parse_list, help="the usual list by default")
    parser.add_argument(
        "--dims",
        default="",
        help=f"'op=0,1;op=2', '*' for the other ops; or {', '.join(MEGATRON)}",
    )
    parser.add_argument("--objective", choices=("throughput", "latency"), default="throughput")
    args = parser.parse_args()

    with open(args.config) as file:
        config = json.load(file)
    model = Model(config, args.weight_type, args.kv_type, args.activation_type)
    workload = Workload(
        args.phase,
        args.context,
        MACHINES[args.machine],
        args.slo_ms,
        args.max_devices,
        args.comm_model,
        args.imbalance,
    )

    if args.strategy:
        result = evaluate(model, workload, Strategy.from_json(json.loads(args.strategy), model))
        print(json.dumps(result.to_json(args.phase)))
        if result.reason != "structural":
            print_breakdown(result)
    elif args.strategies:
        with open(args.strategies) as file:
            for text in file:
                strategy = Strategy.from_json(json.loads(text), model)
                print(json.dumps(evaluate(model, workload, strategy).to_json(args.phase)))
    else:
        domains = parse_domains(args.dims, model.op_names())
        given = (args.tp, args.ep, args.pp, args.batch)
        degrees = (a or b for a, b in zip(given, default_degrees(model)))
        best = optimum(model, workload, *degrees, domains, args.objective)
        if best is None:
            sys.exit("no valid strategy")
        strategy, result = best
        print(json.dumps({**strategy.to_json(), **result.to_json(args.phase)}))


if __name__ == "__main__":
    main()
