"""Whether a report of --llm-schedule-stages agrees with itself and its schedule."""

import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
with open(sys.argv[2]) as file:
    schedule = json.load(file)
for step in report["steps"]:
    assert step["replayed_ms"] == step["makespan_ms"], step
    assert step["lower_bound_ms"] <= step["makespan_ms"], step
    assert step["makespan_ms"] <= step["program_order_ms"], step
    assert step["program_order_ms"] <= step["serial_ms"], step
    assert step["makespan_ms"] <= step["contended_ms"] * (1 + 1e-9), step
chosen = next(s for s in report["steps"] if s["chunks"] == report["chunks"])
end = max(entry["end"] for entry in schedule)
assert abs(end / 1e6 - chosen["makespan_ms"]) < 1e-9, (end, chosen)
assert len(schedule) == chosen["ops"]
print("replayed as planned, bound below plan below serial")
