#!/usr/bin/env python3
"""Logits of Transformers for tiny models whose configs were changed in one key.

    python utils/tiny_changes.py [--only gemma] [--shard 0/2] models out

A model is a folder as utils/tiny_models.py writes them. For each change of its config a line of
JSON goes to the file `out`: {"model", "change", "config", "logits", "rounding"}. `logits` names a
file of safetensors with tokens and logits beside it; changes that Transformers computes alike share
one. It is null where Transformers refuses the config, or cannot load the model's weights into it.
Logits are computed in double precision where the class can. `rounding` is how far they move, of the
largest, where each weight is off by up to what single precision rounds it by: gated delta nets may
be that ill conditioned.
Changes are those of `changes_of`: every key left out, given other values, and keys that other
families read.
"""

import argparse
import copy
import hashlib
import json
import logging
import pathlib
import warnings

# Of no numbers at all, whatever they say.
NAMES = {"architectures", "model_type", "transformers_version", "dtype", "torch_dtype"}
DRAWS = 6  # of weights that are rounded
WORDS = ("silu", "gelu", "relu", "gelu_pytorch_tanh")
# Keys that some family reads, with a value that would show.
FOREIGN = {
    "attention_bias": True,
    "attention_chunk_size": 3,
    "attention_multiplier": 0.3,
    "attn_logit_softcapping": 0.7,
    "embedding_multiplier": 2.0,
    "final_logit_softcapping": 1.2,
    "first_k_dense_replace": 2,
    "head_dim": 4,
    "hidden_act": "relu",
    "hidden_activation": "relu",
    "interleave_moe_layer_step": 2,
    "layer_types": "windows",
    "logit_scale": 0.3,
    "logits_scaling": 2.0,
    "max_window_layers": 1,
    "mlp_bias": True,
    "mlp_only_layers": [0],
    "moe_layer_freq": 2,
    "n_shared_experts": 1,
    "no_rope_layer_interval": 2,
    "no_rope_layers": "zeros",
    "norm_topk_prob": True,
    "num_experts": 4,
    "num_key_value_heads": 1,
    "original_max_position_embeddings": 8,
    "partial_rotary_factor": 0.5,
    "qk_norm": True,
    "query_pre_attn_scalar": 3,
    "residual_multiplier": 0.5,
    "rope_interleave": False,
    "rope_local_base_freq": 50.0,
    "rope_parameters": {},
    "rope_scaling": {},
    "rope_scaling ": {"rope_type": "linear", "factor": 3.0},
    "rope_scaling  ": {"type": "linear", "factor": 3.0},
    "rope_theta": 77.0,
    "rotary_dim": 2,
    "routed_scaling_factor": 3.0,
    "scale_emb": 3,
    "scoring_func": "softmax",
    "sliding_window": 2,
    "sliding_window_pattern": 2,
    "topk_method": "greedy",
    "use_qk_norm": True,
    "use_sliding_window": True,
}
SCALED = {
    "rope_type": "llama3",
    "rope_theta": 1e3,
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}


def others_of(key, value):
    """Values that a key may have instead of this one."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int):
        return [value + 1, value * 2, max(value // 2, 1), 0, None]
    if isinstance(value, float):
        return [value * 3 + 0.25, 1.0, None]
    if isinstance(value, str):
        return [word for word in WORDS if word != value][:2] + [None]
    if isinstance(value, list) and value:
        return [value[::-1], [value[-1]] * len(value), None]
    if isinstance(value, dict):
        return [{}, None]
    return [1, True]


def nested(config):
    """The objects in which keys of numbers stand, with the path of each."""
    yield (), config
    for key in ("text_config", "rope_parameters", "rope_scaling", "full_attention", "sliding_attention"):
        if isinstance(config.get(key), dict):
            for path, holder in nested(config[key]):
                yield (key, *path), holder


def changed(config, path, key, value, drop=False):
    new = copy.deepcopy(config)
    holder = new
    for step in path:
        holder = holder[step]
    if drop:
        del holder[key]
    else:
        holder[key] = value
    return new


def foreign_value(key, text):
    value, layers = FOREIGN[key], text.get("num_hidden_layers") or 1
    if value == "windows":
        return (["full_attention", "sliding_attention"] * layers)[:layers]
    return ([0, 1] * layers)[:layers] if value == "zeros" else value


def changes_of(config):
    """(what was changed, the changed config) for a config of a tiny model."""
    for path, holder in nested(config):
        for key, value in list(holder.items()):
            name = "/".join((*path, key))
            if key in NAMES or key.endswith("_token_id") or key in ("vision_config", "text_config"):
                continue
            yield f"-{name}", changed(config, path, key, None, drop=True)
            for other in others_of(key, value):
                yield f"{name}={json.dumps(other)}", changed(config, path, key, other)
    inner = ("text_config",) if "text_config" in config else ()
    text = config.get("text_config", config)
    for key in FOREIGN:
        if key.strip() not in text:
            value = foreign_value(key, text)
            yield f"+{key.strip()}={json.dumps(value)}", changed(config, inner, key.strip(), value)
    # What stands beside scaled frequencies, and instead of plain ones.
    plain = changed(config, inner, "rope_theta", 1e3)
    holder = plain["text_config"] if inner else plain
    holder.pop("rope_parameters", None)
    for scaling in (SCALED, {**SCALED, "rope_type": "yarn"}):
        for outer in ({}, {"original_max_position_embeddings": 8}, {"rope_parameters": {"rope_theta": 50.0}}):
            more = copy.deepcopy(plain)
            (more["text_config"] if inner else more).update(rope_scaling=scaling, **outer)
            yield f"+rope_scaling={scaling['rope_type']}, {json.dumps(outer)}", more


def logits_of(model, tokens):
    import torch

    with torch.no_grad():
        return model(tokens, use_cache=False).logits


def moved(model, tokens, logits):
    """How far the logits move, of the largest, where each weight is off by up to 2^-24 of it."""
    import torch

    weights = [(weight, weight.detach().clone()) for weight in model.parameters()]
    draws = torch.Generator().manual_seed(0)
    most = 0.0
    for _ in range(DRAWS):
        for weight, exact in weights:
            noise = torch.rand(exact.shape, generator=draws, dtype=torch.float64) * 2 - 1
            weight.data.copy_(exact * (1 + noise * 2**-24))
        most = max(most, (logits_of(model, tokens) - logits).abs().max().item())
    return most / logits.abs().max().item()


def computed(folder, config, tokens, scratch):
    """(logits, rounding) that Transformers computes of the tokens, or None where it refuses."""
    import torch

    (scratch / "config.json").write_text(json.dumps(config))
    # Some classes mix types, and refuse theirs for others.
    for dtype in (torch.float64, torch.float32):
        found = computed_in(dtype, folder, tokens, scratch)
        if found:
            return found
    return None


def computed_in(dtype, folder, tokens, scratch):
    import torch
    import transformers

    try:
        read = transformers.AutoConfig.from_pretrained(scratch)
        # Youtu clears this token's embedding after the weights have been read.
        read.get_text_config().pad_token_id = None
        sees = hasattr(read, "vision_config")
        auto = transformers.AutoModelForImageTextToText if sees else transformers.AutoModelForCausalLM
        model, loading = auto.from_pretrained(
            folder,
            config=read,
            dtype=dtype,
            attn_implementation="eager",
            experts_implementation="eager",
            output_loading_info=True,
        )
        if any(loading[what] for what in ("missing_keys", "mismatched_keys")):
            return None
        # A head that is the embedding by the config has no weights of its own.
        model.tie_weights()
        logits = logits_of(model.eval(), tokens)
        if not torch.isfinite(logits).all():
            return None
        rounding = moved(model, tokens, logits) if dtype == torch.float64 else 0.0
        return logits.to(torch.float32).contiguous(), rounding
    except Exception:  # whatever a class says of a config that it does not take
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="", help="models with one of these in their name, by commas")
    parser.add_argument("--shard", default="0/1", help="every N-th change, from the I-th on")
    args = parser.parse_args()

    import torch
    import transformers
    from safetensors.torch import load_file, save_file

    torch.set_num_threads(1)
    logging.disable(logging.ERROR)
    transformers.utils.logging.disable_progress_bar()
    warnings.simplefilter("ignore")
    first, step = map(int, args.shard.split("/"))
    scratch = args.out.with_suffix(".scratch")
    scratch.mkdir(parents=True, exist_ok=True)
    with args.out.open("w") as out:
        for io in sorted(args.models.glob("*/io.safetensors")):
            folder = io.parent
            if not any(part in folder.name for part in args.only.split(",")):
                continue
            config = json.loads((folder / "config.json").read_text())
            tokens = load_file(io)["tokens"]
            for change, new in list(changes_of(config))[first::step]:
                found = computed(folder, new, tokens, scratch)
                name, rounding = None, 0.0
                if found:
                    logits, rounding = found
                    name = hashlib.sha1(logits.numpy().tobytes()).hexdigest()[:16] + ".safetensors"
                    if not (args.out.parent / name).exists():
                        save_file({"tokens": tokens, "logits": logits}, args.out.parent / name)
                line = {"model": folder.name, "change": change, "config": new}
                line |= {"logits": name, "rounding": rounding}
                print(json.dumps(line), file=out, flush=True)


main()
