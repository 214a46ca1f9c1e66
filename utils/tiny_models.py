#!/usr/bin/env python3
"""Makes small models of the families that are imported, with Transformers.

    pip install torch transformers safetensors
    python utils/tiny_models.py [--only gemma] [--more | --draw 3] [--seed 7] [folder]

A model is a folder: its config, random weights under the hub's names, and for
random tokens [prompts, length] the logits [prompts, length, vocabulary] that
Transformers computes of them, step by step as at once. One model a family is part
of the sources, so that tests need neither the network nor Transformers; `--more`
makes others, with other options, and `--draw` some a family whose options are drawn at
random (tiny_options.py), without those that Transformers itself cannot make. A seed and a version of Torch give the same bytes.
"""

import argparse
import pathlib
import random as draws
import tempfile

import torch
import transformers
from safetensors.torch import save_file
from tiny_families import COMMON, FAMILIES
from tiny_options import draw

TINY = pathlib.Path(__file__).resolve().parents[1] / "test" / "Target" / "HuggingFace" / "Tiny"
PROMPTS, LENGTH = 4, 12
# Keys that stand beside `text_config`.
OUTER = ("vision_config", "tie_word_embeddings", "mm_tokens_per_image")


def fill(model, random):
    """Random weights: all of them matter, and activations stay near one."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            values = torch.randn(weight.shape, generator=random)
            if weight.dim() > 1:
                weight.copy_(values * weight.shape[-1] ** -0.5)
            else:
                weight.copy_(0.3 * values + ("norm.weight" in name))
        for name, buffer in model.named_buffers():
            if "e_score_correction_bias" in name:
                buffer.copy_(0.1 * torch.randn(buffer.shape, generator=random))


def steps(model, tokens):
    """The logits of tokens that are decoded one by one."""
    logits, cache = [], None
    for i in range(tokens.shape[1]):
        places = torch.full((len(tokens), 1), i)
        step = model(tokens[:, i : i + 1], position_ids=places, past_key_values=cache, use_cache=True)
        cache = step.past_key_values
        logits.append(step.logits[:, 0])
    return torch.stack(logits, dim=1)


def make(folder, config, seed):
    sees = hasattr(config, "vision_config")
    auto = transformers.AutoModelForImageTextToText if sees else transformers.AutoModelForCausalLM
    model = auto.from_config(
        config, attn_implementation="eager", experts_implementation="eager"
    )
    model = model.eval().float()
    random = torch.Generator().manual_seed(seed)
    fill(model, random)
    vocabulary = config.get_text_config().vocab_size
    tokens = torch.randint(vocabulary, (PROMPTS, LENGTH), generator=random)
    with torch.no_grad():
        logits = model(tokens, use_cache=False).logits.contiguous()
        gap = (steps(model, tokens) - logits).abs().max().item()
    with tempfile.TemporaryDirectory() as saved:
        model.save_pretrained(saved)
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("config.json", "model.safetensors"):
            (folder / name).write_bytes((pathlib.Path(saved) / name).read_bytes())
    save_file({"tokens": tokens, "logits": logits}, folder / "io.safetensors")
    print(f"{folder.name}: logits of {logits.std():.2f}, step by step within {gap:.1e}", flush=True)


def options_of(sizes):
    options = {**COMMON, **sizes}
    if "layer_types" in options:
        options["layer_types"] = options["layer_types"][: options["num_hidden_layers"]]
    options = {key: value for key, value in options.items() if (key, value) != ("head_dim", None)}
    if "vision_config" in options:
        outer = {key: options.pop(key) for key in OUTER if key in options}
        options = {"text_config": options, **outer}
    return options


def make_drawn(args, family, kind, known):
    """Models with options drawn at random, beside those of one that is known."""
    kind = getattr(transformers, kind)
    random = draws.Random(f"{args.seed} {family}")
    for number in range(args.draw):
        sizes = random.choice(known)
        sees = "vision_config" in sizes
        text = type(kind().text_config) if sees else kind
        options = options_of(draw(text, {**COMMON, **sizes}, random))
        try:
            make(args.folder / f"{family}-drawn{number}", kind(**options), args.seed)
        except Exception as error:  # what a class of models says of options that it has not
            print(f"{family}-drawn{number}: Transformers: {str(error)[:120]!r}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=TINY)
    parser.add_argument("--only", default="", help="families with this in their name, or one of these, by commas")
    parser.add_argument("--more", action="store_true", help="models with other options")
    parser.add_argument("--draw", type=int, default=0, help="so many models with random options")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    for family, (kind, first, *others) in FAMILIES.items():
        if not any(part in family for part in args.only.split(",")):
            continue
        if args.draw:
            make_drawn(args, family, kind, [first, *others] if first else others)
            continue
        models = {f"{family}-{i}": sizes for i, sizes in enumerate(others, 2)}
        shipped = {family: first} if first else {}
        for name, sizes in (models if args.more else shipped).items():
            config = getattr(transformers, kind)(**options_of(sizes))
            make(args.folder / name, config, args.seed)


main()
