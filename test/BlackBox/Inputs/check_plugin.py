"""Checks that a search under plugin.c saw what the plugin did.

    check_plugin.py <report> <trace>
"""

import collections
import json
import sys

report = json.load(open(sys.argv[1]))
trace = [json.loads(line) for line in open(sys.argv[2])]
WANTED = {1: "", 2: "failed", 3: "failed", 4: "failed", 6: "memory", 8: "structural"}

stages = collections.Counter()
for entry in trace:
    pp = entry["strategy"]["pp"]
    assert entry["reason"] == WANTED[pp], entry
    assert entry["valid"] == (pp == 1), entry
    stages[pp] += not entry["repeated"]
assert set(stages) == set(WANTED), "the test has to have them all"
failures = {kind: n for kind, n in report["simulator_failures"].items() if n}
assert failures == {
    "crash": stages[2],
    "error": stages[3],
    "not_a_number": stages[4],
}, (failures, stages)
