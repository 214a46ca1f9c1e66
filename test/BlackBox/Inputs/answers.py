"""A worker that answers any number, and takes its time.

    answers.py extreme <key> <number>   every fifth answer has it, valid or not
    answers.py uneven                   slower for some strategies than others
"""

import json
import sys
import time


def answer(request, calls):
    strategy = request["strategy"]
    devices = strategy["tp"] * strategy["ep"] * strategy["pp"]
    sharded = sum(dim != 2 for dim in strategy["dims"].values())
    latency = 5.0 + strategy["batch"] * (40 - sharded) / devices / 50
    return {
        "id": request["id"],
        "valid": latency < 50,
        "throughput": 1000 * strategy["batch"] / latency / devices,
        "tpot_ms": latency,
        "memory_gb": 8.0 + strategy["batch"] / devices / 16,
        "reason": "" if latency < 50 else "slo",
    }


def main():
    kind = sys.argv[1]
    print('{"protocol": 1, "name": "answers"}', flush=True)
    sys.stdin.readline()
    for calls, line in enumerate(sys.stdin):
        request = json.loads(line)
        reply = answer(request, calls)
        if kind == "extreme" and calls % 5 == 4:
            reply[sys.argv[2]] = float(sys.argv[3])
            reply["valid"] = calls % 2 == 0
            reply["reason"] = "" if reply["valid"] else "slo"
        elif kind == "uneven" and request["strategy"]["tp"] % 4 == 1:
            time.sleep(0.02)
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
