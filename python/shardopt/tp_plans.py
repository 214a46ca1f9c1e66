"""A plan as the tensor parallel plan of Transformers: a style for each module.

A style says how the weights of a module are cut, and what it makes of its input
and output, which are whole between modules but for what one module leaves cut
and the next one takes so. So what an op is cut by says the style, together with
the ops beside it.
"""

from __future__ import annotations

import json
import math
from typing import Any, Mapping

from .errors import Inexpressible, ShardoptError, list_known
from .launches import Launch
from .plans import Plan
from .problem import Model

# The modules of each op, by the family of the config.
_LLAMA = {
    "embed": ("model.embed_tokens",),
    "qkv_proj": tuple(f"model.layers.*.self_attn.{name}_proj" for name in "qkv"),
    "out_proj": ("model.layers.*.self_attn.o_proj",),
    "ffn_up": ("model.layers.*.mlp.gate_proj", "model.layers.*.mlp.up_proj"),
    "ffn_down": ("model.layers.*.mlp.down_proj",),
    "lm_head": ("lm_head",),
}
_MODULES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("granite", "llama", "mistral", "qwen2", "qwen3", "smollm3"), _LLAMA),
    "starcoder2": {
        **_LLAMA,
        "ffn_up": ("model.layers.*.mlp.c_fc",),
        "ffn_down": ("model.layers.*.mlp.c_proj",),
    },
}

_SCRIPT = '''"""Loads the model as the plan says, and times a step."""

import json
import pathlib
import sys
import time

import torch
from transformers import AutoModelForCausalLM
from transformers.distributed import DistributedConfig

HERE = pathlib.Path(__file__).parent


def load(folder):
    """The model, of which each process holds its part."""
    plan = json.loads((HERE / "tp_plan.json").read_text())
    config = DistributedConfig(tp_size=plan["tp_size"], tp_plan=plan["tp_plan"])
    return AutoModelForCausalLM.from_pretrained(folder, distributed_config=config)


if __name__ == "__main__":
    model, batch, length = load(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    tokens = torch.zeros((batch, length), dtype=torch.long, device=model.device)
    for _ in range(3):
        start = time.monotonic()
        with torch.no_grad():
            model(tokens)
        print(f"{(time.monotonic() - start) * 1e3:.3f} ms", flush=True)
'''


def _styles(cuts: Mapping[str, str]) -> tuple[dict[str, str], list[str]]:
    """The style of each op with modules, of what ops are cut by; and why some
    have none."""
    why = [
        f"{op} is cut by {cut}, and transformers has it whole"
        for op, cut in cuts.items()
        if op.endswith("norm") and cut != "none"
    ]

    def style(op: str, stays_cut: bool, comes_cut: bool) -> str:
        columns = {"qkv_proj": "heads", "ffn_up": "inner", "lm_head": "vocab"}.get(op, "hidden")
        if cuts[op] == "none":
            return "replicate"
        if cuts[op] == columns:
            return "colwise" if stays_cut else "colwise_gather_output"
        return "rowwise" if comes_cut else "rowwise_split_input"

    by_heads = cuts["attention"] == "heads"
    if cuts["attention"] == "head_dim":
        why.append("attention is cut by head_dim, and transformers has it by heads or whole")
    if by_heads and cuts["qkv_proj"] != "heads":
        why.append("attention is cut by heads, and qkv_proj is not")
    if by_heads and cuts["out_proj"] != "heads":
        why.append("attention is cut by heads, and out_proj is not")
    inner = cuts["ffn_up"] == "inner" and cuts["ffn_down"] == "inner"
    embeds = {"vocab": "embedding_rowwise", "hidden": "embedding_colwise", "none": "replicate"}
    return {
        "embed": embeds[cuts["embed"]],
        "qkv_proj": style("qkv_proj", by_heads, False),
        "out_proj": style("out_proj", False, by_heads),
        "ffn_up": style("ffn_up", inner, False),
        "ffn_down": style("ffn_down", False, inner),
        "lm_head": style("lm_head", False, False),
    }, why


def _family(model: Model) -> Mapping[str, tuple[str, ...]]:
    if model.config is None:
        raise ShardoptError(
            f"'{model.name}' is a module, expected the config.json of a model: it "
            "says what Transformers calls its parts"
        )
    name = str(model.config.get("model_type"))
    if name not in _MODULES:
        raise ShardoptError(
            f"Transformers' parts of '{name}' are not in the table; " + list_known(name, _MODULES)
        )
    return _MODULES[name]


def tp_plan(plan: Plan) -> dict[str, str]:
    """The style of each module, by glob. Raises `Inexpressible` with every reason
    why there is none."""
    model, strategy = plan.problem.model, plan.strategy
    modules = _family(model)
    cuts = {op: model.ops[op][dim] for op, dim in strategy.dims}
    styles, why = _styles(cuts)
    for name, value, wanted in (("pp", strategy.pp, 1), ("cp", strategy.cp, 1)):
        if value != wanted:
            why.append(f"{name} is {value}, and a tensor parallel plan has {wanted}")
    config = model.config or {}
    heads = math.gcd(
        int(config["num_attention_heads"]),
        int(config.get("num_key_value_heads") or config["num_attention_heads"]),
    )
    if cuts["attention"] == "heads" and heads % strategy.tp:
        why.append(f"{heads} groups of heads are not divided by tp, which is {strategy.tp}")
    if why:
        raise Inexpressible("transformers cannot run this plan: " + "; ".join(why), why, None)
    return {module: styles[op] for op, names in modules.items() for module in names}


def launch(plan: Plan, version: str, folder: str) -> Launch:
    """What loads the model `folder` as `plan` says: a script for each process."""
    styles = tp_plan(plan)
    strategy, model = plan.strategy, plan.problem.model
    files: dict[str, Any] = {"tp_size": strategy.tp, "tp_plan": styles}
    length = "1" if model.phase == "decode" else str(model.context)
    batch = str(max(1, strategy.batch // strategy.replicas))
    args = ("torchrun", f"--nproc-per-node={strategy.tp}", "load.py", folder, batch, length)
    copies = plan.report["best"].get("replicas", 1)
    return Launch(
        "transformers",
        version,
        args,
        {},
        {"load.py": _SCRIPT, "tp_plan.json": json.dumps(files, indent=1) + "\n"},
        args,
        copies * strategy.replicas,
        1,
    )
