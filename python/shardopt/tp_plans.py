"""A plan as the parallel plans of Transformers: a style for each module.

A style says how the weights of a module are cut, and what it makes of its input
and output, which are whole between modules but for what one module leaves cut
and the next one takes so. So what an op is sharded on says the style, together with
its neighbours. All layers have the same styles.
"""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any, Iterator, Mapping

from .engine_table import stage_layers
from .border import list_known
from .errors import Infeasible, Inexpressible, ShardoptError, UnknownName
from .launch import Launch, copies_of
from .plans import Plan, find_plan
from .models import Model
from .problem import Problem

# The modules of each op, by the family of the config.
_LLAMA = {
    "embed": ("model.embed_tokens",),
    "qkv_proj": tuple(f"model.layers.*.self_attn.{name}_proj" for name in "qkv"),
    "out_proj": ("model.layers.*.self_attn.o_proj",),
    "ffn_up": ("model.layers.*.mlp.gate_proj", "model.layers.*.mlp.up_proj"),
    "ffn_down": ("model.layers.*.mlp.down_proj",),
    "lm_head": ("lm_head",),
}
# Where layers have experts, those that have none are of other ops.
_EXPERTS = {
    **{op: names for op, names in _LLAMA.items() if not op.startswith("ffn")},
    "dense.ffn_up": _LLAMA["ffn_up"],
    "dense.ffn_down": _LLAMA["ffn_down"],
    "experts": (
        "model.layers.*.mlp.experts",
        "model.layers.*.mlp.experts.gate_up_proj",
        "model.layers.*.mlp.experts.down_proj",
    ),
    "shared_up": tuple(f"model.layers.*.mlp.shared_expert.{name}_proj" for name in ("gate", "up")),
    "shared_down": ("model.layers.*.mlp.shared_expert.down_proj",),
}
_MODULES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(("granite", "llama", "mistral", "qwen2", "qwen3", "smollm3"), _LLAMA),
    **dict.fromkeys(("mixtral", "qwen2_moe", "qwen3_moe"), _EXPERTS),
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


def load(folder, **others):
    """Loads the model; each process holds its part."""
    config = DistributedConfig(**json.loads((HERE / "tp_plan.json").read_text()))
    return AutoModelForCausalLM.from_pretrained(folder, distributed_config=config, **others)


if __name__ == "__main__":
    model, batch, length = load(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    tokens = torch.zeros((batch, length), dtype=torch.long, device=model.device)
    for _ in range(3):
        start = time.monotonic()
        with torch.no_grad():
            model(tokens)
        print(f"{(time.monotonic() - start) * 1e3:.3f} ms", flush=True)
'''


def _style(cut: str, columns: str, stays_cut: bool, comes_cut: bool) -> str:
    """Of a projection whose output is sharded on `columns`, if it is."""
    if cut == "none":
        return "replicate"
    if cut == columns:
        return "colwise" if stays_cut else "colwise_gather_output"
    return "rowwise" if comes_cut else "rowwise_split_input"


def _pair(up: str, down: str) -> tuple[str, str]:
    """The styles of the two projections of a network."""
    inner = up == "inner" and down == "inner"
    return _style(up, "inner", inner, False), _style(down, "hidden", False, inner)


def _attention_styles(cuts: Mapping[str, str], why: list[str]) -> dict[str, str]:
    by_heads = cuts["attention"] == "heads"
    if cuts["attention"] == "head_dim":
        why.append("attention is sharded on head_dim, and transformers shards it on heads or replicates it")
    for op in ("qkv_proj", "out_proj"):
        if by_heads and cuts[op] != "heads":
            why.append(f"attention is sharded on heads, and {op} is not")
    return {
        "qkv_proj": _style(cuts["qkv_proj"], "heads", by_heads, False),
        "out_proj": _style(cuts["out_proj"], "hidden", False, by_heads),
    }


def _expert_styles(
    cuts: Mapping[str, str], tp: int, ep: int, gathers: bool, why: list[str]
) -> tuple[str, str, str]:
    """Of the experts, their first and their second product: whole ones on each
    device of tp, or columns of all of them."""
    if cuts["router"] != "none":
        why.append(f"router is sharded on {cuts['router']}, and transformers replicates it")
    if ep not in (1, tp):
        why.append(f"ep is {ep}, and transformers has the experts on 1 device or on all {tp} of tp")
    if ep > 1:  # its exchange takes each row of a group once
        wanted, how = ("none", "gathered") if gathers else ("tokens", "sent")
        for op in ("dispatch", "combine"):
            if cuts[op] != wanted:
                why.append(
                    f"{op} is sharded on {cuts[op]}, and where rows are {how} transformers has it "
                    f"on {wanted}"
                )
        return "ep_dispatch_experts", "grouped_gemm", "grouped_gemm"
    found = cuts["ffn_up"], cuts["ffn_down"]
    if tp > 1 and found not in (("inner", "inner"), ("none", "none")):
        why.append(
            f"ffn_up and ffn_down of experts are sharded on {found[0]} and {found[1]}, and "
            "transformers shards both on inner or replicates both"
        )
    for op in ("dispatch", "combine"):
        if tp > 1 and cuts[op] != "none":
            why.append(f"{op} is sharded on {cuts[op]}, and transformers replicates it where ep is 1")
    if found[0] == "none":
        return "replicate", "replicate", "replicate"
    return "moe_tp_experts", "packed_colwise", "rowwise"


def _styles(plan: Plan, why: list[str]) -> dict[str, tuple[str, ...]]:
    """The styles of each op's modules; `why` gets the reasons why some have none."""
    model, strategy = plan.problem.model, plan.strategy
    all_cuts = {op: model.ops[op][dim] for op, dim in strategy.dims}
    why += [
        f"{op} is sharded on {cut}, and transformers replicates it"
        for op, cut in all_cuts.items()
        if op.endswith("norm") and cut != "none"
    ]
    cuts: dict[str, str] = {}  # ops of dense layers by their own names, networks apart
    for op, cut in all_cuts.items():
        stack, _, name = op.rpartition(".")
        if stack == "dense" and name.startswith("ffn_") and name != "ffn_norm":
            cuts[op] = cut
        elif cuts.setdefault(name, cut) != cut:
            why.append(f"{op} is sharded on {cut}, and in other layers on {cuts[name]}")
    embeds = {"vocab": "embedding_rowwise", "hidden": "embedding_colwise", "none": "replicate"}
    styles: dict[str, tuple[str, ...]] = {
        "embed": (embeds[cuts["embed"]],),
        "lm_head": (_style(cuts["lm_head"], "vocab", False, False),),
        **{op: (style,) for op, style in _attention_styles(cuts, why).items()},
    }
    networks = ["dense.ffn", "shared"]
    if model.experts:
        gathers = strategy.exchange == "gather"
        styles["experts"] = _expert_styles(cuts, strategy.tp, strategy.ep, gathers, why)
    else:
        networks.append("ffn")
    for network in networks:
        up, down = f"{network}_up", f"{network}_down"
        if up in cuts:
            pair = _pair(cuts[up], cuts[down])
            styles.update({up: pair[:1], down: pair[1:]})
    return styles


def _family(model: Model) -> Mapping[str, tuple[str, ...]]:
    if model.config is None:
        raise ShardoptError(
            f"'{model.name}' is a module, expected the config.json of a model: it "
            "says what Transformers calls its parts"
        )
    name = str(model.config.get("model_type"))
    if name not in _MODULES:
        raise UnknownName(
            f"Transformers' parts of '{name}' are not in the table; " + list_known(name, _MODULES)
        )
    return _MODULES[name]


def _stage_reasons(plan: Plan) -> list[str]:
    stages = stage_layers(plan)
    each, rest = divmod(sum(stages), len(stages))
    wanted = [each] * (len(stages) - 1) + [each + rest]
    if stages == wanted:
        return []
    return [f"stages have {stages} layers, and transformers divides them into {wanted}"]


def _head_groups(model: Model) -> int:
    """What tp divides if attention is sharded on heads."""
    config = model.config or {}
    heads = int(config["num_attention_heads"])
    return math.gcd(heads, int(config.get("num_key_value_heads") or heads))


def parallel_plan(plan: Plan) -> dict[str, Any]:
    """The arguments of Transformers' `DistributedConfig`. Raises `Inexpressible`
    with every reason why there are none."""
    model, strategy = plan.problem.model, plan.strategy
    modules = _family(model)
    why: list[str] = []
    styles = _styles(plan, why)
    if model.experts and strategy.dp_size > 1:
        why.append(
            f"dp is {strategy.dp_size}, and transformers shards all weights over ranks that "
            "share experts"
        )
    if model.experts % strategy.ep:
        why.append(f"{model.experts} experts are not divided by ep, which is {strategy.ep}")
    if strategy.cp > 1:
        why.append(f"cp is {strategy.cp}, and transformers does not shard the context")
    if strategy.pp > 1:
        why += _stage_reasons(plan)
        if model.experts and strategy.ep > 1:
            why.append(f"pp is {strategy.pp} and ep {strategy.ep}, and transformers has one of them")
    heads = _head_groups(model)
    by_heads = any(
        op.endswith("attention") and model.ops[op][dim] == "heads" for op, dim in strategy.dims
    )
    if by_heads and heads % strategy.tp:
        why.append(f"{heads} groups of heads are not divided by tp, which is {strategy.tp}")
    if why:
        raise Inexpressible("transformers cannot run this plan: " + "; ".join(why), why, None)
    by_module = {
        module: style
        for op, found in styles.items()
        for module, style in zip(modules[op], found * (1 if len(found) > 1 else len(modules[op])))
    }
    arguments: dict[str, Any] = {"tp_size": strategy.tp, "tp_plan": by_module}
    if strategy.pp > 1:
        arguments["pp_size"] = strategy.pp
    if model.experts and strategy.ep > 1:
        gathers = strategy.exchange == "gather"
        arguments["ep_size"] = strategy.ep
        arguments["ep_plan"] = {name: by_module.pop(name) for name in modules["experts"]}
        arguments["ep_implementation"] = "all_reduce" if gathers else "all_to_all"
    return arguments


# What Megatron cuts, by how the names of ops end.
_MEGATRON = {
    "embed": "vocab",
    "qkv_proj": "heads",
    "attention": "heads",
    "out_proj": "heads",
    "_up": "inner",
    "_down": "inner",
    "lm_head": "vocab",
}


def _spaces(problem: Problem) -> Iterator[list[dict[str, Any]]]:
    """Pins that leave little or nothing that has no style: of each way to hold the
    experts a list, from the widest space to the narrowest."""
    model = problem.model

    def listed(degrees: Mapping[str, Any], cuts: Mapping[str, str]) -> list[dict[str, Any]]:
        found = []
        for more in ({}, _MEGATRON, {**_MEGATRON, "pp": 1}):
            ends = {**cuts, **more}
            dims = {
                op: cut
                for end, cut in ends.items()
                for op, choices in model.ops.items()
                if op.endswith(end) and cut in choices.values()
            }
            degree = {"pp": 1} if "pp" in more else {}
            found.append({**dims, **problem.pins, **degrees, **degree})
        return found

    whole = {"norm": "none"}
    if not model.experts:
        yield listed({"cp": 1}, whole)
        return
    whole.update(router="none", dispatch="none", combine="none")
    yield listed({"cp": 1, "dp": 1, "ep": 1}, {**whole, "_up": "inner", "_down": "inner"})
    most = problem.devices or problem.max_devices or model.experts
    for tp in range(2, min(most, _head_groups(model)) + 1):
        if model.experts % tp == 0 and _head_groups(model) % tp == 0:
            degrees = {"cp": 1, "dp": 1, "pp": 1, "tp": tp, "ep": tp}
            yield listed({**degrees, "exchange": "gather"}, whole)
            sent = {**whole, "dispatch": "tokens", "combine": "tokens"}
            yield listed({**degrees, "exchange": "all_to_all"}, sent)


def _excludes(asked: Any, value: Any) -> bool:
    """Whether the pin `asked` of a degree is for other values than `value`."""
    if asked == value or (isinstance(asked, str) and ":" in asked):
        return False
    values = asked.split(",") if isinstance(asked, str) else asked
    return str(value) not in map(str, values if isinstance(values, (list, tuple)) else [values])


def best(problem: Problem, **others: Any) -> Plan:
    """The best plan that Transformers runs: the optimum of all that it may run
    where that has styles, else with what Megatron cuts. Raises `Infeasible`, or
    `Inexpressible` where it runs none."""
    _family(problem.model)
    problem = problem.replace(engine=None, space="serving")
    found: list[Plan] = []
    failed: ShardoptError | None = None
    for spaces in _spaces(problem):
        for pins in spaces:
            if any(_excludes(asked, pins[name]) for name, asked in problem.pins.items()):
                break  # so do the narrower ones
            try:
                plan = find_plan(problem.replace(pins=pins), **others)
                parallel_plan(plan)
            except Infeasible as error:
                failed = failed or error
                break
            except Inexpressible as error:
                failed = error
            else:
                found.append(plan)
                break
    if not found:
        why = "transformers runs nothing of what the pins leave"
        raise failed or Inexpressible(why, [why], None)
    if others.get("objective", problem.objective) == "latency":
        chosen = min(found, key=lambda plan: plan.metrics.latency_ms)
    else:
        chosen = max(found, key=lambda plan: plan.metrics.throughput)
    asked = chosen.problem.replace(engine="transformers")
    return dataclasses.replace(chosen, problem=asked)


def launch(plan: Plan, version: str, folder: str) -> Launch:
    """What loads the model `folder` as `plan` says: a script for each process."""
    config = parallel_plan(plan)
    strategy, model = plan.strategy, plan.problem.model
    length = "1" if model.phase == "decode" else str(model.context)
    # Stages take turns: of a batch, a micro-batch at a time.
    sequences = max(1, strategy.batch // strategy.dp_size)
    batch = str(max(1, sequences // min(strategy.pp, sequences)))
    processes = strategy.tp * strategy.pp
    args = ("torchrun", f"--nproc-per-node={processes}", "load.py", folder, batch, length)
    copies = copies_of(plan)
    return Launch(
        "transformers",
        version,
        args,
        {},
        {"load.py": _SCRIPT, "tp_plan.json": json.dumps(config, indent=1) + "\n"},
        args,
        copies * strategy.dp_size,
        1,
    )
