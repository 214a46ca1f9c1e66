#!/usr/bin/python3
"""Compares shard-opt's roofline simulator with the scalar reference.

    compare.py --shard-opt build/bin/shard-opt \\
        --shard-translate build/bin/shard-translate [--count 200] [--seed 1]

Each workload's config is imported, random strategies are evaluated by
--llm-evaluate-strategy and by roofline.py, and the answers are compared:
metrics to 1e-9 relative, `valid` and `reason` exactly (unless a metric is so
close to its limit that rounding decides). Exit code 1 with the first
strategies that differ, 0 otherwise. Configs of real models are looked for in
$SHARDOPT_DATA (default: ../shared/data beside the project); where they are
missing, only the synthetic ones are compared.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import zlib
from dataclasses import dataclass, field

from roofline import MACHINES, Model, Strategy, Workload, evaluate

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT.parent / "shared" / "data"))
EXAMPLES = ROOT / "examples" / "configs"
TOLERANCE = 1e-9
SHOWN = 5  # differing strategies printed for a workload


@dataclass
class Case:
    """A workload to compare on; `changes` are made to the config first."""

    config: pathlib.Path
    machine: str = "h100_sxm"
    phase: str = "decode"
    context: int = 8192
    changes: dict = field(default_factory=dict)
    types: dict = field(default_factory=dict)  # weight_type, kv_type, activation_type
    options: dict = field(default_factory=dict)  # fields of Workload

    def __str__(self):
        words = [self.config.parent.name, self.config.stem, self.machine, self.phase]
        words.append(str(self.context))
        for extra in (self.changes, self.types, self.options):
            words += [f"{key}={value}" for key, value in extra.items()]
        return " ".join(words)


def synthetic_cases():
    gpt12, gpt16 = EXAMPLES / "gpt-moe-1.2T.json", EXAMPLES / "gpt-moe-1.6T.json"
    odd_heads = {"num_attention_heads": 40, "num_key_value_heads": 8, "vocab_size": 51203}
    few_layers = {"num_hidden_layers": 7, "hidden_size": 1536, "intermediate_size": 1000}
    return [
        Case(gpt12, context=16384),
        Case(gpt12, context=65536),
        Case(gpt12, "a100_sxm", context=16384),
        Case(gpt12, "gb200", context=16384),
        Case(gpt16, context=32768, options={"comm_model": "ring"}),
        Case(gpt16, context=16384, options={"comm_model": "direct", "slo_ms": 25}),
        Case(gpt16, "h200_sxm", context=16384, options={"imbalance": "none"}),
        Case(gpt12, "b200_sxm", "prefill", 2048),
        Case(gpt12, phase="prefill", context=777, options={"max_devices": 100}),
        Case(gpt12, context=1000, changes={**odd_heads, **few_layers}),
        Case(gpt12, phase="prefill", context=1000, changes={**odd_heads, **few_layers}),
        Case(gpt12, context=4096, changes={"tie_word_embeddings": True, **few_layers}),
        Case(gpt12, context=4096, types={"weight_type": "fp8", "kv_type": "fp8"}),
    ]


def hub_cases():
    folder = DATA / "configs"

    def hub(name, *args, **kwargs):
        return Case(folder / f"{name}_config.json", *args, **kwargs)

    llama, qwen3 = "meta-llama--Meta-Llama-3.1-70B", "Qwen--Qwen3-32B"
    mixtral, qwen3_moe = "mistralai--Mixtral-8x22B-v0.1", "Qwen--Qwen3-235B-A22B"
    deepseek, gpt_oss = "deepseek-ai--DeepSeek-V3", "openai--gpt-oss-120b"
    window = {"sliding_window": 4096}
    mixed = {"mlp_only_layers": [0, 3], "decoder_sparse_step": 2}
    return [
        hub(llama),
        hub(llama, phase="prefill", context=4096),
        hub(llama, "h200_sxm", types={"weight_type": "fp8"}),
        hub("meta-llama--Meta-Llama-3.1-8B", changes={"tie_word_embeddings": True}),
        hub("meta-llama--Meta-Llama-3.1-405B", "gb200", options={"max_devices": 72}),
        hub(qwen3, "b200_sxm"),
        hub(qwen3, phase="prefill", context=3000),
        hub(mixtral),
        hub(mixtral, changes=window),
        hub(mixtral, phase="prefill", context=6000, changes=window),
        hub("mistralai--Mixtral-8x7B-v0.1", "a100_sxm", types={"kv_type": "fp8"}),
        hub(qwen3_moe, context=16384),
        hub(qwen3_moe, phase="prefill", context=4096),
        hub("Qwen--Qwen3-30B-A3B", "gb200", changes=mixed),
        hub(deepseek, "h200_sxm", context=16384),
        hub(deepseek, "gb200", context=32768, types={"weight_type": "bf16"}),
        hub(deepseek, "h200_sxm", "prefill", 4096),
        hub(deepseek, "h200_sxm", changes={"q_lora_rank": None}),
        hub(deepseek, "b200_sxm", options={"comm_model": "ring", "imbalance": "none"}),
        hub(gpt_oss),
        hub(gpt_oss, "b200_sxm", "prefill", 4096),
        hub(gpt_oss, types={"weight_type": "bf16"}),
    ]


def tiny_cases():
    folder = DATA / "hf-tiny"
    # The weights are f32; costs are compared in the types of real models.
    types = {"weight_type": "bf16", "kv_type": "bf16", "activation_type": "bf16"}
    names = ("llama", "qwen2", "qwen3", "mixtral", "qwen3_moe", "deepseek_v3", "gpt_oss")
    return [
        Case(folder / name / "config.json", phase=phase, context=context, types=types)
        for name in names
        for phase, context in (("decode", 100), ("prefill", 9))
    ]


def draw(model, rng):
    """A random strategy: mostly the usual degrees, sometimes any integers."""

    def degree(usual, largest):
        return rng.choice(usual) if rng.random() < 0.8 else rng.randint(1, largest)

    powers = [2**i for i in range(17)]
    experts, layers = max(16, model.E), len(model.layers)
    dims = [rng.choice((0, 1, 2)) for _ in model.op_names()]
    if rng.random() < 0.5:  # fewer structural violations of attention
        for i, name in enumerate(model.op_names()):
            if name.endswith("attention"):
                dims[i] = rng.choice((0, 2))
    return Strategy(
        tp=degree(powers[:7], 24),
        ep=degree([p for p in powers if p <= experts], experts + 2),
        pp=degree([p for p in (1, 2, 3, 4, 6, 8, 12, 24) if p <= layers], layers + 2),
        batch=degree(powers, 3000),
        dims=tuple(dims),
    )


def spell(strategy, model, rng):
    """A line of the list; dims in either of the two forms."""
    value = strategy.to_json()
    if rng.random() < 0.3:
        value["dims"] = dict(zip(model.op_names(), strategy.dims))
    return json.dumps(value)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nexit code {done.returncode}\n{done.stderr}")


def evaluate_with_tools(args, case, config, lines, folder):
    """The report's lines, one a strategy."""
    module, listed, report = folder / "m.mlir", folder / "in.jsonl", folder / "out.jsonl"
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    listed.write_text("".join(line + "\n" for line in lines))
    command = [args.shard_translate, "--import-hf", path]
    command += [f"--phase={case.phase}", f"--context={case.context}"]
    command += [f"--{key.replace('_', '-')}={value}" for key, value in case.types.items()]
    run(command + ["-o", module])

    options = {"machine": case.machine, "strategies": listed, "report": report}
    for key, value in case.options.items():
        if key == "slo_ms":
            key = "slo_tpot_ms" if case.phase == "decode" else "slo_ttft_ms"
        options[key.replace("_", "-")] = value
    text = " ".join(f"{key}={value}" for key, value in options.items())
    run([args.shard_opt, module, f"--llm-evaluate-strategy={text}", "-o", os.devnull])
    return [json.loads(line) for line in report.read_text().splitlines()]


def near(a, b):
    return abs(a - b) <= TOLERANCE * max(abs(a), abs(b))


def differences(expected, found, workload):
    """Words on what differs between two report lines."""
    if set(found) != set(expected):
        return [f"keys {sorted(found)}, expected {sorted(expected)}"]
    latency = "tpot_ms" if workload.phase == "decode" else "ttft_ms"
    words = []
    for key in ("throughput", latency, "memory_gb"):
        if not near(expected[key], found[key]):
            words.append(f"{key} {found[key]!r}, expected {expected[key]!r}")
    borderline = near(expected[latency], workload.slo * 1e3) or near(
        expected["memory_gb"], workload.machine.capacity / 1e9
    )
    for key in ("valid", "reason"):
        if found[key] != expected[key] and not borderline:
            words.append(f"{key} {found[key]!r}, expected {expected[key]!r}")
    return words


def compare(args, case):
    """Number of strategies that differ."""
    config = {**json.loads(case.config.read_text()), **case.changes}
    model = Model(config, **case.types)
    options = {**case.options, "machine": MACHINES[case.machine]}
    workload = Workload(case.phase, case.context, **options)
    # The case is part of the seed, so that one more case changes no other.
    rng = random.Random(args.seed + zlib.crc32(str(case).encode()))
    strategies = [draw(model, rng) for _ in range(args.count)]
    lines = [spell(strategy, model, rng) for strategy in strategies]
    with tempfile.TemporaryDirectory() as folder:
        answers = evaluate_with_tools(args, case, config, lines, pathlib.Path(folder))
    if len(answers) != len(lines):
        print(f"{case}: {len(answers)} answers for {len(lines)} strategies")
        return len(lines)

    different, reasons = 0, collections.Counter()
    for strategy, line, found in zip(strategies, lines, answers):
        expected = evaluate(model, workload, strategy).to_json(case.phase)
        reasons[expected["reason"] or "valid"] += 1
        words = differences(expected, found, workload)
        if words:
            different += 1
            if different <= SHOWN:
                print(f"{case}\n  {line}\n  " + "\n  ".join(words))
    counts = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
    print(f"{case}: {counts}; {different} different")
    return different


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shard-opt", required=True)
    parser.add_argument("--shard-translate", required=True)
    parser.add_argument("--count", type=int, default=200, help="strategies a workload")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="workloads whose description has this in it")
    args = parser.parse_args()

    cases = synthetic_cases() + hub_cases() + tiny_cases()
    wanted = [case for case in cases if args.only in str(case)]
    present = [case for case in wanted if case.config.exists()]
    if len(present) < len(wanted):
        print(f"skipped {len(wanted) - len(present)} workloads: no configs in {DATA}")
    if not present:
        sys.exit(f"no workload has '{args.only}' in its description")
    different = sum(compare(args, case) for case in present)
    print("different" if different else "equal", f"on {args.count * len(present)} strategies")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
