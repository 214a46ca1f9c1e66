"""Whether a report of --llm-schedule-stages=ring= agrees with itself, its turn and
its module."""

import json
import re
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
with open(sys.argv[2]) as file:
    turn = json.load(file)
rings = report["rings"]
for ring in rings:
    assert ring["replayed_ms"] == ring["tpot_ms"], ring
    assert ring["lower_bound_ms"] <= ring["tpot_ms"], ring
    assert ring["tpot_ms"] <= ring["program_order_ms"], ring
    assert ring["program_order_ms"] <= ring["serial_ms"], ring
    assert ring["proved"] == (ring["tpot_ms"] == ring["lower_bound_ms"]), ring
chosen = min(rings, key=lambda ring: ring["tpot_ms"])
assert chosen["microbatches"] == report["microbatches"], report
assert chosen["chunks"] == report["chunks"], report
assert len(turn) == chosen["ops"]
groups = {entry["microbatch"] for entry in turn}
assert len(groups) == chosen["microbatches"] * chosen["chunks"], groups
with open(sys.argv[3]) as file:
    module = re.search(r"shardopt.schedule = \{(.*?)\}", file.read()).group(1)
said = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+) : i64", module)}
assert said == {
    "chunks": chosen["chunks"],
    "lower_bound_ns": round(chosen["lower_bound_ms"] * 1e6),
    "micro_batches": chosen["microbatches"],
    "turn_ns": round(chosen["tpot_ms"] * 1e6),
}, said
print("replayed as planned, bound below turn below serial, the fastest taken")
