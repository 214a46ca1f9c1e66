#!/usr/bin/env python3
"""Writes instances of the strategy-selection problem that language models make.

A node is an op of a layer, its strategies are its dims (docs/Selection.md), and every
op is a time of its own at which activations live. Five models, each in prefill and in
decode, with much memory for activations or with little: twice what the smallest usages
need, which most dims do not fit together. With --solve, shard-solve solves each; --page
writes what it finds into docs/SolveResults.md. Needs `./dev build shard-opt
shard-translate shard-solve`.
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from marked import with_part  # noqa: E402

PAGE = ROOT / "docs/SolveResults.md"
BEGIN, END = "<!-- solve models: begin -->", "<!-- solve models: end -->"
LITTLE = 2  # of the least activations
MUCH_GB = 1000
FORBIDDEN = 10**18

# Model, degrees of prefill, degrees of decode.
MODELS = [
    ("llama-3.1-70b", "tp=4 ep=1 pp=1 batch=1", "tp=8 ep=1 pp=1 batch=64"),
    ("gpt-oss-120b", "tp=4 ep=4 pp=1 batch=4", "tp=4 ep=8 pp=1 batch=512"),
    ("qwen3-235b-a22b", "tp=8 ep=8 pp=1 batch=8", "tp=4 ep=16 pp=1 batch=512"),
    ("deepseek-v3", "tp=8 ep=16 pp=1 batch=16", "tp=4 ep=32 pp=1 batch=1024"),
    ("gpt-moe-1.2T", "tp=8 ep=8 pp=2 batch=8", "tp=8 ep=16 pp=2 batch=512"),
]


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr}")


class Exporter:
    def __init__(self, build, folder):
        self.build, self.folder = build, pathlib.Path(folder)

    def program(self, model, phase, context):
        module = self.folder / "model.mlir"
        config = ROOT / f"examples/configs/{model}.json"
        importer = [self.build / "bin/shard-translate", "--import-hf", config]
        run(*importer, f"--phase={phase}", f"--context={context}", "-o", module)
        return module

    def export(self, module, degrees, gigabytes):
        """The instance, and what its times are."""
        problem, meaning = self.folder / "problem.json", self.folder / "meaning.json"
        options = f"{degrees} machine=h100_sxm simulator=roofline activations-gb={gigabytes!r}"
        options += f" slo-tpot-ms=inf slo-ttft-ms=inf problem={problem} meaning={meaning}"
        tool = [self.build / "bin/shard-opt", module, "--llm-separate-layers"]
        run(*tool, f"--llm-export-problem={options}", "-o", os.devnull)
        return json.loads(problem.read_text()), json.loads(meaning.read_text())


def least_activations(instance, meaning):
    """Bytes of activations where each node takes its smallest usage, at the worst time."""
    problem = instance["problem"]
    nodes, times = problem["nodes"], meaning["times"]
    change = [0] * (len(times) + 1)
    for (begin, end), usages in zip(nodes["intervals"], nodes["usages"]):
        if begin < end:
            change[begin] += min(usages)
            change[end] -= min(usages)
    live, most = 0, 0.0
    for time, delta in zip(times, change):
        live += delta
        if time["resource"].startswith("activations"):
            most = max(most, live / problem["usage_limit"] * time["limit"])
    return most


def instances(build):
    """(name, instance) of all of them."""
    with tempfile.TemporaryDirectory(prefix="shardopt-bench-") as folder:
        exporter = Exporter(build, folder)
        for model, *both in MODELS:
            for phase, degrees in zip(("prefill", "decode"), both):
                module = exporter.program(model, phase, 8192)
                much, meaning = exporter.export(module, degrees, MUCH_GB)
                yield f"{model}-{phase}", much
                least = least_activations(much, meaning)
                little, _ = exporter.export(module, degrees, LITTLE * least / 1e9)
                yield f"{model}-{phase}-little", little


def write(path, name, instance):
    instance["problem"]["name"] = name
    text = json.dumps(instance, separators=(",", ":")) + "\n"
    # Without a time in the header, so that the same instance has the same bytes.
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode())


def solve(build, path, rounds):
    report = path.with_suffix(".report")
    limits = [f"--iterations={rounds}", "--threads=1", "--progress=none"]
    run(build / "bin/shard-solve", path, f"--report={report}", *limits)
    found = json.loads(report.read_text())
    report.unlink()
    return found


def row(name, instance, found):
    nodes = instance["problem"]["nodes"]
    proof = "proved" if found["proved"] else f"{100 * found['gap']:.2g} %"
    cost = found["cost"]
    if int(cost) >= FORBIDDEN:
        cost, proof = "none found", "-"
    cells = [name, len(nodes["costs"]), len(instance["problem"]["edges"]["nodes"])]
    cells += [sum(map(len, nodes["costs"])), cost, proof]
    return "| " + " | ".join(map(str, [*cells, f"{found['processor_seconds']:.1f}"])) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path, help="where the instances go")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--solve", action="store_true", help="solve them, and print a table")
    parser.add_argument("--rounds", type=int, default=12, help="of search, for each instance")
    parser.add_argument("--page", action="store_true", help="write docs/SolveResults.md")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    lines = ["| instance | nodes | edges | strategies | cost | gap | cpu s |", "|---" * 7 + "|"]
    for name, instance in instances(args.build.resolve()):
        path = args.folder / f"{name}.json.gz"
        write(path, name, instance)
        if args.solve or args.page:
            found = solve(args.build.resolve(), path, args.rounds)
            lines.append(row(name, instance, found))
            print(lines[-1], flush=True)
    if args.page:
        PAGE.write_text(with_part(PAGE.read_text(), BEGIN, END, "\n".join(lines)))


if __name__ == "__main__":
    main()
