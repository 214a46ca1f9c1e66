#!/usr/bin/python3
"""Options of the families of models, compiled, against the reference interpreter.

    check_families.py --shard-opt=build/bin/shard-opt \\
        --shard-translate=build/bin/shard-translate --shard-run=build/bin/shard-run

Each config is imported, and gets a checkpoint of random weights under the hub's
names, in the hub's shapes. The interpreter, which agrees with Transformers where
their models are at hand, decodes prompts with it. `shard-run` must give the same
logits from the checkpoint's file: unsharded and with random strategies, in decode
and in prefill.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import zlib

import tools
from strategies import sample, write
from tools import ROOT, imported, last_line, run

sys.path.append(str(ROOT / "test" / "Reference"))

import numpy as np  # noqa: E402
from execution import checkpoint  # noqa: E402
from execution.interpreter import Parameters  # noqa: E402
from execution.mlir_generic import parse  # noqa: E402
from execution.session import Session  # noqa: E402
from execution.small_models import (  # noqa: E402
    COMMON,
    CONFIGS,
    DEEPSEEK,
    GPT_OSS,
    LLAMA,
    MIXTRAL,
    QWEN2,
    QWEN3,
    QWEN3_MOE,
    STARCODER2,
)

PROMPTS, LENGTH = 3, 7

# Beside the configs that other tests run.
OPTIONS = {
    "llama, biases everywhere": {**LLAMA, "attention_bias": True, "mlp_bias": True},
    "llama, one kv head": {**LLAMA, "num_key_value_heads": 1},
    "llama, heads of hidden size / heads": {**LLAMA, "head_dim": None},
    "llama, linear rope": {**LLAMA, "rope_scaling": {"rope_type": "linear", "factor": 4.0}},
    "qwen2, windows in the last layers": {
        **LLAMA,
        **QWEN2,
        "num_hidden_layers": 3,
        "use_sliding_window": True,
        "sliding_window": 3,
        "max_window_layers": 1,
        "tie_word_embeddings": True,
    },
    "qwen3, biases, kv heads equal to heads": {
        **LLAMA,
        **QWEN3,
        "attention_bias": True,
        "num_key_value_heads": 6,
    },
    "mixtral, one expert a token": {**MIXTRAL, "num_experts_per_tok": 1, "num_key_value_heads": 4},
    "mixtral, all experts": {**MIXTRAL, "num_local_experts": 3, "num_experts_per_tok": 3},
    "qwen3-moe, experts in every second layer": {
        **QWEN3_MOE,
        "decoder_sparse_step": 2,
        "norm_topk_prob": False,
        "num_key_value_heads": 1,
    },
    "qwen3-moe, windows, biases": {
        **QWEN3_MOE,
        "attention_bias": True,
        "use_sliding_window": True,
        "sliding_window": 2,
        "tie_word_embeddings": True,
    },
    "deepseek, experts in all layers": {**DEEPSEEK, "first_k_dense_replace": 0},
    "deepseek, two dense layers, no shared expert": {
        **DEEPSEEK,
        "first_k_dense_replace": 2,
        "n_shared_experts": None,
        "rope_scaling": None,
        "norm_topk_prob": False,
    },
    "deepseek, biases, one group": {
        **DEEPSEEK,
        "attention_bias": True,
        "n_group": 1,
        "topk_group": 1,
        "routed_scaling_factor": 1.0,
        "tie_word_embeddings": True,
    },
    "gpt-oss, no biases of attention, kv heads equal to heads": {
        **GPT_OSS,
        "attention_bias": False,
        "num_key_value_heads": 6,
        "layer_types": ["full_attention", "sliding_attention", "sliding_attention"],
        "num_hidden_layers": 3,
    },
    "gpt-oss, one kv head, all experts": {
        **GPT_OSS,
        "num_key_value_heads": 1,
        "num_local_experts": 3,
        "num_experts_per_tok": 3,
        "swiglu_limit": 7.0,
        "tie_word_embeddings": True,
    },
    "starcoder2, no biases, full attention, an output matrix": {
        **STARCODER2,
        "use_bias": False,
        "sliding_window": None,
        "tie_word_embeddings": False,
        "hidden_act": "relu",
    },
}
ALL = {**CONFIGS, **{name: {**COMMON, **config} for name, config in OPTIONS.items()}}


def random_tensor(name, shape):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    values = rng.normal(size=shape)
    if len(shape) == 1 or "bias" in name:
        values = 0.3 * values + ("norm" in name)
    else:
        values /= np.sqrt(shape[-1])
    return values.astype(np.float32)


def stored_tensors(source, layer, shape):
    """(name, shape) of what a layer's param of some shape is made of in the checkpoint."""
    for part in source["parts"]:
        sizes, name = list(shape), part["pattern"].replace("{layer}", str(layer))
        per_expert = "{expert}" in name
        if "size" in part:  # one of several along an axis
            sizes[source.get("axis", 0) + per_expert] = part["size"]
        if part.get("transposed"):
            sizes[-2:] = sizes[:-3:-1]
        if not per_expert:
            yield name, sizes
            continue
        for expert in range(sizes[0]):
            yield name.replace("{expert}", str(expert)), sizes[1:]


def params(op, layers=(None,)):
    """(param, numbers of the layers that it is read for) of an op and all in it."""
    if op.name == "llm.param":
        yield op, layers
    for block in (block for region in op.regions for block in region):
        for inner in block.ops:
            yield from params(inner, op.get("layers", layers))


def random_checkpoint(program):
    """Every tensor that the params of a program, in generic assembly, come from."""
    (module,) = parse(program)
    tensors = {}
    for op, layers in params(module):
        for layer in layers:
            for name, shape in stored_tensors(op["source"], layer, op.results[0].type.shape):
                tensors[name] = random_tensor(name, shape)
    return tensors


def decode(program, tensors, tokens):
    """Logits [prompts, length, vocabulary] that the interpreter computes."""
    prompts, length = tokens.shape
    session = Session(program, Parameters(tensors), prompts, length)
    steps = [session.logits(tokens[:, i], np.full(prompts, i)) for i in range(length)]
    return np.stack(steps, axis=1)


def check(args, name, config, folder):
    """(what, exit status, last line) of every run of a model."""
    path, weights, io = (folder / n for n in ("config.json", "model.safetensors", "io.safetensors"))
    path.write_text(json.dumps(config))
    programs = {
        phase: imported(args, path, phase, LENGTH, folder / f"{phase}.mlir")
        for phase in ("decode", "prefill")
    }
    printing = ("--mlir-print-op-generic", "-mlir-print-local-scope")
    generic = run(args.shard_opt, programs["decode"], *printing)
    tensors = random_checkpoint(generic)
    checkpoint.save(weights, tensors)
    rng = np.random.default_rng(args.seed)
    tokens = rng.integers(config["vocab_size"], size=(PROMPTS, LENGTH))
    logits = decode(generic, tensors, tokens).astype(np.float32)
    checkpoint.save(io, {"tokens": tokens, "logits": logits})

    against = [f"--weights={weights}", f"--tokens={io}", f"--expect={io}"]
    against.append(f"--tolerance={args.tolerance}")
    for phase, program in programs.items():
        yield f"{phase}, unsharded", *last_line(args.shard_run, program, *against)
        seed = zlib.crc32(name.encode()) + args.seed
        options = {"count": args.count, "seed": seed, "tp": [2, 3, 4], "batch": [PROMPTS]}
        drawn = sample(args.shard_opt, program, **options)
        strategies = write(folder / "strategies.jsonl", drawn)
        many = ["--verify", program, f"--strategies={strategies}", *against]
        yield f"{phase}, {args.count} strategies", *last_line(args.shard_run, *many)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--only", default="", help="beginnings of models' names, by commas")
    parser.add_argument("--count", type=int, default=3, help="random strategies a program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tolerance", default="2e-5", help="of the largest logit")
    args = parser.parse_args()

    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, config in ALL.items():
            if name.startswith(tuple(args.only.split(","))):
                for what, status, line in check(args, name, config, pathlib.Path(folder)):
                    wrong += status != 0
                    print(f"{name}: {what}: {line}", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
