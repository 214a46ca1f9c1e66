#!/usr/bin/python3
"""Uneven loads of experts: what the router of a checkpoint is made to choose.

    check_loads.py --shard-opt=build/bin/shard-opt \\
        --shard-translate=build/bin/shard-translate --shard-run=build/bin/shard-run

The small MoE model, whose router has a bias, with biases so large that every
token goes to the same two experts, or never to some; then random strategies
against the unsharded program, for one prompt and for several.
"""

import argparse
import pathlib
import sys
import tempfile

import tools
from check_families import random_checkpoint
from execution import checkpoint
from strategies import sample, write
from tools import ROOT, last_line, run

MODULE = ROOT / "examples/models/small-moe.mlir"
LARGE = 20.0  # logits without it are around 1; more would cost digits
LOADS = {
    "all tokens on the first and the last expert": {0: LARGE, 5: LARGE},
    "all tokens on two experts of one rank": {2: LARGE, 3: LARGE},
    "no token on half of the experts": {0: -LARGE, 1: -LARGE, 4: -LARGE},
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--count", type=int, default=6, help="strategies a load and batch")
    args = parser.parse_args()
    printing = ("--mlir-print-op-generic", "-mlir-print-local-scope")
    tensors = random_checkpoint(run(args.shard_opt, MODULE, *printing))
    routers = [name for name in tensors if name.endswith("router.bias")]
    assert routers, "the model's router has no bias"
    fine = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        weights, listed = folder / "model.safetensors", folder / "strategies.jsonl"
        for title, biases in LOADS.items():
            for router in routers:
                tensors[router][:] = 0
                for expert, bias in biases.items():
                    tensors[router][expert] = bias
            checkpoint.save(weights, tensors)
            for batch in ([1], [2, 5, 9]):
                options = {"count": args.count, "seed": len(title) + batch[0], "batch": batch}
                drawn = sample(args.shard_opt, MODULE, tp=[1, 2, 3, 4], ep=[2, 3, 4, 6], **options)
                write(listed, drawn)
                command = [args.shard_run, "--verify", MODULE, f"--weights={weights}"]
                status, line = last_line(*command, f"--strategies={listed}", "--steps=2")
                fine &= status == 0
                print(f"{title}, batch {batch}: {line}", flush=True)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
