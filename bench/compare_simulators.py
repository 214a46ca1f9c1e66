#!/usr/bin/env python3
"""Says how much a simulator ranks strategies as the roofline does.

For every model and context: the throughput of the roofline's optimum, on the
roofline and `there`, and why it is not valid there; the `best` strategy known
there (of several searches), and the ratio of the two. Then the rank correlation
of the two simulators over strategies that differ in one to four variables from
either, `all` of them and those `near` the top on the roofline (0.7 of the
optimum). Last, of pairs of changed dims that add up on the roofline, how many
`interact`, and the CPU time of a call. Needs NumPy.
"""

import argparse
import json
import pathlib
import random
import resource
import subprocess
import tempfile

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
ROW = "{:<18}{:>9}{:>9}{:>9}{:>9}{:>8}{:>7}{:>7}{:>10}{:>9}"


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


def cpu_seconds():
    """Of all processes that were run so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def spearman(a, b):
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1])


def interactions(workload, simulator, strategy, rng, count=3000):
    """Of pairs of changed dims that add up on the roofline: the share that does
    not add up in `simulator`, by more than a thousandth of the latency."""
    quads = []
    for _ in range(count):
        base = {**mutated(strategy, rng), **{k: strategy[k] for k in DEGREES}}
        i, j = rng.sample(range(len(base["dims"])), 2)
        new = {op: (base["dims"][op] + rng.choice([1, 2])) % 3 for op in (i, j)}
        for changed in ((), (i,), (j,), (i, j)):
            dims = list(base["dims"])
            for op in changed:
                dims[op] = new[op]
            quads.append({**base, "dims": dims})

    def differences(metrics):
        """By pair: what both changes cost beyond the sum of each, over the
        latency; None where a strategy is illegal, or far from the optimum."""
        for start in range(0, len(quads), 4):
            none, first, second, both = (
                m.get("tpot_ms", 0) for m in metrics[start : start + 4]
            )
            legal = 0 < max(none, first, second, both) < 2 * min(
                none, first, second, both
            )
            yield abs(none - first - second + both) / none if legal else None

    found = [
        there > 1e-3
        for here, there in zip(
            differences(workload.evaluate("roofline", quads)),
            differences(workload.evaluate(simulator, quads)),
        )
        if here is not None and there is not None and here < 1e-9
    ]
    return sum(found) / len(found)


def best_known(workload, simulator, optimum, seeds):
    """The best strategy of several searches and the roofline's optimum, and its
    metrics."""
    found = [
        workload.search(simulator, searcher, seed, budget=20000)
        for searcher in ("annealing", "coordinate", "genetic")
        for seed in range(seeds)
    ]
    found = [optimum] + [strategy for strategy in found if strategy]
    plans = zip(found, workload.evaluate(simulator, found))
    return max(plans, key=lambda plan: (plan[1]["valid"], plan[1]["throughput"]))


def compare(workload, name, simulator, args):
    """Prints one row."""
    rng = random.Random(0)
    optimum = workload.search("roofline", "exact", seed=0)
    (optimal,) = workload.evaluate("roofline", [optimum])
    (there,) = workload.evaluate(simulator, [optimum])
    best, known = best_known(workload, simulator, optimum, args.seeds)

    near = [mutated(rng.choice([optimum, best]), rng) for _ in range(args.samples)]
    roofline = workload.evaluate("roofline", near)
    start = cpu_seconds()
    other = workload.evaluate(simulator, near)
    seconds = cpu_seconds() - start

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
            f"{correlation(lambda a, b: a['reason'] != 'structural'):.3f}",
            f"{correlation(lambda a, b: a['throughput'] > floor):.3f}",
            f"{100 * interactions(workload, simulator, optimum, rng):.0f} %",
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
    parser.add_argument("--seeds", type=int, default=2)
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
                ROW.format("", "optimum", "there", "why not", "best", "ratio", "all", "near", "interact", "ms/call")
            )
            for name, workload in workloads.items():
                compare(workload, name, simulator, args)


if __name__ == "__main__":
    main()
