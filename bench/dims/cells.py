"""The workloads that are compared: models x machines x devices x phases x contexts."""

import dataclasses
import itertools
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Name: file of the config. Those of `SHOWN` are what searchers may be tuned on,
# the others are kept for the score.
MODELS = {
    "DeepSeek-V3": "deepseek-ai--DeepSeek-V3_config.json",
    "Qwen3-235B": "Qwen--Qwen3-235B-A22B_config.json",
    "Qwen3-30B": "Qwen--Qwen3-30B-A3B_config.json",
    "Mixtral-8x22B": "mistralai--Mixtral-8x22B-v0.1_config.json",
    "Mixtral-8x7B": "mistralai--Mixtral-8x7B-v0.1_config.json",
    "gpt-oss-120b": "openai--gpt-oss-120b_config.json",
    "GPT-MoE-1.6T": "gpt-moe-1.6T.json",
    "Llama-3.1-405B": "meta-llama--Meta-Llama-3.1-405B_config.json",
    "Llama-3.1-70B": "meta-llama--Meta-Llama-3.1-70B_config.json",
    "Qwen3-32B": "Qwen--Qwen3-32B_config.json",
}
SHOWN = ("DeepSeek-V3", "Qwen3-30B", "Mixtral-8x22B", "GPT-MoE-1.6T", "Llama-3.1-70B")
MACHINES = ("a100_sxm", "h100_sxm", "h200_sxm", "b200_sxm", "gb200")
DEVICES = (32, 64, 128, 512)
CONTEXTS = {"decode": (2048, 16384, 131072), "prefill": (2048, 16384)}


@dataclasses.dataclass(frozen=True, order=True)
class Cell:
    model: str
    phase: str
    context: int
    machine: str
    devices: int

    @property
    def program(self):
        """What is imported: cells of one program differ in the cluster alone."""
        return (self.model, self.phase, self.context)

    @property
    def is_shown(self):
        return self.model in SHOWN

    @property
    def limit(self):
        """The SLO, in ms: of a token in decode, of the first token in prefill."""
        if self.phase == "decode":
            return "slo-tpot-ms", 50
        return "slo-ttft-ms", max(1000, self.context // 8)

    def __str__(self):
        return (
            f"{self.model}, {self.phase} at {self.context}, "
            f"{self.machine}, at most {self.devices} devices"
        )


def find_config(model):
    """The path of a model's config, or None where it is missing."""
    data = pathlib.Path(os.environ.get("SHARDOPT_DATA", ROOT / "../shared/data"))
    folders = (ROOT / "examples/configs", data / "configs")
    return next((f / MODELS[model] for f in folders if (f / MODELS[model]).exists()), None)


def all_cells():
    """Every cell, in the order of the tables."""
    return [
        Cell(model, phase, context, machine, devices)
        for model, (phase, contexts) in itertools.product(MODELS, CONTEXTS.items())
        for context, machine, devices in itertools.product(contexts, MACHINES, DEVICES)
    ]


# Shown cells on which a policy learns that is scored on the kept ones: a model each.
TAUGHT = (
    Cell("Llama-3.1-70B", "prefill", 16384, "a100_sxm", 64),
    Cell("Mixtral-8x22B", "prefill", 16384, "a100_sxm", 64),
    Cell("GPT-MoE-1.6T", "prefill", 16384, "a100_sxm", 64),
    Cell("DeepSeek-V3", "decode", 131072, "h100_sxm", 32),
)

# Kept cells on which the searchers are scored: of every kept model whose dims pay, each
# phase, and where there are several contexts or machines, those farthest apart.
SCORED = (
    Cell("Qwen3-235B", "decode", 2048, "a100_sxm", 512),
    Cell("Qwen3-235B", "decode", 16384, "a100_sxm", 512),
    Cell("Qwen3-235B", "decode", 16384, "h100_sxm", 64),
    Cell("Qwen3-235B", "decode", 131072, "b200_sxm", 512),
    Cell("Qwen3-235B", "prefill", 16384, "a100_sxm", 64),
    Cell("gpt-oss-120b", "decode", 2048, "h200_sxm", 64),
    Cell("Mixtral-8x7B", "prefill", 16384, "a100_sxm", 64),
    Cell("Llama-3.1-405B", "prefill", 2048, "a100_sxm", 64),
    Cell("Llama-3.1-405B", "prefill", 16384, "h200_sxm", 128),
    Cell("Qwen3-32B", "prefill", 16384, "a100_sxm", 64),
)
