#!/usr/bin/env python3
"""Says how much a simulator ranks strategies as the roofline does.

For every model and context, prints the roofline's optimum and what the other
simulator makes of it, the best strategy known there (the best of several
searches), the rank correlation of the two over strategies near both, and how
much of the latency pairs of dims leave unexplained. Needs NumPy.
"""

import argparse
import itertools
import json
import pathlib
import random
import subprocess
import tempfile
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORKLOADS = [
    (model, context)
    for model in ("gpt-moe-1.2T", "gpt-moe-1.6T")
    for context in (16384, 32768, 65536)
]
DEGREES = {
    "tp": [1, 2, 4, 8, 16, 32, 64],
    "ep": [1, 2, 4, 8, 16],
    "pp": [1, 2, 3, 4, 6, 8, 12, 24],
    "batch": [2**i for i in range(14)],
}
LIMITS = "machine=h100_sxm max-devices=64"
ROW = "{:<22}{:>9}{:>9}{:>8}{:>9}{:>8}{:>7}{:>7}{:>9}{:>8}"


class Workload:
    """A module, and the questions that `shard-opt` answers about it."""

    def __init__(self, tools, folder, model, context):
        self.tools, self.folder = tools, folder
        self.module = folder / f"{model}-{context}.mlir"
        config = ROOT / "examples/configs" / f"{model}.json"
        self._run(
            "shard-translate",
            "--import-hf",
            config,
            "--phase=decode",
            f"--context={context}",
            "-o",
            self.module,
        )

    def _run(self, tool, *arguments):
        command = [self.tools / tool, *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True)

    def search(self, simulator, searcher, seed, budget=0):
        """The best strategy that a search finds, or None."""
        report = self.folder / "report.json"
        options = f"searcher={searcher} seed={seed} budget={budget}"
        self._run(
            "shard-opt",
            self.module,
            f"--llm-search-sharding={LIMITS} simulator={simulator} {options} "
            f"report={report}",
            "-o",
            "/dev/null",
        )
        best = json.loads(report.read_text())["best"]
        if best is None:
            return None
        strategy = best["strategy"]
        return {**strategy, "dims": list(strategy["dims"].values())}

    def evaluate(self, simulator, strategies):
        """The metrics of all `strategies`."""
        lines, report = self.folder / "strategies.jsonl", self.folder / "metrics.jsonl"
        lines.write_text("".join(json.dumps(s) + "\n" for s in strategies))
        self._run(
            "shard-opt",
            self.module,
            f"--llm-evaluate-strategy={LIMITS} simulator={simulator} "
            f"strategies={lines} report={report}",
            "-o",
            "/dev/null",
        )
        return [json.loads(line) for line in report.read_text().splitlines()]


def mutated(strategy, rng):
    """`strategy` with one to four variables drawn anew."""
    changed = {**strategy, "dims": list(strategy["dims"])}
    for _ in range(rng.randint(1, 4)):
        variable = rng.randrange(4 + len(changed["dims"]))
        if variable < 4:
            name = list(DEGREES)[variable]
            changed[name] = rng.choice(DEGREES[name])
        else:
            changed["dims"][variable - 4] = rng.randrange(3)
    return changed


def ranks(values):
    """Ranks of `values`; equal ones share the mean of theirs."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[inverse]


def spearman(a, b):
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def pair_residual(workload, simulator, strategy, rng, count=4000):
    """The share of the variance of log latency over random dims, the degrees
    fixed, that single dims and pairs of dims do not explain (held out)."""
    numbers = [rng.choices(range(3), k=len(strategy["dims"])) for _ in range(count)]
    metrics = workload.evaluate(
        simulator, [{**strategy, "dims": dims} for dims in numbers]
    )
    kept = [(n, m) for n, m in zip(numbers, metrics) if m["reason"] != "structural"]
    one_hot = np.eye(3)[np.array([n for n, _ in kept])][:, :, :2]
    singles = one_hot.reshape(len(kept), -1)
    pairs = [
        (one_hot[:, i, :, None] * one_hot[:, j, None, :]).reshape(len(kept), -1)
        for i, j in itertools.combinations(range(one_hot.shape[1]), 2)
    ]
    features = np.hstack([np.ones((len(kept), 1)), singles, *pairs])
    target = np.log([m["tpot_ms"] for _, m in kept])
    half = len(kept) // 2
    weights = np.linalg.lstsq(features[:half], target[:half], rcond=None)[0]
    error = target[half:] - features[half:] @ weights
    return float(error.var() / target[half:].var())


def best_known(workload, simulator, seeds):
    """The best strategy of several searches, and its metrics."""
    found = [
        workload.search(simulator, searcher, seed, budget=20000)
        for searcher in ("coordinate", "genetic")
        for seed in range(seeds)
    ]
    found = [strategy for strategy in found if strategy]
    metrics = workload.evaluate(simulator, found)
    return max(zip(found, metrics), key=lambda plan: plan[1]["throughput"])


def compare(workload, name, simulator, args):
    """Prints one row."""
    rng = random.Random(0)
    optimum = workload.search("roofline", "exact", seed=0)
    (optimal,) = workload.evaluate("roofline", [optimum])
    (there,) = workload.evaluate(simulator, [optimum])
    best, known = best_known(workload, simulator, args.seeds)

    near = [mutated(rng.choice([optimum, best]), rng) for _ in range(args.samples)]
    roofline = workload.evaluate("roofline", near)
    start = time.perf_counter()
    other = workload.evaluate(simulator, near)
    seconds = time.perf_counter() - start

    def correlation(keep):
        pairs = [
            (a["throughput"], b["throughput"])
            for a, b in zip(roofline, other)
            if keep(a, b)
        ]
        return spearman(*zip(*pairs))

    floor = 0.7 * optimal["throughput"]
    ratio = there["throughput"] / known["throughput"]
    print(
        ROW.format(
            name,
            f"{optimal['throughput']:.2f}",
            f"{there['throughput']:.2f}",
            there["reason"] or "-",
            f"{known['throughput']:.2f}",
            f"{ratio:.3f}" if there["valid"] else "-",
            f"{correlation(lambda a, b: a['throughput'] > floor):.3f}",
            f"{correlation(lambda a, b: a['valid'] and b['valid']):.3f}",
            f"{100 * pair_residual(workload, simulator, optimum, rng):.1f} %",
            f"{1e3 * seconds / args.samples:.2f}",
        ),
        flush=True,
    )
    if args.verbose:
        print(f"    best known: {json.dumps(best)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("simulators", nargs="*", default=["procedural:runtime", "procedural:fixed"])
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--samples", type=int, default=6000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workloads = {
            f"{model} {context // 1024}k": Workload(
                args.tools, pathlib.Path(folder), model, context
            )
            for model, context in WORKLOADS
        }
        for simulator in args.simulators:
            print(simulator)
            print(
                ROW.format("", "optimum", "there", "why not", "best", "ratio", "near", "valid", "residual", "ms/call")
            )
            for name, workload in workloads.items():
                compare(workload, name, simulator, args)


if __name__ == "__main__":
    main()
