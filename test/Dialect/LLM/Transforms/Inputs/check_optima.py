#!/usr/bin/env python3
"""Searches GPT-MoE exactly and compares with the known optima.

usage: check_optima.py <folder of the configs>
"""

import json
import pathlib
import subprocess
import sys
import tempfile

# size, context: tokens/s per device, [tp, ep, pp, batch], and how many times
# better that is than Megatron classic, classic with sliced exchange, and SP.
OPTIMA = {
    ("1.2T", 16384): (381.82, [8, 16, 4, 8192], [1.510, 1.018, 1.0000]),
    ("1.2T", 32768): (211.55, [8, 16, 4, 4096], [1.214, 1.011, 1.0000]),
    ("1.2T", 65536): (110.48, [8, 16, 4, 2048], [1.112, 1.006, 1.0000]),
    ("1.6T", 16384): (253.44, [8, 16, 3, 4096], [1.453, 1.021, 1.0007]),
    ("1.6T", 32768): (135.66, [8, 16, 3, 2048], [1.187, 1.013, 1.0006]),
    ("1.6T", 65536): (69.68, [8, 16, 3, 1024], [1.099, 1.009, 1.0005]),
}


def search(config, context, scratch):
    """The report of an exact search."""
    model, report = scratch / "model.mlir", scratch / "report.json"
    subprocess.run(
        ["shard-translate", "--import-hf", config, "--phase=decode",
         f"--context={context}", "-o", model],
        check=True,
    )
    subprocess.run(
        ["shard-opt", model, f"--llm-search-sharding=simulator=roofline report={report}", "-o", "/dev/null"],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    return json.loads(report.read_text())


def main():
    configs = pathlib.Path(sys.argv[1])
    for (size, context), (throughput, degrees, ratios) in OPTIMA.items():
        with tempfile.TemporaryDirectory() as scratch:
            config = configs / f"gpt-moe-{size}.json"
            report = search(config, context, pathlib.Path(scratch))
        best = report["best"]
        strategy = best["strategy"]
        found = [
            best["throughput"] / report["baselines"][f"megatron_{name}"]["throughput"]
            for name in ("tp", "tp_ep", "tp_sp")
        ]
        print(size, context, best["throughput"], strategy, found)
        assert report["proved"] and report["gap"] == 0
        assert report["evaluations"] == 1
        assert abs(best["throughput"] - throughput) < 0.005001
        assert [strategy[key] for key in ("tp", "ep", "pp", "batch")] == degrees
        for ratio, wanted in zip(found, ratios):
            decimals = 4 if wanted < 1.001 else 3
            assert abs(ratio - wanted) <= 0.51 * 10**-decimals


if __name__ == "__main__":
    sys.exit(main())
