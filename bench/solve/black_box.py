#!/usr/bin/env python3
"""Searchers of black boxes on problems of strategy selection, beside shard-solve.

    bench/solve/black_box.py [--budget=1000] [--seeds=3] [instance...]

shard-solve reads the graph; a searcher of `--llm-search-sharding` only gets an answer
for each strategy that it asks about. So each node becomes ops of a program that has
no other meaning, and this script, as `simulator=exec:…`, says what their dims cost.

An op has three dims, so a node of k strategies takes as many ops as k has digits to
base three, and a number of at least k wraps around. Nodes that an edge wants equal
are one, as whoever states a problem for a black box would do. An entry that is
forbidden costs as much as all others together may, so that how many there are shows;
so does each hundredth of the limit that memory is above it, since no strategy that is
drawn at random fits. Without instances, B and G of the contest and one that is generated.
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT.parent / "shared/data"))
INFINITE = 10**18
SEARCHERS = ("surrogate", "ppo")


class Instance:
    def __init__(self, path):
        opener = gzip.open if str(path).endswith(".gz") else open
        with opener(path, "rt") as file:
            problem = json.load(file)["problem"]
        self.nodes, self.edges = problem["nodes"], problem["edges"]
        self.limit = problem["usage_limit"]
        self.sizes = [len(costs) for costs in self.nodes["costs"]]
        self.count = len(self.sizes)
        self.find_classes()
        finite = [max((c for c in row if c < INFINITE), default=0) for row in self.tables()]
        self.penalty = max(1, sum(finite))

    def tables(self):
        yield from self.nodes["costs"]
        yield from self.edges["costs"]

    def wants_equal(self, members, costs):
        if len(members) != 2 or self.sizes[members[0]] != self.sizes[members[1]]:
            return False
        k = self.sizes[members[0]]
        return all((costs[i] < INFINITE) == (i % (k + 1) == 0) for i in range(k * k))

    def find_classes(self):
        parent = list(range(self.count))

        def root(node):
            while parent[node] != node:
                node = parent[node]
            return node

        for members, costs in zip(self.edges["nodes"], self.edges["costs"], strict=True):
            if self.wants_equal(members, costs):
                parent[root(members[1])] = root(members[0])
        self.root = [root(node) for node in range(self.count)]
        self.classes = sorted(set(self.root))

    def op_names(self):
        """The ops of each class, a digit each."""
        names = {}
        for node in self.classes:
            digits, most = 1, 3
            while most < self.sizes[node]:
                digits, most = digits + 1, 3 * most
            names[node] = [f"n{node}.{digit}" for digit in range(digits)]
        return names

    def solution(self, dims):
        chosen = {
            node: sum(dims[op] * 3**i for i, op in enumerate(ops)) % self.sizes[node]
            for node, ops in self.op_names().items()
        }
        return [chosen[root] for root in self.root]

    def evaluate(self, solution):
        """The finite part of the cost, the number of forbidden entries, and the peak."""
        paid = [costs[s] for costs, s in zip(self.nodes["costs"], solution, strict=True)]
        for members, costs in zip(self.edges["nodes"], self.edges["costs"], strict=True):
            index = 0
            for node in members:
                index = index * self.sizes[node] + solution[node]
            paid.append(costs[index])
        changes = {}
        for (begin, end), usages, s in zip(
            self.nodes["intervals"], self.nodes["usages"], solution, strict=True
        ):
            if begin < end:
                changes[begin] = changes.get(begin, 0) + usages[s]
                changes[end] = changes.get(end, 0) - usages[s]
        usage = peak = 0
        for at in sorted(changes):
            usage += changes[at]
            peak = max(peak, usage)
        forbidden = sum(cost >= INFINITE for cost in paid)
        return sum(cost for cost in paid if cost < INFINITE), forbidden, peak

    def answer(self, dims):
        finite, forbidden, peak = self.evaluate(self.solution(dims))
        excess = max(0, peak / self.limit - 1)
        latency = (finite + (forbidden + 100 * excess) * self.penalty + 1) * 1e-6
        return {
            "valid": True,
            "throughput": 1e3 / latency,
            "tpot_ms": latency,
            "memory_gb": peak / self.limit,
            "reason": "",
        }


def serve(instance):
    for line in sys.stdin:
        message = json.loads(line)
        if "protocol" in message:
            answer = {"protocol": 1, "name": "strategy selection"}
        else:
            answer = {"id": message["id"], **instance.answer(message["strategy"]["dims"])}
        print(json.dumps(answer), flush=True)


def write_module(instance, path):
    """A layer of norms, one behind the other: all dims of a norm are legal."""
    names = [name for ops in instance.op_names().values() for name in ops]
    lines, last = [], "%r"
    for number, name in enumerate(names):
        lines.append(
            f'      %v{number} = llm.rms_norm "{name}" {last} weight(%w)'
            " {epsilon = 1.0e-5} : tensor<?x8xbf16>"
        )
        last = f"%v{number}"
    body = "\n".join(lines)
    path.write_text(
        f"""module attributes {{llm.workload = #llm.workload<phase = decode, context = 16>}} {{
  func.func @decode(%t: tensor<?xi32> {{llm.role = "tokens"}}) -> tensor<?xi32> {{
    %table = llm.param @table : tensor<32x8xbf16>
    %x = llm.embedding "embed" %t, %table : tensor<32x8xbf16> -> tensor<?x8xbf16>
    %y = llm.repeat 1 init(%r = %x : tensor<?x8xbf16>) {{
      %w = llm.param @norm : tensor<8xbf16>
{body}
      %s = llm.add %r, {last} : tensor<?x8xbf16>
      llm.yield %s : tensor<?x8xbf16>
    }}
    %n = llm.param @head.norm : tensor<8xbf16>
    %h = llm.param @head : tensor<8x32xbf16>
    %z, %l = llm.lm_head "lm_head" %y norm(%n) weight(%h) {{epsilon = 1.0e-5}} :
        tensor<?x8xbf16>, tensor<8x32xbf16> -> tensor<?xi32>, tensor<?x32xbf16>
    return %z : tensor<?xi32>
  }}
}}
"""
    )
    return len(names)


def search(args, path, instance, module, searcher, seed, folder):
    """What a searcher found, in words, and how long it took."""
    report = folder / "report.json"
    worker = f"{sys.executable} {pathlib.Path(__file__).resolve()} --serve {path}"
    options = (
        f"simulator={{exec:{worker}}} searcher={searcher} budget={args.budget} seed={seed} "
        f"objective=latency slo-tpot-ms=inf tp=1 ep=1 pp=1 batch=1 report={report} progress=none"
    )
    begin = time.monotonic()
    command = [args.build / "bin/shard-opt", module, f"--llm-search-sharding={options}"]
    result = subprocess.run([*command, "-o", os.devnull], capture_output=True, text=True)
    seconds = time.monotonic() - begin
    if result.returncode:
        return next(line for line in result.stderr.splitlines() if "error" in line), seconds
    dims = json.loads(report.read_text())["best"]["strategy"]["dims"]
    finite, forbidden, peak = instance.evaluate(instance.solution(dims))
    found = str(finite)
    if forbidden:
        found += f", {forbidden} forbidden"
    if peak > instance.limit:
        found += f", {100 * (peak / instance.limit - 1):.0f} % too much memory"
    return found, seconds


def solve(args, path, folder):
    report = folder / "solved.json"
    command = [args.solve, path, f"--report={report}", "--progress=none", "--time-limit=60"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found = json.loads(report.read_text())
    proved = ", proved" if found["proved"] else f", bound {found['bound']}"
    return f"{found['cost']}{proved}", found["seconds"]


def generated(folder):
    path = folder / "generated.json"
    generator = [sys.executable, ROOT / "bench/generate_instance.py", "-o", path]
    sizes = ["--nodes=800", "--degree=2.7", "--strategies=24", "--reach=60", "--equal=0.4"]
    subprocess.run([*generator, *sizes], check=True)
    return path


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--solve", type=pathlib.Path, help="shard-solve, if not of the build")
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--searchers", nargs="+", default=SEARCHERS)
    parser.add_argument("--serve", help="answer about this instance")
    parser.add_argument("instances", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    if args.serve:
        return serve(Instance(args.serve))
    args.build = args.build.resolve()
    args.solve = args.solve or args.build / "bin/shard-solve"
    with tempfile.TemporaryDirectory(prefix="shardopt-bench-") as scratch:
        folder = pathlib.Path(scratch)
        paths = args.instances or [
            *(DATA / f"iopddl/asplos-2025-iopddl-{name}.json.gz" for name in "BG"),
            generated(folder),
        ]
        print("| instance | nodes | ops | searcher | seed | cost | seconds |")
        print("|---|---|---|---|---|---|---|")
        for path in paths:
            instance, module = Instance(path), folder / "module.mlir"
            ops = write_module(instance, module)
            title = f"| {path.name.split('.')[0].split('-')[-1]}"
            title += f" | {instance.count} | {ops} "
            cost, seconds = solve(args, path, folder)
            print(f"{title}| shard-solve | 1 | {cost} | {seconds:.1f} |", flush=True)
            for searcher in args.searchers:
                for seed in range(1, args.seeds + 1):
                    found = search(args, path, instance, module, searcher, seed, folder)
                    cells = f"| {searcher} | {seed} | {found[0]} | {found[1]:.0f} |"
                    print(title + cells, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
