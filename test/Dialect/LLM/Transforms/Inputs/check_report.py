#!/usr/bin/env python3
"""Checks that a report of a search and its trace have all they should.

usage: check_report.py <report.json> <trace.jsonl> --searcher <name> [--budget <n>]
"""

import argparse
import json

METRICS = ["throughput", "tpot_ms", "memory_gb", "valid", "reason"]


def check_plan(plan):
    assert list(plan["strategy"]) == ["tp", "ep", "pp", "batch", "dims"]
    assert all(dim in (0, 1, 2) for dim in plan["strategy"]["dims"].values())
    assert plan["valid"] and plan["reason"] == "" and plan["throughput"] > 0


def check_sums(best):
    """The parts of time and memory add up to the metrics."""
    total = sum(best["memory_parts_gb"].values())
    assert abs(total - best["memory_gb"]) <= 1e-12 * total
    stages = {}
    for row in best["breakdown"]:
        us = row["compute_us"] + row["memory_us"] + row["collective_us"]
        stages[row["stage"]] = stages.get(row["stage"], 0) + us
    assert len(stages) == best["strategy"]["pp"]
    assert max(stages.values()) <= best["tpot_ms"] * 1e3 * (1 + 1e-9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("report")
    parser.add_argument("trace")
    parser.add_argument("--searcher", required=True)
    parser.add_argument("--budget", type=int, default=4000)
    args = parser.parse_args()
    with open(args.report) as file:
        report = json.load(file)
    with open(args.trace) as file:
        trace = [json.loads(line) for line in file]

    assert report["schema"] == 1 and report["searcher"] == args.searcher
    assert report["model"] == "small"
    assert report["workload"] == {"phase": "decode", "context": 128}
    best = report["best"]
    check_plan(best)
    check_sums(best)
    assert set(report["baselines"]) == {"megatron_tp", "megatron_tp_ep", "megatron_tp_sp"}
    assert report["baselines"]["megatron_tp_ep"] is None  # dense: it is classic
    check_plan(report["baselines"]["megatron_tp"])
    check_plan(report["baselines"]["megatron_tp_sp"])
    assert report["gap"] == report["bound"] / best["throughput"] - 1
    assert report["gap"] >= 0 and report["proved"] == (report["gap"] == 0)
    assert report["wall_s"] >= 0 and report["next_feasible"] is None
    assert set(report["binding_constraint"]) == {"kind", "part", "value", "limit"}

    assert len(trace) == report["evaluations"] <= args.budget
    assert sum(not line["repeated"] for line in trace) == report["distinct_evaluations"]
    assert [line["evaluation"] for line in trace] == list(range(len(trace)))
    assert trace[-1]["best"] == best["throughput"]
    assert any(
        line["strategy"] == best["strategy"]
        and {key: line[key] for key in METRICS} == {key: best[key] for key in METRICS}
        for line in trace
    )


if __name__ == "__main__":
    main()
