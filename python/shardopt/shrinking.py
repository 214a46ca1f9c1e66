"""A small model of the same kind, on which a plan's program can be executed."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path
from typing import Any, Iterator, Mapping

from .errors import ShardoptError
from .plans import Strategy
from .models import Decode, Model, Prefill, load_model

#: Tokens of context, or of a prompt, and sequences of each replica and stage.
_CONTEXT, _ROWS = 8, 2


def _fewer_stages(stages: tuple[int, ...]) -> tuple[int, ...]:
    """As uneven, with one layer in the smallest."""
    return tuple(layers - min(stages) + 1 for layers in stages)


def _widths(config: dict[str, Any], strategy: Strategy) -> None:
    """Small sizes. What a degree divided it divides still; heads and experts
    keep their number, which is what rules are about."""
    tp, all_of_a_stage = strategy.tp, strategy.tp * strategy.dp_size
    head = max(8, 2 * tp)
    most = {
        "hidden_size": max(16, 4 * tp),
        "intermediate_size": max(16, 2 * all_of_a_stage),
        "intermediate_size_mlp": max(16, 2 * all_of_a_stage),
        "moe_intermediate_size": max(16, 2 * all_of_a_stage),
        "shared_expert_intermediate_size": max(16, 2 * all_of_a_stage),
        "vocab_size": max(64, 4 * tp),
        "q_lora_rank": max(16, 2 * tp),
        "kv_lora_rank": max(16, 2 * tp),
        "qk_nope_head_dim": head,
        "qk_rope_head_dim": 8,
        "v_head_dim": head,
        "sliding_window": 5,
        "index_topk": 4,
    }
    if "kv_lora_rank" not in config:
        heads = int(config.get("num_attention_heads") or 1)
        whole = config.get("head_dim") or int(config["hidden_size"]) // heads
        config["head_dim"] = min(int(whole), head)
    for name, size in most.items():
        if isinstance(config.get(name), int):
            config[name] = min(config[name], size)
    # Weights are executed in f32; blocks of scales would ask for whole sizes.
    config.pop("quantization_config", None)


def _layers(config: dict[str, Any], count: int) -> None:
    """The first `count` layers; dense ones before experts count as one."""
    config["num_hidden_layers"] = count
    for name in ("first_k_dense_replace", "max_window_layers"):
        if isinstance(config.get(name), int):
            config[name] = min(config[name], 1)
    if isinstance(config.get("layer_types"), list):
        config["layer_types"] = config["layer_types"][:count]
    if isinstance(config.get("mlp_only_layers"), list):
        config["mlp_only_layers"] = [
            layer for layer in config["mlp_only_layers"] if layer < count
        ]


def _smaller(
    config: Mapping[str, Any], strategy: Strategy
) -> Iterator[tuple[dict[str, Any], Strategy]]:
    """Smaller configs with their strategy, the smallest first."""
    whole = int(config["num_hidden_layers"])
    if strategy.stages:
        stages = _fewer_stages(strategy.stages)
        counts = [(sum(stages), stages)]
    else:
        counts = []
        count = max(2, strategy.pp)
        while count < whole:
            counts.append((count, ()))
            count *= 2
    counts.append((whole, strategy.stages))
    batch = _ROWS * strategy.pp * strategy.dp_size
    for count, stages in counts:
        small = json.loads(json.dumps(config))
        _widths(small, strategy)
        _layers(small, count)
        yield small, dataclasses.replace(
            strategy, stages=stages, batch=min(batch, strategy.batch)
        )


def shrink(model: Model, strategy: Strategy) -> tuple[Model, Strategy]:
    """A model with the ops of `model` and few and narrow layers, and `strategy`
    for it: the degrees, the dims and how layers are divided are the same."""
    if model.config is None:
        raise ShardoptError(
            f"'{model.path}' is a module, which cannot be made smaller: expected a "
            "plan of a config.json"
        )
    tokens = min(model.context, _CONTEXT)
    load = Decode(tokens) if model.phase == "decode" else Prefill(tokens)
    why = ""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config.json"
        for config, small in _smaller(model.config, strategy):
            path.write_text(json.dumps(config), encoding="utf-8")
            try:
                found = load_model(path, load)
            except ShardoptError as error:
                why = ": " + str(error).replace(str(path), "the small config")
                continue
            if found.ops == model.ops:
                return found, small
    raise ShardoptError(f"no smaller model has the ops of '{model.name}'{why}")
