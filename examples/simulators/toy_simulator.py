#!/usr/bin/env python3
"""A toy simulator for `simulator=exec:`, with nothing but Python.

    shard-opt model.mlir --llm-search-sharding="simulator={exec:python3 toy_simulator.py}"

It reads a JSON object a line on its standard input and answers each with one on
its standard output, until the input ends. Print nothing else there: what is for
people goes to the standard error.
"""

import json
import math
import sys


def evaluate(problem, strategy):
    """The metrics of `strategy` under a made-up model of a cluster."""
    tp, ep, pp, batch = (strategy[key] for key in ("tp", "ep", "pp", "batch"))
    dims = [strategy["dims"][op] for op in problem["ops"]]

    # An op that is cut (0 or 1) takes a tp-th of the work and the weights; a
    # change of the dim from one op to the next costs a fifth of a millisecond.
    share = 0.0
    changes = 0
    for i, dim in enumerate(dims):
        share += 1.0 if dim == 2 else 1.0 / tp
        changes += i > 0 and dim != dims[i - 1]
    share /= len(dims)
    cache = batch * problem["workload"]["context"] * 1e-5

    latency = 40.0 * share + 2.0 * pp + 0.2 * changes + cache / (tp * ep * pp)
    memory = 400.0 * share / (ep * pp) + cache / (tp * ep * pp)
    throughput = batch / (latency * 1e-3) / (tp * ep * pp)

    machine = problem["machine"]["memory"]
    capacity = machine["capacity_bytes"] * machine["usable_fraction"] / 1e9
    slo = problem["slo_ms"] if problem["slo_ms"] is not None else math.inf
    reason = "memory" if memory > capacity else "slo" if latency > slo else ""
    prefill = problem["workload"]["phase"] == "prefill"
    return {
        "valid": reason == "",
        "throughput": throughput,
        "ttft_ms" if prefill else "tpot_ms": latency,
        "memory_gb": memory,
        "reason": reason,
    }


def main():
    problem = None
    for line in sys.stdin:
        message = json.loads(line)
        if "protocol" in message:
            problem = message
            answer = {"protocol": 1, "name": "toy"}
        else:
            answer = {"id": message["id"]} | evaluate(problem, message["strategy"])
        # The other side waits for every answer: flush it.
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
