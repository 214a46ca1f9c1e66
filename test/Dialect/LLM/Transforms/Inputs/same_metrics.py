#!/usr/bin/env python3
"""Fails unless the `best` of a report has the metrics of the one line of a list.

usage: same_metrics.py <report.json> <list.jsonl>
"""

import json
import sys

with open(sys.argv[1]) as report, open(sys.argv[2]) as lines:
    best, metrics = json.load(report)["best"], json.load(lines)
assert list(metrics) == ["throughput", "tpot_ms", "memory_gb", "valid", "reason"]
assert metrics["valid"] and metrics["throughput"] > 0
assert {key: best[key] for key in metrics} == metrics, (best, metrics)
parts = best["memory_parts_gb"]
assert abs(sum(parts.values()) - best["memory_gb"]) <= 1e-12 * best["memory_gb"]
