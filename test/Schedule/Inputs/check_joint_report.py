"""Whether --joint is no slower than --llm-schedule-stages, and that than the strategy."""

import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
with open(sys.argv[2]) as file:
    alone = json.load(file)
joint, sequential = report["joint"], report["sequential"]
of_ring = "rings" in alone
rows = alone["rings" if of_ring else "steps"]
planned = "tpot_ms" if of_ring else "makespan_ms"
found = min(rows, key=lambda row: row[planned])
assert 0 < report["bound_ms"] <= joint["planned_ms"], report
assert sequential["planned_ms"] == found[planned], (sequential, found)
assert sequential["contended_ms"] == found["contended_ms"], (sequential, found)
for measure in ("planned_ms", "contended_ms"):
    assert joint[measure] <= sequential[measure], report
assert found[planned] <= found["program_order_ms"] <= found["serial_ms"], found
# Times of ops are rounded to nanoseconds.
assert found[planned] <= report["strategy_ms"] + 1e-3, (found, report)
print("bound below joint, joint below ordered alone, that below the strategy")
