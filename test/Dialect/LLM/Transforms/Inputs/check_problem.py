#!/usr/bin/python3
"""Compares exported problems with the simulator on random dims.

    check_problem.py model.mlir --shard-opt=build/bin/shard-opt --degrees=2,2,1,8 [--count 100]

Exports the problem of a program for degrees tp,ep,pp,batch, finds the solution
that each of `count` random choices of dims is, and compares what it costs and
uses with what `--llm-evaluate-strategy` says: time, memory, and whether the dims
are legal at all.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

SLO_MS = 100000.0  # loose, as what exceeds it is not told apart


def run(shard_opt, module, option):
    command = [shard_opt, str(module), option, "-o", "/dev/null"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


class Exported:
    """A problem, and the solutions that dims are."""

    def __init__(self, problem, meaning):
        nodes, edges = problem["problem"]["nodes"], problem["problem"]["edges"]
        self.costs, self.usages = nodes["costs"], nodes["usages"]
        self.times = [begin if end > begin else None for begin, end in nodes["intervals"]]
        self.meaning = meaning
        self.limit = problem["problem"]["usage_limit"]
        self.before = [[] for _ in self.costs]
        for (a, b), table in zip(edges["nodes"], edges["costs"], strict=True):
            assert a < b
            self.before[b].append((a, table))

    def follow(self, dims):
        """The solution of `dims` (by variable), or none."""
        allowed = []
        for node, costs in zip(self.meaning["nodes"], self.costs, strict=True):
            options = range(len(costs))
            if "variable" in node:
                wanted = dims[node["variable"]]
                prefix = f"dim {'none' if wanted == 2 else wanted},"
                texts = node["strategies"]
                options = [i for i in options if (texts[i] + ",").startswith(prefix)]
            allowed.append(list(options))
        chosen, at = [-1] * len(allowed), 0
        while at < len(allowed):
            count = len(self.costs[at])
            chosen[at] = next(
                (
                    s
                    for s in allowed[at]
                    if s > chosen[at]
                    and all(table[chosen[a] * count + s] == 0 for a, table in self.before[at])
                ),
                -1,
            )
            if chosen[at] >= 0:
                at += 1
            elif at == 0:
                return None
            else:
                at -= 1
        return chosen

    def metrics(self, solution):
        """Milliseconds and gigabytes of a solution."""
        cost = sum(row[s] for row, s in zip(self.costs, solution, strict=True))
        used = [0] * len(self.meaning["times"])
        for time, row, s in zip(self.times, self.usages, solution, strict=True):
            if time is not None:
                used[time] += row[s]
        milliseconds, gigabytes = cost * self.meaning["seconds_per_unit"] * 1e3, 0
        for units, time in zip(used, self.meaning["times"], strict=True):
            amount = units / self.limit * time["limit"]
            if time["unit"] == "bytes":
                gigabytes = max(gigabytes, amount / 1e9)
            else:
                milliseconds = max(milliseconds, amount * 1e3)
        return milliseconds, gigabytes, max(used)

    def units(self):
        """What rounding may hide in all: of milliseconds, of gigabytes."""
        count, part = len(self.costs), len(self.costs) / self.limit
        times = self.meaning["times"]
        most = {unit: max([t["limit"] for t in times if t["unit"] == unit], default=0)
                for unit in ("seconds", "bytes")}
        cost = count * self.meaning["seconds_per_unit"]
        return max(cost, part * most["seconds"]) * 1e3, part * most["bytes"] / 1e9


def is_rounded_down(found, expected, unit):
    """Whether `found` is `expected`, but for what `unit` of each node may hide."""
    rounding = 1e-11 * abs(expected)
    return -rounding - unit <= found - expected <= rounding


def check(args, degrees, folder):
    tp, ep, pp, batch = degrees
    phase = re.search(r"phase = (\w+)", pathlib.Path(args.module).read_text()).group(1)
    slo = f"slo-{'ttft' if phase == 'prefill' else 'tpot'}-ms={SLO_MS}"
    problem, meaning = folder / "problem.json", folder / "meaning.json"
    run(
        args.shard_opt,
        args.module,
        f"--llm-export-problem=simulator=roofline tp={tp} ep={ep} pp={pp} batch={batch} machine={args.machine} {slo}"
        f" problem={problem} meaning={meaning}",
    )
    exported = Exported(json.loads(problem.read_text()), json.loads(meaning.read_text()))
    variables = 1 + max(node.get("variable", 0) for node in exported.meaning["nodes"])
    rng = random.Random(args.seed)
    lists = [[rng.randrange(3) for _ in range(variables)] for _ in range(args.count)]
    listed, report = folder / "strategies.jsonl", folder / "metrics.jsonl"
    strategies = [{"tp": tp, "ep": ep, "pp": pp, "batch": batch, "dims": dims} for dims in lists]
    listed.write_text("".join(json.dumps(strategy) + "\n" for strategy in strategies))
    run(
        args.shard_opt,
        args.module,
        f"--llm-evaluate-strategy=simulator=roofline strategies={listed} report={report} machine={args.machine} {slo}",
    )
    compared, units = 0, exported.units()
    for dims, line in zip(lists, report.read_text().splitlines(), strict=True):
        expected = json.loads(line)
        solution = exported.follow(dims)
        if (solution is None) != (expected["reason"] == "structural"):
            sys.exit(f"{degrees} {dims}: solution {solution}, but {line}")
        if solution is None:
            continue
        milliseconds, gigabytes, peak = exported.metrics(solution)
        latency = expected.get("tpot_ms", expected.get("ttft_ms"))
        fits = peak <= exported.limit
        same = fits == expected["valid"] and is_rounded_down(milliseconds, latency, units[0])
        # What exceeds the machine alone is not told apart.
        if fits:
            same &= is_rounded_down(gigabytes, expected["memory_gb"], units[1])
        if not same:
            sys.exit(f"{degrees} {dims}: found {milliseconds} ms, {gigabytes} GB, but {line}")
        compared += 1
    return compared


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module")
    parser.add_argument("--shard-opt", default="shard-opt")
    parser.add_argument("--machine", default="h100_sxm")
    parser.add_argument("--degrees", action="append", required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    compared = 0
    with tempfile.TemporaryDirectory() as folder:
        for degrees in args.degrees:
            numbers = [int(item) for item in degrees.split(",")]
            compared += check(args, numbers, pathlib.Path(folder))
    print(f"{compared} of {args.count * len(args.degrees)} strategies are legal, and cost the same")


if __name__ == "__main__":
    main()
