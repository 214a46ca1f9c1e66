"""Models of Transformers, and a U-Net, as graphs of torch.export for `shardopt import-graph`.

`--write FOLDER` writes each with random weights: `NAME.mlir`, its StableHLO, and `NAME.npz`, the
values of its arguments and the results that PyTorch computes. `--save FOLDER` writes `NAME.pt2`.
`--write-ops FOLDER` writes the networks of torch_ops.py.
"""

import sys
from pathlib import Path

import numpy as np
import torch
import torch_ops
import transformers
from torch import nn

WIDTH, HEADS, WORDS, LENGTH = 32, 4, 64, 8


class Only(nn.Module):
    """One result of a model, for positional inputs."""

    def __init__(self, model, names, result="logits", **options):
        super().__init__()
        self.model, self.names, self.result, self.options = model, names, result, options

    def forward(self, *values):
        return self.model(**dict(zip(self.names, values)), **self.options)[self.result]


class UNet(nn.Module):
    """One level down and up again, with a group norm and attention at the bottom."""

    def __init__(self, channels, width):
        super().__init__()
        self.stem = nn.Conv2d(channels, width, 3, padding=1)
        self.norm = nn.GroupNorm(4, width)
        self.down = nn.Conv2d(width, 2 * width, 3, stride=2, padding=1)
        self.attend = nn.MultiheadAttention(2 * width, HEADS, batch_first=True)
        self.up = nn.ConvTranspose2d(2 * width, width, 2, stride=2)
        self.grown = nn.Conv2d(2 * width, width, 3, padding=1)
        self.out = nn.Conv2d(2 * width, channels, 3, padding=1)

    def forward(self, image):
        high = nn.functional.silu(self.norm(self.stem(image)))
        low = nn.functional.silu(self.down(high))
        rows = low.flatten(2).transpose(1, 2)
        rows = rows + self.attend(rows, rows, rows, need_weights=False)[0]
        low = rows.transpose(1, 2).unflatten(2, low.shape[2:])
        nearest = self.grown(nn.functional.interpolate(low, scale_factor=2, mode="nearest"))
        return self.out(torch.cat([high, self.up(low) + nearest], 1))


class Cached(nn.Module):
    """Attention to keys that are written over a part of a cache."""

    def __init__(self):
        super().__init__()
        self.key, self.query = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, cache):
        cache = cache.clone()
        cache[:, 4 : 4 + x.shape[1]] = self.key(x)
        return torch.softmax(self.query(x) @ cache.transpose(1, 2), -1) @ cache


def texts(names=("input_ids",), batch=2, length=LENGTH, result="logits"):
    def wrap(model):
        values = [torch.randint(0, model.config.vocab_size, (batch, length)) for _ in names]
        return Only(model, names, result, use_cache=False), values

    return wrap


def images(model, batch=2):
    values = torch.randn(batch, model.config.num_channels, model.config.image_size, model.config.image_size)
    return Only(model, ["pixel_values"]), [values]


def models():
    """The class, its options, and what makes a module and inputs of it, by name."""
    common = {"vocab_size": WORDS, "hidden_size": WIDTH, "num_hidden_layers": 2, "num_attention_heads": HEADS, "intermediate_size": 4 * WIDTH}
    decoder = {**common, "num_key_value_heads": 2, "head_dim": WIDTH // HEADS, "max_position_embeddings": 2 * LENGTH}
    small_image = {"image_size": 16, "num_channels": 8, "num_labels": WORDS}
    return {
        "gpt2": ("GPT2LMHeadModel", {"vocab_size": WORDS, "n_embd": WIDTH, "n_layer": 1, "n_head": HEADS, "n_positions": LENGTH}, texts()),
        "llama": ("LlamaForCausalLM", decoder, texts()),
        "mixtral": ("MixtralForCausalLM", {**decoder, "num_hidden_layers": 1, "num_local_experts": 4, "num_experts_per_tok": 2, "experts_implementation": "batched_mm"}, texts()),
        "vit": ("ViTForImageClassification", {**common, **small_image, "num_hidden_layers": 1, "patch_size": 4}, images),
        "resnet": ("ResNetForImageClassification", {"image_size": 16, "num_channels": 8, "num_labels": WORDS, "embedding_size": 16, "hidden_sizes": [32, 64], "depths": [1, 1], "layer_type": "bottleneck"}, images),
        "mamba": ("MambaForCausalLM", {"vocab_size": WORDS, "hidden_size": WIDTH, "state_size": 4, "num_hidden_layers": 1}, texts()),
        "encoder_decoder": ("T5ForConditionalGeneration", {"vocab_size": WORDS, "d_model": WIDTH, "d_kv": WIDTH // HEADS, "d_ff": 4 * WIDTH, "num_layers": 1, "num_heads": HEADS}, texts(("input_ids", "decoder_input_ids"))),
    }


def exported():
    """Name, program and inputs of each."""
    transformers.logging.set_verbosity_error()
    made = {
        "unet": lambda: (UNet(8, 16), [torch.randn(2, 8, 16, 16)]),
        "cached": lambda: (Cached(), [torch.randn(2, 4, WIDTH), torch.randn(2, LENGTH, WIDTH)]),
    }
    for name, (kind, options, wrap) in models().items():
        def build(kind=kind, options=options, wrap=wrap):
            cls = getattr(transformers, kind)
            config = cls.config_class(**options)
            return wrap(cls(config))

        made[name] = build
    for name in sorted(made):
        torch.manual_seed(0)
        module, values = made[name]()
        module = module.eval()
        with torch.no_grad():
            yield name, torch.export.export(module, tuple(values)), module, values


def ops():
    torch.manual_seed(0)
    for name, (module, *values) in torch_ops.networks().items():
        module = module.eval()
        with torch.no_grad():
            yield name, torch.export.export(module, tuple(values)), module, values


def write(folder, programs=exported):
    from shardopt.torch_graphs import stablehlo_of

    for name, program, module, values in programs():
        Path(folder, f"{name}.mlir").write_text(stablehlo_of(program))
        states = {**program.state_dict, **program.constants}
        given = iter(values)
        arrays = {}
        for spec in program.graph_signature.input_specs:
            value = states[spec.target] if spec.target else next(given)
            arrays[f"argument{len(arrays)}"] = value.detach().numpy()
        with torch.no_grad():
            made = module(*values)
        for index, each in enumerate(made if isinstance(made, tuple) else (made,)):
            arrays[f"result{index}"] = each.numpy()
        np.savez(Path(folder, f"{name}.npz"), **arrays)


def save(folder):
    for name, program, *_ in exported():
        torch.export.save(program, Path(folder, f"{name}.pt2"))


if __name__ == "__main__":
    {"--write": write, "--write-ops": lambda folder: write(folder, ops), "--save": save}[sys.argv[1]](sys.argv[2])
