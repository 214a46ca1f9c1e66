"""A simulator on a pipe for tests: protocol 1, two degrees that count, one dim.

Throughput is tp * batch, halved by dim 1; ep = 2 is masked, and batch = 8 is
over the memory of 10 GB.
"""

import json
import sys

SPACE = {
    "tp": [1, 2, 4],
    "ep": [1, 2],
    "pp": [1],
    "batch": [1, 8],
    "max_devices": None,
    "dims": {"up": [0, 1], "down": [2]},
}


def evaluate(strategy):
    if strategy["ep"] == 2:
        return {"valid": False, "reason": "structural", "masked": True}
    too_large = strategy["batch"] == 8
    return {
        "valid": not too_large,
        "reason": "memory" if too_large else "",
        "throughput": strategy["tp"] * strategy["batch"] / (1 + strategy["dims"]["up"]),
        "tpot_ms": 5,
        "memory_gb": 20 if too_large else 5,
    }


for line in sys.stdin:
    message = json.loads(line)
    if "protocol" in message:
        answer = {"protocol": 1, "name": "test", "space": SPACE}
    else:
        answer = {"id": message["id"], **evaluate(message["strategy"])}
    print(json.dumps(answer), flush=True)
