#!/usr/bin/python3
"""Verifies thousands of random strategies of the small models.

    ./dev verify [--count 5000] [--seed 1]

Each strategy is lowered, executed on threads and compared with the unsharded
program: a third of them in three steps of decode, a third after
--llm-optimize-collectives, a third in prefill and then decode on its caches;
half of each with the degrees of serving engines. Programs whose layers are no chains
are verified with 100 strategies each. Lines that fail are printed, with the strategy.
Exit status 1 if there are any.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import tools
from strategies import sample, write
from tools import ROOT

MODELS = ("small-moe", "small-dense", "small-mla")
WIRINGS = ("parallel-block", "dense-residual", "two-towers", "post-norm")
PER_WIRING = 100
SPACE = {
    "tp": [1, 2, 3, 4, 5, 6, 8],
    "ep": [1, 2, 3, 4, 6],
    "pp": [1, 2, 3],
    "most_ranks": 24,
    "batch": [1, 2, 3, 4, 5, 6, 7, 8, 11, 16],
}
# Those that serving engines have as well.
SERVING = {
    **SPACE,
    "tp": [1, 2, 3, 4, 6, 8, 12],
    "pp": [1, 1, 2, 3],
    "dp": [1, 2, 3, 4, 6, 8],
    "cp": [1, 1, 2, 3, 4, 6],
    "exchange": ["all_to_all", "gather"],
}


def verify(args, title, command, strategies, folder):
    """Runs a list; how many of it failed."""
    listed = write(folder / "strategies.jsonl", strategies)
    command = [args.shard_run, "--verify", *command, f"--strategies={listed}"]
    result = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    lines = result.stdout.splitlines()
    failed = [line for line in lines if "FAILED" in line]
    for line in failed:
        number = int(line.rpartition("line=")[2])
        print(f"{title}: {line}\n  {json.dumps(strategies[number])}", flush=True)
    if not lines or not lines[-1].startswith("verified"):
        sys.exit(f"{title}: {' '.join(map(str, command))}\n{result.stderr}")
    print(f"{title}: {lines[-1]}", flush=True)
    return len(failed)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    rng = random.Random(args.seed)
    each = -(-args.count // (6 * len(MODELS)))
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in MODELS:
            decode = ROOT / "examples/models" / f"{model}.mlir"
            prefill = folder / f"{model}.mlir"
            config = decode.with_suffix(".json")
            tools.imported(args, config, "prefill", 7, prefill, "--logits")
            for title, module, command in (
                ("decode", decode, [decode]),
                ("decode, optimized", decode, [decode, "--optimize-collectives"]),
                ("prefill and decode", prefill, [prefill, f"--then={decode}"]),
            ):
                for degrees, space in (("", SPACE), (", all degrees", SERVING)):
                    seed = rng.randrange(2**31)
                    strategies = sample(args.shard_opt, module, count=each, seed=seed, **space)
                    runs = [*command, f"--seed={rng.randrange(2**31)}"]
                    what = f"{model}, {title}{degrees}"
                    failed += verify(args, what, runs, strategies, folder)
        for model in WIRINGS:
            module = ROOT / "examples/models" / f"{model}.mlir"
            seed = rng.randrange(2**31)
            strategies = sample(args.shard_opt, module, count=PER_WIRING, seed=seed, **SPACE)
            failed += verify(args, model, [module], strategies, folder)
    count = 6 * len(MODELS) * each + len(WIRINGS) * PER_WIRING
    print(f"{count} strategies, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
