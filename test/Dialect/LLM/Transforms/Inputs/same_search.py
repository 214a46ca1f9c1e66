#!/usr/bin/env python3
"""Fails unless two searches gave the same module, trace and report.

usage: same_search.py <prefix> <prefix>, each of .mlir, .trace and .json

Reports may differ in what is of a run, not of the search: the time that was
spent, what was resumed, and how the simulator failed meanwhile.
"""

import json
import sys


def outputs(prefix):
    with open(prefix + ".json") as file:
        report = json.load(file)
    for key in ("wall_s", "resumed_evaluations", "simulator_failures"):
        report.pop(key)
    texts = [open(prefix + suffix).read() for suffix in (".mlir", ".trace")]
    return [*texts, json.dumps(report)]


one, other = map(outputs, sys.argv[1:])
sys.exit(one != other)
