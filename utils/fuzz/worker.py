#!/usr/bin/env python3
"""A simulator that answers the protocol of docs/BlackBox.md, often wrongly.

usage: worker.py <seed>
"""

import json
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from fuzz import mutate  # noqa: E402  (found through the line above)

EXTREMES = (0.0, 5e-324, 1e-30, 1.0, 1e30, 1.7976931348623157e308)


def main():
    rng = random.Random(int(sys.argv[1]))
    wrong = rng.choice((0.0, 0.1, 0.5, 1.0))
    extreme = rng.random() < 0.5
    for line in sys.stdin:
        request = json.loads(line)
        numbers = [rng.uniform(1, 100) for _ in range(3)]
        if extreme:
            numbers = [rng.choice(EXTREMES) for _ in range(3)]
        keys = ("throughput", "tpot_ms", "memory_gb")
        answer = {"valid": rng.random() < 0.8, "reason": "", **dict(zip(keys, numbers))}
        if "id" in request:
            answer["id"] = request["id"]
        text = json.dumps(answer)
        if rng.random() < wrong:
            text = mutate.document(rng, text).replace("\n", " ")
            if rng.random() < 0.05:
                sys.exit(rng.randrange(256))
            if rng.random() < 0.02:
                time.sleep(2)
        print(text, flush=True)


main()
