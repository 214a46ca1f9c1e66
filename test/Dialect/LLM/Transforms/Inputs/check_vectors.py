#!/usr/bin/env python3
"""Evaluates the strategies of vectors.json and compares with what stands there.

usage: check_vectors.py <vectors.json> <folder of the configs>

A vector is [tp, ep, pp, batch, dims, throughput, milliseconds, memory, reason];
numbers agree to the digits that are given.
"""

import json
import pathlib
import subprocess
import sys
import tempfile


def evaluate(workload, vectors, configs, scratch):
    """The metrics of the vectors, by shard-translate and shard-opt."""
    model, lines, out = (scratch / name for name in ("m.mlir", "in.jsonl", "out.jsonl"))
    subprocess.run(
        ["shard-translate", "--import-hf", configs / workload["config"],
         f"--phase={workload['phase']}", f"--context={workload['context']}", "-o", model],
        check=True,
    )
    with open(lines, "w") as file:
        for tp, ep, pp, batch, dims, *_ in vectors:
            strategy = {"tp": tp, "ep": ep, "pp": pp, "batch": batch}
            strategy["dims"] = [int(dim) for dim in dims]
            print(json.dumps(strategy), file=file)
    options = f"machine={workload['machine']} strategies={lines} report={out}"
    subprocess.run(
        ["shard-opt", model, f"--llm-evaluate-strategy=simulator=roofline {options}", "-o", "/dev/null"],
        check=True,
    )
    return [json.loads(line) for line in out.read_text().splitlines()]


def agrees(text, value):
    """Whether `value`, rounded to as many digits as `text` has, is `text`."""
    decimals = len(text.partition(".")[2])
    return abs(float(text) - value) <= 0.51 * 10**-decimals


def main():
    workloads = json.loads(pathlib.Path(sys.argv[1]).read_text())
    configs = pathlib.Path(sys.argv[2])
    wrong = 0
    for workload in workloads:
        latency = "tpot_ms" if workload["phase"] == "decode" else "ttft_ms"
        with tempfile.TemporaryDirectory() as scratch:
            found = evaluate(workload, workload["vectors"], configs, pathlib.Path(scratch))
        assert len(found) == len(workload["vectors"])
        for vector, metrics in zip(workload["vectors"], found):
            *_, throughput, milliseconds, memory, reason = vector
            good = (
                agrees(throughput, metrics["throughput"])
                and agrees(milliseconds, metrics[latency])
                and agrees(memory, metrics["memory_gb"])
                and metrics["reason"] == reason
                and metrics["valid"] == (reason == "")
            )
            if not good:
                wrong += 1
                print(workload["config"], vector, "but found", metrics)
        print(f"{workload['config']} {workload['phase']}: {len(found)} vectors")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
