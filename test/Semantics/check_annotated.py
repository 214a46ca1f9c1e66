#!/usr/bin/env python3
"""Executes what upstream's shard-partition makes of --llm-annotate-shard, and compares it with
NumPy in f64, which knows nothing of shardings; and its collectives with those of
--llm-insert-collectives, by kind and bytes."""

import argparse
import json
import pathlib
import random
import re
import sys
import tempfile

import numpy as np
import tools

TINY = tools.ROOT / "test/Target/HuggingFace/Tiny"
PARTITION = (
    "builtin.module(func.func(sharding-propagation{traversal=forward-backward},shard-partition),"
    "canonicalize,cse)"
)
# embed, attn_norm, qkv_proj, attention, out_proj, ffn_norm, ffn_up, ffn_down, lm_head
MEGATRON, SEQUENCE, GATHERED = "0,2,1,0,0,2,1,0,1", "0,0,1,0,0,0,1,0,1", "2,2,1,2,1,2,1,1,1"
BATCH = 12
FIRST, SECOND = "attn_norm-qkv_proj", "out_proj-ffn_down"


# --- NumPy ------------------------------------------------------------------------------


def normed(x, values, name, epsilon):
    if f"{name}.bias" not in values:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * values[f"{name}.weight"]
    x = x - x.mean(-1, keepdims=True)
    scaled = x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)
    return scaled * values[f"{name}.weight"] + values[f"{name}.bias"]


def product(x, values, name, part=""):
    y = x @ values[f"{name}.weight{part}"]
    return y + values.get(f"{name}.bias{part}", 0)


def activated(m, values):
    if "ffn_up.weight.1" in values:
        gate, up = (product(m, values, "ffn_up", part) for part in (".0", ".1"))
        return gate / (1 + np.exp(-gate)) * up
    x = product(m, values, "ffn_up")
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def computed(name, values, epsilon):
    """The results of a run, from its arguments by name."""
    inputs = [values[key] for key in sorted(values) if re.fullmatch(r"x\d+", key)]
    if name == FIRST:
        x = normed(inputs[0], values, "attn_norm", epsilon)
        return [product(x, values, "qkv_proj", f".{part}") for part in range(3)]
    attended, residual = inputs if inputs[0].shape[1] == values["out_proj.weight"].shape[0] else inputs[::-1]
    total = product(attended, values, "out_proj") + residual
    m = normed(total, values, "ffn_norm", epsilon)
    return [product(activated(m, values), values, "ffn_down") + total]


# --- the compilers ----------------------------------------------------------------------


def arguments_of(text, name):
    """Names and global shapes of a function's arguments."""
    line = next(line for line in text.splitlines() if f'func.func @"{name}"' in line)
    line = line.split(") -> ")[0]
    found = re.findall(r'name = "([^"]+)", shape = array<i64: ([0-9, ]+)>', line)
    return {name: tuple(map(int, shape.split(", "))) for name, shape in found}


def collectives(text):
    """[kind, bytes of the full tensor] of each collective but slices, by function."""
    found, name = {}, None
    for line in text.splitlines():
        if entry := re.search(r'func.func @"([^"]+)"', line):
            name = entry.group(1)
        if made := re.search(r"shard\.(all_reduce|all_gather|reduce_scatter|all_to_all) .*-> tensor<([0-9x]+)xf32>", line):
            sizes = [int(size) for size in made.group(2).split("x")]
            found.setdefault(name, []).append((made.group(1), 4 * int(np.prod(sizes))))
    return found


def own_collectives(text):
    """The same of a program of one device, in its loop."""
    loop = text[text.index("llm.repeat") : text.index("llm.yield")]
    return re.findall(r"shard\.(all_reduce|all_gather|reduce_scatter|all_to_all) .*?bytes = (\d+) : i64, cause = \"(\w+)\"", loop)


class Checker:
    def __init__(self, args, model, folder):
        self.args, self.folder = args, folder
        self.program = folder / f"{model}.mlir"
        config = TINY / model / "config.json"
        tools.imported(args, config, "decode", 16, self.program)
        self.config = json.loads(config.read_text())
        self.epsilon = self.config.get("rms_norm_eps") or self.config["norm_epsilon"]

    def partitioned(self, strategy):
        """The module that stock mlir-opt makes, and the program of our own."""
        annotated, stock = self.folder / "annotated.mlir", self.folder / "stock.mlir"
        applied = f"--llm-apply-strategy={strategy}"
        tools.run(self.args.shard_opt, self.program, applied, "--llm-annotate-shard", "-o", annotated)
        tools.run(self.args.mlir_opt, annotated, f"--pass-pipeline={PARTITION}", "-o", stock)
        own = tools.run(self.args.shard_opt, self.program, applied, "--llm-insert-collectives")
        return stock, own

    def errors(self, stock, seed):
        """The largest error of each run, of the largest magnitude of a result."""
        text, found = stock.read_text(), {}
        for name in (FIRST, SECOND):
            rng = np.random.default_rng(seed)
            inputs, outputs = self.folder / "in", self.folder / "out"
            inputs.mkdir(exist_ok=True)
            values = {}
            for key, shape in arguments_of(text, name).items():
                values[key] = rng.standard_normal(shape).astype(np.float32)
                np.save(inputs / f"{key}.npy", values[key])
            tools.run(self.args.shard_run, stock, f"--entry={name}", f"--inputs={inputs}",
                      f"--dump={outputs}", "--steps=1")
            wanted = computed(name, {k: v.astype(np.float64) for k, v in values.items()}, self.epsilon)
            found[name] = max(
                np.abs(np.load(outputs / f"result{i}.npy").reshape(each.shape) - each).max() / np.abs(each).max()
                for i, each in enumerate(wanted)
            )
            for file in (*inputs.iterdir(), *outputs.iterdir()):
                file.unlink()
        return found

    def check(self, strategy, seed):
        stock, own = self.partitioned(strategy)
        errors = self.errors(stock, seed)
        if max(errors.values()) > 1e-5:
            sys.exit(f"{self.program.stem}, {strategy}: {errors}")
        return max(errors.values()), collectives(stock.read_text()), own_collectives(own)


def summed(found):
    """Bytes by what a collective does: reduces, or gathers."""
    total = {}
    for kind, size, *_ in found:
        what = "gathered" if kind == "all_gather" else "reduced"
        total[what] = total.get(what, 0) + int(size)
    return total


def check_kinds(checker):
    """The stock partitioner moves what our program moves; it never scatters what it reduces."""
    for name, dims in (("megatron", MEGATRON), ("sequence", SEQUENCE), ("gathered", GATHERED)):
        strategy = f"tp=2 ep=1 pp=1 batch={BATCH} dims={dims}"
        _, theirs, ours = checker.check(strategy, 1)
        both = [each for run in theirs.values() for each in run]
        # Between the runs, attention gathers in our program what it does not shard.
        own = [each for each in ours if each[2] != "attention"]
        print(name, "stock", sorted(both), "own", sorted(own))
        if summed(both) != summed(own) or any(kind == "reduce_scatter" for kind, _ in both):
            sys.exit(f"{name}: the stock partitioner has {both}, our program {own}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    tools.add_arguments(parser)
    parser.add_argument("--mlir-opt", required=True)
    parser.add_argument("--count", type=int, default=100, help="random strategies of each model")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng, worst = random.Random(args.seed), 0.0
    with tempfile.TemporaryDirectory() as folder:
        for model in ("mistral", "starcoder2"):
            checker = Checker(args, model, pathlib.Path(folder))
            check_kinds(checker)
            for case in range(args.count):
                dims = [rng.randrange(3) for _ in range(9)]
                dims[3] = 2 if dims[3] == 1 else dims[3]  # of the features of a head: prefill has none
                strategy = f"tp={rng.choice((2, 3))} ep=1 pp=1 batch={BATCH} dims={','.join(map(str, dims))}"
                worst = max(worst, checker.check(strategy, case)[0])
    print(f"{2 * args.count} random strategies, largest error {worst:.1e}")


if __name__ == "__main__":
    main()
