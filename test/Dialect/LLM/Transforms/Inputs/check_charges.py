#!/usr/bin/python3
"""Compares the collectives of programs with what the report charges for them.

    check_charges.py --shard-opt=build/bin/shard-opt \\
        --shard-translate=build/bin/shard-translate config.json|model.mlir...

Random strategies of each config, in both phases, are evaluated and lowered. With
--vary, each is of a model of its own: as many layers, kinds of them, windows,
heads and experts as it happens, and another context. A program is taken as it is.
In every stage, the bytes and microseconds that the program's collectives say they
are charged, summed over layers by the op that caused them and by the kind as
which they count, must be those of the report's breakdown. A token's way back to
the first stage is between two steps, and so in no program.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[5]
sys.path.append(str(ROOT / "test" / "Semantics"))

import strategies  # noqa: E402

DEGREES = {
    "tp": [1, 2, 3, 4, 5, 8],
    "ep": [1, 2, 3, 4],
    "pp": [1, 2, 3, 4],
    "batch": [1, 4, 7, 16, 64],
}
SERVING = {
    **DEGREES,
    "tp": [1, 2, 3, 4, 6, 8],
    "dp": [1, 2, 3, 4, 6],
    "cp": [1, 1, 2, 3, 4],
    "exchange": ["all_to_all", "gather"],
}
# Microseconds are printed with six digits, and sums lose some.
TOLERANCE = 2e-5


def varied(config, rng):
    """The config with other sizes of what the collectives of its family depend on."""
    config = dict(config)

    def change(name, *values):
        if config.get(name) is not None:
            config[name] = rng.choice(values)

    change("num_hidden_layers", 1, 2, 3, 4, 5, 7)
    layers = config["num_hidden_layers"]
    change("first_k_dense_replace", 0, min(1, layers), min(2, layers), layers)
    change("tie_word_embeddings", False, True)
    change("vocab_size", 96, 101)
    change("sliding_window", 1, 16, 128)
    if "layer_types" in config:
        kinds = ("sliding_attention", "full_attention")
        config["layer_types"] = [rng.choice(kinds) for _ in range(layers)]
    if "use_sliding_window" in config:
        windows = rng.random() < 0.5
        config["use_sliding_window"] = windows
        if not windows:  # Windows that are listed and switched off are refused.
            config.pop("layer_types", None)
        config["sliding_window"] = 16
        config["max_window_layers"] = rng.randint(0, layers)
    if "kv_lora_rank" in config:
        change("q_lora_rank", None, 24)
        change("n_shared_experts", 1, 2)
        return config
    heads, groups = rng.choice(((4, 1), (5, 1), (6, 2), (8, 2), (8, 4), (8, 8), (12, 3)))
    config.update(num_attention_heads=heads, num_key_value_heads=groups)
    config.setdefault("head_dim", 8)
    return config


def run(*command):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{result.stderr}")
    return result.stdout


class Sums:
    """Bytes and microseconds by (stage, op), and the kinds of collectives."""

    def __init__(self):
        self.bytes, self.us = collections.Counter(), collections.Counter()
        self.kinds = collections.defaultdict(set)

    def add(self, stage, op, kinds, bytes_, us):
        # The stage that receives does a part of what the other is charged for.
        key = ("all" if op == "stage_transfer" else stage, op)
        self.bytes[key] += bytes_
        self.us[key] += us
        self.kinds[key] |= kinds

    def differences(self, other):
        """Words on what is in these sums and not in `other`."""
        for key in sorted(set(self.us) | set(other.us), key=str):
            one, two = self.us[key], other.us[key]
            if abs(one - two) > TOLERANCE * max(1.0, one, two):
                yield f"{key}: {one} us, charged {two}"
            one, two = self.bytes[key], other.bytes[key]
            if abs(one - two) > max(16, 1e-6 * max(one, two)):
                yield f"{key}: {one} bytes, charged {two}"
            if self.kinds[key] != other.kinds[key]:
                yield f"{key}: {self.kinds[key]}, charged {other.kinds[key]}"


def charged(report):
    sums = Sums()
    for row in report["best"]["breakdown"]:
        if row["collective"] and row["op"] != "token_return":
            kinds = set(row["collective"].split("+"))
            sums.add(row["stage"], row["op"], kinds, row["bytes"], row["collective_us"])
    return sums


def fields(text):
    """The numbers, strings and truths of a dictionary attribute."""
    pairs = re.findall(r'(\w+) = ("[^"]*"|[-+.\w]+)', text)
    values = {"true": True, "false": False}
    return {k: v[1:-1] if v[0] == '"' else values.get(v, v) for k, v in pairs}


def add_collective(sums, stage, line, layers):
    """What the op of `line` says it is charged in `layers` iterations of its repeat."""
    match = re.search(r"shardopt\.collective = {((?:[^{}]|{[^{}]*})*)}", line)
    if not match:
        return
    kind = re.search(r'"\w+\.(\w+)"', line)[1].removesuffix("_v")
    # One for each run of layers that are charged alike, where there are several.
    entries = [fields(text) for text in re.findall(r"{(.*?)}", match[1])]
    entries = entries or [{**fields(match[1]), "count": layers}]
    assert sum(int(entry["count"]) for entry in entries) == layers, line
    for entry in entries:
        # Nothing is counted where the model's collective takes no time.
        us = float(entry["microseconds"])
        if entry["charged"] and us > 0:
            count = int(entry["count"])
            kinds = {entry.get("counted_as", kind)}
            sums.add(stage, entry["cause"], kinds, count * int(entry["bytes"]), count * us)


def written(text):
    """What the collectives of a module in generic form say."""
    sums = Sums()
    stage, regions = 0, []  # how often each open region runs
    for line in text.splitlines():
        if '"func.func"' in line:
            name = re.search(r'sym_name = "\w+_stage(\d+)"', line)
            stage = int(name[1]) if name else 0
        layers = 1
        for count in regions:
            layers *= count
        add_collective(sums, stage, line, layers)
        if line.lstrip().startswith("})"):
            regions.pop()
        elif line.endswith("({"):
            count = re.search(r'"llm.repeat".* <{count = (\d+)', line)
            regions.append(int(count[1]) if count else 1)
    return sums


def check(args, module, strategy, folder):
    """Words on what differs for one strategy."""
    words = [f"{key}={value}" for key, value in strategy.items() if key != "dims"]
    words.append("dims=" + ",".join(map(str, strategy["dims"].values())))
    report = folder / "report.json"
    passes = [
        f"--llm-apply-strategy={' '.join(words)}",
        f"--llm-evaluate-strategy=simulator=roofline report={report} slo-tpot-ms=inf",
        "--llm-insert-collectives",
    ]
    if strategy["pp"] > 1:
        passes.append("--llm-split-stages")
    printing = ("--mlir-print-op-generic", "-mlir-print-local-scope", "-o", folder / "lowered.mlir")
    run(args.shard_opt, module, *passes, *printing)
    lowered = (folder / "lowered.mlir").read_text()
    wanted = charged(json.loads(report.read_text()))
    return list(written(lowered).differences(wanted))


def check_drawn(args, module, layers, count, rng, folder):
    """The strategies drawn for a module that differ, each with words on it."""
    pp = [pp for pp in DEGREES["pp"] if pp <= layers]
    degrees = {**rng.choice((DEGREES, SERVING)), "pp": pp}
    drawn = strategies.sample(args.shard_opt, module, count=count, seed=rng.random(), **degrees)
    for strategy in drawn:
        words = check(args, module, strategy, folder)
        if words:
            yield strategy, words


def check_program(args, path, folder):
    """How many of the strategies drawn for a program differ; prints each."""
    rng = random.Random(args.seed + zlib.crc32(path.name.encode()))
    repeats = re.findall(r"llm\.repeat (\d+)", path.read_text())
    differ = 0
    for _ in range(args.count):
        for strategy, words in check_drawn(args, path, sum(map(int, repeats)), 1, rng, folder):
            differ += 1
            print(json.dumps(strategy), *words, sep="\n  ")
    return differ


def check_config(args, path, phase, folder):
    """How many of the strategies drawn for a config differ; prints each."""
    rng = random.Random(args.seed + zlib.crc32(f"{path.name} {phase}".encode()))
    original, differ = json.loads(path.read_text()), 0
    module, config = folder / "model.mlir", folder / "config.json"
    for _ in range(args.count if args.vary else 1):
        context = rng.choice((1, 16, 96, 130)) if args.vary else args.context
        model = varied(original, rng) if args.vary else original
        config.write_text(json.dumps(model))
        options = (f"--phase={phase}", f"--context={context}", "-o", module)
        run(args.shard_translate, "--import-hf", config, *options)
        count = 1 if args.vary else args.count
        layers = model["num_hidden_layers"]
        for strategy, words in check_drawn(args, module, layers, count, rng, folder):
            differ += 1
            what = json.dumps(model) + f" context {context}\n" if args.vary else ""
            print(what + json.dumps(strategy), *words, sep="\n  ")
    return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shard-opt", required=True)
    parser.add_argument("--shard-translate", help="not needed for programs")
    parser.add_argument("--count", type=int, default=4, help="strategies a config and phase")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--context", type=int, default=96)
    parser.add_argument("--vary", action="store_true", help="another model for each strategy")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    args = parser.parse_args()

    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        for model in args.models:
            runs = {f"{model.stem} decode": "decode", f"{model.stem} prefill": "prefill"}
            if model.suffix == ".mlir":
                runs = {model.stem: None}
            for title, phase in runs.items():
                if phase:
                    differ = check_config(args, model, phase, pathlib.Path(name))
                else:
                    differ = check_program(args, model, pathlib.Path(name))
                wrong += differ
                print(f"{title}: {differ} of {args.count} differ", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
