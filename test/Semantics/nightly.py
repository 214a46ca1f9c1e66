#!/usr/bin/python3
"""Verifies thousands of random strategies of small models of every family.

    ./dev verify [--count 5000] [--cuts 500] [--positions 500] [--both-dims 500] [--seed 1]
                 [--only small-mla]

Each strategy is lowered, executed on threads and compared with the unsharded
program: a third of them in three steps of decode, a third after
--llm-optimize-collectives, a third in prefill and then decode on its caches;
half of each with the degrees of serving engines. Programs whose layers are no chains
are verified with 100 strategies each, and stages of unlike numbers of layers with 500
in all, as are positions of prompts that are cut and weights that are sharded on both
dims. Lines that fail are printed, with the strategy.
Exit status 1 if there are any.
"""

import argparse
import itertools
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import tools
from strategies import both_dims_ops, op_names, sample, write
from tools import ROOT

sys.path.append(str(ROOT / "test" / "Reference"))

from execution.small_models import CONFIGS  # noqa: E402

SHIPPED = ("small-moe", "small-dense", "small-mla")
WIRINGS = ("parallel-block", "dense-residual", "two-towers", "post-norm")
PER_WIRING = 100
CONTEXT = 24
SPACE = {
    "tp": [1, 2, 3, 4, 5, 6, 8],
    "ep": [1, 2, 3, 4, 6],
    "pp": [1, 1, 2, 3],
    "most_ranks": 24,
    "batch": [1, 2, 3, 4, 5, 6, 7, 8, 11, 16],
}
# Stages of unlike numbers of layers, of models that have more of them.
LAYERS = {"small-moe": 7, "small-dense": 8, "small-mla": 6}
CUTS = {
    **SPACE,
    "tp": [1, 2, 3],
    "ep": [1, 2],
    "pp": [2, 3, 4, 5],
    "most_ranks": 12,
    "cuts": True,
}
# Positions of prompts cut over tp, heads whole.
POSITIONS = {
    **SPACE,
    "tp": [2, 3, 4, 6],
    "pp": [1, 1, 2],
    "dp": [1, 2, 3],
    "exchange": ["all_to_all", "gather"],
    "most_ranks": 16,
    "positions": True,
}
# Weights sharded on both dims, of tp groups that have two axes.
BOTH_DIMS = {
    **SPACE,
    "tp": [4, 6, 8, 9, 12],
    "tp2": [2, 3, 4],
    "ep": [1, 2],
    "pp": [1, 1, 2],
    "cp": [1, 1, 1, 2, 3],
}
# Those that serving engines have as well.
SERVING = {
    **SPACE,
    "tp": [1, 2, 3, 4, 6, 8, 12],
    "pp": [1, 1, 1, 2, 3],
    "dp": [1, 2, 3, 4, 6, 8],
    "cp": [1, 1, 2, 3, 4, 6],
    "exchange": ["all_to_all", "gather"],
}


def verify(args, title, command, strategies, folder):
    """Runs a list; how many of it failed."""
    if not strategies:
        return 0
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


def programs(args, name, folder):
    """The modules of a model in decode and in prefill."""
    modules = [folder / f"{name}.{phase}.mlir" for phase in ("decode", "prefill")]
    config = folder / f"{name}.json"
    if name in SHIPPED:
        config = ROOT / "examples/models" / f"{name}.json"
        modules[0] = config.with_suffix(".mlir")
    else:
        config.write_text(json.dumps(CONFIGS[name]))
        tools.imported(args, config, "decode", CONTEXT, modules[0], "--logits")
    tools.imported(args, config, "prefill", 7, modules[1], "--logits")
    return modules


def deeper(args, name, layers, folder):
    """The modules of a shipped model with more layers, in decode and in prefill."""
    config = json.loads((ROOT / "examples/models" / f"{name}.json").read_text())
    config["num_hidden_layers"] = layers
    if "layer_types" in config:
        config["layer_types"] = (config["layer_types"] * layers)[:layers]
    written = folder / f"{name}-deep.json"
    written.write_text(json.dumps(config))
    modules = [folder / f"{name}-deep.{phase}.mlir" for phase in ("decode", "prefill")]
    tools.imported(args, written, "decode", CONTEXT, modules[0], "--logits")
    tools.imported(args, written, "prefill", 7, modules[1], "--logits")
    return modules


def runs(args, folder):
    """(title, arguments of shard-run, strategies) of every list."""
    models = [name for name in (*SHIPPED, *CONFIGS) if args.only in name]
    each = -(-args.count // (6 * max(1, len(models))))
    rng = random.Random(args.seed)

    def run(title, module, command, count, space):
        strategies = sample(
            args.shard_opt, module, count=count, seed=rng.randrange(2**31), **space
        )
        return title, [*command, f"--seed={rng.randrange(2**31)}"], strategies

    for model in models:
        decode, prefill = programs(args, model, folder)
        for title, module, command in (
            ("decode", decode, [decode]),
            ("decode, optimized", decode, [decode, "--optimize-collectives"]),
            ("prefill and decode", prefill, [prefill, f"--then={decode}"]),
        ):
            yield run(f"{model}, {title}", module, command, each, SPACE)
            yield run(f"{model}, {title}, all degrees", module, command, each, SERVING)
    for model in (name for name in WIRINGS if args.only in name):
        module = ROOT / "examples/models" / f"{model}.mlir"
        yield run(model, module, [module], PER_WIRING, SPACE)
    deep = {name: layers for name, layers in LAYERS.items() if args.only in name}
    for model, layers in deep.items():
        decode, prefill = deeper(args, model, layers, folder)
        each = -(-args.cuts // (2 * len(deep)))
        yield run(f"{model}, decode, cuts", decode, [decode], each, CUTS)
        command = [prefill, f"--then={decode}"]
        yield run(f"{model}, prefill and decode, cuts", prefill, command, each, CUTS)
    each = -(-args.positions // max(1, len(models)))
    for model in models:
        prefill = programs(args, model, folder)[1]
        yield run(f"{model}, positions", prefill, [prefill], each, POSITIONS)


def runs_on_both_dims(args, folder):
    """The same, of the models whose networks are no routed experts alone."""
    rng = random.Random(args.seed)
    listed = []
    for model in (name for name in (*SHIPPED, *CONFIGS) if args.only in name):
        decode, prefill = programs(args, model, folder)
        if not both_dims_ops(op_names(args.shard_opt, decode)):
            continue
        listed.append((f"{model}, decode, both dims", decode, [decode]))
        optimized = [decode, "--optimize-collectives"]
        listed.append((f"{model}, decode, optimized, both dims", decode, optimized))
        command = [prefill, f"--then={decode}"]
        listed.append((f"{model}, prefill and decode, both dims", prefill, command))
    for title, module, command in listed:
        count = -(-args.both_dims // len(listed))
        strategies = sample(
            args.shard_opt, module, count=count, seed=rng.randrange(2**31), **BOTH_DIMS
        )
        yield title, [*command, f"--seed={rng.randrange(2**31)}"], strategies


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--count", type=int, default=5000)
    parser.add_argument("--cuts", type=int, default=500)
    parser.add_argument("--positions", type=int, default=500)
    parser.add_argument("--both-dims", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="models with this in their name")
    args = parser.parse_args()

    verified = failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lists = itertools.chain(runs(args, folder), runs_on_both_dims(args, folder))
        for title, command, strategies in lists:
            failed += verify(args, title, command, strategies, folder)
            verified += len(strategies)
    if not verified:
        sys.exit(f"no model has '{args.only}' in its name")
    print(f"{verified} strategies, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
