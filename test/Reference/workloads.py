"""Workloads on which shard-opt's cost model and search are compared with the reference.

Configs of real models are looked for in $SHARDOPT_DATA (default: ../shared/data
beside the project); the synthetic ones are part of the project.
"""

import json
import os
import pathlib
from dataclasses import dataclass, field

from cost.machines import MACHINES
from cost.models import Model
from cost.strategies import Workload

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT.parent / "shared" / "data"))
EXAMPLES = ROOT / "examples" / "configs"
INPUTS = ROOT / "test" / "Target" / "HuggingFace" / "Inputs"


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

    def model(self):
        return Model(self.read(), **self.types)

    def read(self):
        """The config, changed."""
        return {**json.loads(self.config.read_text()), **self.changes}

    def workload(self):
        return Workload(
            self.phase, self.context, **{**self.options, "machine": MACHINES[self.machine]}
        )

    def pass_options(self):
        """The options of a pass of shard-opt for this workload."""
        options = {"machine": self.machine}
        for key, value in self.options.items():
            if key == "slo_ms":
                key = "slo_tpot_ms" if self.phase == "decode" else "slo_ttft_ms"
            options[key.replace("_", "-")] = value
        return options

    def __str__(self):
        words = [self.config.parent.name, self.config.stem, self.machine, self.phase]
        words.append(str(self.context))
        for extra in (self.changes, self.types, self.options):
            words += [f"{key}={value}" for key, value in extra.items()]
        return " ".join(words)


def synthetic_cases():
    gpt12, gpt16 = EXAMPLES / "gpt-moe-1.2T.json", EXAMPLES / "gpt-moe-1.6T.json"
    starcoder2 = INPUTS / "starcoder2_3b.json"
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
        Case(starcoder2, context=16384),
        Case(starcoder2, phase="prefill", context=2048, changes={"sliding_window": None}),
    ]


def hub_cases():
    folder = DATA / "configs"

    def hub(name, *args, **kwargs):
        return Case(folder / f"{name}_config.json", *args, **kwargs)

    llama, qwen3 = "meta-llama--Meta-Llama-3.1-70B", "Qwen--Qwen3-32B"
    mixtral, qwen3_moe = "mistralai--Mixtral-8x22B-v0.1", "Qwen--Qwen3-235B-A22B"
    deepseek, gpt_oss = "deepseek-ai--DeepSeek-V3", "openai--gpt-oss-120b"
    window = {"sliding_window": 4096}
    some_windows = {**window, "use_sliding_window": True, "num_hidden_layers": 5}
    some_windows["layer_types"] = ["full_attention", "sliding_attention"] * 2 + ["full_attention"]

    def kept(*modules):
        modules = [f"model.layers.{i}.{module}" for i in range(128) for module in modules]
        return {"quantization_config": {"quant_method": "fp8", "modules_to_not_convert": modules}}

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
        hub(deepseek, "h200_sxm", types={"kv_type": "fp8", "activation_type": "fp8"}),
        hub(deepseek, "h200_sxm", changes=kept("self_attn", "mlp.shared_experts")),
        hub(deepseek, "b200_sxm", "prefill", 1000, changes=kept("mlp.experts")),
        hub(deepseek, types={"weight_type": "mxfp4"}),
        hub(deepseek, changes={"n_shared_experts": 3, "first_k_dense_replace": 7}),
        hub(qwen3, changes=some_windows),
        hub(qwen3, phase="prefill", context=5000, changes=some_windows),
        hub(qwen3_moe, types={"weight_type": "fp8"}, options={"comm_model": "direct"}),
        hub(gpt_oss),
        hub(gpt_oss, "gb200", context=100),
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


def present(only):
    """The workloads whose description has `only` in it and whose config exists."""
    cases = synthetic_cases() + hub_cases() + tiny_cases()
    wanted = [case for case in cases if only in str(case)]
    found = [case for case in wanted if case.config.exists()]
    if len(found) < len(wanted):
        print(f"skipped {len(wanted) - len(found)} workloads: no configs in {DATA}")
    return found
