#!/usr/bin/python3
"""Imported programs, executed by the reference interpreter, against Hugging Face.

    check_models.py --shard-opt build/bin/shard-opt \\
        --shard-translate build/bin/shard-translate [--only llama] [--models folder]

Every folder of $SHARDOPT_DATA/hf-tiny (default: ../shared/data beside the
project), or of another folder of models, holds a config.json, its weights, tokens and the logits of every
position that Transformers computed. Prefill must give the last logits, step by
step decode all of them, to 1e-5 of the largest; prefill of a part and then
decode of the rest as well, and prefill of the config in its older form.
"""

import argparse
import json
import os
import pathlib
import sys

import numpy as np

import tools
from execution import checkpoint
from execution.interpreter import Parameters
from execution.session import Session
from execution.tolerance import tolerance_of

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT.parent / "shared" / "data"))
TOLERANCE = 1e-5


def older(config):
    """A config of Transformers 5 as Transformers 4 wrote it."""
    config = dict(config)
    if "text_config" in config:
        return {**config, "text_config": older(config["text_config"])}
    letters = {"linear_attention": "M", "full_attention": "*", "mlp": "-", "moe": "E"}
    if layers := config.pop("layers_block_type", None):
        config["hybrid_override_pattern"] = "".join(letters[layer] for layer in layers)
    if "dtype" in config:
        config["torch_dtype"] = config.pop("dtype")
    if "rope_parameters" not in config:
        return config
    rope = dict(config.pop("rope_parameters"))
    if "full_attention" in rope:
        config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        rope = dict(rope["full_attention"])
    if "partial_rotary_factor" in rope:
        config["partial_rotary_factor"] = rope.pop("partial_rotary_factor")
    config["rope_theta"] = rope.pop("rope_theta")
    config["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    if config["model_type"] == "qwen3_moe":
        config["num_experts"] = config.pop("num_local_experts")
    return config


def program(args, config, phase, context):
    """The generic assembly of a config's program."""
    return tools.generic(
        args.shard_opt, tools.imported(args.shard_translate, config, phase, context)
    )


def check(args, folder):
    """Largest error of prefill, decode and both in turn, relative to the largest logit."""
    weights = Parameters(checkpoint.load(folder / "model.safetensors"))
    known = checkpoint.load(folder / "io.safetensors")
    tokens, logits = known["tokens"], known["logits"]
    prompts, length = tokens.shape
    config = json.loads((folder / "config.json").read_text())

    def prefill(config, count):
        session = Session(program(args, config, "prefill", count), weights, prompts, length)
        rows = tokens[:, :count].reshape(-1)
        found = session.logits(rows, np.tile(np.arange(count), prompts))
        return session, np.abs(found - logits[:, count - 1]).max()

    def decode(caches, begin):
        session = Session(program(args, config, "decode", length), weights, prompts, length)
        if caches is not None:
            session.caches = caches
        errors = []
        for i in range(begin, length):
            found = session.logits(tokens[:, i], np.full(prompts, i))
            errors.append(np.abs(found - logits[:, i]).max())
        return max(errors)

    _, whole = prefill(config, length)
    _, from_older = prefill(older(config), length)
    part, beginning = prefill(config, length // 2)
    errors = {
        "prefill": max(whole, beginning),
        "prefill from the older form": from_older,
        "decode": decode(None, 0),
        "decode after prefill": decode(part.caches, length // 2),
    }
    return {key: error / np.abs(logits).max() for key, error in errors.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    tools.add_arguments(parser)
    parser.add_argument("--only", default="", help="folders whose name has this in it")
    parser.add_argument("--models", type=pathlib.Path, default=DATA / "hf-tiny", help="their folder")
    args = parser.parse_args()

    folders = sorted(path.parent for path in args.models.glob("*/io.safetensors"))
    folders = [folder for folder in folders if args.only in folder.name]
    if not folders:
        print(f"skipped: no models in {args.models}")
    wrong = 0
    for folder in folders:
        limit = tolerance_of(folder, TOLERANCE)
        for what, error in check(args, folder).items():
            verdict = "ok" if error <= limit else "WRONG"
            wrong += verdict != "ok"
            print(f"{folder.name} {what}: {error:.1e} of the largest logit, {verdict}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
