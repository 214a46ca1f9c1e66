#!/usr/bin/python3
"""Programs on the processes of an MPI.

    check_mpi.py --mpirun="mpirun.mpich -n 8" --shard-opt=build/bin/shard-opt \\
        --shard-translate=build/bin/shard-translate --shard-run=build/bin/shard-run

One mpirun a model: 20 strategies of a small model against the unsharded
program, and three strategies of each model of $SHARDOPT_DATA/hf-tiny against
the logits of Transformers. Programs of fewer ranks run on the first ones.
Processes take turns on two cores, so that tests share out the models (--only);
`./dev nightly` runs all of them on both.
"""

import argparse
import os
import pathlib
import shlex
import sys
import tempfile

import tools
from strategies import sample, write
from tools import DATA, ROOT, imported, last_line

EIGHT = {"tp": [2, 3, 4], "most_ranks": 8}
SERVING = {
    **EIGHT,
    "tp": [1, 2, 4],
    "dp": [1, 2, 4],
    "ep": [1, 2, 4, 8],
    "cp": [1, 2],
    "exchange": ["all_to_all", "gather"],
}


def verify(args, title, module, strategies, folder, *options):
    """Runs a list under mpirun; whether all is well."""
    listed = write(folder / "strategies.jsonl", strategies)
    command = [*shlex.split(args.mpirun), args.shard_run, "--verify", module]
    status, line = last_line(*command, f"--strategies={listed}", *options)
    print(f"{title}: {line}", flush=True)
    return status == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--mpirun", required=True, help="with the number of processes")
    parser.add_argument("--only", type=lambda text: text.split(","), help="these models")
    args = parser.parse_args()
    models = sorted(path.parent for path in (DATA / "hf-tiny").glob("*/io.safetensors"))
    if not models:
        print(f"skipped: no models in {DATA / 'hf-tiny'}")
    if args.only and "SHARDOPT_NIGHTLY" not in os.environ:
        models = [model for model in models if model.name in args.only]
        if len(models) < len(args.only):
            parser.error(f"no {args.only} in {DATA / 'hf-tiny'}, but {[m.name for m in models]}")
    fine = True
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        module = ROOT / "examples/models/small-moe.mlir"
        drawn = sample(args.shard_opt, module, count=12, batch=[3, 5], **EIGHT)
        drawn += sample(args.shard_opt, module, count=8, batch=[3, 5], **SERVING)
        fine &= verify(args, "small-moe", module, drawn, folder)
        for model in models:
            config = model / "config.json"
            module = imported(args, config, "decode", 12, folder / f"{model.name}.mlir")
            io = model / "io.safetensors"
            against = [f"--weights={model}/model.safetensors", f"--tokens={io}", f"--expect={io}"]
            drawn = sample(args.shard_opt, module, count=2, batch=[4], **EIGHT)
            drawn += sample(args.shard_opt, module, count=1, batch=[4], **SERVING)
            fine &= verify(args, model.name, module, drawn, folder, *against)
    sys.exit(0 if fine else 1)


if __name__ == "__main__":
    main()
