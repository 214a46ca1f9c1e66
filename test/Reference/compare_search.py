#!/usr/bin/python3
"""Compares shard-opt's exact search with the scalar reference.

    compare_search.py --shard-opt build/bin/shard-opt \\
        --shard-translate build/bin/shard-translate [--count 5] [--seed 1]

On each workload, small random spaces (a few degrees; most dims pinned) are
enumerated by the reference, and the search must find the optimum. Then the
whole space is searched once, and no strategy that differs from its answer in
one or two coordinates may be better. Exit code 1 where something differs.
"""

import argparse
import itertools
import json
import os
import pathlib
import random
import sys
import tempfile
import zlib

import tools
import workloads
from compare import near
from cost.enumeration import default_degrees, optimum
from cost.roofline import evaluate
from cost.strategies import Strategy

FREE_OPS = 3  # of a small space
TRIES = 4  # to draw a space in which something is valid
DEGREES = ("tp", "ep", "pp", "batch")


def search(args, case, module, options):
    """The report of an exact search; without a best where nothing is legal."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        options = {**case.pass_options(), "searcher": "exact", **options, "report": report}
        text = " ".join(f"{key}={value}" for key, value in options.items())
        try:
            command = [args.shard_opt, f"--llm-search-sharding=simulator=roofline {text}", "-o", os.devnull, "-"]
            tools.run(command, module)
        except tools.ToolError as error:
            if "max-devices" in str(error) and not report.exists():
                return {"best": None}  # the lists contradict the limit
            if not report.exists():  # an infeasible search writes its report, too
                raise
        return json.loads(report.read_text())


def value_of(result, objective):
    return result.throughput if objective == "throughput" else -result.latency


def found_in(report, model, workload):
    """(strategy, the reference's result for it, words on what the report says wrongly)."""
    best = report["best"]
    strategy = Strategy.from_json(best["strategy"], model)
    result = evaluate(model, workload, strategy)
    expected = result.to_json(workload.phase)
    words = [
        f"{key} {best[key]!r}, expected {expected[key]!r}"
        for key in ("throughput", *(k for k in expected if k.endswith("_ms")), "memory_gb")
        if not near(best[key], expected[key])
    ]
    if not result.valid:
        words.append(f"the answer is invalid: {result.reason}")
    return strategy, result, words


def draw_space(model, rng):
    """Lists of degrees and a list of dims an op, most of them of one value."""
    lists = []
    for name, usual in zip(DEGREES, default_degrees(model)):
        lists.append(sorted(rng.sample(usual, min(len(usual), 3 if name == "batch" else 2))))
    free = rng.sample(model.op_names(), FREE_OPS)
    both = model.both_dims_ops() if rng.random() < 0.5 else []
    tp2 = [1, *rng.sample([2, 4, 8], 2)] if both else [1]
    domains = []
    for name in model.op_names():
        pinned = rng.choice((0, 2) if name.endswith("attention") else (0, 1, 2))
        all_dims = [0, 1, 2, 3] if name in both else [0, 1, 2]
        domains.append(all_dims if name in (*free, *both) else [pinned])
    return lists, domains, tp2


def check_small(args, case, module, rng):
    """Words on what differs in one small random space."""
    model, workload = case.model(), case.workload()
    objective = rng.choice(("throughput", "throughput", "latency"))
    for _ in range(TRIES):
        lists, domains, tp2 = draw_space(model, rng)
        expected = optimum(model, workload, *lists, domains, objective, tp2)
        if expected is not None:
            break

    names = model.op_names()
    pins = {name: domain[0] for name, domain in zip(names, domains) if len(domain) == 1}
    options = {name: ",".join(map(str, values)) for name, values in zip(DEGREES, lists)}
    options["objective"] = objective
    if tp2 != [1]:
        options["tp2"] = ",".join(map(str, tp2))
    report = search(args, case, tools.annotate(module, pins), options)
    space = f"{options}, pins {pins}"
    if expected is None or report["best"] is None:
        if expected is None and report["best"] is None:
            return []
        return [space, f"best is {report['best']}, expected {expected and expected[0].to_json()}"]
    _, result, words = found_in(report, model, workload)
    if not near(value_of(result, objective), value_of(expected[1], objective)):
        words.append(f"found {result.to_json(case.phase)}, optimum {expected[0].to_json()}")
    return [space] + words if words else []


def neighbours(strategy, model, rng, count):
    """Strategies that differ in one coordinate, and `count` that differ in two."""
    lists = [*default_degrees(model), *([0, 1, 2] for _ in strategy.dims)]
    here = [strategy.tp, strategy.ep, strategy.pp, strategy.batch, *strategy.dims]

    def changed(changes):
        there = list(here)
        for index, value in changes:
            there[index] = value
        return Strategy(*there[:4], tuple(there[4:]))

    moves = [[(i, value) for value in values] for i, values in enumerate(lists)]
    for own in moves:
        yield from (changed([move]) for move in own)
    pairs = [pair for a, b in itertools.combinations(moves, 2) for pair in itertools.product(a, b)]
    for pair in rng.sample(pairs, min(count, len(pairs))):
        yield changed(pair)


def check_whole(args, case, module, rng):
    """Words on a strategy that is better than what the whole search found."""
    model, workload = case.model(), case.workload()
    report = search(args, case, module, {})
    if report["best"] is None:
        return []
    strategy, result, words = found_in(report, model, workload)
    for other in neighbours(strategy, model, rng, args.pairs):
        known = evaluate(model, workload, other)
        if known.valid and known.throughput > result.throughput * (1 + 1e-9):
            words.append(f"{other.to_json()} is better: {known.throughput}")
            break
    return [f"{strategy.to_json()}"] + words if words else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--count", type=int, default=5, help="small spaces a workload")
    parser.add_argument("--pairs", type=int, default=2000, help="neighbours in two coordinates")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="workloads whose description has this in it")
    args = parser.parse_args()

    wrong = 0
    for case in workloads.present(args.only):
        rng = random.Random(args.seed + zlib.crc32(str(case).encode()))
        types = [f"--{key.replace('_', '-')}={value}" for key, value in case.types.items()]
        module = tools.imported(args.shard_translate, case.read(), case.phase, case.context, *types)
        problems = [check_small(args, case, module, rng) for _ in range(args.count)]
        problems.append(check_whole(args, case, module, rng))
        for words in filter(None, problems):
            wrong += 1
            print(f"{case}\n  " + "\n  ".join(words))
        print(f"{case}: {sum(map(bool, problems))} of {len(problems)} searches differ", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
