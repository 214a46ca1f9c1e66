"""Makes the small models beside this file, with Transformers.

    pip install torch transformers safetensors
    python make.py [folder]

A model is a folder: its config, random weights under the hub's names, and for
random tokens [prompts, length] the logits [prompts, length, vocabulary] that
Transformers computes of them, step by step as at once. Tests need neither the
network nor Transformers: the folders are part of the sources. A seed and a
version of Torch give the same bytes.
"""

import pathlib
import sys

import torch
import transformers
from safetensors.torch import save_file

SEED, PROMPTS, LENGTH = 7, 4, 12
# Sizes that few degrees divide, and everything that a config need not leave as
# it is: a window within the prompts, an epsilon that shows.
MODELS = {
    "starcoder2": transformers.Starcoder2Config(
        vocab_size=61,
        hidden_size=36,
        intermediate_size=50,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=64,
        norm_epsilon=1e-3,
        sliding_window=5,
        bos_token_id=0,
        eos_token_id=0,
    ),
}


def fill(model, random):
    """Random weights: all of them matter, and activations stay near one."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            values = torch.randn(weight.shape, generator=random)
            if weight.dim() > 1:
                weight.copy_(values * weight.shape[-1] ** -0.5)
            else:
                weight.copy_(0.3 * values + ("norm.weight" in name))


def steps(model, tokens):
    """The logits of tokens that are decoded one by one."""
    logits, cache = [], None
    for i in range(tokens.shape[1]):
        step = model(tokens[:, i : i + 1], past_key_values=cache, use_cache=True)
        cache = step.past_key_values
        logits.append(step.logits[:, 0])
    return torch.stack(logits, dim=1)


def make(folder, config):
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    model = model.eval().float()
    random = torch.Generator().manual_seed(SEED)
    fill(model, random)
    tokens = torch.randint(config.vocab_size, (PROMPTS, LENGTH), generator=random)
    with torch.no_grad():
        logits = model(tokens, use_cache=False).logits.contiguous()
        gap = (steps(model, tokens) - logits).abs().max().item()
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink()
    save_file({"tokens": tokens, "logits": logits}, folder / "io.safetensors")
    print(f"{folder.name}: logits of {logits.std():.2f}, step by step within {gap:.1e}")


def main():
    here = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__)
    for name, config in MODELS.items():
        make((here if here.is_dir() else here.parent) / name, config)


main()
